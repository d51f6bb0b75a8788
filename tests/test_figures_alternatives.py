"""The figure of the last chapter shows the votes and the shares that it was given."""

import torch
from capsnet_book import figures


def test_votes_and_shares_stand_where_they_are():
    votes = torch.arange(12.0).view(3, 2, 2)
    shares = {"one": [0.5, 0.75], "other": [0.5, 0.25, 0.125]}
    plane, lines = figures.two_agreements(votes, shares, ("first", "second")).axes
    for j in (0, 1):
        assert plane.lines[j].get_xydata().tolist() == votes[:, j].tolist()
    assert [text.get_text() for text in plane.get_legend().get_texts()] == ["first", "second"]
    assert [line.get_ydata().tolist() for line in lines.lines[:2]] == list(shares.values())
    assert [text.get_text() for text in lines.get_legend().get_texts()] == list(shares)
