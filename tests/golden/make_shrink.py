"""Optima of small shrink problems by an independent conic solver (cvxopt).

Writes shrink.txt beside itself. Each problem is
    n c m loss gamma optimum   (loss 0: l21, 1: l2)
    F, row by row
    m edges: i j weight
Run with Debian's Python: /usr/bin/python3 make_shrink.py
"""
import os

import numpy as np
from cvxopt import matrix, solvers, spmatrix

solvers.options["show_progress"] = False


def cone(rows, columns, values, start, bound_column, parts):
    """One second-order cone: x[bound_column] >= ||parts||, parts = lists of (column, value)."""
    rows.append(start), columns.append(bound_column), values.append(-1.0)
    for k, part in enumerate(parts):
        for column, value in part:
            rows.append(start + 1 + k), columns.append(column), values.append(-value)


def optimum(F, edges, weights, gamma, squared):
    """Variables: G (n c), then a bound for every row (l21 only), then one for every edge."""
    n, c = F.shape
    m = len(edges)
    n_rows = 0 if squared else n
    size = n * c + n_rows + m
    cost = np.concatenate([np.zeros(n * c), np.ones(n_rows), gamma * weights])
    rows, columns, values, h = [], [], [], []
    for i in range(n_rows):
        cone(rows, columns, values, i * (c + 1), n * c + i, [[(i * c + k, 1.0)] for k in range(c)])
        h += [0.0] + list(-F[i])
    for e, (i, j) in enumerate(edges):
        cone(rows, columns, values, (n_rows + e) * (c + 1), n * c + n_rows + e,
             [[(i * c + k, 1.0), (j * c + k, -1.0)] for k in range(c)])
        h += [0.0] * (c + 1)
    G = spmatrix(values, rows, columns, ((n_rows + m) * (c + 1), size))
    dims = {"l": 0, "q": [c + 1] * (n_rows + m), "s": []}
    constant = 0.0
    P = spmatrix([], [], [], (size, size))
    if squared:
        P = spmatrix([2.0] * (n * c), range(n * c), range(n * c), (size, size))
        cost[: n * c] = -2 * F.ravel()
        constant = float((F**2).sum())
    # The solver breaks down when asked for more digits than a problem has: ask for fewer then.
    for tolerance in (1e-11, 1e-10, 1e-9, 1e-8):
        solvers.options.update(abstol=tolerance, reltol=tolerance, feastol=tolerance)
        try:
            answer = solvers.coneqp(P, matrix(cost), G, matrix(h), dims)
        except (ValueError, ArithmeticError):
            continue
        if answer["status"] == "optimal":
            break
    X = np.array(answer["x"]).ravel()[: n * c].reshape(n, c)
    value = ((X - F) ** 2).sum() if squared else np.linalg.norm(X - F, axis=1).sum()
    value += gamma * sum(w * np.linalg.norm(X[i] - X[j]) for (i, j), w in zip(edges, weights))
    bound = answer["dual objective"] + constant
    assert abs(value - bound) < 1e-7 * max(1, value), (value, bound)
    return value


def graph(rng, n, k, pieces):
    """k random neighbours each, within `pieces` separate pieces."""
    piece = np.sort(np.arange(n) % pieces)
    edges = set()
    for i in range(n):
        others = [j for j in range(n) if j != i and piece[j] == piece[i]]
        for j in rng.permutation(others)[:k]:
            edges.add((min(i, int(j)), max(i, int(j))))
    return sorted(edges)


def main():
    rng = np.random.default_rng(20150131)
    shapes = [(2, 1, 1, 1), (5, 2, 2, 1), (12, 1, 2, 1), (12, 3, 3, 1), (18, 2, 2, 3), (25, 3, 3, 2)]
    lines = ["# made by make_shrink.py: n c m loss gamma optimum, F, edges i j weight"]
    for n, c, k, pieces in shapes:
        F = np.round(rng.normal(size=(n, c)) + 3 * rng.integers(0, 2, size=(n, 1)), 3)
        if n == 12:
            F[3] = F[7]
            F[4] = F[5]
        edges = graph(rng, n, k, pieces)
        if n == 12:
            edges = sorted(set(edges) | {(3, 7), (4, 5)})
        weights = np.round(np.exp(-rng.exponential(size=len(edges))), 4)
        for squared in (False, True):
            for gamma in (0.2, 0.7, 1.5, 4.0, 20.0):
                value = optimum(F, edges, weights, gamma, squared)
                lines.append(f"{n} {c} {len(edges)} {int(squared)} {gamma} {value:.12g}")
                lines += [" ".join(f"{v:g}" for v in row) for row in F]
                lines += [f"{i} {j} {w:g}" for (i, j), w in zip(edges, weights)]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shrink.txt")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


main()
