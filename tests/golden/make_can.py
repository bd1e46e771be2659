"""Golden numbers for clustering with adaptive neighbours: can.txt, by NumPy and SciPy.

Dense, from the definitions: all pairs of points, projections onto the simplex by bisection, all
eigenvectors of L."""

import os

import numpy as np
from scipy.sparse.csgraph import connected_components

here = os.path.dirname(os.path.abspath(__file__))
blocks = []


def put(title, values):
    values = np.atleast_2d(np.asarray(values, dtype=float))
    text = "\n".join(" ".join("%.17g" % v for v in row) for row in values)
    blocks.append("# %s\n%s\n" % (title, text))


def clouds(seed, n, d, c, spread):
    rng = np.random.default_rng(seed)
    x = spread * rng.standard_normal((c, d))[np.arange(n) % c] + rng.standard_normal((n, d))
    return x.astype(np.float32).astype(float)


def project(d, gamma):
    """The s of sum 1 that minimises d's + gamma s's: (eta - d)_+ / 2 gamma."""
    low, high = d.min(), d.max() + 2 * gamma
    for _ in range(200):
        eta = (low + high) / 2
        low, high = (eta, high) if np.maximum(eta - d, 0).sum() < 2 * gamma else (low, eta)
    return np.maximum(high - d, 0) / (2 * gamma)


def graph(dx, near, gamma, f, lam):
    n = len(dx)
    s = np.zeros((n, n))
    for i in range(n):
        df = ((f[i] - f[near[i]]) ** 2).sum(1) if f is not None else 0
        s[i, near[i]] = project(dx[i, near[i]] + lam * df, gamma[i])
    s[s < 1e-12] = 0
    count, labels = connected_components(s + s.T, directed=False)
    return s, count, labels


def vectors(s, c):
    a = (s + s.T) / 2
    return np.linalg.eigh(np.diag(a.sum(1)) - a)[1][:, :c]


def adapt(x, c, k, rounds):
    n = len(x)
    dx = ((x[:, None] - x[None]) ** 2).sum(-1)
    order = np.argsort(dx + np.diag([np.inf] * n), axis=1, kind="stable")[:, :-1]
    k = min(k, n - 2)
    while True:
        near = order[:, :min(2 * k, n - 1)]
        nearest = np.take_along_axis(dx, order, 1)
        gamma = (k * nearest[:, k] - nearest[:, :k].sum(1)) / 2
        s, count, labels = graph(dx, near, gamma, None, 0)
        if count <= c or k == n - 2:
            break
        k = min(2 * k, n - 2)
    lam, step, f, was_few, done = gamma.mean(), 2., None, True, 0
    while count != c and done < rounds:
        few = count < c
        if few:
            f = vectors(s, c)
        step = step if few == was_few else np.sqrt(step)
        was_few = few
        if done:
            lam *= step if few else 1 / step
        s, count, labels = graph(dx, near, gamma, f, lam)
        done += 1
    objective = (s * (dx + gamma[:, None] * s)).sum()
    return s, labels, count, k, done, lam, objective


def main():
    problems = [(1, 45, 2, 3, 2.5, 5, 60), (2, 60, 4, 4, 2., 6, 60), (3, 50, 3, 5, 3., 1, 60),
                (4, 40, 2, 2, 1., 4, 60), (5, 40, 2, 3, .8, 8, 3), (14, 40, 2, 6, 1.5, 2, 60)]
    put("problems", [len(problems)])
    for seed, n, d, c, spread, k, rounds in problems:
        x = clouds(seed, n, d, c, spread)
        s, labels, count, used, done, lam, objective = adapt(x, c, k, rounds)
        print(n, d, c, "->", count, "components,", used, "neighbours,", done, "rounds, lambda", lam)
        put("n, d, c, k, rounds", [n, d, c, k, rounds])
        put("points", x)
        put("components, k, rounds, lambda, objective", [count, used, done, lam, objective])
        put("labels", labels)
        put("S", s)
    with open(os.path.join(here, "can.txt"), "w") as file:
        file.write("\n".join(blocks))


main()
