"""Make a plain link to a paper a reference to the book's own list, if references.bib has the paper.

Notebooks are read outside the book, too, so they cite with what every client can follow:
`([Sabour et al., 2017](https://arxiv.org/abs/1710.09829))`. An address that an entry of
references.bib has (its `url`, or `https://doi.org/` and its `doi`) leads to that entry on the page
of references, and shows the paper's title when pointed at.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .. import order

PAGE = "book/references"  # shows every entry: `{bibliography}` with `:all:`


class LinkCitations(SphinxPostTransform):
    """Turn links to known papers into links to their entries."""

    default_priority = order.LINK_CITATIONS

    def run(self, **kwargs: Any) -> None:
        """Replace the addresses on every page but that of the references."""
        builder = self.app.builder
        if self.env.docname == PAGE or builder.format != "html":
            return
        domain: Any = self.env.get_domain("cite")  # of sphinxcontrib-bibtex
        entries = domain.bibdata.data.entries
        keys = {address(entry.fields): key for key, entry in entries.items()}
        for link in self.document.findall(nodes.reference):
            key = keys.get(link.get("refuri", ""))
            if key is None:
                continue
            page = builder.get_relative_uri(self.env.docname, PAGE)
            link["refuri"] = f"{page}#{anchor(key)}"
            link["reftitle"] = without_braces(entries[key].fields["title"])
            link["classes"].append("citation")
            link["internal"] = True


def address(fields: Any) -> str:
    """Return the address of the paper that an entry of references.bib names."""
    return str(fields["url"] if "url" in fields else f"https://doi.org/{fields['doi']}")


def anchor(key: str) -> str:
    """Return the id of an entry on the page of references (`bibtex_cite_id` in _config.yml)."""
    return nodes.make_id(f"cite-{key}")


def without_braces(title: str) -> str:
    """Return a title without the braces that keep capitals in BibTeX."""
    return title.replace("{", "").replace("}", "")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_post_transform(LinkCitations)
