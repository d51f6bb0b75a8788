"""A machine without a GPU, for code that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode


@contextmanager
def without_cuda() -> Iterator[None]:
    """`.cuda()`, `.to("cuda")` and `device="cuda"` do nothing where there is no GPU.

    A mode of torch's, for this thread and this block: nothing is replaced, so nothing has to be put back.
    """
    if torch.cuda.is_available():
        yield
        return
    with _StaysHere():
        yield


class _StaysHere(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is Tensor.cuda:
            return args[0]
        named = {key: each for key, each in (kwargs or {}).items() if key != "device" or not _is_cuda(each)}
        if func is Tensor.to:
            args = tuple(each for each in args if not _is_cuda(each))
            if len(args) == 1 and not named:
                return args[0]
        return func(*args, **named)


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.startswith("cuda")
