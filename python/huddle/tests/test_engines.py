"""The parameter engine of estimators and functions."""
import numpy as np
import pytest

import huddle
from huddle._estimators import ESTIMATORS
from huddle.datasets import make_blobs

CALLS = [lambda X, engine: huddle.knn_graph(X, 5, engine=engine),
         lambda X, engine: huddle.spectral_embedding(huddle.knn_graph(X, 5), 3, engine=engine),
         lambda X, engine: huddle.shrink(X, huddle.knn_graph(X, 5), engine=engine),
         lambda X, engine: huddle.cluster_path(X, 3, n_gamma=4, engine=engine),
         lambda X, engine: huddle.cluster_path(F=X, W=huddle.knn_graph(X, 5), n_gamma=4,
                                               engine=engine)]


@pytest.fixture(scope="module")
def points():
    return make_blobs(60)[0]


def test_engines_are_listed():
    assert huddle.engines()[0][0] == "cpu"
    assert all(name and summary for name, summary in huddle.engines())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_estimator_takes_an_engine(estimator, points):
    assert estimator().get_params()["engine"] == "cpu"
    with pytest.raises(ValueError, match="engine = 'abacus': expected one of cpu"):
        estimator(3, engine="abacus").fit(points)


@pytest.mark.parametrize("call", CALLS)
def test_every_function_takes_an_engine(call, points):
    call(points, "cpu")
    with pytest.raises(ValueError, match="engine = 'abacus': expected one of cpu"):
        call(points, "abacus")


@pytest.mark.parametrize("wrong", ["", "CPU", None, 3, ":cpu"])
def test_wrong_names_are_refused(wrong, points):
    with pytest.raises(ValueError, match="expected one of cpu"):
        huddle.KMeans(3, engine=wrong).fit(points)


def test_options_are_passed_to_the_engine(points):
    with pytest.raises(ValueError, match="engine 'cpu' takes no options, but 'fast' was given"):
        huddle.KMeans(3, engine="cpu:fast").fit(points)


def test_predicting_uses_the_engine(points):
    fitted = huddle.KMeans(3).fit(points)
    labels = fitted.predict(points)
    np.testing.assert_array_equal(fitted.set_params(engine="cpu").predict(points), labels)
    with pytest.raises(ValueError, match="expected one of cpu"):
        fitted.set_params(engine="abacus").predict(points)


def test_reporting_uses_the_engine(points, tmp_path):
    fitted = huddle.KMeans(3).fit(points)
    huddle.report(fitted.set_params(engine="cpu"), tmp_path / "page.html")
    with pytest.raises(ValueError, match="expected one of cpu"):
        huddle.report(fitted.set_params(engine="abacus"), tmp_path / "page.html")
