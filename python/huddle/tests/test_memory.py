"""Memory: arrays that are not copied, and limits."""
import numpy as np
import pytest
import scipy.sparse

import huddle
from huddle import KMeans, SpectralShrunkClustering
from huddle._library import Context, byte_count
from huddle._points import PointsView
from huddle.datasets import make_blobs


def test_a_mapped_array_is_passed_without_a_copy(tmp_path):
    X, _ = make_blobs(500)
    np.save(tmp_path / "points.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    validated = KMeans(3)._validate(mapped, reset=True)
    assert np.shares_memory(validated, mapped)
    view = PointsView(Context(), validated)
    assert view.keep[0].ctypes.data == mapped.ctypes.data and not view._owned
    labels = KMeans(3).fit_predict(mapped)
    np.testing.assert_array_equal(labels, KMeans(3).fit_predict(X.astype(np.float32)))


@pytest.mark.parametrize("text, count", [("500M", 500 << 20), ("4G", 4 << 30), ("1.5 KB", 1536),
                                         (4096, 4096), (np.int64(7), 7)])
def test_amounts_of_memory(text, count):
    assert byte_count(text) == count


@pytest.mark.parametrize("wrong", ["much", "", -1, 0, 1.5, True, [4]])
def test_invalid_limits_are_refused(wrong):
    X, _ = make_blobs(50)
    with pytest.raises(ValueError, match="memory = "):
        KMeans(3, memory=wrong).fit(X)


def test_a_fit_that_needs_more_is_refused():
    X, _ = make_blobs(2000)
    with pytest.raises(MemoryError, match="the fit would need about .* but it may use"):
        SpectralShrunkClustering(5, memory="1M").fit(X)
    model = SpectralShrunkClustering(5, memory="100G").fit(X)
    memory = model.info_["memory"]
    assert memory["predicted"] <= memory["limit"] and memory["leaner"] == []
    assert huddle.KMeans(3).get_params()["memory"] is None


def _blobs(kind):
    X = np.random.default_rng(3).normal(size=(90, 3)) + 6 * np.repeat(np.eye(3), 30, axis=0)
    return {"float32": lambda: X.astype(np.float32), "float64": lambda: X,
            "fortran": lambda: np.asfortranarray(X), "view": lambda: np.repeat(X, 2, axis=1)[:, ::2],
            "sparse": lambda: scipy.sparse.csr_matrix(X),
            "frame": lambda: pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))}[kind]()


def _change(X):
    if scipy.sparse.issparse(X):
        X.data[:] = -X.data[::-1]
    elif hasattr(X, "iloc"):
        X.iloc[:, :] = -X.to_numpy()[::-1]
    else:
        X[:] = -X[::-1].copy()


@pytest.mark.parametrize("kind", ["float32", "float64", "fortran", "view", "sparse", "frame"])
@pytest.mark.parametrize("name", ["KMeans", "SpectralClustering", "PCAKMeans"])
def test_results_do_not_depend_on_what_happens_to_the_points(name, kind, tmp_path):
    estimator = getattr(huddle, name)
    expected = estimator(3, random_state=0).fit(_blobs(kind))
    confidence, silhouettes = expected.confidence_, expected.silhouette_samples_
    scores = expected.info_["internal"]
    X = _blobs(kind)
    model = estimator(3, random_state=0).fit(X)
    _change(X)
    np.testing.assert_array_equal(model.confidence_, confidence)
    np.testing.assert_array_equal(model.silhouette_samples_, silhouettes)
    assert model.info_["internal"] == scores
    with pytest.raises(ValueError, match="not what the model was fitted to"):
        huddle.report(model, tmp_path / "page.html", X)
    huddle.report(model, tmp_path / "page.html")


def test_results_do_not_depend_on_what_happens_to_a_graph():
    X = _blobs("float64")
    A = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 4)
    expected = SpectralShrunkClustering(3, affinity="precomputed", random_state=0).fit(A.copy())
    graph, confidence = expected.affinity_matrix_, expected.confidence_
    model = SpectralShrunkClustering(3, affinity="precomputed", random_state=0).fit(A)
    A[:] = 1
    assert (model.affinity_matrix_ != graph).nnz == 0
    np.testing.assert_array_equal(model.confidence_, confidence)


def test_points_that_cannot_change_are_not_copied(tmp_path):
    X = _blobs("float32")
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert np.shares_memory(KMeans(3).fit(mapped)._fit_X, mapped)
    assert not np.shares_memory(KMeans(3).fit(X)._fit_X, X)
    view = X[:]
    view.flags.writeable = False
    assert not np.shares_memory(KMeans(3).fit(view)._fit_X, X)  # X can still be written to
    X.flags.writeable = False
    model = KMeans(3, random_state=0).fit(X)
    confidence = KMeans(3, random_state=0).fit(X.copy()).confidence_
    X.flags.writeable = True  # the owner of the memory can always do that
    X[:] = 0
    np.testing.assert_array_equal(model.confidence_, confidence)
    for mode in "r+", "c":
        mapped = np.load(tmp_path / "points.npy", mmap_mode=mode)
        mapped.flags.writeable = False
        assert not np.shares_memory(KMeans(3).fit(mapped)._fit_X, mapped)
    fixed = np.frombuffer(_blobs("float32").tobytes(), np.float32).reshape(X.shape)
    assert np.shares_memory(KMeans(3).fit(fixed)._fit_X, fixed)
