"""Code that nobody has read, in a process of its own with a time limit.

In a notebook a function runs in the notebook's process, which has a stop button; the command has this.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

OUT_OF_TIME = 2


def in_a_process(arguments: Sequence[str], seconds: float, module: str = "check") -> int:
    """Run ``capsnet check`` with these arguments in another process; or what another module has as its command.

    Returns:
        Its exit status; 2 if it took longer than so many seconds, and was ended.
    """
    command = [sys.executable, "-m", f"capsnet_tutorial.{module}.command", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=seconds, env=environment)
    except subprocess.TimeoutExpired:
        print(
            f"capsnet: it did not return within {seconds:g} s. Is there a loop that never ends? "
            "(--time-limit gives it longer.)",
            file=sys.stderr,
        )
        return OUT_OF_TIME
    print(done.stdout, end="")  # through this process's own stream: a notebook shows only that
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode < 0:  # a signal: on Linux, most often for want of memory
        print(f"capsnet: it was ended by signal {-done.returncode}. Was there too little memory?", file=sys.stderr)
    return done.returncode
