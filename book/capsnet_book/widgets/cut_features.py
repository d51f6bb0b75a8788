"""CutFeatures: channels at places that fly into their capsules, the right and the wrong way."""

from __future__ import annotations

import traitlets

from capsnet_book.widgets import _parts

WAYS = ("maps", "group", "view")
"""The numbers where the convolution left them, in capsules of one place, flattened at once."""


class CutFeatures(_parts.Widget):
    """Six channels at four places, and the capsules of three numbers that are cut from them.

    Attributes:
        way: "maps": as the convolution left them; "group": split, carry, flatten; "view": flattened
            at once, which mixes places.

    Raises:
        ValueError: another way.
    """

    _esm = _parts.module("cut_features.js")
    _css = _parts.stylesheet("cut_features.css")

    way = traitlets.Unicode("maps").tag(sync=True)

    @traitlets.validate("way")
    def _way_is_known(self, proposal: dict) -> str:
        if proposal["value"] not in WAYS:
            raise ValueError(f"expected way as one of {list(WAYS)}; got {proposal['value']!r}")
        return proposal["value"]

    def __repr__(self) -> str:
        return f"CutFeatures(way={self.way!r})"
