"""KMeans with the parameters and the meaning of scikit-learn's, computed by the library.

The class derives from scikit-learn's, of which it uses the parameters, their checks, the tags and
transform(). Random numbers are drawn in the order in which scikit-learn draws them and passed to
the library, so that a random_state leads to the same starting centres there and here.
"""
from __future__ import annotations

import inspect
import numbers
import warnings

import numpy as np
import scipy.sparse
import sklearn.cluster
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _drop_in_native as native
from ._sklearn import validate_data

# patch_sklearn() may have replaced the class in its module before this module is imported again.
SklearnKMeans = next(cls for cls in sklearn.cluster.KMeans.__mro__
                     if cls.__module__.startswith("sklearn."))

# From scikit-learn 1.3 on, the weights of samples count when starting centres are drawn.
_DRAWS_BY_WEIGHT = "sample_weight" in inspect.signature(sklearn.cluster.kmeans_plusplus).parameters
_DEFAULT_N_INIT = 10

# Rows of which differences from the centres are computed at a time.
_BLOCK_ROWS = 4096


def validate_params(estimator):
    """Check the types and ranges of the parameters, unless the user has turned that off."""
    if not get_config().get("skip_parameter_validation", False):
        estimator._validate_params()


def _is_array(init):
    return not (isinstance(init, str) or callable(init))


def _check_weights(sample_weight, X):
    """Return the weights in double precision, or None if all are 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(X.shape[0], float(sample_weight))
    weights = check_array(sample_weight, accept_sparse=False, ensure_2d=False, dtype=np.float64,
                          order="C", input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (X.shape[0],):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
    if weights.min() < 0:
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not weights.max() > 0:
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def _check_center_shape(X, centers, n_clusters):
    if centers.shape[0] != n_clusters:
        raise ValueError(f"The shape of the initial centers {centers.shape} does not match the "
                         f"number of clusters {n_clusters}.")
    if centers.shape[1] != X.shape[1]:
        raise ValueError(f"The shape of the initial centers {centers.shape} does not match the "
                         f"number of features of the data {X.shape[1]}.")


def _means(X, labels, weights, centers):
    """Return the weighted means of the rows of each label; a label without rows keeps its centre.
    """
    n, k = X.shape[0], len(centers)
    weights = np.ones(n) if weights is None else weights
    member = scipy.sparse.csr_matrix((weights, labels, np.arange(n + 1)), shape=(n, k))
    sums = member.T @ X
    sums = sums.toarray() if scipy.sparse.issparse(sums) else sums
    mass = np.bincount(labels, weights, minlength=k)
    out = centers.copy()
    filled = mass > 0
    out[filled] = sums[filled] / mass[filled, None]
    return out


def inertia_of(X, labels, weights, centers):
    """Return the weighted sum of squared distances, in double precision."""
    total, centers = 0.0, np.asarray(centers, np.float64)
    for begin in range(0, X.shape[0], _BLOCK_ROWS):
        rows = slice(begin, begin + _BLOCK_ROWS)
        block = X[rows].toarray() if scipy.sparse.issparse(X) else X[rows]
        difference = block - centers[labels[rows]]
        squares = np.einsum("ij,ij->i", difference, difference)
        total += float(squares.sum() if weights is None else squares @ weights[rows])
    return total


class _Start:
    """Starting centres of all restarts: numbers for k-means++, or the centres themselves."""

    def __init__(self, model, X, weights, random_state):
        self.draws = self.starts = None
        init, count, n_clusters = model.init, model._n_init, model.n_clusters
        if isinstance(init, str) and init == "k-means++":
            self.draws = np.stack([_draw_spread(random_state, X.shape[0], n_clusters)
                                   for _ in range(count)])
            return
        if isinstance(init, str):
            starts = [_draw_rows(random_state, X, weights, n_clusters) for _ in range(count)]
        elif callable(init):
            starts = _call_init(init, X, n_clusters, random_state, count)
        else:
            starts = [check_array(init, dtype=X.dtype, order="C")]
            _check_center_shape(X, starts[0], n_clusters)
        self.starts = np.stack([np.asarray(start, np.float64) for start in starts])


def _draw_spread(random_state, n, n_clusters):
    """Return the numbers of a restart of k-means++, drawn as scikit-learn draws them."""
    if _DRAWS_BY_WEIGHT:
        first = random_state.random_sample()
    else:
        first = (random_state.randint(n) + .5) / n
    return np.append(first, random_state.uniform(size=native.n_draws(n_clusters) - 1))


def _draw_rows(random_state, X, weights, n_clusters):
    n = X.shape[0]
    if _DRAWS_BY_WEIGHT:
        share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
        rows = random_state.choice(n, size=n_clusters, replace=False, p=share)
    else:
        rows = random_state.permutation(n)[:n_clusters]
    return X[rows].toarray() if scipy.sparse.issparse(X) else X[rows]


def _call_init(init, X, n_clusters, random_state, count):
    """Return what a function of the user returns for centred points, in the coordinates of X."""
    mean = 0 if scipy.sparse.issparse(X) else X.mean(axis=0)
    centred = X if scipy.sparse.issparse(X) else X - mean
    starts = []
    for _ in range(count):
        centers = check_array(init(centred, n_clusters, random_state=random_state), dtype=X.dtype,
                              order="C")
        _check_center_shape(X, centers, n_clusters)
        starts.append(centers + mean)
    return starts


class KMeans(SklearnKMeans):
    """K-means clustering, as scikit-learn's, computed by Huddle.

    Parameters, attributes and methods are those of ``sklearn.cluster.KMeans`` of the installed
    version, from which the class derives. docs/drop-in.md lists what differs.

    Examples
    --------
    >>> import numpy as np
    >>> from huddle.drop_in import KMeans
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> labels = KMeans(n_clusters=2, n_init=1, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5])
    True
    """

    __module__ = "huddle.drop_in"

    def _set_n_init(self):
        """Set the number of restarts and the algorithm as scikit-learn does."""
        self._n_init = self.n_init
        if self._n_init == "warn":  # the default before scikit-learn 1.4
            warnings.warn(f"The default value of `n_init` will change from {_DEFAULT_N_INIT} to "
                          "'auto' in 1.4. Set the value of `n_init` explicitly to suppress the "
                          "warning", FutureWarning, stacklevel=3)
            self._n_init = _DEFAULT_N_INIT
        if self._n_init == "auto":
            is_spread = isinstance(self.init, str) and self.init == "k-means++"
            self._n_init = 1 if is_spread or _is_array(self.init) else _DEFAULT_N_INIT
        if _is_array(self.init) and self._n_init != 1:
            warnings.warn("Explicit initial center position passed: performing only one init in "
                          f"{type(self).__name__} instead of n_init={self._n_init}.",
                          RuntimeWarning, stacklevel=3)
            self._n_init = 1
        self._algorithm = self.algorithm
        if self._algorithm in ("auto", "full"):  # before scikit-learn 1.3
            warnings.warn(f"algorithm='{self._algorithm}' is deprecated, it will be removed in 1.3."
                          " Using 'lloyd' instead.", FutureWarning, stacklevel=3)
            self._algorithm = "lloyd"
        if self._algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn("algorithm='elkan' doesn't make sense for a single cluster. Using "
                          "'lloyd' instead.", RuntimeWarning, stacklevel=3)
            self._algorithm = "lloyd"

    def _validate(self, X, reset):
        # Nothing is written to X, so copy_x makes no difference.
        return validate_data(self, X, reset=reset, accept_sparse="csr",
                             dtype=[np.float64, np.float32], accept_large_sparse=False)

    def fit(self, X, y=None, sample_weight=None):
        """Compute k-means clustering.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample.

        Returns
        -------
        self
        """
        validate_params(self)
        X = self._validate(X, reset=True)
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        self._set_n_init()
        weights = _check_weights(sample_weight, X)
        start = _Start(self, X, weights, check_random_state(self.random_state))
        with native.computing(verbose=bool(self.verbose)) as context:
            self._cluster(context, X, weights, start)
        used = len(np.unique(self.labels_))
        if used < self.n_clusters:
            warnings.warn(f"Number of distinct clusters ({used}) found smaller than n_clusters "
                          f"({self.n_clusters}). Possibly due to duplicate points in X.",
                          ConvergenceWarning, stacklevel=2)
        return self

    def _cluster(self, context, X, weights, start):
        """Set the results of all restarts. Rows without weight are left out, and labelled after."""
        kept, own = None, weights
        if weights is not None and weights.min() == 0:
            kept = np.flatnonzero(weights)
            if len(kept) < self.n_clusters:
                # Rows without weight have to serve as centres: as the limit of small weights.
                own, kept = np.where(weights > 0, weights, weights[kept].min() * 1e-9), None
            else:
                own = weights[kept]
        points = native.Rows(context, X)
        rows = X if kept is None else X[kept]
        found = native.kmeans(context, points if kept is None else native.Rows(context, rows), own,
                              self.n_clusters, max_iter=self.max_iter, tol=self.tol,
                              draws=start.draws, starts=start.starts, verbose=bool(self.verbose))
        # The library rounds double precision to single; means in double precision are better.
        centers = found.centers
        if X.dtype == np.float64:
            centers = _means(rows, found.averaged, own, centers)
        centers[found.n_distinct:] = centers[0]
        self.cluster_centers_ = centers.astype(X.dtype)
        # Labels are those of the centres that the user sees, so that predict() agrees with them.
        self.labels_ = native.nearest(context, points, self.cluster_centers_)
        self.inertia_ = inertia_of(X, self.labels_, weights, self.cluster_centers_)
        self.n_iter_ = max(found.n_iter, 1)
        self._n_features_out = self.n_clusters
        self._n_threads = 1  # for methods of scikit-learn's class that a subclass may call

    def predict(self, X):
        """Return the index of the nearest cluster centre of each sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._nearest(self._validate(X, reset=False))

    def _nearest(self, X):
        with native.computing() as context:
            return native.nearest(context, native.Rows(context, X), self.cluster_centers_)

    def score(self, X, y=None, sample_weight=None):
        """Return the opposite of the inertia of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        weights = _check_weights(sample_weight, X)
        return -inertia_of(X, self._nearest(X), weights, self.cluster_centers_)


def k_means(X, n_clusters, *, sample_weight=None, init="k-means++", n_init=None, max_iter=300,
            verbose=False, tol=1e-4, random_state=None, copy_x=True, algorithm="lloyd",
            return_n_iter=False):
    """Cluster X by :class:`KMeans` and return centres, labels and inertia.

    Parameters are those of ``sklearn.cluster.k_means``; ``n_init=None`` is the default of the
    installed version.
    """
    options = {} if n_init is None else {"n_init": n_init}
    model = KMeans(n_clusters=n_clusters, init=init, max_iter=max_iter, verbose=verbose, tol=tol,
                   random_state=random_state, copy_x=copy_x, algorithm=algorithm, **options)
    model.fit(X, sample_weight=sample_weight)
    found = model.cluster_centers_, model.labels_, model.inertia_
    return (*found, model.n_iter_) if return_n_iter else found
