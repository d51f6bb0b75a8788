"""A process of its own for code that nobody has read: limited, and ended with all that it started.

The process is this file, run as a module. It writes its verdicts to a pipe that the code under
examination is not given, each with a word that it read before that code was run. That keeps an
accident, or a line that prints, from being taken for a verdict; it does not stop code that wants to
cheat, since both run in one process.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any, NamedTuple

from capsnet_check.files import judgements

_LARGEST_FILE = 2**30
"""Bytes that the code may write into one file: a loop that prints without end is ended."""
_PRINTED = 10_000
"""Characters of what the code printed that are kept."""
_ENVIRONMENT = {"PYTHONIOENCODING": "utf-8", "CUDA_VISIBLE_DEVICES": ""}
_DONE = "done"


class Outcome(NamedTuple):
    """What a process found."""

    judgements: list[dict[str, Any]]
    """As far as it came: `files.Judgement.as_dict`."""
    problem: str
    """Why there are no more; empty if it came to its end."""
    printed: str
    """What the code printed."""


def check_in_a_process(options: dict[str, Any]) -> Outcome:
    """Check in another process: without a terminal, without our arguments, without a GPU.

    Args:
        options: of `files.judgements`, and memory_limit in GB.
    """
    word = secrets.token_hex()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            # -P: a json.py in the current folder is not the one that Python means.
            [sys.executable, "-P", "-m", "capsnet_check.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            start_new_session=True,
            env=os.environ | _ENVIRONMENT,
        )
        lines: list[str] = []
        reader = threading.Thread(target=_read, args=(process.stdout, word, lines), daemon=True)
        reader.start()
        try:
            _send(process, {**options, "word": word})
            problem = _reason(process.wait(options["time_limit"]))
        except subprocess.TimeoutExpired:
            problem = (
                f"it did not return within {options['time_limit']:g} s. "
                "Does a loop never end? (--time-limit)"
            )
        finally:
            _end(process)
        reader.join()
        printed.seek(0)
        text = printed.read(4 * _PRINTED).decode("utf-8", errors="replace")[:_PRINTED]
    is_done = lines[-1:] == [_DONE]
    verdicts = [json.loads(line) for line in lines if line != _DONE]
    return Outcome(verdicts, "" if is_done else problem, text)


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as pipe:  # it may have ended already
        pipe.write(json.dumps(message).encode())


def _read(pipe: IO[bytes], word: str, lines: list[str]) -> None:
    """Append the lines that begin with the word, without it."""
    for line in pipe:
        text = line.decode("utf-8", errors="replace").rstrip("\n")
        if text.startswith(word):
            lines.append(text.removeprefix(word))


def _reason(status: int) -> str:
    """Return why a process gave no last verdict, by its exit status."""
    if status >= 0:
        return f"it ended itself before the check was done, with status {status}"
    if status == -getattr(signal, "SIGKILL", 9):
        return "it was killed. Was there too little memory? (--memory-limit)"
    if status == -signal.SIGSEGV:
        return "it crashed: a segmentation fault (signal 11)"
    return f"it was ended by signal {-status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


# --- inside the process


def main() -> None:
    """Check as standard input says, and write verdicts to what was standard output."""
    options = json.loads(sys.stdin.buffer.read())
    word = options.pop("word")
    verdicts = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the code prints is no verdict
    _limit("RLIMIT_DATA", int(options["memory_limit"] * 2**30))
    _limit("RLIMIT_FSIZE", _LARGEST_FILE)
    sys.argv = [options["place"].partition(":")[0]]
    own = os.getpid()

    def write(text: str) -> None:
        if os.getpid() != own:  # a copy that the code has forked
            os._exit(0)
        verdicts.write(f"{word}{text}\n")
        verdicts.flush()

    for judgement in judgements(**options):
        write(json.dumps(judgement.as_dict()))
    write(_DONE)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(0)  # threads that the code has started do not keep it


def _limit(name: str, value: int) -> None:
    """Set a limit of this process, as far as the system allows. Windows knows none."""
    try:
        import resource
    except ImportError:
        return
    limit = getattr(resource, name)
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    with contextlib.suppress(ValueError, OSError):  # not on every system, macOS for one
        resource.setrlimit(limit, (value, value))


if __name__ == "__main__":
    main()
