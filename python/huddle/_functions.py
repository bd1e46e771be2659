"""The stages alone: neighbour graph, embedding, shrinking."""
from __future__ import annotations

import dataclasses
import warnings
from ctypes import byref, c_double, pointer

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from ._library import (Csr, Embedding, EmbedInfo, Neighbors, Scale, ShrinkInfo, Shrunk, call, check,
                       lib)
from ._options import stage_options, stage_parameters
from ._points import PointsView, copy_csr, copy_dense, copy_values, csr_view, dense_view
from ._running import running, seed_of
from ._signature import with_options

__all__ = ["knn_graph", "spectral_embedding", "shrink", "ShrinkResult"]

EVERY_POINT = 1  # clusters that connect=True is told of: one component


def points_array(x):
    """Points as the estimators take them."""
    return check_array(x, accept_sparse="csr", dtype=[np.float64, np.float32])


def graph_array(matrix, n, name):
    """A square matrix of n rows, sparse or dense, in double precision."""
    matrix = check_array(matrix, accept_sparse="csr", dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1] or (n is not None and matrix.shape[0] != n):
        wanted = "square" if n is None else f"{n} x {n}"
        raise ValueError(f"{name} must be {wanted}, not {matrix.shape[0]} x {matrix.shape[1]}")
    return matrix


def _distances(neighbors):
    """The lists as a sparse matrix of distances, a row a list."""
    check(lib.huddle_neighbors_fetch(byref(neighbors)))
    count = neighbors.n * neighbors.k
    index = copy_values(neighbors.index, count, np.int32)
    distance = copy_values(neighbors.distance, count, np.float64)
    offsets = np.arange(neighbors.n + 1, dtype=np.int64) * neighbors.k
    graph = scipy.sparse.csr_matrix((distance, index, offsets), shape=(neighbors.n, neighbors.n))
    graph.sort_indices()
    return graph


def _weigh(context, points, neighbors, options, connect):
    weight, knn = stage_options("weight", options), stage_options("knn", options)
    graph, scale, mean = Csr(), Scale(), c_double()
    try:
        if options["scale"] == "global":
            call(context, lib.huddle_graph_mean_distance, context.handle, byref(points.struct),
                 knn.metric, options["seed"], byref(mean))
            weight.mean_distance = mean.value
        call(context, lib.huddle_graph_weigh, context.handle, byref(neighbors), byref(weight),
             byref(graph), byref(scale))
        if connect:
            bridges = stage_options("connect", {"connect": True})
            bridges.n_clusters, bridges.metric = EVERY_POINT, knn.metric
            call(context, lib.huddle_graph_connect, context.handle, byref(points.struct),
                 byref(bridges), byref(scale), byref(graph), None)
        return copy_csr(graph)
    finally:
        lib.huddle_csr_free(byref(graph))
        lib.huddle_scale_free(byref(scale))


@with_options(stage_parameters("knn") + stage_parameters("weight"))
def knn_graph(X, n_neighbors=5, *, mode="weights", connect=False, **options):
    """The graph of nearest neighbours, exact.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int, default=5
        Neighbours of each point, itself not counted.
    mode : {"weights", "distance"}, default="weights"
        A symmetric graph of weights that joins two points if either is among the other's nearest;
        or the lists themselves, a row of distances a point, as
        ``affinity="precomputed_nearest_neighbors"`` takes them.
    connect : bool, default=False
        Join the components of the weighted graph by their shortest bridges.
    {parameters}

    Returns
    -------
    graph : CSR matrix of shape (n_samples, n_samples), float64

    Examples
    --------
    >>> from huddle import knn_graph
    >>> knn_graph([[0.0], [1.0], [10.0]], 1, scale="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if mode not in ("weights", "distance"):
        raise ValueError(f"mode = {mode!r} is neither 'weights' nor 'distance'")
    x = points_array(X)
    options.update(n_neighbors=n_neighbors, seed=seed_of(options["random_state"]))
    knn, neighbors = stage_options("knn", options), Neighbors()
    stage_options("weight", options)
    knn.seed = options["seed"]
    with running(options["n_jobs"], options["progress"], options["engine"]) as context:
        points = PointsView(context, x)
        try:
            call(context, lib.huddle_graph_knn, context.handle, byref(points.struct), byref(knn),
                 byref(neighbors), None)
            if mode == "distance":
                return _distances(neighbors)
            return _weigh(context, points, neighbors, options, connect)
        finally:
            lib.huddle_neighbors_free(byref(neighbors))


def _warn_stop(what, info, residual):
    stop = lib.huddle_stop_name(info.stop).decode()
    if stop in ("max_iter", "stalled"):
        warnings.warn(f"the {what} stopped ({stop}) after {info.n_iter} iterations at a "
                      f"{residual}", ConvergenceWarning, stacklevel=4)
    return stop


@with_options([p for p in stage_parameters("embed") if p.name != "seed"])
def spectral_embedding(A, n_components=8, *, return_eigenvalues=False, **options):
    """The first eigenvectors of a graph's normalised Laplacian, verified.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric, with weights that are not negative.
    n_components : int, default=8
        Eigenvectors to find, the trivial ones included.
    return_eigenvalues : bool, default=False
        Return the eigenvalues too.
    {parameters}

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
    eigenvalues : ndarray
        Ascending, at least ``n_components``; if ``return_eigenvalues``.

    Examples
    --------
    >>> from huddle import knn_graph, spectral_embedding
    >>> from huddle.datasets import make_rings
    >>> X, y = make_rings(300)
    >>> spectral_embedding(knn_graph(X), 3).shape
    (300, 3)
    """
    view, _keep = csr_view(graph_array(A, None, "A"))
    options["n_components"] = n_components
    embed, out, info = stage_options("embed", options), Embedding(), EmbedInfo()
    embed.seed = seed_of(options["random_state"])
    try:
        with running(options["n_jobs"], options["progress"], options["engine"]) as context:
            call(context, lib.huddle_embed, context.handle, byref(view), byref(embed), byref(out),
                 byref(info))
        _warn_stop("embedding", info, f"residual of {info.residual:.2g}")
        embedding = copy_dense(out.rows)
        if not return_eigenvalues:
            return embedding
        return embedding, copy_values(out.eigenvalues, out.n_eigenvalues, np.float64)
    finally:
        lib.huddle_embedding_free(byref(out))


@dataclasses.dataclass
class ShrinkResult:
    """What :func:`shrink` found, and how near the optimum it is proven to be."""

    G: np.ndarray
    """The shrunk rows, like F."""
    groups: np.ndarray
    """The group of fused rows that each row belongs to, numbered from 0 by the first member."""
    n_groups: int
    objective: float
    dual: float
    """The optimum is at least this."""
    gap: float
    """(objective - dual) / objective."""
    gamma: float
    """The number used."""
    n_iter: int
    stop: str
    """converged, exact, max_iter, stalled or rounding; only the first two mean that the gap asked
    for was reached."""
    solver: str
    seconds: float
    history: np.ndarray
    """A row an iteration: objective, dual and seconds, the best so far."""


def _history(info):
    columns = (info.history_objective, info.history_dual, info.history_seconds)
    return np.stack([copy_values(c, info.n_history, np.float64) for c in columns], axis=1)


@with_options(stage_parameters("shrink"))
def shrink(F, W, gamma="auto", *, start=None, **options):
    """Pulls the rows of F together along the graph W, and proves how near that is to the optimum.

    Minimises ``sum_i ||g_i - f_i|| + gamma * sum_ij w_ij ||g_i - g_j||`` over G, every edge taken
    once. With ``loss="l2"`` the first term is ``||G - F||**2``: plain convex clustering, of any
    points.

    Parameters
    ----------
    F : array-like of shape (n_samples, n_components)
    W : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric, with weights that are not negative; the diagonal is ignored.
    gamma : float or "auto", default="auto"
        Strength of the pull; "auto" is n_samples / n_components.
    start : array-like like F, optional
        A first guess of G.
    {parameters}

    Returns
    -------
    result : ShrinkResult
        With ``G``, ``groups``, ``gap``, ``objective`` and more.

    Examples
    --------
    >>> import numpy as np
    >>> from huddle import knn_graph, shrink
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
    >>> result = shrink(X, knn_graph(X, 2, scale="binary"), gamma=1.0, loss="l2")
    >>> result.groups
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> bool(result.gap < 1e-4)
    True
    """
    f, keep_f = dense_view(check_array(F, dtype=np.float64))
    w, _keep_w = csr_view(graph_array(W, keep_f.shape[0], "W"))
    options["gamma"] = gamma
    problem, out, info = stage_options("shrink", options), Shrunk(), ShrinkInfo()
    problem.seed = seed_of(options["random_state"])
    if start is not None:
        first, _keep_first = dense_view(check_array(start, dtype=np.float64))
        if _keep_first.shape != keep_f.shape:
            raise ValueError(f"start must be {f.rows} x {f.cols} like F")
        problem.start = pointer(first)
    try:
        with running(options["n_jobs"], options["progress"], options["engine"]) as context:
            call(context, lib.huddle_shrink, context.handle, byref(f), byref(w), byref(problem),
                 byref(out), byref(info))
        stop = _warn_stop("shrinking", info, f"gap of {info.gap:.2g}, not {problem.gap:.2g}")
        return ShrinkResult(
            G=copy_dense(out.g), groups=copy_values(out.group, f.rows, np.int32),
            n_groups=out.n_groups, objective=info.objective, dual=info.dual, gap=info.gap,
            gamma=info.gamma, n_iter=info.n_iter, stop=stop, solver=info.solver.decode(),
            seconds=info.seconds, history=_history(info))
    finally:
        lib.huddle_shrunk_free(byref(out))
        lib.huddle_shrink_info_free(byref(info))
