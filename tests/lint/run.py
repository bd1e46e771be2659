#!/usr/bin/python3
"""Static analysis of the sources: run.py [--deep] BUILD [FILE...]

Runs clang-tidy and cppcheck on each file, as many at a time as there are processors. A file that
was clean is not analysed again until it, a header that it includes, its compiler flags or the
analysers change: BUILD/lint holds one empty file for each such result.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPPCHECK = ["cppcheck", "--quiet", "--error-exitcode=1", "--enable=warning,performance,portability",
            "--suppress=missingIncludeSystem", "--suppress=autoVariables",
            "--suppress=unknownMacro", "--suppress=ctunullpointer", "--inline-suppr",
            "--std=c11"]
CLANG_TIDY = ["clang-tidy", "--quiet"]
# States that the analyser explores per function: a quarter of its default takes a quarter of its
# time. ./dev lint deep gives it the default again.
SHALLOW = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang",
           "--extra-arg=max-nodes=60000"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Sources:
    """What a file depends on: itself and the headers of the project that it includes."""

    def __init__(self, folders):
        self.folders = folders
        self.known = {}

    def includes(self, path):
        if path not in self.known:
            names = re.findall(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', read(path), re.MULTILINE)
            found = []
            for name in names:
                for folder in [os.path.dirname(path)] + self.folders:
                    candidate = os.path.normpath(os.path.join(folder, name.decode()))
                    if os.path.isfile(candidate):
                        found.append(candidate)
                        break
            self.known[path] = found
        return self.known[path]

    def closure(self, path):
        seen, todo = {path}, [path]
        while todo:
            for header in self.includes(todo.pop()):
                if header not in seen:
                    seen.add(header)
                    todo.append(header)
        return sorted(seen)


def version(command):
    return subprocess.run([command, "--version"], stdout=subprocess.PIPE, check=True).stdout


def jobs_of(build, wanted, deep):
    """(file, command, what the result depends on besides the sources) for each analyser."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        flags = {}
        for entry in json.load(file):
            name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
            flags.setdefault(name, entry["command"])
    tidy_key = version("clang-tidy") + read(os.path.join(ROOT, ".clang-tidy"))
    cppcheck_key = version("cppcheck")
    generated = os.path.join(build, "generated")
    include = [f"-I{folder}" for folder in (".", "include", "src", os.path.relpath(generated, ROOT))]
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                             "src/*.c", "cli/*.c", "app/*.c", "report/*.c", "experiment/*.c"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    for name in sorted(set(listed)):
        if wanted and name not in wanted or not os.path.isfile(os.path.join(ROOT, name)):
            continue
        if name != "src/io/digits.c":  # minutes, for an array of 150 kB and three functions
            command = CPPCHECK + include + [name]
            yield name, command, cppcheck_key + " ".join(command).encode()
        if name in flags and not name.endswith(".simd.c"):
            command = CLANG_TIDY + ([] if deep else SHALLOW) + ["-p", build, name]
            yield name, command, tidy_key + " ".join(command[:-2]).encode() + flags[name].encode()


def analyse(job):
    name, command, _ = job
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return job, result.returncode, result.stdout, seconds


def main():
    arguments = [word for word in sys.argv[1:] if word != "--deep"]
    build = os.path.abspath(arguments[0])
    cache = os.path.join(build, "lint")
    os.makedirs(cache, exist_ok=True)
    sources = Sources([os.path.join(ROOT, "include"), os.path.join(ROOT, "src"), ROOT,
                       os.path.join(build, "generated"),
                       os.path.join(build, "generated", "report")])
    todo, keys = [], {}
    for job in jobs_of(build, set(arguments[1:]), "--deep" in sys.argv):
        digest = hashlib.sha256(job[1][0].encode() + job[2])
        for path in sources.closure(os.path.join(ROOT, job[0])):
            digest.update(b"\0" + os.path.relpath(path, ROOT).encode() + b"\0" + read(path))
        keys[job[0], job[1][0]] = os.path.join(cache, digest.hexdigest())
        if not os.path.exists(keys[job[0], job[1][0]]):
            todo.append(job)
    # Long files first, so that no worker is left with one at the end.
    todo.sort(key=lambda job: (job[1][0] != "clang-tidy",
                               -os.path.getsize(os.path.join(ROOT, job[0]))))
    failed = []
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count() or 2) as pool:
        for job, code, output, seconds in pool.map(analyse, todo):
            if os.environ.get("LINT_TIMES"):
                print(f"{seconds:6.1f} s {job[1][0]} {job[0]}", flush=True)
            if code == 0:
                with open(keys[job[0], job[1][0]], "wb"):
                    pass
            else:
                failed.append(f"{job[1][0]} {job[0]}")
                print(output, flush=True)
    print(f"lint: {len(keys) - len(todo)} of {len(keys)} results known, {len(failed)} with "
          "findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
