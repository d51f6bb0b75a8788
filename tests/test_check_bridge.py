"""Functions of other frameworks: NumPy always, JAX and TensorFlow where they are installed."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from capsnet_tutorial.check import CHECKERS, check_squash

NUMPY = """
import numpy as np

def squash(s, axis=-1, floor=1e-16):
    n2 = np.sum(s**2, axis=axis, keepdims=True)
    return n2 / (1 + n2) * s / np.sqrt(np.maximum(n2, floor))

def bare(s):
    return squash(s, floor=0.0)

def softmax(b, axis):
    e = np.exp(b - b.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def route(u_hat, iterations, axis=2):
    b = np.zeros(u_hat.shape[:3], dtype=u_hat.dtype)
    for _ in range(iterations):
        v = squash(np.einsum("bij,bijd->bjd", softmax(b, axis), u_hat))
        b = b + np.einsum("bijd,bjd->bij", u_hat, v)
    return v

def route_over_i(u_hat, iterations):
    return route(u_hat, iterations, axis=1)

def margin_loss(lengths, labels):
    present = np.eye(lengths.shape[1])[labels]
    short, long = np.maximum(0, 0.9 - lengths), np.maximum(0, lengths - 0.1)
    return (present * short**2 + 0.5 * (1 - present) * long**2).sum(1).mean()

def mask(v, labels):
    keep = np.linalg.norm(v, axis=-1).argmax(1)
    return v * np.eye(v.shape[1])[keep][:, :, None]

def reconstruction_loss(drawn, images):
    return 0.0005 * np.mean((drawn - images.reshape(len(images), -1)) ** 2)
"""
JAX = NUMPY.replace("import numpy as np", "import jax.numpy as np")
TENSORFLOW = """
import tensorflow as tf

def squash(s, floor=1e-16):
    n2 = tf.reduce_sum(s**2, axis=-1, keepdims=True)
    return n2 / (1 + n2) * s / tf.sqrt(tf.maximum(n2, floor))

def bare(s):
    n2 = tf.reduce_sum(s**2, axis=-1, keepdims=True)
    return n2 / (1 + n2) * s / tf.sqrt(n2)

def route(u_hat, iterations, axis=2):
    b = tf.zeros(u_hat.shape[:3])
    for _ in range(iterations):
        v = squash(tf.einsum("bij,bijd->bjd", tf.nn.softmax(b, axis=axis), u_hat))
        b = b + tf.einsum("bijd,bjd->bij", u_hat, v)
    return v

def route_over_i(u_hat, iterations):
    return route(u_hat, iterations, axis=1)
"""


def written_in(source: str) -> ModuleType:
    module = ModuleType("theirs")
    exec(source, vars(module))
    return module


CASES = [
    ("squash", "squash", ()),
    ("squash", "bare", ("squash-nan",)),
    ("routing", "route", ()),
    ("routing", "route_over_i", ("softmax-axis",)),
    ("margin_loss", "margin_loss", ()),
    ("mask", "mask", ("mask-prediction",)),
    ("reconstruction_loss", "reconstruction_loss", ("recon-mean",)),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("piece", "name", "bugs"), CASES)
def test_numpy(piece, name, bugs):
    report = CHECKERS[piece](getattr(written_in(NUMPY), name))
    assert report.bugs == bugs, report
    assert report.passed == (not bugs)
    assert "NumPy knows no gradient" in str(report)


@pytest.mark.parametrize(("piece", "name", "bugs"), CASES)
def test_jax(piece, name, bugs):
    pytest.importorskip("jax")
    report = CHECKERS[piece](getattr(written_in(JAX), name))
    assert report.bugs == bugs, report
    assert report.passed == (not bugs)


@pytest.mark.parametrize(("piece", "name", "bugs"), CASES[:4])
def test_tensorflow(piece, name, bugs):
    pytest.importorskip("tensorflow")
    report = CHECKERS[piece](getattr(written_in(TENSORFLOW), name))
    assert report.bugs == bugs, report
    assert report.passed == (not bugs)


def test_a_cut_gradient_of_jax_is_told():
    jax = pytest.importorskip("jax")
    module = written_in(JAX)

    def detached(s):
        return jax.lax.stop_gradient(module.squash(s)) + 0 * s

    assert "its gradient is not" in str(check_squash(detached))


def test_a_function_of_torch_that_names_numpy_too_stays_torchs():
    module = written_in("import numpy as np\nimport torch\ndef f(s):\n return s * torch.ones(()) * float(np.pi)")
    assert "not by a mistake of the catalogue" in str(check_squash(module.f))
    assert "NumPy" not in str(check_squash(module.f))


def test_numpy_may_be_imported_inside_a_function():
    def bad(s):
        import numpy

        return numpy.array(s) * 2

    assert "not by a mistake of the catalogue" in str(check_squash(bad))
    assert isinstance(bad(np.ones(2)), np.ndarray)
