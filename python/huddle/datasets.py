"""The bundled digits, generators of synthetic points, and readers for data files."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from ctypes import (POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_uint64, c_void_p)
from typing import Any

import numpy as np
import scipy.sparse

from ._library import AUTO, Context, Points, check, companion_library
from ._points import copy_values

__all__ = ["load_digits", "load_file", "make_moons", "make_rings", "make_spirals", "make_blobs",
           "make_unequal", "make_swissroll"]


class _Column(Structure):
    _fields_ = [("name", c_char_p), ("role", c_int), ("reason", c_char_p)]


class _Data(Structure):
    _fields_ = [("name", c_char_p), ("format", c_char_p), ("points", Points),
                ("labels", POINTER(c_int32)), ("n_classes", c_int32),
                ("classes", POINTER(c_char_p)), ("classes_numeric", c_bool),
                ("features", POINTER(c_char_p)), ("names", POINTER(c_char_p)),
                ("n_names", c_int64), ("height", c_int32), ("width", c_int32),
                ("channels", c_int32), ("column_major", c_bool), ("planes", c_bool),
                ("columns", POINTER(_Column)), ("n_columns", c_int64), ("row_names", POINTER(c_char_p)),
                ("dropped", POINTER(c_int64)), ("n_dropped", c_int64),
                ("first_row", c_int64), ("total_rows", c_int64),
                ("exact", POINTER(c_double))]


class _ReadOptions(Structure):
    _fields_ = [("x", POINTER(c_char_p)), ("n_x", c_int64), ("y", POINTER(c_char_p)),
                ("n_y", c_int64), ("transpose", c_bool), ("classes", c_char_p),
                ("per_class", c_int64), ("n", c_int64), ("noise", c_double), ("seed", c_uint64),
                ("shift", POINTER(c_double)), ("n_shift", c_int64),
                ("missing", c_char_p), ("encode", c_bool), ("x_by_name", c_bool),
                ("header", c_char_p), ("copy", c_bool), ("gray", c_bool), ("image", c_char_p),
                ("hints_as_flags", c_bool), ("exact", c_bool), ("draw", c_bool)]


@functools.lru_cache(maxsize=None)
def _io_library():
    """Load libhuddle-io and declare its functions."""
    lib = companion_library("libhuddle-io")
    lib.huddle_data_read.argtypes = [c_void_p, c_char_p, POINTER(_ReadOptions), POINTER(_Data)]
    lib.huddle_data_read.restype = c_int
    lib.huddle_data_free.argtypes = [POINTER(_Data)]
    lib.huddle_data_free.restype = None
    return lib


def _copy_points(points):
    if not points.offsets:
        flat = copy_values(points.values, points.n * points.stride, np.float32)
        x = flat.reshape(points.n, points.stride)[:, :points.d]
        if points.shift:
            x = x + copy_values(points.shift, points.d, np.float64)
        return x
    indptr = copy_values(points.offsets, points.n + 1, np.int64)
    count = int(indptr[-1])
    return scipy.sparse.csr_matrix((copy_values(points.values, count, np.float32),
                                    copy_values(points.columns, count, np.int32), indptr),
                                   shape=(points.n, points.d))


def _copy_labels(data):
    """Return the labels with the values that they have in the file, or None."""
    if not data.labels:
        return None
    classes = [data.classes[k].decode() for k in range(data.n_classes)]
    values = np.array([int(c) for c in classes]) if data.classes_numeric else np.array(classes)
    return values[copy_values(data.labels, data.points.n, np.int32)]


def _encode_names(names):
    names = [names] if isinstance(names, str) else list(names or [])
    return (c_char_p * len(names))(*(name.encode() for name in names)), len(names)


@contextlib.contextmanager
def reading(context, source, options):
    """Provide what the library reads from a file, or generates."""
    data, io = _Data(), _io_library()
    check(io.huddle_data_read(context.handle, os.fsencode(source), byref(options), byref(data)))
    try:
        yield data
    finally:
        io.huddle_data_free(byref(data))


def _read(source, options):
    with reading(Context(), source, options) as data:
        return _copy_points(data.points), _copy_labels(data)


def read_options(*, x, y, transpose, classes, per_class, missing, encode, header="auto", gray=False,
                 image=None):
    """Return the struct of the options of read()."""
    options = _ReadOptions(transpose=transpose, per_class=per_class, noise=AUTO,
                           header=str(header).encode(),
                           missing=str(missing).encode(), encode=encode, gray=gray,
                           image=None if image is None else str(image).encode())
    if classes is not None:
        options.classes = str(classes).encode()
    xs, options.n_x = _encode_names(x)
    ys, options.n_y = _encode_names(y)
    options.x, options.y = ctypes.cast(xs, POINTER(c_char_p)), ctypes.cast(ys, POINTER(c_char_p))
    return options


def load_file(path: str | os.PathLike, *, x: str | list[str] | None = None,
              y: str | list[str] | None = None, transpose: bool = False,
              classes: str | None = None, per_class: int = 0, missing: str = "error",
              encode: bool = False, header: str = "auto") -> tuple[Any, np.ndarray | None]:
    """Read points and labels from a file: those of :func:`huddle.read`, which has the parameters.

    Returns
    -------
    X : ndarray of float32, or CSR matrix
    y : ndarray, or None if the file has no labels
    """
    from ._read import read_with  # which uses this module
    return tuple(read_with(path, 2, x=x, y=y, transpose=transpose, classes=classes,
                           per_class=per_class, missing=missing, encode=encode, header=header))


def load_digits(*, return_X_y: bool = True) -> Any:
    """Return 1797 images of handwritten digits, of 8 x 8 pixels, and the digits that they show.

    >>> X, y = load_digits()
    >>> X.shape
    (1797, 64)
    """
    x, y = _read("digits", _ReadOptions(noise=AUTO))
    return (x, y) if return_X_y else x


def _make_generator(kind, text):
    def make(n: int = 1000, *, noise: float | None = None,
             random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
        options = _ReadOptions(n=n, noise=AUTO if noise is None else noise, seed=random_state)
        return _read(kind, options)
    make.__name__ = f"make_{kind}"
    make.__qualname__ = make.__name__
    make.__doc__ = (f"{text}: return points of shape (n, d) and their classes.\n\n"
                    "``noise=None`` is the default noise of this generator.")
    return make


make_moons = _make_generator("moons", "Two half circles")
make_rings = _make_generator("rings", "Concentric rings")
make_spirals = _make_generator("spirals", "Arms of a spiral")
make_blobs = _make_generator("blobs", "Round clouds")
make_unequal = _make_generator("unequal", "Clouds of very different sizes")
make_swissroll = _make_generator("swissroll", "A rolled sheet")
