"""The lists of mutations: reading, checking against the sources, drawing a share of them."""
import dataclasses
import fnmatch
import glob
import hashlib
import math
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "mutate")
EXEMPT = os.path.join(FOLDER, "exempt.txt")
KEYS = ("file", "from", "to", "tests", "argued")
FOLDERS = ("src/", "engines/", "report/", "experiment/")  # whose files need mutations
FEWEST = 2  # mutations of a file that computes something


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


def areas():
    """{name of a list: its path}"""
    return {os.path.splitext(os.path.basename(path))[0]: path
            for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt"))) if path != EXEMPT}


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


def read_exemptions():
    """{pattern of paths: reason} and the errors of exempt.txt."""
    exempt, errors = {}, []
    if os.path.isfile(EXEMPT):
        with open(EXEMPT, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if line.startswith("#") or not line.strip():
                    continue
                pattern, _, reason = line.partition(":")
                if not reason.strip():
                    errors.append(f"tests/mutate/exempt.txt:{number}: no reason")
                exempt[pattern.strip()] = reason.strip()
    return exempt, errors


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
    return errors + repeated(mutations, texts)


def repeated(mutations, texts):
    """Two entries that make the same source count once, so the second is an error. What they
    replace may differ: a part of a line, and all of it. texts: the source of each file."""
    errors, seen = [], {}
    for mutation in mutations:
        text = texts[mutation.file]
        if text is None or not mutation.before or text.count(mutation.before) != 1:
            continue  # check() reports it
        result = (mutation.file, "".join(text.replace(mutation.before, mutation.after).split()))
        if result in seen:
            errors.append(f"{mutation.place}: the same change as {seen[result]}")
        seen[result] = mutation.place
    return errors


OPERATOR = re.compile(r"\[|\s[-+*/%]=?\s|\+\+|--|<<|>>")
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?")


def computes(text):
    """Whether a function or a macro of this C source or header has an arithmetic operator or an
    index. The layout is clang-format's: an operator with two operands has blanks on both sides, a
    pointer has not. Inline accessors count as well: an index in a header is used by many files."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", " ", text,
                  flags=re.DOTALL)
    directive = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", flags=re.MULTILINE)
    for line in directive.findall(code):
        head = DEFINE.match(line)
        if head and OPERATOR.search(line[head.end():]):
            return True
    code = directive.sub("", code)
    depth, begin, head = 0, 0, False
    for match in re.finditer(r"[{}]", code):
        if match.group() == "{":
            if depth == 0:  # a function, not an initialiser or a type
                head, begin = code[:match.start()].rstrip().endswith(")"), match.end()
            depth += 1
            continue
        depth -= 1
        if depth == 0 and head and OPERATOR.search(code[begin:match.start()]):
            return True
    return False


def check_files(mutations):
    """Returns which files have too few mutations, and which exemptions are not needed."""
    exempt, errors = read_exemptions()
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    needed, used = 0, set()
    for name in sorted(set(listed)):
        path = os.path.join(ROOT, name)
        if not name.startswith(FOLDERS) or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as text:
            if not computes(text.read()):
                continue
        count = sum(m.file == name and not m.argued for m in mutations)
        reasons = [pattern for pattern in exempt if fnmatch.fnmatch(name, pattern)]
        if count < FEWEST and not reasons:
            errors.append(f"{name}: mutations that a test must detect: {count}, fewer than {FEWEST}")
        if count < FEWEST:
            used.update(reasons)
        needed += not reasons
    errors += [f"tests/mutate/exempt.txt: {pattern}: no file needs it"
               for pattern in exempt if pattern not in used]
    return needed, errors


def default_seed():
    """The commit, so that each one runs another share and one commit always the same."""
    result = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    return result.stdout.strip() if result.returncode == 0 else "huddle"


def draw(mutations, share, seed):
    """A random share of the entries: every area, in proportion to its length. Inside an area the
    order is that of a hash; of all areas behind each other every (1 / share)-th entry is taken."""
    def digest(text):
        return hashlib.sha256(f"{seed}\n{text}".encode()).hexdigest()
    ordered = sorted(mutations, key=lambda m: (m.area, digest(f"{m} {m.tests}")))
    step = 1 / share
    first = int(digest("first")[:12], 16) / 16**12 * step
    chosen = [ordered[math.floor(first + k * step)] for k in range(len(ordered))
              if first + k * step < len(ordered)]
    return sorted(chosen, key=lambda m: (m.area, m.line))


def self_test():
    """Proves that files that compute are told from those that do not, what a share holds, and that
    equal changes are found."""
    quiet = "int f(char *a) {\n    /* a + b */\n    g(\"x[1]\", '+', *a, -1, &a->b);\n}\n"
    assert not computes(quiet)
    assert not computes("#if A + 1 > 2\n#define B(x) f(x, -1)\n#endif\n"
                        "static const int t[] = {1 + 2};\n" + quiet)
    assert computes("#define A(x) \\\n    x + 1\n" + quiet)
    assert computes("#define HALF (LANES / 2)\n#include \"kernel.h\"\n")
    assert computes("int f(int a) {\n    return a -\n           1;\n}\n")
    assert computes("int f(int *a) {\n    return a[0];\n}\n")
    assert computes("void f(int *a) {\n    for (;;) {\n        ++*a;\n    }\n}\n")
    every = [Mutation(area, k, "f", str(k), "", "t") for area in "abc" for k in range(40)]
    for seed in range(20):
        chosen = draw(every, 0.1, str(seed))
        assert len(chosen) == 12 and chosen == draw(every[::-1], 0.1, str(seed))
        assert all(sum(m.area == area for m in chosen) in (3, 4, 5) for area in "abc")
    assert {m.place for seed in range(200) for m in draw(every, 0.1, str(seed))} == \
        {m.place for m in every}
    assert draw(every, 1, "x") == every
    source = {"f": "a = b + c;\n"}
    whole, part, other = (Mutation("a", k, "f", before, after, "t") for k, (before, after) in
                          enumerate([("b + c", "b - c"), ("+", "-"), ("+", "*")]))
    assert repeated([whole, other], source) == []
    assert repeated([whole, other, part], source) == [f"{part.place}: the same change as "
                                                      f"{whole.place}"]
