"""UMAP followed by K-means, run by a Python that has umap-learn: peer_umap.py X.npy C LABELS.npy

Prints the wall seconds of the fit. UMAP compiles its kernels on first use, so a small fit runs before
the time is measured.
"""
import sys
import time

import numpy as np
import umap
from sklearn.cluster import KMeans


def fit(X, c, seed=0):
    """With a seed UMAP runs on one thread; with None on all, and its result varies."""
    rows = umap.UMAP(n_components=10, n_neighbors=15, min_dist=0, random_state=seed).fit_transform(X)
    return KMeans(c, n_init=10, random_state=0).fit_predict(rows)


def main():
    X, c = np.load(sys.argv[1]), int(sys.argv[2])
    fit(X[:500], 2)
    began = time.perf_counter()
    labels = fit(X, c)
    print(time.perf_counter() - began)
    np.save(sys.argv[3], labels)


if __name__ == "__main__":
    main()
