"""Huddle: clustering by spectral shrinking, with a certificate.

>>> from huddle import SpectralShrunkClustering
>>> from huddle.datasets import make_moons
>>> X, y = make_moons(500)
>>> SpectralShrunkClustering(n_clusters=2).fit_predict(X).shape
(500,)
"""
from . import datasets, metrics
from ._estimators import (SPLS, KMeans, LDAKMeans, LDASpectralClustering, LocalLearningClustering,
                          PCAKMeans, PCASpectralClustering, SpectralClustering,
                          SpectralShrunkClustering)
from ._library import HuddleError
from ._library import version as _version

__version__ = _version()
__all__ = ["SpectralShrunkClustering", "SpectralClustering", "KMeans", "PCAKMeans",
           "PCASpectralClustering", "LDAKMeans", "LDASpectralClustering",
           "LocalLearningClustering", "SPLS", "HuddleError", "datasets", "metrics"]
