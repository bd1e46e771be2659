#!/usr/bin/python3
"""Makes embed.txt: eigenvalues and leverage scores of graphs that test_embed_large.c builds alike.

Each graph of n vertices in `blocks` equal blocks is a formula of whole numbers; see edges(). For
each: n, blocks, c, the first c + 2 eigenvalues of the normalised Laplacian, then for eleven vertices
the squared length of their row of the first c eigenvectors, which does not depend on the choice of
vectors within equal eigenvalues, and then the cosine between the commute rows of each of these vertices
and the next. Small graphs are solved by scipy.linalg.eigh, large ones by eigsh
in shift-invert mode.
"""
import pathlib

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg


def weight(i, j):
    return (1 + (i * 7919 + j * 104729) % 1000) / 1000


def edges(n, blocks):
    """Rings with chords inside the blocks, one faint edge from each block to the next."""
    size = n // blocks
    for block in range(blocks):
        first = block * size
        for i in range(size):
            for j in ((i + 1) % size, (i + 5) % size, (i * 3 + 1) % size if i % 4 == 0 else i):
                if i != j:
                    yield first + min(i, j), first + max(i, j), None
        if block > 0:
            yield first - 1, first, 0.001


def graph(n, blocks):
    held = {}
    for i, j, w in edges(n, blocks):
        held[i, j] = weight(i, j) if w is None else w
    rows, columns = np.array(list(held)).T
    half = sp.csr_matrix((list(held.values()), (rows, columns)), shape=(n, n))
    return half + half.T


def solve(a, count):
    root = 1 / np.sqrt(np.asarray(a.sum(axis=1)).ravel())
    normalised = sp.diags(root) @ a @ sp.diags(root)
    if a.shape[0] <= 1000:
        values, vectors = scipy.linalg.eigh(np.eye(a.shape[0]) - normalised.toarray())
    else:
        values, vectors = scipy.sparse.linalg.eigsh(
            sp.eye(a.shape[0]) - normalised, k=count + 6, sigma=-1e-3, tol=1e-13)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return values, vectors


def commute_cosines(values, vectors, vertices):
    """Products of neighbouring rows of vectors / sqrt(max(lambda, .1 lambda_middle)), of norm 1."""
    c = vectors.shape[1]
    floor = max(.1 * values[-(-c // 2) - 1], 1e-7)
    rows = vectors[vertices] @ np.diag(np.maximum(values[:c], floor) ** -.5)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows[:-1] * rows[1:]).sum(axis=1)


def main():
    lines = ["# made by make_embed.py"]
    for n, blocks, c in ((200, 4, 4), (840, 6, 6), (3000, 12, 12), (6000, 20, 20), (5000, 1, 9)):
        values, vectors = solve(graph(n, blocks), c + 2)
        lines += [f"{n} {blocks} {c}", " ".join(f"{max(v, 0):.15g}" for v in values[:c + 2])]
        vertices = np.arange(11) * (n - 1) // 10
        leverage = (vectors[vertices, :c] ** 2).sum(axis=1)
        lines.append(" ".join(f"{x:.15g}" for x in leverage))
        lines.append(" ".join(f"{x:.15g}" for x in commute_cosines(values, vectors[:, :c], vertices)))
    pathlib.Path(__file__).with_name("embed.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
