"""A chapter's foot: "Read next", with the next chapter's drawing, and what stands of the network.

The last paragraph of a chapter moves below its exercises. Above it the network's parts stand in a
row; those that the chapters so far have built are in colour (`capsnet_book/network.json`). Where
none stands, or all have stood before, there is no row.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.locale import _

from ..widgets.strip import CHAPTER, NETWORK, part_name
from .emblems import emblem


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
        stem = PurePosixPath(link.get("refuri", "").partition("#")[0]).stem
        last.insert(0, nodes.raw("", f'<span class="face">{emblem(stem)}</span>', format="html"))
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
    items = []
    for key, last in complete.items():
        name = part_name(key)
        items.append(f"<li>{name}</li>" if last > number else f'<li class="stands">{name}</li>')
    words = _("What stands of the network")
    return f'<div class="standing"><p>{words}</p><ol>{"".join(items)}</ol></div>'
