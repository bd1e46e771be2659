"""The data sets of bench/quality.py: real ones from $HUDDLE_DATA, scikit-learn's, and generated ones.

cases(folder) lists them. Each has a number of draws; draw k is generated, or subsampled, with seed k,
and is the same for every library and peer. Points are float32. Classes serve only to score labels.
"""
import dataclasses
import os
import pathlib
import sys
from typing import Callable

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]

import make_mnist70k  # noqa: E402

DRAWS = 3
IMAGES = {"ORL": "ORL.mat", "UMIST": "UMIST.mat", "BinAlpha": "BinAlpha36.mat", "YaleB": "YaleB.mat",
          "USPS": "USPS.h5", "MNIST10k": "MNIST10k.mat", "PenDigits": "PenDigits.mat"}
READ = {"BinAlpha": dict(classes="11-36", per_class=30),  # 26 letters, 30 of each
        "USPS": dict(x=["train/data", "test/data"], y=["train/target", "test/target"])}
SHAPES = ["2-cluster", "2spiral", "D1", "D13", "D2", "DS5", "S1", "S2", "S4", "banana", "cure-t2-4k",
          "curves1"]
BUNDLED = ["iris", "wine", "breast_cancer"]
NOISE_CLUSTERS = 5  # asked of uniform noise, which has no classes


@dataclasses.dataclass(frozen=True)
class Case:
    """A data set: load(draw) returns the points and the classes, or None for the classes."""
    group: str
    name: str
    load: Callable
    draws: int = 1

    def __str__(self):
        return f"{self.group}/{self.name}"


def image(folder, name):
    from huddle.datasets import load_digits, load_file
    if name == "digits":
        return load_digits()
    return load_file(pathlib.Path(folder) / IMAGES[name], **READ.get(name, {}))


def table(path):
    with np.load(path) as data:
        return data["X"], data["y"]


def bundled(name):
    import sklearn.datasets
    return getattr(sklearn.datasets, "load_" + name)(return_X_y=True)


def unbalanced(data, ratio, draw):
    """Half of the classes, chosen at random, reduced to 1/ratio of their points, but at least two."""
    X, y = data
    rng = np.random.default_rng(1000 * ratio + draw)
    classes = np.unique(y)
    small = set(rng.choice(classes, len(classes) // 2, replace=False).tolist())
    keep = []
    for k in classes.tolist():
        rows = np.flatnonzero(y == k)
        size = max(2, round(len(rows) / ratio)) if k in small else len(rows)
        keep.append(rng.permutation(rows)[:size])
    keep = np.sort(np.concatenate(keep))
    return X[keep], y[keep]


def blobs(sizes, rng, d=2, box=10, apart=5, spread=1.0):
    """Gaussian blobs whose centres are at least `apart` from each other."""
    while True:
        centres = rng.uniform(-box, box, (len(sizes), d))
        distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
        if (distance + np.eye(len(sizes)) * apart * 9 >= apart).all():
            break
    X = np.vstack([c + spread * rng.standard_normal((m, d)) for c, m in zip(centres, sizes)])
    return X, np.repeat(np.arange(len(sizes)), sizes)


def moons(rng, n=250, noise=.06):
    t, u = np.pi * rng.uniform(size=(2, n))
    X = np.vstack([np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(u), .5 - np.sin(u)]])
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1], n)


def rings(rng, n=300, noise=.04):
    t, u = 2 * np.pi * rng.uniform(size=n), 2 * np.pi * rng.uniform(size=2 * n)
    X = np.vstack([.5 * np.c_[np.cos(t), np.sin(t)], np.c_[np.cos(u), np.sin(u)]])
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1], [n, 2 * n])


def gaussians(rng, sizes=(1000, 20), d=20, apart=8.0):
    X = rng.standard_normal((sum(sizes), d))
    X[sizes[0]:, 0] += apart
    return X, np.repeat([0, 1], sizes)


def target(rng):
    """A disc, and a ring around it that has as many points."""
    n = 400
    r, t, u = np.sqrt(rng.uniform(size=n)), *(2 * np.pi * rng.uniform(size=(2, n)))
    ring = (3 + .15 * rng.standard_normal(n))[:, None] * np.c_[np.cos(u), np.sin(u)]
    return np.vstack([r[:, None] * np.c_[np.cos(t), np.sin(t)], ring]), np.repeat([0, 1], n)


def two_spirals(rng):
    n = 500
    t = 3 * np.pi * np.sqrt((np.arange(n) + rng.uniform(size=n)) / n) + .5
    arm = np.c_[t * np.cos(t), t * np.sin(t)] / 10
    X = np.vstack([arm, -arm])
    return X + .015 * rng.standard_normal(X.shape), np.repeat([0, 1], n)


def chains(rng):
    """Three long wavy lines above each other, of 150, 300 and 600 points."""
    sizes, parts = [150, 300, 600], []
    for k, n in enumerate(sizes):
        x = rng.uniform(0, 10, n)
        parts.append(np.c_[x, k + .3 * np.sin(x)])
    X = np.vstack(parts)
    return X + .05 * rng.standard_normal(X.shape), np.repeat(np.arange(3), sizes)


def rings_with_noise_column(rng):
    X, y = rings(rng)
    return np.c_[X, X.std() * rng.standard_normal(len(X))], y


def sheets(rng, n=60_000, c=40, inner=3, d=20):
    """Curved sheets of three dimensions, one per class, at random places in 20 dimensions."""
    y = rng.integers(0, c, n)
    X = np.empty((n, d), np.float32)
    for k in range(c):
        rows = np.flatnonzero(y == k)
        z = rng.uniform(-1, 1, (len(rows), inner))
        curved = np.c_[z, np.sin(2 * z), z * np.roll(z, 1, axis=1)]
        X[rows] = rng.uniform(-2, 2, d) + curved @ rng.standard_normal((3 * inner, d)) * .7
    return X + .1 * rng.standard_normal(X.shape, np.float32), y


def mnist70k(folder, cache):
    """10,000 digits of MNIST and six altered copies of each; curved sheets of this shape without it."""
    source = os.path.join(folder, IMAGES["MNIST10k"]) if folder else None
    where = os.path.join(cache, "mnist70k" if source else "sheets70k")
    x, y = make_mnist70k.make(where, source)
    return np.load(x), np.load(y)


SYNTHETIC = {
    "rings": rings, "target": target, "two spirals": two_spirals, "chains": chains,
    "moons": moons,
    "blobs 1000/100/50/20": lambda r: blobs([1000, 100, 50, 20], r, apart=9),
    "15 equal blobs": lambda r: blobs([100] * 15, r, box=15),
    "uniform noise": lambda r: (r.uniform(size=(600, 2)), None),
    "rings with a noise column": rings_with_noise_column,
    "Gaussians 1000:20 in 20-d": gaussians,
}


def speck(rng, size=7):
    """Eight blobs and a dense group of seven points far from them, which is not counted as a cluster."""
    X, y = blobs([100] * 8, rng)
    while True:
        direction = rng.standard_normal(X.shape[1])
        direction /= np.linalg.norm(direction)
        at = X.mean(0) + direction * 60
        if np.linalg.norm(X - at, axis=1).min() > 1.5:
            break
    return np.vstack([X, at + .1 * rng.standard_normal((size, X.shape[1]))]), np.r_[y, np.full(size, -1)]


def drawn(make):
    return lambda draw: make(np.random.default_rng(draw))


def cases(folder, cache):
    """Every case that can be loaded: without a folder, only what is bundled or generated."""
    names = [name for name in IMAGES if folder and os.path.exists(os.path.join(folder, IMAGES[name]))]
    names.append("digits")
    made = [Case("images", name, lambda draw, name=name: image(folder, name)) for name in names]
    for path in sorted(pathlib.Path(folder or "/nonexistent").glob("tables/*.npz"), key=lambda p: p.stem.lower()):
        group = "shapes" if path.stem in SHAPES else "tables"
        made.append(Case(group, path.stem, lambda draw, path=path: table(path)))
    made += [Case("bundled", name, lambda draw, name=name: bundled(name)) for name in BUNDLED]
    made += [Case("imbalance", f"{name} {ratio}:1", lambda draw, name=name, ratio=ratio:
                  unbalanced(image(folder, name), ratio, draw), DRAWS)
             for ratio in (3, 10) for name in names]
    made += [Case("synthetic", name, drawn(make), DRAWS) for name, make in SYNTHETIC.items()]
    made += [Case("auto", "8 blobs with a small group", drawn(speck), DRAWS),
             Case("time", "sheets 60,000 x 20", drawn(sheets)),
             Case("time", "MNIST 70,000 x 784" if folder else "sheets 70,000 x 784",
                  lambda draw: mnist70k(folder, cache))]
    return made
