"""One measured task, in a process of its own: tasks.py NAME KEY=VALUE ...

Prints one JSON object: seconds (wall time of the work, without imports, reading and compiling), and what
shows the quality of the result. The tasks of Huddle and of its peers are side by side, so that one can
see that they do the same. Run by the Python that has the peer; parallel by the settings of measure.py.
"""
import json
import os
import pathlib
import resource
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

import launch  # noqa: E402
import numpy as np  # noqa: E402

warnings.simplefilter("ignore")
CPUS = len(os.sched_getaffinity(0))
SAMPLE = 1000  # queries whose true neighbours are computed for the recall


def load(path):
    if path.endswith(".npz"):
        from scipy import sparse
        return sparse.load_npz(path)
    return np.load(path)


def cpu_seconds():
    """Of this process and of those that it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def high_water(pid):
    """The largest memory of a process so far, bytes."""
    with open(f"/proc/{pid}/status") as file:
        return next((1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)


def timed(work):
    """Wall seconds and result. CPU seconds and peak memory are kept for main(), which reports them too: what
    follows, to judge the result, does not count."""
    cpu, began = cpu_seconds(), time.perf_counter()
    result = work()
    wall = time.perf_counter() - began
    timed.cpu = cpu_seconds() - cpu
    timed.peak = sum(map(high_water, launch.family(os.getpid())))
    return wall, result


# ---- neighbours --------------------------------------------------------------------------------


def recall(x, index, queries, k):
    """The share of the true k neighbours among those found; at equal distances either is right."""
    x = x.astype(np.float64)
    squares, hits = (x ** 2).sum(1), 0
    for at in range(0, len(queries), 50):
        rows = queries[at:at + 50]
        distance = squares[rows, None] + squares - 2 * x[rows] @ x.T
        distance[np.arange(len(rows)), rows] = np.inf
        kth = np.partition(distance, k - 1, axis=1)[:, k - 1]
        found = np.take_along_axis(distance, index[at:at + 50], axis=1)
        hits += (found <= kth[:, None] + 1e-9 * squares.max()).sum()
    return float(hits / (len(queries) * k))


def without_self(index, queries, k):
    """The first k neighbours other than the query itself, which some searches return too."""
    others = index != queries[:, None]
    order = np.argsort(~others, axis=1, kind="stable")
    return np.take_along_axis(index, order, axis=1)[:, :k]


def sample(n):
    return np.sort(np.random.default_rng(1).permutation(n)[:SAMPLE])


def scored(x, index, k, seconds, queries=None, scale=1.):
    """The answer of a task that found neighbours of all points, or of the given ones only."""
    asked = sample(len(x)) if queries is None else queries
    rows = index[asked] if queries is None else index
    return {"seconds": seconds * scale, "scale": scale,
            "recall": recall(x, without_self(rows, asked, k)[:SAMPLE], asked[:SAMPLE], k)}


def library_call(name, *arguments):
    """A stage of the library on all CPUs; the package's own functions also copy and sort the results."""
    from huddle import _library
    context = _library.Context(CPUS)
    return timed(lambda: _library.call(context, getattr(_library.lib, name), context.handle, *arguments))[0]


def knn_huddle(x, k):
    from ctypes import byref

    from huddle import _library, _options, _points
    points = _points.PointsView(_library.Context(), x)
    options, found = _options.stage_options("knn", {"n_neighbors": k}), _library.Neighbors()
    seconds = library_call("huddle_graph_knn", byref(points.struct), byref(options), byref(found), None)
    index = _points.copy_values(found.index, found.n * k, np.int32).reshape(-1, k)
    return scored(x, index.astype(np.int64), k, seconds)


def knn_brute(x, k, queries):
    """scikit-learn's brute force on some queries; the time of all follows, since each costs the same."""
    from sklearn.neighbors import NearestNeighbors
    model = NearestNeighbors(n_neighbors=k + 1, algorithm="brute", n_jobs=CPUS).fit(x)
    asked = np.sort(np.random.default_rng(1).permutation(len(x))[:queries])
    seconds, index = timed(lambda: model.kneighbors(x[asked], return_distance=False))
    return scored(x, index, k, seconds, asked, len(x) / len(asked))


def knn_faiss(x, k, queries):
    import faiss
    x = np.ascontiguousarray(x, np.float32)
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    asked = np.sort(np.random.default_rng(1).permutation(len(x))[:queries])
    seconds, found = timed(lambda: index.search(x[asked], k + 1)[1])
    return scored(x, found, k, seconds, asked, len(x) / len(asked))


def knn_faiss_cells(x, k):
    """An inverted file: 4 sqrt(n) cells, of which the 16 nearest are searched."""
    import faiss
    x = np.ascontiguousarray(x, np.float32)

    def work():
        cells = faiss.IndexFlatL2(x.shape[1])
        index = faiss.IndexIVFFlat(cells, x.shape[1], int(4 * len(x) ** .5))
        index.train(x)
        index.add(x)
        index.nprobe = 16
        return index.search(x, k + 1)[1]
    seconds, found = timed(work)
    return scored(x, found, k, seconds)


def knn_descent(x, k):
    from pynndescent import NNDescent
    NNDescent(x[:2000], n_neighbors=k + 1, random_state=0)  # compiles
    seconds, found = timed(lambda: NNDescent(x, n_neighbors=k + 1, random_state=0).neighbor_graph[0])
    return scored(x, found.astype(np.int64), k, seconds)


# ---- embedding, shrink, K-means, refinement -------------------------------------------------------


def eigenvalue_sum(a, rows):
    """The trace of the normalised Laplacian on the space of the vectors: the smallest possible is the sum
    of its smallest eigenvalues, so that a missed eigenvector shows."""
    from scipy import sparse
    degree = np.asarray(a.sum(1)).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1))
    q, _ = np.linalg.qr(rows * root[:, None])
    product = sparse.diags(1 / root) @ (a @ (q / root[:, None]))
    return float(q.shape[1] - (q * product).sum())


def embed_huddle(a, c, tol):
    from ctypes import byref

    from huddle import _library, _options, _points
    view, _keep = _points.csr_view(a)
    options = _options.stage_options("embed", {"n_components": c, "tol": tol, "rows": "rw"})
    out, info = _library.Embedding(), _library.EmbedInfo()
    seconds = library_call("huddle_embed", byref(view), byref(options), byref(out), byref(info))
    return {"seconds": seconds, "products": info.n_products, "entries": int(a.nnz),
            "residual": info.residual, "trace": eigenvalue_sum(a, _points.copy_dense(out.rows))}


def embed_sklearn(a, c, tol, solver):
    from sklearn.manifold import spectral_embedding
    seconds, rows = timed(lambda: spectral_embedding(a, n_components=c, eigen_solver=solver, eigen_tol=tol,
                                                     drop_first=False, random_state=0))
    return {"seconds": seconds, "trace": eigenvalue_sum(a, rows)}


def shrink_huddle(f, w, solver):
    from huddle import shrink
    seconds, result = timed(lambda: shrink(f, w, solver=solver, n_jobs=CPUS))
    return {"seconds": seconds, "gap": result.gap, "iterations": result.n_iter, "entries": int(w.nnz)}


def kmeans_huddle(x, c, starts):
    from huddle import KMeans
    seconds, model = timed(lambda: KMeans(c, n_init=starts, random_state=0, n_jobs=CPUS).fit(x))
    return {"seconds": seconds, "inertia": float(model.inertia_), "iterations": int(model.n_iter_)}


def kmeans_sklearn(x, c, starts):
    from sklearn.cluster import KMeans
    seconds, model = timed(lambda: KMeans(c, n_init=starts, random_state=0).fit(x))
    return {"seconds": seconds, "inertia": float(model.inertia_)}


def refine_huddle(a, labels):
    from huddle import refine
    seconds, (_, info) = timed(lambda: refine(a, labels, return_info=True, n_jobs=CPUS))
    sweeps = sum(trial["n_sweeps"] for trial in info["trials"])
    return {"seconds": seconds, "sweeps": sweeps, "entries": int(a.nnz)}


def refine_ward(a, x, c):
    from sklearn.cluster import AgglomerativeClustering
    model = AgglomerativeClustering(n_clusters=c, connectivity=a, linkage="ward")
    return {"seconds": timed(lambda: model.fit(x))[0]}


# ---- preparation, whole runs ----------------------------------------------------------------------


def pca_huddle(x, r):
    import prepare
    return {"seconds": timed(lambda: prepare.huddle(x, "pca", r))[0]}


def pca_sklearn(x, r, solver):
    import prepare
    return {"seconds": timed(lambda: prepare.peer(x, "pca", r, solver))[0]}


def read_pandas(path):
    import pandas
    return {"seconds": timed(lambda: pandas.read_csv(path, engine="c", dtype="f4"))[0]}


def read_numpy(path):
    return {"seconds": timed(lambda: np.load(path))[0]}


def whole(x, c, classes, fit):
    """A peer that clusters, scored by the classes if they are known."""
    seconds, labels = timed(lambda: fit(x, c))
    if not classes:
        return {"seconds": seconds}
    from sklearn.metrics import adjusted_rand_score
    return {"seconds": seconds, "ari": float(adjusted_rand_score(np.load(classes), labels))}


def whole_sklearn(x, c, classes, solver):
    from sklearn.cluster import SpectralClustering
    return whole(x, c, classes, lambda x, c: SpectralClustering(
        c, affinity="nearest_neighbors", n_neighbors=5, n_init=10, eigen_solver=solver, random_state=0,
        n_jobs=CPUS).fit_predict(x))


def umap_kmeans(x, c):
    """On all threads, so that the result varies: with a seed UMAP runs on one."""
    import umap
    from sklearn.cluster import KMeans
    rows = umap.UMAP(n_components=10, n_neighbors=15, min_dist=0).fit_transform(x)
    return KMeans(c, n_init=10, random_state=0).fit_predict(rows)


def whole_umap(x, c, classes):
    umap_kmeans(x[:500], 2)  # compiles
    return whole(x, c, classes, umap_kmeans)


def whole_hdbscan(x, c, classes):
    import hdbscan
    return whole(x, c, classes, lambda x, _: hdbscan.HDBSCAN(core_dist_n_jobs=CPUS).fit_predict(x))


def main():
    name, *words = sys.argv[1:]
    values = dict(word.split("=", 1) for word in words)
    for key, value in values.items():
        if key in ("x", "a", "f", "w", "labels"):  # arrays; path and classes remain names of files
            values[key] = load(value)
        elif value.replace(".", "", 1).replace("e-", "", 1).isdigit():
            values[key] = float(value) if "." in value or "e" in value else int(value)
    result = globals()[name](**values)
    print(json.dumps({**result, "work_cpu": timed.cpu * result.get("scale", 1), "peak": timed.peak}))


if __name__ == "__main__":
    main()
