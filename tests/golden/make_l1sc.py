"""Golden numbers for the l1-norm graph: l1sc.txt, by NumPy and SciPy.

Everything is dense and comes from the definitions: a step is the generalised eigenproblem of the
reweighted Laplacian, a new row is found by a general minimiser. Blocks of numbers follow each other
in the order of the calls of put() below, the same for each problem."""

import numpy as np
import scipy.linalg
import scipy.optimize

from blocks import Unsuitable, first_suitable, put, write

STEPS = 12


def smooth_distances(q, eps):
    return np.sqrt(((q[:, None] - q[None]) ** 2).sum(-1) + eps ** 2)


def problem(rng, n, c, epsilon, most, apart):
    x = (apart * rng.standard_normal((c, 3)))[np.arange(n) % c] + rng.standard_normal((n, 3))
    copies = rng.integers(1, most + 1, n).astype(float)
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    w = np.exp(-d ** 2 / 4) * (d <= np.sort(d, axis=1)[:, [6]])
    w = np.maximum(w, w.T) * np.sqrt(np.outer(copies, copies))  # with a diagonal, of no effect
    start = rng.standard_normal((n, c)) / np.sqrt(n)
    eps = epsilon * np.sqrt(2 * c / copies.sum())
    put("n, c, epsilon", [n, c, epsilon])
    put("copies", copies)
    put("graph", w)
    put("start", start)
    q, values = start, []
    for _ in range(STEPS + 1):
        s = w / smooth_distances(q, eps)
        laplacian = np.diag(s.sum(1)) - s
        theta, v = scipy.linalg.eigh(laplacian, np.diag(copies))
        if theta[1] < 1e-9 * theta[-1]:
            raise Unsuitable("components")
        if theta[c] - theta[c - 1] < 1e-2 * theta[c]:
            raise Unsuitable("eigengap")
        q = v[:, :c]
        values.append((w * (1 - np.eye(n)) * smooth_distances(q, eps)).sum() / 2)
        assert len(values) == 1 or values[-1] <= values[-2] * (1 + 1e-12)
    put("objective", values)
    put("rows", q)
    near = rng.choice(n, 5, replace=False)
    weights = rng.random(5) + 0.1
    scale = np.sqrt(c / copies.sum())

    def cost(row):
        gap = (row * scale - q[near]) / scale
        return (weights * np.sqrt((gap ** 2).sum(1) + (eps / scale) ** 2)).sum()

    start = (weights @ q[near]) / weights.sum() / scale
    found = scipy.optimize.minimize(cost, start, method="BFGS", options={"gtol": 1e-10})
    put("columns, weights and place of a new row", near)
    put("weights", weights)
    put("its row", found.x * scale)


first_suitable(problem, 1, 36, 3, 1e-3, 1, 3.0)
first_suitable(problem, 2, 40, 4, 0.05, 1, 1.5)
first_suitable(problem, 3, 30, 2, 1e-2, 4, 2.0)
first_suitable(problem, 4, 44, 5, 0.3, 3, 1.0)
first_suitable(problem, 5, 25, 1, 1e-2, 1, 0.5)
first_suitable(problem, 6, 34, 3, 1e-5, 1, 2.0)

write("l1sc")
