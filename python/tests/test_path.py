"""The tree of a path: linkage matrix, cuts and dendrograms."""
import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.metrics import adjusted_rand_score

from huddle import cluster_path
from huddle.datasets import load_digits, make_blobs


@pytest.fixture(scope="module")
def path():
    return cluster_path(make_blobs(150)[0], 5, n_gamma=20)


def test_linkage_is_valid_for_scipy(path):
    assert hierarchy.is_valid_linkage(path.linkage, throw=True)
    assert hierarchy.is_monotonic(path.linkage)
    top = path.linkage[-1]
    assert path.linkage.shape == (149, 4) and top[3] == 150
    assert set(path.linkage[:, 2]) - {10 * path.gammas[-1]} <= set(path.gammas)


def test_cuts_have_the_number_of_clusters(path):
    for count in (1, 2, 5, 40, 150):
        labels = path.cut(count)
        assert labels.dtype == np.int32 and set(labels) == set(range(count))
        assert list(dict.fromkeys(labels)) == list(range(count))  # in the order of their points
    finer, coarser = path.cut(20), path.cut(6)
    assert all(len(set(coarser[finer == k])) == 1 for k in range(20))


def test_cuts_at_gamma_are_the_groups(path):
    for level, gamma in enumerate(path.gammas):
        labels = path.cut(gamma=gamma)
        assert adjusted_rand_score(labels, path.groups[level]) == 1
        expected = hierarchy.fcluster(path.linkage, gamma, "distance")
        assert adjusted_rand_score(labels, expected) == 1
    assert len(set(path.cut(gamma=0))) == 150


@pytest.mark.parametrize("arguments", [{}, {"n_clusters": 3, "gamma": 1.0}, {"n_clusters": 0},
                                       {"n_clusters": 151}])
def test_wrong_cuts_are_refused(path, arguments):
    with pytest.raises(ValueError, match=r"either n_clusters or gamma|outside \[1, 150\]"):
        path.cut(**arguments)


def test_dendrogram(path):
    pytest.importorskip("matplotlib").use("agg")
    ax = path.dendrogram()
    low, high = ax.get_ylim()
    assert ax.get_yscale() == "log" and 0 < low < high and ax.get_ylabel() == "gamma"
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert 2 <= len(names) <= 60
    shown = sum(int(name[1:-1]) if name.startswith("(") else 1 for name in names)
    text = ax.get_xlabel()
    assert shown + (int(text.split()[0]) if text else 0) == 150
    with pytest.raises(ValueError, match="max_leaves = 1"):
        path.dendrogram(max_leaves=1)


def test_small_trees_are_drawn_whole():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot
    small = cluster_path(make_blobs(30)[0], 3, n_gamma=10)
    ax = pyplot.subplots()[1]
    assert small.dendrogram(ax) is ax
    names = {label.get_text() for label in ax.get_xticklabels()}
    assert names == {str(k) for k in range(30)}


def test_many_trees():
    pytest.importorskip("matplotlib").use("agg")
    path = cluster_path(load_digits()[0][:500], 10, n_gamma=12)
    ax = path.dendrogram(max_leaves=20)
    assert len(ax.get_xticklabels()) <= 20
    # More than the bars that join the trees.
    heights = {round(y, 6) for line in ax.collections for part in line.get_segments()
               for y in part[:, 1]}
    assert len(heights - {0}) > 3
