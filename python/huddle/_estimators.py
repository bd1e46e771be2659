"""Estimators with scikit-learn's conventions. Their keywords are the library's option tables."""
from __future__ import annotations

import inspect
import numbers
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _options
from ._model import Model
from ._running import running, seed_of
from ._signature import document, keywords

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)

def _estimator(method):
    """Gives a class the constructor and the documentation of a method's option table."""
    parameters = [p for p in _options.parameters(method) if p.name != "seed"]

    def decorate(cls):
        own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        for keyword in keywords(parameters):
            first = keyword.name == "n_clusters"
            own.append(keyword.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
                       if first else keyword)
        signature = inspect.Signature(own)

        def __init__(self, *args, **kwargs):
            values = signature.bind(self, *args, **kwargs)
            values.apply_defaults()
            for name, value in list(values.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = signature
        cls.__init__ = __init__
        cls._method = method
        cls._parameters = tuple(parameters)
        document(cls, parameters)
        return cls

    return decorate


# What the library says where scikit-learn would warn of convergence.
_UNCONVERGED = ("stopped (", "distinct row", "did not converge", "could not be verified",
                "eigenvectors are missing", "missed eigenvectors")


def warning_class(text):
    """The category of one of the library's warnings."""
    return ConvergenceWarning if any(part in text for part in _UNCONVERGED) else UserWarning


class _Array:
    """An array of the fitted model, copied when it is first asked for."""

    def __init__(self, name, column=False):
        self._name, self._column = name, column

    def __set_name__(self, owner, attribute):
        self._attribute = attribute

    def __get__(self, estimator, owner):
        if estimator is None:
            return self
        model = vars(estimator).get("_model")
        found = model.get(self._name) if model is not None else None
        if found is None:
            raise AttributeError(f"{owner.__name__} has no {self._attribute}"
                                 + (" before fit()" if model is None else ""))
        found = found[:, 0] if self._column else found
        vars(estimator)[self._attribute] = found
        return found


class _Clusterer(ClusterMixin, BaseEstimator):
    """What all estimators share."""

    cluster_centers_ = _Array("centres")
    eigenvalues_ = _Array("eigenvalues", column=True)
    affinity_matrix_ = _Array("graph")
    embedding_ = _Array("embedding")
    shrunk_ = _Array("shrunk")

    _pairwise_affinities = ("precomputed", "precomputed_nearest_neighbors", "distances")

    def _is_pairwise(self):
        return getattr(self, "affinity", "features") in self._pairwise_affinities

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _more_tags(self):
        return {"pairwise": self._is_pairwise(), "preserves_dtype": []}

    def _options(self, n):
        options = {p.name: getattr(self, p.name) for p in self._parameters}
        options["seed"] = seed_of(self.random_state)
        clusters = self.n_clusters
        if isinstance(clusters, numbers.Integral) and clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={clusters}.")
        return options

    def _validate(self, X, reset):
        return validate_data(self, X, reset=reset, accept_sparse="csr",
                             dtype=[np.float64, np.float32])

    def fit(self, X, y=None):
        """Clusters X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples)
            where ``affinity`` says so. float32 in C order is used without a copy.
        y : ignored

        Returns
        -------
        self
        """
        X = self._validate(X, reset=True)
        model = Model(self._method, self._options(X.shape[0]))
        if hasattr(self, "feature_names_in_"):
            model.name_features(self.feature_names_in_)
        with running(self.n_jobs, self.progress, self.engine) as context:
            if self._is_pairwise():
                # Given as a graph, distances and similarities stay in double precision.
                model.give_graph(self._square(X))
                model.fit(context, None)
            else:
                model.fit(context, X)
        self._model = model
        self._fit_X = X  # not a copy; for report()
        self._keep_results()
        return self

    def __getstate__(self):
        # What the library needs of the points is in the model.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fit_X"}

    @staticmethod
    def _square(X):
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a matrix between {X.shape[0]} points must be square, "
                             f"not {X.shape[0]} x {X.shape[1]}")
        return X

    def _keep_results(self):
        for name, value in vars(_Clusterer).items():
            if isinstance(value, _Array):
                vars(self).pop(name, None)
        info = self._model.info()
        self.info_ = info
        self.labels_ = self._model.get("labels")[:, 0]
        self.n_clusters_ = info["n_clusters"]
        self.warnings_ = info["warnings"]
        self.inertia_ = info["kmeans"]["inertia"]
        self.n_iter_ = info["kmeans"]["n_iter"]
        if "shrink" in info:
            self.gap_ = info["shrink"]["gap"]
            self.objective_ = info["shrink"]["objective"]
            self.labels_from_ = "embedding" if info["shrink"]["guarded"] else "shrunk"
            self.n_iter_ = info["shrink"]["n_iter"]
        for text in self.warnings_:
            warnings.warn(text, warning_class(text), stacklevel=3)

    def predict(self, X):
        """Labels for new points.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        with running(self.n_jobs, self.progress, self.engine) as context:
            return self._model.predict(context, X)

    def fit_predict(self, X, y=None):
        """Clusters X and returns ``labels_``."""
        return self.fit(X).labels_


@_estimator("ssc")
class SpectralShrunkClustering(_Clusterer):
    """Spectral shrunk clustering, with a certified shrink step.

    Joins each point to its nearest neighbours, embeds the graph by its eigenvectors, shrinks the
    embedding by a convex programme until points of one cluster coincide, and reads the clusters
    off.
    ``gap_`` proves how near the shrink step is to its optimum. It says nothing about how good the
    clusters are.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point.
    n_clusters_ : int
        How many clusters were asked for, or found.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The spectral embedding, F.
    shrunk_ : ndarray of shape (n_samples, n_clusters)
        The embedding after shrinking, G.
    affinity_matrix_ : sparse matrix of shape (n_samples, n_samples)
        The neighbour graph.
    eigenvalues_ : ndarray
        Of the normalised Laplacian, ascending; at least ``n_clusters_`` of them.
    cluster_centers_ : ndarray
        In the coordinates of ``shrunk_``.
    gap_ : float
        The relative duality gap of the shrink step: its objective is proven to be within it of
        the optimum.
    objective_ : float
        Of the shrink step.
    labels_from_ : str
        "shrunk", or "embedding" where ``guard`` discarded the shrink step; then the labels are not
        those of the step that ``gap_`` and ``objective_`` describe, and a warning was issued.
    n_iter_ : int
        Iterations of the shrinking.
    warnings_ : list of str
        What the summary of the tool would warn of.
    info_ : dict
        Everything the tool's ``--json`` tells.

    Examples
    --------
    >>> from huddle import SpectralShrunkClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SpectralShrunkClustering(n_clusters=10).fit(X)
    >>> accuracy(y, model.labels_) > 0.85
    True
    >>> model.gap_ <= 1e-4
    True
    """


@_estimator("sc")
class SpectralClustering(_Clusterer):
    """Spectral clustering: the neighbour graph's eigenvectors, clustered by K-means.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, embedding_, affinity_matrix_, eigenvalues_, cluster_centers_, inertia_,
    n_iter_, warnings_, info_
        As in :class:`SpectralShrunkClustering`; ``cluster_centers_`` in the embedding.

    Examples
    --------
    >>> from huddle import SpectralClustering
    >>> from huddle.datasets import make_moons
    >>> X, y = make_moons(400)
    >>> labels = SpectralClustering(n_clusters=2).fit_predict(X)
    >>> bool((labels == y).all() or (labels != y).all())
    True
    """


@_estimator("kmeans")
class KMeans(_Clusterer):
    """K-means with restarts.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point.
    n_clusters_ : int
        How many clusters were asked for, or found.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        In the coordinates of the prepared points.
    inertia_ : float
        Squared distances of the points to their centres, summed.
    n_iter_ : int
        Iterations of the best restart.
    warnings_ : list of str
        What the summary of the tool would warn of.
    info_ : dict
        Everything the tool's ``--json`` tells.

    Examples
    --------
    >>> import numpy as np
    >>> from huddle import KMeans
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = KMeans(n_clusters=2).fit(X)
    >>> int(model.predict([[0, 0]])[0]) == int(model.labels_[0])
    True
    """


@_estimator("pca-kmeans")
class PCAKMeans(_Clusterer):
    """K-means on the first principal components.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`KMeans`; ``cluster_centers_`` in the principal components.

    Examples
    --------
    >>> from huddle import PCAKMeans
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, PCAKMeans(n_clusters=10).fit_predict(X)) > 0.7
    True
    """


@_estimator("pca-sc")
class PCASpectralClustering(_Clusterer):
    """Spectral clustering on the first principal components.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, embedding_, affinity_matrix_, eigenvalues_, cluster_centers_, inertia_,
    n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import PCASpectralClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, PCASpectralClustering(n_clusters=10).fit_predict(X)) > 0.8
    True
    """


@_estimator("lda-kmeans")
class LDAKMeans(_Clusterer):
    """K-means alternating with linear discriminant analysis of its own labels.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`KMeans`; ``cluster_centers_`` in the last discriminant subspace.

    Examples
    --------
    >>> from huddle import LDAKMeans
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, LDAKMeans(n_clusters=10).fit_predict(X)) > 0.7
    True
    """


@_estimator("lda-sc")
class LDASpectralClustering(_Clusterer):
    """Spectral clustering in the subspace found by :class:`LDAKMeans`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, embedding_, affinity_matrix_, eigenvalues_, cluster_centers_, inertia_,
    n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import LDASpectralClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, LDASpectralClustering(n_clusters=10).fit_predict(X)) > 0.7
    True
    """


@_estimator("llc")
class LocalLearningClustering(_Clusterer):
    """Local learning clustering: each point's label is predicted by kernel ridge regression on its
    neighbours, and the labels that predict themselves best are found as eigenvectors.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, embedding_, affinity_matrix_, eigenvalues_, cluster_centers_, inertia_,
    n_iter_, warnings_, info_
        As in :class:`SpectralClustering`; ``eigenvalues_`` and ``embedding_`` are of the local
        learning matrix.

    Examples
    --------
    >>> from huddle import LocalLearningClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, LocalLearningClustering(n_clusters=10).fit_predict(X)) > 0.8
    True
    """


@_estimator("spls")
class SPLS(_Clusterer):
    """Shrunk patterns in a learned subspace; a reconstruction of a method known only by its name.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, embedding_, shrunk_, gap_, objective_, labels_from_, cluster_centers_,
    inertia_, n_iter_, warnings_, info_
        As in :class:`SpectralShrunkClustering`; ``embedding_`` is the learned subspace.

    Examples
    --------
    >>> from huddle import SPLS
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, SPLS(n_clusters=10).fit_predict(X)) > 0.75
    True
    """


@_estimator("ncut")
class NormalizedCuts(_Clusterer):
    """Normalised cuts: the eigenvectors of spectral clustering, turned until each row points to one
    cluster, instead of K-means.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import NormalizedCuts
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, NormalizedCuts(n_clusters=10).fit_predict(X)) > 0.8
    True
    """


@_estimator("selftune-sc")
class SelfTuningSpectralClustering(_Clusterer):
    """Self-tuning spectral clustering: weights scaled by the distance to the 7th neighbour; the number of
    clusters by the alignment of the eigenvectors when it is not given.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import SelfTuningSpectralClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, SelfTuningSpectralClustering(n_clusters=10).fit_predict(X)) > 0.75
    True
    """


@_estimator("lsc")
class LandmarkSpectralClustering(_Clusterer):
    """Landmark-based spectral clustering: each point a combination of its nearest landmarks; linear in
    the number of points.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import LandmarkSpectralClustering
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, LandmarkSpectralClustering(n_clusters=10).fit_predict(X)) > 0.7
    True
    """


@_estimator("diskmeans")
class DiscriminativeKMeans(_Clusterer):
    """Discriminative K-means: K-means and regularised discriminant analysis at once.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        As in :class:`SpectralClustering`.

    Examples
    --------
    >>> from huddle import DiscriminativeKMeans
    >>> from huddle.datasets import load_digits
    >>> from huddle.metrics import accuracy
    >>> X, y = load_digits()
    >>> accuracy(y, DiscriminativeKMeans(n_clusters=10).fit_predict(X)) > 0.6
    True
    """


ESTIMATORS = (SpectralShrunkClustering, SpectralClustering, KMeans, PCAKMeans,
              PCASpectralClustering, LDAKMeans, LDASpectralClustering, LocalLearningClustering,
              SPLS, NormalizedCuts, SelfTuningSpectralClustering, LandmarkSpectralClustering,
              DiscriminativeKMeans)
