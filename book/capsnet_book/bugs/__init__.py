"""The museum: what public capsule networks get wrong, each bug as the line that people write.

Everything in here is wrong on purpose. The checkers (`capsnet_tutorial.check`) recognise a mistake by comparing a
function with these; tests and the book plant them. ``variant("routing", "softmax-axis")`` is a routing with that bug,
``variant("routing")`` one without any.
"""

from capsnet_book.bugs.catalogue import BUGS, Bug
from capsnet_book.bugs.deviations import PIECES, Deviation, Piece, deviating, piece_of, variant

__all__ = ["BUGS", "PIECES", "Bug", "Deviation", "Piece", "deviating", "piece_of", "variant"]
