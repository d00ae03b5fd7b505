"""What `make demo` runs: train the smallest model there is on a dozen sentences, and link a new one."""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from parlink.cli.progress import show_training
from parlink.cli.show import show
from parlink.config import SCRATCH, Dataset, Stage, TrainConfig
from parlink.kbbuild.build import build
from parlink.linker import Linker
from parlink.train.initial import initial_checkpoint
from parlink.train.loop import Run

DATA = Path(__file__).parent / "data"
NEW_SENTENCES = ("The king of Jordan came to Hamburg by train.", "Hamburg won by a goal.", "The river Jordan is wide.")
TELL = """No trained model comes with parlink yet. So this demo makes a small one before your eyes: an encoder of two
layers with random weights learns a dozen sentences by heart, which takes some seconds on one core. Then it links
sentences that it has not seen. In its knowledge base, Jordan is a country or a river, and Hamburg a city or a club.
It knows nothing else of the world. To train one that does, see docs/training.md.
"""


def config(folder: Path) -> TrainConfig:
    data = Dataset(path=str(DATA / "sentences.jsonl"))
    rates = {"encoder_learning_rate": 3e-3, "learning_rate": 3e-3, "warmup": 0.1, "decay": 1.0}
    return TrainConfig(
        output=str(folder / "run"),
        encoder=SCRATCH,
        kb=str(folder / "kb"),
        validation=data.path,
        stages=(Stage(train=(data,), steps=250, **rates),),
        window=8,
        negatives=5,
        batch_size=13,
        validate_steps=50,
        device="cpu",
    )


def main() -> None:
    console = Console(stderr=True)
    console.print(TELL, highlight=False, soft_wrap=True)
    logging.getLogger("parlink").setLevel(logging.ERROR)  # that a surface has one candidate is no news here
    with TemporaryDirectory() as name:
        folder = Path(name)
        build([DATA / "entities.jsonl"], folder / "kb")
        job = config(folder)
        show_training(Run(job, initial_checkpoint(job)), console=console)
        linker = Linker.load(folder / "run" / "model", kb=folder / "kb")
        for sentence in NEW_SENTENCES:
            console.print()
            show(linker.link(sentence))


if __name__ == "__main__":
    main()
