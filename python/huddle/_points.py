"""Conversion between NumPy or SciPy arrays and the containers of the library.

A view is a struct of the library that refers to the memory of an array, which must be kept alive
beside it. Inputs are copied only if their type or layout requires it; results are always copied.
"""
from __future__ import annotations

import ctypes
import mmap
from ctypes import POINTER, byref, c_double, c_float, c_int32, c_int64

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from ._library import Array, Csr, Dense, Points, check, lib


def _pointer(array, kind):
    return array.ctypes.data_as(POINTER(kind))


def _sorted_parts(matrix, dtype):
    """Return offsets, columns and values of a sparse matrix in canonical CSR format."""
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"{matrix.shape[1]} columns are too many for 32-bit indices")
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return (np.ascontiguousarray(matrix.indptr, np.int64),
            np.ascontiguousarray(matrix.indices, np.int32),
            np.ascontiguousarray(matrix.data, dtype))


class PointsView:
    """Points that refer to a float32 array with contiguous rows, or own a rounded float64 array.

    `keep` are the arrays that the view refers to. With `model`, float64 values are rounded relative
    to the same shift as the points that the model was fitted to, those of its view of that number.
    """

    def __init__(self, context, x, model=None, number=0):
        self.struct, self.keep, self._owned = Points(), [], False
        if scipy.sparse.issparse(x):
            self._view_sparse(x)
        elif x.dtype == np.float32:
            self._view_single(x)
        else:
            self._round_double(context, x, model, number)

    def _view_single(self, x):
        if x.strides[1] != 4 or x.strides[0] % 4 or x.strides[0] < 4 * x.shape[1]:
            x = np.ascontiguousarray(x)
        self.keep.append(x)
        self.struct.n, self.struct.d = x.shape
        # The strides of an array without rows are arbitrary.
        self.struct.stride = x.strides[0] // 4 if len(x) > 0 else x.shape[1]
        self.struct.values = _pointer(x, c_float)

    def _round_double(self, context, x, model, number):
        if x.strides[0] % 8 or x.strides[1] % 8:
            x = np.ascontiguousarray(x)
        source = (context.handle, *x.shape, _pointer(x, c_double), x.strides[0] // 8,
                  x.strides[1] // 8)
        length = c_int64(0)
        shift = None
        if model is not None:
            shift = lib.huddle_model_view_shift(model.handle, number, byref(length))
        if length.value == x.shape[1]:
            check(lib.huddle_points_from_double_shifted(*source, shift, byref(self.struct)))
        else:
            check(lib.huddle_points_from_double(*source, byref(self.struct)))
        self._owned = True

    def _view_sparse(self, x):
        parts = _sorted_parts(x, np.float32)
        self.keep.extend(parts)
        self.struct.n, self.struct.d = x.shape
        self.struct.offsets = _pointer(parts[0], c_int64)
        self.struct.columns = _pointer(parts[1], c_int32)
        self.struct.values = _pointer(parts[2], c_float)

    def __del__(self):
        if self._owned:
            lib.huddle_points_free(byref(self.struct))


class ViewsArray:
    """Points as an array of structs, one for each matrix of a list of views; or of one matrix."""

    def __init__(self, context, x, model=None):
        matrices = x if isinstance(x, list) else [x]
        self._views = [PointsView(context, matrix, model, number)
                       for number, matrix in enumerate(matrices)]
        self.structs = (Points * len(matrices))(*(view.struct for view in self._views))
        self.count = len(matrices)
        self.n = self.structs[0].n


def _is_frozen(array):
    """Return whether the values of an array cannot change, nor be made writable.

    The flag of an array that owns its memory, or views writable memory, can be set again. That of a
    map which was opened for reading, or of bytes, cannot.
    """
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return isinstance(array, bytes) or (isinstance(array, mmap.mmap) and memoryview(array).readonly)


def _is_new(x, given):
    """Return whether the validation of `given` has made the array x, so that nobody else has it."""
    if isinstance(given, (list, tuple)):
        return True
    if scipy.sparse.issparse(x):
        # Any other format has been converted.
        return given.format != "csr" or not np.may_share_memory(x.data, given.data)
    return isinstance(given, np.ndarray) and x is not given and x.base is None


def kept_points(x, given):
    """Return x, validated from what the caller has given, or a copy if the caller could change it."""
    parts = (x.data, x.indices, x.indptr) if scipy.sparse.issparse(x) else (x,)
    return x if _is_new(x, given) or all(map(_is_frozen, parts)) else x.copy()


def dense_view(x):
    """Return a huddle_dense that refers to a float64 array, and the array to keep alive."""
    x = np.ascontiguousarray(x, np.float64)
    return Dense(x.shape[0], x.shape[1], x.shape[1], _pointer(x, c_double)), x


def csr_view(matrix):
    """Return a huddle_csr that refers to a matrix, and the arrays to keep alive.

    Zeros that a sparse matrix stores are kept: as distances they belong to equal points.
    """
    if scipy.sparse.issparse(matrix):
        parts = _sorted_parts(matrix, np.float64)
    else:
        rows, cols = np.shape(matrix)
        parts = (np.arange(rows + 1, dtype=np.int64) * cols,
                 np.tile(np.arange(cols, dtype=np.int32), rows),
                 np.ascontiguousarray(matrix, np.float64).ravel())
    return Csr(matrix.shape[0], matrix.shape[1], _pointer(parts[0], c_int64),
               _pointer(parts[1], c_int32), _pointer(parts[2], c_double)), parts


def graph_array(matrix, n, name):
    """Return a sparse or dense square matrix in double precision; n rows unless n is None."""
    matrix = check_array(matrix, accept_sparse="csr", dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1] or (n is not None and matrix.shape[0] != n):
        expected = "square" if n is None else f"{n} x {n}"
        raise ValueError(f"{name} must be {expected}, not {matrix.shape[0]} x {matrix.shape[1]}")
    return matrix


def symmetric_graph(context, graph):
    """Return a graph, or its symmetric part if it is not symmetric; the context has the warning."""
    (view, _keep), part = csr_view(graph), Csr()
    check(lib.huddle_csr_symmetric_part(context.handle, byref(view), byref(part)))
    try:
        return copy_csr(part) if part.offsets else graph
    finally:
        lib.huddle_csr_free(byref(part))


def copy_values(pointer, count, dtype):
    """Return a NumPy copy of `count` numbers at a pointer."""
    out = np.empty(count, dtype)
    if count:
        ctypes.memmove(out.ctypes.data, pointer, out.nbytes)
    return out


def copy_csr(struct):
    """Return a SciPy copy of a huddle_csr, which may be in the memory of an engine."""
    check(lib.huddle_csr_fetch(byref(struct)))
    offsets = copy_values(struct.offsets, struct.rows + 1, np.int64)
    count = int(offsets[-1])
    columns = copy_values(struct.columns, count, np.int32)
    # SciPy needs indptr and indices of one type. Setting them directly skips the checks of its
    # constructor, which would read the whole matrix.
    narrow = count <= np.iinfo(np.int32).max
    matrix = scipy.sparse.csr_matrix((struct.rows, struct.cols), dtype=np.float64)
    matrix.indptr = offsets.astype(np.int32) if narrow else offsets
    matrix.indices = columns if narrow else columns.astype(np.int64)
    matrix.data = copy_values(struct.values, count, np.float64)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def copy_dense(struct):
    """Return a NumPy copy of a huddle_dense, which may be in the memory of an engine."""
    check(lib.huddle_dense_fetch(byref(struct)))
    flat = copy_values(struct.values, struct.rows * struct.stride, np.float64)
    return flat.reshape(struct.rows, struct.stride)[:, :struct.cols]


def copy_array(view):
    """Return a NumPy or SciPy copy of an array of a model."""
    if view.type == Array.CSR:
        return copy_csr(Csr(view.rows, view.cols, view.offsets, view.columns,
                            ctypes.cast(view.values, POINTER(c_double))))
    dtype = {Array.F32: np.float32, Array.F64: np.float64, Array.I32: np.int32}[view.type]
    flat = copy_values(view.values, view.rows * view.stride, dtype)
    return flat.reshape(view.rows, view.stride)[:, :view.cols]
