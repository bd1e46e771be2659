"""Golden numbers of the metrics: scikit-learn's and SciPy's, and NumPy's from the definitions.

Run with Debian's python3 (python3-numpy, python3-scipy, python3-sklearn). Writes metrics_*.txt
beside this file.
"""
import pathlib

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn import metrics as sk
from sklearn.metrics.cluster import contingency_matrix

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(20240311)


def write(name, title, cases):
    with open(HERE / name, "w") as out:
        print(f"# {title} Made by make_metrics.py.", file=out)
        print(len(cases), file=out)
        for case in cases:
            for part in case:
                numbers = np.atleast_1d(part).ravel()
                print(*(repr(int(v)) if float(v).is_integer() and abs(v) < 1e15 else repr(float(v))
                        for v in numbers), file=out)


def score_case(truth, labels):
    truth, labels = np.asarray(truth), np.asarray(labels)
    table = contingency_matrix(truth, labels)
    rows, cols = linear_sum_assignment(-table)
    n = len(truth)
    return (n, truth, labels, table[rows, cols].sum() / n,
            sk.normalized_mutual_info_score(truth, labels, average_method="geometric"),
            sk.adjusted_rand_score(truth, labels), table.max(axis=0).sum() / n)


def labellings():
    yield [3], [7]
    yield [0, 1], [0, 1]
    yield [0, 1], [1, 1]
    yield [0, 0], [0, 1]
    yield [5] * 12, [2] * 12
    yield [5] * 12, range(12)
    yield range(12), [1] * 12
    yield range(9), range(9)
    yield range(9), range(8, -1, -1)
    yield [0, 0, 1, 1], [0, 1, 0, 1]
    yield [-2**31, 2**31 - 1, 0, 0, 2**31 - 1], [2**31 - 1, -2**31, 5, -7, -2**31]
    for n, a, b in ((10, 2, 3), (50, 5, 5), (100, 3, 17), (200, 30, 4), (150, 150, 150),
                    (300, 40, 60), (400, 10, 10)):
        yield rng.integers(0, a, n), rng.integers(0, b, n)
    for noise in (0.02, 0.3, 0.8):
        truth = rng.integers(-4, 6, 300)
        labels = np.where(rng.random(300) < noise, rng.integers(0, 12, 300), truth * 7 % 11)
        yield truth, labels


write("metrics_scores.txt", "n, truth, labels, acc, nmi, ari, purity.",
      [score_case(*pair) for pair in labellings()])


def assignment(rows, cols, whole):
    value = rng.integers(-9, 10, (rows, cols)) if whole else rng.normal(size=(rows, cols))
    r, c = linear_sum_assignment(value, maximize=True)
    return rows, cols, value, value[r, c].sum()


write("metrics_assign.txt", "rows, columns, values, the largest sum.",
      [assignment(*shape) for shape in ((1, 1, False), (1, 6, False), (6, 1, True), (4, 4, True),
                                        (7, 12, False), (12, 7, True), (25, 25, False))])


def silhouette(n, d, c, spread):
    labels = rng.integers(0, c, n)
    points = np.round((rng.normal(size=(n, d)) + spread * rng.normal(size=(c, d))[labels]) * 16) / 16
    points[rng.random((n, d)) < 0.4] = 0
    points[n // 2] = points[0]
    return n, d, points, labels * 3 - 1, sk.silhouette_score(points, labels)


write("metrics_silhouette.txt", "n, d, points, labels, mean silhouette.",
      [silhouette(*case) for case in ((12, 2, 3, 4.0), (40, 5, 4, 1.0), (90, 3, 20, 2.0))])


def graph(n, c, density):
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    weights = weights + weights.T
    labels = rng.integers(0, c, n)
    degree = weights.sum(axis=1)
    total = degree.sum()
    together = labels[:, None] == labels[None, :]
    ncut = sum(weights[labels == k][:, labels != k].sum() / degree[labels == k].sum()
               for k in np.unique(labels) if degree[labels == k].sum() > 0)
    null = np.outer(degree, degree) / total
    return n, weights, labels, ncut, ((weights - null) * together).sum() / total


write("metrics_graph.txt", "n, weights, labels, normalised cut, modularity.",
      [graph(*case) for case in ((6, 2, 0.7), (25, 4, 0.3), (25, 6, 0.05))])


def entropy_terms(x):
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0)


def graph_scores(n, c, density):
    """All scores from the dense table of weight between clusters; weights may have loops."""
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 0)
    weights = weights + np.triu(weights, 1).T
    labels = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    member = labels[:, None] == np.arange(c)[None, :]
    table = member.T @ weights @ member / weights.sum()
    v, d = table.sum(axis=1), np.diag(table)
    f, s, q = d.sum(), (v ** 2).sum(), v - d
    J = f * np.log(f / s) + ((1 - f) * np.log((1 - f) / (1 - s)) if f < 1 else 0)
    expected = np.where(table > 0, np.outer(v, v), 1)
    MI = np.where(table > 0, table * np.log(np.where(table > 0, table, 1) / expected), 0).sum()
    L = entropy_terms(q.sum()) - 2 * entropy_terms(q).sum() + entropy_terms(q + v).sum()
    H = -entropy_terms(weights.sum(axis=1) / weights.sum()).sum()
    ncut = (q[v > 0] / v[v > 0]).sum()
    return n, weights, labels, f, s, J, MI, float(L), H, f - s, ncut


write("metrics_graph_scores.txt", "n, weights, labels, f, s, J, MI, L, H, Q, normalised cut.",
      [graph_scores(*case) for case in ((6, 2, 0.7), (30, 4, 0.3), (40, 9, 0.06), (12, 1, 0.4))])
