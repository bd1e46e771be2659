"""Golden numbers for sec: sec.txt, by NumPy and SciPy.

Everything is computed densely, in double, from the definitions: the graph of nearest neighbours
with weights 1, its normalised Laplacian, and the matrix of the residual of the ridge regression.
The regression itself is solved as a least-squares problem. One block of numbers for each problem."""

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph

from blocks import Unsuitable, distances, draw_points, first_suitable, put, write


def graph(x, k):
    d = distances(x, x, k)
    a = d <= np.sort(d, axis=1)[:, [k - 1]]
    return np.logical_or(a, a.T).astype(float)


def regression(x, f, gamma):
    """W and b of the least squares problem with the rows sqrt(gamma) I below X."""
    n, d = x.shape
    left = np.block([[x, np.ones((n, 1))], [np.sqrt(gamma) * np.eye(d), np.zeros((d, 1))]])
    solution = scipy.linalg.lstsq(left, np.vstack([f, np.zeros((d, f.shape[1]))]))[0]
    return solution[:d], solution[d]


def problem(rng, n, d, c, k, mu, gamma, queries=9):
    x, y = draw_points(rng, n, d, c, 5, queries)
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


first_suitable(problem, 1, 60, 8, 3, 5, 1.0, None)
first_suitable(problem, 1, 150, 3, 4, 6, 0.1, 2.0)
first_suitable(problem, 1, 30, 50, 3, 4, 3.0, 40.0)
first_suitable(problem, 1, 40, 60, 2, 6, 1.0, None)
first_suitable(problem, 1, 80, 5, 3, 7, 100.0, 0.01)
first_suitable(problem, 1, 70, 6, 3, 8, 0.0, 1.0)

write("sec")
