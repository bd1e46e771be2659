"""The OpenBLAS of the wheel beside those of NumPy and SciPy: results, threads and fork.

Each library has to stay as it is: the wheel's must not change what NumPy computes or how many
threads it uses, and a process that was forked after all of them had threads must not hang.
"""
import multiprocessing
import re

import numpy as np
import scipy.linalg

import huddle
from huddle.datasets import load_digits


def loaded():
    """Return the files of BLAS libraries in this process."""
    with open("/proc/self/maps") as maps:
        return sorted(set(re.findall(r"/\S*blas\S*", maps.read())))


def numpy_threads():
    """Return the numbers of threads of NumPy's and SciPy's BLAS, as far as they tell."""
    from threadpoolctl import threadpool_info
    return [(entry["filepath"], entry["num_threads"]) for entry in threadpool_info()
            if "huddle" not in entry["filepath"]]


def product(n=700):
    """Large enough for NumPy's BLAS to use its threads."""
    values = np.random.default_rng(0).normal(size=(n, n))
    return float(np.linalg.slogdet(values @ values.T + n * np.eye(n))[1] +
                 scipy.linalg.eigvalsh(values + values.T, subset_by_index=[0, 0])[0])


def labels():
    X, _ = load_digits()
    return huddle.SpectralShrunkClustering(n_clusters=10).fit_predict(X)


def in_child(queue):
    queue.put((product(), labels().tolist()))


if __name__ == "__main__":
    first = product()
    threads = numpy_threads()
    alone = labels()
    assert product() == first, "NumPy computes something else after a fit"
    assert np.array_equal(labels(), alone), "a fit gives something else after NumPy"
    assert numpy_threads()[:len(threads)] == threads, "a fit changed the threads of NumPy"
    files = loaded()
    assert any("huddle_clustering.libs" in file for file in files), files
    assert any("numpy.libs" in file for file in files), files
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=in_child, args=(queue,))
        child.start()
        value, found = queue.get(timeout=120)
        child.join(120)
        assert value == first and np.array_equal(found, alone), f"{method}: other results"
    print(f"{len(files)} BLAS libraries in one process, before and after fork: same results")
