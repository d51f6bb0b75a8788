"""Figures for the book's pages: SVG, once as wide as a page's column and once as wide as a phone.

While `refresh_notebooks.py` executes a notebook, its kernel shows every matplotlib figure as the PNG that all clients
know, and stores beside it, in the output's metadata, what `book/_ext/themed_figures.py` puts into the page. Nothing of
this happens when a reader runs the notebook.
"""

from __future__ import annotations

import base64
import io
import pickle
import re
from typing import Any

import matplotlib as mpl
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.image import AxesImage
from matplotlib.text import Text
from PIL import Image, ImageChops

KEY = "capsnet_figure"  # in an output's metadata: {"wide": SVG, "narrow": SVG, "pictures": PNG}
PHONE = 3.43  # inches: the 343 pixels that a phone of 375 leaves for the text, 100 an inch
SMALLEST = 8.6  # points of a label on the phone, which are 11.9 of its pixels, and 11 where a figure comes out broader
MANY = 200  # lines or markers of one kind: more of them become a picture inside the SVG
ROOM = {"left": 0.16, "right": 0.97, "top": 0.97, "bottom": 0.06, "hspace": 0.5}  # where no layout engine makes it
STYLE = {"svg.hashsalt": "capsnet-tutorial", "svg.fonttype": "none"}
NOBODY = {"Creator": None, "Date": None, "Format": None, "Type": None}
EMBEDDED = re.compile(r"data:image/png;base64,([^\"]+)")
PATH = re.compile(r'(?<=\sd=")[^"]*')
DECIMALS = re.compile(r"(\.\d\d)\d+")


def register() -> None:
    """Make this IPython kernel store both SVG of every figure that it shows."""
    from IPython import get_ipython

    get_ipython().display_formatter.mimebundle_formatter.for_type(Figure, bundle)


def bundle(figure: Figure, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """No other format than the kernel's own, and both SVG as metadata, with the pictures in them once."""
    pictures: list[str] = []
    wide = svg(figure, pictures)
    less = getattr(figure, "on_a_phone", None)  # a figure may have less to say there
    phone = less() if less else pickle.loads(pickle.dumps(figure))  # the PNG is made of the figure after this
    narrow(phone)
    return {}, {KEY: {"wide": wide, "narrow": svg(phone, pictures), "pictures": pictures}}


def svg(figure: Figure, pictures: list[str]) -> str:
    """A figure as SVG: text as text, no background, the same bytes in every run.

    A picture in it (a digit's pixels) is an entry of `pictures`, which grows; the SVG has its index as its address.
    """
    images = figure.findobj(AxesImage)
    shown = [image.get_interpolation() for image in images]
    for image in images:
        image.set_interpolation("none")  # its own pixels, which the browser enlarges
    for collection in figure.findobj(Collection):
        collection.set_rasterized(len(collection.get_paths()) > MANY)
    with mpl.rc_context(STYLE):
        figure.savefig(
            stream := io.StringIO(),
            format="svg", transparent=True, bbox_inches="tight", pad_inches=0.02, dpi=160, metadata=NOBODY,
        )  # fmt: skip
    for image, interpolation in zip(images, shown, strict=True):
        image.set_interpolation(interpolation)

    def index(png: re.Match[str]) -> str:
        small = lighter(png[1])
        if small not in pictures:
            pictures.append(small)
        return str(pictures.index(small))

    text = stream.getvalue()
    text = EMBEDDED.sub(index, text[text.index("<svg") :])
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = PATH.sub(lambda path: DECIMALS.sub(r"\1", path[0]), text)
    return re.sub(r"\s+", " ", text).replace("> <", "><")


def lighter(png: str) -> str:
    """A picture of an SVG with a palette or, if opaque, in greys: whichever takes fewer bytes."""
    picture = Image.open(io.BytesIO(base64.b64decode(re.sub(r"\s", "", png))))
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() != (255, 255):
        candidates = [picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)]
    else:
        whole = picture.convert("RGB")
        red, green, blue = whole.split()
        grey = not (ImageChops.difference(red, green).getbbox() or ImageChops.difference(green, blue).getbbox())
        candidates = [whole.quantize(256, dither=Image.Dither.NONE), *[red] * grey]
    streams = []
    for small in candidates:
        small.save(stream := io.BytesIO(), "PNG", optimize=True)
        streams.append(stream.getvalue())
    return base64.b64encode(min(streams, key=len)).decode()


def narrow(figure: Figure) -> None:
    """Lay a figure out for a phone: panels of a plot one below the other, text as large as it was."""
    width, height = figure.get_size_inches()
    panels = {spec: axes for axes in figure.axes if (spec := axes.get_subplotspec())}
    grids = {spec.get_gridspec() for spec in panels}
    rows, columns = grids.pop().get_geometry() if len(grids) == 1 else (0, 0)
    pictures = bool(figure.findobj(AxesImage))
    if columns in (2, 3, 4) and not pictures and len(panels) == rows * columns:
        across = columns // 4 + 1
        room = {} if figure.get_layout_engine() else ROOM
        below = GridSpec(rows * columns // across, across, figure=figure, **room)
        in_order = sorted(panels.items(), key=lambda panel: (panel[0].rowspan.start, panel[0].colspan.start))
        for k, (_, axes) in enumerate(in_order):
            axes.set_subplotspec(below[k])
            axes.tick_params(labelleft=k % across == 0, labelbottom=True)
        height *= 0.85 * columns / across
    elif all(axes.get_images() for axes in figure.axes):
        height *= PHONE / width
    else:
        height *= 0.75
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), SMALLEST))
    figure.set_size_inches(PHONE, height)
    for _ in range(0 if figure.get_layout_engine() else 2):  # what stands beyond the axes takes its part of the width
        figure.canvas.draw()
        figure.set_figwidth(figure.get_figwidth() * PHONE / (figure.get_tightbbox().width + 0.04))
