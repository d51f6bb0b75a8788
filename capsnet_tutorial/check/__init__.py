"""Checkers that name the mistake: each runs a function and says which known bug it has.

`check_squash`, `check_primary_capsules`, `check_routing`, `check_margin_loss`, `check_mask` and
`check_reconstruction_loss` examine one piece of a capsule network, `check_layer` a layer that owns W, `check_model` a
whole network. They run the function on inputs that tell the mistakes apart and compare what comes with every
combination of the wrong variants of `capsnet_book.bugs`; what none of them explains "differs". How a function is
written they do not look at, except for whose arrays it wants: torch's, NumPy's, JAX's or TensorFlow's (`bridge`).
"""

from capsnet_tutorial.check.answers import check_answer, check_function
from capsnet_tutorial.check.layer import check_layer
from capsnet_tutorial.check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_tutorial.check.mask import check_mask
from capsnet_tutorial.check.primary_capsules import check_primary_capsules
from capsnet_tutorial.check.report import Report
from capsnet_tutorial.check.routing import check_routing
from capsnet_tutorial.check.squash import check_squash
from capsnet_tutorial.check.whole import CHECKERS, check_model

__all__ = [
    "CHECKERS",
    "Report",
    "check_answer",
    "check_function",
    "check_layer",
    "check_margin_loss",
    "check_mask",
    "check_model",
    "check_primary_capsules",
    "check_reconstruction_loss",
    "check_routing",
    "check_squash",
]
