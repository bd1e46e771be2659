"""What huddle.drop_in needs of the library: K-means, and eigenvectors of symmetric matrices."""
from __future__ import annotations

import contextlib
import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_uint64, c_void_p)
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ._library import (AUTO, Context, Csr, Dense, Embedding, EmbedInfo, EmbedOptions, LogFunction,
                       Points, call, lib)
from ._points import PointsView, copy_dense, copy_values, csr_view, dense_view
from ._running import thread_count


class KmeansOptions(Structure):
    _fields_ = [("n_clusters", c_int32), ("n_init", c_int32), ("max_iter", c_int32),
                ("tol", c_double), ("init", c_char_p), ("full_restarts", c_bool),
                ("seed", c_uint64), ("start", POINTER(Dense)), ("keep_starts", c_bool),
                ("draws", POINTER(c_double)), ("keep_averaged", c_bool),
                ("log_iterations", c_bool)]


class KmeansResult(Structure):
    _fields_ = [("labels", POINTER(c_int32)), ("centres", Dense), ("averaged", POINTER(c_int32))]


class KmeansInfo(Structure):
    _fields_ = [("inertia", c_double), ("inertias", POINTER(c_double)), ("n_restarts", c_int32),
                ("start_labels", POINTER(c_int32)), ("best", c_int32), ("n_iter", c_int32),
                ("n_distinct", c_int32), ("stop", c_int), ("seconds", c_double)]


def _declare(name, *arguments, result=c_int):
    function = getattr(lib, name)
    function.argtypes, function.restype = list(arguments), result


_declare("huddle_kmeans_defaults", result=KmeansOptions)
_declare("huddle_kmeans_n_draws", c_int32, result=c_int64)
_declare("huddle_kmeans", c_void_p, POINTER(Points), POINTER(c_double), POINTER(KmeansOptions),
         POINTER(KmeansResult), POINTER(KmeansInfo))
_declare("huddle_kmeans_assign", c_void_p, POINTER(Points), POINTER(Dense), POINTER(c_int32))
_declare("huddle_kmeans_result_free", POINTER(KmeansResult), result=None)
_declare("huddle_kmeans_info_free", POINTER(KmeansInfo), result=None)
_declare("huddle_embed_symmetric", c_void_p, POINTER(Csr), c_double, c_double,
         POINTER(EmbedOptions), POINTER(Embedding), POINTER(EmbedInfo))


def _thread_count():
    """Return the number of threads: as for scikit-learn, that of OMP_NUM_THREADS if it is set."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    count = thread_count(-1)
    return int(given) if count == AUTO and given.isdigit() and int(given) > 0 else count


@contextlib.contextmanager
def computing(verbose=False):
    """Provide a context with all threads, or one if it prints the library's log.

    Restarts on several threads would mix their lines.
    """
    context = Context(1 if verbose else _thread_count())
    if verbose:
        context._log_callback = LogFunction(lambda _, level, code, text: print(text.decode()))
        lib.huddle_context_set_log(context.handle, context._log_callback, None)
    try:
        yield context
    finally:
        context.close()


def _doubles(array):
    return array.ctypes.data_as(POINTER(c_double))


# Numbers whose largest is outside these limits are scaled, before they leave the range of single
# precision.
_SMALL, _LARGE = 1e-30, 1e30


class Rows:
    """Points of the library. `factor`, a power of two, is what X was multiplied by to fit them."""

    def __init__(self, context, X):
        self.factor = 1.0
        values = X.data if scipy.sparse.issparse(X) else X
        if X.dtype == np.float64 and values.size > 0:
            largest = max(values.max(), -values.min())
            if largest > _LARGE or 0 < largest < _SMALL:
                self.factor = 2.0 ** -np.ceil(np.log2(largest))
                X = X * self.factor
        self.points = PointsView(context, X)
        self.struct = self.points.struct


def n_draws(n_clusters):
    """Return how many random numbers k-means++ uses."""
    return lib.huddle_kmeans_n_draws(n_clusters)


class Clusters(NamedTuple):
    """A result of K-means: centres, the labels whose means they are, the number of iterations, and
    the number of distinct rows, up to that of the clusters."""
    centers: np.ndarray
    averaged: np.ndarray
    n_iter: int
    n_distinct: int


def _kmeans_options(n_clusters, max_iter, tol, verbose):
    options = lib.huddle_kmeans_defaults()
    options.n_clusters, options.max_iter, options.tol = n_clusters, max_iter, tol
    options.full_restarts = options.keep_averaged = True
    options.log_iterations = verbose
    return options


def kmeans(context, points, weights, n_clusters, *, max_iter, tol, draws=None, starts=None,
           verbose=False):
    """Cluster points from given draws (n_init x n_draws) or starts (n_init x n_clusters x d)."""
    options = _kmeans_options(n_clusters, max_iter, tol, verbose)
    if starts is not None:
        start, _keep_start = dense_view(starts.reshape(-1, starts.shape[-1]) * points.factor)
        options.start, options.n_init = ctypes.pointer(start), len(starts)
    else:
        draws = np.ascontiguousarray(draws, np.float64)
        options.draws, options.n_init = _doubles(draws), len(draws)
    result, info = KmeansResult(), KmeansInfo()
    try:
        call(context, lib.huddle_kmeans, context.handle, byref(points.struct),
             _doubles(weights) if weights is not None else None, byref(options), byref(result),
             byref(info))
        averaged = copy_values(result.averaged or result.labels, points.struct.n, np.int32)
        return Clusters(copy_dense(result.centres) / points.factor, averaged, info.n_iter,
                        info.n_distinct)
    finally:
        lib.huddle_kmeans_result_free(byref(result))
        lib.huddle_kmeans_info_free(byref(info))


def nearest(context, points, centers):
    """Return the index of the nearest centre of each point."""
    view, _keep = dense_view(np.asarray(centers, np.float64) * points.factor)
    labels = np.empty(points.struct.n, np.int32)
    call(context, lib.huddle_kmeans_assign, context.handle, byref(points.struct), byref(view),
         labels.ctypes.data_as(POINTER(c_int32)))
    return labels


class Eigenvectors(NamedTuple):
    """Eigenvectors of a graph: D^-1/2 v in columns, and the number of its components."""
    rows: np.ndarray
    n_components: int
    stop: str
    residual: float


def eigenvectors(graph, count, tol):
    """Return the first eigenvectors of the normalised Laplacian, as D^-1/2 v.

    graph is symmetric with an empty diagonal, and every row has a positive sum.
    """
    options = lib.huddle_embed_defaults()
    options.n_components, options.tol, options.rows = count, tol, b"rw"
    values = graph.data if scipy.sparse.issparse(graph) else graph
    has_negative = values.size > 0 and values.min() < 0
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    if has_negative:
        # Not a graph to the library, but still a symmetric matrix.
        if degrees.min() <= 0:
            raise ValueError("the affinity matrix has a row of negative similarities, whose sum "
                             "is not positive")
        scale = degrees ** -.5
        graph = (scipy.sparse.diags(scale) @ graph @ scipy.sparse.diags(scale)
                 if scipy.sparse.issparse(graph) else scale[:, None] * graph * scale)
    view, _keep = csr_view(graph)
    out, info = Embedding(), EmbedInfo()
    try:
        with computing() as context:
            if has_negative:
                call(context, lib.huddle_embed_symmetric, context.handle, byref(view), -np.inf,
                     np.inf, byref(options), byref(out), byref(info))
                rows = copy_dense(out.rows) * scale[:, None]
            else:
                call(context, lib.huddle_embed, context.handle, byref(view), byref(options),
                     byref(out), byref(info))
                rows = copy_dense(out.rows)
        return Eigenvectors(rows, info.components, lib.huddle_stop_name(info.stop).decode(),
                            info.residual)
    finally:
        lib.huddle_embedding_free(byref(out))


__all__ = ["Clusters", "Eigenvectors", "Rows", "computing", "eigenvectors", "kmeans",
           "n_draws", "nearest"]
