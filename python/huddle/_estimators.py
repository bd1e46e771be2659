"""Estimators with scikit-learn's conventions. Their keywords are the library's option tables."""
from __future__ import annotations

import inspect
import numbers
import textwrap
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _options
from ._model import Model

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6
    def validate_data(estimator, X, **options):
        return estimator._validate_data(X, **options)

# Names that Python calls as scikit-learn does.
_RANDOM_STATE = inspect.Parameter("random_state", inspect.Parameter.KEYWORD_ONLY, default=0)
_N_JOBS = inspect.Parameter("n_jobs", inspect.Parameter.KEYWORD_ONLY, default=-1)
_PROGRESS = inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None)


def _document(cls, parameters):
    """Puts the table's text where the class's docstring says {parameters}."""
    lines = []
    for p in parameters:
        if p.name == "seed":
            continue
        default = repr(p.default)
        lines.append(f"{p.name} : {p.allowed}, default={default}")
        lines += textwrap.wrap(p.help[0].upper() + p.help[1:] + ".", 92, initial_indent="    ",
                               subsequent_indent="    ")
    lines += ["random_state : int, RandomState instance or None, default=0",
              "    Seed of everything random. The same seed gives the same labels.",
              "n_jobs : int or None, default=-1",
              "    Threads; -1 for all the process may use. Labels do not depend on it.",
              "progress : bool, callable or None, default=None",
              "    Called as progress(stage, done, total), returning True to cancel; True for a bar",
              "    (with tqdm if it is installed)."]
    cls.__doc__ = inspect.cleandoc(cls.__doc__).replace("{parameters}", "\n".join(lines))


def _estimator(method):
    """Gives a class the constructor and the documentation of a method's option table."""
    parameters = _options.parameters(method)

    def decorate(cls):
        signature = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        for p in parameters:
            if p.name == "seed":
                continue
            kind = inspect.Parameter.KEYWORD_ONLY
            if p.name == "n_clusters":
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            signature.append(inspect.Parameter(p.name, kind, default=p.default))
        signature += [_RANDOM_STATE, _N_JOBS, _PROGRESS]
        bound_to = inspect.Signature(signature)

        def __init__(self, *args, **kwargs):
            values = bound_to.bind(self, *args, **kwargs)
            values.apply_defaults()
            for name, value in list(values.arguments.items())[1:]:
                setattr(self, name, value)

        __init__.__signature__ = bound_to
        cls.__init__ = __init__
        cls._method = method
        cls._option_names = tuple(p.name for p in parameters if p.name != "seed")
        _document(cls, parameters)
        return cls

    return decorate


class _Bar:
    """Progress on the terminal: tqdm if there is one, else a line a stage."""

    def __init__(self):
        self._stage, self._bar = None, None
        try:
            from tqdm.auto import tqdm
            self._tqdm = tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, stage, done, total):
        if self._tqdm is None:
            if stage != self._stage:
                print(f"huddle: {stage}")
                self._stage = stage
            return False
        if stage != self._stage:
            self.close()
            self._stage, self._bar = stage, self._tqdm(total=total, desc=stage, leave=False)
        self._bar.total = total
        self._bar.update(done - self._bar.n)
        return False

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Clusterer(ClusterMixin, BaseEstimator):
    """What all estimators share."""

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

    def _seed(self):
        if isinstance(self.random_state, numbers.Integral) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _options(self, n):
        options = {name: getattr(self, name) for name in self._option_names}
        options["seed"] = self._seed()
        clusters = self.n_clusters
        if isinstance(clusters, numbers.Integral) and clusters > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={clusters}.")
        return options

    def _progress(self):
        return _Bar() if self.progress is True else self.progress or None

    def _validate(self, X, reset):
        return validate_data(self, X, reset=reset, accept_sparse="csr",
                             dtype=[np.float64, np.float32], accept_large_sparse=False)

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
        self._model = Model(self._method, self._options(X.shape[0]))
        progress = self._progress()
        try:
            self._model.fit(X, self.n_jobs, progress)
        finally:
            if isinstance(progress, _Bar):
                progress.close()
        self._keep_results()
        return self

    def _keep_results(self):
        info = self._model.info()
        self.info_ = info
        self.labels_ = self._model.get("labels")[:, 0]
        self.n_clusters_ = info["n_clusters"]
        self.warnings_ = info["warnings"]
        self.cluster_centers_ = self._model.get("centres")
        self.inertia_ = info["kmeans"]["inertia"]
        self.n_iter_ = info["kmeans"]["n_iter"]
        if "embed" in info:
            self.eigenvalues_ = self._model.get("eigenvalues")[:, 0]
            self.affinity_matrix_ = self._model.get("graph")
        if self._model.get("embedding") is not None:
            self.embedding_ = self._model.get("embedding")
        if "shrink" in info:
            self.shrunk_ = self._model.get("shrunk")
            self.gap_ = info["shrink"]["gap"]
            self.objective_ = info["shrink"]["objective"]
            self.n_iter_ = info["shrink"]["n_iter"]
        for text in self.warnings_:
            kind = ConvergenceWarning if "stopped" in text or "distinct" in text else UserWarning
            warnings.warn(text, kind, stacklevel=3)

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
        return self._model.predict(self._validate(X, reset=False), self.n_jobs, None)

    def fit_predict(self, X, y=None):
        """Clusters X and returns ``labels_``."""
        return self.fit(X).labels_


@_estimator("ssc")
class SpectralShrunkClustering(_Clusterer):
    """Spectral shrunk clustering, solved to a certificate.

    Joins each point to its nearest neighbours, embeds the graph by its eigenvectors, shrinks the
    embedding by a convex programme until points of one cluster coincide, and reads the clusters off.
    ``gap_`` proves how near the shrinking is to its optimum.

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
        The relative duality gap: the objective is proven to be within it of the optimum.
    objective_ : float
        Of the shrink problem.
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
    labels_, n_clusters_, cluster_centers_, inertia_, n_iter_, warnings_, info_
        ``cluster_centers_`` in the coordinates of the prepared points.

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
    """


@_estimator("pca-sc")
class PCASpectralClustering(_Clusterer):
    """Spectral clustering on the first principal components.

    Parameters
    ----------
    {parameters}
    """


@_estimator("lda-kmeans")
class LDAKMeans(_Clusterer):
    """K-means alternating with linear discriminant analysis of its own labels.

    Parameters
    ----------
    {parameters}
    """


@_estimator("lda-sc")
class LDASpectralClustering(_Clusterer):
    """Spectral clustering in the subspace found by :class:`LDAKMeans`.

    Parameters
    ----------
    {parameters}
    """


@_estimator("llc")
class LocalLearningClustering(_Clusterer):
    """Local learning clustering: each point's label is predicted by kernel ridge regression on its
    neighbours, and the labels that predict themselves best are found as eigenvectors.

    Parameters
    ----------
    {parameters}
    """


@_estimator("spls")
class SPLS(_Clusterer):
    """Shrunk patterns in a learned subspace; a reconstruction of a method known only by its name.

    Parameters
    ----------
    {parameters}
    """


ESTIMATORS = (SpectralShrunkClustering, SpectralClustering, KMeans, PCAKMeans,
              PCASpectralClustering, LDAKMeans, LDASpectralClustering, LocalLearningClustering,
              SPLS)
