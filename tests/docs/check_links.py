"""Checks the links of the documentation: check_links.py [--self-test] [ROOT]

Every relative link in README.md, CONTRIBUTING.md, CHANGELOG.md, docs/*.md, data/README.md and
python/README.md must lead to a file or folder, and its anchor, if it has one, to a heading of that
page. Links to the web are not followed. Code is not searched for links. Comments in the sources refer
to sections by title, as in docs/method.md, "The guard": those must exist too. --self-test checks, in
a temporary folder, that broken links are found.
"""
import pathlib
import re
import sys
import tempfile
import urllib.parse

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "data/README.md",
         "python/README.md")
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^ *\[[^\]]+\]: *<?(\S+?)>?(?:\s|$)"
                  r"|(?:href|src)=\"([^\"]+)\"", re.MULTILINE)


SOURCES = ("include/**/*.h", "src/**/*.[ch]", "report/**/*.[ch]", "experiment/**/*.[ch]",
           "cli/**/*.[ch]", "app/**/*.[ch]", "engines/**/*.[ch]")
REFERENCE = re.compile(r"(docs/\w+\.md),? \"([^\"]+)\"")


def blank(match):
    """As many line feeds as the match has, so that line numbers stay right."""
    return "\n" * match.group().count("\n")


def anchors(text):
    """The anchors that GitHub gives to the headings of a page, and explicit ones."""
    text = FENCE.sub(blank, text)
    found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def links(text):
    """Line numbers and targets of all links of a page."""
    text = CODE.sub(blank, FENCE.sub(blank, text))
    for match in LINK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, next(filter(None, match.groups()))


def broken(root):
    """A message for every broken link below root, and the number of links checked."""
    messages, count = [], 0
    for page in sorted(path for pattern in PAGES for path in root.glob(pattern)):
        for line, target in links(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            place, _, anchor = target.partition("#")
            file = page.parent / urllib.parse.unquote(place) if place else page
            where = f"{page.relative_to(root)}:{line}: {target}"
            if not file.exists():
                messages.append(f"{where}: no such file")
            elif anchor and (file.suffix != ".md" or
                             anchor not in anchors(file.read_text(encoding="utf-8"))):
                messages.append(f"{where}: no such heading")
    return messages, count


def broken_references(root):
    """A message for every comment that refers to a page or a section that does not exist."""
    messages = []
    for source in sorted(path for pattern in SOURCES for path in root.glob(pattern)):
        text = re.sub(r"\n[ *]*", " ", source.read_text(encoding="utf-8"))
        for page, title in REFERENCE.findall(text):
            where = f"{source.relative_to(root)}: {page}, \"{title}\""
            if not (root / page).exists():
                messages.append(f"{where}: no such file")
            elif not re.search(rf"^#+ .*{re.escape(title)}", (root / page).read_text("utf-8"),
                               re.MULTILINE):
                messages.append(f"{where}: no such heading")
    return messages


def self_test():
    """Good and bad links, each of which must be found or accepted."""
    good = ("# The first page\n## A `code` heading, twice\n## A `code` heading, twice\n"
            "[a](docs/other.md) [b](docs/other.md#the-two-ends-of-γ) [c](#the-first-page)\n"
            "[d](#a-code-heading-twice-1) [e](docs) [f](https://example.org/none)\n"
            "![image](docs/image.png \"title\") `[code](none.md)`\n```\n[code](none.md)\n```\n"
            "[g]: docs/other.md\n")
    bad = {"[a](none.md)": "no such file", "![a](docs/none.png)": "no such file",
           "[a](#none)": "no such heading", "[a](docs/other.md#none)": "no such heading",
           "[a](docs/image.png#none)": "no such heading", "[a]: none.md": "no such file",
           "[two\nlines](none.md)": "no such file"}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs" / "image.png").write_bytes(b"")
        (root / "docs" / "other.md").write_text("# Other\n\n### The two ends of γ\n",
                                                encoding="utf-8")
        (root / "README.md").write_text(good, encoding="utf-8")
        assert broken(root) == ([], 7), broken(root)
        for link, reason in bad.items():
            (root / "README.md").write_text(good + "\n" + link + "\n", encoding="utf-8")
            messages, _ = broken(root)
            assert len(messages) == 1 and messages[0].endswith(reason), (link, messages)
        (root / "src" / "a").mkdir(parents=True)
        for title, expected in (("The two\n * ends", 0), ("The ends", 1)):
            (root / "src" / "a" / "a.c").write_text(f'/* docs/other.md, "{title}". */\n', "utf-8")
            assert len(broken_references(root)) == expected, broken_references(root)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        self_test()
        return 0
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[2]
    messages, count = broken(root)
    messages += broken_references(root)
    for message in messages:
        print(message, file=sys.stderr)
    if count == 0:
        print(f"{root}: no links found", file=sys.stderr)
    return 1 if messages or count == 0 else 0


sys.exit(main())
