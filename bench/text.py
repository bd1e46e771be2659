#!/usr/bin/python3
"""Sparse text: exact neighbours beside scikit-learn, and a whole clustering.

    bench/text.py [--build DIR] [-n 4000 11314] [--runs 3] [--quick]

The corpora are those of make_corpus.py, 100,000 terms. Huddle's search through its index is compared with
NearestNeighbors(metric="cosine", algorithm="brute") on the CSR matrix, in CPU seconds, each the smallest of
a few runs; beyond 20,000 documents scikit-learn processes a share of the queries, and its time is scaled
up. Products are the multiplications of inner products per document, with bounds and without; the exponent
is that of their growth from the first size to the last. The last table is `huddle cluster FILE -c 20`
with default options. --quick is 4000 documents only.
"""
import argparse
import math
import os
import pathlib
import re
import resource
import subprocess
import time

import numpy as np
from make_corpus import labels_path, make
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

ROOT = pathlib.Path(__file__).resolve().parent.parent
K, TOPICS, WHOLE = 5, 20, 20000


def corpus(folder, n):
    """The path of the corpus without suffix, made if it is not there."""
    path = folder / f"corpus{n}"
    if not path.with_suffix(".npz").exists():
        folder.mkdir(parents=True, exist_ok=True)
        x, y = make(n, c=TOPICS)
        np.save(labels_path(path.with_suffix(".npz")), y)
        with open(path.with_suffix(".csr"), "wb") as file:
            np.array([*x.shape, x.nnz], np.int64).tofile(file)
            x.indptr.astype(np.int64).tofile(file)
            x.indices.astype(np.int32).tofile(file)
            x.data.astype(np.float32).tofile(file)
        sparse.save_npz(path.with_suffix(".npz"), x)
    return path


def ours(build, path, runs):
    """CPU seconds, and products per document with and without bounds."""
    best = math.inf
    for _ in range(runs):
        text = subprocess.run([build / "bench" / "bench_text", path.with_suffix(".csr"), str(K), "cosine"],
                              check=True, capture_output=True, text=True).stdout
        cpu, products, every = map(float, re.search(r"cpu ([\d.]+).*products (\d+)  of (\d+)", text).groups())
        best = min(best, cpu)
    return best, products, every


def theirs(path, runs):
    x = sparse.load_npz(path.with_suffix(".npz"))
    model = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute").fit(x)
    queries = x[::max(1, x.shape[0] // WHOLE)]
    best = math.inf
    for _ in range(runs):
        start = time.process_time()
        model.kneighbors(queries, n_neighbors=K + 1)
        best = min(best, time.process_time() - start)
    return best * x.shape[0] / queries.shape[0]


def cluster(build, path):
    """CPU seconds, ACC and NMI of a clustering with default options."""
    labels = path.with_suffix(".csv")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([build / "huddle", "cluster", path.with_suffix(".npz"), "-c", str(TOPICS), "-q", "-o", labels],
                   check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run([build / "huddle", "score", labels_path(path.with_suffix(".npz")), labels],
                          check=True, capture_output=True, text=True).stdout
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, *(float(re.search(rf"{name} +([\d.]+)", text).group(1)) for name in ("acc", "nmi"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("-n", type=int, nargs="+", default=[4000, 11314])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    sizes = [4000] if options.quick else options.n
    paths = {n: corpus(options.build / "bench-data" / "text", n) for n in sizes}
    counts = []
    for n, path in paths.items():
        runs = options.runs if n <= WHOLE else 1
        cpu, products, every = ours(options.build, path, runs)
        peer = theirs(path, runs)
        counts.append(products)
        print(f"neighbours {n:7}  cpu {cpu:8.2f} s  scikit-learn {peer:8.2f} s  ratio {peer / cpu:5.1f}  "
              f"products {products:8.0f} of {every:8.0f}: {every / products:4.1f} times fewer", flush=True)
    if len(sizes) > 1:
        power = 1 + math.log(counts[-1] / counts[0]) / math.log(sizes[-1] / sizes[0])
        print(f"products grow as n^{power:.2f}")
    for n, path in paths.items():
        cpu, acc, nmi = cluster(options.build, path)
        print(f"cluster    {n:7}  cpu {cpu:8.2f} s  ACC {acc:.3f}  NMI {nmi:.3f}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
