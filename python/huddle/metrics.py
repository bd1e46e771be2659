"""Scores of a labelling against known classes."""
from __future__ import annotations

from ctypes import POINTER, byref, c_int32

import numpy as np
from numpy.typing import ArrayLike

from ._library import Scores, check, lib

__all__ = ["scores", "accuracy", "nmi", "ari", "purity"]


def _whole(labels):
    """Labels of any kind as int32."""
    labels = np.asarray(labels).ravel()
    if labels.dtype == np.int32:
        return np.ascontiguousarray(labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def scores(truth: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """ACC, NMI, ARI and purity as a dict.

    >>> scores([0, 0, 1, 1], ["b", "b", "a", "a"])["acc"]
    1.0
    """
    a, b = _whole(truth), _whole(labels)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} classes and {len(b)} labels: their numbers differ")
    found = Scores()
    check(lib.huddle_metrics_scores(None, len(a), a.ctypes.data_as(POINTER(c_int32)),
                                    b.ctypes.data_as(POINTER(c_int32)), byref(found)))
    return {field[0]: getattr(found, field[0]) for field in Scores._fields_}


def accuracy(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of points whose cluster is mapped to their class by the best one-to-one map."""
    return scores(truth, labels)["acc"]


def nmi(truth: ArrayLike, labels: ArrayLike) -> float:
    """Mutual information over the geometric mean of the entropies."""
    return scores(truth, labels)["nmi"]


def ari(truth: ArrayLike, labels: ArrayLike) -> float:
    """Rand index corrected for chance."""
    return scores(truth, labels)["ari"]


def purity(truth: ArrayLike, labels: ArrayLike) -> float:
    """Share of points in the largest class of their cluster."""
    return scores(truth, labels)["purity"]
