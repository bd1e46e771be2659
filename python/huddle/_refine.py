"""Refinement of labels on a graph."""
from __future__ import annotations

from ctypes import POINTER, byref, c_int32
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import spmatrix

from . import _library
from ._library import GraphScores, RefineInfo, RefineStart, call, lib
from ._options import stage_options, stage_parameters
from ._points import csr_view, graph_array, symmetric_graph
from ._running import options_context, random_seed
from ._signature import with_options
from ._warnings import issue_warnings
from .metrics import graph_labels, scores_dict

__all__ = ["refine"]

_NAME_BYTES = 15  # of a start's name, which error messages contain


def _named_starts(labels):
    """Return the starts as a dict: those of a dict, of a sequence of labellings, or a single one."""
    if isinstance(labels, dict):
        return {str(name): values for name, values in labels.items()}
    if isinstance(labels, (list, tuple)) and any(np.ndim(values) > 0 for values in labels):
        return {f"start{i}": values for i, values in enumerate(labels)}
    return {"labels": labels}


def _trial(name, trial):
    """Return what became of a start."""
    return {"start": name, **scores_dict(trial.scores), "n_sweeps": trial.n_sweeps,
            "allowed": trial.allowed}


@with_options([p for p in stage_parameters("refine") if p.name != "seed"])
def refine(A: ArrayLike | spmatrix, labels: ArrayLike | dict[str, ArrayLike] | list[ArrayLike], *,
           n_clusters: int | None = None, return_info: bool = False, **options
           ) -> NDArray[np.int32] | tuple[NDArray[np.int32], dict[str, Any]]:
    """Improve the labels of the vertices of a graph.

    Single vertices are moved to the clusters of their neighbours while that lowers the objective.
    This is done from each of the given labellings (the starts) and from others that are made by
    merging clusters. The given start with the smallest normalised cut is the reference. It is
    returned unless another start is clearly better: smaller in the objective by ``least_gain``,
    with a normalised cut that is at most ``cut_slack`` larger.

    Parameters
    ----------
    A : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric graph with non-negative weights. If it is not symmetric, (A + A')/2 is used, with
        a warning.
    labels : array-like of shape (n_samples,), or a list or dict of such
        Labels to start from, numbers or strings; a dict also names the starts.
    n_clusters : int, optional
        Number of clusters. By default the number of different labels of the first start; a start
        may have more, which are then merged, but not fewer.
    return_info : bool, default=False
        Whether to return what became of each start too.
    {parameters}

    Returns
    -------
    labels : ndarray of shape (n_samples,), int32
        0 .. n_clusters - 1. If the first start has as many different labels, their sorted values
        have these numbers, and as many vertices as possible keep their label.
    info : dict
        ``best``, the start that the labels come from; ``reference``, the given start with the
        smallest normalised cut; ``n_changed``, the number of vertices whose
        label differs from that of the first start; ``n_clusters``; ``before``, the scores of the
        first start as given (:func:`huddle.metrics.graph_scores`); ``trials``, a list with the
        scores of each start after the moves, ``n_sweeps`` and ``allowed`` (whether it is the
        reference or may take its place); ``seconds``. Only if ``return_info``.

    Examples
    --------
    >>> import numpy as np
    >>> from huddle import refine
    >>> A = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))  # two complete graphs ...
    >>> A[3, 4] = A[4, 3] = 1                                # ... that are joined by an edge
    >>> refine(A, [0, 0, 0, 1, 1, 1, 1, 1])
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """
    graph = graph_array(A, None, "A")
    named = _named_starts(labels)
    if not named:
        raise ValueError("labels must contain at least one start")
    if n_clusters is not None and n_clusters < 1:
        raise ValueError(f"n_clusters = {n_clusters} must be at least 1")
    values = [graph_labels(start, graph.shape[0], name) for name, start in named.items()]
    starts = (RefineStart * len(values))(
        *((name.encode()[:_NAME_BYTES], v.ctypes.data_as(POINTER(c_int32)))
          for name, v in zip(named, values)))
    settings = stage_options("refine", options)
    settings.seed = random_seed(options["random_state"])
    found = int(values[0].max()) + 1
    settings.n_clusters = found if n_clusters is None else n_clusters
    refined, info, before = np.empty(graph.shape[0], np.int32), RefineInfo(), GraphScores()
    with options_context(options) as context:
        view, _keep = csr_view(symmetric_graph(context, graph))
        issue_warnings(context.warnings, stacklevel=3)
        call(context, lib.huddle_refine, context.handle, byref(view), len(values), starts,
             byref(settings), refined.ctypes.data_as(POINTER(c_int32)), byref(info))
        if not return_info:
            return refined
        _library.check(lib.huddle_metrics_graph_scores(
            context.handle, byref(view), values[0].ctypes.data_as(POINTER(c_int32)),
            byref(before)))
    names = [*named, *(trial.name.decode() for trial in info.trials[len(named):info.n_trials])]
    return refined, {
        "best": names[info.best], "reference": names[info.reference], "n_changed": info.n_changed, "n_clusters": settings.n_clusters,
        "before": scores_dict(before),
        "trials": [_trial(name, trial) for name, trial in zip(names, info.trials)],
        "seconds": info.seconds}
