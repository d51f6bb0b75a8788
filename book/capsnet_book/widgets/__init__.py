"""The book's interactive parts, alive in Jupyter, Colab, VS Code and the static page.

They need no kernel. A widget is one Python file and one JavaScript file of the same name.
`shared/core.js` is the small network in plain JavaScript: the page classifies and reconstructs by
itself. Nothing here imports torch.
"""

from capsnet_book.widgets.bend_capsule import BendCapsule
from capsnet_book.widgets.choose import Choose
from capsnet_book.widgets.cut_features import CutFeatures
from capsnet_book.widgets.face_parts import FaceParts
from capsnet_book.widgets.glass import Glass
from capsnet_book.widgets.margin_loss import MarginLoss
from capsnet_book.widgets.part_votes import PartVotes
from capsnet_book.widgets.pull_votes import PullVotes
from capsnet_book.widgets.raise_one import RaiseOne
from capsnet_book.widgets.routing_steps import RoutingSteps
from capsnet_book.widgets.squash_vector import SquashVector
from capsnet_book.widgets.turn_dial import TurnDial
from capsnet_book.widgets.turn_digit import TurnDigit
from capsnet_book.widgets.turn_scene import TurnScene
from capsnet_book.widgets.two_digits import TwoDigits

__all__ = [
    "BendCapsule",
    "Choose",
    "CutFeatures",
    "FaceParts",
    "Glass",
    "MarginLoss",
    "PartVotes",
    "PullVotes",
    "RaiseOne",
    "RoutingSteps",
    "SquashVector",
    "TurnDial",
    "TurnDigit",
    "TurnScene",
    "TwoDigits",
]
