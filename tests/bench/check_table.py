#!/usr/bin/python3
"""The table of ./dev bench on tiny cases: check_table.py ROOT BUILD

Checks its columns and members, that programs which fail, take too long or need too much memory are shown as
such, that peak memory is that of the program alone, and that an interrupted table is continued.
"""
import argparse
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(ROOT / "bench"))

import cases  # noqa: E402
import growth  # noqa: E402
import launch  # noqa: E402
import measure  # noqa: E402
import peers  # noqa: E402
import stages  # noqa: E402
import store  # noqa: E402
import table  # noqa: E402

ROW = {"stage", "case", "ours", "ours_failure", "runs", "cpu", "peer_name", "peer_version", "peer", "peer_failure",
       "peer_scaled", "ratio", "ratio_cpu", "memory", "peer_memory", "quality", "peer_quality", "limit",
       "limit_seconds", "near"}
PEERS = {  # name of a peer: its program
    "works": "import time; time.sleep(.05); print('{\"seconds\": 0.25, \"work_cpu\": 0.125, \"ari\": 0.5}')",
    "fails": "raise RuntimeError('made to fail')",
    "talks": "print('no number')",
    "sleeps": "import time; time.sleep(60)",
    "grows": "x = bytearray(900_000_000); import time; time.sleep(60)"}
LIMIT, MEMORY = 1, 600e6


class TinyPlan(stages.Plan):
    """Whole runs on two sizes, the first beside peers that behave in all possible ways."""

    def sizes(self):
        return (200, 400)

    def entries(self):
        for n in self.sizes():
            entry = self.whole(cases.sheets(n), compare=False)
            if n == 200:
                entry.peers = [store.Job("whole run", entry.ours.case, name, "1.0",
                                         lambda code=code: [sys.executable, "-c", code], stages.read_json)
                               for name, code in PEERS.items()]
            yield entry


def options(**changes):
    values = {"runs": 1, "limit": LIMIT, "memory": MEMORY, "only": None, "fresh": False, "markdown": False, "docs": False}
    return argparse.Namespace(**{**values, **changes})


def check(condition, text):
    if not condition:
        sys.exit(f"failed: {text}")


def check_rows(folder):
    with open(folder / "table.json") as file:
        found = json.load(file)
    check(set(found) == {"machine", "version", "rows", "growth"}, f"members {sorted(found)}")
    check(all(set(row) == ROW for row in found["rows"]), "members of the rows")
    rows = {row["peer_name"]: row for row in found["rows"]}
    check(set(rows) == {*PEERS, None}, f"rows of {sorted(map(str, rows))}")
    ours = rows["works"]
    check(ours["ours"] > 0 and ours["memory"] > 1e7 and ours["runs"] == 1, f"Huddle's own run {ours}")
    check(math.isclose(ours["ratio"], .25 / ours["ours"]) and ours["ratio_cpu"] > 0, "ratio")
    check("gap" in ours["quality"] and "ARI" in ours["quality"] and ours["peer_quality"] == "ARI 0.500", "quality")
    check(0 < ours["near"] <= 1.1 and ours["limit"].endswith("CPUs"), f"limit {ours['limit']} {ours['near']}")
    for name, phrase in (("fails", "failed: RuntimeError: made to fail"), ("sleeps", f"> {LIMIT} s"),
                         ("grows", "out of memory")):
        check(rows[name]["peer_failure"] == phrase, f"{name}: {rows[name]['peer_failure']}")
        check(rows[name]["peer"] is None and rows[name]["ratio"] is None, f"a ratio to {name}")
    check(rows["talks"]["peer_failure"].startswith("failed: JSONDecodeError"), rows["talks"]["peer_failure"])
    check([each["n"] for each in found["growth"]] == [200, 400], "growth")
    check({"graph", "embed", "shrink", "other"} <= set(found["growth"][0]["stages"]), "stages of the growth")


def check_markdown(folder):
    lines = [line for line in (folder / "table.md").read_text().splitlines() if line.startswith("|")]
    header = "| " + " | ".join(table.COLUMNS) + " |"
    check(lines[0] == header and header.startswith("| stage | case | ours | peer | ratio | memory |"), lines[0])
    rows = lines[2:3 + len(PEERS)]
    check(all(line.count(" | ") == len(table.COLUMNS) - 1 for line in rows), "number of cells")
    check(any(f"| sleeps: > {LIMIT} s |" in line for line in rows), "the peer over its limit")
    check(any("| fails: failed: RuntimeError: made to fail |" in line for line in rows), "the failing peer")
    check(any("| grows: out of memory |" in line for line in rows), "the peer without memory")
    check(any(line.startswith("| **whole run, s**") for line in lines), "growth")
    check(all((folder / f"growth.{kind}").stat().st_size > 1000 for kind in ("png", "svg")), "plots")


def check_page(folder):
    """The page keeps its text, and its table is replaced, however often."""
    page = folder / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"# Title\n\n{table.BEGIN}\nold\n{table.END}\n\nThe end.\n")
    for text in ("| first |\n", "| second |\n"):
        table.write_page(text, folder, page)
    check(page.read_text() == f"# Title\n\n{table.BEGIN}\n\n| second |\n\n{table.END}\n\nThe end.\n",
          page.read_text())
    check((page.parent / "growth.png").exists(), "the plot beside the page")
    for mark in (table.BEGIN, table.END):
        check(table.PAGE.read_text().count(mark) == 1, f"{table.PAGE.name}: {mark}")


def check_memory():
    """A large parent is not counted as memory of the program that it measures."""
    ballast = bytearray(300_000_000)
    peak = measure.run(["true"])["peak"]
    check(peak < 50e6, f"peak of `true` {peak / 1e6:.0f} MB")
    wanted = measure.run([sys.executable, "-c", f"x = bytearray({len(ballast)})"])["peak"]
    check(300e6 < wanted < 400e6, f"peak of 300 MB {wanted / 1e6:.0f} MB")


def check_resumed(plan, folder):
    """Nothing is measured twice, but a program that ran out of time may get more."""
    count = []
    original, store.run = store.run, lambda *words: count.append(words) or original(*words)
    table.run(plan, options(), folder)
    check(not count, f"{len(count)} runs were repeated")
    table.run(plan, options(limit=LIMIT + .5), folder)
    check(len(count) == 1, f"{len(count)} runs with more time, not 1")
    table.run(plan, options(runs=2, only=re.compile("works")), folder)
    check(len(count) == 2, f"{len(count)} runs after a second one of a single peer was asked for")
    store.run = original


def check_interrupted(folder):
    """Ctrl-C keeps what is known, ends what runs, and says so by its exit status."""
    child = subprocess.Popen([sys.executable, __file__, str(ROOT), str(BUILD), "interrupted", str(folder)],
                             stdout=subprocess.PIPE, text=True, start_new_session=True)
    for line in child.stdout:
        if ", fails:" in line:  # the next one to run, or the one after it, sleeps
            break
    deadline = time.monotonic() + 30
    while not sleeping(child.pid) and time.monotonic() < deadline:
        time.sleep(.05)
    check(sleeping(child.pid), "the sleeping peer never ran")
    try:
        with store.Store(folder / "results.json").locked():
            check(False, "two measurements at the same time")
    except SystemExit as error:
        check("another benchmark is running" in str(error), str(error))
    pid, began = sleeping(child.pid), time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    text = child.stdout.read()
    check(time.monotonic() - began < 40, "it waited for the peer, which sleeps for a minute")
    check(child.wait() == 130 and "interrupted" in text, f"exit status {child.returncode}")
    check("| fails: failed: RuntimeError" in text and "sleeps" not in text, "the table so far")
    check(not os.path.exists(f"/proc/{pid}"), "the peer runs on")
    known = store.Store(folder / "results.json").entries
    check(any("| huddle |" in key for key in known), "the first run was lost")


def sleeping(pid):
    """The process of the peer that sleeps, among the descendants of a process."""
    for each in launch.family(pid):
        try:
            words = pathlib.Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:2] == [b"-c"] and PEERS["sleeps"].encode() in words:
            return each
    return None


def check_exponent():
    pairs = [(n, 3e-7 * n ** 1.7) for n in (1000, 10_000, 30_000, 1_000_000)]
    check(math.isclose(growth.exponent(pairs), 1.7), f"exponent {growth.exponent(pairs)}")
    check(growth.exponent([(1000, 1.), (1_000_000, 9.)]) is None, "an exponent of one size")
    bent = [(1000, 50.), *pairs[1:]]  # small sizes do not count
    check(math.isclose(growth.exponent(bent), 1.7), "the exponent of small sizes")


def check_names():
    """A benchmark runs only if it is named, and a wrong name is an error."""
    done = subprocess.run([sys.executable, str(ROOT / "bench" / "run.py"), "nothing"], capture_output=True, text=True)
    check(done.returncode != 0 and "no benchmark named nothing" in done.stderr, done.stderr)
    check("quality" in done.stderr and "table" not in done.stderr.replace("tables", ""), done.stderr)


def main():
    with tempfile.TemporaryDirectory() as place:
        cases.FOLDER = pathlib.Path(place) / "data"
        plan = TinyPlan(peers.Peers(), build=BUILD)
        if sys.argv[3:4] == ["interrupted"]:
            sys.exit(table.run(plan, options(limit=60), pathlib.Path(sys.argv[4])))
        folder = pathlib.Path(place) / "bench"
        others = re.compile(r"\| (huddle|works|fails|talks|grows) \|")  # with time enough on a busy machine
        check(table.run(plan, options(limit=200, only=others), folder) == 0, "exit status")
        check(table.run(plan, options(), folder) == 0, "exit status")
        check_rows(folder)
        check_markdown(folder)
        check_page(folder)
        check_resumed(plan, folder)
        check_interrupted(pathlib.Path(place) / "again")
        check_memory()
        check_exponent()
        check_names()


if __name__ == "__main__":
    main()
