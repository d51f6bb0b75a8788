"""A capsule network with a bug of the catalogue in it: to be trained, examined, and found out."""

from __future__ import annotations

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
        v = self._pieces["routing"](self.votes(images), self.config.iterations)  # [B, J, D_out]
        return CapsNetOutput(v, capsule_lengths(v), self.decode(self._pieces["mask"](v, labels)))

    def votes(self, images: Tensor) -> Tensor:
        """û, what every primary capsule predicts for every class: [B, I, J, D_out]."""
        features = self.primary.conv(F.relu(self.conv(images)))
        return prediction_vectors(self._pieces["primary_capsules"](features, self.primary.dim), self.routed.weight)

    def objective(self, output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
        """What training minimises: margin loss plus 0.0005 times the reconstruction loss."""
        margin = self._pieces["margin_loss"](output.lengths, labels)
        return margin + self._pieces["reconstruction_loss"](output.reconstruction, images)
