#!/usr/bin/python3
"""Points near curved sheets: make_sheets.py FILE [-n 1000000] [-c 40] [--noise .25] [--seed 0]

Writes FILE (NPY, n x 32, float32) and the classes beside it (FILE with -labels before .npy). Each of the
c classes is a curved sheet of three dimensions in 32; all sheets lie near one plane of six dimensions and
overlap. At noise .25 the graph of 5 neighbours has about 20 components; at .45 it is connected, and the
classes are harder to tell apart.
"""
import argparse
import pathlib

import numpy as np

WIDTH, PLANE, INNER = 32, 6, 3
BLOCK = 100_000  # rows made at a time, so that 10 million need no more memory than their own


def make(n, c=40, noise=.25, seed=0):
    """The points, float32, and the class of each."""
    rng = np.random.default_rng(seed)
    plane = rng.standard_normal((PLANE, WIDTH))
    centres = .9 * rng.standard_normal((c, PLANE)) @ plane
    flat = .5 * rng.standard_normal((c, INNER, PLANE)) @ plane
    curved = .3 * rng.standard_normal((c, INNER, WIDTH))
    y = rng.integers(c, size=n).astype(np.int32)
    x = np.empty((n, WIDTH), np.float32)
    for begin in range(0, n, BLOCK):
        rows = slice(begin, min(n, begin + BLOCK))
        k = y[rows]
        t = rng.uniform(-1, 1, (len(k), INNER))
        x[rows] = centres[k] + noise * rng.standard_normal((len(k), WIDTH))
        for j in range(INNER):
            x[rows] += t[:, j, None] * flat[k, j] + t[:, j, None] ** 2 * curved[k, j]
    return x, y


def labels_path(path):
    path = pathlib.Path(path)
    return path.with_name(f"{path.stem}-labels.npy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("-n", type=int, default=1_000_000)
    parser.add_argument("-c", type=int, default=40)
    parser.add_argument("--noise", type=float, default=.25)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    x, y = make(options.n, options.c, options.noise, options.seed)
    np.save(options.file, x)
    np.save(labels_path(options.file), y)


if __name__ == "__main__":
    main()
