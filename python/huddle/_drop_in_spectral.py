"""SpectralClustering with the parameters and the meaning of scikit-learn's.

The class derives from scikit-learn's, of which it uses the parameters, their checks and the tags.
"""
from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
import sklearn.cluster
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state, check_symmetric

from . import _drop_in_native as native
from ._drop_in_kmeans import KMeans, validate_params
from ._sklearn import validate_data

SklearnSpectralClustering = next(cls for cls in sklearn.cluster.SpectralClustering.__mro__
                                 if cls.__module__.startswith("sklearn."))

# scikit-learn's default tolerance is the machine precision, which its solver reaches at little cost
# by factorising the matrix. Residuals of this size change no labels.
_TOL, _MIN_TOL = 1e-6, 1e-12

# Matrices of at least this many rows, with this share of entries that are not zero, are not treated
# as graphs. A few restarts of the Lanczos method are tried before a factorisation of the matrix
# shifted by _SHIFT (bench/drop_in.py).
_FULL_ROWS, _FULL_SHARE, _LANCZOS_RESTARTS, _SHIFT = 200, .1, 4, 1e-5

# Eigenvalues of a nearly disconnected graph are closer to 1 than this. Starting from a single
# vector, the Lanczos method could miss one of them.
_NEARLY_ONE = 1e-6

_DISCRETIZE_ITERATIONS, _DISCRETIZE_ATTEMPTS = 20, 30


# ---- affinity ---------------------------------------------------------------------------------

def _symmetric_connectivity(rows, columns, n):
    joined = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return (0.5 * (joined + joined.T)).tocsr()


def _check_neighbors(n_neighbors, n):
    if n_neighbors > n:
        raise ValueError(f"Expected n_neighbors <= n_samples, but n_samples = {n}, "
                         f"n_neighbors = {n_neighbors}")


def _neighbor_affinity(X, n_neighbors, n_jobs):
    """Join each point with itself and its n_neighbors - 1 nearest others."""
    from ._functions import knn_graph
    n = X.shape[0]
    _check_neighbors(n_neighbors, n)
    rows = columns = np.arange(n)
    if n_neighbors > 1:
        near = knn_graph(X.tocsr() if scipy.sparse.issparse(X) else X, n_neighbors - 1,
                         mode="distance", n_jobs=-1 if n_jobs is None else n_jobs)
        rows = np.concatenate([rows, np.repeat(rows, n_neighbors - 1)])
        columns = np.concatenate([columns, near.indices])
    return _symmetric_connectivity(rows, columns, n)


def _nearest_entries(distances, n_neighbors):
    """Return the columns of the smallest entries of each row, n x n_neighbors."""
    if not scipy.sparse.issparse(distances):
        return np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    graph = distances.tocsr()
    counts = np.diff(graph.indptr)
    if counts.min() < n_neighbors:
        raise ValueError(f"{n_neighbors} neighbors are required for each samples, but some samples "
                         f"have only {counts.min()} neighbors in precomputed graph matrix. "
                         "Decrease number of neighbors used or recompute the graph with more "
                         "neighbors.")
    row = np.repeat(np.arange(graph.shape[0]), counts)
    order = np.lexsort((graph.data, row))
    first = graph.indptr[:-1, None] + np.arange(n_neighbors)
    return graph.indices[order][first]


def _precomputed_neighbor_affinity(distances, n_neighbors):
    n = distances.shape[0]
    if distances.shape[1] != n:
        raise ValueError(f"Precomputed matrix must be square. Input is a {n}x{distances.shape[1]} "
                         "matrix.")
    _check_neighbors(n_neighbors, n)
    values = distances.data if scipy.sparse.issparse(distances) else distances
    if values.size > 0 and values.min() < 0:
        raise ValueError("Negative values in data passed to precomputed distance matrix.")
    columns = _nearest_entries(distances, n_neighbors).ravel()
    return _symmetric_connectivity(np.repeat(np.arange(n), n_neighbors), columns, n)


# ---- embedding --------------------------------------------------------------------------------

def _without_diagonal(graph):
    """Return the symmetric part of a matrix, as a copy with an empty diagonal."""
    if scipy.sparse.issparse(graph):
        graph = (0.5 * (graph + graph.T)).tocsr()
        graph.setdiag(0)
        graph.eliminate_zeros()
        return graph
    graph = 0.5 * (graph + graph.T)
    np.fill_diagonal(graph, 0)
    return graph


def _draw_start(random_state, eigen_solver, n, count):
    """Draw the numbers with which scikit-learn starts its solver, and return a vector of them.

    What is drawn afterwards then equals scikit-learn's.
    """
    if eigen_solver in (None, "arpack"):
        return random_state.uniform(-1, 1, n)
    if n >= 5 * count + 1:
        return random_state.standard_normal(size=(n, count + 1))[:, 0]
    return np.ones(n)


def _lanczos(matrix, count, tol, start):
    """Return the eigenvectors of the largest eigenvalues, or None if a few products with the matrix
    do not suffice, or if eigenvalues are so close that one could be missed."""
    try:
        values, vectors = scipy.sparse.linalg.eigsh(matrix, k=count, which="LA", tol=tol, v0=start,
                                                    maxiter=_LANCZOS_RESTARTS)
    except scipy.sparse.linalg.ArpackNoConvergence:
        return None
    is_clustered = np.sum(values > 1 - _NEARLY_ONE) > 1
    return None if is_clustered else vectors[:, np.argsort(-values)]


def _inverse_lanczos(matrix, count, tol, start):
    """The same by products with the inverse of (1 + shift) I - matrix, which is overwritten."""
    n = len(matrix)
    np.negative(matrix, out=matrix)
    matrix.flat[::n + 1] += 1 + _SHIFT
    factor = scipy.linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
    inverse = scipy.sparse.linalg.LinearOperator(
        (n, n), dtype=np.float64,
        matvec=lambda x: scipy.linalg.cho_solve(factor, x, check_finite=False))
    values, vectors = scipy.sparse.linalg.eigsh(inverse, k=count, which="LA", tol=tol, v0=start)
    return vectors[:, np.argsort(-values)]


def _full_eigenvectors(graph, count, tol, start):
    """Return the first eigenvectors of a full connected matrix as D^-1/2 v; it is overwritten."""
    scale = graph.sum(axis=1) ** -.5
    graph *= scale
    graph *= scale[:, None]
    vectors = _lanczos(graph, count, tol, start)
    if vectors is None:
        vectors = _inverse_lanczos(graph, count, tol, start)
    return vectors * scale[:, None]


def _is_full(graph, count):
    """Return whether to treat a matrix as full: few zeros, none negative, and connected."""
    n = graph.shape[0]
    if scipy.sparse.issparse(graph) or n < _FULL_ROWS or count > n // 2:
        return False
    positive = np.count_nonzero(graph > 0)
    if positive == n * (n - 1):
        return True
    if positive < _FULL_SHARE * n * n or graph.min() < 0:
        return False
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[0] == 1


def _mixed_components(rows, count, random_state):
    """Return `count` random combinations of the vectors of the components.

    All eigenvectors of eigenvalue 0 are as good as each other; with fewer of them than components,
    combinations still keep the components apart.
    """
    mixture = np.linalg.qr(random_state.standard_normal((rows.shape[1], count)))[0]
    return rows @ mixture


def _embed(affinity, count, eigen_solver, eigen_tol, random_state):
    """Return D^-1/2 v in columns. Vertices without edges have a row of zeros."""
    graph = _without_diagonal(affinity)
    n = graph.shape[0]
    start = _draw_start(random_state, eigen_solver, n, count)
    if _is_full(graph, count):
        return _full_eigenvectors(graph, count, 0 if eigen_tol == "auto" else float(eigen_tol),
                                  start)
    used = np.flatnonzero(np.asarray(abs(graph).sum(axis=1)).ravel() > 0)
    embedding = np.zeros((n, count))
    is_connected = len(used) == n
    if len(used) > 0:
        part = graph if is_connected else graph[used][:, used]
        tol = _TOL if eigen_tol == "auto" else min(max(float(eigen_tol), _MIN_TOL), 1)
        width = min(count, len(used))
        found = native.eigenvectors(part, width, tol)
        if found.stop in ("max_iter", "stalled"):
            warnings.warn(f"the embedding stopped ({found.stop}) at a residual of "
                          f"{found.residual:.2g}", ConvergenceWarning, stacklevel=4)
        rows = found.rows
        if found.n_components > width:
            rows = native.eigenvectors(part, found.n_components, tol).rows
            rows = _mixed_components(rows, width, np.random.RandomState(0))
        is_connected = is_connected and found.n_components <= 1
        embedding[used, :width] = rows
    if not is_connected:
        warnings.warn("Graph is not fully connected, spectral embedding may not work as expected.",
                      stacklevel=4)
    return embedding


# ---- labels -----------------------------------------------------------------------------------

def cluster_qr(vectors):
    """Assign labels by a pivoted QR factorisation (Damle, Minden and Ying, 2019).

    Parameters
    ----------
    vectors : array of shape (n_samples, n_clusters)

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    """
    k = vectors.shape[1]
    pivots = scipy.linalg.qr(vectors.T, mode="r", pivoting=True)[1][:k]
    # The orthogonal factor of the polar decomposition of the rows that represent the clusters.
    left, _, right = scipy.linalg.svd(vectors[pivots].T)
    return np.abs(vectors @ (left @ right)).argmax(axis=1)


def _unit_rows(vectors):
    """Return vectors of one length and one sign in the first row, with rows of norm 1."""
    norms = np.linalg.norm(vectors, axis=0)
    signs = np.where(vectors[0] > 0, -1.0, 1.0)
    vectors = vectors * (signs / np.where(norms > 0, norms, 1))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _first_rotation(rows, first):
    """Return rows that are as orthogonal as possible to each other, as columns."""
    k = rows.shape[1]
    rotation, overlap = np.zeros((k, k)), np.zeros(len(rows))
    rotation[:, 0] = rows[first]
    for j in range(1, k):
        overlap += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[overlap.argmin()]
    return rotation


def _rotate(rows, rotation):
    """Alternate between labels and the rotation that fits them best, until neither changes."""
    n, k = rows.shape
    previous = 0.0
    for _ in range(_DISCRETIZE_ITERATIONS + 1):
        labels = (rows @ rotation).argmax(axis=1)
        member = scipy.sparse.csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
        left, values, right = np.linalg.svd(member.T @ rows)
        cut = 2.0 * (n - values.sum())
        if abs(cut - previous) < np.finfo(float).eps:
            break
        previous, rotation = cut, right.T @ left.T
    return labels


def discretize(vectors, random_state=None):
    """Find the partition that is closest to the eigenvectors up to a rotation (Yu and Shi, 2003).

    Parameters
    ----------
    vectors : array of shape (n_samples, n_clusters)
    random_state : int, RandomState or None

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    """
    random_state = check_random_state(random_state)
    rows = _unit_rows(np.asarray(vectors, np.float64))
    for _ in range(_DISCRETIZE_ATTEMPTS):
        try:
            return _rotate(rows, _first_rotation(rows, random_state.randint(len(rows))))
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("SVD did not converge")


# ---- the estimator ----------------------------------------------------------------------------

class SpectralClustering(SklearnSpectralClustering):
    """Spectral clustering, as scikit-learn's, computed by Huddle.

    Parameters, attributes and methods are those of ``sklearn.cluster.SpectralClustering`` of the
    installed version, from which the class derives. docs/drop-in.md lists what differs.

    Examples
    --------
    >>> import numpy as np
    >>> from huddle.drop_in import SpectralClustering
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> labels = SpectralClustering(n_clusters=2, gamma=0.1, random_state=0).fit(X).labels_
    >>> bool(labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5])
    True
    """

    __module__ = "huddle.drop_in"

    def _affinity_matrix(self, X):
        if self.affinity == "nearest_neighbors":
            return _neighbor_affinity(X, self.n_neighbors, self.n_jobs)
        if self.affinity == "precomputed_nearest_neighbors":
            return _precomputed_neighbor_affinity(X, self.n_neighbors)
        if self.affinity == "precomputed":
            return X
        params = dict(self.kernel_params or {})
        if not callable(self.affinity):
            params.update(gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **params)

    def _assign_labels(self, embedding, random_state):
        if self.assign_labels == "cluster_qr":
            return cluster_qr(embedding)
        if self.assign_labels == "discretize":
            return discretize(embedding, random_state)
        return KMeans(self.n_clusters, n_init=self.n_init, random_state=random_state,
                      verbose=self.verbose).fit(embedding).labels_

    def fit(self, X, y=None):
        """Perform spectral clustering from features or an affinity matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            Samples, similarities if ``affinity="precomputed"``, or distances if
            ``affinity="precomputed_nearest_neighbors"``.
        y : ignored

        Returns
        -------
        self
        """
        validate_params(self)
        X = validate_data(self, X, accept_sparse=["csr", "csc", "coo"], dtype=np.float64,
                          ensure_min_samples=2)
        is_pairwise = self.affinity in ("precomputed", "precomputed_nearest_neighbors")
        if X.shape[0] == X.shape[1] and not is_pairwise:
            warnings.warn("The spectral clustering API has changed. ``fit``now constructs an "
                          "affinity matrix from data. To use a custom affinity matrix, set "
                          "``affinity=precomputed``.", stacklevel=2)
        if self.eigen_solver == "amg" and importlib.util.find_spec("pyamg") is None:
            raise ValueError("The eigen_solver was set to 'amg', but pyamg is not available.")
        self.affinity_matrix_ = self._affinity_matrix(X)
        random_state = check_random_state(self.random_state)
        count = self.n_clusters if self.n_components is None else self.n_components
        # What is computed here is symmetric; what is given may not be, and is then averaged.
        graph = self.affinity_matrix_ if self.affinity != "precomputed" else check_symmetric(X)
        embedding = _embed(graph, count, self.eigen_solver, self.eigen_tol, random_state)
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        self.labels_ = self._assign_labels(embedding, random_state)
        return self


def spectral_clustering(affinity, *, n_clusters=8, n_components=None, eigen_solver=None,
                        random_state=None, n_init=10, eigen_tol="auto", assign_labels="kmeans",
                        verbose=False):
    """Cluster by a precomputed affinity matrix and return the labels.

    Parameters are those of ``sklearn.cluster.spectral_clustering``.
    """
    if isinstance(affinity, np.matrix):
        raise TypeError("spectral_clustering does not support passing in affinity as an np.matrix: "
                        "np.matrix is not supported. Please convert to a numpy array with "
                        "np.asarray.")
    return SpectralClustering(
        n_clusters, n_components=n_components, eigen_solver=eigen_solver,
        random_state=random_state, n_init=n_init, affinity="precomputed", eigen_tol=eigen_tol,
        assign_labels=assign_labels, verbose=verbose).fit(affinity).labels_
