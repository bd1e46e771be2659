#!/usr/bin/python3
"""Overhead and memory of the Python package, and its speed compared to scikit-learn.

    bench/python.py [--bytes 1e9] [DATA]

DATA is a file of points. The default is USPS in the folder $HUDDLE_DATA, or synthetic clusters of the
same size if there is no such file. The measurements:

    overhead   time of fit() in addition to that of the C library, on the digits, of many runs
    memory     growth of the peak memory while K-means runs on a large float32 array, in a process
               of its own
    fit        SpectralShrunkClustering(prepare="none") and scikit-learn's SpectralClustering with
               the same number of neighbours and each of its eigen_solvers
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
        overheads = []
        for _ in range(31):
            model = make()
            start = time.perf_counter()
            model.fit(X)
            seconds = time.perf_counter() - start
            overheads.append(seconds - model.info_["seconds"]["total"])
        print(f"overhead  {name}: minimum {1e3 * min(overheads):.2f} ms, "
              f"median {1e3 * statistics.median(overheads):.2f} ms")


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_memory(size):
    """Measure in a new process, since the peak of a process never decreases."""
    command = [sys.executable, __file__, "--memory-child", "--bytes", str(size)]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


def run_memory_child(size):
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
    growth = peak_bytes() - before
    print(f"memory    array {X.nbytes / 1e9:.2f} GB, peak before {before / 1e9:.2f} GB, growth "
          f"{growth / 1e9:.3f} GB, {growth / X.nbytes:.3f} of the array")


def load_points(path):
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


def time_fit(model, X, repeats):
    """Return the smallest wall and CPU times of several fits."""
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
    name, X, y = load_points(path)
    clusters = len(np.unique(y)) if y is not None else 10
    print(f"fit       {name}, {X.shape[0]} x {X.shape[1]}, {clusters} clusters, 5 neighbours")

    def print_row(name, wall, cpu, model):
        score = f"  ACC {accuracy(y, model.labels_):.3f}" if y is not None else ""
        print(f"  {name:28} {wall:7.2f} s wall {cpu:7.2f} s CPU{score}", flush=True)

    ours = SpectralShrunkClustering(clusters, prepare="none")
    wall, cpu = time_fit(ours, X, 5)
    print_row("huddle SSC", wall, cpu, ours)
    times = {}
    for solver, repeats in (("arpack", 2), ("lobpcg", 2), ("amg", 2)):
        theirs = SklearnSpectralClustering(clusters, affinity="nearest_neighbors", n_neighbors=5,
                                           eigen_solver=solver, random_state=0, n_jobs=-1)
        try:
            times[solver] = time_fit(theirs, X, repeats)
        except (ImportError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            print(f"  scikit-learn {solver:15} failed: {error}")
            continue
        print_row(f"scikit-learn {solver}", *times[solver], theirs)
    fastest = min(times, key=lambda solver: times[solver][0])
    default = times["arpack"]
    print(f"  speedup over the default (arpack): {default[0] / wall:.1f} in wall time, "
          f"{default[1] / cpu:.1f} in CPU time; over the fastest ({fastest}): "
          f"{times[fastest][0] / wall:.1f} and {times[fastest][1] / cpu:.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=float, default=1e9)
    parser.add_argument("--memory-child", action="store_true")
    parser.add_argument("data", nargs="?")
    arguments = parser.parse_args()
    if arguments.memory_child:
        run_memory_child(arguments.bytes)
        return
    measure_overhead()
    measure_memory(arguments.bytes)
    measure_fit(arguments.data)


if __name__ == "__main__":
    main()
