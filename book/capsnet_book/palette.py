"""The book's one palette: colour-blind safe, with a light and a dark value for every role.

Figures take their colours from `LIGHT`, widgets from `css_variables()`, so that a thing keeps
its colour from the plot to the page. The hues are those of Okabe and Ito (2008), darkened or
lightened until text and thin lines reach a contrast of 4.5 : 1 on their own background.
"""

from __future__ import annotations

LIGHT: dict[str, str] = {
    "surface": "#ffffff",  # what a widget stands on
    "raised": "#f3f5f8",  # a control, a cell of a grid
    "line": "#c5cbd5",  # borders, axes
    "ink": "#1a1f2b",  # text
    "muted": "#566072",  # labels, captions
    "accent": "#0063a6",  # what the reader moves; the winning capsule
    "contrast": "#b34700",  # what is compared with it; a mistake
    "agree": "#00745a",  # agreement, a test passed
    "soft": "#8c3f7a",  # a third series
    "paper": "#ffffff",  # a digit's background
    "stroke": "#10141c",  # a digit's ink
}

DARK: dict[str, str] = {
    "surface": "#14181f",
    "raised": "#1f252f",
    "line": "#3f4858",
    "ink": "#e8ebf0",
    "muted": "#a3adbd",
    "accent": "#5db8f5",
    "contrast": "#f59a4c",
    "agree": "#3fc8a4",
    "soft": "#dc93c6",
    "paper": "#0d1015",
    "stroke": "#f4f6fa",
}

OWNERS: dict[str, str] = {
    "CapsNet": "accent",
    "three rounds": "accent",
    "trained with three": "accent",
    "one round": "muted",
    "trained with one": "muted",
    "two rounds": "agree",
    "trained with two": "agree",
    "five rounds": "soft",
    "trained with five": "soft",
    "CNN": "contrast",
}
"""What is compared in more than one figure keeps its colour."""


def colour_of(name: str, place: int) -> str:
    """The colour of what a figure compares: its own, else that of its place among the others."""
    return LIGHT[OWNERS.get(name, ("accent", "contrast", "agree", "soft", "muted")[place % 5])]


def css_variables() -> str:
    """CSS that defines `--caps-<role>` for both themes.

    Sphinx's theme marks `<html data-theme>`, JupyterLab `<body data-jp-theme-light>`; where neither
    speaks, the reader's system decides.
    """
    light = _declarations(LIGHT)
    dark = _declarations(DARK)
    return (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f'html[data-theme="light"], body[data-jp-theme-light="true"] {{ {light} }}\n'
        f'html[data-theme="dark"], body[data-jp-theme-light="false"] {{ {dark} }}\n'
    )


def _declarations(colours: dict[str, str]) -> str:
    return " ".join(f"--caps-{role}: {value};" for role, value in colours.items())
