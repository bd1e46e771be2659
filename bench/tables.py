#!/usr/bin/python3
"""Tables, shapes and images: do the defaults keep up with the best simple method? A study of labels.

Adjusted Rand index, c known, mean over seeds, of K-means, K-means on standardised columns, sc and ssc
on the points as they are, and ssc with all defaults, which prepares the points and may return K-means
labels. "best" is the largest of the first four, known only to someone who has the classes; the last
column says what the defaults decided. Data: scikit-learn's iris, wine, breast cancer and digits,
generated tables and shapes, and every NAME.npz (X, y) in $HUDDLE_DATA/tables if it is set.

    bench/tables.py [--seeds 3] [--draws 3] [--max-points 5000] [NAME ...]
"""
import argparse
import os
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python")]

import numpy as np  # noqa: E402
import sklearn.datasets  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402

import huddle  # noqa: E402

warnings.simplefilter("ignore")
METHODS = ("K-means", "K-means std", "sc", "ssc", "best", "default")


# ---- data --------------------------------------------------------------------------------------


def generated_table(rng, kind):
    """Classes seen through columns of different units; kind says what makes the columns difficult."""
    n, c, p = int(np.exp(rng.uniform(5, 8))), int(rng.integers(2, 7)), int(rng.integers(4, 16))
    y = np.arange(n) % c
    centres = rng.uniform(1, 2.5) * rng.standard_normal((c, p)) * min(1, 8 / p) ** .5
    noise = .8 * rng.standard_t(3, (n, p)) if kind == "outliers" else rng.standard_normal((n, p))
    X = centres[y] + noise
    if kind == "irrelevant":
        X = np.c_[X, rng.standard_normal((n, p))]
    for j in range(X.shape[1]):
        if kind == "skewed" and rng.random() < .5:
            X[:, j] = np.exp(.8 * X[:, j])
        elif kind == "categories" and j % 2:
            levels = np.quantile(X[:, j], np.sort(rng.random(rng.integers(1, 5))))
            X[:, j] = np.digitize(X[:, j], levels)
    return (X - X.min(0)) * 10 ** rng.uniform(-2, 3, X.shape[1]), y


def moons(rng, n=800, noise=.08):
    return sklearn.datasets.make_moons(n, noise=noise, random_state=int(rng.integers(1 << 30)))


def rings(rng, n=1200, noise_column=0.):
    y = np.arange(n) % 2
    angle, radius = 2 * np.pi * rng.random(n), 1 + 1.2 * y + .05 * rng.standard_normal(n)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    return (np.c_[X, noise_column * rng.standard_normal(n)] if noise_column else X), y


def unequal_blobs(rng, sizes=(1000, 100, 50, 20)):
    centres = np.array([[0, 0], [9, 0], [0, 9], [9, 9]]) + rng.uniform(-1, 1, (4, 2))
    y = np.repeat(np.arange(4), sizes)
    return centres[y] + rng.standard_normal((len(y), 2)), y


def unequal_gaussians(rng, d=20, sizes=(1000, 20)):
    y = np.repeat([0, 1], sizes)
    direction = rng.standard_normal(d)
    return rng.standard_normal((len(y), d)) + 8 * y[:, None] * direction / np.linalg.norm(direction), y


def word_counts(rng, n=1000, d=300, c=4):
    words = 1 / np.arange(1, d + 1)
    topics = words * (.6 + rng.gamma(.3, 1, (c, d)))
    y = np.arange(n) % c
    return np.array([rng.multinomial(80, topics[k] / topics[k].sum()) for k in y], float), y


GENERATED = {f"table, {kind}": (lambda rng, kind=kind: generated_table(rng, kind))
             for kind in ("plain", "outliers", "irrelevant", "skewed", "categories")}
GENERATED |= {"moons": moons, "rings": rings, "blobs 1000:100:50:20": unequal_blobs,
              "rings, a noise column": lambda rng: rings(rng, noise_column=.3),
              "20-d Gaussians 1000:20": unequal_gaussians, "word counts": word_counts}


def data(names, draws):
    """Yields (name, [(X, y), ...]), one pair per draw, for the names given (all if none are)."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        if not names or name in names:
            yield name, [getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)]
    for name, make in GENERATED.items():
        if not names or name in names:
            yield name, [make(np.random.default_rng(draw)) for draw in range(draws)]
    folder = pathlib.Path(os.environ.get("HUDDLE_DATA", "")) / "tables"
    for path in sorted(folder.glob("*.npz")) if os.environ.get("HUDDLE_DATA") else []:
        if path.stem not in ("iris", "wine") and (not names or path.stem in names):
            with np.load(path) as file:
                yield path.stem, [(file["X"], file["y"])]


# ---- methods -----------------------------------------------------------------------------------


def plain(estimator, c, seed):
    """The method on the points as they are, its own labels: what release 0.2 calls prepare none."""
    options = {"refine": "none"} if "refine" in estimator().get_params() else {}
    return estimator(c, prepare="none", random_state=seed, **options)


def decision(info):
    """What the defaults did, from the description of the fit."""
    refined = info.get("refine") or {}
    parts = [info["prepare"]["rule"], str(refined.get("labels_from") or refined.get("from") or "")]
    return ", ".join(part for part in parts if part)


def scores(X, y, c, seed):
    X = np.ascontiguousarray(X, np.float32)
    deviation = X.std(0)
    standardised = (X - X.mean(0)) / np.where(deviation > 0, deviation, 1)
    default = huddle.SpectralShrunkClustering(c, random_state=seed).fit(X)
    labels = [huddle.KMeans(c, random_state=seed).fit_predict(X),
              huddle.KMeans(c, random_state=seed).fit_predict(standardised),
              plain(huddle.SpectralClustering, c, seed).fit_predict(X),
              plain(huddle.SpectralShrunkClustering, c, seed).fit_predict(X)]
    simple = [adjusted_rand_score(y, each) for each in labels]
    return simple + [max(simple), adjusted_rand_score(y, default.labels_)], decision(default.info_)


def sample(X, y, largest):
    keep = np.sort(np.random.default_rng(0).permutation(len(X))[:largest])
    return X[keep], y[keep]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--max-points", type=int, default=5000)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    print("| data | n x d, c | " + " | ".join(METHODS) + " | decision |\n|---|---|" + "---:|" * 6 + "---|")
    means = []
    for name, draws in data(arguments.names, arguments.draws):
        draws = [sample(np.asarray(X), np.asarray(y), arguments.max_points) for X, y in draws]
        # Draws of generated data differ, so each is clustered once; real data once per seed.
        runs = draws if len(draws) > 1 else draws * arguments.seeds
        found = [scores(X, y, len(np.unique(y)), seed) for seed, (X, y) in enumerate(runs)]
        means.append(np.mean([values for values, _ in found], 0))
        n, d = runs[0][0].shape
        print(f"| {name} | {n} x {d}, {len(np.unique(runs[0][1]))} | "
              + " | ".join(f"{value:.3f}" for value in means[-1])
              + f" | {'; '.join(sorted({text for _, text in found}))} |", flush=True)
    if means:
        lost = [values[4] - values[5] for values in means]
        print("| mean | | " + " | ".join(f"{value:.3f}" for value in np.mean(means, 0)) + " | |")
        print(f"\nlargest loss against the best simple method {max(lost):.3f}; "
              f"losses above .05: {sum(loss > .05 for loss in lost)} of {len(lost)}")


if __name__ == "__main__":
    main()
