"""Give a trained model a bi-encoder that knows entities by what a knowledge base says of them.

python -m recipes.similarity DOCUMENTS... -o FOLDER [--model MODEL] [--kb KB] [--leads LEADS] [--encode N] [--keep]

DOCUMENTS are those that `parlink data wikipedia` and `parlink data aida` write. The model's encoder reads N windows of
them, once, and is not trained. With --keep the bi-encoder that the model has is trained further.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec
import torch
from rich.progress import track

from parlink.checkpoint.config_file import own_kb, packaged_model
from parlink.checkpoint.folder import Checkpoint, load_checkpoint, save_checkpoint
from parlink.data import jsonl
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.nn.model import LinkingModel
from parlink.training.describe import read_leads
from recipes.similarity.examples import Example, Reader, read_examples
from recipes.similarity.links import LinkedWindow, linked_windows
from recipes.similarity.train import train


def main() -> int:
    """Parse, train, and say where the model is."""
    wanted = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    try:
        checkpoint = make(wanted)
        folder = wanted.model or packaged_model()
        save_checkpoint(wanted.output, checkpoint, card=(folder / "README.md").read_text())
    except ParlinkError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{wanted.output}: a bi-encoder of size {wanted.size}; fit its weight with parlink tune --decision --weights")
    return 0


def make(wanted: argparse.Namespace) -> Checkpoint:
    """Train a bi-encoder for a model."""
    folder = wanted.model or packaged_model()
    checkpoint = load_checkpoint(folder)
    model = checkpoint.model if wanted.keep else with_bi_encoder(checkpoint.model, wanted.size)
    if model.similarity is None:
        raise ParlinkError(f"{folder} has no bi-encoder to keep; leave --keep out")
    kb_folder = wanted.kb or own_kb(folder)
    if kb_folder is None:
        raise ParlinkError(f"{folder} has no knowledge base of its own; give one with --kb")
    kb = KnowledgeBase.open(kb_folder).snapshot()
    documents = chain.from_iterable(map(jsonl.read, wanted.documents))
    windows = list(linked_windows(documents, checkpoint.tokenizer, kb))
    random.Random(wanted.seed).shuffle(windows)
    leads = {} if wanted.leads is None else read_leads(wanted.leads)
    reader = Reader(checkpoint.tokenizer, kb, leads)
    examples = list_examples(model, windows[: wanted.encode])
    train(model, examples, reader, steps=wanted.steps, learning_rate=wanted.learning_rate, seed=wanted.seed)
    return Checkpoint(model, checkpoint.tokenizer, checkpoint.tuned)


def with_bi_encoder(model: LinkingModel, size: int) -> LinkingModel:
    """The same model with a new bi-encoder."""
    more = LinkingModel(msgspec.structs.replace(model.config, similarity=size))
    weights = {name: weight for name, weight in model.state_dict().items() if not name.startswith("similarity.")}
    more.load_state_dict(weights, strict=False)
    return more.eval()


@torch.no_grad()
def list_examples(model: LinkingModel, windows: Sequence[LinkedWindow]) -> list[Example]:
    """The links of all windows, each read by the encoder."""
    read = (read_examples(model, window) for window in track(windows, "reading", disable=not sys.stderr.isatty()))
    return list(chain.from_iterable(read))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m recipes.similarity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path, nargs="+", help="linked documents, as parlink's JSON lines")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the model")
    parser.add_argument("--model", type=Path, help="trained model; default: the one that comes with parlink")
    parser.add_argument("--kb", type=Path, help="knowledge base; default: the model's own")
    parser.add_argument("--leads", type=Path, help="JSON lines with title and text, read in place of some descriptions")
    parser.add_argument("--size", type=int, default=128, help="of the vectors (%(default)s)")
    parser.add_argument("--encode", type=int, default=8000, help="windows that the encoder reads (%(default)s)")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--keep", action="store_true", help="train the model's own bi-encoder further, of its size")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
