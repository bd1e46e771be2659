"""Steps of the published iteration and of the algorithm as printed, densely from their formulas.

Writes published.txt beside itself. Each problem is
    n c m printed squared weighted gamma epsilon steps
    weights (n, if weighted)
    F, row by row; G_0; G after the last step
    m edges: i j weight
    the objective after every step
Run with Debian's Python: /usr/bin/python3 make_published.py
"""
import os

import numpy as np

EPSILON = 1e-12


def objective(G, F, W, gamma, squared, mass):
    """The objective over unordered pairs."""
    d = np.linalg.norm(G - F, axis=1)
    pairs = np.linalg.norm(G[:, None] - G[None], axis=2)
    return (mass * (d**2 if squared else d)).sum() + gamma * np.triu(W * pairs).sum()


def reweighted(G, W, epsilon):
    return W / (2 * np.maximum(np.linalg.norm(G[:, None] - G[None], axis=2), epsilon))


def run(F, W, G, gamma, steps, printed, squared, mass, epsilon):
    values = []
    Wt = reweighted(G, W, epsilon)
    for _ in range(steps):
        d = np.linalg.norm(G - F, axis=1)
        S = np.diag(mass if squared else mass / (2 * np.maximum(d, epsilon)))
        if printed:
            M = S + gamma * Wt
        else:
            Wt = reweighted(G, W, epsilon)
            M = S + gamma * (np.diag(Wt.sum(1)) - Wt)
        G = np.linalg.solve(M, S @ F)
        values.append(objective(G, F, W, gamma, squared, mass))
    return G, values


def problem(rng, printed, squared, weighted, gamma, epsilon):
    n, c = int(rng.integers(8, 20)), int(rng.integers(1, 5))
    F = rng.standard_normal((n, c)) + 2 * (np.arange(n) % 3)[:, None]
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    W = W + W.T
    mass = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    G0 = rng.standard_normal((n, c))
    steps = 4 if printed else 25
    G, values = run(F, W, G0, gamma, steps, printed, squared, mass, epsilon)
    i, j = np.nonzero(np.triu(W))
    lines = [f"{n} {c} {len(i)} {printed:d} {squared:d} {weighted:d} {gamma} {epsilon} {steps}"]
    if weighted:
        lines.append(" ".join("%.17g" % v for v in mass))
    for rows in (F, G0, G):
        lines += [" ".join("%.17g" % v for v in row) for row in rows]
    lines += ["%d %d %.17g" % (a, b, W[a, b]) for a, b in zip(i, j)]
    lines.append(" ".join("%.17g" % v for v in values))
    return "\n".join(lines)


def main():
    rng = np.random.default_rng(7)
    kinds = [(False, False, False, 0.2, EPSILON), (False, False, True, 1.0, EPSILON),
             (False, True, False, 0.5, EPSILON), (False, False, False, 3.0, 0.25),
             (False, True, True, 2.0, 0.1), (True, False, False, 0.1, EPSILON),
             (True, False, True, 1.0, 0.5), (True, True, False, 0.3, EPSILON)]
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "published.txt"), "w") as out:
        out.write("# made by make_published.py\n")
        for kind in kinds:
            for _ in range(2):
                out.write(problem(rng, *kind) + "\n")


main()
