"""An end to calls that never return: a routing with an endless loop shall not hang a training."""

from __future__ import annotations

import _thread
import signal
import threading
from types import TracebackType

from torch import nn


class Stuck(Exception):
    """A call did not return in time."""


class CallLimit:
    """Within ``with limit:``, a call of a layer it watches that takes longer than so many seconds raises `Stuck`.

    What can be ended so is a loop in Python, in the main thread. Elsewhere nothing is watched.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._timer: threading.Timer | None = None
        self._is_over = False
        self._ignored = False

    def watch(self, layer: nn.Module) -> None:
        """Watch every call of this layer, and of copies of it."""
        layer.register_forward_pre_hook(lambda *_: self._begin())
        layer.register_forward_hook(lambda *_: self._end(), always_call=True)

    def _begin(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._timer = threading.Timer(self.seconds, self._give_up)
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._is_over = True
        _thread.interrupt_main()

    def __enter__(self) -> None:
        self._is_over = False
        # A shell starts what runs in the background with interrupts ignored: then they would end no loop, either.
        in_main = threading.current_thread() is threading.main_thread()
        self._ignored = in_main and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        if self._ignored:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()
        if self._ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if kind is KeyboardInterrupt and self._is_over:
            raise Stuck(f"it did not return within {self.seconds:g} s: is there a loop that never ends?") from None
