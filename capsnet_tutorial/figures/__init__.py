"""Every matplotlib figure of the book. Each function returns a figure, drawn in the book's palette."""

from capsnet_tutorial.figures._style import WIDTH
from capsnet_tutorial.figures.couplings import coupling_graphs
from capsnet_tutorial.figures.digits import digit_grid, digit_row
from capsnet_tutorial.figures.poses import alone_and_together, follow_map, pose_bars, traversal_grid
from capsnet_tutorial.figures.squash import squash_curve

__all__ = [
    "WIDTH",
    "alone_and_together",
    "coupling_graphs",
    "digit_grid",
    "digit_row",
    "follow_map",
    "pose_bars",
    "squash_curve",
    "traversal_grid",
]
