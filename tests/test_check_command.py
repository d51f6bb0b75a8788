"""`capsnet-check`: its arguments, its answers, and that unread code can do little harm."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from capsnet_check import command, files
from capsnet_tutorial import cli

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
    judgements = list(files.judgements(str(place), **options))
    statuses = {judgement.name: judgement.status for judgement in judgements}
    return statuses, " ".join(judgement.text for judgement in judgements)


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
    source = (
        "import argparse\n"
        "p = argparse.ArgumentParser()\n"
        "p.add_argument('--axis', default=-1)\n"
        "opt = p.parse_args()"
    )
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


def test_every_verdict_is_printed(write, capfd):
    path = write(
        "all.py", "noise = print('more')", squash(1), "def mask(v, labels):\n    return 1 / 0"
    )
    assert run(path) == 1
    out = capfd.readouterr()
    assert (
        "squash-axis" in out.out
        and "mask: ? mask: cannot be judged" in out.out
        and "more" in out.err
    )
    assert run(f"{path}:mask") == 2
    assert run(f"{path}:absent") == 2


# --- what it prints


SQUASH_WITH_A_MESSAGE = "def squash(s):\n    raise RuntimeError('\\x1b]0;owned\\x07 \\x1b[2J')"


@pytest.mark.parametrize("coding", ["cp1252", "ascii"])
def test_a_right_function_is_right_whatever_the_output_can_encode(write, coding):
    """A pipe on Windows is in cp1252, which has no ✓: that is no reason to say "wrong"."""
    done = subprocess.run(
        [sys.executable, "-m", "capsnet_check.command", write("good.py", squash())],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": coding},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode(coding).startswith("? squash: right")


def test_a_failure_of_ours_is_not_wrong(monkeypatch, capfd):
    def fail(*_):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(command, "check_in_a_process", fail)
    assert run("any.py") == 2
    assert "a bug of ours" in capfd.readouterr().err


def test_control_characters_are_written_out(write, capfd):
    path = write("loud.py", "noise = print('\\x1b[31mred')", SQUASH_WITH_A_MESSAGE)
    assert run(path) == 2
    out = capfd.readouterr()
    assert "\x1b" not in out.out + out.err and "\x07" not in out.out
    assert r"\x1b]0;owned\x07" in out.out and r"\x1b[31mred" in out.err


def test_json_has_every_verdict(write, capfd):
    path = write("all.py", squash(1), "def mask(v, labels):\n    return 1 / 0")
    assert run(path, "--json") == 1
    answer = json.loads(capfd.readouterr().out)
    squash_verdict, mask_verdict = answer["verdicts"]
    assert (answer["status"], answer["problem"]) == (1, "")
    assert (squash_verdict["name"], squash_verdict["status"]) == ("squash", 1)
    assert squash_verdict["bugs"] == ["squash-axis"]
    assert squash_verdict["findings"][0]["bug"] == "squash-axis"
    assert (mask_verdict["status"], mask_verdict["findings"][0]["failed_call"]) == (2, True)
    assert run(f"{path}:absent", "--json") == 2
    assert "something named absent" in json.loads(capfd.readouterr().out)["verdicts"][0]["problem"]


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([], 2),
        ([0], 0),
        ([0, 3], 3),
        ([3, 2], 2),
        ([2, 1], 1),
        ([0, 3, 2, 1], 1),
    ],
)
def test_the_worst_status_counts(statuses, status):
    assert command.worst(statuses) == status
    assert command.worst(reversed(statuses)) == status


@pytest.mark.parametrize("option", ["--time-limit", "--memory-limit"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "many"])
def test_a_limit_is_a_number_above_0(option, value, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("any.py", f"{option}={value}")
    assert f"expected a number above 0; got {value}" in capsys.readouterr().err


# --- notebooks


def test_a_notebooks_code_cells_are_checked(write):
    cells = [
        {"cell_type": "markdown", "source": ["def squash(s): not code"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install torch\n", "x = 1"]},
        {"cell_type": "code", "source": ["%%bash\n", "echo hello"]},
        {"cell_type": "code", "source": ["files = !ls"]},
        {"cell_type": "code", "source": [*squash().splitlines(keepends=True)]},
        {"cell_type": "code", "source": LAYER.replace(", axis=2", ", axis=1")},
        {"cell_type": "code", "source": "layer = DigitCaps(60, 8)\ntrain(layer)"},
    ]
    path = write("mine.ipynb", json.dumps({"cells": cells}))
    statuses, said = checked(path)
    assert statuses == {"squash": 0, "DigitCaps": 1}
    assert re.search(r"mine.ipynb, cell 5, line \d+: v = squash", said), said
    assert checked(f"{path}:DigitCaps(60, 8, axis=2)")[0] == {"DigitCaps(60, 8, axis=2)": 0}
    assert (
        checked(write("no.ipynb", "[]"))[0] != {}
        and "is no notebook" in checked(write("no.ipynb", "[]"))[1]
    )


# --- what it allows

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and forks")


def signalled(number, sentence):
    """Return the case of a process that sends itself a signal."""
    return pytest.param(f"import os; os.kill(os.getpid(), {number})", 60, sentence, marks=POSIX)


@pytest.mark.parametrize(
    ("body", "seconds", "said"),
    [
        ("import os; os._exit(0)", 60, "ended itself before the check was done"),
        ("while True: pass", 6, "did not return within"),
        ("while True: print('x' * 1000)", 12, "did not return within|File too large"),
        signalled(11, "it crashed: a segmentation fault"),
        signalled(9, "killed. Was there too little memory"),
        signalled(15, "ended by signal 15$"),
        ("raise KeyboardInterrupt", 60, "not examined: it raises KeyboardInterrupt"),
        ("return input()", 60, "EOFError"),
    ],
)
def test_without_a_verdict_nothing_is_right(write, capfd, body, seconds, said):
    assert run(write("bad.py", f"def squash(s):\n    {body}"), "--time-limit", seconds) == 2
    out = capfd.readouterr()
    assert re.search(said, out.out + out.err, re.MULTILINE)
    assert "Traceback" not in out.out + out.err


FORGED = """
import glob, json, os, sys

def forge():
    verdict = json.dumps({"name": "forged", "status": 0, "text": "forged: right"})
    for line in (verdict, "done"):
        print(line)
        for place in [*sys.argv[1:], *glob.glob("/proc/self/fd/*")]:
            try:
                open(place, "a").write(line + "\\n")
            except OSError:
                pass
    os._exit(0)

done = forge()
"""


def test_a_verdict_is_not_taken_from_the_code(write, capfd):
    assert run(write("forged.py", FORGED)) == 2
    assert "forged: right" not in capfd.readouterr().out


def test_nothing_in_the_current_folder_is_run(write, monkeypatch, capfd):
    path = write("caps.py", squash())
    for name in ("json", "torch", "glob"):
        write(f"elsewhere/{name}.py", "print('it runs')")
        write(f"{name}.py", "print('it runs')")
    for folder in (path.parent, path.parent / "elsewhere"):
        monkeypatch.chdir(folder)
        assert run(path) == 0
        assert "it runs" not in capfd.readouterr().err


@POSIX
def test_a_fork_gives_no_verdict_of_its_own(write, capfd):
    body = "def squash(s):\n    os.fork()\n    return right(s)"
    path = write("forks.py", "import os", squash().replace("squash", "right"), body)
    assert run(f"{path}:squash") == 0
    assert capfd.readouterr().out.count("squash: right") == 1


@pytest.mark.parametrize("device", ["meta", "cuda"])
def test_a_default_device_of_the_code_is_its_own(write, device):
    sets = f"import torch\nnothing = torch.set_default_device({device!r})"
    statuses, said = checked(write("meta.py", sets, squash()))
    assert statuses == {"squash": 0}, said
    inside = squash().replace("n2 =", f"torch.set_default_device({device!r}); n2 =")
    statuses, said = checked(write("inside.py", "import torch", inside))
    assert statuses == {"squash": 0}, said


def test_a_bug_of_our_checkers_is_not_a_verdict(write, monkeypatch):
    """Only errors about input are told in one line: any other `ValueError` is raised."""

    def fail(function):
        raise ValueError("too many values to unpack")

    monkeypatch.setitem(files.CHECKERS, "squash", fail)
    with pytest.raises(ValueError, match="too many values"):
        checked(write("caps.py", squash()))


def test_an_import_that_failed_is_named(write):
    path = write("caps.py", "1 / 0", "import not_there", "class Caps(not_there.Layer):\n    pass")
    assert "its import of not_there failed: install not_there" in checked(f"{path}:Caps")[1]


def test_an_import_that_failed_may_be_why_something_cannot_be_judged(write):
    path = write(
        "caps.py", "from not_there import squared", "def squash(s):\n    return squared(s)"
    )
    named, said = checked(path)
    assert named == {"squash": 2} and "NameError" in said
    assert said.endswith(
        "its import of not_there failed: install not_there, or put it beside the file."
    )
    beside = write("right.py", "import not_there", squash())
    assert checked(beside)[1].count("not_there") == 0  # it is right without


def test_a_package_whose_import_fails_is_told_what_is_missing(write):
    write("package/__init__.py", "import not_there")
    path = write("package/caps.py", squash())
    assert "package cannot be imported" in checked(path)[1]
    assert "install not_there" in checked(path)[1]


@pytest.mark.parametrize("size", ["20x28", "72", "20x56"])
def test_images_of_another_size_are_asked_for(size):
    height, width = cli.image_size(size)
    name = f"Sized(1, {height}, {width}, 10)"
    place = f"{Path(__file__).parent / 'public_networks.py'}:{name}"
    assert checked(place, image_size=(height, width))[0] == {name: 0}
    named, said = checked(place)
    assert named == {name: 2} and "--image-size" in said


def test_a_size_is_one_number_or_two(capsys):
    with pytest.raises(SystemExit):
        run("caps.py", "--image-size", "28x28x3")
    assert "a size such as 32 or 24x48 is wanted" in capsys.readouterr().err


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


@POSIX
def test_what_it_starts_is_ended_with_it(write, tmp_path, capfd):
    pid = tmp_path / "pid"
    source = (
        "import subprocess\n"
        f"written = open({str(pid)!r}, 'w').write(str(subprocess.Popen(['sleep', '600']).pid))"
    )
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
    script = "import sys, capsnet_tutorial.cli; sys.exit('capsnet_check' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
