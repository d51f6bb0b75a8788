"""Weights as a widget model that all widgets of a page share.

`Network` is a model without a view; its only trait is `weights`, the exact bytes of a file of the
package's folder `weights`. A widget holds it in the trait `network`, an `anywidget.WidgetTrait`,
which travels as the string ``"anywidget:<model id>"``. In the page, anywidget (0.11 or later) calls
the widget's ``render({ model, el, signal, host, experimental })``, where

    host.getModel("anywidget:<model id>")
        -> Promise of a model with get, set, save_changes, send, on, off

and ``(await host.getModel(model.get("network"))).get("weights")`` are the bytes, a DataView. The
static page has a host of its own with the same interface.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anywidget
import traitlets

from capsnet_book.assets import asset

_networks: dict[str, Network] = {}


class Network(anywidget.AnyWidget):
    """The weights of a network, without a view, for the widgets of a page."""

    _esm = "export default {};\n"
    _view_name = traitlets.Unicode(None, allow_none=True).tag(sync=True)  # type: ignore[assignment]

    weights = traitlets.Bytes().tag(sync=True)

    def __repr__(self) -> str:
        return f"Network({len(self.weights)} bytes)"


def shared_network(name: str = "small", folder: str = "weights") -> Network:
    """Return the one `Network` of a file in this process, so that a page holds its bytes once.

    Args:
        name: of a safetensors file, without its ending, such as "small-pairs".
        folder: of the package's assets, or of the module's.

    Raises:
        FileNotFoundError: there is no such file.
    """
    place = f"{folder}/{name}"
    network = _networks.get(place)
    if network is None or network.comm is None:  # not made yet, or closed since
        network = Network(weights=asset(f"{place}.safetensors").read_bytes())
        _networks[place] = network
    return network


def network_of(model: Any) -> Network:
    """Return a `Network` of a reader's own network.

    Args:
        model: a `CapsNet` of the paper's parts, of any size for digits; or any module whose weights
            have the names and shapes of one and that answers as it does, such as
            ``book/my_capsnet.py``.

    Raises:
        ValueError: another network.
    """
    from capsnet_tutorial.errors import expect
    from capsnet_tutorial.weights import as_capsnet, save_weights

    model = as_capsnet(model)
    config = model.config
    sizes = (config.image_size, config.in_channels, config.classes, config.class_dim)
    expected = "a network for digits of 28×28 pixels with 10 capsules of 16"
    expect(sizes == (28, 1, 10, 16), expected, f"{sizes}")
    has_decoder = config.decoder_hidden is not None
    expect(has_decoder, "a network with a decoder", "decoder_hidden=None")
    expect(not model.parts.names, "a network of the paper's own parts", f"{model.parts.names}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "own.safetensors"
        save_weights(model, path)
        return Network(weights=path.read_bytes())
