"""The museum: what public capsule networks get wrong, each bug as the few plain lines that people write.

Everything in here is wrong on purpose. ``variant("routing", "softmax-axis")`` is a routing with that bug,
``variant("routing")`` one without any. What each bug is called, and what to do, says `BUGS`, the checkers' catalogue.
"""

from capsnet_book.bugs.museum import piece_of, variant
from capsnet_check import BUGS, Bug

__all__ = ["BUGS", "Bug", "piece_of", "variant"]
