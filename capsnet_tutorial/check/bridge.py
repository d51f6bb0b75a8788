"""Functions of NumPy, JAX and TensorFlow, called with torch's tensors. Whose they are, the names in their code tell.

Nothing is imported that is not there already: a function that uses a framework has brought it along.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

FRAMEWORKS = ("torch", "jax", "tensorflow", "numpy")
"""A function is of the first of these that its code names."""

Function = Callable[..., Any]
Pullback = Callable[[np.ndarray], Sequence[Any]]
"""From the gradient by the output to those by the floating-point arguments."""


class Bridged:
    """A function of another framework as one of torch's tensors; a gradient flows through it where there is one.

    Args:
        function: of arrays of the framework.
        framework: "numpy", "jax" or "tensorflow".
    """

    def __init__(self, function: Function, framework: str) -> None:
        functools.update_wrapper(self, function)
        self.function, self.framework = function, framework
        self.with_gradient = {"numpy": None, "jax": _jax, "tensorflow": _tensorflow}[framework]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        function = functools.partial(self.function, **keywords)
        if self.with_gradient is None:
            return _as_torch(function(*map(_as_numpy, arguments)))
        return _Through.apply(functools.partial(self.with_gradient, function), *arguments)


def bridged(function: Any) -> Any:
    """The function itself, or a `Bridged` one where its code names another framework and not torch."""
    names = _packages_named_by(function)
    framework = next((each for each in FRAMEWORKS if each in names), "torch")
    return function if framework == "torch" else Bridged(function, framework)


def _packages_named_by(function: Any) -> set[str]:
    """The packages that its code names, and those of the functions of its file that it calls."""
    target = function.func if isinstance(function, functools.partial) else function
    target = target if hasattr(target, "__code__") or hasattr(target, "__func__") else getattr(target, "__wrapped__", 0)
    found: set[str] = set()
    waiting, seen = [target], set()
    while waiting:
        each = waiting.pop()
        code = getattr(each, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        around = dict(zip(code.co_freevars, (cell.cell_contents for cell in each.__closure__ or ()), strict=True))
        for name in _names_in(code) | around.keys():
            value = around.get(name, each.__globals__.get(name))
            if isinstance(value, types.ModuleType):
                found.add(value.__name__.partition(".")[0])
            elif getattr(value, "__globals__", None) is each.__globals__:
                waiting.append(value)
            elif value is None and name in FRAMEWORKS:  # imported inside the function
                found.add(name)
            elif value is not None:
                found.add(str(getattr(value, "__module__", None) or "").partition(".")[0])
    return found


def _names_in(code: types.CodeType) -> set[str]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(_names_in, inner))


def _as_numpy(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, Tensor) else value


def _as_torch(value: Any) -> Any:
    """Arrays as tensors; whatever else there is, as it is."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_as_torch, value))
    return torch.tensor(np.asarray(value)) if hasattr(value, "__array__") else value


class _Through(torch.autograd.Function):
    """A call whose gradient another framework knows."""

    @staticmethod
    def forward(ctx: Any, call: Callable[..., tuple[Any, Pullback]], *arguments: Any) -> Any:
        out, ctx.pullback = call(*map(_as_numpy, arguments))
        ctx.floats = [isinstance(each, Tensor) and each.is_floating_point() for each in arguments]
        return _as_torch(out)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        pulled = iter(ctx.pullback(gradients[0].numpy()))
        return None, *(torch.tensor(np.asarray(next(pulled))) if floats else None for floats in ctx.floats)


def _split(arguments: Sequence[Any]) -> tuple[list[int], list[np.ndarray]]:
    """Where the floating-point arrays are, and they themselves."""
    where = [k for k, x in enumerate(arguments) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    return where, [arguments[k] for k in where]


def _put(arguments: Sequence[Any], where: Sequence[int], values: Sequence[Any]) -> list[Any]:
    by_place = dict(zip(where, values, strict=True))
    return [by_place.get(k, each) for k, each in enumerate(arguments)]


def _jax(function: Function, *arguments: Any) -> tuple[Any, Pullback]:
    jax = sys.modules["jax"]
    where, floats = _split(arguments)
    return jax.vjp(lambda *values: function(*_put(arguments, where, values)), *floats)


def _tensorflow(function: Function, *arguments: Any) -> tuple[Any, Pullback]:
    tf = sys.modules["tensorflow"]
    where, floats = _split(arguments)
    values = [tf.convert_to_tensor(each) for each in floats]
    with tf.GradientTape() as tape:
        for each in values:
            tape.watch(each)
        out = function(*_put(arguments, where, values))

    def pullback(gradient: np.ndarray) -> Sequence[Any]:
        return tape.gradient(out, values, output_gradients=tf.constant(gradient), unconnected_gradients="zero")

    return out, pullback
