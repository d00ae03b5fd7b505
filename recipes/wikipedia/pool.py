"""All titles with their evidence, which of them turned out to be which, and which were left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.report import Report


@dataclass
class Pool:
    """Titles that may become entities; `moved` leads from other titles to them, a step at a time."""

    titles: dict[str, Evidence] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    report: Report = field(default_factory=Report)

    def evidence(self, title: str) -> Evidence:
        """Return the evidence of a title, which is in the pool from now on."""
        evidence = self.titles.get(title)
        if evidence is None:
            evidence = self.titles[title] = Evidence()
        return evidence

    def merge(self, title: str, into: str, why: str) -> None:
        """Make a title another name of `into`, or the other way round if it is ours; two that are ours stay two."""
        ours = self.titles[title].marks & Mark.OURS
        if ours and self.evidence(into).marks & Mark.OURS:
            self.report.add(f"not {why}, as both are ours", f"{title} | {into}")
            return
        if ours:
            title, into = into, title
        self.report.add(why, f"{title} → {into}")
        self.evidence(into).add(self.titles.pop(title))
        self.moved[title] = into

    def leave_out(self, title: str, why: str) -> None:
        """Take a title out of the pool."""
        self.report.add(f"left out: {why}", title)
        del self.titles[title]

    def merge_moved(self, why: str) -> None:
        """Merge every title that is in `moved` into where it leads."""
        for title in [title for title in self.titles if title in self.moved]:
            end = self._end(title)
            if end == title:
                del self.moved[title]  # so that the circle is cut here
            else:
                self.merge(title, end, why)

    def now(self, title: str) -> str | None:
        """Return the title that a title stands for, None if it was left out or never known."""
        seen = set()
        while title not in self.titles:
            if title in seen or title not in self.moved:
                return None
            seen.add(title)
            title = self.moved[title]
        return title

    def _end(self, title: str) -> str:
        """Return where `moved` leads; of a circle the strongest title."""
        seen = [title]
        while (title := self.moved.get(title, title)) not in seen:
            seen.append(title)
        in_circle = seen[seen.index(title) :]
        return max(in_circle, key=lambda each: self.titles[each].strength if each in self.titles else -1)
