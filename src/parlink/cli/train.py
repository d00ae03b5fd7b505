"""`parlink train`: train a model as a TOML file says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    config: Annotated[Path, typer.Argument(help="A TOML file such as configs/paper.toml.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the run's last checkpoint.")] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="key=value, overrides the file.")] = None,
) -> None:
    """Train a model. Stop it with Ctrl-C at any time, and go on with --resume."""
    from parlink.cli.progress import log_to, show_training, training_console
    from parlink.settings import override, parse, read_toml
    from parlink.train_config import TrainConfig
    from parlink.training.initial import initial_checkpoint
    from parlink.training.interrupts import as_ctrl_c
    from parlink.training.loop import Run

    console = training_console()
    log_to(console)
    job = parse(override(read_toml(config), settings or []), TrainConfig, source=str(config))
    run = Run(job, initial_checkpoint(job), resume=resume)
    try:
        with as_ctrl_c():
            show_training(run, console=console)
    except KeyboardInterrupt:
        console.print(f"stopped; the state is saved in {run.folder / 'checkpoint'}, go on with --resume")
        raise typer.Exit(130) from None
    if run.processes.is_main:
        print(run.folder / "model")
