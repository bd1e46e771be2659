"""How fast Ctrl-C ends the tool, in every stage.

    python3 bench/interrupt.py build/huddle POINTS.npy -c 40 [--moments 20] [--seconds 80]

Runs `huddle cluster` once for each of several moments, spread over the given seconds (by default
over the time that one undisturbed run takes), and interrupts it then. For each it prints the stage,
the wall time from the signal to the end, and the same as CPU seconds per thread, which is what
counts on a machine that does other work too. The exit status must be 1, the message `cancelled`,
and no file may be left behind. Ends with 1 if a run took more than half a CPU second per thread.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 0.5  # seconds from the signal to the end of the process


def used_cpu(pid):
    """Return the CPU seconds of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Run:
    """A process of the tool whose messages are read while it runs."""

    def __init__(self, words, folder):
        self.lines = []
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, cwd=folder)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.strip())

    def stage(self):
        """Return the first word of the last line of progress."""
        progress = [line for line in self.lines if line.endswith(" left")]
        return progress[-1].split()[1] if progress else "-"

    def end(self):
        """Wait for the process; return its exit status and its CPU seconds."""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.reader.join()
        return self.process.returncode, usage.ru_utime + usage.ru_stime


def interrupt(words, moment):
    """Run the tool, interrupt it after `moment` seconds; None if it had ended by then."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(words, folder)
        time.sleep(moment)
        if run.process.poll() is not None:
            return None
        stage, cpu = run.stage(), used_cpu(run.process.pid)
        begin = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        status, total = run.end()
        wall = time.monotonic() - begin
        clean = status == 1 and run.lines[-1:] == ["huddle: cancelled"] and not os.listdir(folder)
        return stage, wall, total - cpu, clean


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("points")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_known_args()


def main():
    arguments, options = parse_arguments()
    words = [os.path.abspath(arguments.tool), "cluster", os.path.abspath(arguments.points),
             "--n-threads", str(arguments.threads), "-o", "labels.npy", "--save", "model",
             "--dump", "dump", *options]
    seconds = arguments.seconds
    if seconds is None:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            seconds = time.monotonic() - begin
    late = 0
    print(f"{'moment':>8} {'stage':10} {'wall':>6} {'CPU':>6}")
    for k in range(arguments.moments):
        moment = seconds * (k + 0.5) / arguments.moments
        found = interrupt(words, moment)
        if found is None:
            print(f"{moment:8.2f} ended")
            continue
        stage, wall, cpu, clean = found
        cpu /= arguments.threads
        late += cpu > LIMIT or not clean
        print(f"{moment:8.2f} {stage:10} {wall:6.2f} {cpu:6.2f}"
              f"{'  late' if cpu > LIMIT else ''}{'' if clean else '  not clean'}", flush=True)
    return late > 0


if __name__ == "__main__":
    sys.exit(main())
