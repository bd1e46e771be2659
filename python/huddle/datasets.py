"""The embedded digits, generators, and files of any format the library reads."""
from __future__ import annotations

import ctypes
import os
import warnings
from ctypes import (POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_uint64)
from typing import Any

import numpy as np
import scipy.sparse

from ._library import AUTO, Context, LogFunction, Points, check, io_library, lib
from ._points import copy_values

__all__ = ["load_digits", "load_file", "make_moons", "make_rings", "make_spirals", "make_blobs",
           "make_swissroll"]


class _Column(Structure):
    _fields_ = [("name", c_char_p), ("role", c_int), ("reason", c_char_p)]


class _Data(Structure):
    _fields_ = [("name", c_char_p), ("format", c_char_p), ("points", Points),
                ("labels", POINTER(c_int32)), ("n_classes", c_int32),
                ("classes", POINTER(c_char_p)), ("classes_numeric", c_bool),
                ("features", POINTER(c_char_p)), ("names", POINTER(c_char_p)),
                ("n_names", c_int64), ("height", c_int32), ("width", c_int32),
                ("column_major", c_bool), ("columns", POINTER(_Column)), ("n_columns", c_int64),
                ("dropped", POINTER(c_int64)), ("n_dropped", c_int64)]


class _ReadOptions(Structure):
    _fields_ = [("x", POINTER(c_char_p)), ("n_x", c_int64), ("y", POINTER(c_char_p)),
                ("n_y", c_int64), ("transpose", c_bool), ("classes", c_char_p),
                ("per_class", c_int64), ("n", c_int64), ("noise", c_double), ("seed", c_uint64),
                ("shift", POINTER(c_double)), ("n_shift", c_int64),
                ("missing", c_char_p), ("encode", c_bool), ("x_by_name", c_bool),
                ("hints_as_flags", c_bool)]


def _points(points):
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


def _texts(names):
    names = [names] if isinstance(names, str) else list(names or [])
    return (c_char_p * len(names))(*(name.encode() for name in names)), len(names)


def _read(source, options, said=None):
    data, context = _Data(), Context()
    log = LogFunction(lambda user, level, code, text: said.append(text.decode(errors="replace")))
    if said is not None:
        lib.huddle_context_set_log(context.handle, log, None)
    io = io_library()
    check(io.huddle_data_read(context.handle, os.fsencode(source), byref(options), byref(data)))
    try:
        x, y = _points(data.points), None
        if data.labels:
            index = copy_values(data.labels, data.points.n, np.int32)
            classes = [data.classes[k].decode() for k in range(data.n_classes)]
            values = np.array([int(c) for c in classes]) if data.classes_numeric \
                else np.array(classes)
            y = values[index]
        return x, y
    finally:
        io.huddle_data_free(byref(data))


def load_file(path: str | os.PathLike, *, x: str | list[str] | None = None,
              y: str | list[str] | None = None, transpose: bool = False,
              classes: str | None = None, per_class: int = 0, missing: str = "error",
              encode: bool = False) -> tuple[Any, np.ndarray | None]:
    """Points and labels (None if there are none) of a file, as ``huddle cluster`` would read it.

    What was left out of a table (row numbers, dates, columns that give the labels away, rows with
    missing values) is said in a warning.

    Parameters
    ----------
    path : str or path-like
    x, y : str or list of str, optional
        Names inside a container, stacked in order, or columns of a table; conventional names are
        found if not given.
    transpose : bool
        Samples stand in columns.
    classes : str, optional
        Keep these classes, such as ``"11-36,40"``.
    per_class : int
        Keep the first so many of each class; 0 keeps all.
    missing : {"error", "drop", "mean", "median"}
        Missing values of a table: refuse them, drop their rows, or fill in the column's mean or
        median.
    encode : bool
        Make features of a table's text columns, one for each text.

    Returns
    -------
    X : ndarray of float32, or CSR matrix
    y : ndarray or None
    """
    options = _ReadOptions(transpose=transpose, per_class=per_class, noise=AUTO,
                           missing=str(missing).encode(), encode=encode)
    if classes is not None:
        options.classes = str(classes).encode()
    xs, options.n_x = _texts(x)
    ys, options.n_y = _texts(y)
    options.x, options.y = ctypes.cast(xs, POINTER(c_char_p)), ctypes.cast(ys, POINTER(c_char_p))
    said = []
    read = _read(path, options, said)
    for text in said:
        warnings.warn(f"{os.fspath(path)}: {text}", UserWarning, stacklevel=2)
    return read


def load_digits(*, return_X_y: bool = True) -> Any:
    """1797 handwritten digits of 8 x 8 pixels, and what they are.

    >>> X, y = load_digits()
    >>> X.shape
    (1797, 64)
    """
    x, y = _read("digits", _ReadOptions(noise=AUTO))
    return (x, y) if return_X_y else x


def _generator(kind, text):
    def make(n: int = 1000, *, noise: float | None = None,
             random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
        options = _ReadOptions(n=n, noise=AUTO if noise is None else noise, seed=random_state)
        return _read(kind, options)
    make.__name__ = f"make_{kind}"
    make.__doc__ = (f"{text}: points of shape (n, d) and their classes.\n\n"
                    "``noise=None`` is the kind's own.")
    return make


make_moons = _generator("moons", "Two half circles")
make_rings = _generator("rings", "Concentric rings")
make_spirals = _generator("spirals", "Arms of a spiral")
make_blobs = _generator("blobs", "Round clouds")
make_swissroll = _generator("swissroll", "A rolled sheet")
