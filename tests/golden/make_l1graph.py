"""Golden numbers for l1graph: l1graph.txt, by NumPy, compared with scikit-learn's Lasso.

The problem is solved for all codes at once on dense matrices, by an accelerated proximal gradient
method with restarts. Each block: the objective, the codes (a row for each point), and the points."""

import os

import numpy as np
from sklearn.linear_model import Lasso

K = 5
# n, d, dictionary, lambda, beta, Laplacians
CASES = [(24, 6, 8, 0.05, 0.3, 1), (30, 10, 29, 0.2, 1.0, 1), (28, 12, 10, 0.1, 0.0, 1),
         (26, 8, 12, 0.1, 0.2, 3)]
here = os.path.dirname(os.path.abspath(__file__))


def distances(x):
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    np.fill_diagonal(d, np.inf)
    return d, np.argsort(d, axis=1, kind="stable")


def neighbour_graph(x):
    d, order = distances(x)
    w = np.zeros(d.shape)
    local = np.sort(d, axis=1)[:, K - 1]
    for i in range(len(x)):
        for j in order[i, :K]:
            w[i, j] = w[j, i] = np.exp(max(-d[i, j] ** 2 / (local[i] * local[j]), -20))
    return w


def objective(u, a, w, lam, beta):
    pairs = ((a[:, None] - a[None]) ** 2).sum(-1)
    return ((u - a @ u) ** 2).sum() + lam * np.abs(a).sum() + beta * (w * pairs).sum() / 2


def solve(u, mask, w, lam, beta):
    gram = u @ u.T
    laplacian = np.diag(w.sum(1)) - w
    step = 0.5 / (np.linalg.norm(gram, 2) + beta * np.linalg.norm(laplacian, 2))
    a = point = np.zeros(gram.shape)
    momentum = 1.0
    for _ in range(200000):
        gradient = 2 * (point @ gram - gram) + 2 * beta * laplacian @ point
        moved = point - step * gradient
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * lam, 0) * mask
        change = new - a
        if np.abs(new - point).max() < 1e-15:
            break
        if ((point - new) * change).sum() > 0:
            momentum, point = 1.0, new
        else:
            following = (1 + np.sqrt(1 + 4 * momentum ** 2)) / 2
            point = new + (momentum - 1) / following * change
            momentum = following
        a = new
    return new


def check_by_lasso(u, mask, a, lam):
    for i in range(len(u)):
        among = np.flatnonzero(mask[i])
        lasso = Lasso(alpha=lam / 2 / u.shape[1], fit_intercept=False, tol=1e-14, max_iter=10 ** 6)
        assert np.abs(lasso.fit(u[among].T, u[i]).coef_ - a[i, among]).max() < 1e-6


with open(os.path.join(here, "l1graph.txt"), "w") as out:
    for seed, (n, d, m, lam, beta, laplacians) in enumerate(CASES):
        rng = np.random.default_rng(seed)
        x = (rng.standard_normal((n, d)) + 1).astype(np.float32).astype(float)
        u = x / np.linalg.norm(x, axis=1, keepdims=True)
        mask = np.zeros((n, n))
        for i, order in enumerate(distances(x)[1]):
            mask[i, order[:m]] = 1
        w = neighbour_graph(x)
        for _ in range(laplacians):
            a = solve(u, mask, w, lam, beta)
            value = objective(u, a, w, lam, beta)
            w = (np.abs(a) + np.abs(a).T) / 2
        if beta == 0:
            check_by_lasso(u, mask, a, lam)
        out.write("# n %d, d %d, dictionary %d, lambda %g, beta %g, Laplacians %d\n"
                  % (n, d, m, lam, beta, laplacians))
        for block in ([[value]], a, x):
            out.write("\n".join(" ".join("%.17g" % v for v in row) for row in np.asarray(block)) + "\n")
