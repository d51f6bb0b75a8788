"""Capsules that turn, on trial: trained with pictures near the upright, tested at every angle.

Two tasks: the drawn wholes of `pictures`, and handwritten digits. The questions were written down
first, in results/turning.toml. `python -m capsnet_book.experiments.turning` does the runs that
results/turning.json lacks.
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from capsnet_book.experiments import arms, pictures, records
from capsnet_book.experiments.arms import between
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, cross_entropy, scores_of
from capsnet_book.experiments.evidence import noisy, pack_wrong, unpack_wrong
from capsnet_book.experiments.plan import Question
from capsnet_book.experiments.poses import thicken
from capsnet_book.experiments.turning_controls import EM, GroupCNN, PooledAngles, frozen
from capsnet_book.experiments.verdicts import Verdict, judge
from capsnet_book.turning import AngleReader, Rounds, digits_network, wholes_network
from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import Digits, Split, digits
from capsnet_tutorial.files import write_json
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import Objective, over_batches, paper_objective

SEEDS = range(20, 30)
BATCH = 64
FAMILIAR = 45.0
"""Degrees: a picture is turned by up to so much in training, either way."""
NEW = (90.0, 270.0)
"""New angles lie between these."""
SHIFT = 2.0
"""Pixels: pictures are moved by up to so much, across and down."""
ANGLES = tuple(range(0, 360, 15))
"""Degrees by which upright pictures are turned for the curve."""
TESTED, ON_THE_CURVE = 1500, 100
"""Pictures of each view, the same for every seed; and of each angle of the curve, other ones for
every seed.
"""
TEST_SEED = 30_000
WEIGHTS = Path("runs") / "turning"
"""Where a run leaves its network."""
TURN_WEIGHT = 1.0
"""Of the turn in the loss of a network that is told it."""
STROKES = 3
"""Of clutter, on every picture of a task "in clutter"."""


Labelled = tuple[Tensor, Tensor]
"""Pictures [N, 1, 28, 28] and their labels, int64 [N]."""


class Task(NamedTuple):
    """What is to be recognised."""

    classes: int
    apart: tuple[int, ...]
    """The classes that no turn makes into one another: of the digits all but 6 and 9."""
    steps: int
    training_pictures: Callable[[Tensor, torch.Generator], Labelled]
    """Angles in degrees [N], and all other chance -> N pictures of the training set, turned by
    these and moved.
    """
    test_pictures: Callable[[Tensor, int, torch.Generator], Labelled]
    """The same of the test set, from a picture's number on; the generator moves them."""


@cache
def _mnist(split: Split) -> Digits:
    return digits(split, "mnist")


def _wholes(angles: Tensor, first: int, generator: torch.Generator) -> Labelled:
    labels = torch.arange(first, first + len(angles)) % pictures.CLASSES
    moves = pictures.moves_of(len(angles), generator)
    return pictures.draw(labels, torch.deg2rad(angles), moves), labels


def _training_wholes(angles: Tensor, generator: torch.Generator) -> Labelled:
    first = int(torch.randint(pictures.CLASSES, (1,), generator=generator))
    return _wholes(angles, first, generator)


def turned(images: Tensor, angles: Tensor, generator: torch.Generator) -> Tensor:
    """Return images [N, 1, 28, 28] turned by these angles in degrees [N], and moved by chance."""
    across, down = SHIFT * (2 * torch.rand((2, len(images)), generator=generator) - 1)
    return transform(images, Pose(rotation=angles, shift_x=across, shift_y=down))


def _training_digits(angles: Tensor, generator: torch.Generator) -> Labelled:
    data = _mnist("train")
    chosen = torch.randint(data.count, (len(angles),), generator=generator)
    return turned(data.images[chosen], angles, generator), data.labels[chosen]


def _test_digits(angles: Tensor, first: int, generator: torch.Generator) -> Labelled:
    data = _mnist("test")
    chosen = slice(first, first + len(angles))
    return turned(data.images[chosen], angles, generator), data.labels[chosen]


def _in_clutter(task: Task) -> Task:
    """Return the task with strokes laid over every picture, of training and of test."""

    def cluttered(pictures_and_labels: Labelled, generator: torch.Generator) -> Labelled:
        images, labels = pictures_and_labels
        strokes = pictures.draw_strokes(len(images), STROKES, generator)
        return torch.maximum(images, strokes), labels

    def training_pictures(angles: Tensor, generator: torch.Generator) -> Labelled:
        return cluttered(task.training_pictures(angles, generator), generator)

    def test_pictures(angles: Tensor, first: int, generator: torch.Generator) -> Labelled:
        return cluttered(task.test_pictures(angles, first, generator), generator)

    return task._replace(training_pictures=training_pictures, test_pictures=test_pictures)


WHOLES = Task(8, tuple(range(8)), 400, _training_wholes, _wholes)
DIGITS = Task(10, (0, 1, 2, 3, 4, 5, 7, 8), 500, _training_digits, _test_digits)
TASKS = {
    "wholes": WHOLES,
    "digits": DIGITS,
    "wholes-clutter": _in_clutter(WHOLES),
    "digits-clutter": _in_clutter(DIGITS),
}
"""Every task, by its name."""
VIEWS = {"straight": (0.0, 0.0), "familiar": (-FAMILIAR, FAMILIAR), "new": NEW}
"""Between which angles in degrees the pictures of a view are turned."""


class Arm(NamedTuple):
    """A network, and how it is trained."""

    summary: str
    task: str
    build: Callable[[], nn.Module]
    rate: float
    objective: Objective = cross_entropy
    reach: float = FAMILIAR
    """Degrees by which training pictures are turned, either way."""
    steps: int | None = None
    """If other than the task's."""


def _capsnet(classes: int) -> CapsNet:
    return CapsNet(replace(CapsNetConfig.small(), classes=classes))


def _cnn(classes: int) -> ConvNet:
    return ConvNet(replace(ConvNetConfig.small(recognising=True), classes=classes))


def _arms_of(name: str) -> dict[str, Arm]:
    """Return the arms of a task: the primary questions' three first, then the controls."""
    classes, rate = TASKS[name].classes, {"wholes": 0.01, "digits": 0.02}[name]
    turning = {"wholes": wholes_network, "digits": digits_network}[name]
    kinds, turns = {"wholes": (4, 16), "digits": (16, 12)}[name]
    capsules, every = paper_objective(0), 180.0

    def build(agreement: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        return lambda: turning(agreement())

    arms = {
        "coincidence": Arm("turning capsules, votes that coincide", name, turning, rate),
        "scalar-r3": Arm(
            "turning capsules, three rounds of 2017", name, build(lambda: Rounds(3)), rate
        ),
        "capsnet": Arm("the book's capsules", name, lambda: _capsnet(classes), 0.003, capsules),
        "scalar-r1": Arm("turning capsules, one round", name, build(lambda: Rounds(1)), rate),
        "em": Arm("turning capsules, three rounds of EM", name, build(lambda: EM(classes)), rate),
        "frozen": Arm(
            "turning capsules, filters never learned", name, lambda: frozen(turning()), rate
        ),
        "pooled": Arm(
            "turned filters, the angle thrown away, a CNN",
            name,
            lambda: PooledAngles(classes, kinds, turns),
            0.003,
        ),
        "group-cnn": Arm("turned filters in both layers", name, lambda: GroupCNN(classes), 0.01),
        "cnn": Arm("the book's CNN", name, lambda: _cnn(classes), 0.003),
        "cnn-every": Arm(
            "the book's CNN, shown every angle", name, lambda: _cnn(classes), 0.003, reach=every
        ),
        "capsnet-every": Arm(
            "the book's capsules, shown every angle",
            name,
            lambda: _capsnet(classes),
            0.003,
            capsules,
            reach=every,
        ),
    }
    for network in ("cnn", "capsnet"):
        every_angle = arms[f"{network}-every"]
        arms[f"{network}-every-long"] = every_angle._replace(
            summary=f"{every_angle.summary}, ten times the steps",
            steps=10 * TASKS[name].steps,
        )
    return {f"{name}-{arm}": about for arm, about in arms.items()}


IN_CLUTTER = ("coincidence", "scalar-r3", "cnn")
"""The arms that are trained and tested in clutter, too."""


def _arms_in_clutter(name: str) -> dict[str, Arm]:
    """Return the arms of a task in clutter."""
    clear = _arms_of(name)
    task = f"{name}-clutter"
    return {f"{task}-{arm}": clear[f"{name}-{arm}"]._replace(task=task) for arm in IN_CLUTTER}


ARMS = {
    **_arms_of("digits"),
    **_arms_of("wholes"),
    **_arms_in_clutter("digits"),
    **_arms_in_clutter("wholes"),
    "digits-long": Arm(
        "turning capsules, votes that coincide, told the turn, five times the steps",
        "digits",
        lambda: AngleReader(digits_network()),
        0.04,
        steps=2500,
    ),
}
"""Every arm, by its name."""


def train(arm: Arm, seed: int, steps: int | None = None) -> nn.Module:
    """Return a network trained on pictures that are the same for every arm of this task and
    seed.
    """
    task = TASKS[arm.task]

    def loss(network: nn.Module, generator: torch.Generator) -> Tensor:
        angles = between((-arm.reach, arm.reach), BATCH, generator)
        images, labels = task.training_pictures(angles, generator)
        if isinstance(network, AngleReader):
            scores, turn = network.scores_and_turn(images, labels)
            return cross_entropy(scores, images, labels) + TURN_WEIGHT * _off(turn, angles)
        return arm.objective(network(images, labels), images, labels)

    return arms.trained(arm.build, loss, seed, arm.rate, steps or arm.steps or task.steps)


def _off(turn: Tensor, angles: Tensor) -> Tensor:
    """Compute 1 − cos of the error, the mean, of turns (cos, sin) [B, 2] that should be these
    degrees [B].
    """
    truth = torch.deg2rad(angles)
    return 1 - (turn * torch.stack([truth.cos(), truth.sin()], dim=1)).sum(dim=1).mean()


def wrong_among(scores: Tensor, labels: Tensor, classes: Sequence[int]) -> Tensor:
    """Return which pictures of these classes are not told, among these alone: bool [N], False of
    all others.

    Args:
        scores: [N, J].
        labels: int64 [N].
        classes: some of 0 to J − 1.
    """
    chosen = torch.tensor(classes)
    answers = chosen[scores[:, chosen].argmax(dim=1)]
    return (answers != labels) & torch.isin(labels, chosen)


def pictures_of(task: Task, view: str, count: int = TESTED) -> Labelled:
    """Return test pictures of one of `VIEWS`, the same for every network."""
    generator = torch.Generator().manual_seed(TEST_SEED + list(VIEWS).index(view))
    angles = between(VIEWS[view], count, generator)
    return task.test_pictures(angles, 0, generator)


def measure(network: nn.Module, task: Task, seed: int) -> dict[str, Any]:
    """Measure a network at the upright, at the angles of training, at new ones, and round the
    circle.

    Returns:
        ``errors`` by view, 0 to 1: ``all`` classes; ``apart``, those that no turn makes into one
        another, among themselves; of digits ``one``, all classes with 6 and 9 taken for one.
        ``wrong``: which pictures of ``all`` and of ``apart``, packed. ``by_angle``: ``all`` and
        ``apart`` at each of `ANGLES`.
    """
    everything = range(task.classes)
    errors, wrong = {}, {}
    for view in VIEWS:
        images, labels = pictures_of(task, view)
        scores = scores_of(network, images)
        misread = {
            "all": wrong_among(scores, labels, everything),
            "apart": wrong_among(scores, labels, task.apart),
        }
        errors[view] = {"all": share_of(misread["all"], labels, everything)}
        errors[view]["apart"] = share_of(misread["apart"], labels, task.apart)
        if task.classes == 10:
            errors[view]["one"] = share_of(_six_is_nine(scores, labels), labels, everything)
        wrong[view] = {
            name: pack_wrong(wrong_pictures.nonzero().flatten().tolist(), TESTED)
            for name, wrong_pictures in misread.items()
        }

    by_angle: dict[str, list[float]] = {"all": [], "apart": []}
    for angle in ANGLES:
        generator = torch.Generator().manual_seed(TEST_SEED + 1000 * seed)
        first = TESTED + ON_THE_CURVE * (seed % len(SEEDS))
        angles = torch.full((ON_THE_CURVE,), float(angle))
        images, labels = task.test_pictures(angles, first, generator)
        scores = scores_of(network, images)
        for name, classes in (("all", everything), ("apart", task.apart)):
            by_angle[name].append(share_of(wrong_among(scores, labels, classes), labels, classes))
    return {"errors": errors, "by_angle": by_angle, "wrong": wrong}


def _six_is_nine(scores: Tensor, labels: Tensor) -> Tensor:
    answers = scores.argmax(dim=1)
    return torch.where(answers == 9, 6, answers) != torch.where(labels == 9, 6, labels)


def share_of(wrong: Tensor, labels: Tensor, classes: Sequence[int]) -> float:
    """Return which share of the pictures of these classes is misread, 0 to 1.

    Args:
        wrong: bool [N], of `wrong_among` these classes.
        labels: int64 [N].
        classes: some of 0 to J − 1.
    """
    count = int(torch.isin(labels, torch.tensor(classes)).sum())
    return round(int(wrong.sum()) / count, 6)


@torch.no_grad()
def measure_angles(network: AngleReader) -> dict[str, Any]:
    """Measure how far the believed turn of test digits at new angles is from the true one, in
    degrees.

    Returns:
        ``upright``: against the turn itself, so slanted handwriting counts as an error; ``same``:
        against what is believed of the same digit held straight. Of each the ``median``, the
        ``ninth`` decile, the share ``far``, more than 90° off, and the median of each class,
        ``classes``.
    """
    data = _mnist("test")
    images, labels = data.images[:TESTED], data.labels[:TESTED]
    angles = between(NEW, TESTED, torch.Generator().manual_seed(TEST_SEED + len(VIEWS)))

    def believed(pictures: Tensor) -> Tensor:
        _, turn = over_batches(network, network.scores_and_turn, pictures, labels)
        cos, sin = turn.unbind(dim=1)
        return torch.rad2deg(torch.atan2(sin, cos))

    turned = believed(transform(images, Pose(rotation=angles)))
    errors = {}
    for name, straight in (("upright", torch.zeros(TESTED)), ("same", believed(images))):
        off = (turned - straight - angles + 180).remainder(360).sub(180).abs()
        median, ninth = off.quantile(torch.tensor([0.5, 0.9])).tolist()
        classes = [round(off[labels == label].median().item(), 2) for label in range(10)]
        far = (off > 90).double().mean().item()
        errors[name] = {"median": round(median, 2), "ninth": round(ninth, 2), "far": round(far, 4)}
        errors[name]["classes"] = classes
    return errors


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda images: images,
    "noise": noisy,
    "small": lambda images: transform(images, Pose(scale_x=0.75, scale_y=0.75)),
    "large": lambda images: transform(images, Pose(scale_x=1.25, scale_y=1.25)),
    "thin": lambda images: thicken(images, -0.6),
    "thick": lambda images: thicken(images, 0.6),
}
"""What was in no training, done to upright test digits."""

CHANGED = {"small": "smaller", "large": "larger", "thin": "thinner", "thick": "thicker"}
"""What the digits are after a change, where a table does not say the change's own name."""


def measure_changes(network: nn.Module) -> dict[str, float]:
    """Measure the share of upright test digits misread, by the change that was made to them."""
    data = _mnist("test")
    images, labels = data.images[:TESTED], data.labels[:TESTED]
    errors = {}
    for name, change in CHANGES.items():
        wrong = wrong_among(scores_of(network, change(images)), labels, range(10))
        errors[name] = share_of(wrong, labels, range(10))
    return errors


def add_changes(names: Sequence[str], seeds: Sequence[int]) -> None:
    """Measure changed digits with the weights in runs/turning, and put the errors into the records
    that lack them.
    """
    path = records.folder() / "turning.json"
    record = records.read(path)
    for run in record["runs"]:
        name, seed = run["arm"], run["seed"]
        if name in names and seed in seeds and "changes" not in run:
            network = ARMS[name].build()
            network.load_state_dict(load_file(WEIGHTS / f"{name}-{seed}.safetensors"))
            run["changes"] = measure_changes(network.eval())
            print(f"{name}, seed {seed}: {run['changes']}", flush=True)
    write_json(path, record)


def run(name: str, seed: int) -> dict[str, Any]:
    """Train an arm, keep its weights in runs/turning, and measure it."""
    commit = records.code_version()
    start = time.perf_counter()
    network = train(ARMS[name], seed)
    seconds = time.perf_counter() - start
    WEIGHTS.mkdir(parents=True, exist_ok=True)
    save_file(network.state_dict(), WEIGHTS / f"{name}-{seed}.safetensors")
    angles = {}
    if isinstance(network, AngleReader):
        angles = {"angles": measure_angles(network)}
    return {
        "parameters": sum(
            parameter.numel()
            for part, parameter in network.named_parameters()
            if parameter.requires_grad and not part.startswith("decoder.")
        ),
        "seconds": round(seconds, 1),
        "commit": commit,
        **measure(network, TASKS[ARMS[name].task], seed),
        **angles,
    }


def questions(folder: Path | None = None) -> list[Question]:
    """Read the questions of results/turning.toml."""
    text = ((folder or records.folder()) / "turning.toml").read_text(encoding="utf-8")
    return [Question(**question) for question in tomllib.loads(text)["questions"]]


def answers(record: dict[str, Any] | None = None) -> list[Verdict]:
    """Answer the questions, with Holm among them.

    Args:
        record: results/turning.json.
    """
    runs = (record or records.stored("turning"))["runs"]
    wrong = {(run["arm"], run["seed"]): run["wrong"] for run in runs}

    def misread(side: dict[str, Any], seeds: Sequence[int]) -> np.ndarray:
        """Pictures [S, N]; nothing if a seed lacks."""
        if any((side["arm"], seed) not in wrong for seed in seeds):
            return np.array([])
        packed = [wrong[side["arm"], seed][side["view"]]["all"] for seed in seeds]
        return np.array([unpack_wrong(numbers, TESTED) for numbers in packed], dtype=float)

    primary_questions = questions()
    sides = [
        [misread(side, question.seeds) for side in (question.smaller, question.larger)]
        for question in primary_questions
    ]
    return judge(primary_questions, sides)


def error_table(record: dict[str, Any], task: str) -> str:
    """Return per cent wrong of a task's arms, the mean over the seeds, as a table in Markdown.

    Args:
        record: results/turning.json.
        task: of `TASKS`.
    """
    has_twins = len(TASKS[task].apart) < TASKS[task].classes
    lines = [
        "| wrong, % | numbers | upright | as shown | **new** | seeds |",
        "|:--|--:|--:|--:|--:|--:|",
    ]
    if has_twins:
        lines = [
            "| wrong, % | numbers | upright | as shown | **new** | new, no 6, 9 | seeds |",
            "|:--|--:|--:|--:|--:|--:|--:|",
        ]
    for name, arm in ARMS.items():
        runs = [run for run in record["runs"] if run["arm"] == name and arm.task == task]
        if not runs:
            continue
        columns = [(view, "all") for view in VIEWS]
        if has_twins:
            columns.append(("new", "apart"))
        errors = [
            fmean(100 * run["errors"][view][which] for run in runs) for view, which in columns
        ]
        cells = [
            f"{runs[0]['parameters']:,}",
            *(f"{error:.1f}" for error in errors),
            str(len(runs)),
        ]
        lines.append(f"| {' | '.join([arm.summary, *cells])} |")
    return "\n".join(lines) + "\n"


def errors_at_new_angles(
    record: dict[str, Any], task: str, names: Sequence[str]
) -> dict[str, float]:
    """Return per cent wrong at new angles, the mean over the seeds, by what the arms are called.

    Args:
        record: results/turning.json.
        task: of `TASKS`.
        names: of the task's arms, as `ARMS` has them after the task's.
    """
    errors = {}
    for name in names:
        arm = f"{task}-{name}"
        runs = [run for run in record["runs"] if run["arm"] == arm]
        errors[ARMS[arm].summary] = fmean(100 * run["errors"]["new"]["all"] for run in runs)
    return errors


def change_table(record: dict[str, Any]) -> str:
    """Return per cent of changed upright digits misread, the mean over the seeds measured, as a
    table in Markdown.

    Args:
        record: results/turning.json.
    """
    names = [CHANGED.get(change, change) for change in CHANGES]
    lines = [f"| wrong, % | {' | '.join(names)} |", "|:--|" + "--:|" * len(names)]
    for name, arm in ARMS.items():
        runs = [run for run in record["runs"] if run["arm"] == name and "changes" in run]
        if runs:
            errors = [fmean(100 * run["changes"][change] for run in runs) for change in CHANGES]
            lines.append(f"| {' | '.join([arm.summary, *(f'{error:.1f}' for error in errors)])} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the runs that the file lacks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="ARM", help="default: all")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="default: 20 to 29")
    parser.add_argument(
        "--changes", action="store_true", help="measure trained networks on changed digits instead"
    )
    options = parser.parse_args(arguments)
    if options.changes:
        add_changes(options.names, options.seeds)
        return
    about = {
        "batch": BATCH,
        "steps": {name: task.steps for name, task in TASKS.items()},
        "tested": TESTED,
        "angles": list(ANGLES),
        "on_the_curve": ON_THE_CURVE,
    }
    jobs = list(product(options.seeds, options.names or ARMS))
    arms.do_missing("turning", ARMS, about, run, jobs)


if __name__ == "__main__":
    main()
