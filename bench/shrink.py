"""Makes an input for bench_shrink from points, with SciPy and scikit-learn only.

    /usr/bin/python3 bench/shrink.py POINTS OUT [--clusters 10] [--neighbors 5]

POINTS is an .npy file (n x d), a .mat file that contains X or fea, or an .h5 file whose data sets named
`data` are stacked. Rows are scaled to norm 1; the graph is the union of 5 nearest neighbours with
self-tuning weights; F consists of the eigenvectors of its normalised Laplacian, with rows of norm 1;
W is the same graph on F with the weights exp(-d^2 / mean^2).
"""
import argparse

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import NearestNeighbors


def read(name):
    if name.endswith(".npy"):
        return np.load(name)
    if name.endswith(".mat"):
        from scipy.io import loadmat

        content = loadmat(name)
        return content["X" if "X" in content else "fea"]
    import h5py

    parts = []
    with h5py.File(name) as file:
        file.visititems(lambda path, item: parts.append(item[()])
                        if path.split("/")[-1] == "data" else None)
    return np.vstack(parts[::-1])


def neighbours(X, k):
    n = len(X)
    distances, index = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    keep = index != np.arange(n)[:, None]
    keep[keep.all(axis=1), -1] = False
    return distances[keep].reshape(n, k), index[keep].reshape(n, k)


def union(weights, index):
    n, k = index.shape
    A = sp.csr_matrix((weights.ravel(), (np.repeat(np.arange(n), k), index.ravel())), (n, n))
    A = A.maximum(A.T).tocsr()
    A.sort_indices()
    return A


def weights_of(exponent):
    return np.exp(np.maximum(-20, -exponent))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("points")
    parser.add_argument("out")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--neighbors", type=int, default=5)
    options = parser.parse_args()
    X = np.asarray(read(options.points), float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    D, index = neighbours(X, options.neighbors)
    scale = D[:, -1].copy()
    scale[scale == 0] = scale[scale > 0].min()
    A = union(weights_of(D**2 / (scale[:, None] * scale[index])), index)
    root = 1 / np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    start = np.random.default_rng(0).normal(size=len(X))
    _, V = eigsh(sp.diags(root) @ A @ sp.diags(root), k=options.clusters, which="LA", v0=start)
    F = V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300)
    D, index = neighbours(F, options.neighbors)
    W = union(weights_of((D / D.mean()) ** 2), index)
    with open(options.out, "wb") as file:
        np.array([len(F), options.clusters, W.nnz], np.int64).tofile(file)
        np.ascontiguousarray(F).tofile(file)
        W.indptr.astype(np.int64).tofile(file)
        W.indices.astype(np.int32).tofile(file)
        W.data.tofile(file)
    print(f"{len(F)} points, {W.nnz // 2} edges, {sp.csgraph.connected_components(W)[0]} components")


main()
