"""Golden numbers for ldmgi: ldmgi.txt, by NumPy and SciPy.

Everything is computed densely, in double, from the definitions: cliques of centred points, their
Laplacians by the inverse in the feature space, new points by the weights and the intercept of a
ridge regression. One block of numbers for each problem, see put() at the end."""

import numpy as np
import scipy.linalg
import scipy.sparse.csgraph

from blocks import Unsuitable, distances, draw_points, first_suitable, put, write


def nearest(x, y, k):
    return np.argsort(distances(x, y, k), axis=1, kind="stable")[:, :k]


def clique_laplacian(x, lam):
    """I - X'(X X' + lam I)^-1 X of the centred points, times H: lam H (X'X + lam I)^-1 H."""
    m, d = x.shape
    h = np.eye(m) - 1 / m
    z = h @ x
    return (h - z @ np.linalg.solve(z.T @ z + lam * np.eye(d), z.T)) / lam


def problem(rng, n, d, c, k, lam, cosine, queries=9):
    x, y = draw_points(rng, n, d, c, 2 * cosine, queries)
    title = "n d c k lambda metric queries"
    put(title, [n, d, c, k, -1 if lam is None else lam, cosine, queries])
    put("points", x)
    put("new points", y)
    if cosine:
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y /= np.linalg.norm(y, axis=1, keepdims=True)
    variance = 1 if cosine else x.var(axis=0).sum()
    lam = variance if lam is None else lam
    total, graph = np.zeros((n, n)), np.zeros((n, n))
    for i, near in enumerate(nearest(x, x, k)):
        members = np.append(near, i)
        graph[i, near] = 1
        total[np.ix_(members, members)] += (lam + variance) * clique_laplacian(x[members], lam)
    if scipy.sparse.csgraph.connected_components(graph)[0] > 1:
        raise Unsuitable("components")
    values, vectors = scipy.linalg.eigh(total)
    if values[c] - values[c - 1] < 1e-3 * values[-1]:
        raise Unsuitable("eigengap")
    put("smallest eigenvalues of L", values[:c])
    put("their vectors", vectors[:, :c])
    rows = []
    for i, near in enumerate(nearest(x, y, k)):
        z = x[near] - x[near].mean(axis=0)
        g = vectors[near, :c]
        w = np.linalg.solve(z.T @ z + lam * np.eye(d), z.T @ (g - g.mean(axis=0)))
        rows.append(g.mean(axis=0) + (y[i] - x[near].mean(axis=0)) @ w)
    put("rows of the new points", rows)


first_suitable(problem, 1, 60, 8, 3, 5, None, 0)
first_suitable(problem, 1, 50, 2, 4, 6, 0.05, 0)
first_suitable(problem, 1, 45, 12, 3, 4, 30.0, 0)
first_suitable(problem, 1, 55, 6, 3, 7, None, 1)
first_suitable(problem, 1, 40, 20, 2, 5, 0.01, 1)
first_suitable(problem, 1, 48, 9, 3, 8, 1e6, 0)

write("ldmgi")
