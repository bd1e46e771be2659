"""Largest sums of one-to-one mappings of tables, by scipy.optimize.linear_sum_assignment.

The tables are not in the file: tests/unit/test_metrics_match.c makes the same ones by fill() below.
Run with Debian's python3 (python3-numpy, python3-scipy). Writes metrics_match.txt beside this file.
"""
import pathlib

import numpy as np
from scipy.optimize import linear_sum_assignment

MASK = 2**64 - 1
KINDS = 9
RANDOM = 4000  # tables of random sizes, in turn of every kind


def stream(seed):
    """SplitMix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        yield z ^ z >> 31


def fill(kind, rows, cols, seed):
    numbers = stream(seed)
    table = np.zeros((rows, cols), np.int64)
    for i in range(rows):
        for j in range(cols):
            draw = next(numbers) >> 11
            if kind == 0:  # sparse, with many ties
                table[i, j] = max(draw % 10 - 6, 0)
            elif kind == 1:
                table[i, j] = draw % 101
            elif kind == 2:  # large
                table[i, j] = draw % 2**40
            elif kind == 3:  # products, for which greedy choices are bad and paths long
                table[i, j] = (i + 1) * (j + 1) + draw % 3
            elif kind == 4:  # empty rows and columns
                table[i, j] = 0 if i % 3 == 0 or j % 4 == 1 else draw % 5
            elif kind == 5:  # nearly a permutation
                table[i, j] = (900 if (i * 7 + 3) % cols == j else 0) + draw % 2
            elif kind == 6:  # all cells equal, all zero among them
                table[i, j] = seed % 3
            elif kind == 7:  # pairs of equal rows, equal columns
                table[i, j] = (i // 2 * 31 + j % 5 * 17 + seed) % 7
            else:  # all rows want the same few columns
                table[i, j] = draw % 12 if j < 1 + cols // 4 else draw % 13 // 12
    return table


SIZES = [(1, 1), (1, 9), (9, 1), (2, 30), (30, 2), (7, 7), (8, 12), (12, 8), (20, 20), (33, 32), (40, 55), (60, 60)]


def tables():
    """Kind, rows, columns and seed of each table: the given sizes, then random ones, of which every fourth is far
    from square."""
    for kind in range(KINDS):
        for seed, (rows, cols) in enumerate(SIZES, 100 * kind):
            yield kind, rows, cols, seed
    numbers = stream(1)
    for seed in range(1000, 1000 + RANDOM):
        first, second = (next(numbers) >> 11 for _ in range(2))
        narrow = seed // KINDS % 4 == 0
        yield seed % KINDS, 1 + first % (4 if narrow else 20), 1 + second % (60 if narrow else 20), seed


if __name__ == "__main__":
    with open(pathlib.Path(__file__).parent / "metrics_match.txt", "w") as out:
        print("# kind, rows, columns, seed, largest sum. Made by make_matching.py.", file=out)
        print(KINDS * len(SIZES) + RANDOM, file=out)
        for kind, rows, cols, seed in tables():
            table = fill(kind, rows, cols, seed)
            chosen = linear_sum_assignment(table, maximize=True)
            print(kind, rows, cols, seed, table[chosen].sum(), file=out)
