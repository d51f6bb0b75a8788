"""A training run from beginning to end: digits, network, training, measuring, record."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from capsnet_book.experiments.cnn import ConvNet, recognising_and_drawing
from capsnet_book.experiments.evidence import evidence
from capsnet_book.experiments.records import Commit, RunRecord, code_version, hardware, versions, write_json
from capsnet_book.experiments.rounds import measure_entropy
from capsnet_book.experiments.tasks import TASKS, TrainingSetup, every_training_digit, plain, unwrapped
from capsnet_book.networks import load_network, save_network
from capsnet_tutorial.data import Digits, Source, Split, digits, resolved_source
from capsnet_tutorial.errors import InputError, expect
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import Diverged, History, Recipe, fit


class Splits(NamedTuple):
    """Digits to train on, and those to measure on: ``test``, and ``validation`` where it is not trained on."""

    training: Digits
    held_out: dict[str, Digits]

    @classmethod
    def load(cls, source: Source, root: str | None, everything: bool) -> Splits:
        """All from one source.

        Args:
            source: as `resolved_source` gives it: not "auto".
            root: as for `digits`.
            everything: train on the validation digits too.
        """
        training = every_training_digit(source, root) if everything else digits("train", source, root)
        names: tuple[Split, ...] = ("test",) if everything else ("validation", "test")
        held_out: dict[str, Digits] = {name: digits(name, source, root) for name in names}
        sources = {data.source for data in (training, *held_out.values())}
        expect(sources == {source}, f"every split from {source}", ", ".join(sorted(sources)))
        return cls(training, held_out)


@dataclass(frozen=True)
class TrainingRun:
    """One run of `python -m capsnet_book.experiments train`."""

    setup: TrainingSetup
    recipe: Recipe
    folder: Path
    """For checkpoint.safetensors, weights.safetensors and result.json."""
    command: str
    """That repeats it."""
    source: Source = "auto"
    root: str | None = None
    """Where the digits lie, as for `digits`."""
    everything: bool = False
    """Train on the validation digits too."""
    threads: int | None = None
    """Of the processor, as for `fit`."""

    def train(self, *, resume: bool = False, progress: bool = True) -> RunRecord:
        """Train, save the weights, measure what is in their file, write the record.

        Args:
            resume: go on from the checkpoint in the folder, if there is one.
            progress: show a bar.

        Returns:
            The record, which is result.json.

        Raises:
            Diverged: the record says so, without any measurement.
            OSError: the folder cannot be written to.
            ValueError: the folder holds a run already, or as in `fit`.
        """
        torch.manual_seed(self.recipe.seed)
        network = self.setup.build()
        commit = code_version()  # now: the files may have changed when the run is done
        checkpoint = self.folder / "checkpoint.safetensors"
        if checkpoint.exists() and not resume:
            raise InputError(
                f"{self.folder} holds a run already: --resume goes on with it, another --output begins a new one"
            )
        _make_writable(self.folder)
        source = resolved_source(self.source, self.root)
        training, held_out = Splits.load(source, self.root, self.everything)
        task = TASKS[self.setup.task]
        measured_on = {split: task.to_measure_on(data) for split, data in held_out.items()}
        # Where every digit is trained on, only the test digits are left to tell when it is accurate enough.
        needs_test = self.recipe.stop_at_accuracy is not None
        watched = measured_on.get("validation", measured_on["test"] if needs_test else None)
        kept = len(held_out["validation"].labels) if "validation" in held_out else 0
        print(f"{training.count:,} digits to train on ({training.source}), {kept:,} to validate")

        describe = partial(self._record, commit=commit, training=training)
        try:
            trained, history = fit(
                network,
                task.to_train_on(training),
                self.recipe,
                objective=self.setup.objective(self.recipe.reconstruction_weight),
                validation=None if watched is None else lambda network: task.measure(plain(network), watched).error,
                identity=self.setup.identity | {"source": source, "everything": self.everything},
                checkpoint=checkpoint,
                resume=resume,
                progress=progress,
                threads=self.threads,
            )
        except Diverged as problem:
            self._write(describe(unwrapped(network), problem.history, diverged=str(problem)))
            raise
        finished = plain(trained)
        save_network(finished, self.folder / "weights.safetensors")
        parts = deepcopy(finished.parts) if isinstance(finished, CapsNet) else None
        saved = load_network(self.folder / "weights.safetensors", parts)  # what is measured is what is in the file
        saved.to(next(trained.parameters()).device)
        if task.harder is not None:
            measured_on["test_bent"] = task.harder(held_out["test"])
        found: dict[str, Any] = {
            split: {name: round(value, 6) for name, value in task.measure(saved, data)._asdict().items()}
            for split, data in measured_on.items()
        }
        found |= evidence(saved, measured_on)
        if isinstance(saved, CapsNet):
            found["entropy"] = measure_entropy(saved, measured_on["test"])
        record = describe(unwrapped(trained), history, **found)
        self._write(record)
        return record

    def _record(
        self,
        network: CapsNet | ConvNet,
        history: History,
        *,
        commit: Commit | None,
        training: Digits,
        **found: Any,
    ) -> RunRecord:
        recognising, drawing = recognising_and_drawing(network)
        return RunRecord(
            command=self.command,
            task=self.setup.task,
            network=self.setup.network,
            changes=self.setup.differences,
            config=asdict(network.config),
            parameters=recognising + drawing,
            recognising_parameters=recognising,
            drawing_parameters=drawing,
            recipe=self.recipe,
            data={"source": training.source, "training_digits": training.count},
            steps=history.step,
            training_seconds=round(history.seconds, 1),
            curve=[{key: float(f"{value:.6g}") for key, value in point.items()} for point in history.curve],
            hardware=hardware(network, history.threads),
            versions=versions(),
            commit=commit,
            **found,
        )

    def _write(self, record: RunRecord) -> None:
        write_json(self.folder / "result.json", record.to_dict())


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".capsnet").touch()
        (folder / ".capsnet").unlink()
    except OSError as problem:
        raise OSError(f"expected a folder that can be written to; got {folder} ({problem.strerror})") from problem
