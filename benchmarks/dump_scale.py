"""How a build grows with the dump: the pages of one, over and over under other titles, built into a knowledge base.

    python benchmarks/dump_scale.py enwik8.xml.gz WORK_FOLDER [--pages 20000] [--times 1,10] [--rows 450000]

Titles and links of each repetition get a number of their own, so there are as many times the titles, names and links.
Each build has a process of its own and computes in one, so that seconds of CPU tell all. Told apart, with the most
memory that each held: reading, counting names in a second pass (all of them in memory), and merging. `--rows` is what
each sorted list holds before it goes to the disk, at 300 bytes a row; fewer show on a small dump what happens on a
large one. Disk is what was gathered when merging begins.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from itertools import islice, pairwise
from pathlib import Path

from parlink.data.wikipedia import mediawiki

ROW_BYTES = 300  # of memory
LINK = re.compile(rb"\[\[([^\[\]|#:]+)")
TITLE = re.compile(rb"<title>(.*?)</title>")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--pages", type=int, help="of the dump, from its beginning; else all")
    parser.add_argument("--times", default="1,10")
    parser.add_argument("--rows", type=int, default=450_000)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    columns = (
        "times | XML, MB | titles | reading, s | MB | names, s | MB | merging, s | MB | tries, B a title | disk, MB"
    )
    print(f"| {columns} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for times in map(int, options.times.split(",")):
        dump = options.work / f"{times}.xml"
        write_dump(dump, options.dump, pages=options.pages, times=times)
        code = "import dump_scale, sys; dump_scale.build(*sys.argv[1:])"
        command = [sys.executable, "-c", code, str(dump.resolve()), str(options.rows)]
        done = subprocess.run(command, cwd=Path(__file__).parent, check=True, stdout=subprocess.PIPE, text=True)
        figures = json.loads(done.stdout.splitlines()[-1])
        print(f"| {times} | {dump.stat().st_size / 1e6:.1f} | " + " | ".join(figures) + " |", flush=True)
        dump.unlink()


def write_dump(path: Path, source: Path, *, pages: int | None, times: int) -> None:
    """Write the pages of a dump so many times, each time with titles of their own."""
    with path.open("wb") as file:
        for number in range(times):
            mark = b" (copy %d)" % number if number else b""
            for raw in islice(mediawiki.raw_pages(source, on_cut_off=lambda message: None), pages):
                head, tag, page = raw.partition(b"<page>")
                file.write((b"" if number else head) + tag + rename(page, mark) + b"</page>")
        file.write(b"</mediawiki>\n")


def rename(page: bytes, mark: bytes) -> bytes:
    """Give a page and what it links to other titles; what it shows stays."""
    page = TITLE.sub(lambda match: b"<title>" + match[1] + mark + b"</title>", page, count=1)
    return LINK.sub(lambda match: b"[[" + match[1].rstrip() + mark, page)


def build(dump: str, rows: str) -> None:
    """Build, and print the figures of a row."""
    from parlink.kb.build import spill
    from parlink.kb.build.build import BuildOptions
    from parlink.kb.build.build import build as build_folder
    from parlink.kb.recovery import work_path

    spill.MAX_BYTES = int(rows) * ROW_BYTES
    folder = Path(dump).with_suffix("")
    seconds, peaks, disk = [time.process_time(), 0.0], [0.0], 0

    def note(stage: str, done: int, whole: int) -> None:
        nonlocal disk
        if stage.startswith("merging"):
            seconds.append(time.process_time())
            peaks.append(peak())
            disk = sum(path.stat().st_size for path in work_path(folder).rglob("*"))
            Path("/proc/self/clear_refs").write_text("5")  # what comes now has a peak of its own
        elif not stage.endswith(", names"):
            seconds[1], peaks[0] = time.process_time(), peak()

    info = build_folder([dump], folder, options=BuildOptions(processes=1, replace=True), progress=note).info
    seconds.append(time.process_time())
    peaks.append(peak())
    tries = sum(size for name, size in info.sizes().items() if name.endswith(".marisa"))
    spent = (later - sooner for sooner, later in pairwise(seconds))
    figures = [cell for cpu, most in zip(spent, peaks, strict=True) for cell in (f"{cpu:.1f}", f"{most:.0f}")]
    print(json.dumps([f"{info.titles:,}", *figures, f"{tries / info.titles:.1f}", f"{disk / 1e6:.1f}"]))


def peak() -> float:
    """The most megabytes of memory that this process held, since that was last reset."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


if __name__ == "__main__":
    main()
