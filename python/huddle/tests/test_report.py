"""report(): the page of a fitted model, written without fitting again and without the tool."""
import base64
import html
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from huddle import KMeans, SpectralClustering, SpectralShrunkClustering, _library, knn_graph, report
from huddle.datasets import load_digits
from huddle.metrics import accuracy


def page_of(path):
    """The data of a page."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def block(page, kind):
    return next(block for section in page["sections"] for block in section["blocks"]
                if block["kind"] == kind)


def shown_labels(page):
    """Labels of the sampled points by their index; all points if there are at most 50000."""
    points = page["shared"]["points"]
    index, label = (np.frombuffer(base64.b64decode(points[name]), "<i4")
                    for name in ("index", "label"))
    labels = np.empty(points["total"], np.int32)
    labels[index] = label
    return labels


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits()
    return X, y, SpectralShrunkClustering(10, random_state=3).fit(X)


def test_page_shows_the_fitted_labels(tmp_path, digits):
    X, y, model = digits
    report(model, tmp_path / "page.html", X, y)
    page = page_of(tmp_path / "page.html")
    assert np.array_equal(shown_labels(page), model.labels_)
    summary = block(page, "summary")["report"]
    assert summary["scores"]["acc"] == pytest.approx(accuracy(y, model.labels_), abs=1e-6)
    assert summary["options"]["seed"] == 3
    assert {view["name"] for view in block(page, "views")["views"]} == {"X", "F", "G"}
    assert len(block(page, "path")["levels"]) > 10


def test_names_of_features_and_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    values = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(8, 1, (30, 2))])
    frame = pandas.DataFrame(values, columns=["width", "height"],
                             index=[f"flower {i}" for i in range(60)])
    model = KMeans(2, random_state=0).fit(frame)
    report(model, tmp_path / "page.html", frame)
    page = page_of(tmp_path / "page.html")
    points = page["shared"]["points"]
    index = np.frombuffer(base64.b64decode(points["index"]), "<i4")
    assert points["names"] == [f"flower {i}" for i in index]
    rows = {row["name"]: row for row in block(page, "features")["rows"]}
    assert set(rows) == {"width", "height"}
    assert rows["width"]["means"] == pytest.approx(
        [values[model.labels_ == k, 0].mean() for k in range(2)], rel=1e-5)


def test_names_of_rows_can_be_given(tmp_path):
    X = np.random.default_rng(3).normal(size=(30, 2))
    model = KMeans(2, random_state=0).fit(X)
    report(model, tmp_path / "page.html", names=[f"town {i}" for i in range(30)])
    points = page_of(tmp_path / "page.html")["shared"]["points"]
    index = np.frombuffer(base64.b64decode(points["index"]), "<i4")
    assert points["names"] == [f"town {i}" for i in index]
    with pytest.raises(ValueError, match="names has 3 values, but the model was fitted to 30 points"):
        report(model, tmp_path / "page.html", names=["a", "b", "c"])


def test_no_second_fit(tmp_path):
    """Without a seed of its own a second fit would find other labels, and would report its stages."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6))
    stages = []
    model = KMeans(12, n_init=1, random_state=None,
                   progress=lambda stage, done, total: stages.append(stage)).fit(X)
    others = [KMeans(12, n_init=1, random_state=None).fit(X).labels_ for _ in range(3)]
    assert any(not np.array_equal(model.labels_, other) for other in others)
    assert "kmeans" in stages
    stages.clear()
    report(model, tmp_path / "page.html")
    assert np.array_equal(shown_labels(page_of(tmp_path / "page.html")), model.labels_)
    assert stages and not {"graph", "embed", "kmeans"} & set(stages)


def test_title_source_and_file_name(tmp_path, digits, monkeypatch):
    model = digits[2]
    monkeypatch.chdir(tmp_path)
    report(model, "a page.html", title="Digits & <b>friends</b>", source="digits.csv",
           follow_path=False)
    assert os.listdir(tmp_path) == ["a page.html"]
    text = (tmp_path / "a page.html").read_text()
    assert f"<title>{html.escape('Digits & <b>friends</b>').replace('&gt;', '>')} " in text
    page = page_of(tmp_path / "a page.html")
    assert page["title"] == "Digits & <b>friends</b>"
    assert page["subtitle"] == "clustering of digits.csv"
    assert block(page, "summary")["report"]["file"] == "digits.csv"
    assert not any(section["id"] == "path" for section in page["sections"])
    report(model, "b.html", source="digits.csv", follow_path=False)
    assert page_of(tmp_path / "b.html")["title"] == "digits.csv"
    report(model, "c.html", follow_path=False)
    assert page_of(tmp_path / "c.html")["title"] == "spectral shrunk clustering"


def test_commands_are_python(tmp_path, digits):
    report(digits[2], tmp_path / "page.html", follow_path=False)
    given, full = (line["text"] for line in block(page_of(tmp_path / "page.html"),
                                                  "command")["commands"])
    assert given == "SpectralShrunkClustering(n_clusters=10, random_state=3)"
    again = eval(full).fit(digits[0])  # the text is an expression that makes the estimator
    assert np.array_equal(again.labels_, digits[2].labels_)


def test_classes_are_scored_and_named(tmp_path, digits):
    X, y, model = digits
    names = np.array([f"digit {k}" for k in range(10)])[y]
    report(model, tmp_path / "page.html", y=names, follow_path=False)
    page = page_of(tmp_path / "page.html")
    assert block(page, "summary")["report"]["scores"]["acc"] == pytest.approx(
        accuracy(y, model.labels_), abs=1e-6)
    assert set(block(page, "confusion")["classes"]) == set(names)
    assert page["shared"]["points"]["classes"] == sorted(set(names))
    report(model, tmp_path / "page.html", follow_path=False)
    assert "scores" not in block(page_of(tmp_path / "page.html"), "summary")["report"]


def test_images(tmp_path, digits):
    X, y, model = digits
    report(model, tmp_path / "page.html", image_shape=(8, 8), follow_path=False)
    page = page_of(tmp_path / "page.html")
    assert len(block(page, "sheet")["rows"]) == 10
    assert (page["shared"]["points"]["thumbs"]["height"], len(X)) == (8, 1797)
    with pytest.raises(ValueError, match="8 x 9 pixels"):
        report(model, tmp_path / "other.html", image_shape=(8, 9))
    for shape in (8, (8,), (8, 8, 1)):
        with pytest.raises(ValueError, match="image_shape = .*expected .height, width"):
            report(model, tmp_path / "other.html", image_shape=shape)
    with pytest.raises(ValueError, match="image_order = 'A'"):
        report(model, tmp_path / "other.html", image_shape=(8, 8), image_order="A")
    assert not (tmp_path / "other.html").exists()


def test_images_down_columns(tmp_path, digits):
    X, _, model = digits
    drawn = {}
    for order in "CF":
        report(model, tmp_path / "page.html", image_shape=(8, 8), image_order=order,
               follow_path=False)
        thumbs = page_of(tmp_path / "page.html")["shared"]["points"]["thumbs"]
        drawn[order] = np.frombuffer(base64.b64decode(thumbs["data"]), "uint8").reshape(-1, 8, 8)
    assert (drawn["F"] == drawn["C"].swapaxes(1, 2)).all() and (drawn["F"] != drawn["C"]).any()


def test_colour_images(tmp_path):
    rng = np.random.default_rng(0)
    colours = np.array([[0, 100, 255], [255, 50, 0]])[np.arange(40) % 2]
    X = np.tile(colours, 16) + rng.integers(0, 3, (40, 48))
    model = SpectralShrunkClustering(n_clusters=2, random_state=0).fit(X)
    report(model, tmp_path / "page.html", image_shape=(4, 4, 3), follow_path=False)
    thumbs = page_of(tmp_path / "page.html")["shared"]["points"]["thumbs"]
    assert (thumbs["height"], thumbs["width"], thumbs["channels"]) == (4, 4, 3)
    drawn = np.frombuffer(base64.b64decode(thumbs["data"]), "uint8").reshape(-1, 16, 3)
    means = np.unique(np.round(drawn.mean(axis=1) / 64).astype(int), axis=0)
    assert means.tolist() == [[0, 2, 4], [4, 1, 0]]
    with pytest.raises(ValueError, match="do not fit"):
        report(model, tmp_path / "page.html", image_shape=(4, 6), follow_path=False)


def test_pickled_model(tmp_path, digits):
    X, y, model = digits
    loaded = pickle.loads(pickle.dumps(model))
    report(loaded, tmp_path / "page.html", y=y)
    page = page_of(tmp_path / "page.html")
    assert np.array_equal(shown_labels(page), model.labels_)
    assert "sheet" not in [b["kind"] for s in page["sections"] for b in s["blocks"]]
    report(loaded, tmp_path / "page.html", X, y, image_shape=(8, 8), follow_path=False)
    assert block(page_of(tmp_path / "page.html"), "sheet")


def test_sparse_points_and_graphs(tmp_path):
    X, y = load_digits()
    X = scipy.sparse.csr_matrix(X[:300])
    model = KMeans(4).fit(X)
    report(model, tmp_path / "page.html")
    assert block(page_of(tmp_path / "page.html"), "views")
    A = knn_graph(X)
    report(SpectralClustering(4, affinity="precomputed").fit(A), tmp_path / "page.html", A, y[:300])
    views = block(page_of(tmp_path / "page.html"), "views")["views"]
    assert [view["name"] for view in views] == ["F"]


def test_wrong_arguments(tmp_path, digits):
    X, y, model = digits
    page = tmp_path / "page.html"
    with pytest.raises(ValueError, match="not what the model was fitted to"):
        report(model, page, X[::-1])
    with pytest.raises(ValueError, match="y has 5 values"):
        report(model, page, y=y[:5])
    loaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="300 points, but the model was fitted to 1797"):
        report(loaded, page, X[:300])
    with pytest.raises(OSError, match="absent"):
        report(model, tmp_path / "absent" / "page.html", follow_path=False)
    assert os.listdir(tmp_path) == []


def test_cancelled(tmp_path, digits):
    X = digits[0]
    model = SpectralShrunkClustering(10).fit(X)
    model.progress = lambda stage, done, total: True
    with pytest.raises(_library.Cancelled):
        report(model, tmp_path / "page.html")
    assert os.listdir(tmp_path) == []


def test_without_the_tool(tmp_path):
    """With an empty PATH and no tool beside the library."""
    folder = tmp_path / "lib"
    folder.mkdir()
    build = os.path.dirname(os.path.realpath(_library.library_path))
    if os.path.basename(os.path.dirname(build)) == "native":
        pytest.skip("the libraries of a wheel find others relative to where they are")
    for name in os.listdir(build):
        if re.fullmatch(r"libhuddle.*\.so.*", name):
            os.symlink(os.path.join(build, name), folder / name)
    code = ("import sys, huddle, numpy as np\n"
            "X = np.random.default_rng(0).normal(size=(60, 3))\n"
            "huddle.report(huddle.KMeans(3).fit(X), sys.argv[1])\n")
    environment = {**os.environ, "PATH": "", "PYTHONPATH": os.pathsep.join(sys.path),
                   "HUDDLE_LIBRARY": str(folder / os.path.basename(_library.library_path))}
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "page.html")], text=True,
                         capture_output=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert block(page_of(tmp_path / "page.html"), "clusters")


def test_relative_library_after_chdir(tmp_path):
    """The other libraries are found although the working folder is another one by then."""
    code = ("import os, sys, huddle, numpy as np\n"
            "os.chdir(sys.argv[1])\n"
            "huddle.datasets.make_moons(20)\n"
            "X = np.random.default_rng(0).normal(size=(60, 3))\n"
            "huddle.report(huddle.KMeans(3).fit(X), 'page.html')\n")
    folder, name = os.path.split(os.path.realpath(_library.library_path))
    paths = [os.path.abspath(path) for path in sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths),
                   "HUDDLE_LIBRARY": os.path.join(os.curdir, name)}
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], text=True, cwd=folder,
                         capture_output=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert block(page_of(tmp_path / "page.html"), "clusters")


def test_planes_of_colour_images_look_like_pixels_side_by_side(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (60, 5, 4, 3)).astype(np.float32)
    drawn = []
    for rows, shape in ((images, (5, 4, 3)), (images.transpose(0, 3, 1, 2), (3, 5, 4))):
        model = KMeans(2).fit(rows.reshape(60, -1))
        report(model, tmp_path / "page.html", image_shape=shape)
        points = page_of(tmp_path / "page.html")["shared"]["points"]
        order = np.frombuffer(base64.b64decode(points["index"]), "int32")
        thumbs = np.frombuffer(base64.b64decode(points["thumbs"]["data"]), "uint8")
        drawn.append(thumbs.reshape(60, -1)[np.argsort(order)])
    assert np.array_equal(*drawn)
