"""The playground's session, its workers and its files, in Node with a worker of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MODULES = {
    "s": "playground/session.js",
    "r": "playground/trainee.js",
    "o": "playground/settings.js",
}

WORKER = """
    // A Worker that answers by `answers`, a function of the call's name and the worker's number;
    // it may return a promise, or throw.
    const workers = [];
    let answers = () => ({});
    globalThis.Worker = class {
        constructor() {
            this.number = workers.push(this) - 1;
            this.alive = true;
        }
        async postMessage({ id, name, given }) {
            try {
                const answer = await answers(name, this.number, given);
                if (this.alive) this.onmessage({ data: { id, answer } });
            } catch (error) {
                if (this.alive) this.onmessage({ data: { id, error } });
            }
        }
        terminate() {
            this.alive = false;
        }
    };
    const rest = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    const within = (promise) => Promise.race([promise, rest(500).then(() => "never answered")]);
"""


def test_a_stopped_trainee_answers_at_once(evaluate: Callable[..., Any]) -> None:
    """What waits for a network that was stopped would otherwise wait for ever (more seeds)."""
    body = f"""{WORKER}
        const trainee = await r.startTrainee({{}}, {{}}, {{}});
        answers = (name) => (name === "run" ? new Promise(() => {{}}) : "an answer");
        const running = trainee.call("run", "all");
        trainee.stop();
        const afterwards = trainee.call("look", 0);
        return [await within(running), await within(afterwards)].map((answer) => answer ?? "nothing");"""
    assert evaluate(body, **MODULES) == ["nothing", "nothing"]


def test_of_two_networks_one_of_which_cannot_start_none_goes_on(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}
        answers = (name, number) => {{
            if (name === "start" && number === 1) throw new Error("no memory is left");
            return {{}};
        }};
        const {{ settings }} = o.settingsWith({{}}, {{}});
        const session = new s.Session(settings, async () => ({{}}), () => {{}});
        session.sample = async () => ({{}});
        await session.act(() => session.train());
        await rest(50);
        return {{ alive: workers.map(({{ alive }}) => alive), notice: session.notice }};"""
    report = evaluate(body, **MODULES)
    assert report["alive"] == [False, False]
    assert "no memory is left" in report["notice"]
