"""Labels must not depend on the number of threads.

    python3 bench/threads.py build/huddle POINTS.npy -c 40 [--threads 1,2,3,8]

Runs `huddle cluster` with each number of threads and compares the labels, F, G and the graphs bit by
bit. Ends with 1 if anything differs.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile


def run(tool, points, threads, options):
    """Return a hash of every file that the tool dumps."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tool, "cluster", points, "--n-threads", str(threads), "-q", "--dump", folder,
                        *options], check=True, stdout=subprocess.DEVNULL)
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(pathlib.Path(folder).iterdir())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("points")
    parser.add_argument("--threads", default="1,2,3,8")
    arguments, options = parser.parse_known_args()
    counts = [int(count) for count in arguments.threads.split(",")]
    first, differs = None, False
    for count in counts:
        found = run(os.path.abspath(arguments.tool), arguments.points, count, options)
        first = found if first is None else first
        wrong = [name for name in first if found.get(name) != first[name]]
        differs = differs or bool(wrong)
        print(f"{count} threads: {'differs in ' + ', '.join(wrong) if wrong else 'equal'}",
              flush=True)
    return differs


if __name__ == "__main__":
    sys.exit(main())
