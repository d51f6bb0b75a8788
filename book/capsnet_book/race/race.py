"""The race itself: properties, costs, training, table, verdict, record."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from capsnet_book.experiments.cnn import ConvNet
from capsnet_book.experiments.pairs import OnPairs
from capsnet_book.experiments.records import RunRecord, write_json
from capsnet_book.experiments.runs import TrainingRun
from capsnet_book.experiments.tasks import TASKS, OwnRouting, TrainingSetup, every_training_digit, unwrapped
from capsnet_book.race.call_limit import CallLimit
from capsnet_book.race.contestant import contestant
from capsnet_book.race.cost import Cost, costs
from capsnet_book.race.plan import EPOCHS, Plan, fitting_epochs, recorded_runs
from capsnet_book.race.routing_properties import Properties, properties
from capsnet_book.race.verdict import Compared, compare, differences, table, verdict
from capsnet_book.routings.zoo import ZOO
from capsnet_tutorial.data import Source, resolved_source
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Diverged, Recipe

_RECORDED_DIGITS, _RECORDED_SEEDS = 60_000, 10
"""Of the project's records: MNIST's training digits, and how many seeds there may be."""


@dataclass(frozen=True, repr=False)
class Race:
    """Everything that a race found."""

    name: str
    plan: Plan
    properties: Properties
    arms: dict[str, list[RunRecord]]
    """Runs by routing: the reader's first, then the paper's, then those of the zoo that have records of this kind."""
    costs: dict[str, Cost]
    records: dict[str, list[RunRecord]]
    """The project's, of longer trainings than these, to look at; empty in a race as long as they are."""

    @property
    def rivals(self) -> list[str]:
        """The paper's routing and none at all, where they take part."""
        return [rival for rival in ("paper", "even") if rival in self.arms and rival != self.name]

    @property
    def verdict(self) -> list[str]:
        """In plain words."""
        return verdict(self.name, self.arms, self.costs, self.plan.epochs)

    def compared(self, rival: str) -> list[Compared]:
        """Own less the rival's."""
        return compare(self.arms[self.name], self.arms[rival])

    def __str__(self) -> str:
        compared = [differences(self.name, each, self.compared(each)) for each in self.rivals]
        longer = f"For comparison, the project's records, of up to {EPOCHS[-1]} epochs of MNIST:\n"
        shown = [longer + table(self.records, {})] if self.records else []
        return "\n\n".join([table(self.arms, self.costs), *shown, *compared, "\n".join(self.verdict)])

    __repr__ = __str__  # a notebook shows it

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "routing": self.name,
            "plan": asdict(self.plan) | {"seeds": list(self.plan.seeds)},
            "properties": [each._asdict() for each in self.properties.found],
            "costs": {name: each._asdict() for name, each in self.costs.items()},
            "differences": {rival: [each.to_dict() for each in self.compared(rival)] for rival in self.rivals},
            "verdict": self.verdict,
            "runs": {name: [record.to_dict() for record in records] for name, records in self.arms.items()},
        }


def race(
    routing: str | Callable[..., Any],
    *,
    minutes: float | None = 5,
    epochs: float | None = None,
    seeds: int = 3,
    task: str = "digits",
    source: Source = "auto",
    root: str | None = None,
    folder: str | Path = "runs/race",
    call_seconds: float = 120,
    say: Callable[[str], None] = print,
    progress: bool = True,
) -> Race:
    """Race a routing against the paper's: the small network, the same recipe, epochs and seeds.

    Every run that is over, and every started one's checkpoint, is kept in the folder: the same call goes on from there.
    The paper's runs serve all races of the same length.

    Args:
        routing: as for `contestant`.
        minutes: for everything, roughly: decides the number of epochs, one of `EPOCHS`.
        epochs: instead of minutes.
        seeds: how many, from 0 on.
        task: "digits", "pairs" or "affine".
        source: of the digits, as for `digits`.
        root: as for `digits`.
        folder: for what is trained, and for the record, race.json in the routing's own folder.
        call_seconds: a call of the routing in a training that takes longer is taken for one that never ends.
        say: called with a line before each step.
        progress: show a bar for each training.

    Raises:
        ValueError: a routing that cannot be had or lacks a property, a task that there is not, too few minutes, or a
            routing that raises, or never returns, while it trains. What was trained is kept.
    """
    began = time.monotonic()
    expect(task in TASKS, f"a task, one of {', '.join(TASKS)}", repr(task))
    own = contestant(routing)
    expect(own.name != "paper", "a routing other than the paper's, which takes part anyway", "paper")
    found = properties_of(own, task)
    say(f"{own.name}\n{found}\n")
    expect(found.passed, "a routing that has these properties", f"none with: {', '.join(found.lacking)}")
    source = resolved_source(source, root)
    data = every_training_digit(source, root)
    limit = CallLimit(call_seconds)
    with _told(own.name, limit):
        spent = costs({own.name: _watched(task, own, limit), "paper": _setup(task)}, data, Recipe())
    say("A step takes " + ", ".join(f"{cost.milliseconds:.0f} ms ({name})" for name, cost in spent.items()) + ".")
    home = Path(folder) / re.sub(r"[^A-Za-z0-9]+", "-", f"{own.name} {own.version}")
    if epochs is None:
        milliseconds = {"own": spent[own.name].milliseconds, "paper": spent["paper"].milliseconds}
        epochs = _kept_or_fitting(home, Plan(task, source, EPOCHS[-1], range(seeds)), minutes, data.count, milliseconds)
    plan = Plan(task, source, epochs, list(range(seeds)))
    recorded = recorded_runs(plan, data.count)
    longest = Plan(task, "mnist", EPOCHS[-1], range(_RECORDED_SEEDS))
    longer = {} if recorded else recorded_runs(longest, _RECORDED_DIGITS)
    rivals: dict[str, tuple[TrainingSetup, Path]] = {own.name: (_watched(task, own, limit), home / plan.name)}
    if len(recorded.get("paper", [])) < seeds:
        recorded.pop("paper", None)
        rivals["paper"] = _setup(task), Path(folder) / f"paper-{plan.name}"
    with _told(own.name, limit):
        arms = _train(rivals, plan, data.count, spent, root, say, progress)
    others = {name: records for name, records in recorded.items() if name not in arms}
    if others:
        missing = {name: _setup(task, contestant(name)) for name in others if name not in spent}
        spent |= costs(missing, data, Recipe())
    result = Race(own.name, plan, found, {**arms, **others}, spent, longer)
    write_json(home / "race.json", result.to_dict())
    say(f"{(time.monotonic() - began) / 60:.1f} minutes -> {home / 'race.json'}\n")
    return result


def properties_of(own: OwnRouting, task: str) -> Properties:
    """`properties` of a fresh one, on votes as in this task."""
    config = _setup(task, own).config
    assert isinstance(config, CapsNetConfig)
    with torch.random.fork_rng(devices=[]):
        return properties(own.make(config), {"I": config.primary_capsules})


def _setup(task: str, own: OwnRouting | None = None) -> TrainingSetup:
    """The small network with this routing, or the paper's."""
    once = own is not None and own.name in ZOO and ZOO[own.name].iterations == 1
    return TrainingSetup(task=task, iterations=1 if once else None, routing=own)


def _kept_or_fitting(
    home: Path, longest: Plan, minutes: float | None, digits: int, milliseconds: dict[str, float]
) -> float:
    """Epochs of the race that this call goes on with, or that fit into the minutes; both are kept."""
    expect(minutes is not None, "minutes or epochs", "neither")
    assert minutes is not None
    asked = [minutes, len(longest.seeds), longest.task, longest.source]
    kept = home / "plan.json"
    if kept.exists() and (before := json.loads(kept.read_text(encoding="utf-8")))["asked"] == asked:
        return before["epochs"]
    recorded = len(recorded_runs(longest, digits).get("paper", [])) == len(longest.seeds)
    batches = digits // Recipe().batch_size
    epochs = fitting_epochs(minutes, len(longest.seeds), batches, milliseconds, recorded)
    home.mkdir(parents=True, exist_ok=True)
    write_json(kept, {"asked": asked, "epochs": epochs})
    return epochs


def _train(
    rivals: Mapping[str, tuple[TrainingSetup, Path]],
    plan: Plan,
    digits: int,
    spent: Mapping[str, Cost],
    root: str | None,
    say: Callable[[str], None],
    progress: bool,
) -> dict[str, list[RunRecord]]:
    """Train who has to be trained, seed by seed, or take up what lies in the folders."""
    jobs = [(name, where / f"{seed}", seed) for seed in plan.seeds for name, (_, where) in rivals.items()]
    arms: dict[str, list[RunRecord]] = {name: [] for name in rivals}
    steps = plan.epochs * (digits // Recipe().batch_size)
    for number, (name, where, seed) in enumerate(jobs):
        if not _result(where).exists():
            waiting = [each for each, at, _ in jobs[number:] if not _result(at).exists()]
            left = sum(spent[each].milliseconds * steps for each in waiting) / 60_000
            say(f"{number + 1} of {len(jobs)}: {name}, seed {seed}; about {left:.1f} minutes of training left")
            _train_one(name, rivals[name][0], plan, plan.recipe(digits, seed), where, root, progress)
        arms[name].append(RunRecord.from_dict(json.loads(_result(where).read_text(encoding="utf-8"))))
    return arms


def _train_one(
    name: str, setup: TrainingSetup, plan: Plan, recipe: Recipe, where: Path, root: str | None, progress: bool
) -> None:
    command = f"capsnet race {name} --task {plan.task} --epochs {plan.epochs:g} --everything"
    run = TrainingRun(setup, recipe, where, command, source=plan.source, root=root, everything=True)
    with redirect_stdout(io.StringIO()), suppress(Diverged):  # of a divergence, the record says so
        run.train(resume=True, progress=progress)


@dataclass(frozen=True)
class _Watched(TrainingSetup):
    """The same set-up, but calls of the routing's layer that never return are ended."""

    limit: CallLimit | None = None

    def build(self) -> CapsNet | ConvNet | OnPairs:
        network = super().build()
        capsnet = unwrapped(network)
        if self.limit is not None and isinstance(capsnet, CapsNet):
            self.limit.watch(capsnet.routed)
        return network


def _watched(task: str, own: OwnRouting, limit: CallLimit) -> _Watched:
    return _Watched(**vars(_setup(task, own)), limit=limit)


@contextmanager
def _told(name: str, limit: CallLimit) -> Iterator[None]:
    """What a routing raises while it trains, or that it never returns, becomes a sentence."""
    try:
        with limit:
            yield
    except (ValueError, OSError):
        raise
    except Exception as problem:
        raise ValueError(
            f"expected {name} to train; it raised {type(problem).__name__}: {problem} (what was trained is kept)"
        ) from problem


def _result(where: Path) -> Path:
    return where / "result.json"
