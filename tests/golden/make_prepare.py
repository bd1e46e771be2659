"""Golden numbers of the preparations, from NumPy's means and singular value decomposition and SciPy's
ranks.

Run with Debian's python3 (python3-numpy, python3-scipy). Writes prepare.txt beside this file.
"""
import pathlib

import numpy as np
import scipy.stats

RULES = ("none", "standard", "unit", "center-rows", "center-columns", "pca", "whiten", "ranks", "clip")
rng = np.random.default_rng(20240312)


def unit_rows(y, rounding):
    norm = np.linalg.norm(y, axis=1)
    zero = norm <= rounding
    return np.where(zero[:, None], 0, y / np.where(zero, 1, norm)[:, None])


def fit(rule, r, x):
    """Returns r clipped, the variance kept and the function that prepares points."""
    n, d = x.shape
    mean = x.mean(axis=0)
    small = 1e-13 * max(1, np.abs(x).max())
    if rule == "none":
        return 0, 1, lambda z: z
    if rule in ("standard", "clip"):
        deviation = x.std(axis=0)
        deviation[np.ptp(x, axis=0) == 0] = np.inf
        limit = 2 if rule == "clip" else np.inf
        return 0, 1, lambda z: np.clip((z - mean) / deviation, -limit, limit)
    if rule == "ranks":
        ranks = scipy.stats.rankdata(x, axis=0) / n
        ranks[:, np.ptp(x, axis=0) == 0] = 0
        return 0, 1, lambda z: np.stack([np.interp(z[:, j], *np.unique(np.stack((x[:, j], ranks[:, j])), axis=1))
                                         for j in range(d)], axis=1)
    if rule == "unit":
        return 0, 1, lambda z: unit_rows(z, 0)
    if rule == "center-rows":
        return 0, 1, lambda z: unit_rows(z - z.mean(axis=1, keepdims=True), small)
    if rule == "center-columns":
        return 0, 1, lambda z: unit_rows(z - mean, small)
    s, vt = np.linalg.svd(x - mean, full_matrices=False)[1:]
    rank = int((s**2 > 16 * max(n, d) * np.finfo(float).eps * s[0]**2).sum()) if s[0] > small else 0
    r = min(r, rank, n - 1)
    total = (s**2).sum() if rank else 0
    if r == 0:
        return 1, 1 if total == 0 else 0, lambda z: np.zeros((len(z), 1))
    v = vt[:r].T
    v = v * np.sign(v[np.abs(v).argmax(axis=0), np.arange(r)])
    if rule == "whiten":
        v = v / (s[:r] / np.sqrt(n))
    return r, (s[:r]**2).sum() / total, lambda z: unit_rows((z - mean) @ v, small)


def points(n, d):
    """Numbers that float holds exactly, with a spectrum that falls off."""
    return np.round(rng.normal(size=(n, d)) * (1 + np.arange(d)[::-1]) * 64) / 64 + 3


def data_sets():
    yield points(12, 5)
    yield points(30, 8)
    yield points(6, 15)
    yield points(1, 4)
    yield points(2, 3)
    x = points(10, 4)
    yield x[[0, 0, 1, 2, 2, 2, 3, 4, 5, 0]]
    x = points(14, 6)
    x[:, [1, 4]] = 0.1875, -7
    x[[3, 8]] = 0
    x[5] = 2.5
    yield x
    yield np.tile(points(1, 3), (5, 1))
    x = points(9, 4)
    x[4] = 2 * x[:4].sum(axis=0) + x[5:].sum(axis=0)
    x[4] = -x[4] + x.sum(axis=0) - x[4]
    yield x - np.round(x.mean(axis=0))
    yield points(7, 1)


with open(pathlib.Path(__file__).parent / "prepare.txt", "w") as out:
    print("# For each case: rule, R, n, d, points, R clipped, columns, variance kept, prepared", file=out)
    print("# points, two new points, prepared. Made by make_prepare.py.", file=out)
    for x in data_sets():
        new = points(2, x.shape[1])
        for code, rule in enumerate(RULES):
            for r in (2, 100) if rule in ("pca", "whiten") else (0,):
                clipped, kept, prepare = fit(rule, r, x)
                y, z = prepare(x), prepare(new)
                print(code, r, *x.shape, file=out)
                print(*map(repr, x.ravel().tolist()), file=out)
                print(clipped, y.shape[1], repr(float(kept)), file=out)
                print(*("%.12g" % v for v in y.ravel()), file=out)
                print(*map(repr, new.ravel().tolist()), file=out)
                print(*("%.12g" % v for v in z.ravel()), file=out)
