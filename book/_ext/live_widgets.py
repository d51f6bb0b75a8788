"""Put the widgets of a notebook into a static page, alive.

MyST-NB writes what a notebook stores about its widgets into the page: the state of every model, and at each widget's
place a small JSON script that names the model to show. This extension

* turns such a place into a container with a still picture and a sentence. A reader without JavaScript keeps those;
  for everyone else `_static/live-host.js` puts the living widget there;
* publishes large buffers (the network's weights), which a notebook names by their SHA-256 only, as files of their own
  under `_static/widget-buffers/`, so that a browser fetches each once, however many widgets and pages use it;
* adds the directive `live-widget`, which shows a notebook's widget on another page:

      ```{live-widget} chapters/01-try-it.ipynb PoseSliders
      :set: index=4
      ```

  in the notebook's state, but for what is set.

No kernel, no CDN. Whatever would leave a dead widget in the page is a warning of the build, and `make book` makes
warnings errors.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import imagesize
from capsnet_book.palette import css_variables
from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri
from stored_widgets import (
    PUBLISHED,
    REFERENCE,
    STATE,
    VIEW,
    WIDGETS,
    Models,
    class_name,
    files_by_hash,
    reachable,
    shown_models,
    stored_models,
    unpack,
    with_sources,
)

PALETTE = "palette.css"
BUFFERS = Path("_static", "widget-buffers")
SENTENCE = "A still picture: with JavaScript switched on, this widget comes alive right here."

logger = logging.getLogger(__name__)


class live_widget(nodes.General, nodes.Element):
    """The place of one widget (in lower case, as docutils names nodes).

    Attributes: `model` (its id), `name` (its class), `network` (what weights it shows: "small", or ""), `state` (JSON
    to add to the page, or None).
    """


class LiveWidget(SphinxDirective):
    """```{live-widget} notebook WidgetClass```: the notebook's first widget of that class, with the state it needs.

    The option `:set: index=7` gives it other values, written as in a prompt (`live_prompts.py`).
    """

    required_arguments = 2
    option_spec: ClassVar = {"set": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        notebook, name = self.arguments
        relative, absolute = self.env.relfn2path(notebook)
        self.env.note_dependency(relative)  # a refreshed notebook refreshes this page
        try:
            stored = json.loads(Path(absolute).read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError) as error:
            return self.problem(f"live-widget cannot read the notebook {relative}: {error}")
        models = stored_models(stored)
        for model in shown_models(stored):
            if model in models and class_name(models[model]) == name:
                needed = {key: models[key] for key in reachable([model], models)}
                values = trait_values(self.options.get("set", ""))
                if unknown := values.keys() - models[model]["state"].keys():
                    return self.problem(f"{name} stores no trait {', '.join(sorted(unknown))}")
                needed[model] = {**models[model], "state": models[model]["state"] | values}
                note_sources(self.env)
                state = json.dumps({"state": with_sources(needed)})
                network = network_of(model, needed, Path(self.env.srcdir))
                return [live_widget("", model=model, name=name, network=network, state=state)]
        return self.problem(
            f"{relative} shows no {name} (after a change, `make notebooks` executes the notebooks)"
        )

    def problem(self, message: str) -> list[nodes.Node]:
        logger.warning(message, location=self.get_location(), type="live-widget")
        return []


def trait_values(query: str) -> dict[str, Any]:
    """Values of traits from `trait=value&trait=value`: JSON, or text without quotes."""

    def value_of(text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text

    return {name: value_of(text) for name, text in parse_qsl(query)}


class PlaceWidgets(SphinxPostTransform):
    """Replace the view scripts that MyST-NB writes by `live_widget` nodes."""

    default_priority = 200  # after MyST-NB has chosen among the formats of an output

    def run(self, **kwargs: Any) -> None:
        opening = f'<script type="{VIEW}">'
        models = notebook_models(self.app, self.env.docname)
        for raw in list(self.document.findall(nodes.raw)):
            if not raw.astext().startswith(opening):
                continue
            model = json.loads(raw.astext().removeprefix(opening).removesuffix("</script>"))[
                "model_id"
            ]
            name = class_name(models.get(model, {}))
            if name:
                network = network_of(model, models, Path(self.env.srcdir))
                raw.replace_self(
                    live_widget("", model=model, name=name, network=network, state=None)
                )
            else:
                logger.warning(
                    "a widget of this page is no anywidget with a stored state; `make notebooks` stores it",
                    location=self.env.docname,
                    type="live-widget",
                )


def notebook_models(app: Sphinx, page: str) -> Models:
    """The models that MyST-NB writes into a page."""
    _, script = NbMetadataCollector.get_js_files(app.env, page).get(
        "ipywidgets_state", (None, {"body": "{}"})
    )
    return json.loads(script["body"]).get("state", {})


def network_of(model: str, models: Models, root: Path) -> str:
    """The name of the file with the weights that a widget shows; "" where it shows none, or a reader's own."""
    reference = REFERENCE.match(str(models[model]["state"].get("network")))
    buffers = models[reference[2]].get("buffers", []) if reference else []
    files = [files_by_hash(root).get(buffer["data"]) for buffer in buffers]
    return files[0].stem if files and files[0] else ""


def visit_html(writer: Any, node: live_widget) -> None:
    """Write the container: state if it brings its own, the still picture, the sentence."""
    name, builder = node["name"], writer.builder
    model = node["model"]
    network = f' data-network="{node["network"]}"' if node["network"] else ""
    classes = "live-widget full-width"  # the theme makes room for what is wider than the text
    about = f'data-model="{model}" data-widget="{name}"{network}{reserved(name, builder)}'
    writer.body.append(f'<figure class="{classes}" id="{model}" {about}>\n')
    if node["state"]:
        state = node["state"].replace("</", "<\\/")  # no text of a widget ends the script
        writer.body.append(f'<script type="{STATE}">{state}</script>\n')
    writer.body.append(stills(name, builder))
    writer.body.append(f"<figcaption><noscript>{SENTENCE}</noscript></figcaption>\n</figure>\n")
    raise nodes.SkipNode


def stills(name: str, builder: Any) -> str:
    """The still pictures of what is alive on the page that is written: light and dark, each with a form for phones."""
    folder = Path(builder.srcdir, "book", "_static", "stills")
    here, html = builder.get_target_uri(builder.current_docname), ""
    for theme, suffix in (("light", ""), ("dark", "-dark")):
        wide, narrow = (folder / f"{name}{width}{suffix}.webp" for width in ("", "-narrow"))
        if wide.exists():
            on_phones = (
                f'<source media="(max-width: 600px)" srcset={placed(narrow, here)}>'
                if narrow.exists()
                else ""
            )
            picture = f'<img class="dark-light" src={placed(wide, here)} loading="lazy" alt="The widget {name}">'
            html += f'<picture class="live-still in-{theme}">{on_phones}{picture}</picture>\n'
    return html


def reserved(name: str, builder: Any) -> str:
    """The height, in wide windows and on phones, of a widget that is not as high as its still on the written page."""
    measured = Path(builder.srcdir, "book", "_static", "stills", "heights.json")
    heights = json.loads(measured.read_text(encoding="utf-8")) if measured.exists() else {}
    own = heights.get(Path(builder.current_docname).name, {}).get(name, {})
    style = "".join(f"--awake{window}: {height}px;" for window, height in own.items())
    return f' style="{style}"' if style else ""


def skip(writer: Any, node: nodes.Element) -> None:
    """Other formats than HTML show nothing."""
    raise nodes.SkipNode


def placed(still: Path, page: str) -> str:
    """A still's address on a page and its size, as HTML attributes: a browser reserves the place before it is there.

    Stills hold two pixels for each of the page's (tools/pictures.py).
    """
    width, height = imagesize.get(still)
    return f'"{relative_uri(page, f"_static/stills/{still.name}")}" width="{width // 2}" height="{height // 2}"'


def add_host(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page with widgets the script that wakes them, and publish the buffers they name."""
    widgets = list(doctree.findall(live_widget)) if doctree else []
    if widgets:
        app.add_js_file("live-host.js", loading_method="defer")
        publish(app, page, notebook_models(app, page))
        for node in widgets:
            publish(app, page, json.loads(node["state"] or "{}").get("state", {}))


def publish(app: Sphinx, page: str, models: Models) -> None:
    """Write the buffers that the models name by hash: for http as they are, for file:// as a script.

    (A page opened from the disk may not fetch a file beside it, but may run a script.)
    """
    folder = Path(app.outdir, BUFFERS)
    for entry in (entry for model in models.values() for entry in model.get("buffers", [])):
        if entry["encoding"] != "sha256":
            continue
        sha256 = entry["data"]
        source = files_by_hash(Path(app.srcdir)).get(sha256)
        if source is None:
            logger.warning(
                f"a widget needs the buffer with SHA-256 {sha256}, but no safetensors file of "
                f"{' or '.join(PUBLISHED)} is that. "
                "The file changed after the notebook was executed: `make notebooks` refreshes it.",
                location=page,
                type="live-widget",
            )
            continue
        script, binary = folder / f"{sha256}.js", folder / f"{sha256}.safetensors"
        if not script.exists():
            folder.mkdir(parents=True, exist_ok=True)
            data = source.read_bytes()
            binary.write_bytes(data)
            script.write_text(
                f'capsnetBuffers["{sha256}"] = "{base64.b64encode(data).decode()}";\n'
            )


def unpack_notebook(app: Sphinx, page: str, source: list[str]) -> None:
    """Hand MyST-NB a notebook whose widgets stand where it looks for them."""
    if Path(app.env.doc2path(page)).suffix == ".ipynb":
        notebook = json.loads(source[0])
        unpack(notebook)
        if stored := notebook["metadata"].get("widgets"):
            stored[STATE]["state"] = with_sources(stored[STATE]["state"])
            note_sources(app.env)
        source[0] = json.dumps(notebook)


def note_sources(env: Any) -> None:
    """A change of a widget's source refreshes the page that is read."""
    for file in sorted(WIDGETS.glob("**/*.[jc]s*")):
        env.note_dependency(str(file))


def write_palette(app: Sphinx, exception: Exception | None) -> None:
    """The palette for every page: what a notebook shows as HTML uses it, too, with a widget beside it or not."""
    if not exception and app.builder.format == "html":
        Path(app.outdir, "_static", PALETTE).write_text(css_variables(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_css_file(PALETTE)
    app.connect("build-finished", write_palette)
    app.add_node(live_widget, html=(visit_html, skip), latex=(skip, skip), text=(skip, skip))
    app.add_directive("live-widget", LiveWidget)
    app.add_post_transform(PlaceWidgets)
    app.connect("source-read", unpack_notebook)
    app.connect("html-page-context", add_host)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
