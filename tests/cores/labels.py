#!/usr/bin/python3
"""Labels do not depend on the kernels: labels.py HUDDLE

Runs every method on generated points and on digits, with the kernels that are used if nothing is set and
with each of those that settings.py lists, and compares the files of labels byte for byte.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

from settings import settings

DATA = {name: [name, "--n", "300"] for name in
        ("moons", "rings", "spirals", "blobs", "unequal", "swissroll")}
DATA["blobs that overlap"] = ["blobs", "--n", "400", "--noise", "3", "-c", "6"]
DATA["digits"] = ["digits"]


def range_of(method):
    """Several numbers of clusters of five separate blobs. lsc does not join them by bridges: for fewer
    clusters its embedding is not unique, of which it warns, and rounding chooses one. For sec the
    starts of the refinement are then level: they cut bridges only, whose weights are almost 0."""
    return ["blobs", "--n", "200", "-c", "5-7" if method in ("lsc", "sec") else "2-6", "--labels", "all"]


def points_of(name, method):
    """The points of a case; all digits take rmsc a minute and a half."""
    return DATA[name] + (["--per-class", "30"] if (name, method) == ("digits", "rmsc") else [])


def list_methods(tool):
    printed = subprocess.run([tool, "methods", "--json"], check=True, capture_output=True,
                             text=True).stdout
    return [method["name"] for method in json.loads(printed)["methods"]]


def labels_of(tool, arguments, setting, folder):
    """The bytes of the file of labels."""
    environment = dict(assignment.split("=") for assignment in setting.split())
    descriptor, path = tempfile.mkstemp(suffix=".csv", dir=folder)
    os.close(descriptor)
    subprocess.run([tool, "cluster", *arguments, "-q", "-j", "1", "-o", path], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    with open(path, "rb") as file:
        return file.read()


def compare(tool, case, kernels, folder):
    """A sentence for each of the kernels whose labels differ from those of the default."""
    name, method, arguments = case
    first = labels_of(tool, arguments, "", folder).split(b"\n")
    sentences = []
    for setting in kernels:
        other = labels_of(tool, arguments, setting, folder).split(b"\n")
        differing = sum(a != b for a, b in zip(first, other)) + abs(len(first) - len(other))
        if differing:
            sentences.append(f"{method} on {name}: {differing} of {len(first) - 2} labels with "
                             f"{setting} differ from the default's")
    return sentences


def main():
    tool = sys.argv[1]
    kernels, _ = settings(tool)
    methods = list_methods(tool)
    cases = [(name, method, [*points_of(name, method), "-m", method]) for name in DATA
             for method in methods]
    cases += [("a range", method, [*range_of(method), "-m", method]) for method in methods]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: compare(tool, case, kernels, folder), cases))
    failed = [sentence for sentences in found for sentence in sentences]
    print("\n".join(failed + [f"labels of {len(cases)} fits with {len(kernels) + 1} kernels: "
                              f"{len(failed)} differ"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
