"""Give a model with a bi-encoder vectors of sentences, so that it can compare a text with what is said of an entity.

python -m recipes.sentence DOCUMENTS... --leads LEADS --teacher ENCODER -o FOLDER [--model MODEL] [--kb KB]

ENCODER is an encoder of sentences whose vectors are the mean of its states, such as all-MiniLM-L6-v2; DOCUMENTS are
any, as parlink's JSON lines. Nothing else of the model changes.
"""

from __future__ import annotations

import argparse
import random
import sys
from itertools import chain, islice
from pathlib import Path

import msgspec

from parlink.checkpoint.config_file import own_kb, packaged_model
from parlink.checkpoint.folder import Checkpoint, load_checkpoint, save_checkpoint
from parlink.data import jsonl
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.nn.model import LinkingModel
from parlink.training.describe import read_leads
from recipes.sentence.distill import Teacher, fit, read_means
from recipes.sentence.texts import document_stretches, entity_stretches


def main() -> int:
    """Parse, distill, and say how near the vectors are to the teacher's."""
    wanted = _options()
    folder = wanted.model or packaged_model()
    try:
        checkpoint, cosine = make(wanted, folder)
        save_checkpoint(wanted.output, checkpoint, card=(folder / "README.md").read_text())
    except ParlinkError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{wanted.output}: sentence vectors, mean cosine with the teacher's {cosine:.3f}")
    return 0


def make(wanted: argparse.Namespace, folder: Path) -> tuple[Checkpoint, float]:
    """The model with vectors of sentences, and how near these are to the teacher's."""
    checkpoint, rng = load_checkpoint(folder), random.Random(wanted.seed)
    kb_folder = wanted.kb or own_kb(folder)
    if not checkpoint.model.config.similarity or kb_folder is None:
        raise ParlinkError(f"{folder}: wants a bi-encoder and a knowledge base; see recipes.similarity, and --kb")
    teacher, kb, tokenizer = Teacher(wanted.teacher), KnowledgeBase.open(kb_folder).snapshot(), checkpoint.tokenizer
    leads = list(read_leads(wanted.leads).items())
    rng.shuffle(leads)
    documents = islice(chain.from_iterable(map(jsonl.read, wanted.documents)), wanted.windows)
    said = entity_stretches(dict(leads[: wanted.entities]), kb, tokenizer, rng)
    stretches = [*said, *document_stretches(documents, tokenizer, rng)]
    model = with_sentences(checkpoint.model, teacher.encoder.config.hidden, strength=wanted.strength)
    assert model.sentence is not None
    means = read_means(model, stretches, pad_id=tokenizer.pad_id)
    cosine = fit(model.sentence, means, teacher.read([stretch.text for stretch in stretches]))
    return Checkpoint(model, tokenizer, checkpoint.tuned), cosine


def with_sentences(model: LinkingModel, size: int, *, strength: float) -> LinkingModel:
    """The same model with vectors of sentences that are not learned yet."""
    more = LinkingModel(msgspec.structs.replace(model.config, sentence=size))
    weights = {name: weight for name, weight in model.state_dict().items() if not name.startswith("sentence.")}
    more.load_state_dict(weights, strict=False)
    assert more.sentence is not None
    more.sentence.strength.fill_(strength)
    return more.eval()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m recipes.sentence", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path, nargs="+", help="documents, as parlink's JSON lines")
    parser.add_argument("--leads", type=Path, required=True, help="JSON lines with title and text of entities")
    parser.add_argument("--teacher", required=True, help="an encoder of sentences: its folder, or its name on the hub")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the model")
    parser.add_argument("--model", type=Path, help="trained model; default: the one that comes with parlink")
    parser.add_argument("--kb", type=Path, help="knowledge base; default: the model's own")
    parser.add_argument("--entities", type=int, default=18_000, help="whose leads are read (%(default)s)")
    parser.add_argument("--windows", type=int, default=3_000, help="of documents, one of each (%(default)s)")
    parser.add_argument("--strength", type=float, default=40.0, help="of a cosine in the similarity (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
