"""Blocks of golden numbers, which the programs beside this one write: a comment that names them,
then rows of numbers with all digits."""

import os

import numpy as np

_here = os.path.dirname(os.path.abspath(__file__))
_blocks = []


class Unsuitable(Exception):
    """A problem whose solution is not unique, or that says nothing about what is tested."""


def put(title, values):
    values = np.asarray(values, dtype=float)
    text = "\n".join(" ".join("%.17g" % v for v in row) for row in np.atleast_2d(values))
    _blocks.append("# %s\n%s\n" % (title, text))


def first_suitable(problem, seed, *arguments):
    """The first problem drawn that is suitable; the blocks of the others are dropped."""
    rng = np.random.default_rng(seed)
    while True:
        before = len(_blocks)
        try:
            return problem(rng, *arguments)
        except Unsuitable:
            del _blocks[before:]


def draw_points(rng, n, d, c, offset, queries):
    """Clouds around `offset` plus c random centres, in single precision, and points near the first."""
    centres = offset + rng.standard_normal((c, d))
    x = centres[np.arange(n) % c] + rng.standard_normal((n, d)) * np.linspace(0.5, 1.3, d)
    x = x.astype(np.float32).astype(float)
    y = (x[:queries] + 0.3 * rng.standard_normal((queries, d))).astype(np.float32).astype(float)
    return x, y


def distances(x, y, k):
    """Between the rows of y and of x, infinite from a row to itself; those of the k nearest are no
    ties."""
    d = np.sqrt(((y[:, None] - x[None]) ** 2).sum(-1))
    if x is y:
        np.fill_diagonal(d, np.inf)
    ordered = np.sort(d, axis=1)
    if not (ordered[:, 1:k + 1] - ordered[:, :k] > 1e-6).all():
        raise Unsuitable("ties to rounding")
    return d


def write(name):
    """Writes NAME.txt; make_NAME.py calls it last."""
    with open(os.path.join(_here, name + ".txt"), "w") as file:
        file.write("# Made by make_%s.py.\n" % name + "".join(_blocks))
