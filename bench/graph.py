#!/usr/bin/python3
"""Exact neighbours beside scikit-learn's NearestNeighbors(algorithm="brute"), in one run.

    bench/graph.py [--build DIR] [--data DIR] [--runs 3] [--quick]

Needs DIR/bench/bench_graph. USPS and MNIST are read from --data (default $HUDDLE_DATA); without it,
points of the same shape are generated. The 70,000 x 784 data set is that of make_mnist70k.py, of which
scikit-learn processes one twentieth of the queries, and its time is scaled up; --quick omits it. First
the rates of the kernel beside those of sgemm are printed, then the ratios of CPU seconds, scikit-learn
over Huddle, each the smallest of a few runs.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.neighbors import NearestNeighbors

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
K = 5


def made_up(n, d):
    """Points between two of 200 centres, with a little noise: low-dimensional, like real data."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((200, d))
    t = rng.random((n, 1))
    x = t * centres[rng.integers(200, size=n)] + (1 - t) * centres[rng.integers(200, size=n)]
    return np.float32(x + 0.1 * rng.random((n, d)))


def usps(folder):
    path = os.path.join(folder, "USPS.h5") if folder else ""
    if not os.path.exists(path):
        return made_up(9298, 256)
    import h5py

    with h5py.File(path) as file:
        return np.float32(np.vstack([file["train/data"][:], file["test/data"][:]]))


def mnist(folder):
    path = os.path.join(folder, "MNIST10k.mat") if folder else ""
    if not os.path.exists(path):
        return made_up(10000, 784)
    from scipy.io import loadmat

    return np.float32(loadmat(path)["fea"])


def mnist70k(options):
    where = os.path.join(options.build, "bench-data", "mnist70k")
    maker = [sys.executable, os.path.join(HERE, "make_mnist70k.py"), where]
    path = os.path.join(options.data, "MNIST10k.mat") if options.data else ""
    subprocess.run(maker + (["--mnist", path] if os.path.exists(path) else []), check=True,
                   stdout=subprocess.DEVNULL)
    return np.load(os.path.join(where, "x.npy"))


def sklearn_seconds(x, runs, share):
    """CPU seconds for all queries, measured on a share of them."""
    model = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(x)
    queries = x[:: int(1 / share)]
    best = np.inf
    for _ in range(runs):
        start = time.process_time()
        if share == 1:
            model.kneighbors()
        else:
            model.kneighbors(queries, n_neighbors=K + 1)
        best = min(best, time.process_time() - start)
    return best * len(x) / len(queries)


def huddle_seconds(options, x):
    """CPU seconds of every solver that ran, and the output of bench_graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.f32")
        np.ascontiguousarray(x, np.float32).tofile(path)
        program = os.path.join(options.build, "bench", "bench_graph")
        text = subprocess.run([program, path, *map(str, x.shape)], check=True, capture_output=True,
                              text=True).stdout
    return {name: float(value) for name, value in re.findall(r"(\w+) +cpu +([\d.]+)", text)}, text


def compare(options, title, x, runs, share=1.0):
    ours, text = huddle_seconds(options, x)
    theirs = sklearn_seconds(x, runs, share)
    print(f"{title}, {x.shape[0]} x {x.shape[1]}, k = {K}")
    print(text, end="")
    scaled = "" if share == 1 else f" (scaled from {share:.0%} of the queries)"
    print(f"  scikit-learn brute cpu {theirs:.3f} s{scaled}")
    for name, seconds in ours.items():
        print(f"  ratio {name:9} {theirs / seconds:6.1f}")
    print(f"  ratio best      {theirs / min(ours.values()):6.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--data", default=os.environ.get("HUDDLE_DATA", ""))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print("the kernel beside sgemm")
    print(subprocess.run([os.path.join(options.build, "bench", "bench_graph")], check=True,
                         capture_output=True, text=True).stdout, end="", flush=True)
    compare(options, "USPS" if options.data else "made up", usps(options.data), options.runs)
    compare(options, "MNIST" if options.data else "made up", mnist(options.data), options.runs)
    if not options.quick:
        compare(options, "augmented MNIST", mnist70k(options), 1, share=0.05)


if __name__ == "__main__":
    main()
