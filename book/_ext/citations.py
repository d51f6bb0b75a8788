"""Make a plain link to a paper a reference to the book's own list, where the paper stands in references.bib.

Notebooks are read outside the book, too, so they cite with what every client can follow: `([Sabour et al.,
2017](https://arxiv.org/abs/1710.09829))`. An address that an entry of references.bib has (its `url`, or
`https://doi.org/` and its `doi`) leads to that entry on the page of references, and names the paper when pointed at.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGE = "book/references"  # shows every entry: `{bibliography}` with `:all:`


class LinkCitations(SphinxPostTransform):
    """Turn links to known papers into links to their entries."""

    default_priority = 500

    def run(self, **kwargs: Any) -> None:
        if self.env.docname == PAGE or self.app.builder.format != "html":
            return
        bibliography = self.env.get_domain("cite").bibdata.data.entries  # type: ignore[attr-defined]
        known = {
            address(entry.fields): (key, entry.fields["title"])
            for key, entry in bibliography.items()
        }
        for link in self.document.findall(nodes.reference):
            if link.get("refuri") in known:
                key, title = known[link["refuri"]]
                link["refuri"] = (
                    f"{self.app.builder.get_relative_uri(self.env.docname, PAGE)}#{anchor(key)}"
                )
                link["reftitle"] = title.translate({ord("{"): "", ord("}"): ""})
                link["classes"].append("citation")
                link["internal"] = True


def address(fields: Any) -> str:
    """Where an entry of references.bib says that the paper is."""
    return str(fields["url"] if "url" in fields else f"https://doi.org/{fields['doi']}")


def anchor(key: str) -> str:
    """The id of an entry on the page of references (`bibtex_cite_id` in _config.yml)."""
    return nodes.make_id(f"cite-{key}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_post_transform(LinkCitations)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
