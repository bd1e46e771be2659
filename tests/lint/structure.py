#!/usr/bin/python3
"""The shape of the sources: structure.py [--report]

Checks what a compiler does not: no function over 60 lines, no file over 600, no struct over 20 fields
without a reason beside it (a comment with the word "fields:" directly above it), names that a stage
shares inside itself begin with hd_<stage>_, the headers of methods and their steps are named after
their sources, and no two headers define the same internal name.
--report prints lines and the share of comments of every folder instead; --self-test proves that
violations are found.
"""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_FUNCTION, MAX_FILE, MAX_FIELDS = 60, 600, 20

# Prefixes of what the files of a folder of src/ share with each other.
PREFIXES = {
    "io": ("io",), "prepare": ("prepare",), "graph": ("graph",), "embed": ("embed",),
    "shrink": ("shrink",), "kmeans": ("kmeans",), "metrics": ("metrics",), "refine": ("refine",),
    "archive": ("file", "output", "zip", "npy", "json"),
    "fit": ("fit", "walk"), "steps": ("step", "spectral"), "decide": ("decide",),
    "methods": ("method", "cache"),
}

# Folders in which each header declares what the source of the same name defines.
PAIRED = ("steps", "decide", "methods")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                             *patterns], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    return [name for name in listed if os.path.isfile(os.path.join(ROOT, name))]


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    """The text with comments and strings blanked out; lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text,
                  flags=re.DOTALL)


def functions(code):
    """(name, first line, number of lines) of each function; the layout is clang-format's."""
    lines = code.split("\n")
    for end, line in enumerate(lines):
        if line != "}":
            continue
        begin = end
        # The head is the last line before it in column 0 that is not a label, such as "done:".
        while begin > 0 and not re.match(r"[A-Za-z_](?!\w*:\s*$)", lines[begin]):
            begin -= 1
        head = " ".join(lines[begin:begin + 4])
        name = re.match(r"[^={;]*?(\w+)\(", head)
        if name and not head.startswith(("typedef", "struct", "enum", "union")):
            yield name.group(1), begin + 1, end - begin + 1


def structs(code):
    """(name, first line, number of fields) of each struct at the outermost level."""
    for match in re.finditer(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", code,
                             re.DOTALL | re.MULTILINE):
        fields = 0
        depth = 0
        for statement in re.split(r"([;{}])", match.group(2)):
            depth += (statement == "{") - (statement == "}")
            if statement in ";{}" or depth > 0 or not statement.strip():
                continue
            if "(" in statement:  # a pointer to a function
                fields += 1
            else:
                fields += statement.count(",") + 1
        yield match.group(1), code[:match.start()].count("\n") + 1, fields


def check_sizes(name, text, complain):
    code = without_comments(text)
    count = text.count("\n")
    if count > MAX_FILE:
        complain(name, count, f"the file has {count} lines, more than {MAX_FILE}")
    for function, line, length in functions(code):
        if length > MAX_FUNCTION:
            complain(name, line, f"{function}() has {length} lines, more than {MAX_FUNCTION}")
    lines = text.split("\n")
    for struct, line, fields in structs(code):
        above = []
        at = line - 2
        while at >= 0 and re.match(r"\s*(/\*|\*|//)", lines[at]):
            above.append(lines[at])
            at -= 1
        if fields > MAX_FIELDS and not any("fields:" in row for row in above):
            complain(name, line, f"struct {struct} has {fields} fields, more than {MAX_FIELDS}, "
                                 "and no reason beside it")


def shared_names(code):
    """(name, line) of the types, macros, constants and functions that a header declares."""
    patterns = (r"^(?:typedef )?(?:struct|enum|union) (\w+) \{", r"^\} (\w+);",
                r"^#define (\w+)", r"^typedef [^{;]*?(\w+);", r"^typedef [^;{]*?\(\*(\w+)\)",
                r"^typedef [^;{(]*?(\w+)\([^*]",
                r"^(?!typedef|return|#)[a-z_][\w *]*?[ *](\w+)\(", r"^extern [^;{]*?(\w+)(?:\[\])?;")
    found = set()
    for pattern in patterns:
        for match in re.finditer(pattern, code, re.MULTILINE):
            found.add((match.group(1), code[:match.start()].count("\n") + 1))
    for match in re.finditer(r"\benum(?: \w+)? \{(.*?)\}", code, re.DOTALL):
        for constant in re.finditer(r"(?:^|,)\s*([A-Z]\w+)", match.group(1)):
            line = code[:match.start(1) + constant.start(1)].count("\n") + 1
            found.add((constant.group(1), line))
    return found


def check_prefixes(name, code, complain):
    folder = name.split("/")[1]
    if folder not in PREFIXES:
        return
    allowed = tuple(f"hd_{prefix}_" for prefix in PREFIXES[folder])
    exact = tuple(f"hd_{prefix}" for prefix in PREFIXES[folder])
    for shared, line in sorted(shared_names(code)):
        lower = shared.lower()
        if lower.startswith((*allowed, "huddle_", "__")) or lower in exact:
            continue
        complain(name, line, f"{shared} is shared inside {folder}: its name must begin with "
                             f"{' or '.join(allowed)}")


def check_pairs(names, complain):
    for name in names:
        parts = name.split("/")
        if parts[0] == "src" and parts[1] in PAIRED and name.endswith(".h"):
            if name[:-1] + "c" not in names:
                complain(name, 1, "no source of the same name beside this header")


def check_twice(headers, complain):
    places = collections.defaultdict(set)
    for name, code in headers.items():
        for match in re.finditer(r"^\} (\w+);|^#define (\w+)", code, re.MULTILINE):
            places[match.group(1) or match.group(2)].add(name)
    for shared, names in sorted(places.items()):
        if len(names) > 1:
            complain(sorted(names)[1], 1, f"{shared} is also defined in {sorted(names)[0]}")


def report(names):
    folders = collections.defaultdict(lambda: [0, 0, 0])
    for name in names:
        text = read(name)
        code = without_comments(text)
        kind = "headers" if name.endswith(".h") else "sources"
        entry = folders[os.path.dirname(name), kind]
        entry[0] += 1
        entry[1] += text.count("\n")
        entry[2] += sum(1 for before, after in zip(text.split("\n"), code.split("\n"))
                        if before.strip() and re.search(r"/\*|\*/|^\s*\*|//", before)
                        and before != after or before.strip() and not after.strip())
    for (folder, kind), (files, lines, comments) in sorted(folders.items()):
        print(f"{folder:24} {kind:8} {files:4} files {lines:6} lines "
              f"{100 * comments / max(1, lines):5.1f} % comments")


def self_test():
    def faults_of(check, *arguments):
        found = []
        check(*arguments, lambda name, line, text: found.append((name, line, text)))
        return found

    body = "    x = 1;\n" * 59
    fits = "static int f(int a,\n" + " " * 10 + "int b) {\n" + body[:57 * 11] + "}\n"
    assert not faults_of(check_sizes, "a.c", fits), fits
    assert faults_of(check_sizes, "a.c", "\nint f(void) {\n" + body + "}\n")[0][1] == 2
    labelled = "\nint f(void) {\n" + body + "done:\n    return x;\n}\n"
    assert faults_of(check_sizes, "a.c", labelled)[0][1:] == (2, "f() has 63 lines, more than 60")
    assert faults_of(check_sizes, "a.c", "x\n" * (MAX_FILE + 1))
    wide = "struct wide {\n" + "    int a, b; /* c, d */\n" * 10 + "    int (*f)(int, int);\n};\n"
    assert "21 fields" in faults_of(check_sizes, "a.h", wide)[0][2]
    assert not faults_of(check_sizes, "a.h", "/* 21 fields: as many as LAPACK has. */\n" + wide)
    for bad in ("typedef struct hd_block {\n    int a;\n} hd_block;\n", "#define HD_PANEL 3\n",
                "enum { HD_GRAPH_A, HD_WIDTH = 4 };\n", "int hd_sum(int a);\n",
                "typedef int (*hd_step)(int a);\n", "typedef int hd_step(int a);\n", "extern const int hd_table;\n"):
        assert faults_of(check_prefixes, "src/graph/a.h", bad), bad
    for good in ("#ifndef HUDDLE_SRC_A_H\n#define HUDDLE_SRC_A_H\n", "int hd_graph_sum(int a);\n",
                 "typedef struct hd_graph_rows {\n    int a;\n} hd_graph_rows;\n",
                 "enum { HD_GRAPH_WIDTH = 4 };\n",
                 "typedef struct hd_graph_rows {\n    int (*step)(int a);\n} hd_graph_rows;\n",
                 'extern "C" {\n#endif\n\ntypedef struct hd_graph_rows {\n    int a;\n} hd_graph_rows;\n'):
        assert not faults_of(check_prefixes, "src/graph/a.h", good), good
    twice = {"src/a/a.h": "} hd_block;\n", "src/b/b.h": "} hd_block;\n"}
    assert len(faults_of(check_twice, twice)) == 1
    assert len(faults_of(check_pairs, {"src/steps/a.h", "src/steps/b.c", "src/graph/c.h"})) == 1
    assert not faults_of(check_pairs, {"src/steps/a.h", "src/steps/a.c"})
    print("structure: self-test passed")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    names = tracked("src/*.[ch]", "include/*.h", "cli/*.[ch]", "app/*.[ch]", "report/*.[ch]", "experiment/*.[ch]",
                    "engines/*.[ch]", "tests/*.[ch]", "bench/*.[ch]")
    if sys.argv[1:] == ["--report"]:
        report(names)
        return 0
    faults = []

    def complain(name, line, text):
        faults.append(f"{name}:{line}: {text}")

    headers = {}
    for name in names:
        text = read(name)
        check_sizes(name, text, complain)
        code = without_comments(text)
        if name.startswith("src/") and name.endswith(".h"):
            headers[name] = code
            check_prefixes(name, code, complain)
    check_twice(headers, complain)
    check_pairs(set(names), complain)
    print("\n".join(faults) if faults else "structure: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
