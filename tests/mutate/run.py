#!/usr/bin/python3
"""Mutation testing: each entry of tests/mutate/*.txt breaks one line, and some test must fail.

    run.py [AREA...]          run the mutations of those lists (default: all)
    run.py --check [AREA...]  only check that every entry still fits the sources
    run.py --list [AREA...]   print the entries

The lists are described in CONTRIBUTING.md. The tree is copied to build-mutate/, one copy per
worker, and only the copies are changed.
"""
import argparse
import collections
import dataclasses
import glob
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = ("file", "from", "to", "tests", "argued")
SHORTEST_LIMIT = 30  # seconds that a test is always allowed
LIMIT_FACTOR = 10  # and how many times its unmutated time
BUILD_LIMIT = 900


@dataclasses.dataclass
class Mutation:
    area: str
    line: int  # of its first key, in the list
    file: str = ""
    before: str = ""
    after: str = ""
    tests: str = ""
    argued: str = ""
    outcome: str = ""  # "killed by ...", "SURVIVED" or an error of the list
    seconds: float = 0

    @property
    def place(self):
        return f"tests/mutate/{self.area}.txt:{self.line}"

    def __str__(self):
        return f"{self.file}: {self.before} -> {self.after or '(nothing)'}"


def read_list(path):
    """Returns the mutations of one list and the errors of its syntax."""
    area = os.path.splitext(os.path.basename(path))[0]
    names = {"file": "file", "from": "before", "to": "after", "tests": "tests", "argued": "argued"}
    mutations, errors, current, seen = [], [], None, set()
    with open(path, encoding="utf-8") as text:
        lines = text.read().split("\n") + [""]
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if current is not None:
                missing = [key for key in KEYS[:4] if key not in seen]
                if missing:
                    errors.append(f"{current.place}: no '{missing[0]}:'")
                else:
                    mutations.append(current)
            current, seen = None, set()
            continue
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon or key not in names or key in seen:
            errors.append(f"tests/mutate/{area}.txt:{number}: cannot be understood: {line}")
            continue
        if current is None:
            current = Mutation(area, number)
        seen.add(key)
        setattr(current, names[key], value.strip())
    return mutations, errors


def check(mutations):
    """Returns what is stale: entries whose `from` is not exactly once in their file."""
    errors, texts = [], {}
    for mutation in mutations:
        path = os.path.join(ROOT, mutation.file)
        if mutation.file not in texts:
            try:
                with open(path, encoding="utf-8") as text:
                    texts[mutation.file] = text.read()
            except OSError as error:
                texts[mutation.file] = None
                errors.append(f"{mutation.place}: {mutation.file}: {error.strerror}")
        text = texts[mutation.file]
        if text is None:
            continue
        count = text.count(mutation.before) if mutation.before else 0
        if count != 1:
            errors.append(f"{mutation.place}: stale: occurs {count} times in {mutation.file}: "
                          f"{mutation.before}")
        elif mutation.before == mutation.after:
            errors.append(f"{mutation.place}: 'to' is the same as 'from'")
        try:
            re.compile(mutation.tests)
        except re.error as error:
            errors.append(f"{mutation.place}: tests: {error}")
    return errors


class Tree:
    """A copy of the sources with a build folder of its own."""

    def __init__(self, folder):
        self.source = os.path.join(folder, "tree")
        self.build = os.path.join(folder, "build")
        self.log = os.path.join(folder, "log.txt")
        self.targets = {}  # test name -> what ninja has to build for it
        self.limits = {}  # test name -> seconds

    def copy(self):
        """Makes the copy equal to the work tree; equal files keep their time stamps."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
            check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        wanted = {name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))}
        for folder, _, names in os.walk(self.source):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.source) not in wanted:
                    os.remove(path)
        for name in wanted:
            new, old = os.path.join(ROOT, name), os.path.join(self.source, name)
            with open(new, "rb") as file:
                content = file.read()
            if os.path.isfile(old):
                with open(old, "rb") as file:
                    if file.read() == content:
                        continue
            os.makedirs(os.path.dirname(old), exist_ok=True)
            with open(old, "wb") as file:
                file.write(content)
            shutil.copymode(new, old)

    def configure(self):
        # Optimised, because the tests take longer than the compiler; no debug information, because
        # the linker takes longer with it.
        result = subprocess.run(
            ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O2", "-DHUDDLE_BENCH=OFF"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise SystemExit(f"mutate: cmake failed\n{result.stdout}")
        self.targets = self._find_targets()

    def _find_targets(self):
        """Which programs each test runs: the paths under the build folder in its command, or the
        tool and the library for tests that find them by PATH."""
        listing = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"],
                                 stdout=subprocess.PIPE, check=True, text=True).stdout
        built = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"],
                               stdout=subprocess.PIPE, check=True, text=True).stdout
        outputs = {line.rpartition(": ")[0] for line in built.split("\n")}
        targets = {}
        for test in json.loads(listing)["tests"]:
            paths = [os.path.relpath(word, self.build) for word in test.get("command", [])
                     if word.startswith(self.build + os.sep)]
            # ctest prints no command for a program that is not built; its target has its name.
            if "command" not in test:
                paths = ["tests/" + test["name"], "examples/" + test["name"]]
            found = [path for path in paths if path in outputs]
            targets[test["name"]] = found or ["huddle", "libhuddle.so"]
        return targets

    def matching(self, expression):
        return [name for name in self.targets if re.search(expression, name)]

    def compile(self, tests, jobs):
        """Returns the compiler's output if the build fails, else None."""
        names = sorted({target for test in tests for target in self.targets[test]})
        result = subprocess.run(["ninja", "-C", self.build, "-j", str(jobs)] + names,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", timeout=BUILD_LIMIT)
        return result.stdout if result.returncode != 0 else None

    def test(self, tests, limit, jobs=1, stop=True):
        """Returns {name: (outcome, seconds)}, outcome "Passed", "Failed", "Timeout", ..."""
        expression = "^(" + "|".join(re.escape(name) for name in tests) + ")$"
        command = ["ctest", "--test-dir", self.build, "-R", expression, "--timeout", str(limit),
                   "-j", str(jobs), "--output-on-failure"]
        result = subprocess.run(command + (["--stop-on-failure"] if stop else []),
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace")
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(result.stdout)
        outcomes = {}
        for line in result.stdout.split("\n"):
            match = re.match(r" *\d+/\d+ Test +#\d+: (\S+) \.*[ .]*(\*\*\*)?(.*?) +([\d.]+) sec",
                             line)
            if match:
                words = match[3].replace("***", "").strip()
                outcomes[match[1]] = (words.split()[0] if words else "Passed", float(match[4]))
        return outcomes

    def write(self, file, text):
        path = os.path.join(self.source, file)
        old = os.stat(path).st_mtime_ns
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        if os.stat(path).st_mtime_ns <= old:  # a coarse clock: ninja must see the change
            os.utime(path, ns=(old + 1000000, old + 1000000))

    def run(self, mutation):
        """Applies one mutation, builds, tests and restores; the outcome is left in it."""
        begin = time.monotonic()
        tests = self.matching(mutation.tests)
        with open(os.path.join(self.source, mutation.file), encoding="utf-8") as text:
            original = text.read()
        self.write(mutation.file, original.replace(mutation.before, mutation.after))
        try:
            broken = self.compile(tests, 1)
            if broken is not None:
                mutation.outcome = "DOES NOT COMPILE\n" + broken[-2000:]
            else:
                limit = max(self.limits[name] for name in tests)
                outcomes = self.test(tests, limit)
                failed = [(name, how) for name, (how, _) in outcomes.items()
                          if how not in ("Passed", "Skipped")]
                if failed:
                    name, how = failed[0]
                    mutation.outcome = ("killed by " + name +
                                        (" (timeout)" if how == "Timeout" else ""))
                elif not outcomes:
                    mutation.outcome = "NO TEST RAN"
                else:
                    mutation.outcome = "SURVIVED"
        finally:
            self.write(mutation.file, original)
        mutation.seconds = time.monotonic() - begin


def baseline(trees, mutations):
    """Builds and runs the needed tests unmutated, and sets their time limits."""
    tests = sorted({name for mutation in mutations for name in trees[0].matching(mutation.tests)})
    for tree in trees:
        broken = tree.compile(tests, os.cpu_count() or 2)
        if broken is not None:
            raise SystemExit(f"mutate: the build fails without a mutation\n{broken[-4000:]}")
    outcomes = trees[0].test(tests, 1500, jobs=len(trees), stop=False)
    bad = [name for name in tests if outcomes.get(name, ("Missing", 0))[0] not in
           ("Passed", "Skipped")]
    if bad:
        raise SystemExit("mutate: these tests fail without a mutation: " + " ".join(bad))
    for tree in trees:
        tree.limits = {name: max(SHORTEST_LIMIT, LIMIT_FACTOR * seconds)
                       for name, (_, seconds) in outcomes.items()}


def run(mutations, workers):
    trees = [Tree(os.path.join(ROOT, "build-mutate", str(k))) for k in range(workers)]
    begin = time.monotonic()
    for tree in trees:
        tree.copy()
        tree.configure()
        if os.path.exists(tree.log):
            os.remove(tree.log)
    unmatched = [f"{m.place}: no test matches '{m.tests}'" for m in mutations
                 if not trees[0].matching(m.tests)]
    if unmatched:
        raise SystemExit("\n".join(unmatched))
    baseline(trees, mutations)
    print(f"mutate: built and tested unmutated in {time.monotonic() - begin:.0f} s", flush=True)

    # Mutations of one file stay with one worker, so that few files are compiled to be restored.
    files = collections.defaultdict(list)
    for mutation in mutations:
        files[mutation.file].append(mutation)
    todo = queue.Queue()
    for group in sorted(files.values(), key=len, reverse=True):
        todo.put(group)
    output = threading.Lock()
    failures = []

    def work(tree):
        while not failures:
            try:
                group = todo.get_nowait()
            except queue.Empty:
                return
            for mutation in group:
                try:
                    tree.run(mutation)
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(f"{mutation.place}: {error}")
                    return
                with output:
                    outcome = mutation.outcome.split("\n")[0]
                    print(f"{outcome:32} {mutation.seconds:4.0f} s  {mutation}", flush=True)

    threads = [threading.Thread(target=work, args=(tree,), daemon=True) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SystemExit("\n".join(failures))
    return report(mutations, time.monotonic() - begin)


def report(mutations, seconds):
    killed = [m for m in mutations if m.outcome.startswith("killed")]
    survivors = [m for m in mutations if m.outcome == "SURVIVED"]
    invalid = [m for m in mutations if m not in killed and m not in survivors]
    for mutation in killed:
        if mutation.argued:
            print(f"{mutation.place}: argued for as a survivor, but killed: drop 'argued:'")
    for mutation in survivors:
        print(f"survived: {mutation.place}: {mutation}")
        print(f"          {'argued: ' + mutation.argued if mutation.argued else 'not argued for'}")
    for mutation in invalid:
        print(f"invalid: {mutation.place}: {mutation}: {mutation.outcome}")
    print(f"{len(killed)} of {len(mutations)} killed in {seconds / 60:.1f} minutes")
    return 1 if invalid or any(not m.argued for m in survivors) else 0


def main():
    parser = argparse.ArgumentParser(description="mutation tests; see CONTRIBUTING.md")
    parser.add_argument("--check", action="store_true", help="only check the lists")
    parser.add_argument("--list", action="store_true", help="print the entries")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--grep", default="", help="only entries whose text matches")
    parser.add_argument("area", nargs="*")
    arguments = parser.parse_args()
    folder = os.path.join(ROOT, "tests", "mutate")
    paths = {os.path.splitext(os.path.basename(path))[0]: path
             for path in sorted(glob.glob(os.path.join(folder, "*.txt")))}
    unknown = [area for area in arguments.area if area not in paths]
    if unknown:
        raise SystemExit(f"mutate: no list '{unknown[0]}'; there are {' '.join(paths)}")
    mutations, errors = [], []
    for area in arguments.area or paths:
        found, wrong = read_list(paths[area])
        mutations += found
        errors += wrong
    errors += check(mutations)
    if errors:
        raise SystemExit("\n".join(errors))
    mutations = [m for m in mutations if re.search(arguments.grep, str(m))]
    if arguments.list:
        for mutation in mutations:
            print(f"{mutation.area}: {mutation} [{mutation.tests}]")
    if arguments.check or arguments.list:
        print(f"{len(mutations)} mutations in {len(arguments.area or paths)} lists, none stale")
        return 0
    if not mutations:
        raise SystemExit("mutate: nothing to do")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return run(mutations, max(1, min(arguments.workers, len({m.file for m in mutations}))))


if __name__ == "__main__":
    sys.exit(main())
