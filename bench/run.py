#!/usr/bin/python3
"""The benchmarks: run.py [OPTIONS] measures the table; run.py NAME [NAME ...] runs bench/NAME.py.

The table has one row per stage, case and peer; every row is stored as soon as it is measured, so that the
same command continues an interrupted table (stages.py has the rows, table.py the columns). Each
bench/NAME.py compares one thing and prints ratios. Real data are read from the folder $HUDDLE_DATA if it is
set; otherwise data of the same shape are generated.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MODULES = {"cases", "growth", "launch", "measure", "peers", "run", "stages", "store", "table", "tasks"}
HELPERS = {"duplicates", "make_corpus", "make_mnist70k", "make_sheets", "quality_data", "quality_fit", "quality_tables"}


def scripts():
    return sorted(path.stem for path in HERE.glob("*.py")
                  if path.stem not in MODULES | HELPERS)


def run_scripts(names):
    unknown = [name for name in names if name not in scripts()]
    if unknown:
        sys.exit(f"no benchmark named {unknown[0]}; there are {', '.join(scripts())}")
    failed = []
    for name in names:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")]).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure Huddle beside other software.",
                                     epilog=f"names: {', '.join(scripts())}")
    parser.add_argument("names", nargs="*", metavar="NAME", help="run bench/NAME.py instead of the table")
    parser.add_argument("--quick", action="store_true", help="small cases only, in two minutes")
    parser.add_argument("--peers", action="store_true", help="all peers, from PyPI, in build/bench/venv")
    parser.add_argument("--only", metavar="REGEX", type=re.compile,
                        help="measure only rows whose 'stage | case | program | version' matches")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each program; the median counts [3; quick: 1]")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="of one run [600]")
    parser.add_argument("--memory", type=float, metavar="GB", help="limit of one run [90 %% of the machine]")
    parser.add_argument("--fresh", action="store_true", help="measure again what is known")
    parser.add_argument("--markdown", action="store_true", help="print the table of what is known; measure nothing")
    parser.add_argument("--docs", action="store_true",
                        help="the same, into docs/performance.md, and the plot of the growth into docs/")
    parser.add_argument("--build", default=HERE.parent / "build", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.runs = options.runs or (1 if options.quick else 3)
    options.memory = options.memory and options.memory * 1e9
    return options


def main():
    options = arguments()
    if options.names:
        return run_scripts(options.names)
    import peers
    import stages
    import table
    missing = peers.make_environment() if options.peers and not options.markdown else []
    if missing:
        print(f"not installed: {', '.join(missing)}; their rows show why", flush=True)
    return table.run(stages.Plan(peers.Peers(options.peers), options.quick, options.build), options)


if __name__ == "__main__":
    sys.exit(main())
