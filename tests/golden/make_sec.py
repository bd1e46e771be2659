"""Golden numbers for sec: sec.txt, by NumPy and SciPy.

Everything is computed densely, in double, from the definitions: the graph of nearest neighbours
with weights 1, its normalised Laplacian, and the matrix of the residual of the ridge regression.
The regression itself is solved as a least-squares problem. One block of numbers for each problem."""

import os

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph

here = os.path.dirname(os.path.abspath(__file__))
blocks = []


class Unsuitable(Exception):
    """Points whose neighbours or eigenvectors are not unique, or whose graph is not connected."""


def put(title, values):
    values = np.asarray(values, dtype=float)
    text = "\n".join(" ".join("%.17g" % v for v in row) for row in np.atleast_2d(values))
    blocks.append("# %s\n%s\n" % (title, text))


def graph(x, k):
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    np.fill_diagonal(d, np.inf)
    ordered = np.sort(d, axis=1)
    if not (ordered[:, k] - ordered[:, k - 1] > 1e-6).all():
        raise Unsuitable("ties to rounding")
    a = d <= ordered[:, [k - 1]]
    return np.logical_or(a, a.T).astype(float)


def regression(x, f, gamma):
    """W and b of the least squares problem with the rows sqrt(gamma) I below X."""
    n, d = x.shape
    left = np.block([[x, np.ones((n, 1))], [np.sqrt(gamma) * np.eye(d), np.zeros((d, 1))]])
    solution = scipy.linalg.lstsq(left, np.vstack([f, np.zeros((d, f.shape[1]))]))[0]
    return solution[:d], solution[d]


def problem(rng, n, d, c, k, mu, gamma, queries=9):
    centres = rng.standard_normal((c, d))
    x = 5 + centres[np.arange(n) % c] + rng.standard_normal((n, d)) * np.linspace(0.5, 1.3, d)
    x = x.astype(np.float32).astype(float)
    y = (x[:queries] + 0.3 * rng.standard_normal((queries, d))).astype(np.float32).astype(float)
    put("n d c k mu gamma queries", [n, d, c, k, mu, -1 if gamma is None else gamma, queries])
    put("points", x)
    put("new points", y)
    a = graph(x, k)
    if scipy.sparse.csgraph.connected_components(a)[0] > 1:
        raise Unsuitable("components")
    root = 1 / np.sqrt(a.sum(1))
    h = np.eye(n) - 1 / n
    z = h @ x
    gamma = 1e-4 * (z ** 2).sum() if gamma is None else gamma
    inverse = np.linalg.inv(z.T @ z + gamma * np.eye(d))
    s = np.eye(n) - root[:, None] * a * root + mu * (h - z @ inverse @ z.T)
    values, vectors = scipy.linalg.eigh(s)
    if values[c] - values[c - 1] < 1e-3 * values[-1]:
        raise Unsuitable("eigengap")
    f = vectors[:, :c]
    w, b = regression(x, f, gamma)
    total = ((x @ w + b - f) ** 2).sum() + gamma * (w ** 2).sum()
    assert abs(total - np.trace(f.T @ (h - z @ inverse @ z.T) @ f)) < 1e-9
    put("smallest eigenvalues of L + mu L_g", values[:c])
    put("their vectors", f)
    put("rows of the new points", y @ w + b)


def first_suitable(*arguments):
    rng = np.random.default_rng(1)
    while True:
        before = len(blocks)
        try:
            return problem(rng, *arguments)
        except Unsuitable:
            del blocks[before:]


first_suitable(60, 8, 3, 5, 1.0, None)
first_suitable(150, 3, 4, 6, 0.1, 2.0)
first_suitable(30, 50, 3, 4, 3.0, 40.0)
first_suitable(40, 60, 2, 6, 1.0, None)
first_suitable(80, 5, 3, 7, 100.0, 0.01)
first_suitable(70, 6, 3, 8, 0.0, 1.0)

with open(os.path.join(here, "sec.txt"), "w") as file:
    file.write("# Made by make_sec.py.\n" + "".join(blocks))
