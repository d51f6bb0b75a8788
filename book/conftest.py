"""The notebooks as tests (`pytest --nbval book`): each has a kernel of its own, a fork of one process.

That one has imported PyTorch and matplotlib: for forty notebooks this took as long as all trainings. What a notebook
finds is as in a new kernel: an empty namespace, its own folder, and the paths of a Python that was started there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import cache
from typing import Any


@cache
def parent() -> subprocess.Popen[str]:
    """This file as a process, one for each worker; it ends with the worker, and its kernels with it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, __file__], **pipes)


class Kernel:
    """A fork of it, with what Jupyter asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], *, cwd: str, env: dict[str, str], **_: Any) -> None:
        pipes = parent()
        print(json.dumps([command, cwd, env]), file=pipes.stdin, flush=True)
        self.pid = int(pipes.stdout.readline())

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def poll(self) -> int | None:
        try:
            self.send_signal(0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # Jupyter has polled until it ended


def fork_kernels() -> None:
    """A kernel for each line of the standard input."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel has it
    del sys.path[0]  # the folder of this file
    import matplotlib.figure  # noqa: F401
    import torch  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # none of those that ended stays
    for line in sys.stdin:
        command, cwd, env = json.loads(line)
        if child := os.fork():
            os.setpgid(child, child)  # Jupyter sends its signals to the group
            print(child, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        arguments = command[command.index("-f") :]
        IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])
        return


if __name__ == "__main__":
    fork_kernels()
elif sys.platform == "linux":  # elsewhere a fork of what has threads and frameworks is none
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = Kernel
