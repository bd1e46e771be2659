"""Golden numbers for robust multi-view spectral clustering: rmsc.txt, by NumPy.

Everything is dense and as the method is written down: singular values by an SVD, rows projected
onto the simplex by bisection, the errors E_v and all multipliers kept; the stationary distribution
as the limit of powers of the chain. One block of numbers for each problem, see problem()."""

import os

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
blocks = []


def put(title, values):
    values = np.atleast_2d(np.asarray(values, dtype=float))
    text = "\n".join(" ".join("%.12g" % v for v in row) for row in values)
    blocks.append("# %s\n%s\n" % (title, text))


def project(row):
    """The nearest distribution: (row - eta)_+."""
    low, high = row.min() - 1, row.max()
    for _ in range(200):
        eta = (low + high) / 2
        low, high = (eta, high) if np.maximum(row - eta, 0).sum() > 1 else (low, eta)
    return np.maximum(row - low, 0)


def graph(rng, n, groups, inside, outside):
    """A symmetric graph, denser inside of groups, in which every point has an edge."""
    same = np.equal.outer(np.arange(n) % groups, np.arange(n) % groups)
    a = rng.uniform(.1, 1, (n, n)) * (rng.uniform(size=(n, n)) < np.where(same, inside, outside))
    a = np.triu(a, 1)
    a[np.arange(n - 1), np.arange(1, n)] += .05
    return a + a.T


def objective(chain, views, lam):
    return (np.linalg.svd(chain, compute_uv=False).sum()
            + lam * sum(np.abs(view - chain).sum() for view in views))


def decompose(views, lam, mu, growth, rounds):
    m, n = len(views), len(views[0])
    q = sum(views) / m
    z = np.zeros((n, n))
    errors, y = [z] * m, [z] * m
    for _ in range(rounds):
        target = q - z / mu + sum(v - e - u / mu for v, e, u in zip(views, errors, y))
        p = np.array([project(row) for row in target / (m + 1)])
        for k in range(m):
            t = views[k] - p - y[k] / mu
            errors[k] = np.sign(t) * np.maximum(np.abs(t) - lam / mu, 0)
        u, s, vt = np.linalg.svd(p + z / mu)
        s = np.maximum(s - 1 / mu, 0)
        q = u * s @ vt
        y = [u + mu * (p + e - v) for u, e, v in zip(y, errors, views)]
        z = z + mu * (p - q)
        violation = max(np.abs(p - q).max(),
                        *[np.abs(p + e - v).max() for e, v in zip(errors, views)])
        mu = min(mu * growth, 1e5)
    return p, s, violation


def distribution(p):
    """The limit of p^k for a row; chains here are irreducible."""
    p = (p + np.eye(len(p))) / 2
    for _ in range(60):
        p = p @ p
        p /= p.sum(axis=1, keepdims=True)
    return p[0]


def problem(seed, n, m, groups, factor, mu, growth, rounds):
    """factor: lambda in units of the smallest that is useful, 1 / (2 entries of all views)."""
    rng = np.random.default_rng(seed)
    graphs = [graph(rng, n, groups, .6, .1 if k < 2 else .35) for k in range(m)]
    views = [a / a.sum(axis=1, keepdims=True) for a in graphs]
    lam = factor / (2 * sum((a > 0).sum() / n for a in graphs))
    p, s, violation = decompose(views, lam, mu, growth, rounds)
    pi = distribution(p)
    put("n m lambda/auto mu growth rounds", [n, m, factor / 3, mu, growth, rounds])
    for a in graphs:
        put("graph", a)
    put("lambda, rank, nuclear norm of Q, violation, objective of P",
        [lam, (s > 0).sum(), s.sum(), violation, objective(p, views, lam)])
    put("deviations", [np.abs(v - p).sum() / n for v in views])
    put("P", p.round(9))
    put("pi", pi)
    put("its graph", ((pi[:, None] * p + p.T * pi) / 2).round(9))


problem(1, 24, 1, 3, 2.6, 1, 1.1, 12)
problem(2, 24, 1, 2, 2.2, 10, 1.1, 60)
problem(3, 21, 3, 3, 2.6, 1, 1.2, 15)
problem(4, 24, 3, 2, 3.2, 5, 1.05, 90)
problem(5, 18, 3, 3, 3.0, 20, 1, 40)

with open(os.path.join(here, "rmsc.txt"), "w") as file:
    file.write("# Made by make_rmsc.py.\n" + "".join(blocks))
