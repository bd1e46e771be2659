#!/usr/bin/python3
"""The default of ssc beside a single fit with `prepare = none` and `refine = none`.

    bench/default.py [--program build/huddle] [--runs 5] [NAME ...]

The default tries ten preparations on samples, refines several starts and may choose between two kinds
of labels. It should take at most 5 times as long as the single fit up to 10,000 points, and at most
twice as long beyond 50,000. Image sets are read from $HUDDLE_DATA; digits, points of the same shape as
USPS and 60,000 points near curved sheets in 100 dimensions are there without it. Times are the
median over the runs, both programs in turn: wall seconds on all CPUs, and CPU seconds on one thread.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

import numpy as np  # noqa: E402

from quality_data import sheets  # noqa: E402

SINGLE = ["--prepare", "none", "--refine", "none"]
USPS = ["--x", "train/data", "--x", "test/data", "--y", "train/target", "--y", "test/target"]
FILES = {"ORL": ["ORL.mat"], "UMIST": ["UMIST.mat"], "YaleB": ["YaleB.mat"],
         "BinAlpha": ["BinAlpha36.mat", "--classes", "11-36", "--per-class", "30"],
         "USPS": ["USPS.h5", *USPS], "MNIST10k": ["MNIST10k.mat"], "PenDigits": ["PenDigits.mat"]}
LIMITS = ((10_992, 5), (50_000, None), (float("inf"), 2))  # points, and times the single fit


def generated(folder):
    """Data that need no files: arguments of the tool and number of points of each."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((60, 256))
    blobs = centres[rng.integers(60, size=9298)] + .8 * rng.standard_normal((9298, 256))
    np.save(folder / "blobs.npy", np.float32(blobs))
    np.save(folder / "sheets.npy", np.float32(sheets(rng, d=100)[0]))
    return {"digits": (["digits"], 1797), "60 blobs": ([folder / "blobs.npy", "-c", "10"], 9298),
            "sheets": ([folder / "sheets.npy", "-c", "40"], 60_000)}


def real(folder):
    found = {}
    for name, (file, *options) in FILES.items():
        if folder and (folder / file).exists():
            found[name] = ([folder / file, *options], 10_000)
    return found


def measure(command):
    """Wall and CPU seconds of a process."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(name, program, data, n, runs):
    command = [program, "cluster", *data, "-q"]
    one = ["--n-threads", "1"]
    wall, cpu = {}, {}
    for _ in range(runs if n <= 50_000 else 1):
        for kind, options in (("default", []), ("single", SINGLE)):
            wall.setdefault(kind, []).append(measure(command + options)[0])
            cpu.setdefault(kind, []).append(measure(command + options + one)[1])
    texts = []
    for unit, times in (("wall", wall), ("CPU", cpu)):
        default, single = (statistics.median(times[kind]) for kind in ("default", "single"))
        texts.append(f"{unit} {default:7.2f} s, single {single:6.2f} s, ratio {default / single:4.2f}")
    limit = next(limit for size, limit in LIMITS if n <= size)
    print(f"{name:10s} {'; '.join(texts)}" + (f"; limit {limit}" if limit else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(HERE.parent / "build" / "huddle"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = os.environ.get("HUDDLE_DATA")
    with tempfile.TemporaryDirectory() as own:
        sets = {**real(pathlib.Path(folder) if folder else None), **generated(pathlib.Path(own))}
        for name in options.names or sets:
            compare(name, options.program, *sets[name], options.runs)


if __name__ == "__main__":
    main()
