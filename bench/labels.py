#!/usr/bin/python3
"""Accuracy and time of Huddle's defaults beside the usual alternatives, without using labels.

    bench/labels.py

USPS is read from $HUDDLE_DATA; without it the embedded digits are used. Every method is given the
number of clusters and nothing else; classes are only used to score the result. K-means has 10 restarts
everywhere, and the seed is 0. UMAP (10 dimensions, min_dist 0, 15 neighbours) with K-means runs in a
virtual environment, build/bench-venv, which is created with pip on first use; without a network that
row is omitted. Times are wall seconds, the smallest of three runs (UMAP: one, after a warm-up).
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python")]

import numpy as np  # noqa: E402
import sklearn.cluster  # noqa: E402

import huddle  # noqa: E402
from huddle.datasets import load_digits, load_file  # noqa: E402
from huddle.metrics import accuracy, nmi  # noqa: E402

warnings.simplefilter("ignore")
VENV = HERE.parent / "build" / "bench-venv"


def data():
    path = pathlib.Path(os.environ.get("HUDDLE_DATA", "")) / "USPS.h5"
    if os.environ.get("HUDDLE_DATA") and path.exists():
        return ("USPS", *load_file(path, x=["train/data", "test/data"],
                                   y=["train/target", "test/target"]))
    return ("digits", *load_digits())


def timed(work, runs=3):
    best = np.inf
    for _ in range(runs):
        began = time.perf_counter()
        labels = work()
        best = min(best, time.perf_counter() - began)
    return labels, best


def umap_python():
    """The path of a Python that has umap-learn, or None."""
    python = VENV / "bin" / "python"
    if not python.exists():
        print("  making build/bench-venv with umap-learn ...", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", str(VENV)]).returncode == 0 and \
            subprocess.run([str(python), "-m", "pip", "install", "-q", "umap-learn"]).returncode == 0
        if not made:
            return None
    return python if subprocess.run([str(python), "-c", "import umap"],
                                    stderr=subprocess.DEVNULL).returncode == 0 else None


def umap_and_kmeans(X, c):
    python = umap_python()
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", X)
        done = subprocess.run([str(python), str(HERE / "peer_umap.py"), f"{folder}/x.npy", str(c),
                               f"{folder}/labels.npy"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True)
        return np.load(f"{folder}/labels.npy"), float(done.stdout)


def main():
    name, X, y = data()
    X = np.asarray(X, np.float32)
    c = len(np.unique(y))
    rows = {
        "huddle ssc, all defaults": timed(
            lambda: huddle.SpectralShrunkClustering(c, random_state=0).fit_predict(X)),
        "huddle sc, all defaults": timed(
            lambda: huddle.SpectralClustering(c, random_state=0).fit_predict(X)),
        "scikit-learn SpectralClustering, nearest_neighbors": timed(
            lambda: sklearn.cluster.SpectralClustering(
                c, affinity="nearest_neighbors", random_state=0, n_jobs=-1).fit_predict(X), 1),
        "scikit-learn KMeans": timed(
            lambda: sklearn.cluster.KMeans(c, n_init=10, random_state=0).fit_predict(X)),
        "UMAP, then K-means": umap_and_kmeans(X, c),
    }
    print(f"{name}, {X.shape[0]} x {X.shape[1]}, {c} clusters; ACC, NMI, wall seconds")
    for method, result in rows.items():
        if result is None:
            print(f"  {method:52s} left out: umap-learn cannot be installed here")
            continue
        labels, seconds = result
        print(f"  {method:52s} {accuracy(y, labels):.3f}  {nmi(y, labels):.3f}"
              f"  {seconds:7.2f}")


if __name__ == "__main__":
    main()
