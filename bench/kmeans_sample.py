#!/usr/bin/python3
"""K-means with restarts that begin on a sample beside restarts on all rows: CPU seconds and inertia.

    bench/kmeans_sample.py [--build DIR] [--threads 2] [--seeds 2] [--n-init 50] [FILE:CLUSTERS ...]

Needs DIR/bench/bench_kmeans. A FILE is a matrix of floats (.npy, C order), such as an embedding written by
`huddle cluster --dump` and converted to float32. Without files: corners of a simplex with noise, which is what an
embedding looks like, touching groups, and normal points without any clusters. The last column is the inertia of the
sampled restarts less that of all restarts on all rows, relative.
"""
import argparse
import os
import re
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def corners(n, c, noise, seed=0):
    """Rows near c corners of a simplex, groups of different sizes."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(.2, 1, c)
    group = rng.choice(c, n, p=share / share.sum())
    x = noise / np.sqrt(c) * rng.standard_normal((n, c))
    x[np.arange(n), group] += 1
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)


def touching(n, d, c, seed=0):
    rng = np.random.default_rng(seed)
    return (1.5 * rng.standard_normal((c, d))[rng.integers(0, c, n)] + rng.standard_normal((n, d))).astype(np.float32)


def run(options, path, c, seed, full):
    program = os.path.join(options.build, "bench", "bench_kmeans")
    line = subprocess.run([program, path, f"threads={options.threads}", "runs=1", f"n_clusters={c}", f"seed={seed}",
                           f"n_init={options.n_init}", f"full_restarts={'true' if full else 'false'}"],
                          check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"(\w+) ([-+.e\d]+)(?= |$)", line.split(": ")[1].strip()))
    return float(found["cpu"]), float(found["inertia"])


def compare(options, title, path, c):
    for seed in range(1, options.seeds + 1):
        full, sampled = (run(options, path, c, seed, way) for way in (True, False))
        print(f"{title:28} c {c:3}  seed {seed}  all rows {full[0]:8.2f} s  sampled {sampled[0]:7.2f} s  "
              f"ratio {full[0] / sampled[0]:5.1f}  inertia {sampled[1] / full[1] - 1:+.1e}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE:CLUSTERS")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-init", type=int, default=50)
    options = parser.parse_args()
    for name in options.files:
        path, c = name.rsplit(":", 1)
        compare(options, os.path.basename(path), path, int(c))
    if options.files:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        for title, x, c in (("corners 300,000 x 40", corners(300_000, 40, .6), 40),
                            ("touching 100,000 x 10", touching(100_000, 10, 20), 20),
                            ("normal 100,000 x 8", np.random.default_rng(3).standard_normal((100_000, 8)), 20)):
            np.save(path, x.astype(np.float32))
            compare(options, title, path, c)


if __name__ == "__main__":
    main()
