#!/usr/bin/python3
"""Mutation testing: each entry of tests/mutate/*.txt breaks one line, and some test must fail.

    run.py [AREA...]          run the mutations of those lists (default: all)
    run.py --share 1/10       run a random share of them, another one for each commit
    run.py --check [AREA...]  only check that every entry still fits the sources and, without AREA,
                              that every file that computes something has entries
    run.py --list [AREA...]   print the entries

The lists are described in CONTRIBUTING.md. The tree is copied to build-mutate/, one copy per
worker, and only the copies are changed. If the environment sets CMAKE_C_COMPILER_LAUNCHER to ccache,
mutations that were compiled before are not compiled again.
"""
import argparse
import collections
import fractions
import json
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import lists
from lists import ROOT

SHORTEST_LIMIT = 12  # seconds that a test is always allowed
LIMIT_FACTOR = 4  # and how many times its unmutated time
PATIENCE = 3  # how many times that limit it has when it runs again, alone
BUILD_LIMIT = 900
TIMEOUT = "TIMEOUT"  # the outcome until the test has run again
MPI = "engines/mpi/"  # its files are compiled only on demand


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

    def configure(self, mpi):
        # Optimised: the compiler takes most of its time for the headers, and the tests are faster.
        # No debug information and gold: the linker runs for every mutation.
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O2", "-DHUDDLE_BENCH=OFF",
                   f"-DHUDDLE_MPI={'ON' if mpi else 'OFF'}"]
        linker = "-fuse-ld=gold" if shutil.which("ld.gold") else ""
        options += [f"-DCMAKE_{kind}_LINKER_FLAGS={linker}" for kind in ("EXE", "SHARED", "MODULE")]
        result = subprocess.run(
            ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja"] + options,
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

    def test(self, tests, limit, jobs=1):
        """Returns {name: (outcome, seconds)}, outcome "Passed", "Failed", "Timeout", ..."""
        expression = "^(" + "|".join(re.escape(name) for name in tests) + ")$"
        command = ["ctest", "--test-dir", self.build, "-R", expression, "--timeout", str(limit),
                   "-j", str(jobs), "--output-on-failure"]
        # cmocka ends a program at its first failure; nobody needs a core dump of that.
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, "CMOCKA_TEST_ABORT": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
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

    def run(self, mutation, patience=1):
        """Applies one mutation, builds, tests and restores; the outcome is left in it."""
        begin = time.monotonic()
        with open(os.path.join(self.source, mutation.file), encoding="utf-8") as text:
            original = text.read()
        self.write(mutation.file, original.replace(mutation.before, mutation.after))
        try:
            mutation.outcome = self.outcome(self.matching(mutation.tests), patience)
        finally:
            self.write(mutation.file, original)
        mutation.seconds += time.monotonic() - begin

    def outcome(self, tests, patience):
        """Builds and runs the tests one after another, the fastest first, until one fails. The
        limits are multiplied by patience; without any, a timeout proves nothing yet."""
        ran = False
        for test in sorted(tests, key=self.limits.get):
            broken = self.compile([test], 1)
            if broken is not None:
                return "DOES NOT COMPILE\n" + broken[-2000:]
            for name, (how, _) in self.test([test], patience * self.limits[test]).items():
                ran = ran or how != "Skipped"
                if how == "Timeout" and patience == 1:
                    return f"{TIMEOUT} in {name}"
                if how not in ("Passed", "Skipped"):
                    return f"killed by {name}" + (" (timeout)" if how == "Timeout" else "")
        return "SURVIVED" if ran else "NO TEST RAN"


def baseline(trees, mutations):
    """Builds and runs the needed tests unmutated, and sets their time limits."""
    tests = sorted({name for mutation in mutations for name in trees[0].matching(mutation.tests)})
    jobs = os.cpu_count() or 2
    for tree in trees:
        broken = tree.compile(tests, jobs)
        if broken is not None:
            raise SystemExit(f"mutate: the build fails without a mutation\n{broken[-4000:]}")
    outcomes = trees[0].test(tests, 1500, jobs=jobs)
    bad = [name for name in tests if outcomes.get(name, ("Missing", 0))[0] not in
           ("Passed", "Skipped")]
    if bad:
        raise SystemExit("mutate: these tests fail without a mutation: " + " ".join(bad))
    # One limit for each whole second, so that tests of the same length stay in the order of the
    # names and two runs name the same killers.
    for tree in trees:
        tree.limits = {name: max(SHORTEST_LIMIT, LIMIT_FACTOR * (int(seconds) + 1))
                       for name, (_, seconds) in outcomes.items()}


def run(mutations, workers):
    trees = [Tree(os.path.join(ROOT, "build-mutate", str(k))) for k in range(workers)]
    begin = time.monotonic()
    for tree in trees:
        tree.copy()
        tree.configure(any(m.file.startswith(MPI) for m in mutations))
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
    # A busy machine may have slowed a test down: it runs again when nothing else does.
    for mutation in mutations:
        if mutation.outcome.startswith(TIMEOUT):
            trees[0].run(mutation, PATIENCE)
            print(f"{mutation.outcome:32} {mutation.seconds:4.0f} s  {mutation}", flush=True)
    return report(mutations, time.monotonic() - begin)


def report(mutations, seconds):
    """Prints what survived, with the reasons; returns the exit status."""
    killed = [m for m in mutations if m.outcome.startswith("killed")]
    late = sum(m.outcome.endswith("(timeout)") for m in killed)
    survivors = [m for m in mutations if m.outcome == "SURVIVED"]
    argued = [m for m in survivors if m.argued]
    invalid = [m for m in mutations if m not in killed and m not in survivors]
    for mutation in killed:
        if mutation.argued:
            print(f"{mutation.place}: argued for as a survivor, but killed: drop 'argued:'")
    if argued:
        print(f"\nSurvived for a stated reason ({len(argued)}):")
    for mutation in argued:
        print(f"  {mutation.place}: {mutation}\n    because: {mutation.argued}")
    if len(survivors) > len(argued):
        print(f"\nSurvived without a reason ({len(survivors) - len(argued)}):")
    for mutation in survivors:
        if not mutation.argued:
            print(f"  {mutation.place}: {mutation} [{mutation.tests}]")
    for mutation in invalid:
        print(f"\ninvalid: {mutation.place}: {mutation}: {mutation.outcome}")
    spent = sum(m.seconds for m in mutations) / len(mutations)
    print(f"\n{len(killed)} of {len(mutations)} killed ({100 * len(killed) / len(mutations):.1f} %), "
          f"{late} of them by a timeout, {len(argued)} survived for a stated reason, {len(survivors) - len(argued)} without one, "
          f"in {seconds / 60:.1f} minutes ({spent:.1f} s per mutation)")
    return 1 if invalid or len(survivors) > len(argued) else 0


def without_mpi(mutations):
    """Leaves out the engine mpi where it cannot be built."""
    if not any(m.file.startswith(MPI) for m in mutations) or \
            subprocess.run(["pkg-config", "--exists", "petsc"]).returncode == 0:
        return mutations
    left = [m for m in mutations if not m.file.startswith(MPI)]
    print(f"mutate: no PETSc: {len(mutations) - len(left)} mutations of {MPI} are left out")
    return left


class Script(Tree):
    """Tests with given outcomes, for the self-test: how each one ends in turn."""

    def __init__(self, ends):
        super().__init__("")
        self.ends = {name: list(how) for name, how in ends.items()}
        self.limits = {name: SHORTEST_LIMIT for name in ends}
        self.used = []  # limits

    def compile(self, tests, jobs):
        return None

    def test(self, tests, limit, jobs=1):
        self.used.append(limit)
        return {name: (self.ends[name].pop(0), 0) for name in tests}


def self_test():
    """Proves that a timeout counts only if it is repeated with a longer limit."""
    lists.self_test()
    tree = Script({"a": ["Timeout", "Passed", "Timeout"], "b": ["Passed", "Failed"]})
    assert tree.outcome(["a", "b"], 1) == f"{TIMEOUT} in a"
    assert tree.outcome(["a", "b"], PATIENCE) == "SURVIVED"
    assert tree.outcome(["a"], PATIENCE) == "killed by a (timeout)"
    assert tree.outcome(["b"], 1) == "killed by b"
    short, long = SHORTEST_LIMIT, PATIENCE * SHORTEST_LIMIT
    assert tree.used == [short, long, long, long, short]
    print("self-test passed")


def parse():
    parser = argparse.ArgumentParser(description="mutation tests; see CONTRIBUTING.md")
    parser.add_argument("--check", action="store_true", help="only check the lists")
    parser.add_argument("--list", action="store_true", help="print the entries")
    parser.add_argument("--self-test", action="store_true", help="check this program")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--grep", default="", help="only entries whose text matches")
    parser.add_argument("--share", default="1", help="run a random share, such as 1/10")
    parser.add_argument("--seed", help="what the share depends on (default: the commit)")
    parser.add_argument("area", nargs="*")
    arguments = parser.parse_args()
    try:
        arguments.share = float(fractions.Fraction(arguments.share))
    except (ValueError, ZeroDivisionError):
        arguments.share = 0
    if not 0 < arguments.share <= 1:
        parser.error("--share is not a number in (0, 1], such as 1/10")
    return arguments


def main():
    arguments = parse()
    if arguments.self_test:
        return self_test()
    paths = lists.areas()
    unknown = [area for area in arguments.area if area not in paths]
    if unknown:
        raise SystemExit(f"mutate: no list '{unknown[0]}'; there are {' '.join(paths)}")
    mutations, errors = [], []
    for area in arguments.area or paths:
        found, wrong = lists.read_list(paths[area])
        mutations += found
        errors += wrong
    errors += lists.check(mutations)
    files = 0
    if arguments.check and not arguments.area:
        files, wrong = lists.check_files(mutations)
        errors += wrong
    if errors:
        raise SystemExit("\n".join(errors))
    mutations = [m for m in mutations if re.search(arguments.grep, str(m))]
    if arguments.share < 1:
        seed = arguments.seed or lists.default_seed()
        chosen = lists.draw(mutations, arguments.share, seed)
        print(f"mutate: {len(chosen)} of {len(mutations)} mutations, by the seed {seed}", flush=True)
        mutations = chosen
    if arguments.list:
        for mutation in mutations:
            print(f"{mutation.area}: {mutation} [{mutation.tests}]")
    if arguments.check or arguments.list:
        print(f"{len(mutations)} mutations in {len(arguments.area or paths)} lists, none stale" +
              (f"; {files} files have at least {lists.FEWEST}" if files else ""))
        return 0
    mutations = without_mpi(mutations)
    if not mutations:
        raise SystemExit("mutate: nothing to do")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return run(mutations, max(1, min(arguments.workers, len({m.file for m in mutations}))))


if __name__ == "__main__":
    sys.exit(main())
