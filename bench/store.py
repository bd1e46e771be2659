"""Measured runs, stored as soon as they are known, so that an interrupted table is continued.

A job is one program on one case. Its key contains the version of the program, so that a new build is
measured anew while the results of other software are kept.
"""
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import statistics
import sys

from measure import ROOT, run

PATIENCE = 60  # seconds: a peer that takes longer is measured once


@dataclasses.dataclass
class Job:
    stage: str
    case: str
    name: str  # "huddle" or the peer's
    version: str
    command: object  # a function that makes the inputs and returns the words of the command
    read: object  # a function of the result of measure.run() that returns seconds and what else is known
    ours: bool = False

    @property
    def key(self):
        return " | ".join((self.stage, self.case, self.name, self.version))


class Store:
    """A JSON file of {key: {"runs": [...]} or {"failure": text, "limit": seconds}}."""

    def __init__(self, path):
        self.path = path
        self.entries = {}
        self.read()

    @contextlib.contextmanager
    def locked(self):
        """Two programs that measure at the same time would disturb each other, and overwrite the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_suffix(".lock"), "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.exit(f"{self.path.parent}: another benchmark is running")
            self.read()
            yield

    def read(self):
        if self.path.exists():
            with open(self.path) as file:
                self.entries = json.load(file)

    def write(self):
        part = self.path.with_suffix(".part")
        with open(part, "w") as file:
            json.dump(self.entries, file, indent=1)
        os.replace(part, self.path)

    def missing(self, job, runs, limit):
        """How many runs of a job are still to be made."""
        entry = self.entries.get(job.key, {"runs": []})
        if "failure" in entry:  # worth another attempt only if there is more time
            return runs if entry["failure"].startswith(">") and limit > entry["limit"] else 0
        done = entry["runs"]
        slow = not job.ours and any(each["seconds"] > PATIENCE for each in done)
        return 0 if slow and done else max(0, runs - len(done))

    def measure(self, job, limit, memory, rates):
        """Makes one run of the job and stores it. Inputs that cannot be made, or an answer that cannot be
        read, are failures of the job too."""
        result = {"failure": None, "peak": None}
        try:
            result = run(job.command(), limit, memory)
            if result["failure"] is None:
                found = {**result, **job.read(result), "rates": rates}
                del found["output"]
        except (ValueError, LookupError, OSError, ImportError) as error:
            result["failure"] = f"failed: {type(error).__name__}: {error}"
        if result["failure"] is not None:
            self.entries[job.key] = {"failure": result["failure"], "limit": limit, "peak": result["peak"]}
        else:
            entry = self.entries.get(job.key, {})
            entry = entry if "runs" in entry else {"runs": []}
            entry["runs"].append(found)
            self.entries[job.key] = entry
        self.write()

    def summary(self, job):
        """The median run of a job with the largest peak, a failure, or None if nothing is known."""
        entry = self.entries.get(job.key)
        if entry is None or "failure" in entry:
            return entry
        middle = statistics.median_low(each["seconds"] for each in entry["runs"])
        chosen = next(each for each in entry["runs"] if each["seconds"] == middle)
        return {**chosen, "peak": max(each["peak"] for each in entry["runs"]), "count": len(entry["runs"])}


def build_version(build=ROOT / "build"):
    """Identifies the build that is measured: a hash of the tool and its libraries."""
    total = hashlib.sha256()
    for path in sorted([build / "huddle", *build.glob("libhuddle*.so")]):
        total.update(path.read_bytes())
    return f"build {total.hexdigest()[:10]}"
