"""Writes the 70,000 x 784 data set of the benchmarks: x.npy (float32) and labels.npy (int32).

    /usr/bin/python3 bench/make_mnist70k.py [--mnist FILE] [DIRECTORY]

From an MNIST file (.mat, .npy, or idx, plain or .gz): 10,000 of its digits and six copies of them, in
which each digit is shifted, rotated, stretched, changed in brightness and noisy. Labels are read from
the .mat file, from the idx labels beside FILE, or from --labels. Without a file: a mixture of ten
curved low-dimensional sheets of the same shape and range. The default directory is
build/bench-data/mnist70k. Existing files are kept unless --force is given.
"""
import argparse
import gzip
import os

import numpy as np

N, SIDE, COPIES, CLASSES = 10_000, 28, 6, 10


def read_idx(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    if data[:2] != b"\0\0" or data[2] != 8:
        raise SystemExit(f"{path}: not an idx file of bytes")
    shape = np.frombuffer(data, ">i4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def read_mnist(path, labels_path):
    """Pixels n x 784 in 0 .. 255, and labels or None."""
    labels = None
    if path.endswith(".mat"):
        from scipy.io import loadmat

        held = {k: v for k, v in loadmat(path).items() if not k.startswith("__")}
        x = next(np.asarray(held[k]) for k in ("fea", "X", "data", "x") if k in held)
        labels = next((np.ravel(held[k]) for k in ("gnd", "y", "Y", "labels", "label") if k in held), None)
        if x.shape[0] == SIDE * SIDE and x.shape[1] != SIDE * SIDE:
            x = x.T
    elif path.endswith(".npy"):
        x = np.load(path)
    else:
        x = read_idx(path)
        beside = path.replace("images", "labels").replace("idx3", "idx1")
        if labels_path is None and beside != path and os.path.exists(beside):
            labels_path = beside
    if labels_path is not None:
        labels = np.ravel(np.load(labels_path) if labels_path.endswith(".npy") else read_idx(labels_path))
    x = np.asarray(x, np.float32).reshape(len(x), -1)
    if x.shape[1] != SIDE * SIDE or len(x) < N:
        raise SystemExit(f"{path}: {len(x)} images of {x.shape[1]} pixels, not at least {N} of {SIDE * SIDE}")
    if x.max() <= 1:
        x = x * 255
    if labels is not None:
        _, labels = np.unique(labels, return_inverse=True)
    return x[:N], None if labels is None else labels[:N]


def altered(x, rng):
    """Applies a random affine map (bilinear), a random brightness and noise to each image."""
    n = len(x)
    angle, shear = rng.uniform(-0.26, 0.26, n), rng.uniform(-0.2, 0.2, n)
    zoom, move = rng.uniform(0.85, 1.15, (2, n)), rng.uniform(-2, 2, (2, n))
    bright, noise = rng.uniform(0.7, 1.1, n), rng.uniform(0, 12, n)
    middle = (SIDE - 1) / 2
    v, u = np.meshgrid(np.arange(SIDE) - middle, np.arange(SIDE) - middle, indexing="ij")
    out = np.empty_like(x)
    for i in range(n):
        cos, sin = np.cos(angle[i]), np.sin(angle[i])
        a = (cos * u + (shear[i] - sin) * v) / zoom[0, i] + move[0, i] + middle
        b = (sin * u + cos * v) / zoom[1, i] + move[1, i] + middle
        a0, b0 = np.floor(a).astype(int), np.floor(b).astype(int)
        fa, fb = a - a0, b - b0
        image = np.pad(x[i].reshape(SIDE, SIDE), 1)
        a0, b0 = np.clip(a0 + 1, 0, SIDE), np.clip(b0 + 1, 0, SIDE)
        mixed = ((1 - fa) * (1 - fb) * image[b0, a0] + fa * (1 - fb) * image[b0, a0 + 1]
                 + (1 - fa) * fb * image[b0 + 1, a0] + fa * fb * image[b0 + 1, a0 + 1])
        out[i] = mixed.ravel() * bright[i]
    out += rng.standard_normal(out.shape, np.float32) * noise[:, None].astype(np.float32)
    return np.clip(np.rint(out), 0, 255)


def from_mnist(path, labels_path):
    x, labels = read_mnist(path, labels_path)
    rng = np.random.default_rng(70)
    parts = [x] + [altered(x, rng) for _ in range(COPIES)]
    if labels is None:
        print("no labels found: all are 0")
        labels = np.zeros(N, int)
    return np.concatenate(parts), np.tile(labels, 1 + COPIES)


def synthetic():
    """Ten groups, each a curved sheet of 12 dimensions at its own place, with noise."""
    rng = np.random.default_rng(70)
    d, inner = SIDE * SIDE, 12
    n = N * (1 + COPIES)
    labels = rng.integers(0, CLASSES, n)
    x = np.empty((n, d), np.float32)
    for k in range(CLASSES):
        rows = np.flatnonzero(labels == k)
        z = rng.standard_normal((len(rows), inner))
        curved = np.concatenate([z, np.tanh(z) * np.roll(z, 1, axis=1)], axis=1)
        centre, basis = rng.uniform(30, 100, d), rng.standard_normal((2 * inner, d)) * 14
        x[rows] = centre + curved @ basis + 6 * rng.standard_normal((len(rows), d))
    return np.clip(np.rint(x), 0, 255), labels


def make(directory, mnist=None, labels=None, force=False):
    """Writes the data set unless it exists, and returns the two paths."""
    paths = os.path.join(directory, "x.npy"), os.path.join(directory, "labels.npy")
    if force or not all(map(os.path.exists, paths)):
        x, y = from_mnist(mnist, labels) if mnist else synthetic()
        os.makedirs(directory, exist_ok=True)
        for path, array in zip(paths, (np.ascontiguousarray(x, np.float32), y.astype(np.int32))):
            with open(path + ".part", "wb") as file:
                np.save(file, array)
            os.replace(path + ".part", path)
    return paths


if __name__ == "__main__":
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", default=os.path.join(root, "build/bench-data/mnist70k"))
    parser.add_argument("--mnist", help="MNIST images: .mat, .npy or idx")
    parser.add_argument("--labels", help="their labels: .npy or idx")
    parser.add_argument("--force", action="store_true", help="make the files anew")
    options = parser.parse_args()
    for path in make(options.directory, options.mnist, options.labels, options.force):
        print(path, np.load(path, mmap_mode="r").shape)
