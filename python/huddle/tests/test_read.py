"""huddle.read(): what it returns, and HDF5 and MATLAB v7.3 files without HDF5 in the library."""
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import huddle
from huddle import _read
from huddle.datasets import load_file

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 12))
Y = np.arange(30) % 3
WORDS = np.array(["ant", "bee", "cicada"])[Y]


@pytest.fixture(params=["as built", "by h5py"])
def reader(request, monkeypatch):
    """Files are read by the library, if it has HDF5, and by h5py."""
    pytest.importorskip("h5py")
    if request.param == "by h5py":
        monkeypatch.setattr(_read, "_lacks", lambda library: True)


def write_hdf5(path, **arrays):
    import h5py
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            if np.asarray(values).dtype.kind == "U":
                values = np.asarray(values).astype(h5py.string_dtype())
            file[name.replace("__", "/")] = values


def write_mat73(path, variables):
    """As MATLAB does: reversed dimensions, classes as attributes, a header of 512 bytes."""
    import h5py
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, (kind, values) in variables.items():
            if scipy.sparse.issparse(values):
                group = file.create_group(name)
                matrix = scipy.sparse.csc_matrix(values)
                group.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
                for part, numbers in (("data", matrix.data), ("ir", matrix.indices),
                                      ("jc", matrix.indptr)):
                    group[part] = numbers
                item = group
            elif kind == "cell":
                cells = file.require_group("#refs#")
                references = []
                for text in values:
                    units = np.frombuffer(text.encode("utf-16-le"), np.uint16)
                    cell = cells.create_dataset(f"{name}{len(references)}", data=units[:, None])
                    cell.attrs["MATLAB_class"] = np.bytes_("char")
                    references.append(cell.ref)
                item = file.create_dataset(name, data=np.array([references], h5py.ref_dtype))
            else:
                item = file.create_dataset(name, data=np.asarray(values).T)
            item.attrs["MATLAB_class"] = np.bytes_(kind)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def test_a_table(tmp_path):
    (tmp_path / "a.csv").write_text("age,height,class\n30,1.5,a\n40,1.75,b\n50,1.25,a\n")
    data = huddle.read(tmp_path / "a.csv")
    assert data.feature_names == ["age", "height"] and data.names == ["age", "height", "class"]
    assert data.format == "csv" and data.image_shape is None and data.images is None
    assert data.dropped.size == 0
    X, y = data
    assert X.tolist() == [[30, 1.5], [40, 1.75], [50, 1.25]] and y.tolist() == ["a", "b", "a"]
    for a, b in zip(load_file(tmp_path / "a.csv"), data):
        assert np.array_equal(a, b)


def test_dropped_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    with pytest.warns(UserWarning, match="missing") as issued:
        data = huddle.read(tmp_path / "a.csv", missing="drop")
    assert data.X.tolist() == [[1, 2], [5, 6]] and data.dropped.tolist() == [1]
    assert {warning.filename for warning in issued} == {__file__}
    with pytest.warns(UserWarning, match="missing") as issued:
        load_file(tmp_path / "a.csv", missing="drop")
    assert {warning.filename for warning in issued} == {__file__}


def test_matlab_v5_and_numpy(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"fea": X, "gnd": Y[:, None] + 1})
    np.savez(tmp_path / "a.npz", X=X.astype(np.float32), y=Y + 1)
    for name, form in (("a.mat", "mat"), ("a.npz", "npz")):
        data = huddle.read(tmp_path / name)
        np.testing.assert_allclose(data.X, X, rtol=1e-6)
        assert data.format == form and np.array_equal(data.y, Y + 1)


@pytest.mark.usefixtures("reader")
def test_hdf5(tmp_path):
    write_hdf5(tmp_path / "a.h5", X=X, y=Y, other=np.arange(4))
    data = huddle.read(tmp_path / "a.h5")
    np.testing.assert_allclose(data.X, X, rtol=1e-6)
    assert np.array_equal(data.y, Y) and data.format == "hdf5"
    assert sorted(data.names) == ["X", "other", "y"]


@pytest.mark.usefixtures("reader")
def test_hdf5_groups_and_texts(tmp_path):
    write_hdf5(tmp_path / "a.h5", train__data=X[:20], train__target=WORDS[:20],
               test__data=X[20:], test__target=WORDS[20:])
    with pytest.raises(ValueError, match=r"a\.h5: ambiguous: 'test/data' or 'train/data'") as error:
        huddle.read(tmp_path / "a.h5")
    assert str(tmp_path / "a.h5") in str(error.value) and "copy" not in str(error.value)
    data = huddle.read(tmp_path / "a.h5", x=["train/data", "test/data"],
                       y=["train/target", "test/target"])
    np.testing.assert_allclose(data.X, X, rtol=1e-6)
    assert np.array_equal(data.y, WORDS)


@pytest.mark.usefixtures("reader")
def test_hdf5_images(tmp_path):
    cube = np.arange(5 * 3 * 4, dtype=np.float16).reshape(5, 3, 4)
    flags = np.arange(5) % 2 == 0
    write_hdf5(tmp_path / "a.h5", images=cube, flags=flags)
    data = huddle.read(tmp_path / "a.h5", y="flags")
    assert np.array_equal(data.y, flags)
    assert data.image_shape == (3, 4) and data.image_order == "C"
    assert np.array_equal(data.images, cube) and np.array_equal(data.X, cube.reshape(5, 12))


@pytest.mark.usefixtures("reader")
def test_matlab_v73(tmp_path):
    write_mat73(tmp_path / "a.mat", {"fea": ("double", X), "gnd": ("uint8", Y[:, None] + 1),
                                     "half": ("", X.astype(np.float16))})
    data = huddle.read(tmp_path / "a.mat")
    np.testing.assert_allclose(data.X, X, rtol=1e-6)
    assert np.array_equal(data.y, Y + 1) and data.format == "mat"
    assert data.names == ["fea", "gnd", "half"]
    half = huddle.read(tmp_path / "a.mat", x="half", y="none")
    assert np.array_equal(half.X, X.astype(np.float16)) and half.y is None


@pytest.mark.usefixtures("reader")
def test_matlab_v73_sparse_cells_and_columns(tmp_path):
    sparse = scipy.sparse.random(30, 9, .3, random_state=0)
    write_mat73(tmp_path / "a.mat", {"X": ("double", sparse), "names": ("cell", WORDS)})
    data = huddle.read(tmp_path / "a.mat", y="names")
    assert abs(data.X - sparse).max() < 1e-6 and np.array_equal(data.y, WORDS)
    # As many labels as columns: the samples are columns.
    write_mat73(tmp_path / "b.mat", {"X": ("single", X.T.astype(np.float32)),
                                     "gnd": ("double", Y[:, None] * 1.)})
    data = huddle.read(tmp_path / "b.mat")
    assert np.array_equal(data.X, X.astype(np.float32)) and np.array_equal(data.y, Y)


def test_colour_images(tmp_path):
    cube = np.arange(2 * 3 * 4 * 3, dtype="uint8").reshape(2, 3, 4, 3)
    np.save(tmp_path / "a.npy", cube)
    data = huddle.read(tmp_path / "a.npy")
    assert data.image_shape == (3, 4, 3) and np.array_equal(data.images, cube)
    np.save(tmp_path / "b.npy", cube.transpose(0, 3, 1, 2).reshape(2, -1))
    data = huddle.read(tmp_path / "b.npy", image="3x3x4")
    assert data.image_shape == (3, 3, 4)
    assert np.array_equal(data.images, cube.transpose(0, 3, 1, 2))
    data = huddle.read(tmp_path / "a.npy", image="none")
    assert data.image_shape is None


@pytest.mark.usefixtures("reader")
def test_matlab_v73_images_run_down_columns(tmp_path):
    faces = RNG.integers(0, 255, (6, 3, 4)).astype(np.uint8)
    rows = np.array([face.ravel("F") for face in faces])
    write_mat73(tmp_path / "a.mat", {"X": ("uint8", rows), "im_height": ("double", [[3.]]),
                                     "im_width": ("double", [[4.]])})
    data = huddle.read(tmp_path / "a.mat")
    assert data.image_shape == (3, 4) and data.image_order == "F"
    assert np.array_equal(data.images, faces)


@pytest.mark.usefixtures("reader")
def test_damaged_hdf5(tmp_path):
    write_hdf5(tmp_path / "a.h5", X=X)
    whole = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(whole[:600])
    with pytest.raises(ValueError, match=r"a\.h5: "):
        huddle.read(tmp_path / "a.h5")


def test_h5py_is_named_if_it_is_missing(tmp_path, monkeypatch):
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.delitem(sys.modules, "huddle._hdf5", raising=False)
    monkeypatch.delattr(huddle, "_hdf5", raising=False)
    monkeypatch.setattr(_read, "_lacks", lambda library: True)
    with pytest.raises(ImportError, match=r"a\.h5: .*h5py.*: pip install h5py"):
        huddle.read(tmp_path / "a.h5")


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(OSError, match="nowhere.csv"):
        huddle.read(tmp_path / "nowhere.csv")
