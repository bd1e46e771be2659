#!/usr/bin/python3
"""Statements of the paper on spectral shrunk clustering, checked with NumPy and SciPy.

    PATH=build:$PATH examples/paper.py STATEMENT ...

docs/paper.md says which statement of the paper each of these checks:

    indicator  the columns of F = Y (Y'Y)^(-1/2)
    graph      A, F and W of `--preset published` beside those of NumPy and SciPy
    neighbors  do neighbours in X and in F belong to the same class?
    trace      tr(G'LG) and the double sum over all pairs
    convex     both models between two random points
    lemma      the inequality behind the proof
    descent    the derived iteration: does the objective rise? Over unordered pairs, and as the double sum
    printed    the algorithm as listed
    starts     other starts, and the embedding as a start
    published  the iteration of the tool beside that of NumPy
    metrics    ACC and both formulas of NMI beside the scores of the tool
    tables     the paper's observations beside its own tables

What the tool computes is that of `huddle cluster digits --per-class 10 --preset published`; the rest is
written out here and calls nothing of Huddle. The printed lines are stable, so that a test can compare them.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_matrix, csc_matrix, diags, identity, load_npz
from scipy.sparse.linalg import splu

DATA = "digits", "--per-class", "10"  # 100 points
GAMMA, EPSILON, STEPS, NEIGHBORS = 1.0, 1e-12, 60, 5
ROOT = pathlib.Path(__file__).resolve().parents[1]
random = np.random.default_rng(0)


def fit(*options):
    """F, W and the other matrices of the tool, and its JSON output."""
    with tempfile.TemporaryDirectory() as folder:
        text = subprocess.run(["huddle", "cluster", *DATA, "--preset", "published", *options, "--json",
                               "-q", "--dump", folder], check=True, capture_output=True).stdout
        arrays = {path.stem: np.load(path) if path.suffix == ".npy" else load_npz(path).tocsr()
                  for path in pathlib.Path(folder).iterdir()}
    return arrays, json.loads(text)


def problem(rows="sym"):
    """F, and the unordered pairs of W: i, j, weight."""
    arrays, _ = fit("--rows", rows, "--n-init", "1", "--shrink-max-iter", "1")
    W = arrays["W"].tocoo()
    once = W.row < W.col
    return arrays["F"], W.row[once], W.col[once], W.data[once]


def lengths(rows):
    return np.linalg.norm(rows, axis=1)


def objective(G, F, i, j, w, pairs=1, squared=False):
    """The final model, or with the squared loss the first; each pair counted once or twice."""
    loss = (np.square(G - F)).sum() if squared else lengths(G - F).sum()
    return loss + pairs * GAMMA * (w * lengths(G[i] - G[j])).sum()


def reweighted(G, i, j, w):
    """W~, symmetric, and its degrees."""
    n = len(G)
    values = w / (2 * np.maximum(lengths(G[i] - G[j]), EPSILON))
    half = coo_matrix((values, (i, j)), (n, n))
    tilde = (half + half.T).tocsc()
    return tilde, np.asarray(tilde.sum(axis=1)).ravel()


def iterate(F, i, j, w, G, steps, printed=False):
    """G_0, G_1, ... of the derived iteration, or of the algorithm as it is listed."""
    yield G
    fixed = reweighted(G, i, j, w)[0]
    for _ in range(steps):
        s = 1 / (2 * np.maximum(lengths(G - F), EPSILON))
        tilde, degrees = reweighted(G, i, j, w)
        matrix = fixed if printed else diags(degrees) - tilde
        G = splu(csc_matrix(diags(s) + GAMMA * matrix)).solve(s[:, None] * F)
        yield G


def rises(values):
    """In how many steps a value rises by more than rounding: systems have entries up to 1e12."""
    values = np.array(values)
    count = int((np.diff(values) > 1e-6 * values[1:]).sum())
    return "in no step" if count == 0 else "in few steps" if count < 10 else "in many steps"


def indicator():
    labels = random.integers(0, 4, 50)
    Y = np.eye(4)[labels]
    F = Y @ np.diag(np.diag(Y.T @ Y) ** -.5)
    columns = all(np.allclose(F[labels == k, k], 1 / np.sqrt((labels == k).sum())) for k in range(4))
    print("F'F = I:", np.allclose(F.T @ F, np.eye(4)), " entries 1 / sqrt(n_j):", columns)


def neighbor_weights(rows, delta):
    """exp(-d^2 / delta^2) where one of the pair is among the nearest of the other."""
    square = np.square(rows).sum(axis=1)
    distance = np.maximum(square[:, None] + square[None] - 2 * rows @ rows.T, 0)
    if rows.shape[1] < 20:  # short rows: without the cancellation above
        distance = sum(np.square(column[:, None] - column[None]) for column in rows.T)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :NEIGHBORS]
    linked = np.zeros(distance.shape, bool)
    np.put_along_axis(linked, near, True, axis=1)
    linked |= linked.T
    return np.where(linked, np.exp(-np.minimum(distance / delta**2, 20)), 0)


def graph():
    arrays, _ = fit("--delta", "20", "--shrink-delta", "0.01", "--n-init", "1", "--shrink-max-iter", "1",
                    "--tol", "1e-9")
    A = neighbor_weights(arrays["X"].astype(float), 20)
    print("A is that of NumPy:", np.allclose(A, arrays["A"].toarray(), atol=1e-6))
    root = A.sum(axis=1) ** -.5
    values, vectors = np.linalg.eigh(np.eye(len(A)) - root[:, None] * A * root)
    F = arrays["F"]
    left = F - vectors[:, :10] @ (vectors[:, :10].T @ F)
    print("F spans the first eigenvectors of L_n:", np.abs(left).max() < 1e-6)
    W, ours = neighbor_weights(F, .01), arrays["W"].toarray()
    differ = int((np.abs(W - ours) > 1e-6).sum())
    print("W is that of NumPy:", differ <= .001 * (ours > 0).sum())


def known_classes():
    classes = np.loadtxt(ROOT / "data" / "digits.csv", delimiter=",", usecols=-1).astype(int)
    return classes[np.sort(np.concatenate([np.flatnonzero(classes == k)[:10] for k in range(10)]))]


def neighbors():
    arrays, _ = fit("--n-init", "1", "--shrink-max-iter", "1")
    truth, share = known_classes(), {}
    for name in ("A", "W"):
        graph = arrays[name].tocoo()
        share[name] = (truth[graph.row] == truth[graph.col]).mean()
    print("neighbours of one class are", "fewer" if share["W"] < share["A"] else "more", "in F than in X")
    print("(share {A:.2f} in X, {W:.2f} in F)".format(**share))


def trace():
    F, i, j, w = problem()
    G = random.standard_normal(F.shape)
    tilde, degrees = reweighted(G, i, j, w)
    form = (G * (degrees[:, None] * G - tilde @ G)).sum()
    double = 2 * (w / (2 * lengths(G[i] - G[j])) * np.square(G[i] - G[j]).sum(axis=1)).sum()
    print(f"tr(G'LG) / double sum: {form / double:.6f}")


def convex():
    F, i, j, w = problem()
    for squared in (True, False):
        worst = -np.inf
        for _ in range(200):
            a, b, t = random.standard_normal(F.shape), random.standard_normal(F.shape), random.random()
            between = objective(t * a + (1 - t) * b, F, i, j, w, squared=squared)
            chord = t * objective(a, F, i, j, w, squared=squared)
            chord += (1 - t) * objective(b, F, i, j, w, squared=squared)
            worst = max(worst, between - chord)
        print("squared loss" if squared else "l21 loss", "never above the chord:", worst <= 0)


def lemma():
    g, at = random.standard_normal((2, 100000, 3)) * 10. ** random.integers(-6, 7, (2, 100000, 1))
    a, b = lengths(g), lengths(at)
    left, right = a - a**2 / (2 * b), b / 2
    print("violated:", int((left > right + 1e-12 * (np.abs(left) + right)).sum()), "of 100000")


def descend(rows, printed=False):
    F, i, j, w = problem(rows)
    path = list(iterate(F, i, j, w, random.standard_normal(F.shape), STEPS, printed))
    return [[objective(G, F, i, j, w, pairs) for G in path] for pairs in (1, 2)]


def descent():
    for rows in ("sym", "unit"):
        once, twice = descend(rows)
        print(f"rows {rows}: over unordered pairs it rises {rises(once)}, as the double sum {rises(twice)}")


def printed():
    for rows in ("sym", "unit"):
        once, (derived, _) = descend(rows, True)[0], descend(rows)
        print(f"rows {rows}: it rises {rises(once)} and ends {'far above' if once[-1] > 1.2 * derived[-1] else 'at'}",
              "what the derived iteration reaches")


def starts():
    F, i, j, w = problem()
    ends = []
    for _ in range(3):
        *_, G = iterate(F, i, j, w, random.standard_normal(F.shape), 4 * STEPS)
        ends.append(objective(G, F, i, j, w))
    print("three random starts end within 0.1 %:", max(ends) <= 1.001 * min(ends))
    few, many = (objective(list(iterate(F, i, j, w, F, steps))[-1], F, i, j, w) / min(ends)
                 for steps in (10, 8 * STEPS))
    print("from the embedding, after 10 steps:", "as at the start," if few > 1.1 else "descended,",
          f"after {8 * STEPS}:", "at the same value" if many < 1.001 else "above")


def published():
    arrays, result = fit("--n-init", "1")
    F, W = arrays["F"], arrays["W"].tocoo()
    once = W.row < W.col
    i, j, w = W.row[once], W.col[once], W.data[once]
    *_, G = iterate(F, i, j, w, random.standard_normal(F.shape), 200)
    ours, tool = objective(G, F, i, j, w), result["shrink"]["objective"]
    print("the tool and NumPy agree within its gap:",
          abs(tool - ours) <= result["shrink"]["gap"] * tool, " G of the tool has its objective:",
          np.isclose(objective(arrays["G"], F, i, j, w), tool, rtol=1e-6))


def metrics():
    arrays, result = fit("--n-init", "1")
    truth, labels = known_classes(), arrays["labels"]
    table = np.zeros((10, 10))
    np.add.at(table, (truth, labels), 1)
    n, rows, columns = len(truth), table.sum(axis=1), table.sum(axis=0)
    acc = table[linear_sum_assignment(-table)].sum() / n
    ratio = np.where(table > 0, n * table / np.outer(rows, columns), 1)
    entropies = [-(size / n * np.log(size / n)).sum() for size in (rows, columns)]
    first = (table / n * np.log(ratio)).sum() / np.sqrt(np.prod(entropies))
    second = (table * np.log(ratio)).sum()
    second /= np.sqrt((rows * np.log(rows / n)).sum() * (columns * np.log(columns / n)).sum())
    print("ACC agrees:", np.isclose(acc, result["scores"]["acc"]), " NMI agrees:",
          np.isclose(first, result["scores"]["nmi"]), " both formulas:", np.isclose(first, second))


def tables():
    """The published numbers are in the sources of the tool."""
    text = (ROOT / "experiment" / "paper" / "published.c").read_text()
    methods = re.findall(r'"([a-z-]+)"', re.search(r"paper_methods\[.*?};", text, re.S).group())
    sets = re.findall(r'^    {"(\w+)"', text, re.M)
    claims = [("1: spectral above its K-means", [("sc", "kmeans"), ("pca-sc", "pca-kmeans"), ("lda-sc", "lda-kmeans"),
                                                 ("llc", "kmeans"), ("spls", "kmeans"), ("ssc", "kmeans")]),
              ("2: reduction helps", [("pca-kmeans", "kmeans"), ("lda-kmeans", "kmeans"), ("pca-sc", "sc"),
                                      ("lda-sc", "sc")]),
              ("3: LDA above PCA", [("lda-kmeans", "pca-kmeans"), ("lda-sc", "pca-sc")]),
              ("4: LLC above SC", [("llc", "sc")]),
              ("5: SPLS second", [("spls", name) for name in methods[:7]]),
              ("6: SSC first", [("ssc", name) for name in methods[:8]])]
    for claim, pairs in claims:
        against = []
        for metric in ("acc", "nmi"):
            body = re.search(rf"paper_{metric}\[.*?\n}};", text, re.S).group()
            numbers = dict(zip(methods, ([float(x) for x in re.findall(r"{([\d.]+),", line)]
                                         for line in body.split("\n")[1:])))
            against += sorted({f"{metric.upper()} {name}" for better, worse in pairs
                               for k, name in enumerate(sets) if numbers[better][k] < numbers[worse][k]})
        print(f"{claim}: not on {', '.join(against) or 'none'}")


STATEMENTS = {f.__name__: f for f in (indicator, graph, neighbors, trace, convex, lemma, descent, printed, starts,
                                      published, metrics, tables)}


def main():
    names = sys.argv[1:]
    if not names or any(name not in STATEMENTS for name in names):
        print(f"{__doc__}\nexpected one or more of {', '.join(STATEMENTS)}", file=sys.stderr)
        return 2
    for name in names:
        STATEMENTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
