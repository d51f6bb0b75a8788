"""The progress bar of a training run."""

from __future__ import annotations

from tqdm import tqdm

from capsnet_tutorial.training.state import History

_FORMAT = "{percentage:3.0f}% |{bar}| {elapsed}<{remaining}{postfix}"


class ProgressBar(tqdm):
    """Share of a run that is done, time left, images a second, and the last point of its curve.

    Args:
        history: of the run, at its beginning.
        share_done: how much of it is done, from 0 to 1.
        batch_size: images a step.
        visible: whether anything is shown.
    """

    def __init__(self, history: History, share_done: float, batch_size: int, visible: bool) -> None:
        self._first = history.step, history.seconds
        self._batch_size = batch_size
        super().__init__(total=100, initial=min(100 * share_done, 100), disable=not visible, bar_format=_FORMAT)

    def show(self, history: History, share_done: float) -> None:
        """Move to where the run is now."""
        images = (history.step - self._first[0]) * self._batch_size
        speed = f"{images / max(history.seconds - self._first[1], 1e-9):,.0f} images/s"
        point = history.curve[-1] if history.curve else {}
        values = [f"{name}={value:.4f}" for name, value in point.items() if name not in ("epoch", "seconds")]
        self.set_postfix_str(", ".join([speed, *values]), refresh=False)
        self.update(min(100 * share_done, 100) - self.n)
