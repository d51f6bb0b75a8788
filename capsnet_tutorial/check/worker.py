"""Code that nobody has read, checked in a process of its own, with limits.

The process has its own group, which is ended with all that it started; no terminal, no arguments of ours, no GPU, and
limits on time, memory and what it prints. What it finds it writes into a file, piece by piece: a process that ends
before it has said so has given no verdict, whatever its exit status.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_PRINTED = 1_000_000


class Verdict(NamedTuple):
    """What a process found."""

    records: list[dict[str, Any]]
    """One for each thing that was judged, as far as it came."""
    problem: str
    """Why there is no more; empty where it came to its end."""
    printed: str
    """What the code itself printed, its beginning."""


def in_a_process(options: Mapping[str, Any], seconds: float, gigabytes: float) -> Verdict:
    """Check in another process, with these options of the command."""
    with tempfile.TemporaryDirectory() as folder:
        asked, found = Path(folder) / "asked.json", Path(folder) / "found.jsonl"
        asked.write_text(json.dumps({**options, "gigabytes": gigabytes}), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(asked), str(found)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PYTHONIOENCODING": "utf-8", "CUDA_VISIBLE_DEVICES": ""},
        )
        printed, problem = bytearray(), ""
        reader = threading.Thread(target=_read, args=(process, printed), daemon=True)
        reader.start()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            problem = f"it did not return within {seconds:g} s. Is there a loop that never ends? "
            problem += "(--time-limit gives it longer.)"
        finally:
            _end(process)
        reader.join(5)
        lines = found.read_text(encoding="utf-8").splitlines() if found.exists() else []
    records = [json.loads(line) for line in lines if line.endswith("}")]
    done = bool(records) and records[-1].get("done")
    if len(printed) >= _PRINTED:
        problem = f"it printed more than {_PRINTED:,} characters and was ended"
    elif not done and not problem:
        status = process.returncode
        problem = f"it ended itself before the check was done, with status {status}"
        if status < 0:  # a signal: most often for want of memory
            problem = f"it was ended by signal {-status}. Was there too little memory? (--memory-limit gives it more.)"
    return Verdict([each for each in records if "done" not in each], problem, printed.decode("utf-8", "replace"))


def _read(process: subprocess.Popen[bytes], printed: bytearray) -> None:
    """Keep what it prints, up to a limit, and end it there."""
    assert process.stdout is not None
    while len(printed) < _PRINTED and (part := process.stdout.read1(65536)):  # type: ignore[attr-defined]
        printed += part
    if len(printed) >= _PRINTED:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def main() -> None:
    """The check itself: what the other process runs."""
    asked, found = map(Path, sys.argv[1:])
    options = json.loads(asked.read_text(encoding="utf-8"))
    _limit_memory(options["gigabytes"])
    from capsnet_tutorial.check.command import judgements

    sys.argv = [options["place"].partition(":")[0]]
    with found.open("w", encoding="utf-8", buffering=1) as file:
        for record in judgements(options):
            print(json.dumps(record), file=file)
        print(json.dumps({"done": True}), file=file)
    sys.stdout.flush()
    os._exit(0)  # threads that it started do not keep it


def _limit_memory(gigabytes: float) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limits
        import resource

        number = int(gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (number, number))


if __name__ == "__main__":
    main()
