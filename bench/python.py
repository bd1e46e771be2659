#!/usr/bin/python3
"""The Python package: overhead of a call, memory, and speed beside scikit-learn.

    bench/python.py [--bytes 1e9] [DATA]

DATA is a file of points; by default USPS from the folder $HUDDLE_DATA, or clustered synthetic
points of its size if it is not set. Three measurements:

    overhead   time of fit() beyond the C time, on data of the size of the digits, over many runs
    memory     growth of peak memory while K-means runs on a large float32 array, in its own process
    fit        SpectralShrunkClustering(prepare="none") beside scikit-learn's SpectralClustering with
               the same number of neighbours, with its default and its other eigen_solvers
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import numpy as np
from sklearn.cluster import SpectralClustering as SklearnSpectralClustering

from huddle import KMeans, SpectralShrunkClustering
from huddle.datasets import load_digits, load_file
from huddle.metrics import accuracy


def measure_overhead():
    X, _ = load_digits()
    for name, make in (("KMeans(10, n_init=1)", lambda: KMeans(10, n_init=1)),
                       ("SpectralShrunkClustering(10, prepare='none')",
                        lambda: SpectralShrunkClustering(10, prepare="none"))):
        beyond = []
        for _ in range(31):
            model = make()
            began = time.perf_counter()
            model.fit(X)
            seconds = time.perf_counter() - began
            beyond.append(seconds - model.info_["seconds"]["total"])
        print(f"overhead  {name}: least {1e3 * min(beyond):.2f} ms, "
              f"median {1e3 * statistics.median(beyond):.2f} ms beyond the C time")


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_memory(size):
    """Runs in its own process, which is started with --memory-child."""
    words = [sys.executable, __file__, "--memory-child", "--bytes", str(size)]
    print(subprocess.run(words, check=True, capture_output=True, text=True).stdout, end="")


def memory_child(size):
    d = 64
    n = int(size / 4 / d)
    X = np.empty((n, d), np.float32)
    rng = np.random.default_rng(0)
    for start in range(0, n, 65536):
        part = X[start:start + 65536]
        part[:] = rng.random(part.shape, np.float32)
    KMeans(2, n_init=1).fit(X[:100])
    before = peak_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KMeans(8, n_init=1, max_iter=2, init="sample").fit(X)
    grown = peak_bytes() - before
    print(f"memory    array {X.nbytes / 1e9:.2f} GB, peak before {before / 1e9:.2f} GB, grew by "
          f"{grown / 1e9:.3f} GB: {grown / X.nbytes:.3f} of a second copy")


def points(path):
    folder = os.environ.get("HUDDLE_DATA")
    if path is None and folder and os.path.exists(os.path.join(folder, "USPS.h5")):
        path = os.path.join(folder, "USPS.h5")
    if path is None:
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=9298)
        centres = 1.1 * rng.standard_normal((10, 256))
        noise = rng.standard_normal((9298, 40)) @ rng.standard_normal((40, 256)) / 6
        return "synthetic", (centres[y] + noise).astype(np.float32), y
    names = {}
    if os.path.basename(path) == "USPS.h5":
        names = dict(x=["train/data", "test/data"], y=["train/target", "test/target"])
    X, y = load_file(path, **names)
    return os.path.basename(path), X, y


def timed(model, X, repeats):
    best = None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        run = time.perf_counter() - wall, time.process_time() - cpu
        best = run if best is None else tuple(map(min, best, run))
    return best


def measure_fit(path):
    name, X, y = points(path)
    clusters = len(np.unique(y)) if y is not None else 10
    print(f"fit       {name}, {X.shape[0]} x {X.shape[1]}, {clusters} clusters, 5 neighbours")

    def line(who, wall, cpu, model):
        score = f"  ACC {accuracy(y, model.labels_):.3f}" if y is not None else ""
        print(f"  {who:28} {wall:7.2f} s wall {cpu:7.2f} s CPU{score}", flush=True)

    ours = SpectralShrunkClustering(clusters, prepare="none")
    wall, cpu = timed(ours, X, 5)
    line("huddle SSC", wall, cpu, ours)
    rivals = {}
    for solver, repeats in (("arpack", 2), ("lobpcg", 2), ("amg", 2)):
        theirs = SklearnSpectralClustering(clusters, affinity="nearest_neighbors", n_neighbors=5,
                                           eigen_solver=solver, random_state=0, n_jobs=-1)
        try:
            rivals[solver] = timed(theirs, X, repeats)
        except (ImportError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            print(f"  scikit-learn {solver:15} did not run: {error}")
            continue
        line(f"scikit-learn {solver}", *rivals[solver], theirs)
    fastest = min(rivals, key=lambda solver: rivals[solver][0])
    default = rivals["arpack"]
    print(f"  faster than the default (arpack) {default[0] / wall:.1f} times in wall time, "
          f"{default[1] / cpu:.1f} in CPU time; than the fastest ({fastest}) "
          f"{rivals[fastest][0] / wall:.1f} and {rivals[fastest][1] / cpu:.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=float, default=1e9)
    parser.add_argument("--memory-child", action="store_true")
    parser.add_argument("data", nargs="?")
    arguments = parser.parse_args()
    if arguments.memory_child:
        memory_child(arguments.bytes)
        return
    measure_overhead()
    measure_memory(arguments.bytes)
    measure_fit(arguments.data)


if __name__ == "__main__":
    main()
