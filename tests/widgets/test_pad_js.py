"""pad.js: the pad and Python's `image` follow each other."""

from __future__ import annotations


def test_what_python_sets_is_shown_and_what_the_pad_sent_is_no_news(run_node):
    report = run_node("pad.mjs", modules=("shared/pad.js",))
    assert report["afterSharing"] == []
    assert report["shown"] == [20, 10, 20], "the picture that was sent first is news once another has been shown"
    assert report["sent"] == 1
