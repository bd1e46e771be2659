"""PCA and whitening beside scikit-learn's, in one process: prepare.py [FILE.mat|FILE.npy ...]

Prints for each data set and rule the seconds of Huddle, which is exact, of scikit-learn's exact
solver and of its default, which is approximate at these sizes; the ratios; and the largest difference
between an entry of Huddle's result and of the exact one, after the signs are matched. Without a file,
points of the shape of MNIST are generated. HUDDLE_LIBRARY is the library to use; the default is
build/libhuddle.so. Run with Debian's python3.
"""
import ctypes
import pathlib
import sys
import time

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

from huddle import _library, _points  # noqa: E402


class Options(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("r", ctypes.c_int32), ("seed", ctypes.c_uint64)]


def huddle(x, rule, r):
    """The library's own calls: the Python package has no function for a preparation alone."""
    lib, context = _library.lib, _library.Context()
    points = _points.PointsView(context, x)
    options = Options(rule.encode() + b":R", r, 0)
    preparation, y = (ctypes.c_char * 256)(), _library.Points()
    _library.check(lib.huddle_prepare_fit(context.handle, ctypes.byref(points.struct), ctypes.byref(options),
                                          preparation, None))
    _library.check(lib.huddle_prepare_apply(context.handle, preparation, ctypes.byref(points.struct),
                                            ctypes.byref(y), None))
    result = np.ctypeslib.as_array(y.values, (y.n, y.d)).copy()
    lib.huddle_points_free(ctypes.byref(y))
    lib.huddle_preparation_free(preparation)
    return result


def peer(x, rule, r, solver):
    pca = PCA(r, whiten=rule == "whiten", svd_solver=solver, random_state=0)
    return normalize(pca.fit_transform(x))


def best_of(runs, work, *arguments):
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        result = work(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def load(name):
    if name.endswith(".npy"):
        return np.load(name)
    from scipy.io import loadmat
    variables = {k: v for k, v in loadmat(name).items() if not k.startswith("__")}
    return max(variables.values(), key=np.size)


def made_up():
    rng = np.random.default_rng(0)
    strong = rng.normal(size=(10000, 60)) * 20 / np.arange(1, 61)
    return strong @ rng.uniform(-0.5, 0.5, (60, 784)) + rng.uniform(size=(10000, 784))


def main(names):
    for name in names or [None]:
        x = np.ascontiguousarray(load(name) if name else made_up(), dtype=np.float32)
        for rule, r in (("pca", 40), ("whiten", 150)):
            ours, y = best_of(3, huddle, x, rule, r)
            quick, _ = best_of(3, peer, x, rule, r, "auto")
            exact, z = best_of(1, peer, x.astype(float), rule, r, "full")
            z = z * np.sign((y * z).sum(axis=0))
            print(f"{pathlib.Path(name).name if name else 'made up'} {x.shape[0]} x {x.shape[1]} "
                  f"{rule}:{r}: huddle {ours:.3f} s, exact {exact:.3f} s, default {quick:.3f} s, "
                  f"ratios {exact / ours:.1f} and {quick / ours:.1f}, apart {np.abs(y - z).max():.1e}")


if __name__ == "__main__":
    main(sys.argv[1:])
