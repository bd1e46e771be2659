#!/usr/bin/python3
"""huddle.drop_in beside the classes of scikit-learn that it replaces: ./dev bench drop_in

Both get the same parameters and the same data, in the same process, one after the other. Times are seconds
of CPU on one core (the process is bound to it), the smallest of three fits, because those of several
threads depend on what else runs; --wall measures the wall-clock time on all cores instead. The last columns
are the ratio of the times, whether all labels are equal, number by number, and the adjusted Rand index of
the two results.

USPS.h5 is read from $HUDDLE_DATA; without it, those rows are left out.
"""
import argparse
import os
import pathlib
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wall", action="store_true", help="wall-clock time on all cores")
    parser.add_argument("--runs", type=int, default=3, help="fits of each; the fastest counts [3]")
    parser.add_argument("--small", action="store_true", help="only cases of a few seconds")
    return parser.parse_args()


def usps():
    """Return the 9298 digits, or None where the file is not available."""
    path = pathlib.Path(os.environ.get("HUDDLE_DATA", ".")) / "USPS.h5"
    if not path.exists():
        return None
    import h5py
    import numpy as np
    with h5py.File(path) as file:
        return np.concatenate([file[part]["data"][:] for part in ("train", "test")]).astype(float)


def blobs(n, d, k):
    from sklearn.datasets import make_blobs
    return make_blobs(n, n_features=d, centers=k, cluster_std=5, random_state=0)[0]


def cases(is_small):
    """Yield the name of the data, the data, the name of the class and its parameters."""
    digits = usps()
    for n, d, k in ((1000, 10, 8), (10000, 20, 10), (100000, 20, 10), (100000, 64, 50)):
        if is_small and n > 10000:
            continue
        X = blobs(n, d, k)
        name = f"blobs, {n} x {d}"
        yield name, X, "KMeans", dict(n_clusters=k, n_init=1)
        if n <= 10000:
            yield name, X, "KMeans", dict(n_clusters=k, n_init=10)
            yield name, X, "KMeans", dict(n_clusters=k, n_init=1, algorithm="elkan")
    if digits is not None:
        yield "USPS", digits, "KMeans", dict(n_clusters=10, n_init=10)
        yield "USPS, float32", digits.astype("float32"), "KMeans", dict(n_clusters=10, n_init=10)
    for n in (1000, 2000, 4000):
        if is_small and n > 2000:
            continue
        X = blobs(n, 10, 8)
        yield f"blobs, {n} x 10", X, "SpectralClustering", dict(n_clusters=8, gamma=.01)
    for n in (4000, 10000):
        if is_small and n > 4000:
            continue
        X = blobs(n, 10, 8)
        yield f"blobs, {n} x 10", X, "SpectralClustering", dict(
            n_clusters=8, affinity="nearest_neighbors")
    if digits is not None and not is_small:
        for labels in ("kmeans", "discretize", "cluster_qr"):
            yield "USPS", digits, "SpectralClustering", dict(
                n_clusters=10, affinity="nearest_neighbors", assign_labels=labels)


def fastest(make, X, runs, clock):
    seconds = []
    for _ in range(runs):
        model, began = make(), clock()
        model.fit(X)
        seconds.append(clock() - began)
    return min(seconds), model.labels_


def main():
    options = arguments()
    if not options.wall:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path.insert(0, str(HERE.parent / "python"))
    os.environ.setdefault("HUDDLE_LIBRARY", str(HERE.parent / "build" / "libhuddle.so"))
    warnings.simplefilter("ignore")
    import sklearn.cluster
    from sklearn.metrics import adjusted_rand_score

    from huddle import drop_in
    clock = time.perf_counter if options.wall else time.process_time
    kind = "wall-clock seconds on all cores" if options.wall else "CPU seconds on one core"
    print(f"scikit-learn {sklearn.__version__}, {kind}\n")
    print("| data | class and parameters | scikit-learn | huddle.drop_in | ratio | equal | ARI |")
    print("|---|---|---|---|---|---|---|")
    for name, X, cls, parameters in cases(options.small):
        parameters = dict(random_state=0, **parameters)
        theirs, expected = fastest(lambda: getattr(sklearn.cluster, cls)(**parameters), X,
                                   options.runs, clock)
        ours, labels = fastest(lambda: getattr(drop_in, cls)(**parameters), X, options.runs, clock)
        text = ", ".join(f"{key}={value!r}" for key, value in parameters.items()
                         if key not in ("random_state", "n_clusters"))
        print(f"| {name} | {cls}({parameters['n_clusters']}{', ' + text if text else ''}) | {theirs:.3g} | "
              f"{ours:.3g} | {theirs / ours:.1f} | {'yes' if (labels == expected).all() else 'no'} | "
              f"{adjusted_rand_score(expected, labels):.3f} |", flush=True)


if __name__ == "__main__":
    main()
