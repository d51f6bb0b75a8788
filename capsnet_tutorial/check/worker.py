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
from pathlib import Path
from typing import Any


def in_a_process(options: dict[str, Any]) -> tuple[list[tuple[str, int, str]], str, str]:
    """Check in another process, with these options of the command.

    Returns:
        The judgements, as far as it came; why there are no more, empty if it came to its end; what the code printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        found, printed = Path(folder, "found.jsonl"), Path(folder, "printed.txt")
        found.touch()
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, json.dumps(options), str(found)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=os.environ | {"PYTHONIOENCODING": "utf-8", "CUDA_VISIBLE_DEVICES": ""},
            )
        try:
            status = process.wait(options["time_limit"])
            problem = f"it ended itself before the check was done, with status {status}"
            if status < 0:  # a signal: most often for want of memory
                problem = f"it was ended by signal {-status}. Was there too little memory? (--memory-limit)"
        except subprocess.TimeoutExpired:
            problem = f"it did not return within {options['time_limit']:g} s. Does a loop never end? (--time-limit)"
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
            process.wait()
        lines = found.read_text(encoding="utf-8").splitlines()
        said = printed.read_text(encoding="utf-8", errors="replace")
    done = lines[-1:] == ["done"]
    return [tuple(json.loads(line)) for line in lines if line.endswith("]")], "" if done else problem, said


def main() -> None:
    """The check itself: what the other process runs."""
    options, found = json.loads(sys.argv[1]), Path(sys.argv[2])
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows knows no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(options["memory_limit"] * 2**30),) * 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000,) * 2)  # so much may be printed
    from capsnet_tutorial.check.command import judgements

    sys.argv = [options["place"].partition(":")[0]]
    with found.open("w", encoding="utf-8", buffering=1) as file:
        for judgement in judgements(**options):
            print(json.dumps(judgement), file=file)
        print("done", file=file)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)  # threads that it started do not keep it


if __name__ == "__main__":
    main()
