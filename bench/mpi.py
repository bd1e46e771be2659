"""Stages on several processes, each with one thread: seconds, speed-up, memory and traffic.

    python3 bench/mpi.py build/huddle POINTS.npy -c 40 [--processes 0,1,2] [--repeat 3] [OPTIONS]

0 processes is the engine cpu with one thread. Runs alternate, so that other load on the machine meets all of them;
the table has the fastest of each stage. OPTIONS are those of huddle cluster. The labels of all runs are compared
with those of the first. --save FILE adds the numbers to a JSON file, from which bench/scaling.py predicts larger runs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

LAUNCH = pathlib.Path(__file__).resolve().parent / "launch.py"
ROOT_USER = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
STAGES = ("read", "prepare", "graph", "embed", "shrink_graph", "shrink", "kmeans", "guard", "refine", "total")
LIMIT = 3600  # seconds
UNLIMITED = 1 << 50  # bytes


def run(tool, points, processes, options, folder):
    """The report of one run, with labels and the largest memory of a process."""
    labels = pathlib.Path(folder) / "labels.npy"
    command = [tool, "cluster", points, "--json", "-q", "-o", str(labels), "--n-threads", "1", *options]
    # launch.py measures each process by itself.
    peak = pathlib.Path(folder) / "peak"
    if processes > 0:
        command += ["--engine", "mpi"]
        inner = " ".join(f"'{word}'" for word in command)
        measured = (f"exec {sys.executable} -I -S {LAUNCH} {peak}.$OMPI_COMM_WORLD_RANK {LIMIT} {UNLIMITED} "
                    f"{inner}")
        command = ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", str(processes), "sh", "-c",
                   measured]
    else:
        command = [sys.executable, "-I", "-S", str(LAUNCH), f"{peak}.0", str(LIMIT), str(UNLIMITED),
                   *command]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ROOT_USER})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    report = json.loads(done.stdout)
    report["labels"] = np.load(labels)
    report["peak"] = max(json.loads(path.read_text())["peak"] for path in pathlib.Path(folder).glob("peak.*"))
    return report


def agreement(a, b):
    """The adjusted Rand index."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)

    def pairs(counts):
        return (counts * (counts - 1) / 2).sum()
    both, rows, columns = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / pairs(np.array([float(len(a))]))
    return (both - expected) / ((rows + columns) / 2 - expected)


def print_table(counts, runs):
    """One row per stage, the fastest of the repeats."""
    print("| stage | " + " | ".join(f"{count} processes" if count else "cpu" for count in counts) +
          " | speed-up |\n|---|" + "---|" * (len(counts) + 1))
    for stage in STAGES:
        best = [min(r["seconds"].get(stage, 0) for r in runs[count]) for count in counts]
        if max(best) >= .01:
            ratio = best[-2] / best[-1] if len(best) > 1 and best[-1] > 0 else float("nan")
            print(f"| {stage} | " + " | ".join(f"{t:.2f}" for t in best) + f" | {ratio:.2f} |")
    peaks = [min(r["peak"] for r in runs[count]) / 1e9 for count in counts]
    print("| memory of a process, GB | " + " | ".join(f"{p:.3f}" for p in peaks) +
          (f" | {peaks[-1] / peaks[-2]:.2f} of it |" if len(peaks) > 1 else " | |"))


def save(path, runs):
    """Appends a record for each number of processes: the fastest seconds, traffic and memory."""
    records = json.loads(path.read_text()) if path.exists() else []
    for count, reports in runs.items():
        stages = reports[0]["seconds"]
        records.append({"n": reports[0]["n"], "d": reports[0]["d"], "c": reports[0]["n_clusters"],
                        "k": reports[0]["options"].get("n_neighbors"), "processes": count,
                        "edges": (reports[0].get("graph") or {}).get("edges"),
                        "products": (reports[0].get("embed") or {}).get("n_products"),
                        "seconds": {s: min(r["seconds"].get(s, 0) for r in reports) for s in stages},
                        "traffic": reports[0].get("traffic"), "peak": min(r["peak"] for r in reports)})
    path.write_text(json.dumps(records, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("points")
    parser.add_argument("--processes", default="0,1,2")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--save")
    arguments, options = parser.parse_known_args()
    counts = [int(word) for word in arguments.processes.split(",")]
    runs = {count: [] for count in counts}
    for _ in range(arguments.repeat):
        for count in counts:
            with tempfile.TemporaryDirectory() as folder:
                runs[count].append(run(os.path.abspath(arguments.tool), arguments.points, count, options, folder))
    print_table(counts, runs)
    if arguments.save:
        save(pathlib.Path(arguments.save), runs)
    first = runs[counts[0]][0]
    for count in counts:
        worst = min(agreement(first["labels"], r["labels"]) for r in runs[count])
        shrink = runs[count][0].get("shrink") or {}
        print(f"\n{count} processes: ARI {worst:.6f}, gap {shrink.get('gap')}, objective {shrink.get('objective')}")
        for stage, traffic in (runs[count][0].get("traffic") or {}).items():
            if isinstance(traffic, dict):
                print(f"  {stage}: {traffic['received'] / 1e6:.2f} MB received in {traffic['calls']} calls")


if __name__ == "__main__":
    main()
