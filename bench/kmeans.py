#!/usr/bin/python3
"""K-means beside scikit-learn's KMeans(algorithm="lloyd"), in one run, same starts and iterations.

    bench/kmeans.py [--build DIR] [--data DIR] [--threads 2] [--runs 3] [--iterations 20] [--quick]

Needs DIR/bench/bench_kmeans. The 70,000 x 784 data set is made from the MNIST file in $HUDDLE_DATA, or
generated (make_mnist70k.py). Each side runs in its own process, so that peak memory is measured
separately; times are the smallest of a few runs and exclude reading. The last line for each shape is
the ratio, scikit-learn over Huddle.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def peer(x_path, start_path, iterations, n_init, runs):
    """Runs in the child process: measures scikit-learn and prints one line of JSON."""
    import warnings

    import numpy as np
    from sklearn.cluster import KMeans

    warnings.filterwarnings("ignore")
    x = np.load(x_path)
    start = np.load(start_path)
    wall, cpu = [], []
    for _ in range(runs):
        if iterations:
            model = KMeans(len(start), init=start.astype(x.dtype), n_init=1, max_iter=iterations, tol=0,
                           algorithm="lloyd")
        else:
            model = KMeans(len(start), n_init=n_init, algorithm="lloyd", random_state=0)
        w, c = time.perf_counter(), time.process_time()
        model.fit(x)
        wall.append(time.perf_counter() - w)
        cpu.append(time.process_time() - c)
    with open("/proc/self/status") as file:
        peak = next(float(line.split()[1]) * 1024 / 1e6 for line in file if line.startswith("VmHWM"))
    print(json.dumps(dict(wall=min(wall), cpu=min(cpu), n_iter=int(model.n_iter_), inertia=float(model.inertia_),
                          data_mb=x.nbytes / 1e6, peak_mb=peak)))


def run_peer(options, x_path, start_path, iterations, n_init, runs):
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), OPENBLAS_NUM_THREADS=str(options.threads))
    arguments = [sys.executable, __file__, "--peer", x_path, start_path, str(iterations), str(n_init), str(runs)]
    return json.loads(subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True).stdout)


def run_ours(options, x_path, start_path, iterations, n_init, c, runs):
    program = os.path.join(options.build, "bench", "bench_kmeans")
    arguments = [program, x_path, f"threads={options.threads}", f"runs={runs}"]
    if iterations:
        arguments += [f"start={start_path}", f"max_iter={iterations}", "tol=0"]
    else:
        arguments += [f"n_clusters={c}", f"n_init={n_init}"]
    line = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"(\w+) ([-+.e\d]+)(?= |$)", line.split(": ")[1].strip())}


def compare(options, title, x_path, c, iterations=0, n_init=1, runs=None):
    import numpy as np

    x = np.load(x_path, mmap_mode="r")
    rows = np.sort(np.random.default_rng(1).choice(len(x), c, replace=False))
    with tempfile.TemporaryDirectory() as folder:
        start_path = os.path.join(folder, "start.npy")
        np.save(start_path, x[rows].astype(np.float64))
        runs = runs or options.runs
        ours = run_ours(options, x_path, start_path, iterations, n_init, c, runs)
        theirs = run_peer(options, x_path, start_path, iterations, n_init, runs)
    print(f"{title}, c = {c}, " + (f"{iterations} iterations from the same centres" if iterations
                                   else f"{n_init} restarts") + f", {options.threads} threads")
    for name, side in (("huddle", ours), ("scikit-learn", theirs)):
        print(f"  {name:12}  wall {side['wall']:8.3f} s  cpu {side['cpu']:8.3f} s  n_iter {side['n_iter']:3.0f}  "
              f"inertia {side['inertia']:.8g}  peak {side['peak_mb']:.0f} MB")
    room = ours["peak_mb"] - 1.1 * ours["data_mb"]
    print(f"  ratio         wall {theirs['wall'] / ours['wall']:.2f}  cpu {theirs['cpu'] / ours['cpu']:.2f}  "
          f"peak beyond data + 10 %: {room:.0f} MB (at most 64)", flush=True)


def embedding_like(n, c, seed=0):
    """Unit rows of c columns around c directions, like the rows of an embedding."""
    import numpy as np

    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((c, c)))
    x = basis[rng.integers(0, c, n)] + 0.6 / np.sqrt(c) * rng.standard_normal((n, c))
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--data", default=os.path.join(ROOT, "build/bench-data"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="only the two shapes with a required ratio")
    options = parser.parse_args()

    import numpy as np

    sys.path.insert(0, HERE)
    from make_mnist70k import make

    folder = os.environ.get("HUDDLE_DATA", "")
    mnist = os.path.join(folder, "MNIST10k.mat") if folder else None
    mnist = mnist if mnist and os.path.exists(mnist) else None
    x_path, _ = make(os.path.join(options.data, "mnist70k" if mnist else "synthetic70k"), mnist)
    compare(options, "70,000 x 784", x_path, 10, iterations=options.iterations)
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "x.npy")
        rng = np.random.default_rng(2)
        centres = 2 * rng.standard_normal((10, 10))
        np.save(path, (centres[rng.integers(0, 10, 1_000_000)] + rng.standard_normal((1_000_000, 10))).astype(np.float32))
        compare(options, "1,000,000 x 10", path, 10, iterations=options.iterations)
        for n, c in () if options.quick else ((400, 40), (2000, 10), (10_000, 10), (10_000, 40)):
            np.save(path, embedding_like(n, c))
            compare(options, f"embedding {n} x {c}", path, c, n_init=50, runs=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:4], *map(int, sys.argv[4:7]))
    else:
        main()
