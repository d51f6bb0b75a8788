"""The figures of the book, drawn with matplotlib in the book's palette."""

from capsnet_book.figures._style import WIDTH
from capsnet_book.figures.alternatives import in_proportion
from capsnet_book.figures.bending import bend_curves, bend_trainings
from capsnet_book.figures.bugs import bug_curves
from capsnet_book.figures.calibration import reliability
from capsnet_book.figures.charts import bars, dots, lines, themes
from capsnet_book.figures.colour import colour_grid
from capsnet_book.figures.couplings import coupling_graphs, entropy_by_round
from capsnet_book.figures.digits import digit_grid, digit_row, film_ends
from capsnet_book.figures.graph import one_round
from capsnet_book.figures.intervals import intervals_around_zero
from capsnet_book.figures.landscape import evidence_landscape
from capsnet_book.figures.margin import lengths_below, margin_curves
from capsnet_book.figures.masking import ten_drawings
from capsnet_book.figures.pairs import DrawnPair, drawn_pairs
from capsnet_book.figures.poses import alone_and_together, follow_rows, pose_bars, traversal_grid
from capsnet_book.figures.predictions import broadcast_grid, roof_and_house, vote_rings
from capsnet_book.figures.primary_capsules import capsule_cuts, maps_of_a_digit
from capsnet_book.figures.rounds import errors_by_concentration, rounds_read
from capsnet_book.figures.routing import share_bars, shares_by_round
from capsnet_book.figures.runs import seed_points
from capsnet_book.figures.speed import growth_lines, layer_bars, roofline
from capsnet_book.figures.squash import squash_curve, two_floors
from capsnet_book.figures.training import LiveCurve, epoch_histograms
from capsnet_book.figures.turning import (
    errors_round_the_circle,
    parts_and_votes,
    turned_copies,
)
from capsnet_book.figures.verdicts import claims_board
from capsnet_book.figures.viewpoints import errors_by_angle, errors_by_clutter, relations
from capsnet_book.figures.why import length_and_direction, pictures_and_bags

__all__ = [
    "WIDTH",
    "DrawnPair",
    "LiveCurve",
    "alone_and_together",
    "bars",
    "bend_curves",
    "bend_trainings",
    "broadcast_grid",
    "bug_curves",
    "capsule_cuts",
    "claims_board",
    "colour_grid",
    "coupling_graphs",
    "digit_grid",
    "digit_row",
    "dots",
    "drawn_pairs",
    "entropy_by_round",
    "epoch_histograms",
    "errors_by_angle",
    "errors_by_clutter",
    "errors_by_concentration",
    "errors_round_the_circle",
    "evidence_landscape",
    "film_ends",
    "follow_rows",
    "growth_lines",
    "in_proportion",
    "intervals_around_zero",
    "layer_bars",
    "length_and_direction",
    "lengths_below",
    "lines",
    "maps_of_a_digit",
    "margin_curves",
    "one_round",
    "parts_and_votes",
    "pictures_and_bags",
    "pose_bars",
    "relations",
    "reliability",
    "roof_and_house",
    "roofline",
    "rounds_read",
    "seed_points",
    "share_bars",
    "shares_by_round",
    "squash_curve",
    "ten_drawings",
    "themes",
    "traversal_grid",
    "turned_copies",
    "two_floors",
    "vote_rings",
]
