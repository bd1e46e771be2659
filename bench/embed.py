#!/usr/bin/python3
"""The embedding beside scikit-learn's spectral_embedding, in one run.

    bench/embed.py [--program build/bench/bench_embed] [--tol 1e-4] [-c 10] [DATA ...]

DATA are .mat, .h5 or .npy files of points with conventional variable names; by default USPS, MNIST10k
and PenDigits from the folder $HUDDLE_DATA, or clustered synthetic points if it is not set. The graph
is the union of 5 nearest neighbours with self-tuning weights. Both sides run on one thread; times are
CPU seconds, the smallest of a few runs. Huddle's eigenpairs are verified unless the output says
otherwise.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import NearestNeighbors

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = ["USPS.h5", "MNIST10k.mat", "PenDigits.mat"]


def read_points(path):
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".h5"):
        import h5py

        with h5py.File(path) as file:
            return np.vstack([file["train/data"][:], file["test/data"][:]])
    import scipy.io

    held = scipy.io.loadmat(path)
    return np.asarray(held["fea"] if "fea" in held else held["X"], dtype=float)


def synthetic_points(n, d=32, clusters=12):
    rng = np.random.default_rng(0)
    centres = .8 * rng.standard_normal((clusters, d))
    return centres[rng.integers(clusters, size=n)] + rng.standard_normal((n, d))


def read_sets(paths):
    """(name, points) of these files, of the usual ones, or of synthetic points."""
    folder = pathlib.Path(os.environ.get("HUDDLE_DATA", "/nonexistent"))
    paths = paths or [str(folder / name) for name in NAMES if (folder / name).exists()]
    sets = [(os.path.basename(path), read_points(path)) for path in paths]
    return sets or [("synthetic 10000 x 32", synthetic_points(10000))]


def self_tuned_graph(points, k=5):
    distances, index = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points).kneighbors()
    distances, index = distances[:, :k], index[:, :k]
    scale = distances[:, -1]
    scale = np.where(scale > 0, scale, scale[scale > 0].min())
    rows = np.repeat(np.arange(len(points)), k)
    columns = index.ravel()
    exponent = distances.ravel() ** 2 / (scale[rows] * scale[columns])
    weights = np.exp(-np.minimum(exponent, 20))
    graph = sp.csr_matrix((weights, (rows, columns)), shape=(len(points),) * 2)
    graph = graph.maximum(graph.T).tocsr()
    graph.sort_indices()
    return graph


def write_graph(graph, path):
    with open(path, "wb") as file:
        np.array([graph.shape[0], graph.nnz], dtype=np.int64).tofile(file)
        graph.indptr.astype(np.int64).tofile(file)
        graph.indices.astype(np.int32).tofile(file)
        graph.data.astype(np.float64).tofile(file)


def run_ours(program, path, c, tol, **settings):
    words = [settings.get("solver", "auto"), settings.get("verify", "auto"), "1", "10"]
    line = subprocess.run([program, path, str(c), str(tol), *words], check=True,
                          capture_output=True, text=True).stdout
    return dict(word.split("=", 1) for word in line.split())


def run_sklearn(graph, solver, c, tol, repeats=2):
    best = np.inf
    for _ in range(repeats):
        begun = time.process_time()
        try:
            spectral_embedding(graph, n_components=c, eigen_solver=solver, eigen_tol=tol,
                               drop_first=False, random_state=0)
        except Exception as failure:
            return f"failed ({type(failure).__name__})"
        best = min(best, time.process_time() - begun)
        if best > 2:
            break
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build" / "bench" / "bench_embed"))
    parser.add_argument("data", nargs="*")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("-c", type=int, default=10)
    arguments = parser.parse_args()
    solvers = ["arpack", "lobpcg"]
    try:
        import pyamg  # noqa: F401

        solvers.append("amg")
    except ImportError:
        pass
    for name, points in read_sets(arguments.data):
        graph = self_tuned_graph(points)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.bin")
            write_graph(graph, path)
            ours = run_ours(arguments.program, path, arguments.c, arguments.tol)
            unverified = run_ours(arguments.program, path, arguments.c, arguments.tol,
                                  verify="none")
        cpu = float(ours["cpu"])
        print(f"{name}: n {ours['n']}, huddle {cpu:.4f} s (without verification "
              f"{float(unverified['cpu']):.4f} s), residual {ours['residual']}, "
              f"verified {ours['verified']}")
        times = []
        for solver in solvers:
            seconds = run_sklearn(graph, solver, arguments.c, arguments.tol)
            if isinstance(seconds, float):
                times.append(seconds)
                print(f"  scikit-learn {solver}: {seconds:.3f} s, ratio {seconds / cpu:.1f}")
            else:
                print(f"  scikit-learn {solver}: {seconds}")
        if times:
            print(f"  ratio to the faster: {min(times) / cpu:.1f}")


if __name__ == "__main__":
    main()
