"""Debian's furo expects a web server that has Debian's /javascript, and lacks what its compiler of styles left out. mend()
makes the files of a built site complete, so that it can be read from a folder too; files of another furo remain as they
are."""
import pathlib
import re

NORMALIZE = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")
IMPORT = re.compile(r'@import url\(/javascript/normalize\.css/[^)]*\);?')
DARK = re.compile(r'^ *body\[data-theme="dark"\] \{.*?\}', re.M | re.S)


def mend(site):
    static = pathlib.Path(site) / "_static"
    styles = static / "styles/furo.css"
    text = styles.read_text()
    text = IMPORT.sub(lambda _: NORMALIZE.read_text(), text)
    if "prefers-color-scheme" not in text:
        # The system's dark theme: the same colours as those of the button.
        colours = DARK.search(text).group(0).replace('body[data-theme="dark"]', 'body:not([data-theme="light"])')
        text = DARK.sub(lambda found: f"{found.group(0)}\n  @media (prefers-color-scheme: dark) {{\n{colours} }}", text, count=1)
    styles.write_text(text)
    script, gumshoe = static / "scripts/furo.js", static / "scripts/gumshoe-patched.js"
    text = script.read_text()
    if re.match(r"import Gumshoe ", text):  # modules cannot be loaded from a folder
        script.write_text(gumshoe.read_text() + text.split("\n", 1)[1])
