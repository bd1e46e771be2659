#!/usr/bin/python3
"""The refinement beside scikit-learn's agglomerative clustering of the same graph, in one run.

    bench/refine.py [--program build/bench/bench_refine] [-c 10] [DATA ...]

DATA are files of points as for bench/embed.py; by default USPS, MNIST10k and PenDigits from the folder
$HUDDLE_DATA, or clustered synthetic points if it is not set. The graph is the union of 5 nearest
neighbours with self-tuning weights. scikit-learn merges points along the edges of the graph by Ward's
criterion, the step that corresponds to Huddle's merge tree; Huddle's whole refinement also has
seven starts, their moves and their scores. Both sides run on one thread; times are CPU seconds, the
smallest of a few runs. Without DATA, Huddle alone also refines synthetic graphs of 100,000 and
1,000,000 points in 3 dimensions; the latter should take at most 15 s and 1 GB.
"""
import argparse
import os
import subprocess
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from embed import ROOT, read_sets, self_tuned_graph, write_graph
from sklearn.cluster import AgglomerativeClustering


def run_ours(program, graph, c, repeats):
    line = subprocess.run([program, str(graph), str(c), str(repeats)], check=True,
                          capture_output=True, text=True).stdout
    return dict(word.split("=", 1) for word in line.split())


def run_sklearn(points, graph, c):
    begun = time.process_time()
    AgglomerativeClustering(n_clusters=c, connectivity=graph, linkage="ward").fit(points)
    return time.process_time() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build" / "bench" / "bench_refine"))
    parser.add_argument("data", nargs="*")
    parser.add_argument("-c", type=int, default=10)
    arguments = parser.parse_args()
    for name, points in read_sets(arguments.data):
        graph = self_tuned_graph(points)
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "graph.bin")
            write_graph(graph, path)
            ours = run_ours(arguments.program, path, arguments.c, 5)
        tree, whole = float(ours["tree"]), float(ours["whole"])
        print(f"{name}: n {ours['n']}, huddle tree {tree:.4f} s, whole {whole:.4f} s, best start "
              f"{ours['best']}, L {ours['map']}, cut {ours['ncut']}")
        seconds = min(run_sklearn(points, graph, arguments.c) for _ in range(2))
        print(f"  scikit-learn ward: {seconds:.3f} s, ratio to the tree {seconds / tree:.1f}, "
              f"to the whole {seconds / whole:.1f}")
    if not arguments.data:
        for n in (100000, 1000000):
            ours = run_ours(arguments.program, n, 40, 1)
            print(f"synthetic {n} x 3, c 40: huddle tree {float(ours['tree']):.2f} s, whole "
                  f"{float(ours['whole']):.2f} s, peak {ours['peak_mb']} MB, of which the graph "
                  f"{ours['graph_mb']} MB" + ("; limits 15 s, 1000 MB" if n == 1000000 else ""))


if __name__ == "__main__":
    main()
