#!/usr/bin/python3
"""Whole runs beside scikit-learn's SpectralClustering, memory at 70,000 x 784, and growth with n.

    bench/endtoend.py [--plot FILE]

USPS is read from $HUDDLE_DATA; without it, points of the same shape are generated. Both sides use 5
neighbours and 10 restarts of K-means; `prepare` is none, because scikit-learn has no such stage. Times
are CPU seconds, the smallest of a few runs. --plot draws the growth from 1,000 to 50,000 points.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np  # noqa: E402
import sklearn.cluster  # noqa: E402

import huddle  # noqa: E402
from huddle.datasets import load_file, make_blobs  # noqa: E402

warnings.simplefilter("ignore")


def usps():
    folder = os.environ.get("HUDDLE_DATA", "")
    path = pathlib.Path(folder) / "USPS.h5"
    if folder and path.exists():
        return load_file(path, x=["train/data", "test/data"], y=["train/target", "test/target"])[0]
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(60, 256))
    return np.float32(centres[rng.integers(60, size=9298)] + .8 * rng.normal(size=(9298, 256)))


def seconds(work, runs):
    """The smallest CPU and wall seconds of several runs."""
    best = (np.inf, np.inf)
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        best = (min(best[0], time.process_time() - cpu), min(best[1], time.perf_counter() - wall))
    return best


def theirs(X, c, solver):
    return sklearn.cluster.SpectralClustering(
        c, affinity="nearest_neighbors", n_neighbors=5, n_init=10, eigen_solver=solver,
        random_state=0, n_jobs=2).fit(X)


def compare():
    X = usps()
    ours = {name: seconds(lambda: estimator(10, prepare="none", n_init=10, n_jobs=2).fit(X), 5)
            for name, estimator in (("sc", huddle.SpectralClustering),
                                    ("ssc", huddle.SpectralShrunkClustering))}
    peers = {solver or "default (arpack)": seconds(lambda: theirs(X, 10, solver), 2)
             for solver in (None, "lobpcg")}
    print(f"USPS, {X.shape[0]} x {X.shape[1]}, 10 restarts: seconds of CPU (wall)")
    for name, (cpu, wall) in {**ours, **peers}.items():
        print(f"  {name:18s} {cpu:7.3f} ({wall:.3f})")
    for name, (cpu, wall) in ours.items():
        for peer, (their_cpu, their_wall) in peers.items():
            print(f"  {name:4s} over {peer:18s} {their_cpu / cpu:6.1f} x CPU  "
                  f"{their_wall / wall:6.1f} x wall")


def memory():
    """Peak memory of ssc at 70,000 x 784, in a process of its own."""
    import make_mnist70k
    folder = HERE.parent / "build" / "bench-data" / "mnist70k"
    if not (folder / "x.npy").exists():
        mnist = pathlib.Path(os.environ.get("HUDDLE_DATA", "")) / "MNIST10k.mat"
        make_mnist70k.make(str(folder), str(mnist) if mnist.exists() else None)
    tool = HERE.parent / "build" / "huddle"
    began = time.perf_counter()
    subprocess.run([tool, "cluster", folder / "x.npy", "-c", "10", "--prepare", "none", "--y", "none",
                    "--n-init", "10", "-q"], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    size = 70000 * 784 * 4
    graph = 70000 * 7 * 2 * 12
    limit = 3 * size + graph + 100e6
    print(f"ssc at 70,000 x 784: {wall:.1f} s wall, peak {peak / 1e6:.0f} MB; "
          f"3 x input + graph + 100 MB is {limit / 1e6:.0f} MB")


def growth(plot):
    sizes, rows = [1000, 2000, 5000, 10000, 20000, 50000], {}
    rng = np.random.default_rng(0)
    for n in sizes:
        X = np.float32(make_blobs(n, random_state=1)[0] @ rng.normal(size=(2, 20)) +
                       .3 * rng.normal(size=(n, 20)))
        row = {"huddle ssc": seconds(lambda: huddle.SpectralShrunkClustering(
                   5, prepare="none", n_init=10, n_jobs=2).fit(X), 2)[0],
               "huddle sc": seconds(lambda: huddle.SpectralClustering(
                   5, prepare="none", n_init=10, n_jobs=2).fit(X), 2)[0]}
        if n <= 20000:
            row["scikit-learn lobpcg"] = seconds(lambda: theirs(X, 5, "lobpcg"), 1)[0]
        rows[n] = row
        print(f"  n = {n:6d}  " + "  ".join(f"{k} {v:8.3f} s" for k, v in row.items()), flush=True)
    if plot:
        draw(rows, plot)


def draw(rows, plot):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6, 4))
    for name in rows[1000]:
        points = [(n, row[name]) for n, row in rows.items() if name in row]
        axes.loglog(*zip(*points), "o-", label=name)
    axes.set_xlabel("points (20 features, 5 clusters)")
    axes.set_ylabel("CPU seconds")
    axes.grid(True, which="both", alpha=.25)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(plot, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot")
    options = parser.parse_args()
    compare()
    memory()
    growth(options.plot)


if __name__ == "__main__":
    main()
