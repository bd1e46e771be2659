"""Golden numbers for mixtures of Gaussians: mixture.txt, by NumPy.

EM is written from its definition, row by row of densities, with the covariance itself, its
determinant and its inverse. Where no variance reaches the floor, the likelihood that scikit-learn's
GaussianMixture reaches from the same labels after as many rounds must be the same to 1e-8."""

import os
import warnings

import numpy as np
from sklearn.mixture import GaussianMixture

COVARIANCES = ["full", "tied", "diagonal", "spherical"]
here = os.path.dirname(os.path.abspath(__file__))
blocks = []


def put(title, values):
    values = np.atleast_2d(np.asarray(values, dtype=float))
    text = "\n".join(" ".join("%.17g" % v for v in row) for row in values)
    blocks.append("# %s\n%s\n" % (title, text))


def problem(seed, n, d, c, spread, flat):
    """Overlapping clouds of different shape; flat: the last column is the sum of two others."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, c, n)
    centres = spread * rng.standard_normal((c, d))
    shapes = rng.standard_normal((c, d, d)) / 2 + np.eye(d)
    x = np.array([centres[k] + shapes[k] @ rng.standard_normal(d) for k in truth])
    if flat:
        x[:, -1] = x[:, 0] + x[:, 1]
    labels = np.where(rng.random(n) < .7, truth, rng.integers(0, c, n))
    copies = rng.integers(1, 4, n)
    return x.astype(np.float32).astype(float), labels, copies


def restrict(s, least):
    values, vectors = np.linalg.eigh(s)
    return vectors @ np.diag(np.maximum(values, least)) @ vectors.T


def covariances(x, shares, means, kind, least):
    c, d = means.shape
    sizes = shares.sum(0)
    scatter = [(x - means[k]).T @ np.diag(shares[:, k]) @ (x - means[k]) for k in range(c)]
    if kind == "tied":
        return [restrict(sum(scatter) / sizes.sum(), least)] * c
    own = [s / size for s, size in zip(scatter, sizes)]
    if kind == "diagonal":
        own = [np.diag(np.diag(s)) for s in own]
    if kind == "spherical":
        own = [np.trace(s) / d * np.eye(d) for s in own]
    return [restrict(s, least) for s in own]


def logs(x, weights, means, s):
    n, d = x.shape
    out = np.empty((n, len(weights)))
    for k, (w, m) in enumerate(zip(weights, means)):
        inverse, determinant = np.linalg.inv(s[k]), np.linalg.slogdet(s[k])[1]
        for i in range(n):
            out[i, k] = np.log(w) - (d * np.log(2 * np.pi) + determinant
                                     + (x[i] - m) @ inverse @ (x[i] - m)) / 2
    return out


def em(x, labels, copies, kind, least, rounds):
    c = labels.max() + 1
    shares = np.eye(c)[labels] * copies[:, None]
    history = []
    for _ in range(rounds + 1):
        sizes = shares.sum(0)
        weights, means = sizes / sizes.sum(), shares.T @ x / sizes[:, None]
        s = covariances(x, shares, means, kind, least)
        log = logs(x, weights, means, s)
        total = np.logaddexp.reduce(log, axis=1)
        history.append((copies * total).sum())
        shares = np.exp(log - total[:, None]) * copies[:, None]
    return np.array(history), weights, means, s, log.argmax(1)


def sklearn_likelihood(x, labels, copies, kind, rounds):
    """From the same labels, by repeating rows; its likelihood is that before its last round."""
    x, labels = np.repeat(x, copies, 0), np.repeat(labels, copies)
    name = {"diagonal": "diag"}.get(kind, kind)
    c = labels.max() + 1
    start = em(x, labels, np.ones(len(x), int), kind, 1e-12, 0)
    s = np.array(start[3])
    precision = {"full": np.linalg.inv(s), "tied": np.linalg.inv(s[0]),
                 "diagonal": 1 / np.array([np.diag(v) for v in s]),
                 "spherical": 1 / s[:, 0, 0]}[kind]
    model = GaussianMixture(c, covariance_type=name, tol=0, reg_covar=0, max_iter=rounds,
                            weights_init=start[1], means_init=start[2], precisions_init=precision)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x)
    return model.score(x) * len(x)


def main():
    problems = [(1, 60, 3, 3, 2., False, 9), (2, 90, 5, 4, 1.5, False, 12),
                (3, 50, 2, 2, 1., False, 20), (4, 40, 4, 3, 2., True, 7)]
    put("problems", [len(problems)])
    for seed, n, d, c, spread, flat, rounds in problems:
        x, labels, copies = problem(seed, n, d, c, spread, flat)
        least = (1e-2 if flat else 1e-7) * x.var(0).mean()
        put("n, d, c, rounds, least", [n, d, c, rounds, least])
        put("points", x)
        put("labels", labels)
        put("copies", copies)
        for kind in COVARIANCES:
            history, weights, means, s, last = em(x, labels, copies, kind, least, rounds)
            smallest = min(np.linalg.eigvalsh(v).min() for v in s)
            if not flat:
                assert smallest > 2 * least, (kind, smallest, least)
                other = sklearn_likelihood(x, labels, copies, kind, rounds)
                assert abs(other / history[-1] - 1) < 1e-8, (kind, other, history[-1])
            assert (np.diff(history) > -1e-9 * abs(history[-1])).all()
            put("%s: likelihoods" % kind, history)
            put("weights", weights)
            put("means", means)
            put("covariances", np.vstack(s))
            put("last labels", last)
    with open(os.path.join(here, "mixture.txt"), "w") as file:
        file.write("\n".join(blocks))


main()
