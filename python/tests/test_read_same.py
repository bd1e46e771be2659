"""h5py and the library read the same from the files that the C tests read."""
import pathlib
import warnings

import numpy as np
import pytest
import scipy.sparse

import huddle
from huddle import _read

pytest.importorskip("h5py")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
KINDS = GOLDEN / "io_v73_kinds.mat"
pytestmark = pytest.mark.skipif(_read._lacks("HDF5"), reason="the library has no HDF5")


def selections():
    """All files as they are, and each variable of one as points and as labels."""
    for path in sorted([*GOLDEN.glob("io_*.h5"), *GOLDEN.glob("io_v73*.mat")]):
        yield path, {}
    for name in huddle.read(KINDS).names if not _read._lacks("HDF5") else []:
        yield KINDS, {"x": name}
        yield KINDS, {"x": "double", "y": name}
    yield GOLDEN / "io_nested.h5", {"x": ["test/data", "train/data"],
                                    "y": ["test/target", "train/target"]}


def outcome(path, options):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            found = huddle.read(path, **options)
        except (ValueError, NotImplementedError) as error:
            return error, issued
    return found, issued


def assert_same(a, b):
    if scipy.sparse.issparse(a):
        assert scipy.sparse.issparse(b) and a.dtype == b.dtype and (a != b).nnz == 0
    elif a is None:
        assert b is None
    else:
        assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("path, options", selections(),
                         ids=lambda value: getattr(value, "name", str(value)))
def test_same(path, options, monkeypatch):
    expected, warned = outcome(path, options)
    monkeypatch.setattr(_read, "_lacks", lambda library: True)
    found, warned_again = outcome(path, options)
    if isinstance(expected, Exception):
        # The words differ where a file of another format cannot express the same.
        assert isinstance(found, Exception) and str(found).startswith(f"{path}: ")
        return
    assert_same(expected.X, found.X)
    assert_same(expected.y, found.y)
    for name in ("feature_names", "names", "image_shape", "image_order", "format"):
        assert getattr(found, name) == getattr(expected, name), name
    assert [str(w.message) for w in warned_again] == [str(w.message) for w in warned]
