"""Make a link to `#try-…` a button that sets the state of the page's widget.

A notebook is read outside the book, too, where such a link is words that lead nowhere, so the
sentence around it must read well without:

    [Press the eight](#try-MarginLoss?selected=8&present=[8]) and see which way its arrow points.

After `#try-` come the widget's class and values of its traits, in JSON (text without quotes);
`offsets.2=0.25` sets one element of a list. Without JavaScript the link leads to the widget's
picture. A page without that widget, or a widget without that trait, is a warning of the build.

A link to a notebook with settings behind it, `raise-one.ipynb#rounds=1,3`, keeps them: they name
no heading, and the page's widget reads them.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any
from urllib.parse import unquote

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from .. import order
from .places import live_widget, notebook_models, trait_values

OPENING = "#try-"

logger = logging.getLogger(__name__)


class live_prompt(nodes.Inline, nodes.TextElement):
    """Words that set a widget's state (in lower case, as docutils names nodes).

    Attributes: `widget` (its class), `values` (trait -> value, or trait.k -> value), `model` (its
    id on the page).
    """


class FindPrompts(SphinxTransform):
    """Take the links to `#try-…` out before anything looks for their target."""

    default_priority = order.FIND_PROMPTS

    def apply(self, **kwargs: Any) -> None:
        """Replace such links by `live_prompt` nodes."""
        for link in list(self.document.findall(nodes.reference)):
            address = link.get("refuri", "")
            if not address.startswith(OPENING):
                continue
            widget, _, query = unquote(address.removeprefix(OPENING)).partition("?")
            values = trait_values(query)
            link.replace_self(live_prompt("", "", *link.children, widget=widget, values=values))


class AimPrompts(SphinxPostTransform):
    """Find the widget that each prompt means: the page's first of that class."""

    default_priority = order.AIM_PROMPTS

    def run(self, **kwargs: Any) -> None:
        """Set the `model` of each prompt; warn of prompts that would do nothing."""
        first_widgets: dict[str, live_widget] = {}
        for widget in self.document.findall(live_widget):
            first_widgets.setdefault(widget["name"], widget)
        stored = notebook_models(self.app, self.env.docname)
        for prompt in self.document.findall(live_prompt):
            widget = first_widgets.get(prompt["widget"])
            if widget is None:
                self.warn(prompt, f"the page shows no {prompt['widget']}")
                continue
            prompt["model"] = widget["model"]
            models = json.loads(widget["state"])["state"] if widget["state"] else stored
            traits = models[widget["model"]]["state"]
            for name in prompt["values"]:
                if name.partition(".")[0] not in traits:
                    self.warn(prompt, f"{prompt['widget']} stores no trait {name}")

    def warn(self, prompt: live_prompt, problem: str) -> None:
        """Warn of a prompt."""
        message = f"the prompt “{prompt.astext()}”: {problem}"
        logger.warning(message, location=self.env.docname, type="live-prompt")


class KeepSettings(SphinxPostTransform):
    """Let `#name=value` at the end of a link to another page be a place there."""

    default_priority = order.KEEP_SETTINGS

    def run(self, **kwargs: Any) -> None:
        """Add each such place to the headings that MyST knows of the other page."""
        for link in self.document.findall(addnodes.pending_xref):
            place = link.get("reftargetid") or ""
            if "=" in place:
                slugs = self.env.metadata[link["reftarget"]].setdefault("myst_slugs", {})
                slugs[place] = (0, place, link.astext())


def visit_html(writer: Any, node: live_prompt) -> None:
    """Write a link to the widget, with the values that make `live-host.js` turn it to a button."""
    model = node.get("model", "")
    values = escape(json.dumps(node["values"]), quote=True)
    writer.body.append(f'<a class="live-prompt" href="#{model}" data-values="{values}">')


def depart_html(writer: Any, node: live_prompt) -> None:
    """Write the end of the link."""
    writer.body.append("</a>")


def write_words(writer: Any, node: live_prompt) -> None:
    """Write nothing around the words: other formats than HTML have them alone."""


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    words = (write_words, write_words)
    app.add_node(live_prompt, html=(visit_html, depart_html), latex=words, text=words)
    app.add_transform(FindPrompts)
    app.add_post_transform(AimPrompts)
    app.add_post_transform(KeepSettings)
