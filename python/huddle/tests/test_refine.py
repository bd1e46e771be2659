"""Refinement of labels on a graph, and the scores of labels on a graph."""
import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import huddle
from huddle import SpectralClustering, drop_in, knn_graph, refine
from huddle.datasets import make_blobs
from huddle.metrics import accuracy, graph_scores


def two_groups(size=6, bridge=.1):
    """Two complete graphs that one weak edge joins, and their labels."""
    A = np.kron(np.eye(2), np.ones((size, size)) - np.eye(size))
    A[size - 1, size] = A[size, size - 1] = bridge
    return A, np.repeat([0, 1], size)


def scores_by_definition(A, labels):
    """The formulas of docs/method.md, term by term."""
    A = np.asarray(A.todense() if scipy.sparse.issparse(A) else A)
    onehot = np.eye(labels.max() + 1)[labels]
    M = onehot.T @ A @ onehot / A.sum()
    v, d, p = M.sum(0), np.diag(M), A.sum(0) / A.sum()
    f, s, q = d.sum(), (v ** 2).sum(), v - d

    def h(x):
        x = np.asarray(x, float)
        return np.sum(np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0))
    return {"inside": f, "expected": s,
            "divergence": f * np.log(f / s) + (1 - f) * np.log((1 - f) / (1 - s)),
            "information": h(M) - 2 * h(v), "map": h(q.sum()) - 2 * h(q) + h(q + v),
            "entropy": -h(p), "modularity": f - s, "ncut": (q / v).sum()}


def test_graph_scores_are_those_of_the_definition():
    X, y = make_blobs(300)
    A = knn_graph(X)
    labels = np.where(np.arange(300) % 11 == 0, (y + 1) % 5, y)
    found, expected = graph_scores(A, labels), scores_by_definition(A, labels)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-10), name
    assert graph_scores(A.toarray(), [f"class {k}" for k in labels]) == pytest.approx(found)


def test_moves_restore_the_groups():
    A, truth = two_groups()
    wrong = truth.copy()
    wrong[[0, 7]] = 1 - wrong[[0, 7]]
    for graph in (A, scipy.sparse.csr_matrix(A), scipy.sparse.coo_matrix(A), A.tolist()):
        labels = refine(graph, wrong)
        assert labels.dtype == np.int32 and np.array_equal(labels, truth)


def test_labels_of_any_type_keep_the_order_of_their_values():
    A, truth = two_groups()
    wrong = truth.copy()
    wrong[0] = 1
    assert np.array_equal(refine(A, np.array(["no", "yes"])[wrong]), truth)
    assert np.array_equal(refine(A, 70 - 10 * wrong), 1 - truth)
    assert np.array_equal(refine(A, wrong.astype(float)), truth)
    assert np.array_equal(refine(A, wrong.reshape(-1, 1)), truth)


def test_info_describes_every_start():
    A, truth = two_groups()
    wrong = truth.copy()
    wrong[0] = 1
    labels, info = refine(A, {"mine": wrong, "theirs": truth}, return_info=True)
    assert np.array_equal(labels, truth)
    assert info["n_clusters"] == 2 and info["n_changed"] == 1 and info["seconds"] >= 0
    assert info["before"] == graph_scores(A, wrong)
    names = [trial["start"] for trial in info["trials"]]
    assert names[:2] == ["mine", "theirs"] and len(names) > 2 and info["best"] in names
    best = info["trials"][names.index(info["best"])]
    assert best["allowed"] and best["n_sweeps"] >= 1
    for name, value in graph_scores(A, labels).items():
        assert best[name] == pytest.approx(value, abs=1e-12)
    _, info = refine(A, [wrong, truth], merge=False, return_info=True)
    assert [trial["start"] for trial in info["trials"]] == ["start0", "start1"]
    _, info = refine(A, wrong, merge=False, return_info=True)
    assert [trial["start"] for trial in info["trials"]] == ["labels"]


def test_n_clusters_merges():
    A, truth = two_groups()
    four = 2 * truth + np.arange(len(truth)) % 2
    labels, info = refine(A, four, n_clusters=2, return_info=True)
    assert accuracy(truth, labels) == 1 and info["n_clusters"] == 2


def test_refining_improves_spectral_labels():
    X, y = make_blobs(400)
    model = SpectralClustering(5).fit(X)
    A = model.affinity_matrix_
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(400) < .2, (model.labels_ + 1) % 5, model.labels_)
    labels, info = refine(A, noisy, return_info=True)
    assert accuracy(y, labels) > accuracy(y, noisy) + .1
    best = next(t for t in info["trials"] if t["start"] == info["best"])
    assert best["map"] < info["before"]["map"] and best["modularity"] > info["before"]["modularity"]
    assert np.array_equal(labels, refine(A, noisy, n_jobs=1))


@pytest.mark.parametrize("objective", ["map", "modularity", "ncut"])
def test_objectives(objective):
    A, truth = two_groups()
    wrong = truth.copy()
    wrong[0] = 1
    assert np.array_equal(refine(A, wrong, objective=objective, merge=False), truth)


def test_options_are_keywords():
    names = list(inspect.signature(refine).parameters)
    assert names[:4] == ["A", "labels", "n_clusters", "return_info"]
    assert {"objective", "merge", "max_sweeps", "cut_slack", "least_gain", "random_state"} < {*names}
    assert "seed" not in names and "refine" in huddle.__all__
    A, truth = two_groups()
    with pytest.raises(TypeError, match="nonsense"):
        refine(A, truth, nonsense=1)
    with pytest.raises(ValueError, match="objective.*cuts"):
        refine(A, truth, objective="cuts")


@pytest.mark.parametrize("change, message", [
    (lambda A, y: (A[:, :-1], y), "A must be square, not 12 x 11"),
    (lambda A, y: (A, y[:-1]), "labels has 11 values, but the graph has 12 vertices"),
    (lambda A, y: (A, {"mine": y, "theirs": y[1:]}), "theirs has 11 values"),
    (lambda A, y: (A, np.zeros((12, 2))), "labels must have one dimension"),
    (lambda A, y: (A, {}), "at least one start"),
    (lambda A, y: (-A, y), "negative"),
])
def test_bad_arguments_are_refused(change, message):
    A, labels = change(*two_groups())
    with pytest.raises(ValueError, match=message):
        refine(A, labels)


def test_bad_numbers_of_clusters_are_refused():
    A, truth = two_groups()
    for n_clusters in (0, -1, -3, 3):
        with pytest.raises(ValueError, match="clusters"):
            refine(A, truth, n_clusters=n_clusters)


def test_graph_scores_refuse_what_is_no_graph():
    A, truth = two_groups()
    with pytest.raises(ValueError, match="square"):
        graph_scores(A[:5], truth[:5])
    with pytest.raises(ValueError, match="12 vertices"):
        graph_scores(A, truth[:5])
    with pytest.raises(ValueError, match="negative"):
        graph_scores(-A, truth)


def _neighbour_graph():
    """A graph of neighbours as scikit-learn makes it: not symmetric."""
    X, y = make_blobs(60, random_state=1)
    return kneighbors_graph(X, 5), y


@pytest.mark.parametrize("dense", [False, True])
def test_graphs_that_are_not_symmetric_are_averaged_everywhere(dense):
    A, y = _neighbour_graph()
    symmetric = (A + A.T) / 2
    assert abs(A - A.T).sum() > 0
    if dense:
        A, symmetric = A.toarray(), symmetric.toarray()
    with pytest.warns(UserWarning, match=r"not symmetric .* \(A \+ A'\)/2"):
        assert graph_scores(A, y) == graph_scores(symmetric, y)
    with pytest.warns(UserWarning, match="not symmetric") as caught:
        labels, info = refine(A, y, return_info=True)
    assert len(caught) == 1 and caught[0].filename == __file__
    expected, expected_info = refine(symmetric, y, return_info=True)
    np.testing.assert_array_equal(labels, expected)
    assert info["before"] == expected_info["before"]
    with pytest.warns(UserWarning, match="not symmetric"):
        model = SpectralClustering(5, affinity="precomputed", random_state=0).fit(A)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), scipy.sparse.csr_matrix(symmetric).toarray())


@pytest.mark.parametrize("dense", [False, True])
def test_the_stages_average_too(dense):
    A, _ = _neighbour_graph()
    symmetric = (A + A.T) / 2
    F = np.random.default_rng(0).normal(size=(A.shape[0], 2))
    if dense:
        A, symmetric = A.toarray(), symmetric.toarray()
    with pytest.warns(UserWarning, match=r"not symmetric .* \(A \+ A'\)/2") as caught:
        eigenvalues = huddle.spectral_embedding(A, 3, random_state=0, return_eigenvalues=True)[1]
    assert caught[0].filename == __file__
    expected = huddle.spectral_embedding(symmetric, 3, random_state=0, return_eigenvalues=True)[1]
    np.testing.assert_allclose(eigenvalues, expected)
    with pytest.warns(UserWarning, match="the graph is not symmetric"):
        shrunk = huddle.shrink(F, A, 1.0)
    np.testing.assert_allclose(shrunk.G, huddle.shrink(F, symmetric, 1.0).G)


def test_distances_that_are_not_symmetric_are_averaged():
    X, _ = make_blobs(60, random_state=1)
    D = pairwise_distances(X)
    D = D * np.random.default_rng(0).uniform(1, 2, size=D.shape)
    with pytest.warns(UserWarning, match="the distances are not symmetric .* is used"):
        model = SpectralClustering(3, affinity="distances", random_state=0).fit(D)
    expected = SpectralClustering(3, affinity="distances", random_state=0).fit((D + D.T) / 2)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray())
    half = scipy.sparse.csr_matrix(np.triu(D))
    with pytest.raises(ValueError, match="needs all of them"):  # a half is not made the whole
        SpectralClustering(3, affinity="distances").fit(half)


def test_a_symmetric_graph_raises_no_warning():
    A, y = _neighbour_graph()
    A = (A + A.T).toarray()
    A *= 1 + 1e-12 * np.random.default_rng(0).uniform(size=A.shape)  # rounding
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph_scores(A, y)
        refine(A, y)


def test_the_drop_in_averages_as_scikit_learn_does():
    A, _ = _neighbour_graph()
    with pytest.warns(UserWarning, match="not symmetric"):
        ours = drop_in.SpectralClustering(5, affinity="precomputed", random_state=0).fit(A)
    with pytest.warns(UserWarning, match="not symmetric"):
        theirs = sklearn.cluster.SpectralClustering(5, affinity="precomputed", random_state=0).fit(A)
    assert accuracy(theirs.labels_, ours.labels_) == 1
    assert (ours.affinity_matrix_ != theirs.affinity_matrix_).nnz == 0
