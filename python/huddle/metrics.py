"""Scores of a clustering, against known classes or on a graph."""
from __future__ import annotations

from ctypes import POINTER, byref, c_double, c_int32
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix
from sklearn.utils import check_array

from ._library import GraphScores, Scores, call, check, lib
from ._points import PointsView, csr_view, graph_array, symmetric_graph
from ._processes import agreeing
from ._running import running_context
from ._warnings import issue_warnings

__all__ = ["scores", "accuracy", "nmi", "ari", "purity", "silhouette_samples", "graph_scores"]


def _integer_labels(labels):
    """Return labels of any type as int32."""
    labels = np.asarray(labels).ravel()
    if labels.dtype == np.int32:
        return np.ascontiguousarray(labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def graph_labels(labels, n, name, expected="the graph has {} vertices"):
    """Return the labels of n vertices, of any type, as int32: the ranks of their values."""
    labels = np.asarray(labels)
    if labels.ndim != 1 and labels.shape != (n, 1):
        raise ValueError(f"{name} must have one dimension, not {labels.ndim}")
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} values, but {expected.format(n)}")
    return np.unique(labels.ravel(), return_inverse=True)[1].ravel().astype(np.int32)


def scores_dict(struct):
    """Return the fields of a struct of scores."""
    return {field[0]: getattr(struct, field[0]) for field in struct._fields_}


def _equal_lengths(a, b):
    if len(a) != len(b):
        raise ValueError(f"truth has {len(a)} values and labels has {len(b)}: the lengths differ")


def _shared_labels(labels, name):
    """Return labels of the rows of this process; a rank of values would be different elsewhere."""
    labels = np.asarray(labels).ravel()
    if labels.size > 0 and not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"{name} must be integers if rows are distributed over processes")
    return np.ascontiguousarray(labels, np.int32)


def _without_left_out(truth, labels, always):
    """Return truth and labels of the rows that have a cluster: a label of -1 means that there is none.

    It does so only if the other labels are 0 and larger numbers (always: whatever they are): in
    labels of -1 and 1 both are clusters.
    """
    labels = np.asarray(labels).ravel()
    kept = labels != -1 if labels.dtype.kind in "if" else np.ones(len(labels), bool)
    if not (always or kept.any() or labels.size == 0):
        raise ValueError("no row has a cluster: every label is -1")
    if kept.all() or not (always or np.min(labels[kept], initial=1) == 0):
        return truth, labels
    return np.asarray(truth).ravel()[kept], labels[kept]


def scores(truth: ArrayLike, labels: ArrayLike, *, engine: Any = "cpu") -> dict[str, float]:
    """Return all scores as a dict: acc, nmi, ari, purity, and left_out, a number of rows.

    Rows with the label -1, among labels that are otherwise 0 and larger numbers, have no cluster
    (``huddle cluster --missing drop`` writes it for rows with missing values, scikit-learn's HDBSCAN
    for noise) and are left out; if all have it, there is nothing to score and a ValueError is raised. In
    ``truth`` -1 is a class like others.

    With ``engine="mpi"`` (or a communicator of mpi4py) every process passes the values of its rows,
    which must be integers, and gets the scores of all rows; -1 is always left out, and left_out counts
    rows of the process.

    >>> scores([0, 0, 1, 1], ["b", "b", "a", "a"])["acc"]
    1.0
    """
    found = Scores()
    with running_context(1, None, engine, distributed=True) as context:
        with agreeing(context):
            if context.distributed:
                a, b = _shared_labels(truth, "truth"), _shared_labels(labels, "labels")
            else:
                a, b = np.asarray(truth).ravel(), np.asarray(labels).ravel()
            _equal_lengths(a, b)
            n = len(a)
            a, b = _without_left_out(a, b, context.distributed)
            if not context.distributed:
                a, b = _integer_labels(a), _integer_labels(b)
        check(lib.huddle_metrics_scores(context.handle, len(a), a.ctypes.data_as(POINTER(c_int32)),
                                        b.ctypes.data_as(POINTER(c_int32)), byref(found)))
    return {**scores_dict(found), "left_out": n - len(a)}


def accuracy(truth: ArrayLike, labels: ArrayLike) -> float:
    """Fraction of points that the best one-to-one map of clusters to classes assigns correctly.

    Rows without a cluster are left out, here and in the functions below: see :func:`scores`.
    """
    return scores(truth, labels)["acc"]


def nmi(truth: ArrayLike, labels: ArrayLike) -> float:
    """Mutual information, normalised by the geometric mean of the entropies."""
    return scores(truth, labels)["nmi"]


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Rand index, adjusted for chance."""
    return scores(truth, labels)["ari"]


def purity(truth: ArrayLike, labels: ArrayLike) -> float:
    """Fraction of points that belong to the most frequent class of their cluster."""
    return scores(truth, labels)["purity"]


def silhouette_samples(X: ArrayLike | spmatrix, labels: ArrayLike, *,
                       n_jobs: int | None = -1) -> NDArray[np.float64]:
    """Return the silhouette of each point, with Euclidean distances.

    As scikit-learn's function of that name, without a matrix of all distances: memory does not grow
    with the square of the number of points, and all threads are used.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Numbers or strings. If all are equal, the silhouettes are 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all that are available to the process.

    Returns
    -------
    silhouettes : ndarray of shape (n_samples,)
        From -1 to 1; 0 for the only point of a cluster.

    >>> silhouette_samples([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).round(3)
    array([0.895, 0.882, 0.882, 0.895])
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    codes = graph_labels(labels, X.shape[0], "labels", "X has {} points")
    values = np.empty(X.shape[0], np.float64)
    with running_context(n_jobs, None, "cpu") as context:
        points = PointsView(context, X)
        call(context, lib.huddle_metrics_silhouette_samples, context.handle, byref(points.struct),
             codes.ctypes.data_as(POINTER(c_int32)), values.ctypes.data_as(POINTER(c_double)))
    return values


def graph_scores(A: ArrayLike | spmatrix, labels: ArrayLike) -> dict[str, float]:
    """Return scores of labels on a graph, which need no known classes.

    With v_k the share of the volume of cluster k, d_k the share of the weight inside it, f the sum
    of the d_k, s the sum of the squared v_k, and q_k = v_k - d_k:

    * inside: f
    * expected: s, the value of f in a random graph with the same degrees
    * divergence: J = f ln(f / s) + (1 - f) ln((1 - f) / (1 - s))
    * information: mutual information of the clusters of the two ends of an edge
    * map: L, the two-level map equation without the part that does not depend on the labels
    * entropy: that part, H; L + H is the description length of a random walk, in nats
    * modularity: Q = f - s
    * ncut: normalised cut, the sum of q_k / v_k

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric graph with non-negative weights. If it is not symmetric, as the result of
        scikit-learn's ``kneighbors_graph``, (A + A')/2 is used, with a warning.
    labels : array-like of shape (n_samples,)
        Numbers or strings.

    >>> import numpy as np
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> graph_scores(A, ["a", "a", "a", "b", "b", "b"])["modularity"]
    0.5
    """
    graph = graph_array(A, None, "A")
    values = graph_labels(labels, graph.shape[0], "labels")
    found = GraphScores()
    with running_context(1, None, "cpu") as context:
        view, _keep = csr_view(symmetric_graph(context, graph))
        check(lib.huddle_metrics_graph_scores(context.handle, byref(view),
                                              values.ctypes.data_as(POINTER(c_int32)), byref(found)))
        issue_warnings(context.warnings, stacklevel=2)
    return scores_dict(found)
