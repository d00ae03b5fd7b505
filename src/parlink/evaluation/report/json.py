"""A report as plain data for `--json`: scores from 0 to 1, every number that the tables print, errors by kind."""

from __future__ import annotations

from typing import Any

import msgspec

from parlink.evaluation.errors import error_counts
from parlink.evaluation.kinds import KindSplit
from parlink.evaluation.scoring import Report, SeenSplit, Share, Task


def to_json(report: Report) -> dict[str, Any]:
    """Turn a report into plain data."""
    return {
        "condition": report.condition,
        "explanation": report.explanation,
        "match": report.match,
        "kb": report.kb,
        "redirects": report.redirects,
        "documents": len(report.documents),
        "gold": {"linked": report.linked, "nil": report.nil},
        "predicted": report.predicted,
        "without_candidates": report.without_candidates,
        "linking": _task(report.linking),
        "detection": _task(report.detection),
        "disambiguation": {**_task(report.disambiguation), "spans": report.disambiguation_spans},
        "candidate_recall": _share(report.candidate_recall),
        "coverage": _share(report.coverage),
        "seen": _seen(report.seen),
        "kinds": _kinds(report.kinds),
        "errors": error_counts(report.errors),
        "calibration_error": None if report.reliability is None else report.reliability.error,
        "comparison": msgspec.to_builtins(report.comparison),
        "warnings": msgspec.to_builtins(report.warnings),
    }


def _task(task: Task) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(task)
    if task.is_empty:
        value |= {"inkb": None, "intervals": None}  # 1.0 of nothing would say that all is well
    if task.with_nil is None:
        del value["with_nil"]
    return value


def _share(share: Share | None) -> dict[str, Any] | None:
    return (
        None
        if share is None
        else {"share": share.value if share.whole else None, "part": share.part, "whole": share.whole}
    )


def _seen(split: SeenSplit | None) -> dict[str, Any] | None:
    if split is None:
        return None
    return {
        "source": split.source,
        "seen": {**msgspec.to_builtins(split.seen), "counts": msgspec.to_builtins(split.seen_counts)},
        "unseen": {**msgspec.to_builtins(split.unseen), "counts": msgspec.to_builtins(split.unseen_counts)},
    }


def _kinds(split: KindSplit | None) -> dict[str, Any] | None:
    if split is None:
        return None
    return {
        "names": {**msgspec.to_builtins(split.names), "counts": msgspec.to_builtins(split.name_counts)},
        "others": {**msgspec.to_builtins(split.others), "counts": msgspec.to_builtins(split.other_counts)},
    }
