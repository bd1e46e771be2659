"""Scores of a clustering against known classes."""
from __future__ import annotations

from ctypes import POINTER, byref, c_int32

import numpy as np
from numpy.typing import ArrayLike

from ._library import Scores, check, lib

__all__ = ["scores", "accuracy", "nmi", "ari", "purity"]


def _integer_labels(labels):
    """Return labels of any type as int32."""
    labels = np.asarray(labels).ravel()
    if labels.dtype == np.int32:
        return np.ascontiguousarray(labels)
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def scores(truth: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Return all scores as a dict: acc, nmi, ari and purity.

    >>> scores([0, 0, 1, 1], ["b", "b", "a", "a"])["acc"]
    1.0
    """
    a, b = _integer_labels(truth), _integer_labels(labels)
    if len(a) != len(b):
        raise ValueError(f"truth has {len(a)} values and labels has {len(b)}: the lengths differ")
    found = Scores()
    check(lib.huddle_metrics_scores(None, len(a), a.ctypes.data_as(POINTER(c_int32)),
                                    b.ctypes.data_as(POINTER(c_int32)), byref(found)))
    return {field[0]: getattr(found, field[0]) for field in Scores._fields_}


def accuracy(truth: ArrayLike, labels: ArrayLike) -> float:
    """Fraction of points that the best one-to-one map of clusters to classes assigns correctly."""
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
