"""Checks a reported gap independently, with NumPy and SciPy only.

    huddle cluster DATA --dump DIR --json > result.json
    /usr/bin/python3 tests/certificate.py DIR result.json

Reads F.npy, W.npz and G.npy of the dump, and gamma, objective, dual, gap (and the loss) of the
result. Recomputes the objective of G from its definition, and builds dual points of its own:
reweighted least-squares steps from G, each solved by SciPy's sparse LU. Every one of them bounds
the optimum from below. The report is correct if the objective agrees, the reported dual does not
exceed any objective found here, and (objective - own bound) / objective is at most the reported gap
(plus --slack, which this script's own solver may leave). Exit status 0 if so, 1 if not.
"""
import argparse
import json
import os
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu


class Problem:
    def __init__(self, F, W, gamma, squared):
        upper = sp.triu(W, 1).tocoo()
        self.F, self.squared, self.n, self.m = F, squared, F.shape[0], upper.nnz
        self.i, self.j, self.weight = upper.row, upper.col, gamma * upper.data
        ones, edges = np.ones(self.m), np.arange(self.m)
        self.B = sp.csr_matrix((np.r_[ones, -ones], (np.r_[edges, edges], np.r_[self.i, self.j])),
                               (self.m, self.n))
        self.components, self.component = connected_components(W, directed=False)
        means = np.zeros((self.components, F.shape[1]))
        np.add.at(means, self.component, F)
        means /= np.bincount(self.component)[:, None]
        far = np.linalg.norm(F - means[self.component], axis=1)
        farthest = np.zeros(self.components)
        np.maximum.at(farthest, self.component, far)
        # An optimal G lies in the convex hull of its component's rows of F.
        self.radius = far + farthest[self.component]

    def objective(self, G):
        moved = np.linalg.norm(G - self.F, axis=1)
        loss = (moved**2).sum() if self.squared else moved.sum()
        return loss + (self.weight * np.linalg.norm(G[self.i] - G[self.j], axis=1)).sum()

    def bound(self, Z):
        """The best lower bound that Z proves, scaled within each component."""
        length = np.linalg.norm(Z, axis=1)
        Z = Z * np.minimum(1, self.weight / np.maximum(length, 1e-300))[:, None]
        inner = np.bincount(self.component[self.i],
                            (Z * (self.F[self.i] - self.F[self.j])).sum(axis=1), self.components)
        Y = self.B.T @ Z
        if self.squared:
            energy = np.bincount(self.component, (Y**2).sum(axis=1), self.components)
            s = np.clip(2 * inner / np.maximum(energy, 1e-300), 0, 1)
            return (s * inner - s**2 * energy / 4).sum()
        norm = np.linalg.norm(Y, axis=1)
        total = 0.0
        excess = np.flatnonzero(norm > 1)
        violated = np.unique(self.component[excess])
        total += inner.sum() - inner[violated].sum()
        for q in violated:
            rows = excess[self.component[excess] == q]
            y, R = norm[rows], self.radius[rows]
            candidates = np.r_[0.0, 1.0, 1 / y]
            if len(candidates) > 2000:
                candidates = np.r_[0.0, 1.0, np.quantile(1 / y, np.linspace(0, 1, 2000))]
            total += max(s * inner[q] - (R * np.maximum(s * y - 1, 0)).sum() for s in candidates)
        return total

    def improve(self, G, gap, steps):
        """Reweighted steps from G; yields points and bounds."""
        objective = self.objective(G)
        tau = max(3 * gap, 1e-6)
        h, x = G - self.F, G[self.i] - G[self.j]
        for step in range(steps):
            r = np.sqrt((x**2).sum(axis=1) + (tau * objective / self.weight.sum())**2)
            rho = np.sqrt((h**2).sum(axis=1) + (tau * objective / self.n)**2)
            vertex_weight = np.full(self.n, 2.0) if self.squared else 1 / rho
            edge_weight = self.weight / r
            M = sp.diags(vertex_weight) + self.B.T @ sp.diags(edge_weight) @ self.B
            right = -(vertex_weight[:, None] * h + self.B.T @ (edge_weight[:, None] * x))
            delta = splu(M.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0,
                         options={"SymmetricMode": True}).solve(right)
            move = self.B @ delta
            yield self.F + h, self.bound(edge_weight[:, None] * (x + move))
            h, x = h + delta, x + move
            if step % 8 == 7:
                tau = max(0.5 * tau, 0.1 * gap)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("result", help="JSON of the run, or - for standard input")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--slack", type=float, default=2e-6,
                        help="relative gap that the own bound may leave (2e-6)")
    options = parser.parse_args()
    with sys.stdin if options.result == "-" else open(options.result) as file:
        result = json.load(file)
    reported = result["shrink"]
    squared = result.get("options", {}).get("loss", "l21") == "l2"
    F, G = (np.load(os.path.join(options.directory, name)) for name in ("F.npy", "G.npy"))
    W = sp.csr_matrix(sp.load_npz(os.path.join(options.directory, "W.npz")))
    assert abs(W - W.T).sum() <= 1e-9 * abs(W).sum() and W.diagonal().sum() == 0
    problem = Problem(F, W, reported["gamma"], squared)
    objective = problem.objective(G)
    lowest, bound, steps = objective, 0.0, 0
    if problem.m > 0 and reported["gamma"] > 0 and objective > 1e-12 * np.linalg.norm(F, axis=1).sum():
        for point, own in problem.improve(G, max(reported["gap"], 1e-7), options.steps):
            lowest, bound, steps = min(lowest, problem.objective(point)), max(bound, own), steps + 1
            if bound >= reported["dual"]:
                break
    else:
        bound = objective
    own_gap = max(0.0, objective - bound) / objective if objective > bound else 0.0
    checks = {
        "the objective is that of G": abs(objective - reported["objective"]) <= 1e-9 * objective,
        "the dual is below every objective found": reported["dual"] <= lowest * (1 + 1e-9),
        "the gap follows from objective and dual":
            abs(max(0, reported["objective"] - reported["dual"]) - reported["gap"] * reported["objective"])
            <= 1e-9 * reported["objective"],
        "an independent bound proves the gap": own_gap <= reported["gap"] * (1 + 1e-9) + options.slack,
    }
    print(f"objective {objective:.9g}, reported {reported['objective']:.9g}; own bound {bound:.9g} after "
          f"{steps} steps, reported {reported['dual']:.9g}; gap {own_gap:.3g}, reported {reported['gap']:.3g}")
    for name, holds in checks.items():
        print(("ok     " if holds else "FAILED ") + name)
    sys.exit(0 if all(checks.values()) else 1)


main()
