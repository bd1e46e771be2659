"""The functions for single stages, and the path."""
import inspect

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import scipy.spatial
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from huddle import (SpectralClustering, SpectralShrunkClustering, cluster_path, knn_graph,
                    shrink, spectral_embedding)
from huddle.datasets import load_digits, make_blobs, make_moons
from huddle.metrics import accuracy


@pytest.fixture(scope="module")
def moons():
    return make_moons(300)


def test_functions_have_the_options_as_keywords():
    names = list(inspect.signature(shrink).parameters)
    assert names[:3] == ["F", "W", "gamma"] and "gap" in names and "loss" in names
    assert "knn_solver" in inspect.signature(knn_graph).parameters
    with pytest.raises(TypeError, match="nonsense"):
        knn_graph([[0.0], [1.0]], nonsense=1)
    with pytest.raises(ValueError, match="loss.*l3"):
        shrink([[0.0], [1.0]], np.ones((2, 2)), loss="l3")


def test_knn_distances_are_scikit_learns(moons):
    X = moons[0].astype(np.float64)
    ours = knn_graph(X, 7, mode="distance")
    theirs = NearestNeighbors(n_neighbors=7).fit(X).kneighbors_graph(mode="distance")
    theirs.sort_indices()
    assert np.array_equal(ours.indices, theirs.indices)
    assert np.allclose(ours.data, theirs.data, rtol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("signed", [False, True])
def test_knn_of_sparse_rows_is_brute_force(metric, signed):
    rng = np.random.default_rng(3)
    n, d, length = 600, 3000, 40
    columns = (d ** rng.random((n, length))).astype(int) % d  # Zipf's law: few common columns
    values = np.log(columns + 2.) * (.5 + rng.random((n, length)))
    values *= rng.choice([-1, 1] if signed else [1], (n, length))
    values[::20] = 0  # rows without values
    X = scipy.sparse.csr_matrix((values.ravel(), (np.repeat(np.arange(n), length), columns.ravel())),
                                (n, d)).astype(np.float32)
    X.eliminate_zeros()
    ours = knn_graph(X, 4, mode="distance", metric=metric)
    Y = X.toarray().astype(np.float64)
    if metric == "cosine":
        norms = np.linalg.norm(Y, axis=1)
        Y = np.column_stack([Y / np.maximum(norms, 1e-300)[:, None], norms == 0])
    squares = scipy.spatial.distance.cdist(Y, Y, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    theirs = np.sort(squares, axis=1)[:, :4]
    theirs = theirs / 2 if metric == "cosine" else np.sqrt(theirs)
    assert np.allclose(np.sort(ours.data.reshape(n, 4), axis=1), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", ["selftune", "mean", "knn", "global", "binary"])
def test_knn_graph_is_the_estimators(moons, scale):
    X, _ = moons
    model = SpectralClustering(2, scale=scale, prepare="none", connect=False).fit(X)
    graph = knn_graph(X, scale=scale)
    assert abs(graph - model.affinity_matrix_).max() == 0
    assert abs(graph - graph.T).max() == 0 and graph.diagonal().max() == 0


def test_knn_graph_with_a_delta(moons):
    X, _ = moons
    distances = knn_graph(X, mode="distance")
    weights = knn_graph(X, delta=0.1, scale="binary")
    rows, columns = distances.nonzero()
    expected = np.exp(np.maximum(-(distances.data / 0.1) ** 2, -20))
    assert np.allclose(np.asarray(weights[rows, columns]).ravel(), expected, rtol=1e-6)


def test_knn_graph_sparse_and_connected():
    X, _ = make_blobs(200)
    assert scipy.sparse.csgraph.connected_components(knn_graph(X, 5))[0] > 1
    assert scipy.sparse.csgraph.connected_components(knn_graph(X, 5, connect=True))[0] == 1
    digits, _ = load_digits()
    dense, sparse = knn_graph(digits[:200]), knn_graph(scipy.sparse.csr_matrix(digits[:200]))
    assert abs(dense - sparse).max() < 1e-12


def test_lists_can_be_given_to_an_estimator(moons):
    X, y = moons
    lists = knn_graph(X, 5, mode="distance")
    model = SpectralShrunkClustering(2, affinity="precomputed_nearest_neighbors").fit(lists)
    assert accuracy(y, model.labels_) == 1


def test_embedding_is_scipys():
    digits, _ = load_digits()
    A = knn_graph(digits[:300], 8, connect=True)
    F, values = spectral_embedding(A, 4, rows="sym", tol=1e-10, return_eigenvalues=True)
    L = scipy.sparse.csgraph.laplacian(A, normed=True).toarray()
    expected, vectors = np.linalg.eigh(L)
    assert np.allclose(values[:4], expected[:4], atol=1e-9)
    assert np.allclose(abs(np.sum(F * vectors[:, :4], axis=0)), 1, atol=1e-6)
    assert np.allclose(spectral_embedding(A.toarray(), 4, rows="sym", tol=1e-10), F, atol=1e-8)
    assert np.allclose(np.linalg.norm(spectral_embedding(A, 4), axis=1), 1)
    with pytest.raises(ValueError, match="square"):
        spectral_embedding(np.ones((4, 3)), 2)


def test_commute_rows_are_numpys():
    digits, _ = load_digits()
    A = knn_graph(digits[:300], 8, connect=True)
    F, values = spectral_embedding(A, 7, rows="sym", tol=1e-10, return_eigenvalues=True)
    rows = F / np.sqrt(np.maximum(values[:7], .1 * values[3]))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(spectral_embedding(A, 7, rows="commute", tol=1e-10), rows, atol=1e-8)


def objective(G, F, W, gamma, loss):
    W = scipy.sparse.triu(W, 1).tocoo()
    edges = np.sum(W.data * np.linalg.norm(G[W.row] - G[W.col], axis=1))
    rows = np.linalg.norm(G - F, axis=1)
    return (np.sum(rows ** 2) if loss == "l2" else np.sum(rows)) + gamma * edges


@pytest.mark.parametrize("loss", ["l21", "l2"])
def test_shrink_is_certified(loss):
    X, _ = make_blobs(60)
    X = X.astype(np.float64)
    W = knn_graph(X, 4)
    result = shrink(X, W, .5, loss=loss, gap=1e-8)
    assert result.stop in ("converged", "exact") and result.gap <= 1e-8
    assert result.dual <= result.objective * (1 + 1e-12)
    assert objective(result.G, X, W, .5, loss) == pytest.approx(result.objective, rel=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = result.G + 1e-2 * rng.standard_normal(result.G.shape)
        assert objective(other, X, W, .5, loss) >= result.objective * (1 - 1e-8)
    assert result.history.shape[1] == 3
    again = shrink(X, W, .5, loss=loss, gap=1e-6, start=result.G)
    assert again.n_iter <= result.n_iter


def test_the_published_iteration_descends():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((80, 2)) + 4 * (np.arange(80) % 3)[:, None]
    W = knn_graph(F, scale="mean")
    best = shrink(F, W, 1, gap=1e-6)
    result = shrink(F, W, 1, solver="published", start=rng.standard_normal(F.shape),
                    shrink_tol=1e-9)
    assert (np.diff(result.history[:, 0]) <= 1e-11 * best.objective).all()
    assert result.history[-1, 0] == pytest.approx(result.objective, rel=1e-12)
    assert best.objective * (1 - 1e-6) <= result.objective <= best.objective * 1.001


def test_shrink_as_convex_clustering():
    X, y = make_blobs(100, noise=.3)
    W = knn_graph(X, 10)
    free, tied = shrink(X, W, 1e-6, loss="l2"), shrink(X, W, 1e4, loss="l2")
    assert free.n_groups == 100
    components = scipy.sparse.csgraph.connected_components(W)[1]
    assert accuracy(components, tied.groups) == 1
    for group in range(tied.n_groups):
        assert np.allclose(tied.G[tied.groups == group], X[tied.groups == group].mean(axis=0),
                           atol=1e-2)


def test_shrink_refuses_and_warns():
    X, _ = make_blobs(60)
    with pytest.raises(ValueError, match="60 x 60"):
        shrink(X, np.ones((5, 5)))
    with pytest.raises(ValueError, match="start"):
        shrink(X, knn_graph(X), start=X[:5])
    with pytest.warns(ConvergenceWarning, match="max_iter") as issued:
        shrink(X, knn_graph(X), 1.0, shrink_max_iter=1, gap=1e-10)
    assert [warning.filename for warning in issued] == [__file__]


def test_embedding_warns():
    A = knn_graph(load_digits()[0], connect=True)
    with pytest.warns(ConvergenceWarning, match="embedding stopped .max_iter.") as issued:
        spectral_embedding(A, 10, embed_max_iter=1, tol=1e-10, embed_solver="chebyshev")
    assert {warning.filename for warning in issued} == {__file__}


def test_path(moons):
    X, y = moons
    path = cluster_path(X, 2, n_gamma=10)
    assert np.all(np.diff(path.gammas) > 0) and len(path.gammas) == 10
    assert path.groups.shape == (10, 300) and path.gap.max() <= 1e-4 * (1 + 1e-9)
    assert [len(set(groups)) for groups in path.groups] == list(path.n_groups)
    assert accuracy(y, path.labels) == 1
    assert len(path.linkage) == 299 and is_valid_linkage(path.linkage)
    apart = path.linkage[:, 2] > path.gammas[-1]
    assert apart.sum() == len(set(path.groups[-1])) - 1
    assert np.all(path.linkage[apart, 2] == 10 * path.gammas[-1])
    assert path.shrunk is None and path.gamma_fit <= path.gamma_up


def test_path_of_rows_and_graph():
    X, y = make_blobs(100)
    W = knn_graph(X, 8, connect=True)
    path = cluster_path(F=X, W=W, gammas=[.01, .1, 1, 10], loss="l2", n_clusters=5,
                        keep_shrunk=True)
    assert list(path.gammas) == [.01, .1, 1, 10] and len(path.shrunk) == 4
    direct = shrink(X, W, .1, loss="l2")
    assert path.objective[1] == pytest.approx(direct.objective, rel=2e-4)
    with pytest.raises(ValueError, match="either X"):
        cluster_path(X, F=X, W=W)


@pytest.mark.parametrize("keep", [False, True])
def test_path_plot(tmp_path, moons, keep):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = cluster_path(moons[0], 2, n_gamma=5, keep_shrunk=keep)
    axes = path.plot()
    assert axes.get_xlabel() == "gamma"
    axes.figure.savefig(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 0
    if not keep:
        with pytest.raises(ValueError, match="keep_shrunk"):
            path.plot(kind="rows")
