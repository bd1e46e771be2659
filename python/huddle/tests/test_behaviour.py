"""Behaviour that users of scikit-learn's spectral clustering and K-means expect."""
import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from huddle import KMeans, SpectralClustering, SpectralShrunkClustering
from huddle.metrics import accuracy, ari, nmi, purity, scores

SPECTRAL = [SpectralShrunkClustering, SpectralClustering]


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_circles(estimator, dtype):
    X, y = make_circles(400, noise=.02, factor=.5, random_state=0)
    labels = estimator(2).fit_predict(X.astype(dtype))
    assert accuracy(y, labels) == 1


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_moons_and_new_points(estimator):
    X, y = make_moons(600, noise=.04, random_state=0)
    new, new_y = make_moons(200, noise=.04, random_state=1)
    model = estimator(2).fit(X)
    assert accuracy(y, model.labels_) == 1
    assert accuracy(new_y, model.predict(new)) > .99
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("estimator", [KMeans, *SPECTRAL])
@pytest.mark.parametrize("offset", [1e9, 1e12])
def test_single_rows_far_from_the_origin(estimator, offset):
    X, _ = make_blobs(200, centers=[[-5, 0], [5, 0], [0, 8]], random_state=0)
    X = X + [offset, 0]
    new = (X[1:] + X[:-1]) / 2
    model = estimator(3).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict(X[::7]), model.labels_[::7])
    for rows, labels in (X[::5], model.labels_[::5]), (new[::5], model.predict(new)[::5]):
        assert np.array_equal([model.predict(row[None])[0] for row in rows], labels)


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_similarities_with_a_clear_cut(estimator, make):
    # Two dense blocks with weak edges between them.
    rng = np.random.default_rng(0)
    A = .01 * rng.random((60, 60))
    A[:25, :25] += 1
    A[25:, 25:] += 1
    A = (A + A.T) / 2
    labels = estimator(2, affinity="precomputed").fit_predict(make(A))
    assert accuracy(np.arange(60) >= 25, labels) == 1


def test_precomputed_similarities_of_blobs():
    X, y = make_blobs(150, centers=3, cluster_std=.5, random_state=2)
    A = rbf_kernel(X, gamma=1)
    ours = SpectralClustering(3, affinity="precomputed").fit_predict(A)
    theirs = sklearn.cluster.SpectralClustering(3, affinity="precomputed",
                                                random_state=0).fit_predict(A)
    assert adjusted_rand_score(ours, theirs) == 1 == accuracy(y, ours)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_precomputed_neighbours_give_the_labels_of_the_points(estimator):
    X, y = make_moons(300, noise=.03, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    lists = NearestNeighbors(n_neighbors=5).fit(X).kneighbors_graph(mode="distance")
    direct = estimator(2, n_neighbors=5, prepare="none", connect=False).fit(X)
    given = estimator(2, n_neighbors=5, affinity="precomputed_nearest_neighbors").fit(lists)
    assert abs(given.affinity_matrix_ - direct.affinity_matrix_).max() < 1e-9
    assert accuracy(direct.labels_, given.labels_) == 1 == accuracy(y, given.labels_)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_all_distances(estimator):
    X, y = make_circles(200, noise=.02, factor=.4, random_state=0)
    labels = estimator(2, affinity="distances").fit_predict(pairwise_distances(X))
    assert accuracy(y, labels) == 1


def test_precomputed_numbers_keep_double_precision():
    # Weights that are equal in single precision.
    n, tiny = 40, 1e-12
    A = np.ones((n, n)) + tiny * np.arange(n * n).reshape(n, n)
    A = (A + A.T) / 2
    graph = SpectralClustering(2, affinity="precomputed").fit(A).affinity_matrix_.toarray()
    off = ~np.eye(n, dtype=bool)
    assert np.array_equal(graph[off], A[off])


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_a_matrix_that_is_not_square_is_refused(estimator):
    with pytest.raises(ValueError, match="square"):
        estimator(2, affinity="precomputed").fit(np.ones((10, 9)))


def test_negative_similarities_are_refused():
    A = np.ones((10, 10))
    A[2, 3] = -1
    with pytest.raises(ValueError, match="negative|-1"):
        SpectralClustering(2, affinity="precomputed").fit(A)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_disconnected_graph_warns_and_is_joined(estimator):
    X, y = make_blobs(120, centers=[[0, 0], [40, 40], [80, 0], [120, 40]], cluster_std=.5,
                      random_state=0)
    with pytest.warns(UserWarning, match="components"):
        model = estimator(2, n_neighbors=4).fit(X)
    assert set(model.labels_) == {0, 1} and "components" in model.warning_codes_
    # As many clusters as components: the components are the clusters, without a warning.
    model = estimator(4, n_neighbors=10).fit(X)
    assert accuracy(y, model.labels_) == 1 and model.warnings_ == []


def test_disconnected_graph_that_is_given():
    A = scipy.sparse.block_diag([np.ones((10, 10))] * 3).tocsr()
    labels = SpectralClustering(3, affinity="precomputed").fit_predict(A)
    assert accuracy(np.repeat(range(3), 10), labels) == 1
    with pytest.warns(UserWarning, match="not joined"):
        SpectralClustering(2, affinity="precomputed").fit(A)


def test_neighbour_graph_is_scikit_learns():
    X, _ = make_blobs(100, centers=3, random_state=0)
    X = X.astype(np.float32)
    theirs = kneighbors_graph(X.astype(float), 6)
    theirs = theirs.maximum(theirs.T)
    ours = SpectralClustering(3, n_neighbors=6, scale="binary", prepare="none",
                              connect=False).fit(X).affinity_matrix_
    assert abs(ours - theirs).max() == 0


def test_kmeans_finds_what_scikit_learn_finds():
    X, y = make_blobs(500, centers=5, cluster_std=.6, random_state=4)
    ours = KMeans(5).fit(X)
    theirs = sklearn.cluster.KMeans(5, n_init=20, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-5)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    centres = ours.cluster_centers_
    for k in range(5):
        assert np.allclose(centres[k], X[ours.labels_ == k].mean(axis=0), atol=1e-4)
    assert np.array_equal(ours.predict(centres), np.arange(5))


def test_kmeans_far_from_the_origin_in_double():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, .01, (50, 2)), rng.normal(1, .01, (50, 2))] + 1e7
    assert accuracy(np.repeat([0, 1], 50), KMeans(2).fit_predict(X)) == 1


def test_one_cluster_and_as_many_as_points():
    X = np.arange(12.0).reshape(6, 2) ** 2
    assert set(KMeans(1).fit_predict(X)) == {0}
    assert len(set(KMeans(6).fit_predict(X))) == 6
    with pytest.raises(ValueError, match="n_clusters"):
        KMeans(7).fit(X)


def test_more_clusters_than_distinct_points_warns_as_scikit_learn_does():
    X = np.array([[0.0, 0], [1, 1], [0, 0], [1, 1]])
    with pytest.warns(ConvergenceWarning, match="distinct"):
        model = KMeans(3).fit(X)
    assert len(set(model.labels_)) == 2 and model.warning_codes_ == ["few_distinct"]


def test_iterations_that_ran_out_warn_of_convergence():
    from huddle.datasets import load_digits
    X, _ = load_digits()
    with pytest.warns(ConvergenceWarning, match="shrinking stopped") as issued:
        model = SpectralShrunkClustering(10, shrink_max_iter=1, gap=1e-9).fit(X)
    assert {warning.filename for warning in issued} == {__file__}
    assert model.gap_ > 1e-9 and "not_converged" in model.warning_codes_
    with pytest.warns(ConvergenceWarning, match="embedding stopped"):
        SpectralClustering(10, embed_max_iter=1, tol=1e-10, embed_solver="chebyshev").fit(X)


def test_a_single_distinct_row_warns_of_convergence():
    with pytest.warns(ConvergenceWarning, match="only 1 distinct row "):
        KMeans(3).fit(np.ones((6, 2)))


def test_a_feature_with_nearly_all_the_variance_is_named_without_a_flag():
    X = np.random.default_rng(0).normal(size=(90, 4)) * [1, 1000, 1, 1]
    with pytest.warns(UserWarning, match="feature 2 holds .* prepare = standard") as seen:
        KMeans(3, prepare="none").fit(X)
    texts = [str(w.message) for w in seen]
    assert len(texts) == 1 and "--" not in texts[0]


def test_errors_have_a_class_and_the_message_of_the_library():
    X, _ = make_blobs(50, random_state=0)
    with pytest.raises(ValueError, match="n_neighbors.*0"):
        SpectralClustering(2, n_neighbors=0).fit(X)
    with pytest.raises(ValueError, match="scale.*nonsense"):
        SpectralClustering(2, scale="nonsense").fit(X)
    with pytest.raises(ValueError, match="NaN"):
        KMeans(2).fit([[0.0, np.nan], [1, 1]])
    with pytest.raises(NotFittedError):
        KMeans(2).predict(X)
    with pytest.raises(ValueError, match="features"):
        KMeans(2).fit(X).predict(X[:, :1])
    from huddle.datasets import load_file
    with pytest.raises(OSError, match="no_such_file"):
        load_file("/no_such_file.csv")


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, _ = make_blobs(50, random_state=0)
    model = KMeans(2).fit(X)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.set_params(n_init=0).fit(X)
    with pytest.raises(ValueError, match=r"n_init = 1000000000000: expected integer in \[1, 2147483647\]"):
        model.set_params(n_init=10**12).fit(X)
    assert np.array_equal(model.predict(X), before)


def test_metrics_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    assert ari(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    assert nmi(a, b) == pytest.approx(sklearn.metrics.normalized_mutual_info_score(
        a, b, average_method="geometric"), abs=1e-12)
    table = sklearn.metrics.cluster.contingency_matrix(a, b)
    assert purity(a, b) == pytest.approx(table.max(axis=0).sum() / 200)
    assert scores(a, b)["acc"] == accuracy(a, b)
    with pytest.raises(ValueError, match="lengths differ"):
        accuracy([0, 1], [0, 1, 2])


def test_rows_without_a_cluster_are_not_scored():
    truth, labels = ["a", "a", "b", "b", "b", "a"], [0, 0, 1, 1, -1, -1]
    found = scores(truth, labels)
    assert found == {"acc": 1, "nmi": 1, "ari": 1, "purity": 1, "left_out": 2}
    assert accuracy(truth, labels) == 1
    assert scores(truth, np.array(labels, np.int32)) == found
    assert scores(truth, np.array(labels, float)) == found
    # -1 is a class like others, and a cluster unless the clusters are numbered from 0.
    assert scores([-1, -1, 0, 0], [0, 0, 1, 1])["left_out"] == 0
    assert scores([-1, -1, 1, 1], [1, 1, -1, -1]) == {
        "acc": 1, "nmi": 1, "ari": 1, "purity": 1, "left_out": 0}
    assert scores(["u", "v"], ["-1", "0"])["left_out"] == 0
    with pytest.raises(ValueError, match="no row has a cluster: every label is -1"):
        scores([0, 0, 1], [-1, -1, -1])
