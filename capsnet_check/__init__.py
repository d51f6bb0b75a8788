"""Checkers that name the mistake: each runs somebody's code and says which known bug it has.

`check_squash`, `check_primary_capsules`, `check_routing`, `check_margin_loss`, `check_mask` and
`check_reconstruction_loss` examine one piece of a capsule network, `check_layer` a layer,
`check_model` a whole network. A function is run on inputs that tell the mistakes apart, and its
output is compared with every wrong variant (`variants`, `deviations`); an output that none of them
explains "differs". In a network the operations are watched as they run (`trace`), so that it does
not matter how it is written (`sites`).
"""

from capsnet_check.catalogue import BUGS, Bug
from capsnet_check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_check.mask import check_mask
from capsnet_check.network import check_layer, check_model
from capsnet_check.primary_capsules import check_primary_capsules
from capsnet_check.report import Report
from capsnet_check.routing import check_routing
from capsnet_check.squash import check_squash

CHECKERS = {
    "squash": check_squash,
    "primary_capsules": check_primary_capsules,
    "routing": check_routing,
    "margin_loss": check_margin_loss,
    "mask": check_mask,
    "reconstruction_loss": check_reconstruction_loss,
}
"""The checkers of functions by the piece that each examines."""
