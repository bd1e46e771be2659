#!/usr/bin/python3
"""Checks the links between the pages of a built site: check_links.py FOLDER. Anchors are checked too, and that styles and scripts
load nothing that is not there."""
import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif value and (tag, name) in (("a", "href"), ("img", "src"), ("script", "src"), ("link", "href")):
                self.links.append(value)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text()) for path in root.rglob("*.html")}
    broken, outside = [], []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.netloc and not link.startswith("data:"):
                    outside.append((path, link))
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                broken.append(f"{path.relative_to(root)}: {link}")
            elif parts.fragment and target in pages and \
                    urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(root)}: {link} (no such place)")
    for path in root.rglob("*.css"):
        for link in re.findall(r"""(?:@import\s+|url\()\s*(?:url\()?["']?([^"')\s;]+)""", path.read_text()):
            if not link.startswith("data:") and not (path.parent / link).exists():
                broken.append(f"{path.relative_to(root)}: {link}")
    for path in root.rglob("*.js"):
        if re.match(r"import\s", path.read_text()):
            broken.append(f"{path.relative_to(root)}: a module, which cannot be loaded from a folder")
    for line in broken:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {len(broken)} broken")
    return 1 if broken or not pages else 0


sys.exit(main())
