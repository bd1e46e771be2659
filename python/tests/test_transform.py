"""Coordinates of points, as arrays and as data frames; model files."""
import os
import pathlib
import subprocess

import numpy as np
import pandas
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import huddle
from huddle import KMeans, SpectralClustering, SpectralShrunkClustering, load
from huddle._estimators import ESTIMATORS
from huddle.datasets import load_digits, make_blobs

TOOL = pathlib.Path(os.environ.get("HUDDLE_LIBRARY", "build/x")).parent / "huddle"


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200)


@pytest.fixture(scope="module")
def frame(blobs):
    return pandas.DataFrame(blobs[0], columns=["width", "height"], index=np.arange(1000, 1200))


# ---- coordinates -----------------------------------------------------------------------------

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_transform(cls, blobs):
    X, _ = blobs
    model = cls(4)
    rows = model.fit_transform(X)
    if "embedding_" in cls._attributes:
        assert np.array_equal(rows, model.embedding_)
    else:
        assert rows.shape == (200, len(model.cluster_centers_))
        # The label is the nearest centre.
        assert np.array_equal(rows.argmin(axis=1), model.predict(X))
    assert np.allclose(model.transform(X), rows, atol=1e-5)
    assert np.allclose(model.transform(X[5:8]), rows[5:8], atol=1e-5)
    assert len(model.get_feature_names_out()) == rows.shape[1]
    assert model.get_feature_names_out()[0] == f"{cls.__name__.lower()}0"


def test_distances_to_centres(blobs):
    X = blobs[0].astype(np.float64) + 1e7  # needs a shift
    model = KMeans(4).fit(X)
    new = X[:50] + .25
    assert np.allclose(model.transform(new), cdist(new, model.cluster_centers_), atol=1e-3)
    sparse = scipy.sparse.csr_matrix(blobs[0])
    model = KMeans(4).fit(sparse)
    assert np.allclose(model.transform(sparse), cdist(blobs[0], model.cluster_centers_), atol=1e-4)


def test_new_points_are_near_their_neighbours():
    X, y = load_digits()
    model = SpectralClustering(10, refine="none").fit(X[:1000])
    rows = model.transform(X[1000:1400])
    nearest = cdist(rows, model.cluster_centers_).argmin(axis=1)
    assert np.mean(nearest == model.predict(X[1000:1400])) > .99
    classifier = make_pipeline(SpectralShrunkClustering(20), LogisticRegression(max_iter=2000))
    assert classifier.fit(X[:1000], y[:1000]).score(X[1000:1400], y[1000:1400]) > .75


def test_precomputed_matrices_have_an_embedding_only(blobs):
    A = SpectralClustering(4).fit(blobs[0]).affinity_matrix_
    model = SpectralClustering(4, affinity="precomputed")
    assert model.fit_transform(A).shape == (200, 4)
    with pytest.raises(NotImplementedError, match="given graph"):
        model.transform(A)


# ---- pandas ----------------------------------------------------------------------------------

@pytest.mark.parametrize("cls", [KMeans, SpectralShrunkClustering])
def test_set_output(cls, frame):
    model = cls(4).set_output(transform="pandas")
    rows = model.fit_transform(frame)
    assert isinstance(rows, pandas.DataFrame) and rows.index.equals(frame.index)
    assert list(rows.columns) == list(model.get_feature_names_out())
    new = model.transform(frame[10:20])
    assert isinstance(new, pandas.DataFrame) and list(new.index) == list(range(1010, 1020))
    assert isinstance(model.labels_, np.ndarray) and isinstance(model.predict(frame), np.ndarray)
    assert isinstance(cls(4).fit_transform(frame), np.ndarray)
    with config_context(transform_output="pandas"):
        assert isinstance(cls(4).fit(frame).transform(frame), pandas.DataFrame)


def test_feature_names_are_checked(frame):
    model = KMeans(4).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["height", "width"]])
    with pytest.raises(ValueError, match="now missing:\n- height"):
        model.transform(frame[["width"]])
    with pytest.raises(ValueError, match="X has 3 features, but KMeans is expecting 2"):
        KMeans(4).fit(frame.to_numpy()).transform(np.ones((2, 3)))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(frame.to_numpy())


# ---- files -----------------------------------------------------------------------------------

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_saved_models_are_loaded(cls, blobs, tmp_path):
    X, path = blobs[0], tmp_path / "model.huddle"
    model = cls(4, prepare="none", random_state=7).fit(X)
    model.save(path)
    for twin in (load(path), cls.load(str(path)), huddle.load(path, n_jobs=1)):
        assert type(twin) is cls
        parameters = {**twin.get_params(), "n_jobs": -1}
        assert parameters == model.get_params()
        assert np.array_equal(twin.labels_, model.labels_) and twin.n_features_in_ == 2
        assert np.array_equal(twin.predict(X + .01), model.predict(X + .01))
        assert np.allclose(twin.transform(X + .01), model.transform(X + .01))
        present = {name for name in cls._attributes if hasattr(twin, name)}
        assert set(cls._attributes) - present <= {
            "feature_names_in_", "range_labels_", "confidence_", "silhouette_samples_"}
        assert np.array_equal(twin.fit(X).labels_, model.labels_)


def test_files_keep_names_and_ranges(frame, tmp_path):
    SpectralClustering((2, 5)).fit(frame).save(tmp_path / "model.huddle")
    model = load(tmp_path / "model.huddle")
    assert model.n_clusters == (2, 5) and list(model.range_labels_) == [2, 3, 4, 5]
    assert list(model.feature_names_in_) == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "width"]])


@pytest.mark.skipif(not TOOL.exists(), reason="the tool was not built")
def test_models_of_the_tool_are_loaded_and_the_other_way_round(blobs, tmp_path):
    X, _ = blobs
    np.save(tmp_path / "x.npy", X)
    subprocess.run([TOOL, "cluster", tmp_path / "x.npy", "-c", "5", "-q", "--save",
                    tmp_path / "tool.huddle", "-o", tmp_path / "labels.npy"], check=True)
    model = load(tmp_path / "tool.huddle")
    assert isinstance(model, SpectralShrunkClustering) and model.n_clusters == 5
    expected = SpectralShrunkClustering(5).fit(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.allclose(model.confidence_, expected.confidence_)
    expected.save(tmp_path / "python.huddle")
    done = subprocess.run([TOOL, "predict", tmp_path / "python.huddle", tmp_path / "x.npy", "-o",
                           tmp_path / "again.npy"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "again.npy").ravel(), model.labels_)


def test_wrong_files_are_refused(blobs, tmp_path):
    KMeans(4).fit(blobs[0]).save(tmp_path / "model.huddle")
    with pytest.raises(ValueError, match="contains a model of KMeans, not SpectralClustering"):
        SpectralClustering.load(tmp_path / "model.huddle")
    (tmp_path / "text").write_text("labels")
    with pytest.raises(ValueError, match="text: this is not a Huddle model"):
        load(tmp_path / "text")
    with pytest.raises(OSError, match="missing"):
        load(tmp_path / "missing")
    with pytest.raises(OSError, match="nowhere"):
        KMeans(4).fit(blobs[0]).save(tmp_path / "nowhere" / "model.huddle")
    with pytest.raises(ValueError, match="not fitted"):
        KMeans(4).save(tmp_path / "unfitted")
    assert not (tmp_path / "unfitted").exists()
