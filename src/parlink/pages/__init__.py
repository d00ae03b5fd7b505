"""Pages that people look at: Jinja2 templates, the styles they share, and the function that fills them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"  # styles and scripts, which the service hands out as they are
TEMPLATES = Path(__file__).parent / "templates"
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#~&"})


def render(template: str, **values: Any) -> str:
    """Fill a template; values are never read as template syntax, and in an HTML template they are escaped.

    A template that asks for a value it was not given is an error.
    """
    return _environment().get_template(template).render(**values)


def safe_url(url: str | None) -> str | None:
    """Return an address that may be followed: a knowledge base could hold `javascript:`."""
    return url if url is not None and url.lower().startswith(("https://", "http://")) else None


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"safe_url": safe_url, "markdown": _escape_markdown}
    environment.globals |= {"asset": _read_asset}
    return environment


def _read_asset(name: str) -> Markup:
    """Return a style or a script of ours, to stand in a page as it is."""
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


def _escape_markdown(text: str) -> str:
    """Write a text on one line such that Markdown shows it and reads nothing in it."""
    return " ".join(text.split()).translate(_MARKDOWN)
