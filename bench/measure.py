"""What the machine can do, and what a command needs: wall and CPU seconds, peak memory, how it ended.

Every measured program runs in a process of its own under launch.py. A program that fails, takes too
long or needs too much memory is a result like any other.
"""
import concurrent.futures
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CPUS = len(os.sched_getaffinity(0))
SIDE = 1024  # of the matrices that are multiplied: large enough for the full rate
STREAM = 1 << 23  # numbers of an array whose copies are timed: 64 MB, more than any cache
MESSAGE = 90  # characters of an error message that are shown


def threads():
    """The environment of a measured program: all of BLAS, OpenMP and numba use every CPU."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**os.environ, **{name: str(CPUS) for name in names}}


def failure(report, errors, seconds):
    """A phrase for the table, or None if the program succeeded."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1] if lines else f"exit code {report['code']}"
    if report["ended"] == "time":
        return f"> {seconds:g} s"
    # The kernel ends a process by SIGKILL when the machine has no memory left.
    if report["ended"] == "memory" or report["code"] == -9 or "MemoryError" in last:
        return "out of memory"
    if report["code"] != 0:
        return f"failed: {last[:MESSAGE]}"
    return None


def run(command, seconds=600, memory=None):
    """Runs a command: wall, cpu, peak (bytes), failure (None or a phrase), output (text)."""
    memory = memory or .9 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        launcher = [sys.executable, "-I", "-S", str(HERE / "launch.py"), report, str(seconds), str(memory)]
        with open(os.path.join(folder, "output"), "w+") as output, \
                open(os.path.join(folder, "errors"), "w+", errors="replace") as errors:
            child = subprocess.Popen([*launcher, *map(str, command)], stdout=output, stderr=errors,
                                     env=threads())
            try:
                child.wait()
            except KeyboardInterrupt:
                child.terminate()
                child.wait()
                raise
            output.seek(0)
            errors.seek(0)
            with open(report) as file:
                found = json.load(file)
            return {"wall": found["wall"], "cpu": found["cpu"], "peak": found["peak"],
                    "failure": failure(found, errors.read(), seconds), "output": output.read()}


def gemm_rate():
    """Operations per second of a product of float matrices on all CPUs: the best of a few."""
    a = np.ones((SIDE, SIDE), np.float32)
    best = min(_timed(lambda: a @ a) for _ in range(10))
    return 2 * SIDE ** 3 / best


def memory_rate():
    """Bytes per second of c = a + b over arrays beyond the caches, one slice per CPU at a time.

    The traffic is that of STREAM's triad: two arrays are read and one is written.
    """
    a, b, c = np.ones(STREAM), np.ones(STREAM), np.ones(STREAM)
    slices = [slice(k * STREAM // CPUS, (k + 1) * STREAM // CPUS) for k in range(CPUS)]
    with concurrent.futures.ThreadPoolExecutor(CPUS) as pool:
        def add():
            list(pool.map(lambda part: np.add(a[part], b[part], out=c[part]), slices))
        best = min(_timed(add) for _ in range(6))
    return 3 * a.nbytes / best


def _timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def machine():
    """Where and when: what a reader needs to judge the numbers."""
    model = platform.machine()
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), model)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpus": CPUS, "model": model, "memory": memory, "load": os.getloadavg()[0],
            "gemm": gemm_rate(), "bandwidth": memory_rate(), "date": time.strftime("%Y-%m-%d %H:%M")}
