#!/usr/bin/python3
"""Golden numbers of the graph stage, by scikit-learn and SciPy.

graph_knn.txt      points, then the 5 nearest others of each by both metrics
graph_weights.txt  points and, for each rule, the dense weight matrix of the union graph
graph_bridges.txt  points in clumps and the edges that join the components of their graph
"""
import os

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, comment, *blocks):
    with open(os.path.join(HERE, name), "w") as file:
        file.write(f"# {comment}; made by make_graph.py\n")
        for block in blocks:
            np.savetxt(file, np.atleast_2d(block), fmt="%.9g")


def neighbours(x, k, metric="euclidean"):
    model = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(x)
    distance, index = model.kneighbors()
    return index, distance


def union(x, k, rule):
    n = len(x)
    index, distance = neighbours(x, k)
    s = distance[:, -1].copy()
    s[s == 0] = s[s > 0].min()
    delta2 = {
        "mean": distance.mean() ** 2,
        "knn": (distance**2).mean(),
        "global": 2 * pdist(x).mean() ** 2,
    }
    a = np.zeros((n, n))
    for i in range(n):
        for j, d in zip(index[i], distance[i]):
            if rule == "binary":
                a[i, j] = 1
            else:
                scale = s[i] * s[j] if rule == "selftune" else delta2[rule]
                a[i, j] = np.exp(max(-20, -d * d / scale))
    return np.maximum(a, a.T)


def main():
    rng = np.random.default_rng(1)
    x = np.float32(rng.standard_normal((60, 7))).astype(float)
    blocks = [[60, 7, 5], x]
    for metric in ("euclidean", "cosine"):
        index, distance = neighbours(x, 5, metric)
        blocks += [index, distance]
    write("graph_knn.txt", "n d k, points, then index and distance by both metrics", *blocks)

    x = np.float32(rng.standard_normal((30, 3))).astype(float)
    x[7] = x[3] * 40
    blocks = [[30, 3, 4], x]
    for rule in ("selftune", "mean", "knn", "global", "binary"):
        blocks.append(union(x, 4, rule))
    write("graph_weights.txt", "n d k, points, selftune mean knn global binary", *blocks)

    sizes = [30, 12, 9, 7, 6]
    centres = 20 * rng.standard_normal((len(sizes), 4))
    x = np.vstack([c + rng.standard_normal((m, 4)) for c, m in zip(centres, sizes)])
    x = np.float32(x[rng.permutation(len(x))]).astype(float)
    count, part = connected_components(csr_matrix(union(x, 3, "binary")), directed=False)
    distance = squareform(pdist(x))
    between = np.full((count, count), 0.0)
    ends = {}
    for p in range(count):
        for q in range(p + 1, count):
            i, j = np.where(part == p)[0], np.where(part == q)[0]
            block = distance[np.ix_(i, j)]
            a, b = np.unravel_index(block.argmin(), block.shape)
            between[p, q] = block[a, b]
            ends[p, q] = sorted((i[a], j[b]))
    tree = minimum_spanning_tree(csr_matrix(between)).tocoo()
    edges = sorted(ends[min(p, q), max(p, q)] for p, q in zip(tree.row, tree.col))
    write("graph_bridges.txt", "n d k components, points, bridges", [len(x), 4, 3, count], x, edges)


if __name__ == "__main__":
    main()
