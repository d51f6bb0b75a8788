"""The notebooks as tests (`pytest --nbval book`): a notebook's kernel is a fork of one process.

That process has imported PyTorch and matplotlib: for forty notebooks these imports took as long as
all trainings. A notebook finds the same as in a new kernel: an empty namespace, its own folder, and
the paths of a Python that was started there.
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
    """Start this file as a process, once for each worker of pytest, and return it.

    It ends with the worker, and its kernels end with it.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, __file__], **pipes)


class Kernel:
    """A fork of the process, with the part of `subprocess.Popen` that Jupyter uses."""

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

    wait = poll  # Jupyter polls until the kernel has ended


def fork_kernels() -> None:
    """Fork a kernel for each line of the standard input."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel has it
    del sys.path[0]  # the folder of this file
    import matplotlib.figure  # noqa: F401
    import torch  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no ended kernel stays as a zombie
    for line in sys.stdin:
        command, cwd, env = json.loads(line)
        child = os.fork()
        if child:
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
elif sys.platform == "linux":  # elsewhere a process with threads and frameworks cannot be forked
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = Kernel
