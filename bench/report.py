#!/usr/bin/python3
"""What --report costs beyond the fit:

    bench/report.py build/huddle [--n 50000] [--columns 20] [--repeats 1] [DATA ...]

For separate clusters, for connected ones and for every DATA given, fits and writes the page in one
run, and prints the seconds of the fit, of the page, and the ratio of the run with the page to the
fit alone. Both are measured by the run itself, so that the load of the machine matters little.
"""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np


def make_points(folder, name, n, columns, distance):
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=n)
    points = (distance * rng.normal(size=(10, columns)))[labels] + rng.normal(size=(n, columns))
    path = os.path.join(folder, name + ".npy")
    np.save(path, points.astype(np.float32))
    return path


def measure(huddle, arguments, page):
    run = subprocess.run([huddle, "cluster", *arguments, "--json", "--report", page, "-q"],
                         capture_output=True, check=True, text=True)
    report = json.loads(run.stdout)
    total, write = report["seconds"]["total"], report["seconds"]["write"]
    return report["n"], total - write, write


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("huddle")
    parser.add_argument("data", nargs="*")
    parser.add_argument("--n", type=int, default=50000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    print(f"{'data':24} {'n':>8} {'fit, s':>8} {'page, s':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        cases = [("separate", [make_points(folder, "separate", options.n, options.columns, 6), "-c", "10"]),
                 ("connected", [make_points(folder, "connected", options.n, options.columns, 1), "-c", "10"])]
        cases += [(os.path.basename(data), [data]) for data in options.data]
        for name, arguments in cases:
            runs = [measure(options.huddle, arguments, os.path.join(folder, "page.html"))
                    for _ in range(options.repeats)]
            n, fit, page = min(runs, key=lambda run: (run[1] + run[2]) / run[1])
            print(f"{name:24} {n:8} {fit:8.2f} {page:8.2f} {(fit + page) / fit:6.2f}", flush=True)


if __name__ == "__main__":
    main()
