"""The built wheel works in an environment of its own, without a file of the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
USE = """
import capsnet_tutorial, sys
from capsnet_tutorial import digits, load_pretrained
images, labels, source = digits("test", source="sample")
right = (load_pretrained("small").predict(images) == labels).float().mean().item()
print(capsnet_tutorial.__file__, source, right > 0.98, sep="\\n")
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Return what a command prints; it sees no PYTHONPATH, and so no checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of a fresh environment that holds the wheel.

    Dependencies come from the environment that runs this test: a .pth file names its folder. Python
    does not follow the .pth files there, such as that of the checkout's editable install.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    subprocess.run(build, cwd=folder, check=True)
    (wheel,) = folder.glob("*.whl")

    environment = str(folder / "env")
    venv.create(environment, with_pip=False)
    place = {"base": environment, "platbase": environment}
    packages = Path(sysconfig.get_path("purelib", "venv", place))
    programs = Path(sysconfig.get_path("scripts", "venv", place))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = ("install", "--no-deps", "--no-index", wheel)
    run(*pip, "--python", programs / "python", *install, cwd=folder)
    return programs


def test_it_is_small_and_brings_digits_weights_and_the_commands(
    programs: Path, tmp_path: Path
) -> None:
    (wheel,) = programs.parents[1].glob("*.whl")
    assert wheel.stat().st_size <= 2_000_000
    packages = ("capsnet_tutorial", "capsnet_check")
    assert all(name.startswith(packages) for name in zipfile.ZipFile(wheel).namelist())
    where, source, reads = run(programs / "python", "-c", USE, cwd=tmp_path).split("\n")[:3]
    assert programs.parent in Path(where).parents
    assert (source, reads) == ("sample", "True")
    for command in ("capsnet", "capsnet-check"):
        assert f"usage: {command} [" in run(programs / command, "--help", cwd=tmp_path)


def test_the_source_distribution_is_small_and_holds_both_packages(tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, cwd=ROOT)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        folders = {Path(name).parts[1] for name in archive.getnames()}
    assert sdist.stat().st_size <= 2_500_000
    assert {"capsnet_tutorial", "capsnet_check", "pyproject.toml", "LICENSE"} <= folders
    assert not {"book", "results", "tests"} & folders


def test_the_version_is_the_one_to_cite_and_the_changelogs_newest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [project["version"]]
    assert re.findall(r"^## (\S+)$", changelog, re.MULTILINE)[0] == project["version"]
