"""A chapter's foot: "Read next", with the next chapter's drawing, and what stands of the network.

The last paragraph of a chapter moves below its exercises. Above it the network's parts stand in a
row; those that the chapters so far have built are drawn (`capsnet_book/network.json`), and where
the network runs in the page they show the reader's own digit (widgets/glass/glass.js). Where none
stands, or all have stood before, there is no row.
"""

from __future__ import annotations

from html import escape
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.locale import _

from ..widgets.strip import CHAPTER, NETWORK, part_name
from .emblems import emblem
from .part_drawings import part_drawing


def share_that_stands(count: int) -> str:
    """Return the sentence on how much of the network stands, of its six parts."""
    sentences = (
        "",
        _("A sixth of your network is built."),
        _("A third of your network is built."),
        _("Half of your network is built."),
        _("Two thirds of your network are built."),
        _("Five sixths of your network are built."),
        _("All of your network is built."),
    )
    return sentences[count]


def move_to_foot(section: nodes.section, page: str, chapters: dict[str, int]) -> None:
    """Take "Read next" out of a section, and make it the foot of the page.

    `chapters` has the number of each chapter by its name.
    """
    last: Any = section.children[-1]
    if not isinstance(last, nodes.paragraph) or not last.astext().startswith(str(_("Read next:"))):
        return
    section.remove(last)
    last["classes"].append("read-next")
    link = last.next_node(nodes.reference)
    if link is not None:
        address = link.get("refuri", "")
        stem = PurePosixPath(address.partition("#")[0]).stem
        # For a pointer; keys and screen readers have the link in the text.
        face = f'<a class="face" href="{escape(address)}" tabindex="-1" aria-hidden="true">'
        last.insert(0, nodes.raw("", f"{face}{emblem(stem)}</a>", format="html"))
    match = CHAPTER.match(page)
    if match:
        row = standing_parts(int(match[1]), chapters)
        section.parent.append(nodes.raw("", row, format="html"))
    section.parent.append(last)


def standing_parts(number: int, chapters: dict[str, int]) -> str:
    """Return the row of parts after chapter `number`, as HTML; "" if it would say nothing new."""
    complete = {}  # the number of the chapter after which a part stands
    for key in NETWORK["strip"]:
        builders = [chapters[name] for name in NETWORK["parts"][key]["built"] if name in chapters]
        complete[key] = max(builders, default=0)
    if not min(complete.values()) <= number <= max(complete.values()):
        return ""
    standing = [key for key, last in complete.items() if last <= number]
    items = []
    for key in complete:
        name = part_name(key)
        kind = ' class="stands"' if key in standing else ""
        picture = f'<span class="picture" aria-hidden="true">{part_drawing(key)}</span>'
        items.append(f'<li{kind} data-part="{key}">{picture}{name}</li>')
    sentence = share_that_stands(len(standing))
    return f'<div class="standing"><p>{sentence}</p><ol>{"".join(items)}</ol></div>'
