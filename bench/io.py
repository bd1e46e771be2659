#!/usr/bin/python3
"""Reading beside cat, numpy.loadtxt and pandas' C reader, in one run, files in the page cache.

    bench/io.py [--build DIR] [--csv FILE] [--npy FILE] [--csv-mb 200] [--npy-mb 1000] [--runs 3] [--quick]

Needs DIR/bench/bench_io. Unless files are given, a table of normal numbers with six decimals, one of
numbers with all digits, and an array of floats are generated and removed afterwards. Each side runs in
its own process; times are the smallest of a few runs. The last lines are the ratios, other over
Huddle: of wall seconds, and of CPU seconds, which depend less on the load of the machine. For NPY the
ratio is Huddle's rate over that of cat.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def make_csv(path, megabytes, decimals):
    """Writes a table of 20 columns; a block of rows is made once and repeated."""
    import numpy as np

    block = np.random.default_rng(0).normal(size=(2000, 20))
    form = "%%.%df" % decimals if decimals else "%.17g"
    rows = "".join(",".join(form % value for value in row) + "\n" for row in block)
    with open(path, "w") as file:
        file.write(",".join(f"x{j + 1}" for j in range(20)) + "\n")
        for _ in range(max(1, int(megabytes * 1e6 / len(rows)))):
            file.write(rows)


def make_npy(path, megabytes):
    import numpy as np

    rows = max(1, int(megabytes * 1e6 / 800))
    values = np.lib.format.open_memmap(path, "w+", "f4", (rows, 200))
    for begin in range(0, rows, 10000):
        end = min(rows, begin + 10000)
        values[begin:end] = np.random.default_rng(begin).random((end - begin, 200), dtype="f4")
    values.flush()


def peer(name, path, runs):
    """Runs in the child process: measures one peer and prints one line of JSON."""
    import numpy as np
    import pandas as pd

    with open(path) as file:
        header = not re.match(r"[-+.0-9]", file.readline())
    wall, cpu = [], []
    for _ in range(runs):
        w, c = time.perf_counter(), time.process_time()
        if name == "numpy.loadtxt":
            np.loadtxt(path, delimiter=",", skiprows=int(header), dtype="f4")
        else:
            pd.read_csv(path, header=0 if header else None, engine="c", dtype="f4")
        wall.append(time.perf_counter() - w)
        cpu.append(time.process_time() - c)
    print(json.dumps(dict(wall=min(wall), cpu=min(cpu))))


def run_peer(name, path, runs):
    arguments = [sys.executable, __file__, "--peer", name, path, str(runs)]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def run_cat(path, runs):
    wall, cpu = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        w = time.perf_counter()
        with open(os.devnull, "w") as sink:
            subprocess.run(["cat", path], stdout=sink, check=True)
        wall.append(time.perf_counter() - w)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return dict(wall=min(wall), cpu=min(cpu))


def run_ours(options, path):
    program = os.path.join(options.build, "bench", "bench_io")
    text = subprocess.run([program, path, f"runs={options.runs}"], check=True, capture_output=True, text=True).stdout
    number = {name: float(value) for name, value in re.findall(r"(wall|cpu|points|peak) ([\d.]+)", text)}
    return number


def show(name, result, size):
    print(f"  {name:14} wall {result['wall']:8.3f} s   cpu {result['cpu']:8.3f} s   {size / result['wall'] / 1e6:7.0f} MB/s",
          flush=True)


def compare_csv(options, path, title):
    size = os.path.getsize(path)
    print(f"{title}: {size / 1e6:.0f} MB")
    ours = run_ours(options, path)
    show("huddle", ours, size)
    for name, runs in (("pandas", options.runs), ("numpy.loadtxt", 1)):
        theirs = run_peer(name, path, runs)
        show(name, theirs, size)
        print(f"  {name} / huddle: {theirs['wall'] / ours['wall']:.1f} wall, {theirs['cpu'] / ours['cpu']:.1f} cpu")


def compare_npy(options, path):
    size = os.path.getsize(path)
    print(f"NPY: {size / 1e6:.0f} MB")
    cat = run_cat(path, options.runs + 1)  # the first run also warms the cache
    ours = run_ours(options, path)
    show("huddle", ours, size)
    show("cat", cat, size)
    print(f"  rate of huddle / rate of cat: {cat['wall'] / ours['wall']:.2f};"
          f" peak memory {ours['peak']:.0f} MB for {ours['points']:.0f} MB of points")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--csv")
    parser.add_argument("--npy")
    parser.add_argument("--csv-mb", type=float, default=200)
    parser.add_argument("--npy-mb", type=float, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        peer(options.peer[0], options.peer[1], int(options.peer[2]))
        return
    scale = 0.1 if options.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        tables = [(options.csv, os.path.basename(options.csv))] if options.csv else []
        if not tables:
            for decimals, title in ((6, "CSV, six decimals"), (0, "CSV, all digits")):
                path = os.path.join(folder, f"table{decimals}.csv")
                make_csv(path, options.csv_mb * scale, decimals)
                tables.append((path, title))
        for path, title in tables:
            compare_csv(options, path, title)
        array = options.npy or os.path.join(folder, "array.npy")
        if not options.npy:
            make_npy(array, options.npy_mb * scale)
        compare_npy(options, array)


if __name__ == "__main__":
    main()
