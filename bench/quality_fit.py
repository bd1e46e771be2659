"""Fits for bench/quality.py, in a process of its own: quality_fit.py, jobs as JSON lines on standard input.

A job has the path of the points (.npy), the number of clusters or "auto", a seed, a number of threads
and a method of METHODS. The answer is one line: the path of the labels, the wall and CPU seconds, and
what the fit reports of its decisions; or an error. The library is the one that $HUDDLE_LIBRARY and
$PYTHONPATH name; methods of other software need only that software.
"""
import json
import sys
import time
import warnings

import numpy as np

PLAIN = dict(prepare="none", refine="none")
HUDDLE = {
    "ssc": ("SpectralShrunkClustering", {}),
    "ssc, refine none": ("SpectralShrunkClustering", dict(refine="none")),
    "sc": ("SpectralClustering", {}),
    "sc, refine none": ("SpectralClustering", dict(refine="none")),
    "ssc raw": ("SpectralShrunkClustering", PLAIN),
    "sc raw": ("SpectralClustering", PLAIN),
    "K-means": ("KMeans", {}),
    "K-means standardised": ("KMeans", {}),
}
UMAP_WARM_UP = 300  # points of a fit that compiles UMAP's kernels, which is not timed


def has_refinement():
    import huddle
    return "refine" in huddle.SpectralShrunkClustering().get_params()


def standardised(X):
    """Columns of mean 0 and variance 1; constant columns become 0."""
    X = X.astype(np.float64)
    spread = X.std(0)
    return ((X - X.mean(0)) / np.where(spread > 0, spread, 1)).astype(np.float32)


def huddle_fit(X, job):
    import huddle
    name, options = HUDDLE[job["method"]]
    estimator = getattr(huddle, name)
    if not has_refinement():  # an older library: it does not refine
        options = {key: value for key, value in options.items() if key != "refine"}
    if job["method"] == "K-means standardised":
        X = standardised(X)
    model = estimator(job["c"], random_state=job["seed"], n_jobs=job["threads"], **options).fit(X)
    return model.labels_, model.info_


def sklearn_spectral(X, job):
    from sklearn.cluster import SpectralClustering
    return SpectralClustering(job["c"], affinity="nearest_neighbors", n_neighbors=10,
                              random_state=job["seed"], n_jobs=job["threads"]).fit_predict(X), {}


def umap_kmeans(X, job):
    import umap
    from sklearn.cluster import KMeans
    rows = umap.UMAP(n_components=10, n_neighbors=15, min_dist=0,
                     random_state=job["seed"]).fit_transform(X)
    return KMeans(job["c"], n_init=10, random_state=job["seed"]).fit_predict(rows), {}


def hdbscan(size):
    def fit(X, job):
        from sklearn.cluster import HDBSCAN
        model = HDBSCAN(min_cluster_size=size(len(X), job["c"]), n_jobs=job["threads"])
        return model.fit_predict(X), {}  # -1, noise, is scored as one more cluster
    return fit


PEERS = {
    "scikit-learn SC": sklearn_spectral,
    "UMAP + K-means": umap_kmeans,
    "HDBSCAN": hdbscan(lambda n, c: 5),
    "HDBSCAN n/(10c)": hdbscan(lambda n, c: max(5, n // (10 * c))),
}


def decisions(info):
    """What the fit chose, briefly: kept beside the scores to explain them."""
    kept = {"prepare": (info.get("prepare") or {}).get("rule")}
    for part in ("refine", "table"):
        for key, value in (info.get(part) or {}).items():
            if isinstance(value, (str, int, float, bool)):
                kept[f"{part}.{key}"] = value
    kept["choice"] = [option.get("n_clusters") for option in (info.get("choice") or [])[:4]]
    return {key: value for key, value in kept.items() if value not in (None, [])}


def run(job):
    X = np.load(job["points"])
    if job["method"] in HUDDLE:
        fit = huddle_fit
    else:
        fit = PEERS[job["method"]]
        if job["method"].startswith("UMAP"):
            fit(X[:UMAP_WARM_UP], dict(job, c=2))
    wall, cpu = time.perf_counter(), time.process_time()
    labels, info = fit(X, job)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    np.save(job["labels"], np.asarray(labels, np.int32))
    return dict(wall=wall, cpu=cpu, decisions=decisions(info))


def main():
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # the answers' stream is free of other output
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = dict(refines=has_refinement()) if job.get("ask") == "refines" else run(job)
        except Exception as error:
            answer = dict(error=f"{type(error).__name__}: {error}"[:300])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
