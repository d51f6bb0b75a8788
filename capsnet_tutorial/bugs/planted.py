"""A capsule network with a bug of the catalogue in it: to be trained, examined, and found out."""

from __future__ import annotations

from typing import Never

from torch import Tensor
from torch.nn import functional as F

from capsnet_tutorial.bugs import BUGS, PIECES, variant
from capsnet_tutorial.errors import expect
from capsnet_tutorial.functional import capsule_lengths, prediction_vectors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, CapsNetOutput


def home(bug: str) -> str:
    """The piece that a bug of the catalogue is planted in: routing, if it can be there.

    Raises:
        ValueError: no such bug.
    """
    expect(bug in BUGS, f"a bug, one of {', '.join(BUGS)}", repr(bug))
    pieces = [name for name, piece in PIECES.items() if bug in {each.bug for each in piece.deviations}]
    return "routing" if "routing" in pieces else pieces[0]


class PlantedCapsNet(CapsNet):
    """The network of the paper, put together from the pieces of `bugs`, with one bug or none.

    The weights are drawn, named and shaped as a `CapsNet`'s. The bug is in the form in which it is met most often.

    Args:
        config: the sizes.
        bug: an id of the catalogue; None: the network is right.

    Raises:
        ValueError: no such bug.
    """

    def __init__(self, config: CapsNetConfig, bug: str | None = None) -> None:
        super().__init__(config)
        planted = {} if bug is None else {home(bug): (bug,)}
        self._pieces = {name: variant(name, *planted.get(name, ())) for name in PIECES}

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        """As `CapsNet.forward`."""
        v = self.class_capsules(images)
        return CapsNetOutput(v, capsule_lengths(v), self.decode(self._pieces["mask"](v, labels)))

    def primary_capsules(self, images: Tensor) -> Tensor:
        """As `CapsNet.primary_capsules`."""
        self._check(images)
        return self._pieces["primary_capsules"](self.primary.conv(F.relu(self.conv(images))), self.primary.dim)

    def class_capsules(self, images: Tensor) -> Tensor:
        """As `CapsNet.class_capsules`."""
        return self._pieces["routing"](self.votes(images), self.config.iterations)

    def trace(self, images: Tensor) -> Never:
        """There is none: the inherited one would be of the paper's routing."""
        raise NotImplementedError("expected the paper's routing to trace; got a planted network's")

    def votes(self, images: Tensor) -> Tensor:
        """û, what every primary capsule predicts for every class: [B, I, J, D_out]."""
        return prediction_vectors(self.primary_capsules(images), self.routed.weight)

    def objective(self, output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
        """What training minimises: margin loss plus 0.0005 times the reconstruction loss."""
        margin = self._pieces["margin_loss"](output.lengths, labels)
        return margin + self._pieces["reconstruction_loss"](output.reconstruction, images)
