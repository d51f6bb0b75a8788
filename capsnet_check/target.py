"""A network or layer under examination: fresh copies of it are run under a recorder."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from capsnet_check.calls import on_the_cpu
from capsnet_check.trace import StopTracing, Trace
from capsnet_tutorial.layers import RoutedCapsules


@dataclass(frozen=True)
class Target:
    """A network or a layer, and how to call it."""

    thing: Any
    call: Callable[[Any], Any]
    """Calls a copy of the thing."""
    given: Tensor
    """The images, or u."""
    ends: float = math.inf
    """As in `Trace`."""

    def fresh(self) -> Any:
        """Return a copy on the CPU, in eval mode; the thing itself where it cannot be copied."""
        if not isinstance(self.thing, nn.Module):
            return self.thing
        try:
            fresh = copy.deepcopy(self.thing).cpu().eval()
        except Exception:  # an attribute that cannot be copied: a tensor with a graph
            return self.thing.eval()
        for module in fresh.modules():
            if isinstance(module, RoutedCapsules) and module.routes_as_paper:
                # It computes without û, and û has to be found.
                module.routing = partial(module.routing)
        return fresh

    def with_zeros_in(self, names: Sequence[str]) -> Target:
        """Return the target with zeros in the parameters of these names.

        What cannot be copied stays as it is: it belongs to somebody.
        """
        thing = self.fresh()
        if thing is self.thing:
            return self
        for name in names:
            thing.get_parameter(name).data.zero_()
        return replace(self, thing=thing)

    def run(self, trace: Trace | None = None, *, grad: bool = False, thing: Any = None) -> Any:
        """Return the output of a fresh copy, or of this thing; None where the trace stops it."""
        thing = self.fresh() if thing is None else thing
        trace = Trace(keep=()) if trace is None else trace
        trace.ends = self.ends
        torch.default_generator.manual_seed(0)
        with on_the_cpu(), _eager(), torch.set_grad_enabled(grad), trace:
            try:
                return self.call(thing)
            except StopTracing:
                return None

    def first_call(self, trace: Trace) -> tuple[Target, Any]:
        """Return the target with the parameters that a network makes when it is called; the output.

        A call that makes parameters has other operations than a later one: they would be counted
        differently, and what is replaced by its index would be another operation.
        """
        fresh = self.fresh()
        names = _parameter_names(fresh)
        out = self.run(trace, thing=fresh)
        has_made_some = _parameter_names(fresh) != names
        return (replace(self, thing=fresh) if has_made_some else self), out


def _parameter_names(thing: Any) -> set[str]:
    """Return the names of the parameters that have a shape."""
    if not isinstance(thing, nn.Module):
        return set()
    return {name for name, tensor in thing.named_parameters() if not is_lazy(tensor)}


def _eager() -> AbstractContextManager[Any]:
    """Return a context in which compiled code runs as it was written."""
    compiled = "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance")
    return torch.compiler.set_stance("force_eager") if compiled else nullcontext()
