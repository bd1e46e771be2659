"""Golden numbers of K-means: scikit-learn's Lloyd from given centres. Run by /usr/bin/python3.

kmeans.txt holds cases one after the other, each as
    n d c weighted max_iter tol
    x (n x d, floats)
    weights (n), if weighted
    start (c x d)
    n_iter inertia
    labels (n)
    centres (c x d)
All data are float numbers, the computation is in double.
"""
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine

warnings.filterwarnings("ignore")
rng = np.random.default_rng(20)


def show(values):
    return " ".join(np.format_float_positional(v, unique=True, trim="-") if np.isfinite(v) and abs(v) < 1e15
                    and (v == 0 or abs(v) > 1e-5) else repr(float(v)) for v in np.ravel(values))


def case(out, name, x, start, weights=None, max_iter=300, tol=1e-4):
    x = np.asarray(x, np.float32)
    start = np.asarray(start, np.float64)
    n, d = x.shape
    c = len(start)
    fit = KMeans(c, init=start, n_init=1, max_iter=max_iter, tol=tol, algorithm="lloyd")
    fit.fit(x.astype(np.float64), sample_weight=weights)
    print(f"{name}: n {n}, d {d}, c {c}, n_iter {fit.n_iter_}, inertia {fit.inertia_:g}")
    out.write(f"# {name}\n{n} {d} {c} {int(weights is not None)} {max_iter} {tol!r}\n")
    for row in x:
        out.write(show(row) + "\n")
    if weights is not None:
        out.write(show(weights) + "\n")
    for row in start:
        out.write(show(row) + "\n")
    out.write(f"{fit.n_iter_} {float(fit.inertia_)!r}\n")
    out.write(" ".join(map(str, fit.labels_)) + "\n")
    for row in fit.cluster_centers_:
        out.write(show(row) + "\n")


def rows_of(x, c):
    return np.asarray(x, np.float32)[rng.choice(len(x), c, replace=False)]


with open(__file__.replace("make_kmeans.py", "kmeans.txt"), "w") as out:
    iris, wine, digits = load_iris().data, load_wine().data, load_digits().data[:200]
    for c in (1, 2, 3, 7, 20):
        case(out, f"iris, {c} clusters", iris, rows_of(iris, c))
    case(out, "iris to the very end", iris, rows_of(iris, 5), tol=0)
    case(out, "iris, three iterations", iris, rows_of(iris, 6), max_iter=3, tol=0)
    case(out, "iris, weighted", iris, rows_of(iris, 4), weights=rng.uniform(0.1, 5, len(iris)))
    case(out, "wine, columns of very different size", wine, rows_of(wine, 3))
    for c in (10, 50):
        case(out, f"digits, {c} clusters", digits, rows_of(digits, c))
    line = rng.normal(size=(300, 1))
    case(out, "a line", line, rows_of(line, 9))
    blobs = np.concatenate([rng.normal(m, 0.3, size=(40, 2)) for m in ((0, 0), (5, 0), (0, 5), (9, 9))])
    case(out, "a start far away: its cluster is empty", blobs, [[0, 0], [5, 5], [1000, 1000]])
    case(out, "two empty clusters", blobs, [[0, 0], [900, 0], [5, 5], [1000, 1000]])
    case(out, "far from the origin", blobs + 4096, rows_of(blobs + 4096, 4), tol=0)
    wide = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 150))
    case(out, "more columns than rows", wide, rows_of(wide, 4))
