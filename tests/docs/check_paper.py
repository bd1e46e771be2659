"""Runs the commands of docs/paper.md: check_paper.py [--self-test] [PAGE]

Every row of a table whose last column is "command" must have a verdict and a command, or "none". A
command must end with exit status 0 and print, on stdout or stderr, the text that follows "prints" in its
cell. The tool, huddle, is looked for in PATH. Commands with DATA, a folder of data sets, are run if the
folder $HUDDLE_DATA has the file; `huddle paper`, which takes minutes, never. Instead the folder is replaced by
one that does not exist: options are checked before data are read, so that the error must be about
the folder. Programs of bench/ take minutes too: they must exist. --self-test checks, with a tool that is
a shell script, that mistakes are found.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AGREES = ("yes", "departs", "not possible", "")
VERDICTS = ("confirmed", "not reproduced", "contradicted", "not measurable", "definition", "agrees", "as for",
            "see ", "above ")
CELL = re.compile(r"`([^`]+)`(?: prints `([^`]+)`)?")
NOWHERE = "/nonexistent-data"


def rows(text):
    """Line number and cells of every row of a table with commands."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif cells[-1] == "command" and len(cells) > 2:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            yield number, cells


def read(text):
    """Commands, each with the line and text of all rows that have it, and messages about rows."""
    commands, messages = {}, []
    for line, cells in rows(text):
        if len(cells) != 5:
            messages.append(f"line {line}: {len(cells)} cells instead of 5")
            continue
        _, _, agrees, verdict, command = cells
        if not any(agrees == word or word and agrees.startswith(word) for word in AGREES):
            messages.append(f"line {line}: agrees: {agrees}")
        if not verdict.startswith(VERDICTS):
            messages.append(f"line {line}: verdict: {verdict or 'none'}")
        match = CELL.fullmatch(command)
        if match:
            commands.setdefault(match.group(1), []).append((line, match.group(2)))
        elif command != "none":
            messages.append(f"line {line}: no command: {command}")
    return commands, messages


def prepare(command, data):
    """The words to run, and whether the data are missing."""
    words = shlex.split(command)
    if words[0] == "examples/paper.py":
        words = [sys.executable, str(ROOT / words[0]), *words[1:]]
    elif words[0].startswith("bench/"):
        if not (ROOT / words[0]).exists():
            raise ValueError("no such program")
        words = []
    elif words[0] != "huddle":
        raise ValueError("neither huddle, examples/paper.py nor a program of bench/")
    used = [k for k, word in enumerate(words) if word.split("/")[0] == "DATA"]
    missing = any(data is None or words[1] == "paper" or not pathlib.Path(data + words[k][4:]).exists() for k in used)
    for k in used:
        words[k] = (NOWHERE if missing else data) + words[k][4:]
    return words, missing


def run(command, expected, data):
    """Messages about a command and the texts that it must print."""
    lines = ", ".join(str(line) for line, _ in expected)
    try:
        words, missing = prepare(command, data)
    except ValueError as error:
        return [f"line {lines}: {command}: {error}"]
    if not words:
        return []
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(words, cwd=folder, text=True, capture_output=True, check=False)
    output = result.stdout + result.stderr
    if missing:
        right = result.returncode == 1 and NOWHERE in result.stderr
        return [] if right else [f"line {lines}: {command}: not an error about the folder:\n{output}"]
    if result.returncode != 0:
        return [f"line {lines}: {command}: exit status {result.returncode}:\n{output[-2000:]}"]
    return [f"line {line}: {command}: does not print: {text}\n{output[:2000]}"
            for line, text in expected if text and text not in output]


def check(text, data=None):
    """Messages about all rows, and the number of commands."""
    commands, messages = read(text)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda item: run(*item, data), commands.items())
        return messages + [message for found in results for message in found], len(commands)


STUB = """#!/bin/sh
case "$*" in
*--unknown*) echo "huddle: no option" >&2; exit 2;;
*/nonexistent*) echo "huddle: $2: cannot be opened" >&2; exit 1;;
esac
echo "acc 0.9"
"""


def self_test():
    """Good rows pass; each bad one is found."""
    head = "| paper | here | agrees | verdict | command |\n|---|---|---|---|---|\n"
    row = "| a | b | {} | {} | {} |\n"
    good = [("yes", "confirmed", "`huddle cluster digits` prints `acc`"), ("", "not measurable", "none"),
            ("departs: x", "definition", "`huddle cluster DATA/a.mat`"),
            ("yes", "confirmed", "`bench/published.py ORL`"),
            ("yes", "confirmed", "`examples/paper.py indicator lemma` prints `violated: 0`")]
    bad = [("yes", "confirmed", "`huddle cluster digits` prints `nmi`"), ("yes", "confirmed", ""),
           ("yes", "confirmed", "`huddle cluster digits --unknown`"), ("yes", "", "none"),
           ("yes", "confirmed", "`huddle cluster DATA/a.mat --unknown`"), ("perhaps", "confirmed", "none"),
           ("yes", "confirmed", "`rm x`"), ("yes", "confirmed", "`bench/none.py`"),
           ("yes", "confirmed", "`examples/paper.py unknown`"),
           ("yes", "confirmed | more", "none")]
    with tempfile.TemporaryDirectory() as folder:
        stub = pathlib.Path(folder, "huddle")
        stub.write_text(STUB, encoding="utf-8")
        stub.chmod(0o755)
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
        text = head + "".join(row.format(*cells) for cells in good)
        assert check(text) == ([], 4), check(text)
        for cells in bad:
            messages, _ = check(text + row.format(*cells))
            assert len(messages) == 1, (cells, messages)
        pathlib.Path(folder, "a.mat").touch()
        for printed, count in ("acc", 0), ("nmi", 1):
            with_data = row.format("yes", "confirmed", f"`huddle cluster DATA/a.mat` prints `{printed}`")
            assert len(check(head + with_data, folder)[0]) == count
    assert check("| a | command |\n|---|---|\n| b | `rm x` |\n") == ([], 0)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        self_test()
        return 0
    page = pathlib.Path(arguments[0]) if arguments else ROOT / "docs" / "paper.md"
    messages, count = check(page.read_text(encoding="utf-8"), os.environ.get("HUDDLE_DATA"))
    for message in messages:
        print(f"{page.name}: {message}", file=sys.stderr)
    if count == 0:
        print(f"{page.name}: no commands", file=sys.stderr)
    return 1 if messages or count == 0 else 0


sys.exit(main())
