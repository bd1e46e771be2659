"""Huddle: clustering by spectral shrinking, with a certified shrink step.

>>> from huddle import SpectralShrunkClustering
>>> from huddle.datasets import make_moons
>>> X, y = make_moons(500)
>>> SpectralShrunkClustering(n_clusters=2).fit_predict(X).shape
(500,)
"""
from . import _estimators, datasets, metrics
from ._estimators import *
from ._functions import ShrinkResult, knn_graph, shrink, spectral_embedding
from ._library import Cancelled, HuddleError, engines
from ._library import version as _version
from ._path import ClusterPath, cluster_path
from ._processes import Processes, processes
from ._refine import refine
from ._report import report

__version__ = _version()
__all__ = ["knn_graph", "spectral_embedding", "shrink", "ShrinkResult", "cluster_path",
           "ClusterPath", "refine", "report", "engines", "processes", "Processes", "HuddleError",
           "Cancelled", "datasets", "metrics"]
__all__ += _estimators.__all__


def __getattr__(name):
    if name in ("patch_sklearn", "unpatch_sklearn"):
        from . import _patch
        return getattr(_patch, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ += ["patch_sklearn", "unpatch_sklearn"]
