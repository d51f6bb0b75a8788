"""Reference bugs: mistakes of public capsule networks, each in the few lines that people write.

Everything in here is wrong on purpose. ``variant("routing", "softmax-axis")`` is a routing with
that bug, ``variant("routing")`` one without any. `BUGS`, the checkers' catalogue, has the name of
each bug and its cure.
"""

from capsnet_book.bugs.reference_bugs import piece_of, variant
from capsnet_check import BUGS, Bug

__all__ = ["BUGS", "Bug", "piece_of", "variant"]
