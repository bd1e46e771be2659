#!/usr/bin/python3
"""The time of the whole published protocol: huddle paper on the data sets in $HUDDLE_DATA.

Nine methods, the published grids and additional ones, 50 restarts. Then the two smallest data sets are
run again with and without shared work, to measure what sharing graphs, embeddings and principal
components saves. Without data, the plan for the embedded digits is used instead.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HUDDLE = os.environ.get("HUDDLE", str(ROOT / "build" / "huddle"))
NAMES = ["ORL", "UMIST", "BinAlpha", "YaleB", "USPS"]
SMALL = ["ORL", "BinAlpha"]
LIMIT = 15 * 60


def run(words):
    """The report of one run, with wall-clock and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run([HUDDLE, *words, "--json", "-q"], stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(done.stdout)
    report["wall"] = time.monotonic() - began
    report["cpu"] = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    return report


def link(data, names, folder):
    """A folder with only these data sets."""
    for path in sorted(pathlib.Path(data).iterdir()):
        if any(path.name.lower().startswith(name.lower()) for name in names):
            (pathlib.Path(folder) / path.name).symlink_to(path.resolve())


def print_report(what, report):
    shared = report["shared"]
    print(f"{what}: {report['cells']} cells, {report['wall']:.1f} s wall, {report['cpu']:.1f} s CPU; "
          f"stages computed {shared['computed']}, found {shared['found']}")


def compare(words, what):
    """Measures the same run with and without shared work."""
    reports = {}
    for name, flags in ("shared", []), ("alone", ["--alone"]):
        with tempfile.TemporaryDirectory() as out:
            reports[name] = run([*words, "-o", out, *flags])
        print_report(f"{what}, {name}", reports[name])
    ratio = reports["alone"]["cpu"] / reports["shared"]["cpu"]
    print(f"sharing: {ratio:.2f} times less CPU time "
          f"({reports['alone']['cpu']:.1f} s without, {reports['shared']['cpu']:.1f} s with)")


def main():
    data = os.environ.get("HUDDLE_DATA")
    if not data:
        print("HUDDLE_DATA is not set: the embedded digits instead")
        compare(["experiment", str(ROOT / "examples" / "digits-plan.json")], "digits plan")
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as out:
        link(data, NAMES, folder)
        report = run(["paper", folder, "-o", out])
        again = run(["paper", folder, "-o", out])
    print_report("the whole protocol", report)
    print(f"once more, finished already: {again['wall']:.2f} s")
    per_core = report["cpu"] / (os.cpu_count() or 1)
    print(f"wall {report['wall'] / 60:.1f} min of {LIMIT // 60} allowed; "
          f"CPU time over {os.cpu_count()} cores {per_core / 60:.1f} min")
    with tempfile.TemporaryDirectory() as folder:
        link(data, SMALL, folder)
        compare(["paper", folder], " and ".join(SMALL))
    if report["wall"] > LIMIT:
        sys.exit("the protocol took more than 15 minutes")


if __name__ == "__main__":
    main()
