#!/usr/bin/python3
"""Where a whole run spends its CPU time: hotspots.py [-n 100000] [OPTION OF THE TOOL ...]

Runs `huddle cluster` on sheets of n points (make_sheets.py) under Linux's `perf record`, and prints as
Markdown: the seconds of the stages, peak memory, the share of each function, and of each folder of src/. "One
thread" is the part of a function's share by which the first thread exceeds the mean of the others: work
that the other CPUs wait for. A static function of the same name in several files lists all of them.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cases import sheets  # noqa: E402
from measure import CPUS, ROOT, run  # noqa: E402

LEAST = .01  # share of a function that is listed
RATE = 299  # samples per second; not a multiple of the timer's rate
DEFINITION = re.compile(r"^[a-z][\w \t]*?[ *](\w+)\(")  # of a C function, in the project's style


def definitions():
    """{function: files that define it}, of src/."""
    found = collections.defaultdict(set)
    for path in sorted((ROOT / "src").rglob("*.c")):
        for line in path.read_text().splitlines():
            match = DEFINITION.match(line)
            if match and not line.endswith(";"):
                found[match.group(1)].add(str(path.relative_to(ROOT / "src")))
            for name in re.findall(r"HD_SIMD\((\w+)\)", line):
                found[name].add(str(path.relative_to(ROOT / "src")))
    return found


def plain(symbol):
    """The name in the source: without the suffixes of the compiler and of the instruction set."""
    symbol = re.sub(r"\.(isra|part|constprop|cold|lto_priv).*", "", symbol)
    return re.sub(r"_(base|avx2|avx512)$", "", symbol)


def samples(path):
    """[(thread, library, function)], the first one of the first thread."""
    command = ["perf", "script", "-i", str(path), "-F", "tid,ip,sym,dso", "-G"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pattern = re.compile(r"^\s*(\d+)\s+[0-9a-f]+ (.*?) \((.*)\)$")
    return [match.groups() for match in map(pattern.match, text.splitlines()) if match]


def shares(found):
    """{(function, library): (share, share of one thread)}."""
    first = found[0][0]
    counts = collections.defaultdict(lambda: [0, 0])
    for thread, symbol, library in found:
        counts[plain(symbol), pathlib.Path(library).name][thread != first] += 1
    others = max(1, CPUS - 1)
    return {key: (sum(count) / len(found), max(0., count[0] - count[1] / others) / len(found))
            for key, count in counts.items()}


def place(function, library, known):
    if not library.startswith("libhuddle"):
        return "kernel" if library.startswith("[") else library.split(".")[0]
    return ", ".join(sorted(known.get(function, {"?"})))


def print_shares(found):
    known = definitions()
    print("| function | file in src/ | share | one thread |\n|---|---|---:|---:|")
    folders, alone = collections.Counter(), 0
    for (function, library), (share, single) in sorted(found.items(), key=lambda item: -item[1][0]):
        where = place(function, library, known)
        folders[where.split("/")[0] if "/" in where else where] += share
        alone += single
        if share >= LEAST:
            print(f"| `{function}` | {where} | {100 * share:.1f} % | {100 * single:.1f} % |")
    print(f"| all | | | {100 * alone:.0f} % |\n")
    print("By folder or library: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in folders.most_common()
                                               if share >= LEAST))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=100_000)
    options, rest = parser.parse_known_args()
    if not shutil.which("perf"):
        sys.exit("perf is missing: install linux-perf")
    case = sheets(options.n)
    with tempfile.TemporaryDirectory() as folder:
        recorded = pathlib.Path(folder) / "perf.data"
        result = run(["perf", "record", "-q", "-F", RATE, "-o", recorded, ROOT / "build" / "huddle", "cluster",
                      case.path(), "-c", case.clusters, "--y", "none", "--json", "-q", *rest], seconds=86400)
        if result["failure"]:
            sys.exit(result["failure"])
        report = json.loads(result["output"])
        found = shares(samples(recorded))
    print(f"{case.name}: {result['wall']:.1f} s, CPU {result['cpu']:.1f} s, peak {result['peak'] / 1e6:.0f} MB\n")
    print("Stages, s: " + ", ".join(f"{name} {value:.2f}" for name, value in report["seconds"].items()) + "\n")
    print_shares(found)


if __name__ == "__main__":
    main()
