#!/usr/bin/python3
"""Runs the benchmarks: run.py [NAME ...], all by default.

Each bench/NAME.py measures Huddle beside other software in the same run and prints ratios. Real data
are read from the folder $HUDDLE_DATA if it is set; otherwise data of the same shape are generated.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
HELPERS = {"run", "clusters", "duplicates", "make_corpus", "make_mnist70k", "make_sheets", "quality_data", "quality_fit", "quality_tables",
           "rules", "shrink_ideas", "tables"}


def main(names):
    known = sorted(p.stem for p in HERE.glob("*.py")
                   if p.stem not in HELPERS and not p.stem.startswith("peer_"))
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no benchmark named {unknown[0]}; there are {', '.join(known)}")
    failed = []
    for name in names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")]).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
