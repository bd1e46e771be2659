"""Data with equal points: rounded measurements, categories, sparse counts."""
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs

from huddle import KMeans, SpectralClustering, SpectralShrunkClustering, cluster_path
from huddle.metrics import accuracy

SPECTRAL = [SpectralShrunkClustering, SpectralClustering]
CENTRES = [[0, 0], [6, 0], [3, 5.5]]


def rounded(grid, n=900, seed=0):
    X, y = make_blobs(n, centers=CENTRES, random_state=seed)
    return np.round(X / grid) * grid, y


def check_equal_labels(X, labels):
    _, index = np.unique(X, axis=0, return_inverse=True)
    index = index.ravel()
    assert index.max() + 1 < len(X)
    first = np.full(index.max() + 1, -1)
    first[index[::-1]] = labels[::-1]
    assert (labels == first[index]).all()


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize("grid", [.1, .25, .5, 1])
def test_rounding_changes_little(estimator, grid):
    X, y = rounded(grid)
    model = estimator(3).fit(X)
    assert accuracy(y, model.labels_) >= .98
    assert model.info_["graph"]["components_before"] <= 3
    check_equal_labels(X, model.labels_)
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_categories(estimator):
    """Two latent classes, eight binary columns: at most 256 different rows."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 1000)
    X = (draw.random((1000, 8)) < np.where(y[:, None] == 0, .2, .8)).astype(float)
    model = estimator(2).fit(X)
    assert accuracy(y, model.labels_) >= accuracy(y, KMeans(2).fit(X).labels_) - .03
    check_equal_labels(X, model.labels_)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_sparse_points(estimator):
    X, y = rounded(.5)
    stored = scipy.sparse.csr_matrix(X)
    stored.data[:] += 0.0
    model = estimator(3).fit(stored)
    assert accuracy(y, model.labels_) >= .98
    check_equal_labels(X, model.labels_)
    assert (model.predict(stored) == model.labels_).all()


def test_attributes_have_a_row_for_every_point():
    X, _ = rounded(.25)
    model = SpectralShrunkClustering(3).fit(X)
    n = len(X)
    assert model.labels_.shape == (n,)
    assert model.embedding_.shape == model.shrunk_.shape == (n, 3)
    A = model.affinity_matrix_
    assert A.shape == (n, n) and abs(A - A.T).max() == 0 and A.diagonal().max() == 0
    assert model.info_["n"] == n and sum(model.info_["sizes"]) == n
    assert model.info_["n_distinct"] == len(np.unique(X, axis=0))
    check_equal_labels(X, model.labels_)
    again = pickle.loads(pickle.dumps(model))
    assert (again.embedding_ == model.embedding_).all()
    assert (again.predict(X) == model.labels_).all()


def test_distinct_points_are_not_counted():
    X, _ = make_blobs(200, centers=CENTRES, random_state=0)
    assert "n_distinct" not in SpectralClustering(3).fit(X).info_


def test_cluster_path():
    X, y = rounded(.5, n=450)
    path = cluster_path(X, 3, n_gamma=8)
    assert path.groups.shape == (8, 450) and path.linkage.shape == (449, 4)
    assert accuracy(y, path.labels) >= .95
    check_equal_labels(X, path.labels)
    for groups in path.groups:
        check_equal_labels(X, groups)
