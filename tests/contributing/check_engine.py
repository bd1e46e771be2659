"""The engine that CONTRIBUTING.md shows, added to a copy of the tree as the page says.

    check_engine.py SOURCE

Builds the library, the tool and tests of every layer, without optimisation, and runs them: the
engine is listed, gives the labels of the CPU, takes and refuses options, and declines. A second
engine, in C++, becomes part of the library in the same way.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = shutil.ignore_patterns("build*", ".git", "__pycache__", "*.err")
TARGETS = ["huddle", "huddle_tool", "test_base", "test_kmeans", "test_engines",
           "test_every_engine"]
PLUS = {"CMakeLists.txt": "add_library(huddle_engine_plus OBJECT plus.cpp)\n"
                          "target_link_libraries(huddle_engine_plus PRIVATE huddle_flags)\n",
        "plus.cpp": '#include "base/engine.h"\n'
                    'extern "C" const hd_engine hd_engine_plus = {.text = {"plus", "in C++"}};\n'}


def run(*command, expect=0, **options):
    """The output of a command that must end with that status."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != expect:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}, not {expect}\n"
                 + done.stdout[-4000:])
    return done.stdout


def require(condition, text):
    if not condition:
        sys.exit(text)


def extract_files(page, tree):
    """The blocks of the section that begin with a comment naming their file."""
    section = page.split("\n## Adding an engine\n")[1].split("\n## ")[0]
    written = []
    for block in re.findall(r"```(?:c|cmake)\n(.*?)```", section, re.S):
        name = re.match(r"(?:#|/\*) (engines/[\w./]+):", block).group(1)
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(block)
        written.append(name)
    require(written == ["engines/plain/CMakeLists.txt", "engines/plain/plain.c"],
            f"the page shows {written}")
    (tree / "engines/plus").mkdir()
    for name, text in PLUS.items():
        (tree / "engines/plus" / name).write_text(text)


def check_tool(build, work):
    huddle = build / "huddle"

    def call(*words, **options):
        return run(huddle, *words, cwd=work, **options)

    require("plain       assigns rows to centres by plain loops\n" in call("engines"),
            "huddle engines does not list the engine")
    for engine in ("cpu", "plain", "plus"):
        call("cluster", "digits", "-c", "10", "-m", "kmeans", "--engine", engine, "-q",
             "-o", f"{engine}.txt", "--save", f"{engine}.model")
        call("predict", f"{engine}.model", "digits", "--engine", engine, "-q",
             "-o", f"{engine}-new.txt")
    call("predict", "plain.model", "digits", "--engine", "plain:max_rows=10", "-q",
         "-o", "declined.txt")
    labels = {path.name: path.read_bytes() for path in work.glob("*.txt")}
    require(len(labels) == 7 and len(set(labels.values())) == 1, "labels depend on the engine")
    refused = call("predict", "plain.model", "digits", "--engine", "plain:speed=2", expect=2)
    require("has no option 'speed=2'" in refused, refused)
    refused = call("cluster", "digits", "--engine", "abacus", expect=2)
    require("--engine = abacus: expected one of cpu|plain|plus" in refused, refused)


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        tree, build = pathlib.Path(folder, "tree"), pathlib.Path(folder, "build")
        shutil.copytree(source, tree, ignore=SKIPPED, symlinks=True)
        extract_files((source / "CONTRIBUTING.md").read_text(), tree)
        run("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_C_FLAGS_RELEASE=-O0",
            "-DHUDDLE_BENCH=OFF", "-DHUDDLE_WERROR=ON")
        run("cmake", "--build", build, "--target", *TARGETS)
        for name in TARGETS[2:]:
            run(build / "tests" / name)
        work = pathlib.Path(folder, "work")
        work.mkdir()
        check_tool(build, work)


if __name__ == "__main__":
    main()
