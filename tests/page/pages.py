"""What the tests of pages share: making a page, and a test case with a browser."""

import atexit
import os
import shutil
import subprocess
import tempfile

from browser import BrowserTest

HUDDLE = os.environ.get("HUDDLE", "")
FOLDER = tempfile.mkdtemp(prefix="huddle-pages-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SHOTS = os.environ.get("PAGE_SHOTS")
MOVE = """(value) => { const input = document.querySelector('#path input[type=range]');
    input.value = value; input.dispatchEvent(new Event('input')); }"""
CANVAS = "document.querySelector('.picture canvas').toDataURL()"


def make(name, *arguments, fails=False):
    """Runs huddle with --report and returns the file of the page; one run per name."""
    page = os.path.join(FOLDER, name + ".html")
    if not os.path.exists(page):
        run = subprocess.run([HUDDLE, *arguments, "--report", page, "-q"], capture_output=True,
                             text=True, check=False)
        if not fails and run.returncode != 0:
            raise AssertionError(run.stderr)
    return page


def digits():
    return make("digits", "cluster", "digits", "-m", "ssc")


def digits_path():
    return make("path", "path", "digits", "--n-gamma", "12")


class PageTest(BrowserTest):
    def open(self, page, width=1280, height=900, **how):
        self.browser.window(width, height, **how)
        self.browser.open(page)
        self.check_clean()

    def move(self, value):
        self.js(f"({MOVE})({value})")
        self.browser.settle()

    def unfold(self):
        """Opens everything that is folded."""
        self.js("document.querySelectorAll('details').forEach((part) => { part.open = true; })")

    def choose(self, label, value):
        """Chooses a value of the list with that label."""
        self.js(f"""(() => {{ const select = [...document.querySelectorAll('.chooser')].find(
            (c) => c.textContent.startsWith({label!r})).querySelector('select');
            select.value = {value!r}; select.onchange(); }})()""")
        self.browser.settle()

    def mouse(self, kind, x, y, **more):
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def centre(self, selector):
        """Scrolls to the element and returns its centre in the window and its width."""
        return self.js(f"""(() => {{ const e = document.querySelector({selector!r});
            e.scrollIntoView({{block: 'center', behavior: 'instant'}});
            const r = e.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2, r.width]; }})()""")
