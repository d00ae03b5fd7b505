"""The paper's Table 3, side by side in one run: the published algorithm, ours step by step, and GENRE's way.

    python benchmarks/speed.py DOCUMENTS.jsonl [--documents 6] [-o FOLDER]

All link the same spans to the same candidates of the same documents: those that links bring along, such as PPRforNED's
of AIDA, else those of the model's knowledge base. Each measurement is a process of its own. It fails if our exact
scores differ from those of the plain algorithm by more than 1e-4.

1 plain            `transformers`' Longformer, each candidate alone and padded, full softmax: at the paper's sizes,
                   random weights
2 exact            the same weights and scores, by our code
3 self-normalized  the same without the sum over the vocabulary, as our models are trained
4 int8             the same in 8 bits
5 default          the model that comes with parlink, in float32 and in 8 bits
6 GENRE's way      a BART-large of random weights, led along the gold mark-up: some steps of few documents are measured,
                   and the rest is extrapolated
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import msgspec
import torch

from parlink import Document, Linker, LinkOptions
from parlink.checkpoint.config_file import packaged_model
from parlink.checkpoint.folder import Checkpoint
from parlink.checkpoint.int8_kernel import avoid_crash
from parlink.checkpoint.precision import set_precision
from parlink.config import Tuned
from parlink.data import jsonl
from parlink.evaluation.report.speed_table import to_svg, to_table
from parlink.evaluation.speed import Speed, Way, extrapolate, measure, run_alone
from parlink.linking.network import Network
from parlink.load_options import Precision
from parlink.model_config import EncoderConfig, ModelConfig
from parlink.nn import linear as kernels
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer

Scores = list[tuple[float, float]]  # log-likelihood and correction, of each candidate of each mention
ALL = LinkOptions(max_candidates=sys.maxsize, overlaps="keep")
VOCABULARY = 50_265  # of the paper's encoder, and of BART
BATCH = 4  # documents that the plain algorithm reads side by side


@dataclass(frozen=True)
class Setting:
    """What is measured with: small, so that it can be sent to a process."""

    documents: tuple[Document, ...]
    model: Path
    hidden: int
    layers: int
    threads: int

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the default model, for all: the same text is as many tokens for each."""
        return Tokenizer.load(self.model / "tokenizer.json")


def main() -> None:
    wanted = _options()
    avoid_crash()  # in the processes that measure
    folder = wanted.model or packaged_model()
    documents = read(wanted.data, limit=wanted.documents, model=folder)
    setting = Setting(documents, folder, wanted.hidden, wanted.layers, wanted.threads)
    speeds: list[Speed] = []
    for way in map(Way, wanted.way):
        plain, reference = run_alone(measure_plain, setting, way)
        exact, ours = run_alone(measure_ours, setting, way, "exact", False, "float32")
        check_equal(reference, ours)
        speeds += [plain, exact]
        speeds += [
            run_alone(measure_ours, setting, way, "self-normalized", True, "float32")[0],
            run_alone(measure_ours, setting, way, "int8", True, "int8")[0],
            run_alone(measure_default, setting, way, "default", "float32"),
            run_alone(measure_default, setting, way, "default, int8", "int8"),
        ]
    few = replace(setting, documents=documents[: wanted.genre_documents])
    for beams in (1, 5):
        speeds.append(run_alone(measure_genre, few, beams, wanted.genre_steps, wanted.bart_hidden, wanted.bart_layers))
    print(f"{_describe(setting)}\n\n{to_table(speeds)}")
    if wanted.output is not None:
        wanted.output.mkdir(parents=True, exist_ok=True)
        (wanted.output / "speed.json").write_bytes(msgspec.json.format(msgspec.json.encode(speeds)))
        (wanted.output / "speed.svg").write_text(to_svg(speeds, title="Documents a second, one at a time, one core"))


def read(data: Path, *, limit: int, model: Path) -> tuple[Document, ...]:
    """Read documents with spans and candidates; those of the knowledge base where they bring none."""
    kb = Linker.load(model).kb
    documents = []
    for doc in islice(jsonl.read(data), limit):
        links = []
        for link in sorted({link.span: link for link in doc.links}.values(), key=lambda link: link.span):
            candidates = link.candidates or (() if kb is None else tuple(kb.candidates(doc.surface(link), limit=30)))
            if candidates:
                links.append(replace(link, candidates=candidates))
        documents.append(Document(doc.text, links=tuple(links), spans=tuple(link.span for link in links)))
    if not any(doc.links for doc in documents):
        sys.exit(f"{data}: no link has candidates, so there is nothing to measure")
    return tuple(documents)


def paper_model(setting: Setting, tokenizer: Tokenizer, *, self_normalized: bool) -> LinkingModel:
    """A model of the paper's sizes with random weights, the same in every process."""
    hidden = setting.hidden
    encoder = EncoderConfig(
        family="longformer",
        vocab_size=max(VOCABULARY, tokenizer.vocab_size),
        hidden=hidden,
        layers=setting.layers,
        heads=max(1, hidden // 64),
        intermediate=4 * hidden,
        positions=4098,
        position_offset=tokenizer.pad_id + 1,  # as Longformer counts
        token_types=1,
        layer_norm_eps=1e-5,
    )
    torch.manual_seed(0)
    config = ModelConfig(
        encoder=encoder, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id, self_normalized=self_normalized
    )
    return LinkingModel(config).eval()


def measure_plain(setting: Setting, way: Way) -> tuple[Speed, Scores]:
    """The published algorithm, with the kernels that torch chooses by itself, as its code has."""
    from reference_way import ReferenceLinker

    kernels.HAS_ONEDNN = False  # in this process, which measures nothing else
    torch.set_num_threads(setting.threads)
    tokenizer, docs = setting.tokenizer, setting.documents
    linker = ReferenceLinker(paper_model(setting, tokenizer, self_normalized=False), tokenizer)
    size = 1 if way is Way.SINGLY else BATCH
    batches = [docs[first : first + size] for first in range(0, len(docs), size)]
    return _measure("plain", way, setting, lambda: [score for batch in batches for score in linker.score(batch)])


def measure_ours(
    setting: Setting, way: Way, name: str, self_normalized: bool, precision: Precision
) -> tuple[Speed, Scores]:
    """Our linker with the paper's model, and the scores of all candidates."""
    torch.set_num_threads(setting.threads)
    tokenizer = setting.tokenizer
    model = paper_model(setting, tokenizer, self_normalized=self_normalized)
    set_precision(model, precision, device=torch.device("cpu"))
    linker = Linker(Checkpoint(model, tokenizer, Tuned()))
    speed, linked = _measure(_say(name, precision, model), way, setting, _work(linker, way, setting.documents))
    return speed, [score for doc, given in zip(linked, setting.documents, strict=True) for score in _scores(doc, given)]


def measure_default(setting: Setting, way: Way, name: str, precision: Precision) -> Speed:
    """The model that comes with parlink."""
    torch.set_num_threads(setting.threads)
    linker = Linker.load(setting.model, device="cpu", precision=precision).with_candidates(None)
    work = _work(linker, way, setting.documents)
    return _measure(_say(name, precision, linker.network), way, setting, work)[0]


def measure_genre(setting: Setting, beams: int, steps: int, hidden: int, layers: int) -> Speed:
    """GENRE's way, some steps of each document."""
    from genre_way import bart, mark_up, write_out

    torch.set_num_threads(setting.threads)
    tokenizer = setting.tokenizer
    sources = [tokenizer.encode(doc.text).ids[:1000].tolist() for doc in setting.documents]
    targets = [tokenizer.encode(mark_up(doc)).ids[:1000].tolist() for doc in setting.documents]
    model = bart(tokenizer, hidden=hidden, layers=layers)
    write_out(model, sources[0][:8], targets[0][:2], beams=beams)

    def work() -> None:
        for source, target in zip(sources, targets, strict=True):
            write_out(model, source, target[:steps], beams=beams)

    speed, _ = _measure(f"GENRE's way, beam {beams}", Way.SINGLY, setting, work)
    whole, done = sum(map(len, targets)), sum(min(len(target), steps) for target in targets)
    note = f"extrapolated from {done} of {whole} decoding steps of {len(targets)} documents; the search is left out"
    return extrapolate(speed, whole / done, note=note)


def check_equal(reference: Scores, ours: Scores) -> None:
    """Fail unless our scores are those of the plain algorithm."""
    wanted, got = torch.tensor(reference), torch.tensor(ours)
    if wanted.shape != got.shape:
        sys.exit(f"the plain algorithm scores {len(wanted)} candidates, and ours {len(got)}")
    largest = float((wanted - got).abs().max())
    print(f"{len(wanted)} candidates; largest difference of scores, plain and exact: {largest:.1e}", file=sys.stderr)
    if largest > 1e-4:
        sys.exit("our scores are not those of the plain algorithm")


def _work(linker: Linker, way: Way, documents: Sequence[Document]) -> Callable[[], list[Document]]:
    """Link given spans; the linker has warmed up."""
    linker.link(documents[0], options=ALL)
    if way is Way.SINGLY:
        return lambda: [linker.link(doc, options=ALL) for doc in documents]
    return lambda: list(linker.stream(documents, options=ALL))


def _scores(doc: Document, given: Document) -> Scores:
    """The parts of the scores in the order in which the candidates were given."""
    found = {(link.span, one.title): (one.lm or 0.0, one.classifier or 0.0) for link in doc for one in link.candidates}
    return [found[link.span, one.title] for link in given.links for one in link.candidates]


def _measure(name: str, way: Way, setting: Setting, work: Callable[[], object]) -> tuple[Speed, object]:
    tokenizer = setting.tokenizer
    tokens = sum(len(tokenizer.encode(doc.text).ids) for doc in setting.documents)
    return measure(work, name=name, way=way, documents=len(setting.documents), tokens=tokens)


def _say(name: str, wanted: Precision, model: LinkingModel | Network) -> str:
    return name if model.precision == wanted else f"{name} (not on this CPU: {model.precision})"


def _describe(setting: Setting) -> str:
    links = [link for doc in setting.documents for link in doc.links]
    counts = (
        f"{len(setting.documents)} documents, {len(links)} mentions, {sum(len(x.candidates) for x in links)} candidates"
    )
    return (
        f"{counts}; {setting.threads} thread, torch {torch.__version__} ({platform.processor() or platform.machine()})"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--genre-documents", type=int, default=2)
    parser.add_argument("--genre-steps", type=int, default=48, help="decoding steps of a document that are measured")
    parser.add_argument("--model", type=Path, help="in place of the one that comes with parlink")
    parser.add_argument("--way", nargs="+", choices=list(Way), default=list(Way))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=768, help="of the paper's model")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--bart-hidden", type=int, default=1024)
    parser.add_argument("--bart-layers", type=int, default=12)
    parser.add_argument("-o", "--output", type=Path, help="folder for speed.json and speed.svg")
    return parser.parse_args()


if __name__ == "__main__":
    main()
