"""Conventions of scikit-learn: its own checks, and some that these do not include."""
import copy
import inspect
import pickle
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import huddle
from huddle import KMeans, SpectralClustering, SpectralShrunkClustering
from huddle._clusterer import ATTRIBUTES
from huddle._estimators import ESTIMATORS
from huddle._model import Model
from huddle._running import running_context
from huddle._signature import ESTIMATOR
from huddle.datasets import load_digits, make_blobs


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200)


@parametrize_with_checks([estimator() for estimator in ESTIMATORS])
@pytest.mark.filterwarnings("ignore")
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_option_is_a_keyword(estimator):
    names = list(inspect.signature(estimator).parameters)
    assert names[0] == "n_clusters" and names[-len(ESTIMATOR):] == list(ESTIMATOR)
    assert "seed" not in names and "n_threads" not in names
    assert list(estimator().get_params()) == sorted(names)
    for name in names:
        assert f"{name} : " in estimator.__doc__


def test_defaults():
    assert inspect.signature(SpectralShrunkClustering).parameters["gamma"].default == "auto"
    assert inspect.signature(SpectralShrunkClustering).parameters["snap"].default is True
    assert inspect.signature(KMeans).parameters["n_init"].default == 50


def test_a_preset_sets_what_is_not_given(blobs):
    model = SpectralShrunkClustering(3, preset="published", gamma=2, n_init=4)
    options = clone(model).fit(blobs[0]).info_["options"]
    expected = {"preset": "published", "solver": "published", "rows": "sym", "snap": False,
                "init": "sample", "gamma": 2, "n_init": 4}
    assert {name: options[name] for name in expected} == expected
    assert model.fit(blobs[0]).info_["shrink"]["solver"] == "published"
    assert SpectralShrunkClustering(3).fit(blobs[0]).info_["options"]["solver"] == "auto"


def test_a_loaded_preset_keeps_options_that_equal_defaults(blobs, tmp_path):
    path = tmp_path / "model"
    model = Model("ssc", {"n_clusters": 3, "preset": "published", "n_init": 2, "solver": "auto"})
    with running_context(1, None, "cpu") as context:
        model.fit(context, blobs[0])
    model.save(path)
    loaded = huddle.load(path)
    assert loaded.info_["options"]["preset"] == "published"
    before = loaded.info_["options"]
    after = loaded.fit(blobs[0]).info_["options"]
    assert before["solver"] == after["solver"] == "auto"
    assert {**after, "preset": "published"} == before


def test_a_solver_of_an_old_file_has_its_new_name(blobs, tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    SpectralShrunkClustering(3, solver="reweighted", n_init=2).fit(blobs[0]).save(new)
    with zipfile.ZipFile(new) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "model.json":
                content = content.replace(b'"solver": "reweighted"', b'"solver": "plain"')
            target.writestr(name, content)
    loaded = huddle.load(old)
    assert loaded.solver == "reweighted"
    assert loaded.fit(blobs[0]).info_["options"]["solver"] == "reweighted"


def test_set_params_and_clone(blobs):
    model = SpectralShrunkClustering(3).set_params(gamma=2.5, n_neighbors=7)
    twin = clone(model)
    assert twin.get_params() == model.get_params() and twin is not model
    model.fit(blobs[0])
    assert model.info_["options"]["gamma"] == 2.5 and model.info_["options"]["n_neighbors"] == 7
    assert not hasattr(clone(model), "labels_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_pickled_and_copied_models_predict_the_same(estimator, blobs):
    X, _ = blobs
    model = estimator(5).fit(X)
    expected = model.predict(X[:50] + .01)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.predict(X[:50] + .01), expected)
        assert np.array_equal(twin.labels_, model.labels_)


def test_unfitted_models_pickle():
    assert pickle.loads(pickle.dumps(KMeans(3))).n_clusters == 3


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_attributes(estimator, blobs):
    X, _ = blobs
    model = estimator(5).fit(X)
    assert model.labels_.shape == (200,) and model.labels_.dtype == np.int32
    assert set(model.labels_) == set(range(5))
    assert model.n_clusters_ == 5 and model.n_features_in_ == X.shape[1]
    assert model.cluster_centers_.shape[0] == 5
    assert isinstance(model.n_iter_, int)
    assert isinstance(model.warnings_, list) and isinstance(model.warning_codes_, list)
    assert len(model.warnings_) == len(model.warning_codes_)
    present = {name for name in ATTRIBUTES if hasattr(model, name)}
    assert present == set(estimator._attributes) - {"feature_names_in_", "range_labels_"}
    if hasattr(model, "affinity_matrix_"):
        difference = model.affinity_matrix_ - model.affinity_matrix_.T
        assert abs(difference).max() == 0 and model.embedding_.shape[0] == 200
    if hasattr(model, "eigenvalues_"):
        assert np.all(np.diff(model.eigenvalues_) >= -1e-9)


def test_layers_are_numbers_or_a_text(blobs):
    expected = huddle.GraphEncoder(5, layers="7,5").fit(blobs[0]).embedding_
    assert expected.shape == (200, 5)
    for layers in ([7, 5], (7, 5), np.array([7, 5])):
        model = huddle.GraphEncoder(5, layers=layers).fit(blobs[0])
        assert np.array_equal(model.embedding_, expected)


def test_certificate_attributes(blobs):
    model = SpectralShrunkClustering(5).fit(blobs[0])
    assert 0 <= model.gap_ <= 1e-4 and model.objective_ >= 0
    assert model.shrunk_.shape == model.embedding_.shape == (200, 5)


def test_labels_from_the_embedding_are_not_called_certified(blobs):
    noise = np.random.default_rng(0).normal(size=(400, 8))
    with pytest.warns(UserWarning, match="not of the certified shrink step"):
        model = SpectralShrunkClustering(5).fit(noise)
    assert model.info_["shrink"]["labels_from"] == "embedding"
    assert model.labels_from_ == model.refine_["start"] != "shrunk"
    with pytest.warns(UserWarning, match="not of the certified shrink step"):
        model = SpectralShrunkClustering(5, refine="none").fit(noise)
    assert model.labels_from_ == "embedding"
    assert SpectralShrunkClustering(5, refine="none").fit(blobs[0]).labels_from_ == "shrunk"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_from_names_what_was_preferred():
    """On noise of few features the labels of the graph, K-means and commute rows all occur."""
    found = set()
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(size=(60, 6))
        model = SpectralShrunkClustering(4, n_init=5, random_state=0).fit(noise)
        source = model.refine_["from"]
        assert model.labels_from_ == (model.refine_["start"] if source == "graph" else source)
        found.add(source)
    assert found == {"graph", "kmeans", "commute"}


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if "refine_" in e._attributes],
                         ids=lambda e: e.__name__)
def test_refined_labels(estimator):
    X, _ = make_blobs(200, noise=2.5)
    model = estimator(5, refine="graph").fit(X)
    assert model.refine_ == model.info_["refine"] and model.refine_["from"] == "graph"
    names = [trial["name"] for trial in model.refine_["trials"]]
    assert model.refine_["start"] in names and {"commute", "sum", "levels2"} < set(names)
    before = model.unrefined_labels_
    assert before.shape == model.labels_.shape and before.dtype == np.int32
    assert model.refine_["n_changed"] == np.sum(model.labels_ != before)
    plain = estimator(5, refine="none", prepare=model.info_["prepare"]["rule"]).fit(X)
    assert plain.refine_ is None and not hasattr(plain, "unrefined_labels_")
    model.set_params(refine="none").fit(X)
    assert model.refine_ is None and not hasattr(model, "unrefined_labels_")
    with pytest.raises(ValueError, match="refine = sometimes"):
        estimator(5, refine="sometimes").fit(X)


def test_refinement_is_an_option_of_graph_methods():
    assert "refine" in SpectralShrunkClustering().get_params()
    assert SpectralShrunkClustering().refine == "auto"
    assert "refine" not in KMeans().get_params() and "refine_" not in KMeans._attributes
    assert "unrefined_labels_ :" in SpectralShrunkClustering.__doc__


def test_pipeline(blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), SpectralShrunkClustering(5))
    labels = pipeline.fit_predict(X)
    assert np.array_equal(pipeline.fit(X).predict(X), labels)
    assert adjusted_rand_score(y, labels) > .9


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(blobs, n_jobs):
    X, y = blobs
    search = GridSearchCV(KMeans(n_init=3), {"n_clusters": [2, 5]}, cv=3, n_jobs=n_jobs,
                          scoring=make_scorer(adjusted_rand_score))
    search.fit(X, y)
    assert search.best_params_ == {"n_clusters": 5}


def test_grid_search_without_classes(blobs):
    def silhouette(model, X):
        return sklearn.metrics.silhouette_score(X, model.predict(X))

    search = GridSearchCV(SpectralShrunkClustering(), {"n_clusters": [2, 5]}, cv=2,
                          scoring=silhouette)
    assert search.fit(blobs[0]).best_params_ == {"n_clusters": 5}


def test_pandas(blobs):
    X, _ = blobs
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = SpectralShrunkClustering(5).fit(frame)
    assert list(model.feature_names_in_) == ["width", "height"]
    assert np.array_equal(model.labels_, SpectralShrunkClustering(5).fit(X).labels_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "width"]])


@pytest.mark.parametrize("estimator", [SpectralShrunkClustering, KMeans])
def test_orders_strides_and_precisions_give_the_same_labels(estimator):
    X, _ = load_digits()
    X = X[:400]
    expected = estimator(5, n_init=5).fit(X)
    wide = np.zeros((400, 130), np.float32)
    wide[:, :128:2] = X
    tall = np.zeros((800, 64), np.float32)
    tall[::2] = X
    # Pixels are integers, which float32 represents exactly.
    for same in (np.asfortranarray(X), wide[:, :128:2], tall[::2], X[::-1][::-1],
                 X.astype(np.float64), np.asfortranarray(X, np.float64),
                 wide.astype(float)[:, :128:2], X.astype(int), X.tolist()):
        model = estimator(5, n_init=5).fit(same)
        assert np.array_equal(model.labels_, expected.labels_)
        assert np.array_equal(model.predict(same), expected.predict(X))


def test_inputs_are_not_changed():
    X, _ = load_digits()
    before = X.copy()
    X.setflags(write=False)
    SpectralShrunkClustering(10).fit(X).predict(X[:10])
    assert np.array_equal(X, before)


def test_float32_is_not_copied():
    from huddle._library import Context
    from huddle._points import PointsView
    X, _ = load_digits()
    for view in (X, X[:, :32], X[::2]):
        points = PointsView(Context(), view)
        assert np.ctypeslib.as_array(points.struct.values, (1,)).ctypes.data == view.ctypes.data
        assert points.struct.stride * 4 == view.strides[0]
    csr = scipy.sparse.csr_matrix(X)
    points = PointsView(Context(), csr)
    assert np.ctypeslib.as_array(points.struct.values, (1,)).ctypes.data == csr.data.ctypes.data


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix,
                                  scipy.sparse.coo_matrix])
def test_sparse(make):
    X, _ = load_digits()
    dense = SpectralShrunkClustering(5, prepare="none").fit(X[:400])
    sparse = SpectralShrunkClustering(5, prepare="none").fit(make(X[:400]))
    assert adjusted_rand_score(dense.labels_, sparse.labels_) > .95
    assert np.array_equal(sparse.predict(make(X[:400])), sparse.labels_)


def test_sparse_with_wide_indices():
    X = scipy.sparse.csr_matrix(load_digits()[0][:300])
    expected = KMeans(5).fit_predict(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert np.array_equal(KMeans(5).fit_predict(X), expected)


def test_random_state(blobs):
    X, _ = blobs
    once = KMeans(6, n_init=1, random_state=3).fit(X)
    again = KMeans(6, n_init=1, random_state=np.int64(3)).fit(X)
    assert np.array_equal(once.labels_, again.labels_)
    assert once.info_["options"]["seed"] == 3
    state = np.random.RandomState(0)
    seeds = {KMeans(6, n_init=1, random_state=state).fit(X).info_["options"]["seed"]
             for _ in range(3)}
    assert len(seeds) == 3
    KMeans(6, random_state=None).fit(X)


@pytest.mark.parametrize("n_jobs", [1, 2, -1, -2, None])
def test_n_jobs_does_not_change_labels(blobs, n_jobs):
    X, _ = blobs
    assert np.array_equal(SpectralShrunkClustering(5, n_jobs=n_jobs).fit(X).labels_,
                          SpectralShrunkClustering(5).fit(X).labels_)


def test_range_of_clusters(blobs):
    model = SpectralShrunkClustering(range(2, 8)).fit(blobs[0])
    assert model.n_clusters_ == 5 and len(model.info_["range"]) == 6
    assert SpectralShrunkClustering((2, 7)).fit(blobs[0]).n_clusters_ == 5
    assert SpectralShrunkClustering("2-7").fit(blobs[0]).n_clusters_ == 5
    assert SpectralShrunkClustering().fit(blobs[0]).n_clusters_ == 5
    with pytest.raises(ValueError, match="step of 1"):
        SpectralShrunkClustering(range(2, 8, 2)).fit(blobs[0])


def test_all_names_exist():
    for name in huddle.__all__:
        assert hasattr(huddle, name)
