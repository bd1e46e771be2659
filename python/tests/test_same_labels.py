"""Python, the tool and C return the same labels for the same data and seed."""
import io
import json
import os
import pathlib
import shutil
import subprocess
import zipfile

import numpy as np
import pytest

from huddle import _library, datasets, load
from huddle._estimators import ESTIMATORS
from huddle._model import Model
from huddle.datasets import load_digits

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_tool():
    """Find the tool: $HUDDLE_TOOL, beside the library, in bin/ beside its folder, or on the PATH."""
    folder = pathlib.Path(_library.library_path).absolute().parent
    for place in (os.environ.get("HUDDLE_TOOL"), folder / "huddle", folder.parent / "bin" / "huddle",
                  shutil.which("huddle")):
        if place is not None and os.access(place, os.X_OK):
            return str(place)
    pytest.skip("the tool was not found; set HUDDLE_TOOL to its path")


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "points.npy"
    rng = np.random.default_rng(0)
    X, _ = load_digits()
    np.save(path, X[:500] + rng.normal(0, .3, (500, 64)))
    return path


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("program") / "labels"
    subprocess.run(["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", f"-I{ROOT / 'include'}",
                    str(pathlib.Path(__file__).parent / "labels.c"), _library.library_path,
                    datasets._io_library()._name,
                    f"-Wl,-rpath,{pathlib.Path(_library.library_path).parent}", "-o", str(program)],
                   check=True)
    return program


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_same_labels(estimator, seed, points, c_program, tmp_path):
    X = np.load(points)
    here = estimator(6, random_state=seed).fit(X).labels_
    subprocess.run([find_tool(), "cluster", str(points), "-m", estimator._method, "-c", "6",
                    "--seed", str(seed), "-o", str(tmp_path / "labels.npy"), "--quiet"], check=True)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), here)
    words = subprocess.run([str(c_program), str(points), estimator._method, "6", str(seed)],
                           check=True, capture_output=True, text=True).stdout.split()
    assert np.array_equal(np.array(words, np.int32), here)


@pytest.fixture(scope="module")
def saved_model(points, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    subprocess.run([find_tool(), "cluster", str(points), "-c", "6", "--save", str(path), "--quiet"],
                   check=True)
    return path


def test_a_model_saved_by_the_tool_predicts_the_same(points, saved_model):
    X = np.load(points)
    here = ESTIMATORS[0](6).fit(X)
    there = Model.load(saved_model)
    assert np.array_equal(there.predict(_library.Context(), X[:50] + .1), here.predict(X[:50] + .1))


def test_model_files_are_archives_that_numpy_opens(points, saved_model):
    here = ESTIMATORS[0](6).fit(np.load(points))
    for file in (saved_model, io.BytesIO(here._model.__getstate__()["file"])):
        with np.load(file) as arrays:
            stored = [arrays[name] for name in arrays.files if not name.endswith(".json")]
        assert any(np.array_equal(array.ravel(), here.labels_) for array in stored)


def test_other_model_files_are_refused(tmp_path):
    (tmp_path / "model").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
    with pytest.raises((ValueError, NotImplementedError), match="model"):
        Model.load(tmp_path / "model")


@pytest.mark.parametrize("member, wrong", [("options", "[]"), ("kmeans", "true"), ("shrink", "3")])
def test_a_report_of_another_form_is_an_error(member, wrong, saved_model, tmp_path):
    """What Python alone reads of a model file is refused with the name of the file."""
    crafted = tmp_path / "crafted.huddle"
    with zipfile.ZipFile(saved_model) as old, zipfile.ZipFile(crafted, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "model.json":
                document = json.loads(content)
                document["report"][member] = json.loads(wrong)
                content = json.dumps(document, indent=1).encode()
            new.writestr(name, content)
    with pytest.raises(ValueError, match="crafted.huddle.*damaged"):
        load(crafted)
