#!/usr/bin/python3
"""Neighbours of a million points beside pynndescent, in one run.

    bench/neighbors_million.py [--quick] [-n 1000000] [-k 10] [--noise .25] [--solver auto approximate]
                               [--peer PYTHON] [--runs 1] [--json FILE]

Points near curved sheets in 32 dimensions (make_sheets.py). Each program runs in a process of its own:
CPU and wall seconds of the search alone, and the memory that the process used beyond the points. The
recall of both is measured here, on the same 1,000 random points, whose neighbours are computed by brute
force in double; a neighbour as near as the true k-th one counts as found. --peer is a Python that has
pynndescent (default: this one); without it, only Huddle is measured. --quick takes 100,000 points.
HUDDLE_LIBRARY is the library to use; the default is build/libhuddle.so.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = 1000


# ---- workers: one program each, run by run() ----

def measured(load, search):
    """The neighbours, and seconds and megabytes of the search."""
    x = load()
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall, cpu = time.perf_counter(), time.process_time()
    index = search(x)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF)
    return index, dict(cpu=cpu, wall=wall, megabytes=(after.ru_maxrss - before.ru_maxrss) / 1024)


def work_huddle(path, k, solver):
    """The search alone, as the C library does it: knn_graph() would also sort its matrix."""
    import ctypes

    import huddle._library as h

    context = ctypes.c_void_p()
    if h.lib.huddle_context_new(ctypes.byref(context)) != 0:
        sys.exit(h.lib.huddle_last_error().decode())

    def search(x):
        options = h.lib.huddle_knn_defaults()
        options.knn_solver, options.n_neighbors = solver.encode(), k
        points = h.Points(n=x.shape[0], d=x.shape[1], stride=x.shape[1],
                          values=x.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        out = h.Neighbors()
        if h.lib.huddle_graph_knn(context, ctypes.byref(points), ctypes.byref(options),
                                  ctypes.byref(out), None) != 0:
            sys.exit(h.lib.huddle_last_error().decode())
        return np.ctypeslib.as_array(out.index, (out.n, out.k))

    search(np.array(np.load(path, mmap_mode="r")[:1000]))
    return measured(lambda: np.load(path), search)


def work_pynndescent(path, k):
    from pynndescent import NNDescent

    # The point itself is the first of its neighbours.
    def search(x):
        return NNDescent(x, n_neighbors=k + 1, random_state=0).neighbor_graph[0][:, 1:]

    # Compiles the kernels; a copy, since they are compiled anew for arrays that are read-only.
    search(np.array(np.load(path, mmap_mode="r")[:20000]))
    return measured(lambda: np.load(path), search)


def worker(name, path, k, out):
    index, figures = (work_pynndescent(path, k) if name == "pynndescent"
                      else work_huddle(path, k, name))
    np.save(out, np.ascontiguousarray(index, np.int32))
    print(json.dumps(figures))


# ---- comparison ----

def truth(x, k, rows):
    """The squared distance of the true k-th neighbour of each of the rows: candidates in float, then
    double."""
    norms = np.einsum("ij,ij->i", x, x)
    out = np.empty(len(rows))
    for at, i in enumerate(rows):
        rough = norms - 2 * (x @ x[i])
        rough[i] = np.inf
        near = np.argpartition(rough, 20 * k)[:20 * k]
        out[at] = np.partition(((np.float64(x[near]) - np.float64(x[i])) ** 2).sum(1), k - 1)[k - 1]
    return out


def recall(x, rows, kth, index):
    found = 0
    for i, limit in zip(rows, kth):
        d2 = ((np.float64(x[index[i]]) - np.float64(x[i])) ** 2).sum(1)
        found += np.count_nonzero(d2 <= limit * (1 + 1e-12))
    return found / index[rows].size


def run(python, name, path, k, runs):
    """The figures of the fastest run by CPU time, and the neighbours of the last."""
    env = dict(os.environ, PYTHONPATH=str(HERE.parent / "python"))
    env.setdefault("HUDDLE_LIBRARY", str(HERE.parent / "build" / "libhuddle.so"))
    best = None
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "index.npy")
        for _ in range(runs):
            done = subprocess.run([python, __file__, "--worker", name, path, str(k), out], env=env,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                return dict(failed=(done.stderr.strip().splitlines() or ["no output"])[-1]), None
            figures = json.loads(done.stdout.splitlines()[-1])
            best = figures if best is None or figures["cpu"] < best["cpu"] else best
        return best, np.load(out)


def compare(options, path, x):
    rows = np.sort(np.random.default_rng(1).choice(len(x), min(QUERIES, len(x)), replace=False))
    kth = truth(x, options.k, rows)
    table = {}
    for name in [*options.solver, "pynndescent"]:
        python = options.peer if name == "pynndescent" else sys.executable
        figures, index = run(python, name, path, options.k, options.runs)
        if index is not None:
            figures["recall"] = recall(x, rows, kth, index)
        table[name] = figures
    return table


def show(table):
    peer = table["pynndescent"]
    print(f"{'':14}{'cpu s':>8}{'wall s':>8}{'MB':>7}{'recall':>9}{'peer / ours: cpu':>18}{'wall':>7}")
    for name, row in table.items():
        if "failed" in row:
            print(f"{name:14}failed: {row['failed']}")
            continue
        ratio = "" if row is peer or "failed" in peer else (
            f"{peer['cpu'] / row['cpu']:18.1f}{peer['wall'] / row['wall']:7.1f}")
        print(f"{name:14}{row['cpu']:8.1f}{row['wall']:8.1f}{row['megabytes']:7.0f}"
              f"{row['recall']:9.4f}{ratio}", flush=True)


def main():
    if sys.argv[1:2] == ["--worker"]:
        name, path, k, out = sys.argv[2:]
        return worker(name, path, int(k), out)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", type=int, default=None)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--noise", type=float, default=.25)
    parser.add_argument("--solver", nargs="+", default=["auto", "approximate"])
    parser.add_argument("--peer", default=os.environ.get("HUDDLE_PEERS", sys.executable))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.n = options.n or (100_000 if options.quick else 1_000_000)
    sys.path.insert(0, str(HERE))
    import make_sheets

    x, _ = make_sheets.make(options.n, noise=options.noise)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        np.save(path, x)
        table = compare(options, path, x)
    print(f"{options.n:,} x {x.shape[1]}, k = {options.k}, noise {options.noise}")
    show(table)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=1), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
