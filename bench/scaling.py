"""A model of time, memory and traffic on many processes, from runs on one and two.

    python3 bench/mpi.py build/huddle POINTS.npy -c 40 --save runs.json       for several sizes
    python3 bench/scaling.py runs.json [--threads 16] [--bandwidth 1.25e9] [--latency 3e-5]

Prints how well the model describes the runs it was made from, and what it predicts for 10 and 100 million points on 4 to
64 nodes. A node is one process with that many threads. Formulas and their meaning: docs/scaling.md.
"""
import argparse
import json

STAGES = ("prepare", "graph", "embed", "shrink_graph", "shrink", "kmeans", "refine")
THREAD_GAIN = .75  # of a further thread: an assumption
# Seconds for a query that visits the index of another process: CPU seconds of the search of 100,000 points, k = 10, by 1, 2
# and 4 threads in the place of processes.
VISIT = 2e-6
COARSE = 1 << 18  # vertices of the coarse graph that process 0 refines


def received(stage, n, processes, r):
    """Bytes that one process receives. r: d features, k neighbours, c clusters, e edges per row, ghosts per row."""
    rows, other = n / processes, (processes - 1) / processes
    around = rows * (processes - 1)  # rows that travel the ring past a process
    entry = 12 * r["k"] + 8  # a list of neighbours
    if stage == "graph":
        return around * (4 * r["d"] + entry) + other * rows * (4 * r["d"] + entry + 24 * r["k"])
    if stage == "shrink_graph":
        return around * (8 * r["c"] + entry) + other * rows * (8 * r["c"] + entry + 24 * r["k"])
    if stage == "embed":
        moved = other * rows * (12 * r["e"] + 40 + 8 * 2 * r["c"])
        return moved + r["products"] / (2 * r["c"] + 8) * r["ghosts"] * rows * 4 * (2 * r["c"] + 8)
    if stage == "shrink":
        return other * rows * (2 * 8 * r["c"] + 12 * 2 * r["k"] + 60) * 2
    if stage == "refine":
        return min(n, COARSE) * other * (12 * r["e"] + 4 * 7) + other * rows * 60
    return 0


def seconds(stage, n, processes, r, machine):
    """Time of a stage: arithmetic of the own rows, visits of queries, bytes, messages."""
    rate = r["row_seconds"][stage] / (1 + THREAD_GAIN * (machine["threads"] - 1))
    time = rate * n / processes
    if stage == "prepare":  # on a sample
        time = r["row_seconds"][stage] * r["n"]
    if stage == "refine" and n > COARSE:  # the coarse graph is refined on one thread
        time += r["row_seconds"][stage] * COARSE
    if stage in ("graph", "shrink_graph"):
        time += VISIT * n * (processes - 1) / processes / (1 + THREAD_GAIN * (machine["threads"] - 1))
    return time + received(stage, n, processes, r) / machine["bandwidth"] + r["calls"].get(stage, 0) * machine["latency"]


def constants(records):
    """What the largest run on one process (of the engine, if there is one) gives for one row."""
    base = max((r for r in records if r["processes"] == 1), key=lambda r: r["n"])
    two = max((r for r in records if r["processes"] == 2), key=lambda r: r["n"], default=None)
    calls = {s: t["calls"] for s, t in ((two or {}).get("traffic") or {}).items() if isinstance(t, dict)}
    rates = {s: base["seconds"].get(s, 0) / base["n"] for s in STAGES}
    refined = [r for r in records if r["seconds"].get("refine", 0) > 0]
    if refined:  # runs with --refine none have no such stage
        last = max(refined, key=lambda r: r["n"])
        rates["refine"] = last["seconds"]["refine"] * max(1, last["processes"]) / last["n"]
    return {"n": base["n"], "d": base["d"], "k": base["k"], "c": base["c"], "e": 2 * base["edges"] / base["n"],
            "products": base["products"], "ghosts": 0, "calls": calls,
            "row_seconds": rates,
            "row_bytes": base["peak"] / base["n"]}


def validate(records, r, machine):
    print("| points | processes | stage | measured s | model s | measured MB received | model MB |")
    print("|---|---|---|---|---|---|---|")
    for record in records:
        if record["processes"] < 1:
            continue
        for stage in STAGES:
            traffic = (record.get("traffic") or {}).get(stage) or {"received": 0}
            print(f"| {record['n']} | {record['processes']} | {stage} | {record['seconds'].get(stage, 0):.1f} | "
                  f"{seconds(stage, record['n'], record['processes'], r, machine):.1f} | "
                  f"{traffic['received'] / 1e6:.0f} | "
                  f"{received(stage, record['n'], record['processes'], r) / 1e6:.0f} |")


def predict(r, machine, row_bytes):
    print("\n| points | nodes | " + " | ".join(STAGES) + " | total s | GB received | GB of memory |")
    print("|---|---|" + "---|" * (len(STAGES) + 3))
    for n in (10_000_000, 100_000_000):
        for nodes in (4, 16, 64):
            times = [seconds(s, n, nodes, r, machine) for s in STAGES]
            moved = sum(received(s, n, nodes, r) for s in STAGES)
            print(f"| {n // 1_000_000} M | {nodes} | " + " | ".join(f"{t:.0f}" for t in times) +
                  f" | {sum(times):.0f} | {moved / 1e9:.1f} | {row_bytes * n / nodes / 1e9:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--bandwidth", type=float, default=1.25e9)
    parser.add_argument("--latency", type=float, default=3e-5)
    parser.add_argument("--ghosts", type=float, default=0, help="rows of other processes per own row, after the partition")
    options = parser.parse_args()
    with open(options.runs) as file:
        records = json.load(file)
    r = constants(records)
    validate(records, r, {"threads": 1, "bandwidth": 5e9, "latency": 5e-6})
    two = [record for record in records if record["processes"] == 2]
    row_bytes = max(record["peak"] * 2 / record["n"] for record in two if record["n"] == max(t["n"] for t in two))
    r["ghosts"] = options.ghosts
    predict(r, {"threads": options.threads, "bandwidth": options.bandwidth, "latency": options.latency}, row_bytes)


if __name__ == "__main__":
    main()
