#!/usr/bin/python3
"""Another reading of SPLS than the method spls: the objective of a program that others have published.

    HUDDLE_DATA=... bench/pattern_shrinking.py [ORL UMIST ...]

For the points x_i, centred and scaled to mean squared norm 1, minimises over y_i and P'P = I

    (1 - alpha) sum_{i~j} w_ij |y_i - y_j|^2 + alpha sum_i |x_i - y_i|^2 - beta sum_i |P'(y_i - mean)|^2

in turn: y_i by linear systems with the Laplacian of the graph, P by the first eigenvectors of the
covariance of the y_i; then K-means on P'y_i. Five neighbours, one delta^2, the mean squared distance.
beta < alpha, or the systems are not definite. Prints the best ACC over alpha, beta and the dimension, chosen
by the labels (docs/method.md, "The reconstruction of SPLS").
"""
import itertools
import os
import pathlib
import sys
import warnings

import numpy as np

from measure import ROOT

sys.path.insert(0, str(ROOT / "python"))
from huddle import KMeans  # noqa: E402
from huddle.datasets import load_file  # noqa: E402
from huddle.metrics import scores  # noqa: E402

ALPHAS, SHARES, ROUNDS = (.05, .15, .3, .5, .9), (0, .5, .9), 10
MAX_DIM = 200  # principal components kept, beyond the dimension of every subspace that is tried


def load(name):
    X, y = load_file(pathlib.Path(os.environ["HUDDLE_DATA"], f"{name}.mat"))
    X = X - X.mean(axis=0, dtype=float)
    X /= np.sqrt(np.square(X).sum(axis=1).mean())
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, :MAX_DIM] * S[:MAX_DIM], y


def laplacian(X):
    distance = squares(X)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :5]
    linked = np.zeros(distance.shape, bool)
    np.put_along_axis(linked, near, True, axis=1)
    linked |= linked.T
    np.fill_diagonal(distance, 0)
    W = linked * np.exp(-distance / np.take_along_axis(distance, near, axis=1).mean())
    return np.diag(W.sum(axis=1)) - W


def squares(X):
    norms = np.square(X).sum(axis=1)
    return np.maximum(norms[:, None] + norms - 2 * X @ X.T, 0)


def patterns(X, L, alpha, beta, dim):
    """P'y_i of all points."""
    n = len(X)
    system = (1 - alpha) * L + alpha * np.eye(n)
    outside = alpha * np.linalg.solve(system, X)
    inside = alpha * np.linalg.solve(system - beta * (np.eye(n) - 1 / n), X)
    Y = outside
    for _ in range(ROUNDS):
        P = np.linalg.eigh(np.cov(Y.T))[1][:, -dim:]
        Y = outside + (inside - outside) @ P @ P.T
    return Y @ P


def main():
    warnings.simplefilter("ignore")  # of columns with most of the variance, which these are meant to be
    for name in sys.argv[1:] or ("ORL", "UMIST"):
        X, y = load(name)
        L, c, best = laplacian(X), len(np.unique(y)), (0,)
        for alpha, share, dim in itertools.product(ALPHAS, SHARES, (len(np.unique(y)), 50)):
            G = np.ascontiguousarray(patterns(X, L, alpha, share * alpha, dim))
            labels = KMeans(n_clusters=c, n_init=10, random_state=0).fit_predict(G)
            best = max(best, (scores(y, labels)["acc"], alpha, share * alpha, dim))
        print(f"{name}: ACC {best[0]:.3f} at alpha {best[1]:g}, beta {best[2]:g}, dim {best[3]}")


if __name__ == "__main__":
    main()
