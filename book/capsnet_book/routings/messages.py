"""Routing by agreement as messages on a graph, with PyTorch Geometric.

The graph is bipartite: a node for every capsule below, a node for every capsule above, and an edge
wherever one may vote for the other. An edge carries the prediction vector û and the logit b. A
round of routing is three steps:

1. softmax of b over the edges that leave a node below: the couplings c,
2. every edge sends the message c·û, a node above sums its messages and squashes the sum: its v,
3. every edge adds the agreement <û, v> to its b.

On the graph of all pairs this is `functional.route`, number for number. A graph may also have fewer
edges. The price is memory: a message is as large as a prediction vector, and all messages exist at
once.

This file alone needs PyTorch Geometric: ``pip install torch_geometric``.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import torch
from torch import Tensor

from capsnet_tutorial.errors import (
    expect,
    expect_count,
    expect_floating,
    expect_shape,
    expect_tensor,
)
from capsnet_tutorial.functional import RoutingTrace, at_least_float32, squash

try:
    from torch_geometric.nn import MessagePassing
    from torch_geometric.utils import softmax
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] != "torch_geometric":
        raise
    raise ImportError(
        "capsnet_book.routings.messages needs PyTorch Geometric: pip install torch_geometric"
    ) from missing


class CapsuleRouting(MessagePassing):
    """Routing by agreement on any bipartite graph of capsules. Procedure 1, an edge at a time.

    PyTorch Geometric calls the target of an edge ``_i`` and its source ``_j``; the paper has them
    the other way round. Only ``v_i`` below follows that custom: the v of the capsule above at which
    an edge ends.

    Args:
        iterations: rounds, at least 1.
    """

    def __init__(self, iterations: int = 3) -> None:
        super().__init__(aggr="sum", flow="source_to_target", node_dim=0)
        expect_count("iterations", iterations)
        self.iterations = iterations

    def forward(
        self, edge_index: Tensor, u_hat: Tensor, below: int, above: int
    ) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Compute all rounds.

        Args:
            edge_index: [2, E], int64: where each edge starts (0 to below - 1) and ends (0 to
                above - 1).
            u_hat: [E, D_out], the prediction vector of each edge.
            below: capsules below.
            above: capsules above. One at which no edge ends has v = 0.

        Returns:
            A tuple (b [E], c [E], v [above, D_out]) for each round.
        """
        _check_graph(edge_index, u_hat, below, above)
        size = (below, above)
        rounds = []
        with torch.autocast(u_hat.device.type, enabled=False):
            votes = at_least_float32(u_hat)
            b = votes.new_zeros(len(votes))  # [E]
            for r in range(self.iterations):
                # over the edges that leave a node below
                c = softmax(b, index=edge_index[0], num_nodes=below)
                v = self.propagate(edge_index, size=size, c=c, u_hat=votes)  # [above, D_out]
                rounds.append((b, c, v))
                if r < self.iterations - 1:  # an update after the last round would not be used
                    b = b + self.edge_updater(edge_index, size=size, u_hat=votes, v=(None, v))
        return rounds

    def message(self, c: Tensor, u_hat: Tensor) -> Tensor:
        """Return the message of every edge, [E, D_out]."""
        return c.unsqueeze(1) * u_hat

    def update(self, s: Tensor) -> Tensor:
        """Return v of the sums of messages, [above, D_out]."""
        return squash(s)

    def edge_update(self, u_hat: Tensor, v_i: Tensor) -> Tensor:
        """Return the agreement <û, v> along every edge, [E]."""
        return (u_hat * v_i).sum(dim=1)


def all_pairs(below: int, above: int) -> Tensor:
    """Return the edges of the complete bipartite graph, int64 [2, below·above].

    The edges of a capsule below are side by side.
    """
    expect_count("below", below)
    expect_count("above", above)
    i = torch.arange(below).repeat_interleave(above)
    j = torch.arange(above).repeat(below)
    return torch.stack([i, j])


@overload
def route_by_messages(
    u_hat: Tensor,
    iterations: int = 3,
    *,
    links: Tensor | None = None,
    return_trace: Literal[False] = False,
) -> Tensor: ...
@overload
def route_by_messages(
    u_hat: Tensor, iterations: int = 3, *, links: Tensor | None = None, return_trace: Literal[True]
) -> tuple[Tensor, RoutingTrace]: ...


def route_by_messages(
    u_hat: Tensor, iterations: int = 3, *, links: Tensor | None = None, return_trace: bool = False
) -> Tensor | tuple[Tensor, RoutingTrace]:
    """Compute `functional.route` as messages on a graph, or on the edges of ``links`` only.

    A batch is one graph whose parts do not touch: B·I nodes below, B·J above, and the edges of each
    image.

    Args:
        u_hat: [B, I, J, D_out], prediction vectors.
        iterations: rounds, at least 1.
        links: bool [I, J], which capsule below may vote for which above; None: every one for all.
        return_trace: also return b, c and v of each round, with zeros where there is no edge.

    Returns:
        v: [B, J, D_out]; or ``(v, RoutingTrace(b, c, v))``.
    """
    expect_floating("u_hat", u_hat)
    expect_shape("u_hat", u_hat, "[B, I, J, D_out]")
    B, I, J, D_out = u_hat.shape
    image, i, j = _edges(u_hat, links)  # three times [E]
    edge_index = torch.stack([image * I + i, image * J + j])
    rounds = CapsuleRouting(iterations)(edge_index, u_hat[image, i, j], B * I, B * J)
    v = rounds[-1][2].view(B, J, D_out).to(u_hat.dtype)
    if not return_trace:
        return v

    def to_pairs(on_edges: Tensor) -> Tensor:
        return on_edges.new_zeros(B, I, J).index_put((image, i, j), on_edges)

    trace = RoutingTrace(
        torch.stack([to_pairs(b) for b, _, _ in rounds]),
        torch.stack([to_pairs(c) for _, c, _ in rounds]),
        torch.stack([outputs.view(B, J, D_out) for _, _, outputs in rounds]),
    )
    return v, trace


def _edges(u_hat: Tensor, links: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return the image, the capsule below and the capsule above of every edge, [E] each."""
    B, I, J, _ = u_hat.shape
    if links is None:
        links = torch.ones(I, J, dtype=torch.bool)
    expect_tensor("links", links)
    expect(
        links.dtype == torch.bool and links.shape == (I, J),
        f"links as bool [I, J] = [{I}, {J}]",
        f"{links.dtype} of shape {list(links.shape)}",
    )
    image, i, j = links.to(u_hat.device).expand(B, I, J).nonzero().unbind(1)
    return image, i, j


def _check_graph(edge_index: Any, u_hat: Tensor, below: int, above: int) -> None:
    """Raise `InputError` unless the edges and their prediction vectors make a graph."""
    expect_floating("u_hat", u_hat)
    expect_shape("u_hat", u_hat, "[E, D_out]")
    for name, count in (("below", below), ("above", above)):
        expect(
            type(count) is int and count >= 0,
            f"{name} to be a whole number, at least 0",
            repr(count),
        )
    expect_tensor("edge_index", edge_index)
    expect(
        edge_index.dtype == torch.int64 and edge_index.shape == (2, len(u_hat)),
        f"edge_index as int64 [2, {len(u_hat)}], as many edges as u_hat has",
        f"{edge_index.dtype} of shape {list(edge_index.shape)}",
    )
    if edge_index.numel():
        first_i, first_j = edge_index.amin(1).tolist()
        last_i, last_j = edge_index.amax(1).tolist()
        is_inside = min(first_i, first_j) >= 0 and last_i < below and last_j < above
        actual = f"from {first_i} … {last_i} to {first_j} … {last_j}"
        expect(is_inside, f"edges from 0 … {below - 1} to 0 … {above - 1}", actual)
