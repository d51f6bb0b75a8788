"""Put the widgets of a notebook into a static page, alive.

MyST-NB writes what a notebook stores about its widgets into the page: the state of every model, and
at each widget's place a small JSON script that names the model to show. This file

* turns such a place into a container with a still picture and a sentence. A reader without
  JavaScript keeps those; for everyone else `_static/live-host.js` puts the living widget there;
* publishes large buffers, so that a browser fetches each once, however many pages use it;
* adds the directive `live-widget`, which shows a notebook's widget on another page, in the
  notebook's state, but for what is set:

      ```{live-widget} chapters/01-try-it.ipynb BendCapsule
      :set: index=4
      ```

No kernel, no CDN. Whatever would leave a dead widget in the page is a warning of the build, and
`make book` makes warnings errors.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from capsnet_book.palette import css_variables
from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .. import order
from ..notebook import SUFFIX, read_notebook
from .buffers import named_buffers, publish
from .models import (
    REFERENCE,
    STATE,
    VIEW,
    Models,
    class_name,
    look_of,
    network_of,
    reachable,
    shown_models,
    stored_models,
)
from .sources import note_sources, with_sources
from .stills import reserved_height, stills
from .storage import stable_id

PALETTE = "palette.css"
OPENING, CLOSING = f'<script type="{VIEW}">', "</script>"  # of MyST-NB's script

logger = logging.getLogger(__name__)


class live_widget(nodes.General, nodes.Element):
    """The place of one widget (in lower case, as docutils names nodes).

    Attributes: `model` (its id), `name` (its class), `network` (the stem of the weights that the
    widget shows, or ""), `state` (JSON to add to the page, or None), `look` (the name of its still
    picture).
    """


class LiveWidget(SphinxDirective):
    """The directive `live-widget`: a notebook's first widget of a class, with the state it needs.

    The option `:set: index=7` gives other values, written as in a prompt (`prompts.py`).
    """

    required_arguments = 2
    option_spec: ClassVar = {"set": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the place of the widget, or a warning in its stead."""
        file, name = self.arguments
        relative, absolute = self.env.relfn2path(file)
        self.env.note_dependency(relative)  # a refreshed notebook refreshes this page
        try:
            notebook = read_notebook(Path(absolute))
        except (OSError, json.JSONDecodeError) as error:
            return self.problem(f"live-widget cannot read the notebook {relative}: {error}")

        models = stored_models(notebook)
        for model in shown_models(notebook):
            if model in models and class_name(models[model]) == name:
                return self.place(model, models)
        return self.problem(
            f"{relative} shows no {name} (after a change, `make notebooks` executes the notebooks)"
        )

    def place(self, model: str, models: Models) -> list[nodes.Node]:
        """Return the place of a model, with the option's values in its state.

        A model with other values is another one, with an id of its own: a page may show both. It
        asks the network that the page's notebook shows, if there is one: a page loads no second.
        """
        name = class_name(models[model])
        query = self.options.get("set", "")
        values = trait_values(query)
        unknown = values.keys() - models[model]["state"].keys()
        if unknown:
            return self.problem(f"{name} stores no trait {', '.join(sorted(unknown))}")

        own_models = self.own_models()
        networks = [str(own["state"].get("network")) for own in own_models.values()]
        references = [network for network in networks if REFERENCE.match(network)]
        if references and "network" in models[model]["state"]:
            values["network"] = references[0]
        changed = {**models[model], "state": models[model]["state"] | values}
        if query:
            model = stable_id(f"{model}?{query}")
        models = models | own_models | {model: changed}
        needed = {key: models[key] for key in reachable([model], models)}
        note_sources(self.env)
        state = json.dumps({"state": with_sources(needed)})
        network = network_of(model, needed, Path(self.env.srcdir))
        look = look_of(needed[model])
        return [live_widget("", model=model, name=name, network=network, state=state, look=look)]

    def own_models(self) -> Models:
        """Return the models of the page's own notebook; none for a page that is no notebook."""
        page = Path(self.env.doc2path(self.env.docname))
        return stored_models(read_notebook(page)) if page.suffix == SUFFIX else {}

    def problem(self, message: str) -> list[nodes.Node]:
        """Warn, and return no nodes."""
        logger.warning(message, location=self.get_location(), type="live-widget")
        return []


def trait_values(query: str) -> dict[str, Any]:
    """Return values of traits from `trait=value&trait=value`: JSON, or text without quotes."""
    return {name: json_or_text(value) for name, value in parse_qsl(query)}


def json_or_text(value: str) -> Any:
    """Return what a text is as JSON, or the text itself where it is none."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


class PlaceWidgets(SphinxPostTransform):
    """Replace the scripts that MyST-NB writes by `live_widget` nodes."""

    default_priority = order.PLACE_WIDGETS

    def run(self, **kwargs: Any) -> None:
        """Replace all scripts of the page."""
        models = notebook_models(self.app, self.env.docname)
        for raw in list(self.document.findall(nodes.raw)):
            if raw.astext().startswith(OPENING):
                self.replace(raw, models)

    def replace(self, script: nodes.raw, models: Models) -> None:
        """Replace one script; warn of a widget that no browser could show."""
        view = json.loads(script.astext().removeprefix(OPENING).removesuffix(CLOSING))
        model = view["model_id"]
        name = class_name(models.get(model, {}))
        if not name:
            logger.warning(
                "a widget of this page is no anywidget with a stored state; "
                "`make notebooks` stores it",
                location=self.env.docname,
                type="live-widget",
            )
            return
        network = network_of(model, models, Path(self.env.srcdir))
        look = look_of(models[model])
        place = live_widget("", model=model, name=name, network=network, state=None, look=look)
        script.replace_self(place)


def notebook_models(app: Sphinx, page: str) -> Models:
    """Return the models that MyST-NB writes into a page."""
    scripts = NbMetadataCollector.get_js_files(app.env, page)
    if "ipywidgets_state" not in scripts:
        return {}
    _file, script = scripts["ipywidgets_state"]
    return json.loads(script["body"]).get("state", {})


def visit_html(writer: Any, node: live_widget) -> None:
    """Write the container: the state if the node has one, the still picture, the sentence."""
    name, model, look, builder = node["name"], node["model"], node["look"], writer.builder
    network = f' data-network="{node["network"]}"' if node["network"] else ""
    classes = "live-widget full-width"  # the theme makes room for what is wider than the text
    of_this_look = [place for place in node.document.findall(live_widget) if place["look"] == look]
    height = reserved_height(look, of_this_look.index(node) + 1, builder)
    data = f'data-model="{model}" data-widget="{name}" data-look="{look}"{network}{height}'
    writer.body.append(f'<figure class="{classes}" id="{model}" {data}>\n')
    if node["state"]:
        state = node["state"].replace("</", "<\\/")  # no text of a widget ends the script
        writer.body.append(f'<script type="{STATE}">{state}</script>\n')
    writer.body.append(stills(look, builder))
    sentence = _(
        "A still picture: with JavaScript switched on, this widget comes alive right here."
    )
    writer.body.append(f"<figcaption><noscript>{sentence}</noscript></figcaption>\n</figure>\n")
    raise nodes.SkipNode


def skip(writer: Any, node: nodes.Element) -> None:
    """Write nothing: other formats than HTML have no widgets."""
    raise nodes.SkipNode


def add_host(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page with widgets the script that wakes them, and publish the buffers they name."""
    widgets = list(doctree.findall(live_widget)) if doctree else []
    if not widgets:
        return
    app.add_js_file("live-host.js", loading_method="defer")
    publish(app, page, named_buffers(notebook_models(app, page)))
    for widget in widgets:
        models = json.loads(widget["state"] or "{}").get("state", {})
        publish(app, page, named_buffers(models))


def write_palette(app: Sphinx, exception: Exception | None) -> None:
    """Write the palette: notebooks' HTML uses it, too, with a widget on the page or not."""
    if not exception and app.builder.format == "html":
        Path(app.outdir, "_static", PALETTE).write_text(css_variables(), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_css_file(PALETTE)
    app.connect("build-finished", write_palette)
    app.add_node(live_widget, html=(visit_html, skip), latex=(skip, skip), text=(skip, skip))
    app.add_directive("live-widget", LiveWidget)
    app.add_post_transform(PlaceWidgets)
    app.connect("html-page-context", add_host)
