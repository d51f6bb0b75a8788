"""The lines to choose from: the numbers of each, as the page shows it, are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.breaks import BREAKS, SEVEN
from capsnet_book.experiments.records import stored
from capsnet_book.widgets import Choose, _parts
from capsnet_book.widgets.choose import CURVES

from capsnet_tutorial import digits
from capsnet_tutorial.functional import route, squash

SQUASH_LINES = 4
LINES = "return Object.fromEntries(Object.entries(m.QUESTIONS).map(([name, question]) =>"
LINES += " [name, question.options.map(({ code, right }) => [code, Boolean(right)])]));"


@pytest.fixture
def lines(evaluate: Any) -> dict[str, list[tuple[str, bool]]]:
    """The lines that each question offers, and whether it is the right one."""
    return evaluate(LINES, m="choose.js")


def run(line: str, **names: Any) -> dict[str, Any]:
    """Return the names that a line of the page leaves, run by Python."""
    scope = {"torch": torch, "F": F} | names
    exec(line, scope)  # the line is the book's own: it is what is tested
    return scope


def noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_each_question_has_one_right_line_and_two_or_three_wrong_ones(lines):
    assert all(3 <= len(options) <= 4 for options in lines.values())
    assert all(sum(right for _, right in options) == 1 for options in lines.values())


def test_capsules(evaluate, lines):
    features = noise(1, 64, 3, 3)
    body = "return data.options.map((n) => m.cut(n, Float32Array.from(data.features)));"
    data = {"features": features.flatten(), "options": range(3)}
    data["options"] = list(data["options"])
    actual = evaluate(body, data, m="choose/capsules.js")
    split = features.view(1, 8, 8, 3, 3)
    for (line, _), numbers in zip(lines["capsules"], actual, strict=True):
        u = run(line, features=features, split=split, B=1)["u"]
        assert u.shape == (1, 72, 8)
        assert numbers == pytest.approx(u.flatten().tolist(), rel=1e-6)


@pytest.mark.parametrize("option", range(SQUASH_LINES))
def test_squash_and_its_gradient_where_they_are_nan_too(evaluate, lines, option):
    vectors = torch.stack([torch.zeros(8), noise(8), 1e-3 * noise(8), 5 * noise(8)])
    vectors.requires_grad_()
    squared = (vectors * vectors).sum(dim=-1, keepdim=True)
    line, _ = lines["squash"][option]
    v = run(line, s=vectors, squared=squared)["v"]
    v.sum().backward()
    body = """
        const both = (s) => [m.squashBy(data.option, s), m.gradientBy(data.option, s)];
        const words = (numbers) => Array.from(numbers, String);
        return data.s.map((s) => both(s).map(words));"""
    data = {"s": vectors.detach(), "option": option}
    actual = np.array(evaluate(body, data, m="choose/squash.js"), dtype=float)
    expected = np.stack([v.detach().numpy(), vectors.grad.numpy()], axis=1)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


def test_letters_of_einsum(evaluate, lines):
    u = noise(1, 5, 4)
    weight = noise(5, 3, 4, 6)
    body = """
        const weight = { shape: [5, 3, 4, 6], data: Float32Array.from(data.weight) };
        return [0, 1, 2, 3].map((option) => m.einsum(option, data.u, weight));"""
    data = {"u": u.flatten(), "weight": weight.flatten()}
    actual = evaluate(body, data, m="choose/predictions.js")
    for (line, _), tensor in zip(lines["predictions"], actual, strict=True):
        u_hat = run(line, u=u, weight=weight)["u_hat"][0]
        assert tensor["shape"] == list(u_hat.shape)
        assert tensor["data"] == pytest.approx(u_hat.flatten().tolist(), abs=1e-4)


def routed(u_hat: torch.Tensor, sharing: str, agreeing: str) -> torch.Tensor:
    """Return v [B, J, D_out] of procedure 1 with these two lines in it."""
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(3):
        c = run(sharing, b=b)["c"]
        v = squash(torch.einsum("bij,bije->bje", c, u_hat))
        b = b + run(agreeing, u_hat=u_hat, v=v)["a"]
    return v


def test_routing_with_each_line(evaluate, lines):
    u_hat = 0.5 * noise(1, 6, 3, 4)
    body = """
        const sizes = { I: 6, J: 3, D_out: 4 };
        const u_hat = Float32Array.from(data);
        const words = (routed) => routed && Array.from(routed.v, String);
        return {
          sharing: m.SHARES.map((share) => words(m.routeBy(sizes, u_hat, { share }))),
          agreement: m.AGREEMENTS.map((agree) => words(m.routeBy(sizes, u_hat, { agree }))),
        };"""
    actual = evaluate(body, u_hat.flatten(), m="choose/routing.js")
    right_share = next(line for line, right in lines["sharing"] if right)
    right_agreement = next(line for line, right in lines["agreement"] if right)
    pairs = {
        "sharing": [(line, right_agreement) for line, _ in lines["sharing"]],
        "agreement": [(right_share, line) for line, _ in lines["agreement"]],
    }
    for question, chosen in pairs.items():
        for (share, agree), numbers in zip(chosen, actual[question], strict=True):
            if numbers is None:  # the page says that PyTorch raises an error
                with pytest.raises(RuntimeError):
                    routed(u_hat, share, agree)
                continue
            expected = routed(u_hat, share, agree).flatten().numpy()
            np.testing.assert_allclose(np.array(numbers, dtype=float), expected, atol=1e-5)


def test_margin_loss_and_its_gradient(evaluate, lines):
    values = noise(10).sigmoid()
    T = F.one_hot(torch.tensor(3), 10)
    body = "return [0, 1, 2, 3].map((option) => m.marginBy(option, data, 3));"
    actual = evaluate(body, values, m="choose/margin.js")
    for (line, _), numbers in zip(lines["margin"], actual, strict=True):
        lengths = values.clone().requires_grad_()
        missing = (0.9 - lengths).clamp_min(0)
        excess = (lengths - 0.1).clamp_min(0)
        loss = run(line, T=T, missing=missing, excess=excess)["L"].sum()
        loss.backward()
        assert numbers["loss"] == pytest.approx(loss.item(), rel=1e-5)
        assert numbers["gradient"] == pytest.approx(lengths.grad.tolist(), abs=1e-5)


def test_what_the_mask_keeps(evaluate, lines):
    lengths = noise(1, 10).sigmoid()
    body = "return [0, 1, 2, 3].map((option) => m.keptBy(option, data, 4));"
    actual = evaluate(body, lengths[0], m="choose/mask.js")
    for (line, _), numbers in zip(lines["mask"], actual, strict=True):
        keep = run(line, lengths=lengths, labels=torch.tensor([4]))["keep"]
        assert numbers == pytest.approx(keep[0].tolist(), rel=1e-5)


def test_steps_of_the_decoders_last_layer(evaluate, lines):
    """Three digits take turns; the page shows the last one's error."""
    inputs = noise(3, 20).relu()
    images = noise(3, 784).sigmoid()
    body = """
        const lessons = data.inputs.map((inputs, n) => ({
          inputs: Float32Array.from(inputs),
          image: Float32Array.from(data.images[n]),
        }));
        return [0, 1, 2, 3].map((option) => m.trained(option, lessons, 30));"""
    actual = evaluate(body, {"inputs": inputs, "images": images}, m="choose/step.js")
    for (line, _), report in zip(lines["step"], actual, strict=True):
        layer = torch.nn.Linear(20, 784)
        for parameter in layer.parameters():
            torch.nn.init.zeros_(parameter)
        optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
        losses = []
        for step in range(30):
            errors = (layer(inputs).sigmoid() - images).square().sum(dim=1)
            losses.append(errors[-1].item())
            run(line, loss=errors[step % 3], optimizer=optimizer)
        assert report["losses"][:-1] == pytest.approx(losses, rel=1e-3)


def test_images_routed_together(evaluate):
    """The two rounds of the hunt whose lines mix images, or calls."""
    votes = noise(2, 6, 3, 4)
    body = """
        const sizes = { I: 6, J: 3, D_out: 4 };
        const votes = data.map((u_hat) => Float32Array.from(u_hat));
        const first = m.routeTogether(sizes, votes);
        return {
          apart: first.v,
          mean: m.routeTogether(sizes, votes, { isMean: true }).v,
          again: m.routeTogether(sizes, votes, { b: first.b }).v,
        };"""
    actual = evaluate(body, votes.flatten(1), m="choose/bugs.js")

    def in_torch(b: torch.Tensor, is_mean: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        for _ in range(3):
            v = squash(torch.einsum("bij,bije->bje", b.softmax(dim=2), votes))
            agreement = torch.einsum("bije,bje->bij", votes, v)
            b = b + (agreement.mean(dim=0) if is_mean else agreement)
        return v, b

    fresh = torch.zeros(2, 6, 3)
    apart, b = in_torch(fresh)
    assert torch.allclose(apart, route(votes, 3), atol=1e-5)
    expected = {"apart": apart, "mean": in_torch(fresh, True)[0], "again": in_torch(b)[0]}
    for name, v in expected.items():
        np.testing.assert_allclose(actual[name], v.flatten(1).numpy(), atol=1e-4)


def test_each_bug_has_ten_lines_and_a_name_of_the_catalogue(evaluate):
    from capsnet_check import BUGS

    rounds = evaluate("return m.ROUNDS;", m="choose/bugs.js")
    assert {bug["bug"] for bug in rounds} <= set(BUGS)
    for bug in rounds:
        lines = bug["code"].split("\n")
        assert len(lines) == 10
        assert lines[bug["wrong"]] != bug["mended"]
        compile(f"if True:\n{indented(lines)}", bug["bug"], "exec")
        mended = [*lines[: bug["wrong"]], bug["mended"], *lines[bug["wrong"] + 1 :]]
        compile(f"if True:\n{indented(mended)}", bug["bug"], "exec")


def indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


# --- losses to choose from


def test_the_losses_are_those_of_the_record(evaluate):
    runs = Choose("curves").runs
    rows = {row["slip"]: row for row in stored("breaks")["breaks"]}
    shown = {slip.slip for slip in BREAKS if slip.is_shown}
    assert set(CURVES.values()) == shown
    for name, slip in CURVES.items():
        last_fifty_steps = np.mean(runs[name]["curve"][-10:])
        assert last_fifty_steps == pytest.approx(rows[slip]["loss"], rel=0.01)
        assert len(runs[name]["lengths"]) == 10
    assert sorted(evaluate("return m.ORDER;", m="choose/curves.js")) == sorted(
        runs.keys() - {"sound"}
    )


def test_the_digit_beside_the_losses_is_the_one_that_was_read():
    sample = digits("test", source="sample")
    read = _parts.pixels(sample.images[[SEVEN]])[0]
    shown, labels = _parts.default_digits()
    assert labels[7] == sample.labels[SEVEN] == 7
    assert np.array_equal(shown[7], read)
