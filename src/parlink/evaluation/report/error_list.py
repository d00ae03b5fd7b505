"""The errors of a report as HTML: filters by kind, and a card for each error that shows it in its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from parlink.evaluation.counting import entity
from parlink.evaluation.errors import ErrorKind, LinkError
from parlink.evaluation.scoring import Report
from parlink.types import Candidate, Document, Link

_CONTEXT = 160  # characters on each side
_CANDIDATES = 10


def error_filters(report: Report) -> str:
    """Write a box for each kind of error with its count."""
    counts = Counter(error.kind for error in report.errors)
    groups = dict.fromkeys(kind.group for kind in ErrorKind)
    most = max(counts.values(), default=1)
    fields = []
    for group in groups:
        kinds = [kind for kind in ErrorKind if kind.group == group]
        labels = "".join(_label(kind, counts[kind], most) for kind in kinds)
        total = sum(counts[kind] for kind in kinds)
        fields.append(f'<fieldset class="{_css(group)}"><legend>{group} ({total:,})</legend>{labels}</fieldset>')
    return (
        f'<div class="filters">{"".join(fields)}</div><div class="search"><input type="search" aria-label="Search" '
        'placeholder="Search in texts, titles and document ids"><button value="all">all</button>'
        '<button value="none">none</button><output></output></div>'
    )


def error_cards(report: Report) -> str:
    """Write a card for each error."""
    return "".join(_card(error, report.documents[error.document]) for error in report.errors)


def _label(kind: ErrorKind, count: int, most: int) -> str:
    bar = f'<span class="bar" style="width:{100 * count / most:.1f}%"></span>' if count else ""
    box = f'<input type="checkbox" value="{kind.name}" checked>'
    return f"<label>{box}<span>{escape(kind.name_in_group)}</span><span>{count:,}</span>{bar}</label>"


def _card(error: LinkError, doc: Document) -> str:
    place = f"{escape(doc.id or f'document {error.document + 1}')}, {error.span.start}-{error.span.end}"
    return (
        f'<article class="card {_css(error.kind.group)}" data-kind="{error.kind.name}">'
        f'<header><b>{escape(error.kind)}</b><span class="soft">{place}</span></header>'
        f"<p>{_in_text(error, doc)}</p><p>{' · '.join(_verdict(error, doc))}</p>{_candidates(error)}</article>"
    )


def _verdict(error: LinkError, doc: Document) -> Iterator[str]:
    """Yield what gold says, what was said, and what lies beside."""
    if error.gold is not None:
        yield f'gold <b class="gold">{escape(entity(error.gold) or "")}</b>'
    elif error.kind is ErrorKind.FALSE_ON_GOLD_NIL:
        yield 'gold <b class="gold">no entity</b>'
    if error.predicted is not None:
        sure = "" if error.predicted.confidence is None else f" ({error.predicted.confidence:.2f})"
        yield f'predicted <b class="said">{escape(_named(error.predicted))}</b>{sure}'
    for link in error.beside:
        if link.span != error.span:
            whose = "predicted" if error.gold is not None else "gold"
            surface = escape(doc.text[link.span.start : link.span.end])
            yield f"{whose} beside it: “{surface}” is {escape(_named(link))}"


def _named(link: Link) -> str:
    why = f" ({link.reason.replace('_', ' ')})" if link.reason else ""
    return entity(link) or f"no entity{why}"


def _in_text(error: LinkError, doc: Document) -> str:
    """Write the text around an error, the span marked and the gold mentions around it underlined."""
    text, span = doc.text, error.span
    start, end = _word_start(text, span.start - _CONTEXT), _word_end(text, span.end + _CONTEXT)
    before = _underlined(text, start, span.start, doc.links)
    after = _underlined(text, span.end, end, doc.links)
    marked = f"<mark>{escape(text[span.start : span.end])}</mark>"
    return f"{'… ' if start else ''}{before}{marked}{after}{' …' if end < len(text) else ''}"


def _underlined(text: str, start: int, end: int, links: Sequence[Link]) -> str:
    parts, at = [], start
    for link in sorted(links, key=lambda link: link.span):
        if at <= link.span.start and link.span.end <= end:
            surface = escape(text[link.span.start : link.span.end])
            parts.append(escape(text[at : link.span.start]))
            parts.append(f'<u title="gold: {escape(_named(link))}">{surface}</u>')
            at = link.span.end
    return "".join([*parts, escape(text[at:end])])


def _word_start(text: str, at: int) -> int:
    return 0 if at <= 0 else text.find(" ", at, at + 30) + 1 or at


def _word_end(text: str, at: int) -> int:
    return len(text) if at >= len(text) else max(text.rfind(" ", at - 30, at), 0) or at


def _candidates(error: LinkError) -> str:
    if error.predicted is None or not error.predicted.candidates:
        return ""
    wanted = entity(error.gold) if error.gold is not None else None
    shown = list(error.predicted.candidates[:_CANDIDATES])
    shown += [one for one in error.predicted.candidates[_CANDIDATES:] if one.title == wanted]
    rows = "".join(_candidate(one, wanted) for one in shown)
    head = "<tr><th>title</th><th>total</th><th>language model</th><th>classifier</th><th>prior</th></tr>"
    count = len(error.predicted.candidates)
    return (
        f'<details><summary>{count} candidates</summary><div class="scroll"><table>{head}{rows}</table></div></details>'
    )


def _candidate(candidate: Candidate, wanted: str | None) -> str:
    values = (candidate.score, candidate.lm, candidate.classifier, candidate.prior)
    cells = "".join(f"<td>{'' if value is None else f'{value:.3f}'}</td>" for value in values)
    mark = ' class="gold"' if candidate.title == wanted else ""
    return f"<tr><td{mark}>{escape(candidate.title)}</td>{cells}</tr>"


def _css(group: str) -> str:
    return group.replace(" ", "-")
