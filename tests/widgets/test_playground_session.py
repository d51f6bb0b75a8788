"""The playground's session, its workers and its files, in Node with a worker of our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capsnet_book.assets import asset
from capsnet_book.widgets import _sources

from capsnet_tutorial.data import digits

DIGITS = asset("digits/digits.safetensors")
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
        const outcomes = [await within(running), await within(afterwards)];
        return outcomes.map((outcome) => outcome ?? "nothing");"""
    assert evaluate(body, **MODULES) == ["nothing", "nothing"]


def test_what_goes_wrong_in_a_worker_is_said_in_the_readers_language(
    evaluate: Callable[..., Any],
) -> None:
    """Its script, run here, has the page's catalogue."""
    body = """
        globalThis.capsnetWords = { "expected {0} [{1}]; got {2}": "{0} [{1}] – {2}", none: "无" };
        const { resolveObjectURL } = await import("node:buffer");
        let script;
        globalThis.Worker = class {
            constructor(url) {
                script = resolveObjectURL(url).text();
            }
        };
        a.startAnswering(data.worker);
        const { settings } = o.settingsWith({});
        const { tensors } = c.readSafetensors(bytes(data.digits));
        const own = { images: [], labels: [] };
        const text = await script;
        return new Promise((done) => {
            new Function("postMessage", text)(({ error }) => done(error.message));
            const given = [settings[0], tensors, own, {}];
            globalThis.onmessage({ data: { id: 1, name: "start", given } });
        });"""
    modules = {"a": "shared/calls.js", "o": "playground/settings.js", "c": "shared/core.js"}
    worker = _sources.script("playground/training.worker.js")
    data = {"digits": str(DIGITS), "worker": worker}
    assert evaluate(body, data, **modules) == "conv.weight [64,1,9,9] – 无"


def test_of_two_networks_one_of_which_cannot_start_none_goes_on(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}
        let starts = 0;
        answers = (name) => {{
            if (name === "start") starts++;
            if (name === "start" && starts === 2) throw new Error("no memory is left");
            return {{}};
        }};
        const {{ settings }} = o.settingsWith({{}}, {{}});
        const session = new s.Session(settings, async () => ({{}}), () => {{}});
        session.sample = async () => ({{}});
        await session.act(() => session.train());
        await rest(50);
        return {{ alive: workers.map(({{ alive }}) => alive), notice: session.notice }};"""
    report = evaluate(body, **MODULES)
    assert not any(report["alive"])
    assert "no memory is left" in report["notice"]


SESSION = """
    // A session whose networks have learned for `seconds` by the time they are looked at.
    let seconds = 10;
    answers = (name) => (name === "look" ? { seconds, seen: 100 * seconds, tests: [] } : {});
    const session = new s.Session(o.settingsWith({}).settings, async () => ({}), () => {});
    session.sample = async () => ({});
    session.getHundred = async () => {};
    const settled = async () => {
        do await rest(5);
        while (session.loading);
    };
    const change = (values) => {
        session.change(o.settingsWith(values).settings);
        return settled();
    };
    const seeds = () => session.trainees.map(({ settings }) => settings.seed);
    const begin = async () => {
        session.act(() => session.begin(session.settings));
        await settled();
    };
"""


def test_a_training_in_whose_place_another_is_put_comes_back_with_all_that_it_was(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        await begin();
        session.own.images.push(new Float32Array(784));
        session.own.labels.push(3);
        const {{ trainees, own, history }} = session;
        await change({{ data: "animals" }});
        const there = [session.own.labels.length, session.earlier.latest().trainees === trainees];
        await session.bringBack();
        const isBack = [
            session.trainees === trainees,
            session.own === own,
            session.history === history,
            session.settings[0].data,
            session.running,
        ];
        await session.bringBack(); // and the animals again
        return {{ there, isBack, data: session.settings[0].data, own: session.own.labels }};"""
    assert evaluate(body, **MODULES) == {
        "there": [0, True],
        "isBack": [True, True, True, "digits", False],
        "data": "animals",
        "own": [],
    }


def test_a_training_of_a_second_ends_and_of_long_ones_the_latest_two_are_kept(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        seconds = 1;
        await begin();
        await change({{ seed: 2 }});
        const afterShort = session.earlier.latest() ?? "none";
        seconds = 10;
        await change({{ seed: 3 }}); // the frame of seed 2 was taken when it began: short, too
        for (const seed of [4, 5, 6]) await change({{ seed }});
        const before = [];
        for (let n = 0; n < 4; n++) {{
            await session.bringBack();
            before.push(...seeds());
        }}
        const alive = workers.filter(({{ alive }}) => alive).length;
        session.stop();
        const left = workers.filter(({{ alive }}) => alive).length;
        return {{ afterShort, before, perTraining: alive / 3, left }};"""
    report = evaluate(body, **MODULES)
    assert report["afterShort"] == "none"
    assert report["before"] == [5, 4, 6, 5], "each in its turn; seed 3 gave its place to others"
    assert report["perTraining"] in (1, 2), "the others' workers have ended"
    assert report["left"] == 0


def test_what_the_reader_teaches_while_networks_start_is_learned_by_them(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        await begin();
        const learned = {{}}; // the labels that each worker has of the reader's own digits
        let start;
        const look = answers;
        answers = (name, worker, given) => {{
            if (name === "start") {{
                learned[worker] = [...given[2].labels];
                return new Promise((done) => (start = done));
            }}
            if (name === "teach") learned[worker] = [...given[0].labels];
            return look(name);
        }};
        const changed = change({{ seed: 2 }});
        await rest(5);
        session.teach(new Float32Array(784), 7);
        start({{}});
        await changed;
        return Object.values(learned);"""
    assert evaluate(body, **MODULES) == [[7], [7]], "the old network, and the new one"


def test_a_sign_can_be_undone_with_the_drawings_that_it_took_the_place_of(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        await begin();
        const calls = [];
        const look = {{ seconds, seen: 1000, tests: [] }};
        answers = (name, _, given) => {{
            if (["teach", "goBack"].includes(name)) calls.push(name);
            if (name === "mark") return {{ ...look, mark: 0 }};
            return name === "look" ? look : false;
        }};
        session.own.images.push(new Float32Array(784));
        session.own.labels.push(8);
        await session.takeSign({{ place: 8, images: [] }});
        const signed = [session.own.sign.place, session.own.labels.length];
        const can = session.canTakeBack();
        await session.takeBack();
        const {{ sign, labels }} = session.own;
        return {{ signed, can, sign: sign ?? "none", own: labels, calls }};"""
    assert evaluate(body, **MODULES) == {
        "signed": [8, 0],
        "can": True,
        "sign": "none",
        "own": [8],
        "calls": ["teach", "teach", "goBack"],  # what it learns from first: it sets the rate
    }


def test_a_sign_stays_with_its_pictures_if_others_are_chosen_while_it_is_marked(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        await begin();
        let mark;
        const look = answers;
        answers = (name) => (name === "mark" ? new Promise((done) => (mark = done)) : look(name));
        session.act(() => session.takeSign({{ place: 8, images: [] }}));
        await rest(5);
        const changed = change({{ data: "animals" }});
        mark({{ seen: 1000, mark: 0 }});
        await changed;
        const there = session.own.sign ?? "none";
        await session.bringBack();
        return {{ there, here: session.own.sign?.place }};"""
    assert evaluate(body, **MODULES) == {"there": "none", "here": 8}


def test_nothing_is_undone_while_other_networks_are_on_their_way(
    evaluate: Callable[..., Any],
) -> None:
    """The animals would have the digits that the reader drew before the sign."""
    body = f"""{WORKER}{SESSION}
        await begin();
        let mark = 0;
        const look = answers;
        answers = (name) => (name === "mark" ? {{ ...look("look"), mark: mark++ }} : look(name));
        session.own.images.push(new Float32Array(784));
        session.own.labels.push(3);
        await session.takeSign({{ place: 8, images: [] }});
        const before = session.canTakeBack();
        const changed = change({{ data: "animals" }});
        const during = session.canTakeBack();
        session.goTo(session.history.lastMark());
        const isWayBack = session.isWayBack();
        await session.takeBack();
        await changed;
        return {{ before, during, isWayBack, own: session.own.labels }};"""
    assert evaluate(body, **MODULES) == {
        "before": True,
        "during": False,
        "isWayBack": False,
        "own": [],
    }


def test_pictures_that_do_not_come_stop_nothing_once_others_are_chosen(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{WORKER}{SESSION}
        delete session.getHundred; // which needs the animals, too
        const look = answers;
        answers = (name) => (name === "run" ? new Promise(() => {{}}) : look(name));
        let fail;
        const missing = new Promise((_, reject) => (fail = reject));
        session.sample = (data) => (data === "animals" ? missing : Promise.resolve({{}}));
        session.act(() => session.train());
        await settled();
        session.change(o.settingsWith({{ data: "animals" }}).settings);
        const here = change({{ data: "digits" }});
        fail(new Error("no connection"));
        await here;
        const afterwards = [session.notice, session.running];
        await change({{ data: "animals" }});
        session.stop();
        return [afterwards, [session.notice, session.running]];"""
    assert evaluate(body, **MODULES) == [
        ["", True],
        ["That did not work: no connection.", False],
    ]


def test_the_curve_has_a_mark_for_each_hand_until_the_moment_that_is_shown(
    evaluate: Callable[..., Any],
) -> None:
    body = """
        const history = new h.History();
        const causes = [
            { kind: "hold", network: 1, part: "primary", at: 5, value: true },
            { kind: "nudge", network: 0, part: "maps", at: 5, value: 0.5 },
            { kind: "hold", network: 1, part: "primary", at: 5, value: false },
            { kind: "sign" },
        ];
        causes.forEach((cause, n) => {
            const seen = 1000 * (n + 1);
            history.keepMark([{ seen, mark: n }, { seen: seen + 16, mark: n }], cause);
            history.keep([{ seen: 1.5 * seen }, { seen: 1.5 * seen }]);
        });
        const words = (moments) => c.changesIn(moments).map(c.inWords);
        return [words(history.moments), words(history.moments.slice(0, 2))];"""
    modules = {"h": "playground/history.js", "c": "playground/causes.js"}
    all_marks, first = evaluate(body, **modules)
    assert all_marks == [
        "capsule 5 held silent, after 1,016 images",
        "weights of feature map 6 ÷ 2, after 2,000 images",
        "capsule 5 speaks again, after 3,016 images",
        "your sign, after 4,000 images",
    ]
    assert first == all_marks[:1]


# --- what a training does with digits and rate, seen by a network that only remembers

REMEMBERED = """
    const batches = [];
    const rates = [];
    const remembers = () => ({
        gradients(images, labels) {
            batches.push({ images: images.slice(), labels: Array.from(labels) });
            return { margin: 0, drawing: 0, right: 0 };
        },
        update: (rate) => rates.push(rate),
        read: (images) => ({ answers: new Uint8Array(images.length / 784) }),
    });
    const tensors = c.readSafetensors(bytes(data.digits)).tensors;
    const { settings } = o.settingsWith({ batch: data.batch, rate: 0.01, seed: 3 });
    const own = { images: [], labels: [] };
    const training = await t.startTraining(settings[0], tensors, own, { make: remembers });
"""
TRAINING = MODULES | {"t": "playground/training.js", "c": "shared/core.js"}


def test_the_rate_fades_by_a_tenth_every_4000_digits(evaluate: Callable[..., Any]) -> None:
    body = f"""{REMEMBERED}
        await training.run("all", 12000);
        return rates;"""
    rates = evaluate(body, {"digits": str(DIGITS), "batch": 16}, **TRAINING)
    expected = [0.01 * 0.9 ** (16 * step // 4000) for step in range(12000 // 16)]
    assert rates == pytest.approx(expected)


def moved(image: np.ndarray, right: int, down: int) -> np.ndarray:
    """Return an image [28, 28] moved by so many pixels, on paper."""
    padded = np.pad(image, 2)
    return padded[2 - down : 30 - down, 2 - right : 30 - right]


def test_every_tenth_digit_is_one_of_the_readers_own(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    """Moved by up to two pixels like the others, under the reader's label."""
    own = np.zeros((2, 28, 28), np.float32)
    own[0, 8:20, 10] = 1  # a stroke down
    own[1, 14, 6:22] = 1  # a stroke across
    own.tofile(tmp_path / "own")
    body = f"""{REMEMBERED}
        const strokes = floats(data.own);
        const images = [strokes.subarray(0, 784), strokes.subarray(784)];
        training.teach({{ images, labels: [4, 9] }});
        await training.run("all", 4000);
        save(data.out, batches.map(({{ images }}) => images));
        return batches.flatMap(({{ labels }}) => labels);"""
    paths = {"own": str(tmp_path / "own"), "out": str(tmp_path / "out"), "digits": str(DIGITS)}
    labels = np.array(evaluate(body, {**paths, "batch": 16}, **TRAINING))
    images = np.fromfile(tmp_path / "out", np.float32).reshape(-1, 28, 28)
    shifts = [(right, down) for right in range(-2, 3) for down in range(-2, 3)]
    places = {4: [moved(own[0], *shift) for shift in shifts]}
    places[9] = [moved(own[1], *shift) for shift in shifts]

    tenth = np.arange(len(labels)) % 10 == 0
    assert set(labels[tenth]) == {4, 9}, "both of them, under the labels that the reader gave"
    for image, label in zip(images[tenth], labels[tenth], strict=True):
        assert any(np.array_equal(image, place) for place in places[label])
    strokes = places[4] + places[9]
    for image in images[~tenth][:200]:
        assert not any(np.array_equal(image, stroke) for stroke in strokes)


def test_a_pass_shows_each_digit_once(evaluate: Callable[..., Any]) -> None:
    """4,000 digits in an order that differs from pass to pass: the labels tell."""
    body = f"""{REMEMBERED}
        await training.run("all", 8000);
        return batches.flatMap(({{ labels }}) => labels);"""
    labels = np.array(evaluate(body, {"digits": str(DIGITS), "batch": 16}, **TRAINING))
    expected = np.bincount(digits("train", source="sample").labels.numpy(), minlength=10)
    first = labels[:4000]
    second = labels[4000:]
    assert np.array_equal(np.bincount(first, minlength=10), expected)
    assert np.array_equal(np.bincount(second, minlength=10), expected)
    assert (first != second).mean() > 0.8


# --- the examiner, here or in another worker

EXAMINED = """
    const sample = c.readSafetensors(bytes(data)).tensors;
    const { settings: [settings] } = o.settingsWith({ types: 2, seed: 3 });
    const own = () => ({ images: [], labels: [] });
    const start = async (port) => t.startTraining(settings, sample, own(), { port });
    const startApart = async () => {
        const { port1, port2 } = new MessageChannel();
        await t.startExaminer(settings, sample, own(), port2);
        return { training: await start(port1), close: () => port1.close() };
    };
"""


def test_an_examiner_in_another_worker_says_the_same(evaluate: Callable[..., Any]) -> None:
    """Tests, walls, the way of a digit, what is held silent, and the reader's own digits."""
    body = f"""{EXAMINED}
        const handled = async (training) => {{
            await training.run("all", 600);
            await training.hold("primary", 5, true);
            training.teach({{ images: [new Float32Array(784).fill(0.5)], labels: [4] }});
            await training.run("all", 800);
            const {{ seconds, ...frame }} = await training.look(3);
            return JSON.stringify(frame);
        }};
        const {{ training, close }} = await startApart();
        const apart = await handled(training);
        close();
        const here = await handled(await start());
        return [apart === here, JSON.parse(here).tests.length, JSON.parse(here).wrong.length];"""
    assert evaluate(body, str(DIGITS), **TRAINING) == [True, 4, 101]


def test_a_test_that_is_taken_back_before_it_is_answered_is_forgotten(
    evaluate: Callable[..., Any],
) -> None:
    body = f"""{EXAMINED}
        const {{ training, close }} = await startApart();
        await training.run("all", 250);
        const {{ mark }} = await training.mark(0);
        training.nudge("maps", 1, 2); // its test is on its way
        training.goBack(mark);
        const {{ tests, touches }} = await training.look(0);
        close();
        return [tests.map(([seen]) => seen), touches];"""
    assert evaluate(body, str(DIGITS), **TRAINING) == [[0, 256], 0]


# --- the history


def test_the_history_keeps_some_fifty_moments_further_and_further_apart(
    evaluate: Callable[..., Any],
) -> None:
    body = """
        const history = new h.History();
        for (let seen = 0; seen <= 64000; seen += 16) history.keep([{ seen }]);
        return history.moments.map(([{ seen }]) => seen);"""
    moments = evaluate(body, h="playground/history.js")
    gaps = np.diff(moments)
    assert moments[0] == 0
    assert 40 <= len(moments) <= 60
    assert gaps[0] == 32
    assert (np.diff(gaps) >= -16).all()
    assert gaps[-1] < 0.15 * moments[-1], "the last moment is not far from now"


# --- the experiments


def test_what_came_out_of_an_experiment_is_said_in_one_place(evaluate: Callable[..., Any]) -> None:
    """The hundred of the wall cannot tell what the five hundred of the test do."""
    body = """
        const { settings } = o.settingsWith({ bug: "softmax-axis" }, { bug: "" });
        const frames = [95, 98].map((right) => ({ right, seen: 9000 }));
        const session = {
            settings,
            trainees: [{}, {}],
            running: true,
            own: {},
            watched: { network: 0 },
            history: { firstMark() {} },
            earlier: { latest() {} },
            frames: () => frames,
        };
        return [w.inWords(session), w.nameOf(settings, 0), w.nameOf(settings, 1)];"""
    said, first, second = evaluate(body, o="playground/settings.js", w="playground/words.js")
    assert "95 and 98" in said
    assert "tell" not in said
    assert [first, second] == ["with the bug", "without the bug"]


def test_a_cnn_has_no_capsules_to_keep(evaluate: Callable[..., Any]) -> None:
    body = f"""{WORKER}{SESSION}
        session.settings = o.settingsWith({{ net: "cnn" }}).settings;
        await begin();
        return session.file().catch(({{ message }}) => message);"""
    assert evaluate(body, **MODULES) == "a CNN has no capsules to keep"


ERRORS = "const errors = data.errors.map((error) => error ?? Number.NaN);"


@pytest.mark.parametrize(
    ("errors", "outcome"),
    [([None, 3.0], None), ([2.0, 3.0], 0), ([3.0, 2.2], 1), ([2.2, 3.0], 1), ([60.0, 3.0], 2)],
)
def test_an_experiment_comes_out_once_both_have_learned(
    evaluate: Callable[..., Any], errors: list[float | None], outcome: int | None
) -> None:
    body = f"{ERRORS} return e.outcomeOf(errors);"
    assert evaluate(body, {"errors": errors}, e="playground/experiments.js") == outcome


@pytest.mark.parametrize(
    ("guess", "errors", "words"),
    [
        (None, [None, None], "Which? First guess; then both train."),
        (2, [None, 3.0], "You say: the second. Watch."),
        (2, [9.0, 3.0], "As you said. It came out: the second, 9.0 % wrong against 3.0 %."),
        (0, [9.0, 3.0], "You said: the first. It came out: the second"),
        (None, [3.0, 3.2], "It came out: both alike"),
    ],
)
def test_an_experiment_says_what_came_out(
    evaluate: Callable[..., Any], guess: int | None, errors: list[float | None], words: str
) -> None:
    body = f"""{ERRORS}
        const guesses = ["the first", "both alike", "the second"];
        const experiment = {{ question: "Which?", guesses }};
        return e.inWords(experiment, data.guess ?? undefined, errors);"""
    said = evaluate(body, {"errors": errors, "guess": guess}, e="playground/experiments.js")
    assert said.startswith(words)


def test_looks_wait_while_a_hand_draws(evaluate: Callable[..., Any]) -> None:
    """A look has the page paint a hundred tiles: it would hold up the hand."""
    body = f"""{WORKER}
        let looks = 0;
        answers = (name) => {{
            if (name === "look") looks++;
            return name === "run" ? new Promise(() => {{}}) : {{ touches: 0, tests: [] }};
        }};
        const {{ settings }} = o.settingsWith({{}}, {{}});
        const session = new s.Session(settings, async () => ({{}}), () => {{}});
        session.sample = async () => ({{}});
        session.act(() => session.train());
        await rest(350);
        const before = looks;
        session.handMoves();
        await rest(30); // what was asked before it
        const begun = looks;
        for (let n = 0; n < 30; n++) {{
            session.handMoves();
            await rest(10);
        }}
        const meanwhile = looks - begun;
        await rest(800);
        session.stop();
        return {{ before, meanwhile, afterwards: looks - begun }};"""
    report = evaluate(body, **MODULES)
    assert report["before"] > 1
    assert report["meanwhile"] == 0
    assert report["afterwards"] > 1
