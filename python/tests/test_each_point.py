"""Confidence and silhouette of each point, and other attributes that are computed on access."""
import copy
import json
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import sklearn.metrics

from huddle import (KMeans, LandmarkSpectralClustering, SpectralClustering,
                    SpectralShrunkClustering, load, metrics)
from huddle._estimators import ESTIMATORS
from huddle.datasets import load_digits, make_blobs

TOOL = pathlib.Path(os.environ.get("HUDDLE_LIBRARY", "build/x")).parent / "huddle"


@pytest.fixture(scope="module")
def digits():
    return load_digits()[0][:600]


def expected_confidence(rows, labels):
    """By the definition, with all distances."""
    rows = np.asarray(rows, np.float64)
    present = np.unique(labels)
    means = np.array([rows[labels == k].mean(axis=0) for k in present])
    distance = np.linalg.norm(rows[:, None] - means[None], axis=2)
    own = present[None] == labels[:, None]
    a, b = distance[own], np.where(own, np.inf, distance).min(axis=1)
    return np.maximum(0, 1 - a / b)


# ---- confidence ------------------------------------------------------------------------------

@pytest.mark.parametrize("refine", ["none", "graph"])
def test_confidence_of_shrunk_rows(digits, refine):
    model = SpectralShrunkClustering(10, refine=refine, guard=False).fit(digits)
    assert np.allclose(model.confidence_, expected_confidence(model.shrunk_, model.labels_),
                       atol=1e-4)
    assert model.confidence_ is model.confidence_  # computed once


def test_confidence_of_embedded_rows(digits):
    model = SpectralClustering(10, refine="graph").fit(digits)
    assert np.allclose(model.confidence_, expected_confidence(model.embedding_, model.labels_),
                       atol=1e-4)


def test_confidence_of_points(digits):
    for X in (digits, digits.astype(np.float64) + 1e4, scipy.sparse.csr_matrix(digits)):
        model = KMeans(10).fit(X)
        assert np.allclose(model.confidence_, expected_confidence(digits, model.labels_),
                           atol=1e-4)


def test_confidence_is_low_where_labels_are_wrong():
    X, y = load_digits()
    model = SpectralShrunkClustering(10).fit(X)
    names = dict(zip(*_matched(y, model.labels_)))
    right = np.array([names[label] for label in model.labels_]) == y
    assert sklearn.metrics.roc_auc_score(right, model.confidence_) > .85


def _matched(y, labels):
    from scipy.optimize import linear_sum_assignment
    table = sklearn.metrics.cluster.contingency_matrix(y, labels)
    classes, clusters = linear_sum_assignment(-table)
    return clusters, classes


def test_a_new_fit_discards_what_was_computed(digits):
    model = KMeans(5).fit(digits)
    before = model.confidence_, model.silhouette_samples_, model.info_
    model.set_params(n_clusters=6).fit(digits[:300])
    assert model.confidence_.shape == model.silhouette_samples_.shape == (300,)
    assert model.info_["n_clusters"] == 6 and before[2]["n_clusters"] == 5


def test_showing_an_estimator_computes_nothing(digits):
    model = SpectralClustering(10).fit(digits)
    before = set(vars(model))
    model._repr_html_()
    assert set(vars(model)) == before
    listed = set(dir(model))
    assert {"confidence_", "silhouette_samples_", "embedding_", "predict"} <= listed
    assert "shrunk_" not in listed and set(vars(model)) == before
    assert "confidence_" not in dir(SpectralClustering(10))
    model.embedding_
    html = model._repr_html_()
    if hasattr(sklearn.base.BaseEstimator, "_get_fitted_attr_html"):
        assert "embedding_" in html and "silhouette_samples_" not in html


def test_before_a_fit_there_is_none():
    for name in ("confidence_", "silhouette_samples_", "info_", "range_labels_", "embedding_"):
        with pytest.raises(AttributeError, match=f"{name} before fit"):
            getattr(SpectralClustering(3), name)


# ---- silhouettes -----------------------------------------------------------------------------

@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_silhouettes_agree_with_scikit_learn(digits, make):
    labels = np.random.default_rng(0).integers(0, 12, len(digits))
    expected = sklearn.metrics.silhouette_samples(digits.astype(np.float64), labels)
    assert np.allclose(metrics.silhouette_samples(make(digits), labels), expected, atol=1e-6)
    named = np.array([f"cluster {label}" for label in labels])
    assert np.allclose(metrics.silhouette_samples(make(digits), named), expected, atol=1e-6)
    with pytest.raises(ValueError, match="labels has 3 values, but X has 600 points"):
        metrics.silhouette_samples(make(digits), [1, 2, 3])


@pytest.mark.parametrize("cls", [KMeans, SpectralClustering, LandmarkSpectralClustering])
def test_silhouettes_of_a_fit(digits, cls):
    X = np.vstack([digits, np.repeat(digits[:3], 20, axis=0)])  # equal rows are merged
    model = cls(8, prepare="none").fit(X)
    expected = sklearn.metrics.silhouette_samples(X.astype(np.float64), model.labels_)
    assert np.allclose(model.silhouette_samples_, expected, atol=1e-6)
    assert np.isclose(model.info_["internal"]["silhouette"], expected.mean(), atol=1e-6)


def test_no_matrix_of_all_pairs():
    """12,000 points have 1.1 GB of distances; the process grows by a few MB."""
    script = """
import resource
import numpy as np
from huddle import metrics
X = np.random.default_rng(0).normal(size=(12000, 2)).astype(np.float32)
labels = (X[:, 0] > 0).astype(np.int32)
metrics.silhouette_samples(X[:500], labels[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
values = metrics.silhouette_samples(X, labels)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, values.mean() > .2)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    grown, separated = done.stdout.split()
    assert int(grown) < 60_000 and separated == "True"  # kB


# ---- pickles, ranges, reports ----------------------------------------------------------------

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_pickles_keep_what_was_computed(cls, tmp_path):
    X, _ = make_blobs(200)
    model = cls(4).fit(X)
    late = pickle.loads(pickle.dumps(model))  # nothing was computed yet
    confidence = model.confidence_
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.confidence_, confidence)
    model.save(tmp_path / "model.huddle")
    for twin in (late, load(tmp_path / "model.huddle")):
        if hasattr(twin, "confidence_"):
            assert np.allclose(twin.confidence_, confidence)
        else:
            assert "embedding_" not in cls._attributes
            with pytest.raises(AttributeError, match="needs the points of the fit"):
                twin.confidence_


def test_given_graphs_have_confidence_but_no_silhouettes(digits):
    A = SpectralClustering(10).fit(digits).affinity_matrix_
    model = SpectralClustering(10, affinity="precomputed").fit(A)
    assert model.confidence_.shape == (600,)
    with pytest.raises(AttributeError, match="needs points, and X was not"):
        model.silhouette_samples_
    assert model.info_["internal"]["silhouette"] is None and model.info_["internal"]["ncut"] > 0


@pytest.mark.parametrize("cls", [KMeans, SpectralShrunkClustering])
def test_labels_of_each_number_of_a_range(digits, cls):
    model = cls(range(3, 7)).fit(digits)
    assert list(model.range_labels_) == [3, 4, 5, 6]
    for count, labels in model.range_labels_.items():
        assert labels.shape == (600,) and len(np.unique(labels)) == count
    assert np.array_equal(model.range_labels_[model.n_clusters_], model.labels_)
    assert not hasattr(cls(4).fit(digits), "range_labels_")


def _without_numbers(value):
    """The keys of nested dicts and the lengths of lists."""
    if isinstance(value, dict):
        return {key: _without_numbers(item) for key, item in value.items()}
    return len(value) if isinstance(value, list) else type(value).__name__


@pytest.mark.skipif(not TOOL.exists(), reason="the tool was not built")
@pytest.mark.parametrize("clusters", ["10", "3-5"])
def test_info_is_what_the_tool_prints(digits, clusters, tmp_path):
    np.save(tmp_path / "x.npy", digits)
    done = subprocess.run([TOOL, "cluster", tmp_path / "x.npy", "-c", clusters, "--json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    assert expected.pop("file") == str(tmp_path / "x.npy")
    assert {expected["seconds"].pop(name) > 0 for name in ("read", "score")} == {True}
    info = SpectralShrunkClustering(clusters).fit(digits).info_
    assert _without_numbers(info) == _without_numbers(expected)
    for name in ("n", "d", "n_clusters", "method", "options", "sizes", "medoids", "warnings",
                 "internal"):
        assert info[name] == expected[name], name
    assert np.isclose(info["confidence"]["mean"], expected["confidence"]["mean"])
    assert np.allclose(info["confidence"]["clusters"], expected["confidence"]["clusters"])
