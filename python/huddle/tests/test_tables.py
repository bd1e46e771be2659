"""Tables read by load_file(), and the warning about a feature with nearly all the variance."""
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import huddle
from huddle.datasets import load_file

pandas = pytest.importorskip("pandas")


@pytest.fixture
def iris():
    bunch = load_iris(as_frame=True)
    frame = bunch.data.copy()
    frame["species"] = bunch.target_names[bunch.target]
    return frame


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_row_numbers_are_left_out_with_a_warning(tmp_path, iris, index, shuffled):
    frame = iris.sample(frac=1, random_state=0) if shuffled else iris
    if not index:
        frame = frame.reset_index(names="Id")
    frame.to_csv(tmp_path / "iris.csv", index=index)
    with pytest.warns(UserWarning, match="row numbers"):
        X, y = load_file(tmp_path / "iris.csv")
    assert X.shape == (150, 4)
    np.testing.assert_allclose(X, frame.iloc[:, -5:-1], rtol=1e-6)
    assert list(y) == list(frame.species)
    X, _ = load_file(tmp_path / "iris.csv", x=["1-5"])
    assert X.shape == (150, 5)


def test_label_leak_is_left_out_with_a_warning(tmp_path, iris):
    iris.insert(2, "target", load_iris().target)
    iris.to_csv(tmp_path / "iris.csv", index=False)
    with pytest.warns(UserWarning, match=r"column 3 \(target\) is ignored: it maps one to one"):
        X, _ = load_file(tmp_path / "iris.csv", y="species")
    np.testing.assert_allclose(X, load_iris().data, rtol=1e-6)


def test_decimal_commas_agree_with_pandas(tmp_path, iris):
    iris.to_csv(tmp_path / "iris.csv", index=False, sep=";", decimal=",")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, _ = load_file(tmp_path / "iris.csv")
    np.testing.assert_allclose(X, load_iris().data, rtol=1e-6)


@pytest.mark.parametrize("missing", ["drop", "mean", "median"])
def test_missing_values_agree_with_pandas(tmp_path, iris, missing):
    rng = np.random.default_rng(0)
    for column in iris.columns[:4]:
        iris.loc[rng.choice(150, 12, replace=False), column] = np.nan
    iris.to_csv(tmp_path / "iris.csv", index=False, na_rep="NA")
    with pytest.raises(ValueError, match=r"line \d+, column \d .*missing = \"drop\|mean\|median\""):
        load_file(tmp_path / "iris.csv")
    with pytest.warns(UserWarning, match="missing"):
        X, y = load_file(tmp_path / "iris.csv", missing=missing)
    if missing == "drop":
        expected = iris.dropna()
    else:
        expected = iris.fillna(getattr(iris.iloc[:, :4], missing)())
    np.testing.assert_allclose(X, expected.iloc[:, :4], rtol=1e-6)
    assert list(y) == list(expected.species)


def test_encoded_texts_agree_with_pandas(tmp_path):
    frame = pandas.DataFrame({"a": [1.5, 2, 4, 3], "city": ["P", "R", "P", "Q"],
                              "kind": ["u", "v", "v", "u"]})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    with pytest.raises(ValueError, match=r'with x = \["a"\], or .*encode = true'):
        load_file(tmp_path / "texts.csv")
    X, y = load_file(tmp_path / "texts.csv", encode=True)
    assert y is None
    dummies = pandas.get_dummies(frame, dtype=float)
    dummies.iloc[:, 1:] *= np.sqrt(.5)
    np.testing.assert_allclose(X, dummies, rtol=1e-6)


def test_wine_names_proline():
    X, y = load_wine(return_X_y=True, as_frame=True)
    share = 100 * (X.var() / X.var().sum())["proline"]
    expected = rf"feature 13 \(proline\) holds {share:.1f} % of the variance"
    with pytest.warns(UserWarning, match=expected):
        huddle.KMeans(3, prepare="none").fit(X)
    with pytest.warns(UserWarning, match="feature 13 holds"):
        huddle.KMeans(3, prepare="none").fit(X.to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        huddle.KMeans(3, prepare="standard").fit(X)


@pytest.mark.parametrize("index", [True, False])
def test_names_that_are_numbers_are_a_header(tmp_path, iris, index):
    values = iris.iloc[:, :4].to_numpy()
    pandas.DataFrame(values).to_csv(tmp_path / "iris.csv", index=index)
    with pytest.warns(UserWarning, match="row numbers" if index else r"line 1 \(0, 1, 2, 3\) is taken"):
        data = huddle.read(tmp_path / "iris.csv")
    np.testing.assert_allclose(data.X, values, rtol=1e-6)
    assert data.feature_names == ["0", "1", "2", "3"]


def test_header_can_be_chosen(tmp_path):
    (tmp_path / "table.csv").write_text("5,6\n1,2\n3,4\n")
    assert huddle.read(tmp_path / "table.csv").X.shape == (3, 2)
    assert huddle.read(tmp_path / "table.csv", header="yes").feature_names == ["5", "6"]
    assert load_file(tmp_path / "table.csv", header="yes")[0].shape == (2, 2)
    with pytest.raises(ValueError, match=r"header = None: expected one of auto\|yes\|no"):
        huddle.read(tmp_path / "table.csv", header=None)


def test_texts_that_differ_name_the_rows(tmp_path):
    """Also in few rows, where each would be a class of its own."""
    names = [f"c\u00f4te {i}" for i in range(20)]
    frame = pandas.DataFrame({"country": names, "gdp": np.arange(20) ** 2, "life": np.arange(20) % 7})
    frame.to_csv(tmp_path / "table.csv", index=False)
    with pytest.warns(UserWarning, match=r"column 1 \(country\) names the rows"):
        data = huddle.read(tmp_path / "table.csv")
    assert data.y is None and data.row_names == names
    assert data.feature_names == ["gdp", "life"]
    assert huddle.read(tmp_path / "table.csv", y="country").row_names is None
