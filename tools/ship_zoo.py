"""Put trained networks of the zoo into the package, for `TwoRoutings`: ``python tools/ship_zoo.py RUNS``.

RUNS holds a folder for each run, NAME-SEED, as `capsnet experiments --work RUNS` leaves it. Of each network all but the
decoder is written, eight bits a number, into book/capsnet_book/assets/zoo/; beside them digits of MNIST's test set on
which they disagree, and a card. Then `make notebooks`, since a chapter shows them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

import torch
from capsnet_book.routings.zoo import ZOO
from capsnet_book.widgets.two_routings import TITLES
from torch import Tensor

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.train import over_batches
from capsnet_tutorial.weights import load_weights, pack, unpack, write_tensors

SHIPPED = Path(__file__).resolve().parent.parent / "book" / "capsnet_book" / "assets" / "zoo"
SEED, EACH = 0, 2
CARD = """\
# Networks of the zoo

The small network, trained with other ways to route, for the widget `TwoRoutings`: eight bits a number, without the
decoder. Written by `tools/ship_zoo.py` from the runs of `results/experiments.toml` with seed {seed}: 12 epochs of all
60,000 training digits of MNIST, so the package's sample is among those that they learned from.

| file | routing | wrong of 10,000 test digits, as trained | as stored here |
|:--|:--|--:|--:|
{rows}

`disputed.safetensors`: {count} of those test digits, such that any two of these networks disagree on {each}.
What they are for: demonstration. They know digits that are centred and sized as MNIST's are.
"""


def main() -> None:
    """Ship the runs in the folder on the command line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("expected the folder of the runs")
    data = digits("test", "mnist")
    SHIPPED.mkdir(exist_ok=True)
    answers, rows = {}, []
    for name in TITLES:
        run = Path(sys.argv[1]) / f"{ZOO[name].run}-{SEED}"
        network = load_weights(run / "weights.safetensors")
        file = SHIPPED / f"{name}.safetensors"
        answers[name] = answers_of(store(network, file), data)
        trained = json.loads((run / "result.json").read_text(encoding="utf-8"))["test"]["error"]
        stored = (answers[name] != data.labels).double().mean().item()
        rows.append(f"| `{file.name}` | {ZOO[name].summary} | {trained:.2%} | {stored:.2%} |")
    chosen = dividing(answers, data.labels)
    found = {"images": (data.images[chosen, 0] * 255).round().to(torch.uint8), "labels": data.labels[chosen]}
    write_tensors(SHIPPED / "disputed.safetensors", found, {})
    card = CARD.format(seed=SEED, rows="\n".join(rows), count=len(chosen), each=EACH)
    (SHIPPED / "README.md").write_text(card, encoding="utf-8")


def store(network: CapsNet, file: Path) -> CapsNet:
    """Write what recognises, and let the network have the weights that were stored."""
    recognising = {key: each for key, each in network.state_dict().items() if not key.startswith("decoder.")}
    packed = pack(recognising)
    write_tensors(file, packed, {"config": asdict(network.config), "parts": network.parts.names})
    network.load_state_dict(unpack(packed), strict=False)
    return network


def answers_of(network: CapsNet, data: Digits) -> Tensor:
    """Which digit it says each one is, [N]."""
    (lengths,) = over_batches(network, lambda images: (network(images).lengths,), data.images)
    return lengths.argmax(dim=1)


def dividing(answers: Mapping[str, Tensor], labels: Tensor) -> list[int]:
    """A few digits such that any two networks disagree on `EACH` of them; at least one network is right on each."""
    pairs = {pair: answers[pair[0]] != answers[pair[1]] for pair in combinations(answers, 2)}
    free = torch.stack([each == labels for each in answers.values()]).any(dim=0)
    chosen: list[int] = []
    while wanting := [apart for apart in pairs.values() if apart[chosen].sum() < EACH]:
        divided = torch.stack(wanting).sum(dim=0) * free
        best = int(divided.argmax())
        if not divided[best]:
            raise SystemExit(f"expected {EACH} digits that divide any two networks; got fewer")
        chosen.append(best)
        free[best] = False
    return chosen


if __name__ == "__main__":
    main()
