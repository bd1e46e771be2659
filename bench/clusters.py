#!/usr/bin/python3
"""How many clusters does `-c auto` find? A study, not a benchmark of speed.

For generated data of known structure, several draws each, and the data sets in $HUDDLE_DATA if it is
set: the true number, the number found, and the adjusted Rand index of the labels. Small components,
groups of a few points far from all others, do not count as clusters: they are left out of the index,
and finding them besides the clusters (8 + 1) is right. A number that modularity chose, because no eigengap
is clear, is marked by Q.

    bench/clusters.py [--tool build/huddle] [--against OTHER_TOOL] [--draws 5] [--method sc]
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).parent.parent
SMALL_GROUP = -1


def blobs(sizes, rng, d=2, box=10, apart=5, spread=1.0):
    """Gaussian blobs whose centres are at least `apart` from each other."""
    while True:
        centres = rng.uniform(-box, box, (len(sizes), d))
        distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
        if (distance + np.eye(len(sizes)) * apart * 9 >= apart).all():
            break
    X = np.vstack([c + spread * rng.standard_normal((m, d)) for c, m in zip(centres, sizes)])
    return X, np.repeat(np.arange(len(sizes)), sizes)


def with_small_group(data, rng, far, size=7):
    """A dense group of a few points, far from everything or just outside a cluster."""
    X, y = data
    d = X.shape[1]
    while True:
        direction = rng.standard_normal(d)
        direction /= np.linalg.norm(direction)
        start = X.mean(0) if far else X[rng.integers(len(X))]
        at = start + direction * (60 if far else rng.uniform(2, 6))
        if np.linalg.norm(X - at, axis=1).min() > 1.5:
            break
    return (np.vstack([X, at + .1 * rng.standard_normal((size, d))]),
            np.r_[y, np.full(size, SMALL_GROUP)])


def with_small_groups(count, data, rng, far):
    for _ in range(count):
        data = with_small_group(data, rng, far)
    return data


def one_far(data):
    X, y = data
    return X + 60. * (y == 0)[:, None], y


def moons(rng, n=250, noise=.06):
    t, u = np.pi * rng.uniform(size=(2, n))
    X = np.vstack([np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(u), .5 - np.sin(u)]])
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1], n)


def rings(rng, n=300, noise=.04):
    t, u = 2 * np.pi * rng.uniform(size=n), 2 * np.pi * rng.uniform(size=2 * n)
    X = np.vstack([.5 * np.c_[np.cos(t), np.sin(t)], np.c_[np.cos(u), np.sin(u)]])
    return X + noise * rng.standard_normal(X.shape), np.repeat([0, 1], [n, 2 * n])


def spirals(rng, n=400, noise=.02):
    parts = []
    for arm in range(3):
        t = np.pi * (.5 + 1.5 * (np.arange(n) + rng.uniform(size=n)) / n)
        turn = t + 2 * np.pi * arm / 3
        parts.append(np.c_[t * np.cos(turn), t * np.sin(turn)] / 6)
    X = np.vstack(parts)
    return X + noise * rng.standard_normal(X.shape), np.repeat(np.arange(3), n)


def generated(kind, n, seed, tool=ROOT / "build/huddle"):
    """A shape of `huddle generate`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "points.npz"
        subprocess.run([str(tool), "generate", "-q", kind, "--n", str(n), "--seed", str(seed), "-o",
                        str(path)], check=True)
        with np.load(path) as file:
            return file["X"], file["y"]


def gaussians(rng, sizes=(1000, 20), d=20, apart=8.0):
    X = rng.standard_normal((sum(sizes), d))
    X[sizes[0]:, 0] += apart
    return X, np.repeat([0, 1], sizes)


def uniform(rng, n, d):
    return rng.uniform(size=(n, d)), np.zeros(n, int)


def iris():
    from sklearn.datasets import load_iris
    return load_iris(return_X_y=True)


CASES = {
    "8 blobs": lambda r: blobs([100] * 8, r),
    "8 blobs, small group far": lambda r: with_small_group(blobs([100] * 8, r), r, True),
    "8 blobs, small group near": lambda r: with_small_group(blobs([100] * 8, r), r, False),
    "8 blobs in 10-d": lambda r: blobs([100] * 8, r, d=10, box=2.5),
    "8 blobs in 10-d, small group far": lambda r: with_small_group(
        blobs([100] * 8, r, d=10, box=2.5), r, True),
    "8 blobs in 10-d, small group near": lambda r: with_small_group(
        blobs([100] * 8, r, d=10, box=2.5), r, False),
    "8 blobs, one far": lambda r: one_far(blobs([100] * 8, r)),
    "8 blobs, 30 points far": lambda r: with_small_group(blobs([100] * 8, r), r, True, 30),
    "3 blobs": lambda r: blobs([100] * 3, r, box=5),
    **{f"3 blobs, {k} small groups {'far' if far else 'near'}":
       lambda r, k=k, far=far: with_small_groups(k, blobs([100] * 3, r, box=5), r, far)
       for far in (True, False) for k in (1, 2, 3)},
    "moons": moons,
    "moons touching": lambda r: moons(r, 400, .1),
    "rings": rings,
    "spirals": spirals,
    "1000/100/50/20": lambda r: blobs([1000, 100, 50, 20], r, apart=9),
    "1000/100/50/20 in 10-d": lambda r: blobs([1000, 100, 50, 20], r, d=10, box=3, apart=6),
    "1000/20": lambda r: blobs([1000, 20], r, apart=9),
    "15 blobs": lambda r: blobs([100] * 15, r, box=15),
    "15 blobs apart": lambda r: blobs([100] * 15, r, box=25, apart=8),
    "15 blobs in 10-d": lambda r: blobs([100] * 15, r, d=10, box=3),
    "1000/20 in 20-d": gaussians,
    **{f"generated {kind}, {n}": lambda r, kind=kind, n=n: generated(kind, n, r.integers(1 << 30))
       for kind in ("moons", "rings", "spirals", "swissroll") for n in (500, 2000)},
    "uniform": lambda r: uniform(r, 600, 2),
    "uniform in 10-d": lambda r: uniform(r, 600, 10),
}
FILES = {"ORL": [], "UMIST": [], "YaleB": [], "MNIST10k": [], "PenDigits": [],
         "BinAlpha36": ["--classes", "11-36", "--per-class", "30"],
         "USPS": ["--x", "train/data", "--x", "test/data", "--y", "train/target", "--y",
                  "test/target"]}


def run(tool, source, method, folder, options=()):
    labels = folder / "labels.npy"
    command = [tool, "cluster", "-q", str(source), "-c", "auto", "-m", method, "--json",
               "-o", str(labels), *options]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return report, np.load(labels)


def found(report, labels, y):
    """The number of clusters found, as text, and the adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score
    best = report["choice"][0]
    small = best.get("small_components") or 0
    number = f"{best['n_clusters'] - small}+{small}" if small else str(best["n_clusters"])
    number += "Q" if report.get("chosen_by") == "modularity" else ""
    if y is None:
        return number, report["scores"]["ari"]
    keep = y != SMALL_GROUP
    return number, adjusted_rand_score(y[keep], labels[keep])


def print_row(name, true, columns):
    print(f"{name:34s} {true:>4}  " +
          "   ".join(f"{numbers:32s} {np.mean(scores):5.2f}" for numbers, scores in columns),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", default=str(ROOT / "build/huddle"))
    parser.add_argument("--against", help="another build, shown first")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--method", default="sc")
    given = parser.parse_args()
    tools = [tool for tool in (given.against, given.tool) if tool]
    print(f"{'data':34s} true  " + "   ".join(f"{tool[-32:]:32s}   ARI" for tool in tools))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, make in {**CASES, "iris": lambda r: iris()}.items():
            columns = [([], []) for _ in tools]
            for draw in range(1 if case == "iris" else given.draws):
                X, y = make(np.random.default_rng(draw))
                np.save(folder / "x.npy", X)
                for tool, (numbers, scores) in zip(tools, columns):
                    number, score = found(*run(tool, folder / "x.npy", given.method, folder), y)
                    numbers.append(number)
                    scores.append(score)
            print_row(case, len(set(y) - {SMALL_GROUP}), [(" ".join(n), s) for n, s in columns])
        sets = {"digits": ("digits", [])}
        data = os.environ.get("HUDDLE_DATA")
        for case, options in FILES.items() if data else ():
            for path in sorted(pathlib.Path(data).glob(case + ".*")):
                sets[case] = (path, options)
        for case, (path, options) in sets.items():
            reports = [run(tool, path, given.method, folder, options) for tool in tools]
            print_row(case, reports[0][0]["n_classes"],
                      [(n, [s]) for n, s in (found(*r, None) for r in reports)])


if __name__ == "__main__":
    main()
