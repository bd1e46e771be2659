"""huddle.drop_in: the same results as scikit-learn's classes, computed by the library."""
import ctypes
import pathlib
import pickle
import shutil
import subprocess
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.manifold import spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from threadpoolctl import threadpool_limits

from huddle import _drop_in_kmeans, _drop_in_native, _drop_in_spectral
from huddle.drop_in import KMeans, SpectralClustering, k_means, spectral_clustering

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOISE = np.random.RandomState(0).normal(size=(2000, 6))
CONTAINERS = [np.asarray, scipy.sparse.csr_matrix]


@pytest.fixture(autouse=True)
def one_thread():
    """Limit scikit-learn, whose threads wait for each other in busy loops."""
    with threadpool_limits(1):
        yield


# ---- KMeans -----------------------------------------------------------------------------------

def assert_same_clusters(own, other, rtol):
    np.testing.assert_array_equal(own.labels_, other.labels_)
    np.testing.assert_allclose(own.cluster_centers_, other.cluster_centers_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(own.inertia_, other.inertia_, rtol=rtol)
    assert own.n_iter_ == other.n_iter_
    assert own.cluster_centers_.dtype == other.cluster_centers_.dtype


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-9), (np.float32, 1e-4)])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_state_gives_the_labels_of_scikit_learn(container, dtype, rtol, init, seed):
    X = container(NOISE.astype(dtype))
    options = dict(n_clusters=9, init=init, n_init=3, random_state=seed)
    own, other = KMeans(**options), sklearn.cluster.KMeans(**options)
    assert_same_clusters(own.fit(X), other.fit(X), rtol)
    np.testing.assert_array_equal(own.predict(X[::-1]), other.predict(X[::-1]))
    np.testing.assert_allclose(own.score(X), other.score(X), rtol=rtol)
    np.testing.assert_allclose(own.transform(X), other.transform(X), rtol=rtol, atol=1e-4)


@pytest.mark.parametrize("max_iter, tol", [(1, 1e-4), (3, 1e-4), (300, 1e-2), (300, 0)])
def test_given_centers_weights_and_stopping(max_iter, tol):
    weights = np.random.RandomState(1).uniform(.1, 3, len(NOISE))
    options = dict(n_clusters=5, init=NOISE[:5], n_init=1, max_iter=max_iter, tol=tol)
    own = KMeans(**options).fit(NOISE, sample_weight=weights)
    assert_same_clusters(own, sklearn.cluster.KMeans(**options).fit(NOISE, sample_weight=weights),
                         1e-9)
    np.testing.assert_array_equal(own.labels_, own.predict(NOISE))
    np.testing.assert_allclose(own.score(NOISE, sample_weight=weights), -own.inertia_)


@pytest.mark.skipif(not _drop_in_kmeans._DRAWS_BY_WEIGHT,
                    reason="before 1.3 scikit-learn ignores weights when it draws centres")
def test_weights_count_when_centers_are_drawn():
    weights = np.random.RandomState(2).uniform(.1, 3, len(NOISE))
    for init in ("k-means++", "random"):
        options = dict(n_clusters=8, init=init, n_init=2, random_state=4)
        assert_same_clusters(
            KMeans(**options).fit(NOISE, sample_weight=weights),
            sklearn.cluster.KMeans(**options).fit(NOISE, sample_weight=weights), 1e-9)


def test_weight_zero_is_absence():
    weights = np.where(np.arange(len(NOISE)) % 3 == 0, 0.0, 1.0)
    options = dict(n_clusters=4, init=NOISE[:4], n_init=1)
    some = KMeans(**options).fit(NOISE, sample_weight=weights)
    rest = KMeans(**options).fit(NOISE[weights > 0])
    np.testing.assert_allclose(some.cluster_centers_, rest.cluster_centers_)
    np.testing.assert_allclose(some.inertia_, rest.inertia_)
    np.testing.assert_array_equal(some.labels_, some.predict(NOISE))


def test_fewer_weighted_rows_than_clusters():
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    model = KMeans(3, n_init=1, random_state=0).fit(X, sample_weight=[1, 1, 0, 0])
    assert {model.labels_[0], model.labels_[1]} & {model.labels_[2]} == set()
    assert len(set(model.labels_)) == 3


@pytest.mark.parametrize("weights, text", [
    ([-1.0] + [1.0] * (len(NOISE) - 1), "Negative"), (np.zeros(len(NOISE)), "non-zero"),
    ([1.0, 2.0], "sample_weight.shape")])
def test_bad_weights(weights, text):
    with pytest.raises(ValueError, match=text):
        KMeans(2, n_init=1).fit(NOISE, sample_weight=weights)


def test_first_of_equal_restarts_is_kept():
    # Most restarts find the same clusters, with other numbers; scikit-learn keeps the first.
    X, _ = make_blobs(300, centers=5, cluster_std=.3, random_state=1)
    for seed in range(8):
        options = dict(n_clusters=5, n_init=10, random_state=seed)
        np.testing.assert_array_equal(KMeans(**options).fit(X).labels_,
                                      sklearn.cluster.KMeans(**options).fit(X).labels_)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("factor", [2.0 ** 400, 2.0 ** -400])
def test_numbers_beyond_single_precision(container, factor):
    X = np.ascontiguousarray(NOISE[:300])
    plain = KMeans(4, n_init=2, random_state=0).fit(X)
    model = KMeans(4, n_init=2, random_state=0).fit(container(X * factor))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_ * factor)
    np.testing.assert_array_equal(model.predict(X * factor), plain.labels_)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_few_distinct_rows_beyond_single_precision():
    X = np.repeat([[1e100, 0.0], [0.0, 3e100]], 4, axis=0)
    model = KMeans(3, n_init=1).fit(X)
    np.testing.assert_array_equal(np.unique(model.cluster_centers_, axis=0),
                                  np.unique(X, axis=0))


def test_nothing_is_computed_by_scikit_learn(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("scikit-learn computed")
    from sklearn.cluster import _kmeans, _spectral
    for module, names in ((_kmeans, ("_kmeans_single_lloyd", "_kmeans_single_elkan",
                                     "_kmeans_plusplus", "_labels_inertia",
                                     "_labels_inertia_threadpool_limit")),
                          (_spectral, ("k_means", "discretize", "cluster_qr"))):
        for name in names:
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, refuse)
    for name in ("spectral_embedding", "_spectral_embedding"):
        monkeypatch.setattr(_spectral, name, refuse, raising=False)
    monkeypatch.setattr("sklearn.manifold._spectral_embedding.eigsh", refuse)
    model = KMeans(3, n_init=2, random_state=0).fit(NOISE)
    model.predict(NOISE)
    model.score(NOISE)
    for assign_labels in ("kmeans", "discretize", "cluster_qr"):
        SpectralClustering(3, gamma=.1, assign_labels=assign_labels).fit(NOISE[:100])


def test_verbose_prints_iterations(capsys):
    model = KMeans(4, n_init=2, random_state=0, verbose=1).fit(NOISE)
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("Initialization complete") == 2
    assert sum(line.startswith("Iteration 0, inertia") for line in lines) == 2
    np.testing.assert_array_equal(
        model.labels_, KMeans(4, n_init=2, random_state=0).fit(NOISE).labels_)


def test_n_threads_follows_openmp(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert _drop_in_native._thread_count() == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert _drop_in_native._thread_count() == -1


# ---- SpectralClustering -----------------------------------------------------------------------

BLOBS, _ = make_blobs(400, n_features=4, centers=5, cluster_std=1.7, random_state=3)


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("options", [
    dict(gamma=.1), dict(affinity="nearest_neighbors", n_neighbors=25),
    dict(affinity="laplacian", gamma=.2), dict(affinity="polynomial", degree=2, coef0=300.),
    dict(gamma=.1, n_components=7), dict(gamma=.1, eigen_solver="lobpcg")],
    ids=lambda options: "-".join(map(str, options.values())))
def test_labels_of_scikit_learn(options, assign_labels):
    options = dict(n_clusters=5, assign_labels=assign_labels, random_state=0, **options)
    own = SpectralClustering(**options).fit(BLOBS)
    other = sklearn.cluster.SpectralClustering(**options).fit(BLOBS)
    assert abs(own.affinity_matrix_ - other.affinity_matrix_).max() == 0
    assert adjusted_rand_score(own.labels_, other.labels_) > .98
    assert own.labels_.dtype == other.labels_.dtype


@pytest.mark.parametrize("gamma", [.001, .1, 1., 10.])
def test_any_width_of_the_kernel(gamma):
    # From one large cluster to points that are hardly connected at all.
    options = dict(n_clusters=5, gamma=gamma, random_state=0)
    own = SpectralClustering(**options).fit(BLOBS)
    other = sklearn.cluster.SpectralClustering(**options).fit(BLOBS)
    assert adjusted_rand_score(own.labels_, other.labels_) > .98


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.coo_matrix])
def test_precomputed(make):
    X, y = make_circles(300, factor=.4, noise=.03, random_state=0)
    graph = kneighbors_graph(X, 12, include_self=True)
    graph = (.5 * (graph + graph.T)).toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = spectral_clustering(make(graph), n_clusters=2, random_state=0)
    assert adjusted_rand_score(labels, y) == 1


@pytest.mark.parametrize("is_sparse", [False, True])
def test_precomputed_neighbors(is_sparse):
    graph = kneighbors_graph(BLOBS, 30, mode="distance", include_self=True)
    if not is_sparse:
        graph = np.linalg.norm(BLOBS[:, None] - BLOBS, axis=2)
    options = dict(n_clusters=5, n_neighbors=20, random_state=0,
                   affinity="precomputed_nearest_neighbors")
    own = SpectralClustering(**options).fit(graph)
    other = sklearn.cluster.SpectralClustering(**options).fit(graph)
    assert abs(own.affinity_matrix_ - other.affinity_matrix_).max() == 0
    assert adjusted_rand_score(own.labels_, other.labels_) > .98


def test_too_few_neighbors_in_a_precomputed_graph():
    graph = kneighbors_graph(BLOBS, 5, mode="distance")
    with pytest.raises(ValueError, match="10 neighbors are required.* have only 5"):
        SpectralClustering(2, affinity="precomputed_nearest_neighbors").fit(graph)


def test_negative_similarities():
    group = np.arange(60) % 2
    noise = np.random.RandomState(0).uniform(-.2, .2, (60, 60))
    graph = np.where(group[:, None] == group, .8, -.1) + noise + noise.T
    options = dict(n_clusters=2, affinity="precomputed", random_state=0)
    own = SpectralClustering(**options).fit(graph)
    other = sklearn.cluster.SpectralClustering(**options).fit(graph)
    np.testing.assert_array_equal(own.labels_, other.labels_)
    assert adjusted_rand_score(own.labels_, group) == 1
    with pytest.raises(ValueError, match="sum is not positive"):
        SpectralClustering(**options).fit(-graph)


def test_more_components_than_eigenvectors():
    # Six components, two eigenvectors: points of one component stay together.
    graph = scipy.sparse.block_diag([np.ones((10, 10))] * 6).tocsr()
    with pytest.warns(UserWarning, match="not fully connected"):
        model = SpectralClustering(6, n_components=2, affinity="precomputed", random_state=0)
        labels = model.fit(graph).labels_
    assert adjusted_rand_score(labels, np.repeat(np.arange(6), 10)) == 1


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_embedding_of_scikit_learn(make):
    # Self-loops do not count, neither in a full matrix nor in a sparse one.
    graph = rbf_kernel(BLOBS, gamma=.05) + 4 * np.eye(len(BLOBS))
    own = _drop_in_spectral._embed(make(graph), 4, None, 1e-9, np.random.RandomState(0))
    other = spectral_embedding(graph, n_components=4, random_state=0, drop_first=False)
    np.testing.assert_allclose(np.abs(own), np.abs(other), atol=1e-7 * np.abs(other).max())


def test_hardly_connected_groups():
    # Eight copies of a group: eight equal eigenvalues, of which the Lanczos method alone finds one.
    group = np.random.RandomState(0).uniform(size=(60, 2))
    X = np.concatenate([group + [8.0 * k, 0] for k in range(8)])
    graph = rbf_kernel(X, gamma=1.0) + 1e-14
    labels = spectral_clustering(graph, n_clusters=8, random_state=0, eigen_tol=1e-4)
    assert adjusted_rand_score(labels, np.repeat(np.arange(8), 60)) == 1


def test_vertices_without_edges():
    graph = np.zeros((30, 30))
    graph[:14, :14] = graph[14:28, 14:28] = 1
    graph[13, 14] = graph[14, 13] = .1
    with pytest.warns(UserWarning, match="not fully connected"):
        embedding = _drop_in_spectral._embed(graph, 2, None, "auto", np.random.RandomState(0))
    np.testing.assert_array_equal(embedding[28:], 0)
    assert (embedding[:28] != 0).any(axis=1).all()


def test_callable_gets_only_its_own_parameters():
    params = {"power": 2}
    model = SpectralClustering(2, affinity=lambda x, y, power: float((x @ y) ** power + 1),
                               kernel_params=params)
    model.fit(BLOBS[:40])
    assert params == {"power": 2}


def test_assign_labels_functions_of_scikit_learn():
    from sklearn.cluster._spectral import cluster_qr, discretize
    vectors = np.random.RandomState(0).normal(size=(200, 6))
    np.testing.assert_array_equal(_drop_in_spectral.cluster_qr(vectors), cluster_qr(vectors))
    np.testing.assert_array_equal(_drop_in_spectral.discretize(vectors, 0),
                                  discretize(vectors, random_state=0))


def test_discretize_reports_a_failing_svd(monkeypatch):
    def fail(*arguments, **options):
        raise np.linalg.LinAlgError
    monkeypatch.setattr(np.linalg, "svd", fail)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        _drop_in_spectral.discretize(np.ones((10, 4)))


# ---- as estimators of scikit-learn ------------------------------------------------------------

@pytest.mark.parametrize("cls", [KMeans, SpectralClustering])
def test_class(cls):
    original = getattr(sklearn.cluster, cls.__name__)
    model = cls(3, random_state=0)
    assert isinstance(model, original)
    assert type(clone(model)) is cls
    assert model.get_params() == original(3, random_state=0).get_params()
    assert repr(model) == repr(original(3, random_state=0))
    fitted = pickle.loads(pickle.dumps(model.set_params(n_init=2).fit(NOISE[:100])))
    np.testing.assert_array_equal(fitted.labels_, model.labels_)


# scikit-learn's own KMeans fails these: its starting centres depend on the order of rows.
EXPECTED_FAILURES = {"check_sample_weights_invariance",
                     "check_sample_weight_equivalence_on_dense_data",
                     "check_sample_weight_equivalence_on_sparse_data"}


def all_checks(estimator):
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)  # before 1.6


@pytest.mark.parametrize("cls", [KMeans, SpectralClustering])
@pytest.mark.filterwarnings("ignore")
def test_conventions(cls):
    failed = []
    for estimator, check in all_checks(cls()):
        try:
            check(estimator)
        except Exception as error:
            if type(error).__name__ not in ("SkipTest", "SkipTestWarning"):
                failed.append(getattr(check, "func", check).__name__)
    assert set(failed) <= EXPECTED_FAILURES


def test_pipeline_and_output():
    model = make_pipeline(StandardScaler(), KMeans(3, n_init=1, random_state=0))
    distances = model.set_output(transform="pandas").fit_transform(NOISE)
    assert list(distances.columns) == ["kmeans0", "kmeans1", "kmeans2"]


def test_functions():
    centers, labels, inertia, n_iter = k_means(NOISE, 3, n_init=1, random_state=0,
                                               return_n_iter=True)
    model = KMeans(3, n_init=1, random_state=0).fit(NOISE)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(centers, model.cluster_centers_)
    assert (inertia, n_iter) == (model.inertia_, model.n_iter_)


# ---- the binding ------------------------------------------------------------------------------

def test_layout(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    structs = {"huddle_kmeans_options": _drop_in_native.KmeansOptions,
               "huddle_kmeans_result": _drop_in_native.KmeansResult,
               "huddle_kmeans_info": _drop_in_native.KmeansInfo}
    checks = []
    for name, struct in structs.items():
        checks.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(struct)}, "{name}");')
        checks += [f"_Static_assert(offsetof({name}, {field}) == {getattr(struct, field).offset}, "
                   f'"{name}.{field}");' for field, *_ in struct._fields_]
    (tmp_path / "layout.c").write_text("\n".join(["#include <huddle/huddle.h>",
                                                  "#include <stddef.h>", *checks, ""]))
    subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}",
                    str(tmp_path / "layout.c")], check=True)
