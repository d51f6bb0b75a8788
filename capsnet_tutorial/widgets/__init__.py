"""The book's interactive parts: alive in Jupyter, Colab, VS Code and in the static page, with or without a kernel.

Each is one Python file and one JavaScript file of the same name; `…_model.js` holds what a large one computes, without
a page. `shared/core.js` is the small network in plain JavaScript: the page classifies and redraws by itself. Nothing
here imports torch.
"""

from capsnet_tutorial.widgets.bend_digit import BendDigit
from capsnet_tutorial.widgets.bug_picker import BugPicker
from capsnet_tutorial.widgets.cost_calculator import CostCalculator
from capsnet_tutorial.widgets.coupling_graph import CouplingGraph
from capsnet_tutorial.widgets.decode_capsule import DecodeCapsule
from capsnet_tutorial.widgets.draw_digit import DrawDigit
from capsnet_tutorial.widgets.face_parts import FaceParts
from capsnet_tutorial.widgets.margin_loss import MarginLoss
from capsnet_tutorial.widgets.part_votes import PartVotes
from capsnet_tutorial.widgets.pose_sliders import PoseSliders
from capsnet_tutorial.widgets.primary_field import PrimaryField
from capsnet_tutorial.widgets.rounds_on_drawing import RoundsOnDrawing
from capsnet_tutorial.widgets.routing_rounds import RoutingRounds
from capsnet_tutorial.widgets.routing_steps import RoutingSteps
from capsnet_tutorial.widgets.squash_vector import SquashVector
from capsnet_tutorial.widgets.training_replay import TrainingReplay
from capsnet_tutorial.widgets.two_digits import TwoDigits
from capsnet_tutorial.widgets.two_routings import TwoRoutings

__all__ = [
    "BendDigit",
    "BugPicker",
    "CostCalculator",
    "CouplingGraph",
    "DecodeCapsule",
    "DrawDigit",
    "FaceParts",
    "MarginLoss",
    "PartVotes",
    "PoseSliders",
    "PrimaryField",
    "RoundsOnDrawing",
    "RoutingRounds",
    "RoutingSteps",
    "SquashVector",
    "TrainingReplay",
    "TwoDigits",
    "TwoRoutings",
]
