"""The table of `./dev bench`: measures what is missing, and writes it as Markdown and JSON.

Every row compares Huddle with one peer on one case: seconds (medians), their ratio, peak memory, the recall
or the gap of the result, and how near Huddle is to a limit of the machine that was measured in the same
run. See stages.py for the rows, store.py for what is kept between runs.
"""
import json
import shutil
import time

import growth
from measure import ROOT, machine
from store import Store

FOLDER = ROOT / "build" / "bench"
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- begin: ./dev bench --docs -->", "<!-- end: ./dev bench --docs -->"
COLUMNS = ("stage", "case", "ours", "peer", "ratio", "memory", "recall or gap", "limit", "near")
QUALITIES = (("recall", "recall", ".4f"), ("gap", "gap", ".1e"), ("trace", "trace", ".5g"),
             ("inertia", "inertia", ".5g"), ("ari", "ARI", ".3f"))


# ---- rows --------------------------------------------------------------------------------------------


def quality(result):
    """What shows how good a result is, as text."""
    if result is None or "failure" in result and result["failure"]:
        return ""
    return ", ".join(f"{name} {result[key]:{form}}" for key, name, form in QUALITIES
                     if result.get(key) is not None)


def work(result):
    """CPU seconds of the measured work alone, if they are known."""
    return result.get("work_cpu")


def make_row(entry, peer, store):
    """One row, with numbers: seconds, bytes, and phrases where a program failed."""
    ours, theirs = store.summary(entry.ours), store.summary(peer) if peer else None
    row = {"stage": entry.ours.stage, "case": entry.ours.case, "ours": None, "ours_failure": None,
           "runs": 0, "cpu": None, "peer_name": peer.name if peer else None,
           "peer_version": peer.version if peer else None, "peer": None, "peer_failure": None,
           "peer_scaled": False, "ratio": None, "ratio_cpu": None, "memory": None, "peer_memory": None,
           "quality": quality(ours), "peer_quality": quality(theirs), "limit": None, "limit_seconds": None,
           "near": None}
    if ours:
        row.update(ours=ours.get("seconds"), ours_failure=ours["failure"], memory=ours["peak"],
                   cpu=work(ours), runs=ours.get("count", 0))
    if theirs:
        row.update(peer=theirs.get("seconds"), peer_failure=theirs["failure"], peer_memory=theirs["peak"],
                   peer_scaled=theirs.get("scale", 1) != 1)
    if row["ours"] and entry.limit:
        row["limit"], row["limit_seconds"] = entry.limit(ours, ours["rates"])
        row["near"] = row["limit_seconds"] / row["ours"]
    if row["ours"] and row["peer"]:
        row["ratio"] = row["peer"] / row["ours"]
        if work(ours) and work(theirs):
            row["ratio_cpu"] = work(theirs) / work(ours)
    return row


def make_rows(entries, store):
    """The rows of the entries of which something is known; of several peers, each has a row."""
    rows = []
    for entry in entries:
        known = [peer for peer in entry.peers if store.summary(peer)]
        if store.summary(entry.ours) or known:
            rows += [make_row(entry, peer, store) for peer in known or [None]]
    return rows


# ---- text --------------------------------------------------------------------------------------------


def seconds(value):
    if value is None:
        return ""
    if value < .01:
        return f"{1e3 * value:.2g} ms"
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} s"


def size(value):
    return "" if value is None else f"{value / 1e9:.2f} GB" if value >= 1e9 else f"{value / 1e6:.0f} MB"


def multiple(value):
    return "" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def cells(row, busy=False):
    """The texts of a row in the order of COLUMNS. On a busy machine only CPU seconds can be compared."""
    peer = row["peer_failure"] or seconds(row["peer"]) + (" (scaled)" if row["peer_scaled"] else "")
    memory = size(row["memory"]) + (f" / {size(row['peer_memory'])}" if row["peer_memory"] else "")
    result = row["quality"] + (f" / {row['peer_quality']}" if row["peer_quality"] else "")
    near = "" if row["near"] is None else f"{100 * row['near']:.0f} %" if row["near"] < 2 else f"{row['near']:.1f} x"
    ratio = multiple(row["ratio"]) + (f" (CPU {multiple(row['ratio_cpu'])})" if busy and row["ratio_cpu"] else "")
    limit = f"{row['limit']} {seconds(row['limit_seconds'])}" if row["limit"] else ""
    return (row["stage"], row["case"], row["ours_failure"] or seconds(row["ours"]),
            f"{row['peer_name']}: {peer}" if row["peer_name"] else "", ratio, memory, result, limit, near)


def is_busy(about):
    return about["load"] >= .5 * about["cpus"]


def heading(about, version):
    busy = ("" if not is_busy(about) else
            f" **The machine was busy (load {about['load']:.1f}): wall times mean little.**")
    return (f"{about['date']}, {version}, {about['cpus']} x {about['model']}, {about['memory'] / 1e9:.0f} GB; "
            f"GEMM {about['gemm'] / 1e9:.0f} GFLOP/s, memory {about['bandwidth'] / 1e9:.1f} GB/s, "
            f"measured in the same run.{busy}")


def markdown(rows, about, version, grown):
    lines = [heading(about, version), "", "| " + " | ".join(COLUMNS) + " |", "|---|---|---:|---|---:|---|---|---|---:|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row, is_busy(about))) + " |" for row in rows]
    return "\n".join([*lines, "", *growth.markdown(grown)]) + "\n"


# ---- measuring ---------------------------------------------------------------------------------------


def wanted(entries, only):
    """The jobs of the entries whose description matches, Huddle's before its peers."""
    for entry in entries:
        for job in (entry.ours, *entry.peers):
            if not only or only.search(job.key):
                yield job


def progress(job, store):
    found = store.summary(job)
    return found["failure"] or f"{seconds(found['seconds'])}, {size(found['peak'])}"


def measure(entries, store, options, rates):
    """Measures the runs that are missing; what is known already is not measured again."""
    for job in wanted(entries, options.only):
        if options.fresh:
            store.entries.pop(job.key, None)
        # A failure ends the loop, as nothing is missing after it.
        while store.missing(job, options.runs, options.limit):
            began = time.monotonic()
            store.measure(job, options.limit, options.memory, rates)
            print(f"[{time.monotonic() - began:6.1f} s] {job.stage}, {job.case}, {job.name}: "
                  f"{progress(job, store)}", flush=True)


def write(plan, entries, store, about, folder=FOLDER):
    """Writes table.md, table.json and the plot; returns the text of the table."""
    rows = make_rows(entries, store)
    grown = growth.collect(plan, store)
    text = markdown(rows, about, plan.version, grown)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(text)
    with open(folder / "table.json", "w") as file:
        json.dump({"machine": about, "version": plan.version, "rows": rows, "growth": grown}, file, indent=1)
    growth.draw(grown, folder)
    return text


def write_page(text, folder, page=PAGE):
    """Replaces the table of the page, which is between two comments, and the plot beside the page."""
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    if (folder / "growth.png").exists():
        shutil.copy(folder / "growth.png", page.parent)


def run(plan, options, folder=FOLDER):
    """Prints or measures the table, and returns an exit status."""
    store = Store(folder / "results.json")
    entries = list(plan.entries())
    if options.markdown or options.docs:
        about = store.entries.get("machine") or machine()
        text = write(plan, entries, store, about, folder)
        if options.docs:
            write_page(text, folder)
        else:
            print(text, end="")
        return 0
    with store.locked():
        return measure_all(plan, entries, store, options, folder)


def measure_all(plan, entries, store, options, folder):
    """Measures what is missing; writes what is known, also if it is interrupted."""
    about = store.entries["machine"] = machine()
    rates = {name: about[name] for name in ("gemm", "bandwidth", "load")}
    status = 0
    try:
        measure(entries, store, options, rates)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues")
        status = 130
    store.write()
    print(write(plan, entries, store, about, folder), end="")
    print(f"written: {folder}/table.md, table.json, growth.png, growth.svg")
    return status
