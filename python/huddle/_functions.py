"""Single stages of the methods as functions: neighbour graph, embedding, shrinking."""
from __future__ import annotations

import dataclasses
from ctypes import byref, c_double, pointer
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, spmatrix
from sklearn.utils import check_array

from ._library import (Csr, Embedding, EmbedInfo, Neighbors, Scale, ShrinkInfo, Shrunk, call, check,
                       lib)
from ._options import stage_options, stage_parameters
from ._points import (PointsView, copy_csr, copy_dense, copy_values, csr_view, dense_view,
                      graph_array, symmetric_graph)
from ._running import options_context, random_seed
from ._signature import with_options
from ._warnings import issue_warnings

__all__ = ["knn_graph", "spectral_embedding", "shrink", "ShrinkResult"]

# The C function joins components until there are n_clusters of them; connect=True joins all.
_ONE_COMPONENT = 1

# A function issues warnings with the location of its caller: one level for the function itself, one
# for the wrapper of with_options().
_CALLER = 3


def points_array(x):
    """Return points as the estimators accept them."""
    return check_array(x, accept_sparse="csr", dtype=[np.float64, np.float32])


def _copy_distances(neighbors):
    """Return the neighbour lists as a sparse matrix of distances, one row per list."""
    check(lib.huddle_neighbors_fetch(byref(neighbors)))
    count = neighbors.n * neighbors.k
    index = copy_values(neighbors.index, count, np.int32)
    distance = copy_values(neighbors.distance, count, np.float64)
    offsets = np.arange(neighbors.n + 1, dtype=np.int64) * neighbors.k
    graph = csr_matrix((distance, index, offsets), shape=(neighbors.n, neighbors.n))
    graph.sort_indices()
    return graph


def _weighted_graph(context, points, neighbors, options, connect):
    """Return the weighted graph of neighbour lists, with one component if connect is set."""
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
            bridges.n_clusters, bridges.metric = _ONE_COMPONENT, knn.metric
            call(context, lib.huddle_graph_connect, context.handle, byref(points.struct),
                 byref(bridges), byref(scale), byref(graph), None)
        return copy_csr(graph)
    finally:
        lib.huddle_csr_free(byref(graph))
        lib.huddle_scale_free(byref(scale))


@with_options(stage_parameters("knn") + stage_parameters("weight"))
def knn_graph(X: ArrayLike | spmatrix, n_neighbors: int = 5, *,
              mode: Literal["weights", "distance"] = "weights", connect: bool = False,
              **options) -> csr_matrix:
    """Compute the graph of nearest neighbours.

    They are exact, unless an exact search would take minutes; see ``knn_solver`` and ``recall``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int, default=5
        Number of neighbours of each point, without the point itself.
    mode : {"weights", "distance"}, default="weights"
        "weights" returns a symmetric graph in which two points are joined if either is a nearest
        neighbour of the other. "distance" returns the distances to the neighbours, one row per
        point, as ``affinity="precomputed_nearest_neighbors"`` accepts them.
    connect : bool, default=False
        Join the components of the weighted graph by the shortest edges between them.
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
        raise ValueError(f"mode = {mode!r}: expected one of 'weights', 'distance'")
    x = points_array(X)
    options.update(n_neighbors=n_neighbors, seed=random_seed(options["random_state"]))
    knn, neighbors = stage_options("knn", options), Neighbors()
    stage_options("weight", options)  # invalid values are reported before the search
    knn.seed = options["seed"]
    with options_context(options) as context:
        points = PointsView(context, x)
        try:
            call(context, lib.huddle_graph_knn, context.handle, byref(points.struct), byref(knn),
                 byref(neighbors), None)
            issue_warnings(context.warnings, stacklevel=_CALLER)
            if mode == "distance":
                return _copy_distances(neighbors)
            return _weighted_graph(context, points, neighbors, options, connect)
        finally:
            lib.huddle_neighbors_free(byref(neighbors))


def _embedding_warnings(context, info):
    """Return the warnings of an embedding: those logged, and one for an early stop.

    The library logs the latter in methods only, since huddle_embed() returns it as data.
    """
    stop = lib.huddle_stop_name(info.stop).decode()
    if stop not in ("max_iter", "stalled"):
        return context.warnings
    return [*context.warnings,
            ("not_converged", f"the embedding stopped ({stop}) after {info.n_iter} iterations at a "
                              f"residual of {info.residual:.2g}")]


@with_options([p for p in stage_parameters("embed") if p.name != "seed"])
def spectral_embedding(A: ArrayLike | spmatrix, n_components: int = 8, *,
                       return_eigenvalues: bool = False, **options
                       ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the first eigenvectors of the normalised Laplacian of a graph.

    The result is verified to contain the eigenvectors of the smallest eigenvalues; a warning is
    issued if that fails.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric graph with non-negative weights. If it is not symmetric, (A + A')/2 is used, with a
        warning.
    n_components : int, default=8
        Number of eigenvectors, including the trivial ones.
    return_eigenvalues : bool, default=False
        Whether to return the eigenvalues too.
    {parameters}

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
    eigenvalues : ndarray
        At least ``n_components``, in ascending order. Only if ``return_eigenvalues``.

    Examples
    --------
    >>> from huddle import knn_graph, spectral_embedding
    >>> from huddle.datasets import make_rings
    >>> X, y = make_rings(300)
    >>> spectral_embedding(knn_graph(X), 3).shape
    (300, 3)
    """
    graph = graph_array(A, None, "A")
    options["n_components"] = n_components
    embed, out, info = stage_options("embed", options), Embedding(), EmbedInfo()
    embed.seed = random_seed(options["random_state"])
    try:
        with options_context(options) as context:
            view, _keep = csr_view(symmetric_graph(context, graph))
            call(context, lib.huddle_embed, context.handle, byref(view), byref(embed), byref(out),
                 byref(info))
        issue_warnings(_embedding_warnings(context, info), stacklevel=_CALLER)
        embedding = copy_dense(out.rows)
        if not return_eigenvalues:
            return embedding
        return embedding, copy_values(out.eigenvalues, out.n_eigenvalues, np.float64)
    finally:
        lib.huddle_embedding_free(byref(out))


@dataclasses.dataclass
class ShrinkResult:
    """The result of :func:`shrink` and its certificate."""

    G: NDArray[np.float64]
    """The shrunk rows, of the shape of F."""
    groups: NDArray[np.int32]
    """Group of fused rows of each row, numbered from 0 in the order of their first rows."""
    n_groups: int
    objective: float
    dual: float
    """Lower bound of the optimal objective."""
    gap: float
    """Relative duality gap, (objective - dual) / objective."""
    gamma: float
    """The value that was used."""
    n_iter: int
    stop: str
    """"converged", "exact", "max_iter", "stalled" or "rounding". Only with the first two is the gap
    at most the one requested."""
    solver: str
    seconds: float
    history: NDArray[np.float64]
    """Objective, dual and seconds after each iteration, one per row; the best values so far. Of the
    solvers "published" and "printed" the objective is that of the step, and the dual 0 but for the
    last."""


def _history(info):
    columns = (info.history_objective, info.history_dual, info.history_seconds)
    return np.stack([copy_values(c, info.n_history, np.float64) for c in columns], axis=1)


@with_options(stage_parameters("shrink"))
def shrink(F: ArrayLike, W: ArrayLike | spmatrix, gamma: float | str = "auto", *,
           start: ArrayLike | None = None, **options) -> ShrinkResult:
    """Solve the shrink problem, and bound the distance of the result from the optimum.

    Minimises ``sum_i ||g_i - f_i|| + gamma * sum_ij w_ij ||g_i - g_j||`` over G, where the second
    sum counts every edge once. With ``loss="l2"`` the first term is ``||G - F||**2``, which is
    convex clustering of arbitrary points.

    Parameters
    ----------
    F : array-like of shape (n_samples, n_components)
    W : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric graph with non-negative weights; the diagonal is ignored. If it is not symmetric,
        (W + W')/2 is used, with a warning.
    gamma : float or "auto", default="auto"
        Weight of the second term; "auto" is n_samples / n_components.
    start : array-like of the shape of F, optional
        Initial value of G.
    {parameters}

    Returns
    -------
    result : ShrinkResult
        ``G``, ``groups``, ``gap``, ``objective`` and other fields.

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
    graph = graph_array(W, keep_f.shape[0], "W")
    options["gamma"] = gamma
    problem, out, info = stage_options("shrink", options), Shrunk(), ShrinkInfo()
    problem.seed = random_seed(options["random_state"])
    if start is not None:
        first, _keep_first = dense_view(check_array(start, dtype=np.float64))
        if _keep_first.shape != keep_f.shape:
            raise ValueError(f"start must be {f.rows} x {f.cols} like F, "
                             f"not {first.rows} x {first.cols}")
        problem.start = pointer(first)
    try:
        with options_context(options) as context:
            w, _keep_w = csr_view(symmetric_graph(context, graph))
            call(context, lib.huddle_shrink, context.handle, byref(f), byref(w), byref(problem),
                 byref(out), byref(info))
        issue_warnings(context.warnings, stacklevel=_CALLER)
        return ShrinkResult(
            G=copy_dense(out.g), groups=copy_values(out.group, f.rows, np.int32),
            n_groups=out.n_groups, objective=info.objective, dual=info.dual, gap=info.gap,
            gamma=info.gamma, n_iter=info.n_iter,
            stop=lib.huddle_stop_name(info.stop).decode(), solver=info.solver.decode(),
            seconds=info.seconds, history=_history(info))
    finally:
        lib.huddle_shrunk_free(byref(out))
        lib.huddle_shrink_info_free(byref(info))
