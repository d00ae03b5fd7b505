"""The training run: stages of steps, validation, checkpoints, and a log of what happened."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from parlink.checkpoint.card import Training
from parlink.checkpoint.folder import Checkpoint, save_checkpoint
from parlink.checkpoint.recovery import recover
from parlink.data import files
from parlink.errors import ConfigError
from parlink.linking.linker import Linker
from parlink.nn.losses import PARTS
from parlink.train_config import Stage, TrainConfig
from parlink.training.average import WeightAverage
from parlink.training.batches import BatchStream
from parlink.training.curves import write_curves
from parlink.training.data import StageData, TrainingData
from parlink.training.describe import Describer
from parlink.training.divergence import check_divergence
from parlink.training.events import Event, RunLog, StepEvent, ValidationEvent, WorkEvent
from parlink.training.examples import Example
from parlink.training.finish import finish
from parlink.training.interrupts import held
from parlink.training.negatives import Negatives, NegativeSampler, SameType, find_confusions
from parlink.training.objective import Objective
from parlink.training.optimizer import lr_factor, make_optimizer, set_rates
from parlink.training.processes import LostProcessError, Processes
from parlink.training.state import Progress, has_state, load_state, read_progress, remove_remains, save_state
from parlink.training.stream import Cursor
from parlink.training.validation import Validation

CONFUSION_DOCUMENTS = 500  # of each dataset, in which hard negatives are looked for
MEASURED_STEPS = 8  # for a budget in minutes
MEMORY = 0.9  # of the mean loss, a step

log = logging.getLogger(__name__)


class Run:
    """One training run in its folder: `model/` is the best model, `checkpoint/` the latest state, and `log.jsonl`."""

    def __init__(self, config: TrainConfig, checkpoint: Checkpoint, *, resume: bool = False) -> None:
        letter_case = checkpoint.model.config.letter_case  # an encoder that was trained so goes on so
        config = msgspec.structs.replace(config, letter_case=letter_case)
        self.config, self.checkpoint, self.processes = config, checkpoint, Processes(config)
        self.tokenizer = checkpoint.tokenizer
        self.model = checkpoint.model.to(self.processes.device)
        self.folder = Path(config.output)
        self.optimizer = make_optimizer(self.model, config)
        self.average = WeightAverage(self.model, decay=config.ema_decay)
        describer = Describer.load(config, self.tokenizer)
        self.objective = Objective(config, self.model, self.tokenizer, self.processes, describer)
        self.sampler = NegativeSampler(Negatives.of(config))
        self.progress = self._begin(resume=resume)
        self.data = TrainingData(config, self.tokenizer, sizes=self.progress.data)
        self.validation = Validation.load(config)
        self.log = RunLog(self.folder / "log.jsonl", every=config.log_steps)
        if self.processes.is_main:
            recover(self.folder / "model")
            self.log.begin(total=self.progress.total)

    def events(self) -> Generator[Event]:
        """Train; each step and each validation is an event. Whoever stops the iteration finds the state saved."""
        try:
            for number in range(self.progress.stage, len(self.config.stages)):
                yield from map(self._log, self._stage(number, self.config.stages[number]))
        except (KeyboardInterrupt, GeneratorExit, LostProcessError):
            self._save()
            raise
        self.processes.leave()
        if self.processes.is_main:
            yield from self._finish()

    def _begin(self, *, resume: bool) -> Progress:
        folder = self.folder / "checkpoint"
        windows = self.config.batch_size * self.config.accumulate * self.processes.world_size
        if has_state(folder) and not resume:
            step = read_progress(folder).total
            raise ConfigError(
                f"{self.folder}: holds a run, saved at step {step}; go on with --resume, "
                "or remove the folder, or choose another output"
            )
        if has_state(folder):
            return load_state(
                folder,
                self.model,
                self.optimizer,
                self.config,
                windows=windows,
                tokenizer=self.tokenizer.hash,
                average=self.average,
            )
        if resume:
            log.info("%s: no checkpoint yet, so the run starts at the beginning", folder)
        return Progress(config=self.config, windows=windows, tokenizer=self.tokenizer.hash)

    def _stage(self, number: int, stage: Stage) -> Iterator[Event]:
        data = self.data.stage(stage)
        self.progress = self.progress.moved(data=dict(self.data.sizes))
        if number != self.progress.stage:
            self.progress = self.progress.moved(stage=number, step=0, planned=0, cursors=())
        self.sampler = self._make_sampler(stage)
        if not self.progress.planned:
            self.progress = self.progress.moved(planned=self._plan(stage, data))
        every = self.config.validate_steps or max(1, round(data.epoch / self.progress.windows))
        yield from self._validate(every)  # in case the run was stopped before it
        saved = time.monotonic()
        batches = self._batches(data, step=self.progress.step, cursors=self.progress.cursors)
        for batch in islice(batches, self.progress.planned - self.progress.step):
            yield self._step(stage, batch, cursors=batches.cursors(self.progress.step + 1))
            yield from self._validate(every)
            if self._stage_done or time.monotonic() - saved > 60 * self.config.checkpoint_minutes:
                self._save()
                saved = time.monotonic()

    def _make_sampler(self, stage: Stage) -> NegativeSampler:
        """Draw negatives as the config says; hard ones are found when a stage begins, and kept for its length."""
        kb = self.data.kb
        types = SameType.gather(map(kb.entity, kb.titles())) if self.config.type_negatives and kb else SameType()
        path = self.folder / f"confusions-{self.progress.stage}.json"
        if self.config.hard_negatives and not self.progress.step:
            if self.processes.is_main:
                with self.average.in_place():
                    linker = Linker(self.checkpoint, kb=kb, device=str(self.processes.device))
                    confusions = find_confusions(linker, self.data.some(stage, most=CONFUSION_DOCUMENTS))
                with files.open_output(path) as file:
                    file.write(msgspec.json.encode(confusions))
            self.processes.wait()
        found = msgspec.json.decode(path.read_bytes()) if self.config.hard_negatives else {}
        return NegativeSampler(Negatives.of(self.config), found, types)

    @property
    def _stage_done(self) -> bool:
        return self.progress.step == self.progress.planned

    def _batches(self, data: StageData, *, step: int = 0, cursors: Sequence[Cursor] = ()) -> BatchStream:
        seed = f"{self.config.seed} {self.progress.stage}"
        return data.batches(batch_size=self.progress.windows, seed=seed, step=step, cursors=cursors)

    def _plan(self, stage: Stage, data: StageData) -> int:
        """How many steps a stage has."""
        if stage.steps is not None:
            return stage.steps
        if stage.epochs is not None:
            return max(1, math.ceil(stage.epochs * data.epoch / self.progress.windows))
        assert stage.minutes is not None
        return max(1, round(60 * stage.minutes / self._seconds_per_step(data)))

    def _seconds_per_step(self, data: StageData) -> float:
        """Time steps over batches of all lengths, without changing any weight."""
        pool = sorted(islice(self._batches(data), 32), key=lambda batch: len(batch[0].window.ids))
        chosen = pool[:: len(pool) // MEASURED_STEPS]
        self.objective.add_gradients(chosen[0], step=0, sampler=self.sampler)  # warm up
        begin = time.monotonic()
        for batch in chosen:
            self.objective.add_gradients(batch, step=0, sampler=self.sampler)
        seconds = (time.monotonic() - begin) / len(chosen)
        self.optimizer.zero_grad()
        return self.processes.mean(seconds)

    def _step(self, stage: Stage, examples: Sequence[Example], *, cursors: tuple[Cursor, ...]) -> StepEvent:
        begin, progress = time.monotonic(), self.progress
        factor = lr_factor(progress.step, stage=stage, planned=progress.planned)
        set_rates(self.optimizer, stage, factor)
        parts = self._gradients(examples)
        loss = float(parts @ parts.new_tensor(self.config.loss_weights))
        mean = loss if progress.mean_loss is None else MEMORY * progress.mean_loss + (1 - MEMORY) * loss
        with held():  # weights and step number change together
            self.optimizer.step()
            self.average.update(progress.total + 1)
            seconds = time.monotonic() - begin
            self.progress = progress.moved(
                step=progress.step + 1,
                total=progress.total + 1,
                seconds=progress.seconds + seconds,
                first_loss=loss if progress.first_loss is None else progress.first_loss,
                mean_loss=mean,
                cursors=cursors,
            )
        tokens = sum(len(example.window.ids) for example in examples)
        return StepEvent(
            stage=progress.stage,
            step=self.progress.step,
            planned=progress.planned,
            total=self.progress.total,
            losses=dict(zip(PARTS, parts.tolist(), strict=True)),
            rate=factor,
            tokens_per_second=tokens / seconds,
            seconds=self.progress.seconds,
        )

    def _gradients(self, examples: Sequence[Example]) -> Tensor:
        """Set the gradients of a batch, cut to the norm allowed; the parts of its loss, each a mean."""
        self.optimizer.zero_grad()
        parts = self.objective.add_gradients(examples, step=self.progress.total, sampler=self.sampler)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip_norm)
        vocabulary = self.model.config.encoder.vocab_size
        check_divergence(parts, norm, examples, self.progress, folder=self.folder / "checkpoint", vocabulary=vocabulary)
        return parts

    def _validate(self, every: int) -> Iterator[Event]:
        """Score the model if it is due, and keep it if it is the best."""
        progress = self.progress
        due = progress.step and (progress.step % every == 0 or self._stage_done)
        if self.validation is None or not due or progress.validated == progress.total:
            return
        yield WorkEvent("validating")
        begin = time.monotonic()
        with self.average.in_place():
            linking, detection = self.validation.scores(self.checkpoint, self.processes)
        best = linking.f1 >= progress.best  # of equals, the one trained longer
        if best:
            self.save_model()
        self.progress = progress.moved(validated=progress.total, best=max(progress.best, linking.f1))
        yield ValidationEvent(
            stage=progress.stage,
            step=progress.step,
            total=progress.total,
            f1=linking.f1,
            detection_f1=detection.f1,
            best=best,
            seconds=time.monotonic() - begin,
        )

    def _finish(self) -> Iterator[Event]:
        """Make what is to be kept of the run."""
        if self.validation is None:
            self.save_model()
        progress, device = self.progress, str(self.processes.device)
        sizes = {path: known.sizes for path, known in progress.data.items()}
        training = Training(self.config, sizes, progress.total, progress.seconds, device)
        yield from finish(self.folder / "model", training, self.validation)
        write_curves(self.folder / "curves.svg", self.log.entries())
        remove_remains(self.folder / "checkpoint")

    def save_model(self) -> None:
        """Write the model, its weights averaged if the config says so, into `model/`."""
        if self.processes.is_main:
            with self.average.in_place():
                save_checkpoint(self.folder / "model", self.checkpoint, card="")

    def _save(self) -> None:
        if self.processes.is_main:
            folder = self.folder / "checkpoint"
            with held():  # torchrun sends its processes a second signal while they save
                save_state(folder, self.model, self.optimizer, self.progress, average=self.average)

    def _log(self, event: Event) -> Event:
        if self.processes.is_main:
            self.log.add(event)
            if isinstance(event, ValidationEvent):
                write_curves(self.folder / "curves.svg", self.log.entries())
        return event
