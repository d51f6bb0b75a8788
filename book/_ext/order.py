"""The order in which Sphinx runs the book's transforms, listeners and scripts: lower numbers first.

Each number stands between those of other extensions; the comment beside it names the neighbour.
"""

from __future__ import annotations

# Transforms of a page that was read.
ENGLISH_ADDRESSES = 5  # before anything looks up a section
LATIN_EMPHASIS = 500
FIND_PROMPTS = 800  # before MyST resolves links within a page (879)

# Transforms of a page that will be written.
KEEP_SETTINGS = 5  # before MyST resolves links to other pages (9)
FOLD_PAGES = 198  # before MyST-NB wraps the cells that are hidden (199)
NAME_CAPTIONS = 198  # as above
KEEP_TOGETHER = 199
PLACE_WIDGETS = 200  # after MyST-NB has chosen among the formats of an output (4)
AIM_PROMPTS = 210  # after PLACE_WIDGETS
DROP_BLANKS = 220  # after PLACE_WIDGETS
MARK_PRINTS = 230  # after DROP_BLANKS
LINK_CITATIONS = 500

# Scripts of a page; Sphinx's default is 500.
WORDS_SCRIPT = 50  # before all that say something
READING_MODE_SCRIPT = 100  # before the page is painted
STAGE_SCRIPT = 900  # after live-host.js, which loads the weights
