"""The notebooks as tests (`pytest --nbval book`), each in a kernel that is forked from one process.

That process has imported PyTorch and matplotlib: for forty notebooks the imports took as long as
all trainings. A fork looks to its notebook like a new kernel: an empty namespace, the notebook's
own folder, and the paths of a Python that was started there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import cache
from typing import Any

STANDARD_STREAMS = (0, 1, 2)
INLINE = "module://matplotlib_inline.backend_inline"  # matplotlib's backend in a kernel


@cache
def parent() -> subprocess.Popen[str]:
    """Start this file as a process, once for each worker.

    It ends with the worker, and its kernels end with it.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, __file__], **pipes)


class Kernel:
    """A fork of the parent, with the attributes of a `subprocess.Popen` that Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], *, cwd: str, env: dict[str, str], **_: Any) -> None:
        process = parent()
        print(json.dumps([command, cwd, env]), file=process.stdin, flush=True)
        self.pid = int(process.stdout.readline())

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel."""
        os.kill(self.pid, number)

    def poll(self) -> int | None:
        """Return None while the kernel runs, then 0."""
        try:
            self.send_signal(0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # Jupyter has polled until it ended


def fork_kernels() -> None:
    """Fork a kernel for each line of the standard input, and print its process id."""
    os.environ["MPLBACKEND"] = INLINE
    del sys.path[0]  # the folder of this file
    import ipykernel.kernelapp  # noqa: F401 - imported once, for all forks
    import matplotlib.figure  # noqa: F401 - as above
    import torch  # noqa: F401 - as above

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels that ended leave no zombies
    for line in sys.stdin:
        command, folder, environment = json.loads(line)
        child = os.fork()
        if child == 0:
            run_kernel(command, folder, environment)
            return
        os.setpgid(child, child)  # Jupyter sends its signals to the group
        print(child, flush=True)


def run_kernel(command: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run the kernel that a command line of Jupyter asks for, in this process."""
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in STANDARD_STREAMS:
        os.dup2(nothing, stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    arguments = command[command.index("-f") :]
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


if __name__ == "__main__":
    fork_kernels()
elif sys.platform == "linux":  # elsewhere a process with threads and frameworks cannot be forked
    from jupyter_client.provisioning import local_provisioner

    local_provisioner.launch_kernel = Kernel
