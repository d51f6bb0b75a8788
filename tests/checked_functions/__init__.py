"""What the checkers are judged by: right and wrong answers to the exercises, in the styles people write them.

Nothing here is a test. `WRONG` holds functions with planted bugs, each with the ids of the catalogue that a
perfect checker reports; none for a fault outside the catalogue, which must be reported all the same. Nothing
may be reported of those in `RIGHT`. Those in `NEVER_RETURNS` have to be interrupted. All of it was written
without sight of the checkers.

To whoever calls them: give them float32 (`torch.zeros` beside a float64 tensor fails in many an einsum), and
tensors that are neither leaves nor needed again (some are overwritten). Those with stale logits are right only
in the first call for a shape; a checker has but one instance. `make()` gives a new one.
"""

from __future__ import annotations

# In the exercises' order; an import enters a file's functions.
from checked_functions import (  # isort: skip
    squash as squash,
    primary_capsules as primary_capsules,
    routing_with_one_bug as routing_with_one_bug,
    routing_with_several_bugs as routing_with_several_bugs,
    routing_with_other_faults as routing_with_other_faults,
    routing_done_right as routing_done_right,
    margin_loss as margin_loss,
    mask as mask,
    reconstruction_loss as reconstruction_loss,
)
from checked_functions.entries import NEVER_RETURNS, RIGHT, WRONG

__all__ = ["NEVER_RETURNS", "RIGHT", "WRONG"]
