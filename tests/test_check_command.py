"""`capsnet-check`: what it takes, what it answers, and that code that nobody has read can do little harm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from capsnet_check import command

pytestmark = pytest.mark.slow

MINE = Path(__file__).parent.parent / "book" / "my_capsnet.py"

SQUASH = """
def squash(s):
    n2 = (s * s).sum({axis}, keepdim=True)
    return n2 / (1 + n2) * s / (n2 + 1e-12).sqrt()
"""
LAYER = """
import torch
from torch import nn

class DigitCaps(nn.Module):
    def __init__(self, below, depth, axis=2):
        super().__init__()
        self.axis, self.rounds = axis, 3
        self.W = nn.Parameter(0.1 * torch.randn(below, 10, depth, 16))

    def forward(self, u):
        u_hat = torch.einsum("bid,ijde->bije", u, self.W)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            v = squash((b.softmax(self.axis).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v
"""


def squash(axis=-1):
    return SQUASH.format(axis=axis)


@pytest.fixture
def write(tmp_path):
    def written(name, *sources):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(sources), encoding="utf-8")
        return path

    return written


def checked(place, **options):
    """Name and status of each thing, in this process; and what is said."""
    judged = list(command.judgements(str(place), **options))
    return {name: status for name, status, _ in judged}, " ".join(text for *_, text in judged)


def run(*arguments):
    return command.main([*map(str, arguments)])


# --- what it takes


def test_a_class_with_its_arguments(write):
    layer = write("caps.py", squash(), LAYER)
    assert checked(f"{layer}:DigitCaps(60, 8)")[0] == {"DigitCaps(60, 8)": 0}
    named, said = checked(f"{layer}:DigitCaps(60, 8, axis=1)")
    assert list(named.values()) == [1]
    assert "softmax-axis" in said and re.search(r"caps.py, line \d+: v = squash\(\(b.softmax", said)
    assert "with arguments: " in checked(f"{layer}:DigitCaps")[1]
    assert checked(f"{layer}:DigitCaps(60, 8)", kind="network")[0] == {"DigitCaps(60, 8)": 2}


def test_a_whole_file_says_what_it_could_not_have(write):
    path = write(
        "all.py",
        squash(),
        LAYER,
        "class Decoder(nn.Module):\n    pass",
        "def show_masks(x):\n    pass",
    )
    named, said = checked(path)
    assert named == {"squash": 0, "DigitCaps": 2}
    assert "'below' and 'depth'" in said
    made = write(
        "made.py",
        squash(),
        LAYER,
        "def build():\n    return nn.Sequential(DigitCaps(60, 8, axis=1))",
    )
    assert checked(made)[0] == {"squash": 0, "DigitCaps": 1}
    named, said = checked(write("none.py", "def helper(x):\n    return x"))
    assert [*named.values()] == [2] and "got helper" in said


def test_the_readers_network_is_right():
    assert checked(MINE)[0] == {"squash": 0, "CapsNet": 0}  # its layers are judged in it


@pytest.mark.parametrize(("channels", "side", "classes"), [(3, 32, 10), (2, 32, 5), (1, 40, 10)])
def test_a_network_for_other_images_is_given_such(channels, side, classes, write):
    text = (
        MINE.read_text(encoding="utf-8")
        .replace("10", f"{classes}")
        .replace("28 * 28", f"{channels} * {side}**2")
    )
    text = text.replace("nn.Conv2d(1,", f"nn.Conv2d({channels},")
    capsules = 8 * (((side - 9) // 2 + 1 - 5) // 2 + 1) ** 2
    named, said = checked(write("own.py", text.replace("5, 72,", f"5, {capsules},")))
    assert named == {"squash": 0, "CapsNet": 0} and f"{classes} above" in said, said
    named, said = checked(write("none.py", text.replace("5, 72,", "5, 71,")))
    assert (
        named["CapsNet"] == 2
        and "u_hat = torch.einsum" in said
        and "(28, 32, 36, 40, 48, 64, 96, 24)" in said
    )


@pytest.mark.parametrize(
    "line",
    [
        "import not_there",
        "for k in range(10**12): pass",
        "parser.parse_args()",
        "train(model)",
        "1 / 0",
        "exit()",
    ],
)
def test_only_imports_definitions_and_assignments_are_run(write, line):
    assert checked(write("all.py", line, squash(1)))[0] == {"squash": 1}


def test_arguments_of_the_file_are_its_own(write, monkeypatch):
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--axis', default=-1)\nopt = p.parse_args()"
    monkeypatch.setattr("sys.argv", ["file.py"])
    assert checked(write("opt.py", source, squash("opt.axis")))[0] == {"squash": 0}


def test_colours_are_known_by_the_first_convolution(write):
    source = (
        (Path(__file__).parent / "checked_styles.py")
        .read_text(encoding="utf-8")
        .replace("Conv2d(1,", "Conv2d(3,")
    )
    assert checked(f"{write('net.py', source)}:Net(loop)")[0] == {"Net(loop)": 0}


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("absent.py", "no file"),
        (f"{__file__}:absent", "something named absent"),
        ("a:b", "no file"),
    ],
)
def test_what_cannot_be_had_is_said(place, why):
    named, said = checked(place)
    assert named == {place: 2} and why in said


@pytest.mark.parametrize("coding", ["gbk", "utf-8-sig"])
def test_a_file_is_read_in_the_coding_that_python_reads_it_in(tmp_path, coding):
    path = tmp_path / "coded.py"
    path.write_text(f"# -*- coding: {coding} -*-\nname = '挤压'\n{squash()}", encoding=coding)
    assert checked(path)[0] == {"squash": 0}


# --- what it answers


def test_the_worst_counts(write, capfd):
    path = write(
        "all.py", "noise = print('more')", squash(1), "def mask(v, labels):\n    return 1 / 0"
    )
    assert run(path) == 1
    out = capfd.readouterr()
    assert "squash-axis" in out.out and "mask: ✗" in out.out and "more" in out.err
    assert run(f"{path}:mask") == 2
    assert run(f"{path}:absent") == 2


# --- what it allows


@pytest.mark.parametrize(
    ("body", "seconds", "said"),
    [
        ("import os; os._exit(0)", 60, "ended itself before the check was done"),
        ("while True: pass", 6, "did not return within"),
        ("while True: print('x' * 1000)", 12, "did not return within|File too large"),
        ("import os; os.kill(os.getpid(), 11)", 60, "signal 11"),
        ("return input()", 60, "EOFError"),
    ],
)
def test_without_a_verdict_nothing_is_right(write, capfd, body, seconds, said):
    assert run(write("bad.py", f"def squash(s):\n    {body}"), "--time-limit", seconds) == 2
    out = capfd.readouterr()
    assert re.search(said, out.out + out.err)


def test_the_readers_own_files_stay_whole(write, tmp_path):
    large = tmp_path / "large"
    assert (
        run(
            write(
                "writes.py", f"size = open({str(large)!r}, 'wb').write(bytes(3_000_000))", squash()
            )
        )
        == 0
    )
    assert large.stat().st_size == 3_000_000


def test_what_it_starts_is_ended_with_it(write, tmp_path, capfd):
    pid = tmp_path / "pid"
    starts = f"import subprocess\nopen({str(pid)!r}, 'w').write(str(subprocess.Popen(['sleep', '600']).pid))"
    source = starts.replace("\nopen", "\nwritten = open")
    assert run(write("starts.py", source, squash())) == 0
    number = int(pid.read_text())
    for _ in range(50):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        if "Z" in Path(f"/proc/{number}/stat").read_text().split()[2]:
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


def test_the_module_loads_no_checker():
    script = "import sys, capsnet_tutorial.cli; print(*(m for m in sys.modules if 'check' in m))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not [name for name in loaded.stdout.split() if name.startswith("capsnet")]
