"""Several views of the same points."""
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import huddle
from huddle import (KMeans, RobustMultiviewSpectralClustering, SpectralClustering,
                    SpectralShrunkClustering)
from huddle.datasets import load_digits
from huddle.metrics import accuracy, nmi


def fourier(X):
    """Return the magnitudes of the 34 lowest coefficients of 8 x 8 images, which shifts preserve."""
    spectrum = np.abs(np.fft.fft2(X.reshape(-1, 8, 8)))
    low = [(a, b) for a in range(5) for b in range(8) if a not in (0, 4) or b <= 4]
    return np.stack([spectrum[:, a, b] for a, b in low], axis=1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits()
    return [X, fourier(X)], y


def test_pixels_and_spectra_together_are_better_than_each(digits):
    views, y = digits
    scores = np.array([[accuracy(y, SpectralClustering(10, random_state=seed).fit(X).labels_)
                        for X in [*views, views]] for seed in range(3)])
    pixels, spectra, both = scores.mean(axis=0)
    assert both > max(pixels, spectra) + .01
    assert scores[:, 2].min() > scores[:, :2].min(axis=0).max() + .02


def test_shrunk(digits):
    views, y = digits
    model = SpectralShrunkClustering(10).fit(views)
    for X in views:
        alone = SpectralShrunkClustering(10).fit(X)
        for score in (accuracy, nmi):
            assert score(y, model.labels_) > score(y, alone.labels_) + .01


@pytest.mark.parametrize("refine", ["auto", "none"])
def test_training_points_and_new_ones(digits, refine):
    views, y = digits
    model = SpectralClustering(10, refine=refine).fit([X[::2] for X in views])
    assert (model.predict([X[::2] for X in views]) == model.labels_).all()
    predicted = model.predict([X[1::2] for X in views])
    assert accuracy(y[1::2], predicted) > accuracy(y[::2], model.labels_) - .05
    some = model.predict(tuple(X[101:121:2] for X in views))
    assert (some == predicted[50:60]).all()
    assert model.transform([X[:4:2] for X in views]).shape == (2, 10)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict([X[1::2] for X in views]) == predicted).all()


def test_loaded(digits, tmp_path):
    views, _ = digits
    views = [X[:300] for X in views]
    model = SpectralShrunkClustering(10, view_weights=(2, 1)).fit(views)
    model.save(tmp_path / "model")
    loaded = huddle.load(tmp_path / "model")
    assert (loaded.labels_ == model.labels_).all()
    np.testing.assert_allclose(loaded.view_weights_, [2 / 3, 1 / 3])
    assert (loaded.predict(views) == model.labels_).all()
    with pytest.raises(ValueError, match="X has 1 view, but .* is expecting 2 views as input"):
        loaded.predict(views[0])


def test_weights(digits):
    views, _ = digits
    views = [X[:300] for X in views]
    auto = SpectralClustering(10).fit(views)
    scores = np.array([view["score"] for view in auto.info_["views"]])
    np.testing.assert_allclose(auto.view_weights_, scores**4 / (scores**4).sum())
    assert [view["d"] for view in auto.info_["views"]] == [64, 34]
    for weights in ([3, 1], (3, 1), "3,1", np.array([3., 1])):
        model = SpectralClustering(10, view_weights=weights).fit(views)
        np.testing.assert_allclose(model.view_weights_, [.75, .25])
    np.testing.assert_allclose(clone(model).set_params(view_weights="equal").fit(views)
                               .view_weights_, [.5, .5])


@pytest.mark.filterwarnings("error:elementwise comparison")  # an error of later versions of NumPy
def test_weights_beside_a_preset(digits):
    views = [X[:100] for X in digits[0]]
    for weights in ([3, 1], (3, 1), "3,1", np.array([3., 1])):
        model = SpectralShrunkClustering(5, preset="published", n_init=2, view_weights=weights)
        np.testing.assert_allclose(model.fit(views).view_weights_, [.75, .25])


def test_one_view_is_points(digits):
    X = digits[0][0][:200]
    alone = SpectralClustering(5).fit(X)
    for given in ([X], (X,)):
        model = SpectralClustering(5).fit(given)
        assert (model.labels_ == alone.labels_).all()
        assert model.view_weights_ is None
        assert (model.predict(X) == model.labels_).all()


def test_nested_lists_are_one_matrix():
    rows = [[0., 1], [0, 1.1], [5, 5], [5, 5.1]]
    for given in (rows, tuple(rows), [np.array(row) for row in rows], np.array(rows).tolist()):
        model = SpectralClustering(2).fit(given)
        assert model.n_features_in_ == 2
        assert list(model.labels_) == [0, 0, 1, 1]


def test_sparse_frames_and_single_precision(digits):
    pandas = pytest.importorskip("pandas")
    views = [X[:300] for X in digits[0]]
    labels = SpectralClustering(10).fit(views).labels_
    frame = pandas.DataFrame(views[0], columns=[f"p{j}" for j in range(64)])
    other = SpectralClustering(10).fit([frame, scipy.sparse.csr_matrix(views[1])])
    assert list(other.feature_names_in_) == list(frame.columns)
    assert accuracy(labels, other.labels_) > .9
    single = SpectralClustering(10).fit([X.astype(np.float32) for X in views])
    assert accuracy(labels, single.labels_) > .9


def test_what_is_wrong_is_named(digits):
    X, F = (X[:100] for X in digits[0])
    fitted = SpectralClustering(5).fit([X, F])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SpectralClustering(5).fit([X, F[1:]])
    with pytest.raises(NotImplementedError, match="method kmeans takes one view of the points"):
        KMeans(5).fit([X, F])
    with pytest.raises(ValueError, match="X has 64 features, but SpectralClustering is expecting"):
        SpectralClustering(5).fit([F, X]).predict([X, F])
    with pytest.raises(ValueError, match="View 2 of X has 64 features, but SpectralClustering"):
        fitted.predict([X, X])
    with pytest.raises(ValueError, match="X has 3 views, but .* is expecting 2 views"):
        fitted.predict([X, F, F])
    with pytest.raises(ValueError, match="view 2 contains NaN"):
        SpectralClustering(5).fit([X, np.where(F > 1, F, np.nan)])
    with pytest.raises(ValueError, match="view_weights has 3 numbers for 2 views"):
        SpectralClustering(5, view_weights=[1, 2, 3]).fit([X, F])
    with pytest.raises(ValueError, match="affinity = 'precomputed' takes one matrix"):
        SpectralClustering(5, affinity="precomputed").fit([X @ X.T, F @ F.T])
    with pytest.raises(ValueError, match="X has 1 view, but SpectralClustering is expecting 2"):
        fitted.predict(X)
    with pytest.raises(ValueError, match="X has 2 views, but SpectralClustering is expecting 1 view"):
        SpectralClustering(5).fit(X).predict([X, F])


def test_a_failed_fit_leaves_the_estimator(digits):
    X, F = (X[:100] for X in digits[0])
    model = SpectralClustering(5).fit([X, F])
    labels = model.labels_
    with pytest.raises(ValueError):
        model.set_params(view_weights=[0, 0]).fit([X, F])
    assert (model.predict([X, F]) == labels).all()


def test_chain_of_views(digits):
    views, y = digits
    X, y = views[0][:300], y[:300]
    views = [X, np.random.default_rng(0).standard_normal((len(y), 20))]
    model = RobustMultiviewSpectralClustering(10).fit(views)
    mean = SpectralClustering(10, refine="none", view_weights="equal").fit(views)
    assert nmi(y, model.labels_) > nmi(y, mean.labels_) + .1
    assert (model.predict(views) == model.labels_).all()
    assert model.info_["alternation"]["stop"] == "converged"
    assert model.info_["alternation"]["objective"] <= 1e-5
    assert [view["weight"] for view in model.info_["views"]] == pytest.approx([1 / 2] * 2)
