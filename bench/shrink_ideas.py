#!/usr/bin/env python3
"""Does the shrink step improve labels that are refined on the graph? A study, not a benchmark of speed.

    HUDDLE_DATA=FOLDER bench/shrink_ideas.py [--sets ORL,UMIST] [--cache FILE] [...]

Every data set of $HUDDLE_DATA and the embedded digits are clustered by several starts, each improved by
moving single vertices so that the map equation decreases; the best is accepted as in the library. The
starts of the baseline are K-means on the embedding (sc), on the shrunk embedding (ssc) and on commute
rows (cm), and clusters made by merging (sum, ml1, ml2, mlT). The ideas add starts that use the shrink
step in other ways, or change its graph:

    a   K-means on shrunk commute rows, gamma chosen by the number of groups
    b   merging that begins with the groups of equal rows of G instead of single points
    c   the tree of fusions along the path, cut at c (or at 8c, then merged by levels)
    d   edges weighted by the number of preparations whose neighbour graph has them
    e   the baseline without the shrink step

Classes are only used to score the result; the number of clusters is given. Sets of more than --rows
points are sampled, another sample for each seed; --first-seed 10 --share .8 gives samples of all sets
that no rule was looked at on. Needs numba besides the package.
"""
import argparse
import collections
import heapq
import json
import os
import pathlib
import sys
import time
import warnings

import numba
import numpy as np
import scipy.sparse as sp

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import huddle  # noqa: E402
from huddle.datasets import load_digits, load_file  # noqa: E402
from huddle.metrics import accuracy, nmi  # noqa: E402

warnings.simplefilter("ignore")
PREPARATIONS = ["none", "unit", "center-rows", "center-columns", "pca:20", "pca:40", "whiten:20",
                "whiten:40", "whiten:80", "whiten:150"]
SETS = {"ORL": {}, "UMIST": {}, "BinAlpha36": dict(classes="11-36", per_class=30), "YaleB": {},
        "USPS": dict(x=["train/data", "test/data"], y=["train/target", "test/target"]),
        "MNIST10k": {}, "PenDigits": {}}
CUT_SLACK, LEAST_GAIN = .1, .005  # of the acceptance rule, as in the library
GUARD = .1                        # of ssc: shrunk labels that lose so much evenness are not used
N_GAMMA = 16                      # levels of a path
BASELINE = ("ssc", "sc", "cm", "sum", "ml1", "ml2", "mlT")


def data_sets():
    folder = os.environ.get("HUDDLE_DATA")
    for name, options in SETS.items() if folder else ():
        for path in sorted(pathlib.Path(folder).glob(name + ".*")):
            yield name, *load_file(path, **options)
    yield "digits", *load_digits()


# ---- scores and moves ---------------------------------------------------------------------------

def numbered(labels):
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def xlogx(x):
    x = np.asarray(x, float)
    return np.where(x > 1e-15, x * np.log(np.maximum(x, 1e-15)), 0.0)


def score(A, labels):
    """The map equation L, the entropy H, the normalised cut and J of a labelling."""
    S = sp.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), numbered(labels))))
    M = (S.T @ A @ S).toarray() / A.sum()
    v, d = M.sum(1), M.diagonal()
    f, s, q = d.sum(), (v ** 2).sum(), v - d
    p = np.asarray(A.sum(1)).ravel() / A.sum()
    J = f * np.log(f / s) + (1 - f) * np.log(max(1 - f, 1e-15) / max(1 - s, 1e-15))
    return dict(f=float(f), J=float(J), H=-float(xlogx(p).sum()), ncut=float((q / v).sum()),
                L=float(xlogx(q.sum()) - 2 * xlogx(q).sum() + xlogx(q + v).sum()))


@numba.njit(cache=True)
def _h(x):
    return x * np.log(x) if x > 1e-15 else 0.0


@numba.njit(cache=True)
def _term(d, v):
    q = max(v - d, 0.0)
    return 2 * _h(q) - _h(q + v)


@numba.njit(cache=True)
def _sweep(indptr, indices, data, degree, labels, d, v, count, order):
    moved, to, f = 0, np.zeros(len(d)), d.sum()
    for i in order:
        a, own = labels[i], 0.0
        if count[a] <= 1:
            continue
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] == i:
                own += data[e]
            else:
                to[labels[indices[e]]] += data[e]
        d_a, v_a = d[a] - 2 * to[a] - own, v[a] - degree[i]
        base = _term(d_a, v_a) - _term(d[a], v[a]) + _h(1 - f)
        best, best_gain = a, 1e-12
        for e in range(indptr[i], indptr[i + 1]):
            b = labels[indices[e]]
            if b == a or b == best:
                continue
            gain = (base - _h(1 - f - 2 * (to[b] - to[a])) - _term(d[b], v[b])
                    + _term(d[b] + 2 * to[b] + own, v[b] + degree[i]))
            if gain > best_gain:
                best, best_gain = b, gain
        if best != a:
            f += 2 * (to[best] - to[a])
            d[a], v[a] = d_a, v_a
            d[best] += 2 * to[best] + own
            v[best] += degree[i]
            count[a] -= 1
            count[best] += 1
            labels[i] = best
            moved += 1
        for e in range(indptr[i], indptr[i + 1]):
            to[labels[indices[e]]] = 0.0
        to[a] = 0.0
    return moved


def polish(A, labels, sweeps=30):
    """Moves single points to a neighbour's cluster while that lowers L; never empties a cluster."""
    labels = numbered(labels)
    S = sp.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), labels)))
    total = A.sum()
    M = (S.T @ A @ S).toarray() / total
    d, v, count = M.diagonal().copy(), M.sum(1), np.bincount(labels)
    degree = np.asarray(A.sum(1)).ravel() / total
    rng = np.random.default_rng(0)
    for _ in range(sweeps):
        if _sweep(A.indptr, A.indices, A.data / total, degree, labels, d, v, count,
                  rng.permutation(len(labels))) == 0:
            break
    return labels


# ---- merging ------------------------------------------------------------------------------------

def by_sum(w, a, b):
    return w * (1 / a ** 2 + 1 / b ** 2)


def by_modularity(r):
    return lambda w, a, b: w - r * a * b


def merge(A, labels, targets, gain):
    """Merges clusters, always the pair of largest gain(w, v_a, v_b); the labels at each target."""
    labels = numbered(labels)
    S = sp.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), labels)))
    B = (S.T @ A @ S).tocsr()
    B = B / B.sum()
    v = np.asarray(B.sum(1)).ravel().tolist()
    k = B.shape[0]
    size, near = np.bincount(labels).tolist(), []
    for i in range(k):
        row = slice(B.indptr[i], B.indptr[i + 1])
        near.append({j: w for j, w in zip(B.indices[row].tolist(), B.data[row].tolist())
                     if j != i and w > 0})
    version, parent, alive = [0] * k, np.arange(k), [True] * k
    heap = [(-gain(w, v[a], v[b]), a, b, 0, 0) for a in range(k) for b, w in near[a].items() if a < b]
    heapq.heapify(heap)
    found = []
    for target in targets:
        while k > target:
            while heap:
                _, a, b, va, vb = heapq.heappop(heap)
                if alive[a] and alive[b] and version[a] == va and version[b] == vb:
                    break
            else:  # no edges left: the two smallest
                a, b = sorted((i for i in range(len(alive)) if alive[i]), key=lambda i: size[i])[:2]
            near[a].pop(b, None)
            near[b].pop(a, None)
            if len(near[a]) < len(near[b]):
                a, b = b, a
            for x, w in near[b].items():
                near[x].pop(b)
                near[a][x] = near[x][a] = near[a].get(x, 0.0) + w
            v[a] += v[b]
            size[a] += size[b]
            alive[b], parent[b], near[b] = False, a, None
            version[a] += 1
            k -= 1
            for x, w in near[a].items():
                heapq.heappush(heap, (-gain(w, v[a], v[x]), a, x, version[a], version[x]))
        root = parent.copy()
        while not np.array_equal(root, root[root]):
            root = root[root]
        found.append(numbered(root[labels]))
    return found


def planted_resolution(f, s):
    a, b = f / s, (1 - f) / (1 - s)
    return (a - b) / (np.log(a) - np.log(b)) if abs(a - b) > 1e-12 else a


def levels(A, labels, c, r):
    """From the given clusters to 4c, 2c, c by modularity at resolution r (None: planted partition)."""
    for factor in (4, 2, 1):
        k = factor * c
        if labels.max() + 1 > k:
            rk = r if r is not None else planted_resolution(max(score(A, labels)["f"], .5), 1 / k)
            labels = merge(A, labels, [k], by_modularity(rk))[0]
        labels = polish(A, labels, 30 if factor == 1 else 8)
    return labels


def merged_starts(A, atoms, c, suffix=""):
    """The starts made by merging from atoms (labels of at least c clusters), improved."""
    count = len(np.unique(atoms))
    if count < c:
        return {}
    eight, last = merge(A, atoms, [min(8 * c, count), c], by_sum)
    eight = polish(A, eight, 8)
    return {"sum" + suffix: polish(A, last), "ml1" + suffix: levels(A, eight, c, 1.0),
            "ml2" + suffix: levels(A, eight, c, 2.0), "mlT" + suffix: levels(A, eight, c, None)}


# ---- rows and groups ----------------------------------------------------------------------------

def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def embed(A, c):
    """F with c columns and commute rows with 2c."""
    k = min(2 * c, A.shape[0] - 2)
    V, eigenvalues = huddle.spectral_embedding(A, k, rows="sym", return_eigenvalues=True)
    floor = .1 * max(eigenvalues[c - 1], 1e-12)
    return unit(V[:, :c]), unit(V / np.sqrt(np.maximum(eigenvalues[:k], floor)))


def kmeans(rows, c, seed):
    return huddle.KMeans(n_clusters=c, prepare="none", random_state=seed).fit_predict(rows)


def effective_groups(groups):
    """The exponential of the entropy of the sizes: rows that never fuse, which hold on to the rest by
    edges of almost no weight, are many groups but do not count for much."""
    share = np.bincount(groups) / len(groups)
    return float(np.exp(-xlogx(share).sum()))


def evenness(labels, c):
    """The entropy of the sizes of the clusters, 1 if they are equal."""
    return -xlogx(np.bincount(labels, minlength=c) / len(labels)).sum() / np.log(c)


def level_of(path, at_most):
    """The level of smallest gamma with at most so many effective groups, or None."""
    fits = [k for k in range(len(path.gammas)) if effective_groups(path.groups[k]) <= at_most]
    return fits[0] if fits else None


def cut_tree(linkage, n, k):
    """At most k clusters of a tree of fusions: without the k - 1 last of those fusions that join two
    parts of at least n / 10k points. Smaller parts stay with what they fuse with."""
    size = np.concatenate([np.ones(n), linkage[:, 3]])
    least = max(2, n / (10 * k))
    real = [r for r, row in enumerate(linkage) if min(size[int(row[0])], size[int(row[1])]) >= least]
    cut = set(real[-(k - 1):])
    root, node = list(range(n)), list(range(n))

    def find(i):
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i
    for r, row in enumerate(linkage):
        a, b = int(row[0]), int(row[1])
        if size[a] < size[b]:
            a, b = b, a
        if r not in cut:
            root[find(node[b])] = find(node[a])
        node.append(node[a])
    return numbered([find(i) for i in range(n)])


def shrink_by_component(rows, W, c, multiple):
    """Each component of W at its own gamma: the smallest with at most multiple * c * share groups."""
    n_parts, part = sp.csgraph.connected_components(W)
    G = rows.copy()
    for k in range(n_parts):
        inside = np.flatnonzero(part == k)
        if len(inside) < 10:
            continue
        at_most = max(2, round(multiple * c * len(inside) / len(rows)))
        path = huddle.cluster_path(F=rows[inside], W=W[inside][:, inside], n_clusters=2,
                                   n_gamma=N_GAMMA, gap=1e-3, keep_shrunk=True)
        level = level_of(path, at_most)
        if level is not None:
            G[inside] = path.shrunk[level]
    return G


# ---- starts of one graph ------------------------------------------------------------------------

def base_starts(A, F, C, W, c, seed):
    """Starts of the baseline, and what the shrink step gave."""
    shrunk = huddle.shrink(F, W, len(F) / c)
    own = {"sc": kmeans(F, c, seed), "ssc": kmeans(shrunk.G, c, seed), "cm": kmeans(C, c, seed)}
    if evenness(own["ssc"], c) < evenness(own["sc"], c) - GUARD:
        own["ssc"] = own["sc"]
    starts = {name: polish(A, labels) for name, labels in own.items() if labels.max() + 1 == c}
    starts.update(merged_starts(A, np.arange(len(F)), c))
    return own, starts, shrunk


def idea_starts(A, F, C, W, c, seed, shrunk):
    """Starts of the ideas a, b, c on one graph, and numbers that explain them."""
    n, raw, starts, facts = len(F), {}, {}, {}
    W_C = huddle.knn_graph(C, 5, scale="mean")
    began = time.perf_counter()
    path_f = huddle.cluster_path(F=F, W=W, n_clusters=c, n_gamma=N_GAMMA, gap=1e-3)
    path_c = huddle.cluster_path(F=C, W=W_C, n_clusters=c, n_gamma=N_GAMMA, gap=1e-3,
                                 keep_shrunk=True)
    facts["path seconds"] = time.perf_counter() - began
    facts["groups at n/c"] = shrunk.n_groups
    facts["components of W"] = int(sp.csgraph.connected_components(W)[0])
    # a
    raw["a n/c"] = kmeans(huddle.shrink(C, W_C, n / c).G, c, seed)
    for multiple in (1, 2, 4, 8):
        level = level_of(path_c, multiple * c)
        if level is not None:
            raw[f"a {multiple}c"] = kmeans(path_c.shrunk[level], c, seed)
            facts[f"gamma c/n at {multiple}c"] = path_c.gammas[level] * c / n
    half = level_of(path_c, n // 2)
    if half is not None:
        raw["a n/2"] = kmeans(path_c.shrunk[half], c, seed)
        wanted = [path_c.shrunk[k] for k in (level_of(path_c, m * c) for m in (2, 8)) if k is not None]
        raw["a scales"] = kmeans(np.hstack([C, path_c.shrunk[half], *wanted]), c, seed)
    if sp.csgraph.connected_components(W_C)[0] > 1:
        raw["a comp 2c"] = kmeans(shrink_by_component(C, W_C, c, 2), c, seed)
    elif "a 2c" in raw:
        raw["a comp 2c"] = raw["a 2c"]
    # b
    starts.update(merged_starts(A, shrunk.groups, c, " b n/c"))
    for name, path in (("F", path_f), ("C", path_c)):
        level = level_of(path, n // 3)  # few enough to matter, long before clusters fuse
        if level is not None:
            facts[f"groups b {name}"] = int(path.n_groups[level])
            starts.update(merged_starts(A, path.groups[level], c, f" b {name}"))
    # c
    for name, path in (("F", path_f), ("C", path_c)):
        cut = cut_tree(path.linkage, n, c)
        raw[f"c {name}"] = cut
        raw[f"c labels {name}"] = path.labels
        facts[f"largest c {name}"] = float(np.bincount(numbered(cut)).max() / n)
        eight = cut_tree(path.linkage, n, min(8 * c, n // 2))
        if eight.max() + 1 >= c:
            starts[f"ml c {name}"] = levels(A, polish(A, eight, 8), c, None)
    for name, labels in raw.items():
        if len(np.unique(labels)) == c:
            starts[name] = polish(A, labels)
    return raw, starts, facts


def consensus_starts(A, F, C, W, counts, counts_w, c, seed):
    """Idea d with the graph A as it is: W from edges counted over the preparations."""
    n, raw = len(F), {}
    for name, graph in (("A", counts), ("W", counts_w)):
        V = graph / 10
        raw[f"d W={name} n/c"] = kmeans(huddle.shrink(F, V, n / c).G, c, seed)
        path = huddle.cluster_path(F=F, W=V, n_clusters=c, n_gamma=N_GAMMA, gap=1e-3,
                                   keep_shrunk=True)
        level = level_of(path, 4 * c)
        if level is not None:
            raw[f"d W={name} 4c"] = kmeans(path.shrunk[level], c, seed)
    weighed = W.multiply(counts_w / 10).tocsr()
    raw["d W*count n/c"] = kmeans(huddle.shrink(F, weighed, n / c).G, c, seed)
    return raw, {name: polish(A, labels) for name, labels in raw.items()
                 if len(np.unique(labels)) == c}


def accept(scores, names, first):
    """The start that the acceptance rule returns, of those that exist."""
    base = scores[first]
    allowed = [k for k in names if k in scores
               and scores[k]["L"] < base["L"] - LEAST_GAIN * (base["L"] + base["H"])
               and scores[k]["ncut"] <= (1 + CUT_SLACK) * base["ncut"]]
    return min(allowed, key=lambda k: scores[k]["L"]) if allowed else first


# ---- one data set -------------------------------------------------------------------------------

def prepared_graphs(X, c):
    for rule in PREPARATIONS:
        if ":" in rule and int(rule.split(":")[1]) > min(X.shape):
            continue
        yield rule, huddle.SpectralClustering(c, prepare=rule, n_init=1).fit(X).affinity_matrix_.tocsr()


def binary(A):
    B = A.copy()
    B.data[:] = 1
    return B


def results(A, y, starts, raw):
    """Scores on A and agreement with the classes of every start; `raw`: before the moves."""
    out = {name: dict(score(A, labels), acc=accuracy(y, labels), nmi=nmi(y, labels))
           for name, labels in starts.items()}
    plain = {name: dict(acc=accuracy(y, numbered(labels)), nmi=nmi(y, numbered(labels)))
             for name, labels in raw.items()}
    return out, plain


def run_one(name, X, y, seed, n_best):
    """All starts on the best preparations of one sample; one record per preparation."""
    c, graphs, found = len(np.unique(y)), {}, {}
    for rule, A in prepared_graphs(X, c):
        F, C = embed(A, c)
        W = huddle.knn_graph(F, 5, scale="mean")
        raw, starts, shrunk = base_starts(A, F, C, W, c, seed)
        graphs[rule] = (A, F, C, W, raw, starts, shrunk)
        found[rule], plain = results(A, y, starts, raw)
        yield dict(set=name, seed=seed, rule=rule, kind="base", starts=found[rule], raw=plain)
    without = [k for k in BASELINE if k != "ssc"]
    J = {rule: s[accept(s, without, "sc")]["J"] for rule, s in found.items()}
    counts = sum(binary(g[0]) for g in graphs.values()).tocsr()
    counts_w = sum(binary(g[3]) for g in graphs.values()).tocsr()
    best = sorted(J, key=J.get, reverse=True)[:n_best]
    for rank, rule in enumerate(best):
        A, F, C, W, raw, starts, shrunk = graphs[rule]
        new_raw, new, facts = idea_starts(A, F, C, W, c, seed, shrunk)
        d_raw, d_new = consensus_starts(A, F, C, W, counts, counts_w, c, seed)
        here, plain = results(A, y, {**new, **d_new}, {**new_raw, **d_raw})
        yield dict(set=name, seed=seed, rule=rule, rank=rank, kind="ideas", starts=here, raw=plain,
                   facts=facts)
    for rule, (A, F, C, W, raw, starts, shrunk) in graphs.items():
        for kind, graph in counted_graphs(A, counts, len(graphs), rule == best[0]):
            for name_of_kind, found_there in counted_starts(graph, raw, c, seed, kind):
                yield dict(set=name, seed=seed, rule=rule, kind=name_of_kind, raw={},
                           starts=results(graph, y, found_there, {})[0],
                           **({"rank": best.index(rule)} if rule in best else {}))


def counted_graphs(A, counts, m, is_best):
    """Idea d as the graph of the refinement: the edges of A weighted by the number of preparations that
    have them, for the best preparation also powers of it, and all edges of at least two."""
    share = A.copy()
    share.data = np.asarray(counts[A.nonzero()]).ravel() / m
    powers = {"weighed": 1.0, **({"weighed^.5": .5, "weighed^2": 2.0} if is_best else {})}
    for kind, power in powers.items():
        graph = A.copy()
        graph.data = A.data * share.data ** power
        yield kind, graph
    if is_best:
        graph = counts.copy()
        graph.data[graph.data < 2] = 0
        graph = (graph + 1e-6 * A).tocsr()  # no vertex without edges
        graph.sort_indices()
        yield "shared", graph


def counted_starts(graph, raw, c, seed, kind):
    """Starts on such a graph, with K-means on the rows of A, and on its own rows."""
    merged = merged_starts(graph, np.arange(graph.shape[0]), c)
    usual = {k: polish(graph, v) for k, v in raw.items() if len(np.unique(v)) == c}
    yield kind, {**usual, **merged}
    F, C = embed(graph, c)
    own = {"sc": polish(graph, kmeans(F, c, seed)), "cm": polish(graph, kmeans(C, c, seed))}
    yield kind + " embedded", {**own, **merged}


def run(options):
    """The records of all data sets; those of a cache file are read, new ones are added to it."""
    records, done = [], set()
    if options.cache and options.cache.exists():
        records = [json.loads(line) for line in options.cache.read_text().splitlines()]
        done = {(r["set"], r["seed"]) for r in records}
    wanted = options.sets.split(",") if options.sets else [*SETS, "digits"]
    sets = [] if options.report else [d for d in data_sets() if d[0] in wanted]
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for name, X, y in sets:
            X, y = np.asarray(X, np.float32), numbered(y)
            if (name, seed) in done:
                continue
            began, m = time.perf_counter(), min(options.rows, int(options.share * len(y)))
            take = np.sort(np.random.default_rng(seed).permutation(len(y))[:m])
            new = list(run_one(name, X[take], numbered(y[take]), seed, options.best))
            print(f"{name} {seed}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            if options.cache:
                with open(options.cache, "a") as file:
                    file.writelines(json.dumps(record) + "\n" for record in new)
            records += new
    return records


# ---- report -------------------------------------------------------------------------------------

def variants(names):
    """Name, starts and first start of every rule that is compared; names: all starts that occur."""
    no_shrink = [k for k in BASELINE if k != "ssc"]
    yield "no shrink, sc first", no_shrink, "sc"
    yield "no shrink, commute first", no_shrink, "cm"
    for k in ("sc", "ssc", "cm"):
        yield f"only {k}, moved", [k], k
    singles = sorted(k for k in names if k[:2] in ("a ", "c ", "d ") or k.startswith("ml c "))
    for k in singles:
        yield "C + " + k, [*BASELINE, k], "ssc"
    for k in ("a n/2", "a 8c", "a 4c", "a scales"):
        yield f"{k} in place of ssc", [*no_shrink, k], k
    for suffix in (" b n/c", " b F", " b C"):
        new = [k for k in names if k.endswith(suffix)]
        yield "C +" + suffix, [*BASELINE, *new], "ssc"
        yield f"C,{suffix} in place of points", ["ssc", "sc", "cm", *new], "ssc"
    yield "C + all of a, b, c, d", list(names), "ssc"


def by_set(values):
    """Means over the seeds of each data set; values: {(set, ...): number}."""
    groups = {}
    for key, value in values.items():
        groups.setdefault(key[0], []).append(value)
    return {name: float(np.mean(v)) for name, v in groups.items()}


def compare(title, new, old):
    """Prints the means of a rule and its paired difference from the baseline.

    new, old: {(set, seed, ...): result of the start that was returned}. The standard error is that of
    the mean over data sets, each the mean over its seeds.
    """
    keys = [k for k in old if k in new]
    d = by_set({k: new[k]["acc"] - old[k]["acc"] for k in keys})
    dn = by_set({k: new[k]["nmi"] - old[k]["nmi"] for k in keys})
    acc, nm = (np.mean(list(by_set({k: new[k][m] for k in keys}).values())) for m in ("acc", "nmi"))
    values = np.array(list(d.values()))
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    print(f"  {title:34s} {acc:.3f} {nm:.3f}  {values.mean():+.4f} +- {error:.4f} "
          f"{np.mean(list(dn.values())):+.4f}  " + " ".join(f"{d[k]:+.3f}" for k in d))


def merged_records(records):
    """{(set, seed, rule): results of all starts on the preparation's own graph}, and the ranks."""
    found, rank, other = {}, {}, {}
    for r in records:
        key = (r["set"], r["seed"], r["rule"])
        if r["kind"] in ("base", "ideas"):
            found.setdefault(key, {}).update(r["starts"])
        else:
            other.setdefault(r["kind"], {})[key] = r["starts"]
        if "rank" in r:
            rank[key] = r["rank"]
    return found, rank, other


def returned(found, names, first):
    """What the acceptance rule returns on each graph; without the first start, ssc or sc is first."""
    out = {}
    for key, scores in found.items():
        base = next(k for k in (first, "ssc", "sc") if k in scores)
        name = accept(scores, names, base)
        out[key] = dict(scores[name], start=name)
    return out


def report(records):
    found, rank, other = merged_records(records)
    found = {k: v for k, v in found.items() if all(s in v for s in ("ssc", "sc", "cm"))}
    here = {k: found[k] for k in found if k in rank}
    base = returned(here, BASELINE, "ssc")
    print(f"{len(here)} graphs; ACC, NMI, difference of ACC from C +- standard error, of NMI; "
          "difference of ACC on " + " ".join(by_set({k: 0 for k in here})))
    compare("C", base, base)
    starts = dict.fromkeys(name for scores in here.values() for name in scores)
    for name, names, first in variants(starts):
        compare(name, returned(here, names, first), base)
    for kind, graphs in other.items():
        there = {k: v for k, v in graphs.items() if k in here}
        first = "sc" if kind.endswith("embedded") else "ssc"
        compare("d refine on " + kind, returned(there, BASELINE, first), base)
    print("  returned by C:", dict(collections.Counter(v["start"] for v in base.values())))
    report_choice(found, other)
    report_raw(records)


def report_choice(found, other):
    """Idea e with the choice of the preparation: the largest J of the labels that are returned."""
    no_shrink = [k for k in BASELINE if k != "ssc"]
    rules = {"with": returned(found, BASELINE, "ssc"), "without": returned(found, no_shrink, "sc"),
             "commute": returned(found, no_shrink, "cm"),
             "weighed": returned(other["weighed"], BASELINE, "ssc"),
             "weighed embedded": returned(other["weighed embedded"], no_shrink, "sc")}

    def chosen(by, use):
        best = {}
        for key, value in rules[by].items():
            if key[:2] not in best or value["J"] > rules[by][best[key[:2]]]["J"]:
                best[key[:2]] = key
        return {k: rules[use][key] for k, key in best.items()}
    print("\npreparation chosen with / without the shrink step, labels with / without it")
    old = chosen("with", "with")
    for by, use in (("with", "with"), ("without", "with"), ("without", "without"),
                    ("commute", "commute"), ("without", "weighed"),
                    ("weighed", "weighed"), ("without", "weighed embedded"),
                    ("weighed embedded", "weighed embedded")):
        compare(f"{by}, {use}", chosen(by, use), old)
    print(f"all preparations, {len(found)} graphs")
    for use in rules:
        compare(f"labels {use}", rules[use], rules["with"])
    same = np.mean([rules["with"][k]["start"] == "ssc" for k in found])
    print(f"  the shrunk labels are returned on {same:.0%} of the graphs")


def report_raw(records):
    """K-means or cut before the moves, on the best preparation, beside K-means on commute rows."""
    best = {(r["set"], r["seed"]): r["rule"] for r in records
            if r.get("rank") == 0 and r["kind"] == "ideas"}
    raw = {}
    for r in records:
        if r["kind"] in ("base", "ideas") and best.get((r["set"], r["seed"])) == r["rule"]:
            raw.setdefault((r["set"], r["seed"]), {}).update(r["raw"])
    print("\nbefore the moves, difference from cm")
    old = {k: v["cm"] for k, v in raw.items()}
    for name in dict.fromkeys(n for v in raw.values() for n in v):
        compare(name, {k: v[name] for k, v in raw.items() if name in v}, old)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1500, help="sample larger data sets")
    parser.add_argument("--share", type=float, default=1, help="and take at most this share of any")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--best", type=int, default=1, help="preparations on which the ideas are tried")
    parser.add_argument("--sets", default="", help="names separated by commas")
    parser.add_argument("--cache", type=pathlib.Path, help="file of results, read and extended")
    parser.add_argument("--report", action="store_true", help="only print what the cache contains")
    options = parser.parse_args()
    report(run(options))


if __name__ == "__main__":
    main()
