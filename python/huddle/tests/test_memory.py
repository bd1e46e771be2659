"""Memory: arrays that are not copied, and limits."""
import numpy as np
import pytest

import huddle
from huddle import KMeans, SpectralShrunkClustering
from huddle._library import Context, byte_count
from huddle._points import PointsView
from huddle.datasets import make_blobs


def test_a_mapped_array_is_passed_without_a_copy(tmp_path):
    X, _ = make_blobs(500)
    np.save(tmp_path / "points.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    validated = KMeans(3)._validate(mapped, reset=True)
    assert np.shares_memory(validated, mapped)
    view = PointsView(Context(), validated)
    assert view.keep[0].ctypes.data == mapped.ctypes.data and not view._owned
    labels = KMeans(3).fit_predict(mapped)
    np.testing.assert_array_equal(labels, KMeans(3).fit_predict(X.astype(np.float32)))


@pytest.mark.parametrize("text, count", [("500M", 500 << 20), ("4G", 4 << 30), ("1.5 KB", 1536),
                                         (4096, 4096), (np.int64(7), 7)])
def test_amounts_of_memory(text, count):
    assert byte_count(text) == count


@pytest.mark.parametrize("wrong", ["much", "", -1, 0, 1.5, True, [4]])
def test_invalid_limits_are_refused(wrong):
    X, _ = make_blobs(50)
    with pytest.raises(ValueError, match="memory = "):
        KMeans(3, memory=wrong).fit(X)


def test_a_fit_that_needs_more_is_refused():
    X, _ = make_blobs(2000)
    with pytest.raises(MemoryError, match="the fit would need about .* but it may use"):
        SpectralShrunkClustering(5, memory="1M").fit(X)
    model = SpectralShrunkClustering(5, memory="100G").fit(X)
    memory = model.info_["memory"]
    assert memory["predicted"] <= memory["limit"] and memory["leaner"] == []
    assert huddle.KMeans(3).get_params()["memory"] is None
