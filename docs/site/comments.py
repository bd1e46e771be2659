#!/usr/bin/python3
"""A filter for Doxygen: the comments of the headers are plain text, this marks them as documentation.

Comments before a declaration become /** */, comments behind a field /**< */, the first one describes the file.
Characters that Doxygen would interpret are escaped.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)


def escape(text):
    """Escape what is special to Doxygen, except in indented blocks, which it shows as they are."""
    lines = []
    for line in text.split("\n"):
        if not re.match(r" \*     ", line):
            line = re.sub(r"([\\@<>#&])", r"\\\1", line)
        lines.append(line)
    return "\n".join(lines)


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    first = True
    pieces, end = [], 0
    for match in COMMENT.finditer(text):
        pieces.append(text[end:match.start()])
        end = match.end()
        line_start = text.rfind("\n", 0, match.start()) + 1
        behind = text[line_start:match.start()].strip() != ""
        body = escape(match.group(1))
        if first:
            pieces.append(f"/** @file {path.name}\n *{body}*/")
        elif behind:
            pieces.append(f"/**<{body}*/")
        elif body.strip(" -").startswith("---") or re.match(r" -+ ", body):
            pieces.append(match.group(0))
        else:
            pieces.append(f"/**{body}*/")
        first = False
    sys.stdout.write("".join(pieces) + text[end:])


main()
