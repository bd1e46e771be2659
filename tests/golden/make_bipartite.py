"""Golden numbers for spectral clustering on bipartite graphs: bipartite.txt, by NumPy and SciPy.

Supernodes by the distances from every seed, links by dense products, vectors by the singular value
decomposition of the dense matrix. Blocks of numbers follow each other in the order of the calls of
put() below, the same for each graph."""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from blocks import put, write

N, S, K = 40, 7, 4


def vectors(links):
    """Singular values and the projection onto the first K left vectors."""
    rows, cols = links.sum(1), links.sum(0)
    z = links / np.sqrt(rows[:, None] * np.where(cols > 0, cols, 1))
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    assert s[K - 1] - s[K] > 1e-3
    return s[:K], u[:, :K] @ u[:, :K].T


# The third graph has equal weights, so that most paths are equally long as others; the fourth has
# vertices without edges and parts without a seed.
for seed, density in ((1, 0.15), (2, 0.4), (3, 0.12), (4, 0.06)):
    rng = np.random.default_rng(seed)
    a = np.triu(rng.random((N, N)) * (rng.random((N, N)) < density), 1)
    if seed == 3:
        a = (a > 0).astype(float)
    a = a + a.T
    seeds = np.sort(rng.permutation(N)[:S])
    i, j = np.nonzero(a)
    lengths = csr_matrix((1e-6 - np.log(a[i, j] / a.max()), (i, j)), shape=(N, N))
    distance = dijkstra(lengths, indices=seeds)
    # Sums of equal lengths in another order differ in the last bits.
    near = distance <= distance.min(0) * (1 + 1e-12)
    of = near.argmax(0)
    alone = np.isinf(distance.min(0))
    _, parts = connected_components(lengths)
    count = S
    for v in np.nonzero(alone)[0]:
        if alone[v]:
            of[(parts == parts[v])] = count
            alone[parts == parts[v]] = False
            count += 1
    r = np.eye(count)[of]
    links = a @ r
    links[a.sum(1) == 0] = r[a.sum(1) == 0]
    values, projection = vectors(links)
    put("graph %d" % seed, a)
    put("seeds", seeds)
    put("supernode of each vertex", of)
    put("their number", count)
    put("links", links)
    put("singular values", values)
    put("projection onto the left vectors", projection)
    # Another generation: above and below the mean of each column that is not constant.
    embedding = rng.standard_normal((N, 3)) + np.array([5, 0, -3])
    above = embedding >= embedding.mean(0)
    put("an embedding", embedding)
    halves = np.stack([above, ~above], 2).reshape(N, -1).astype(float)
    links = a @ halves
    links[a.sum(1) == 0] = halves[a.sum(1) == 0]
    put("links to its halves", links)

write("bipartite")
