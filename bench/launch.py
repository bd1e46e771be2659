"""Runs one command with a time and a memory limit, and reports what it used.

    python3 -I -S launch.py REPORT SECONDS BYTES COMMAND [ARGUMENT ...]

REPORT becomes a JSON object: ended ("exit", "signal", "time" or "memory"), code, wall and cpu (seconds),
peak (bytes). A program of its own, without imports beyond a few, because the kernel counts the memory
of the process that started a command as part of the command's peak: a measuring program that holds a
large array would be reported in place of a small command. The limit of memory is compared with the
resident memory of the command and of all processes that it started.
"""
import json
import os
import signal
import sys
import time

INTERVAL = .02  # seconds between two looks at the memory; 20 ms of 1 GB/s of new pages are 20 MB
PAGE = os.sysconf("SC_PAGE_SIZE")


def family(pid):
    """The process and all that descend from it."""
    yield pid
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        for task in tasks:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in file.read().split():
                    yield from family(int(child))
    except OSError:
        return  # it has ended


def resident(pid):
    """Bytes of memory of a process; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def kill(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def watch(pid, seconds, limit):
    """Waits for the command, or ends it; returns how it ended, its status, its usage and its peak."""
    began, ended, most = time.monotonic(), None, 0
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            break
        held = sum(map(resident, family(pid)))
        most = max(most, held)
        if ended is None and held > limit:
            ended = "memory"
            kill(pid)
        elif ended is None and time.monotonic() - began > seconds:
            ended = "time"
            kill(pid)
        time.sleep(INTERVAL)
    kill(pid)  # whatever it left behind
    wall = time.monotonic() - began
    return ended, status, usage, max(most, usage.ru_maxrss * 1024), wall


def stop(pid):
    """Ends the command and this process, when this process is told to end."""
    kill(pid)
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass  # it had ended
    os._exit(130)


def start(command):
    """Starts the command as the leader of a session, so that it can be ended with all its processes."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"{command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    return pid


def main():
    report, seconds, limit, command = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    pid = start(command)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop(pid))
    ended, status, usage, peak, wall = watch(pid, seconds, limit)
    code = os.waitstatus_to_exitcode(status)
    with open(report, "w") as file:
        json.dump({"ended": ended or ("signal" if code < 0 else "exit"), "code": code, "wall": wall,
                   "cpu": usage.ru_utime + usage.ru_stime, "peak": peak}, file)


if __name__ == "__main__":
    main()
