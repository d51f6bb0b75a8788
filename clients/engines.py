"""Firefox and WebKitGTK (Safari's engine), driven from Python: one interface, nothing to install but the browsers.

Firefox speaks WebDriver BiDi itself; WebKitGTK comes with WebKitWebDriver, which wants a
display (`xvfb-run` lends one).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import websocket

KEYS = {"ArrowRight": "\ue014", "Enter": "\ue007", "Tab": "\ue004", " ": " "}
START = 180  # seconds until a browser or a server runs
PATIENCE = 300  # seconds a script may take: waking the widgets of a page on a busy machine
# WebDriver has no way to the console: what goes wrong once a page has loaded is written down in the page. That what is
# done at a change of size changes another is no fault: the browser tells of that one in the next frame.
RECORD = """
window.caught = [];
addEventListener("error", ({ message }) => message.startsWith("ResizeObserver loop") || caught.push(message));
addEventListener("unhandledrejection", ({ reason }) => caught.push(String(reason)));
const { error } = console;
console.error = (...words) => {
  caught.push(words.join(" "));
  error.apply(console, words);
};
"""


class Engine(Protocol):
    """A browser with one page open."""

    name: str

    def open(self, address: str, width: int) -> None: ...
    def run(self, script: str) -> Any: ...
    def press(self, key: str) -> None: ...
    def click(self, x: float, y: float) -> None: ...
    def errors(self) -> list[str]: ...


class Firefox:
    """Firefox without a window, by WebDriver BiDi."""

    name = "Firefox"

    def __init__(self, address: str) -> None:
        self.socket = websocket.create_connection(f"{address}/session", timeout=PATIENCE, suppress_origin=True)
        self.count, self.said = 0, []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **parameters: Any) -> Any:
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.count:
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.said.append(str(answer["params"]["text"]))
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def open(self, address: str, width: int) -> None:
        self.said.clear()
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": 900})
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, script: str) -> Any:
        function = f"(async () => JSON.stringify((await (async () => {{ {script} }})()) ?? null))()"
        answer = self.ask("script.evaluate", expression=function, target={"context": self.context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def actions(self, kind: str, actions: list[dict[str, Any]]) -> None:
        self.ask("input.performActions", context=self.context, actions=[{"type": kind, "id": kind, "actions": actions}])

    def press(self, key: str) -> None:
        self.actions("key", [{"type": "keyDown", "value": KEYS[key]}, {"type": "keyUp", "value": KEYS[key]}])

    def click(self, x: float, y: float) -> None:
        self.actions("pointer", click_at(x, y))

    def errors(self) -> list[str]:
        self.run("")  # what was logged before this is here now
        return list(self.said)


class WebKit:
    """WebKitGTK's MiniBrowser, by WebDriver."""

    name = "WebKitGTK"

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"binary": minibrowser(), "args": ["--automation"]}
        answer = self.ask("", capabilities={"alwaysMatch": {"webkitgtk:browserOptions": options}})
        self.address += f"/{answer['sessionId']}"
        self.ask("/timeouts", script=PATIENCE * 1000)

    def ask(self, path: str, **body: Any) -> Any:
        request = urllib.request.Request(
            self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:500]}") from None

    def open(self, address: str, width: int) -> None:
        self.ask("/window/rect", width=width, height=900)
        self.ask("/url", url=address)
        self.run(RECORD)

    def run(self, script: str) -> Any:
        function = f"""const done = arguments[arguments.length - 1];
            (async () => {{ {script} }})().then((value) => done({{ value: JSON.stringify(value ?? null) }}),
                                               (error) => done({{ error: String(error) }}));"""
        answer = self.ask("/execute/async", script=function, args=[])
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return json.loads(answer["value"])

    def actions(self, kind: str, actions: list[dict[str, Any]]) -> None:
        self.ask("/actions", actions=[{"type": kind, "id": kind, "actions": actions}])

    def press(self, key: str) -> None:
        self.actions("key", [{"type": "keyDown", "value": KEYS[key]}, {"type": "keyUp", "value": KEYS[key]}])

    def click(self, x: float, y: float) -> None:
        self.actions("pointer", click_at(x, y))

    def errors(self) -> list[str]:
        return list(self.run("return window.caught;"))


def click_at(x: float, y: float) -> list[dict[str, Any]]:
    """The steps of a click."""
    move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}
    return [move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]


@contextmanager
def firefox() -> Iterator[Firefox]:
    """A running Firefox."""
    program = next(path for name in ("firefox-esr", "firefox") if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as profile:
        command = [
            program,
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port",
            str(free_port()),
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            assert process.stderr
            for line in process.stderr:
                if match := re.search(r"BiDi listening on (ws://\S+)", line):
                    break
            yield Firefox(match[1])  # type: ignore[index]
        finally:
            process.terminate()
            process.wait(START)


@contextmanager
def webkit() -> Iterator[WebKit]:
    """A running WebKitGTK."""
    port = free_port()
    command = ["xvfb-run", "--auto-servernum", "WebKitWebDriver", f"--port={port}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(port)
        yield WebKit(port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # xvfb-run alone would leave the display and the browser behind
        process.wait(START)


def missing() -> dict[str, str]:
    """Engine -> what to install, for those that are not here."""
    lacking = {}
    if not (shutil.which("firefox-esr") or shutil.which("firefox")):
        lacking[Firefox.name] = "no Firefox (Debian: apt install firefox-esr)"
    if not (shutil.which("WebKitWebDriver") and shutil.which("xvfb-run") and minibrowser()):
        lacking[WebKit.name] = "no WebKitGTK to drive (Debian: apt install webkit2gtk-driver xvfb xauth)"
    return lacking


def minibrowser() -> str:
    """The path of WebKitGTK's small browser; empty where there is none."""
    return next((str(path) for path in sorted(Path("/usr").glob("lib*/**/webkit2gtk-*/MiniBrowser"))), "")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until something listens there."""
    for _ in range(START * 5):
        with socket.socket() as knocking:
            if knocking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")
