"""What users read: suggestions, docstrings, printed lines and the log."""
import inspect
import logging
import re

import numpy as np
import pytest

import huddle
from huddle import KMeans, SpectralShrunkClustering, cluster_path, knn_graph
from huddle._estimators import ESTIMATORS
from huddle._options import method_parameters
from huddle.datasets import make_blobs


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200)[0]


# ---- suggestions -----------------------------------------------------------------------------

@pytest.mark.parametrize("wrong, right", [("n_cluster", "n_clusters"), ("n_neighbours", "n_neighbors"),
                                          ("gama", "gamma"), ("seed", "random_state"),
                                          ("n_threads", "n_jobs"), ("verbos", "verbose")])
def test_wrong_keywords_get_suggestions(wrong, right):
    expected = re.escape(f"'{wrong}'; did you mean '{right}'?")
    with pytest.raises(TypeError, match=r"SpectralShrunkClustering\(\) got an unexpected keyword "
                                        "argument " + expected):
        SpectralShrunkClustering(**{wrong: 3})
    with pytest.raises(ValueError, match=f"Invalid parameter '{wrong}' for estimator "
                                         f"SpectralShrunkClustering; did you mean '{right}'"):
        SpectralShrunkClustering().set_params(**{wrong: 3})


def test_wrong_keywords_of_functions(blobs):
    with pytest.raises(TypeError, match=r"knn_graph\(\) .* 'metrik'; did you mean 'metric'\?"):
        knn_graph(blobs, metrik="cosine")
    with pytest.raises(TypeError, match=r"cluster_path\(\) .* 'n_gama'; did you mean 'n_gamma'\?"):
        cluster_path(blobs, n_gama=3)


def test_unlike_words_get_none():
    with pytest.raises(TypeError, match="unexpected keyword argument 'linkage'$"):
        KMeans(linkage="ward")
    with pytest.raises(ValueError, match="Invalid parameter 'linkage' for estimator KMeans. Valid"):
        KMeans().set_params(linkage="ward")
    with pytest.raises(TypeError, match=r"KMeans\(\): too many positional"):
        KMeans(3, 4)


def test_a_refused_parameter_changes_nothing():
    model = KMeans(3)
    with pytest.raises(ValueError):
        model.set_params(n_clusters=5, n_inits=3)
    assert model.n_clusters == 3


# ---- docstrings ------------------------------------------------------------------------------

PYTHON_TYPE = re.compile(r"(int|float|str|bool|callable|None|RandomState instance|mpi4py.MPI.Comm|"
                         r"range|sequence of float|tuple of \(int, int\)|'auto'|\{'[^{}]*'\})(, | or |$)")


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_types_are_those_of_python(cls):
    section = re.search(r"Parameters\n-+\n(.*?)\n\nAttributes", cls.__doc__, re.S).group(1)
    entries = re.findall(r"^(\w+) : (.*), default=(.*)$", section, re.M)
    assert [name for name, _, _ in entries] == list(inspect.signature(cls).parameters)
    for _, types, _ in entries:
        assert PYTHON_TYPE.sub("", types) == "", types


def test_limits_are_sentences():
    limits = {p.name: p.limits for p in method_parameters("ssc")}
    assert limits["n_neighbors"] == "At least 1." and limits["recall"] == "From 0 to 1."
    assert limits["n_clusters"] == "At least 1." and limits["metric"] == limits["snap"] == ""
    assert "connect : {'auto', 'small'} or bool, default='auto'" in \
        SpectralShrunkClustering.__doc__
    assert "gamma : float or 'auto', default='auto'" in SpectralShrunkClustering.__doc__


@pytest.mark.parametrize("name", ["fit", "predict", "transform", "fit_predict", "fit_transform",
                                  "save", "set_params"])
def test_methods_are_described(name):
    assert len(inspect.getdoc(getattr(KMeans, name))) > 40


# ---- printed lines and the log ---------------------------------------------------------------

def test_verbose(blobs, capsys):
    KMeans(4).fit(blobs)
    assert capsys.readouterr().out == ""
    model = SpectralShrunkClustering((2, 5), verbose=1).fit(blobs)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("huddle ") for line in lines) and len(lines) >= 3
    assert f"200 points, {model.n_clusters_} clusters" in " ".join(lines)
    assert any("prepare: none" in line for line in lines)
    assert any(f"n_clusters: {model.n_clusters_}, chosen by" in line for line in lines)
    model.set_params(verbose=2).fit(np.tile(blobs, (20, 3)) + np.random.default_rng(0).normal(
        size=(4000, 6)))
    assert re.search(r"^huddle +\d+\.\d\d s  \w+ \d+ %$", capsys.readouterr().out, re.M)


def test_verbose_and_progress_are_both_served(blobs, capsys):
    stages = []
    knn_graph(blobs, verbose=2, progress=lambda stage, done, total: stages.append(stage))
    assert "graph" in stages and "graph" in capsys.readouterr().out
    with pytest.raises(huddle.Cancelled):
        KMeans(3, verbose=1, progress=lambda *values: True).fit(np.tile(blobs, (50, 1)))


@pytest.mark.filterwarnings("ignore")
def test_log(caplog):
    noise = np.random.default_rng(0).normal(size=(400, 8))
    with caplog.at_level(logging.INFO, logger="huddle"):
        model = SpectralShrunkClustering(5).fit(noise)
    levels = {record.getMessage(): record for record in caplog.records}
    assert model.warnings_ and all(levels[text].levelno == logging.WARNING
                                   for text in model.warnings_)
    assert [levels[text].code for text in model.warnings_] == model.warning_codes_
    assert model.info_["decision"] in levels
    assert levels[model.info_["decision"]].levelno == logging.INFO


def test_nothing_is_printed_without_handlers():
    logger = logging.getLogger("huddle")
    assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
