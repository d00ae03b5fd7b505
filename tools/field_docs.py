"""The fields of a class in the API reference, from what stands beside them: a comment, or the help of an option.

An extension of griffe that mkdocs.yml names; without it, a dataclass or a struct would be shown without its fields.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import griffe

_COMMENT = re.compile(r"\s# (.+)$")


class FieldDocs(griffe.Extension):
    """Add to the docstring of a class a section of its fields."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Describe the fields of a class that has a docstring of its own and says something of its fields."""
        rows = list(_describe_fields(cls))
        if rows and cls.docstring is not None:
            cls.docstring.value += "\n\nAttributes:\n" + "".join(f"    {row}\n" for row in rows)


def _describe_fields(cls: griffe.Class) -> Iterator[str]:
    for name, field in cls.attributes.items():
        if name.startswith("_") or field.docstring is not None or not field.annotation:
            continue
        annotation = ast.parse(str(field.annotation), mode="eval").body
        words = _find_help(annotation) or _find_comment(field.lines)
        if words is None:
            continue
        plain = ast.unparse(_Plain().visit(annotation))
        yield f"{name} ({plain}): {_start_sentence(words).rstrip('.')}.{_describe_default(field)}"


def _describe_default(field: griffe.Attribute) -> str:
    """Say which value a field has if none is given, unless that is nothing."""
    default = str(field.value).strip("()\n ")
    return "" if default in ("None", "", "''") or "field(" in default else f" Default: `{default}`."


def _start_sentence(words: str) -> str:
    """Write the first word large, unless it is a formula or names a value."""
    return words[0].upper() + words[1:] if re.match(r"[a-z]+[ ,]", words) else words


class _Plain(ast.NodeTransformer):
    """Replace `Annotated[T, ...]` by `T`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node.value) != "Annotated" or not isinstance(node.slice, ast.Tuple):
            return self.generic_visit(node)
        return self.generic_visit(node.slice.elts[0])


def _find_help(annotation: ast.expr) -> str | None:
    """Return what `Annotated[T, says("...")]` says."""
    calls = (node for node in ast.walk(annotation) if isinstance(node, ast.Call) and node.args)
    return next((str(ast.literal_eval(call.args[0])) for call in calls), None)


def _find_comment(lines: list[str]) -> str | None:
    found = _COMMENT.search(lines[-1]) if lines else None
    return None if found is None else found[1]
