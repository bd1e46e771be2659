"""The pages of `huddle experiment` and `huddle paper` in a real browser: test_tables.py HUDDLE [-k NAME]

Exits with 77, which CTest reports as skipped, if chromium is not installed. With PAGE_SHOTS=DIR in
the environment, screenshots are kept in DIR.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import BrowserTest, find_chromium  # noqa: E402

HUDDLE = ""
FOLDER = tempfile.mkdtemp(prefix="huddle-tables-")
SHOTS = os.environ.get("PAGE_SHOTS")
PLAN = {
    "name": "Two <sets>",
    "data": [{"name": "moons", "source": "moons", "n": 200}, {"name": "blobs", "source": "blobs", "n": 200}],
    "methods": ["kmeans", {"method": "ssc", "grid": {"gamma": [0.01, 1, "n/c", 1e4],
                                                     "prepare": ["none", "standard"]}},
                {"method": "sc", "grid": {"prepare": ["none", "standard"]}}],
    "seeds": [0], "n_init": 3}

# The lowest ratio of contrast between text and what is behind it, over the texts of tables, charts
# and figures. Colours are painted on a canvas, which understands every notation.
CONTRAST = r"""((selector) => {
    const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgb = (text, under) => { pen.globalAlpha = 1; pen.fillStyle = `rgb(${under})`; pen.fillRect(0, 0, 1, 1);
        pen.fillStyle = text; pen.fillRect(0, 0, 1, 1); return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3); };
    const back = (e) => rgb(getComputedStyle(e).backgroundColor, e.parentElement ? back(e.parentElement) : [255, 255, 255]);
    const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    let worst = [99, ''];
    for (const e of document.querySelectorAll(selector)) {
        if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
        const style = getComputedStyle(e), behind = back(e);
        const a = light(rgb(e.namespaceURI.endsWith('svg') ? style.fill : style.color, behind)), b = light(behind);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < worst[0]) worst = [ratio, `${e.tagName} ${e.textContent.slice(0, 40)}`];
    }
    return worst; })"""


def experiment():
    out = os.path.join(FOLDER, "experiment")
    if not os.path.exists(out):
        plan = os.path.join(FOLDER, "plan.json")
        with open(plan, "w", encoding="utf-8") as file:
            json.dump(PLAN, file)
        subprocess.run([HUDDLE, "experiment", plan, "-o", out, "-q"], check=True, capture_output=True)
    return os.path.join(out, "index.html")


def paper():
    data, out = os.path.join(FOLDER, "data"), os.path.join(FOLDER, "paper")
    if not os.path.exists(out):
        os.mkdir(data)
        for name, kind in (("ORL", "blobs"), ("JAFFE", "moons")):
            subprocess.run([HUDDLE, "generate", kind, "--n", "60", "-q", "-o", f"{data}/{name}.csv"], check=True)
        subprocess.run([HUDDLE, "paper", data, "-o", out, "--n-init", "2", "--seeds", "2", "--related", "-q"], check=True, capture_output=True)
    return os.path.join(out, "index.html")


class TablesTest(BrowserTest):
    def open(self, page, width=1280, **how):
        self.browser.window(width, 844, mobile=width < 500, **how)
        self.browser.open(page)
        self.check_clean()

    def results(self):
        with open(os.path.join(os.path.dirname(experiment()), "results.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    # ---- experiment ----

    def test_heat_map_has_the_best_of_each_grid(self):
        self.open(experiment())
        rows = self.js("""[...document.querySelectorAll('table.scores')].slice(0, 1).flatMap((t) =>
            [...t.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent)))""")
        best = {}
        for record in self.results():
            key = record["method"], record["data"]
            best[key] = max(best.get(key, 0), float(record["acc"]))
        self.assertEqual([row[0] for row in rows], ["kmeans", "ssc", "sc"])
        for name, *numbers in rows:
            for data, shown in zip(("moons", "blobs"), numbers):
                share = best[name, data] if best[name, data] > 1 else 100 * best[name, data]
                self.assertAlmostEqual(float(shown), share, delta=0.051)
        for j in (1, 2):  # exactly the largest of a column are bold
            bold = self.js(f"[...document.querySelector('table.scores').querySelectorAll('tbody tr')].map((r) => !!r.children[{j}].querySelector('b'))")
            numbers = [float(row[j]) for row in rows]
            self.assertEqual(bold, [number == max(numbers) for number in numbers])
        low, high = self.js("[...document.querySelector('.scale').querySelectorAll('span')].map((s) => Number(s.textContent))")
        every = [float(number) for row in rows for number in row[1:]]
        self.assertEqual([low, high], [min(every), max(every)])

    def test_notes_of_numbers_can_be_touched(self):
        self.open(experiment(), 390)
        x, y = self.js("""(() => { const cell = document.querySelector('table.scores td');
            cell.scrollIntoView({block: 'center', behavior: 'instant'});
            const r = cell.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()""")
        self.browser.settle()
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.browser.settle()
        self.assertIn("single restarts", self.js("document.querySelector('.tip:not([hidden])')?.innerText ?? ''"))
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def test_shades_follow_the_numbers(self):
        self.open(experiment())
        cells = self.js("""[...document.querySelectorAll('table.scores')].slice(0, 1).flatMap((t) =>
            [...t.querySelectorAll('td')].map((c) => [Number(c.textContent), parseFloat(c.style.getPropertyValue('--heat'))]))""")
        cells.sort()
        self.assertEqual([heat for _, heat in cells], sorted(heat for _, heat in cells))
        self.assertEqual((cells[0][1], cells[-1][1]), (0, 45))

    def test_one_chart_per_numeric_grid(self):
        self.open(experiment())
        self.assertEqual(self.js("[...document.querySelectorAll('#grids h3')].map((h) => h.textContent)"), ["ssc"])
        keys = self.js("[...document.querySelectorAll('#grids .key span')].map((s) => s.textContent)")
        self.assertEqual(sorted(keys), sorted(f"{data}, prepare {rule}" for data in ("moons", "blobs")
                                              for rule in ("none", "standard")))
        self.assertEqual(self.js("document.querySelectorAll('#grids circle').length"), 16)
        # Points of a line are in the order of gamma: its path only goes to the right.
        for d in self.js("[...document.querySelectorAll('#grids .series')].map((p) => p.getAttribute('d'))"):
            xs = [float(part.split()[0]) for part in d.replace("M", "L").split("L")[1:]]
            self.assertEqual(xs, sorted(xs))

    def test_cells_unfold(self):
        self.open(experiment())
        self.assertEqual(self.js("document.querySelectorAll('#cells table').length"), 0)
        self.js("document.querySelectorAll('#cells details').forEach((d) => { d.open = true; })")
        self.browser.settle()
        self.assertEqual(self.js("document.querySelectorAll('#cells tbody tr').length"), len(self.results()))

    # ---- paper ----

    def test_tables_are_side_by_side(self):
        self.open(paper())
        boxes = self.js("[...document.querySelectorAll('#acc table')].map((t) => { const r = t.getBoundingClientRect(); return [r.left, r.right, r.top]; })")
        self.assertEqual(len(boxes), 4)
        for left, right in (boxes[:2], boxes[2:]):
            self.assertLess(left[1], right[0])
            self.assertEqual(left[2], right[2])
        *blocks, theirs = self.js("[...document.querySelectorAll('#acc table')].map((t) => [...t.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent)))")
        for ours in blocks:
            self.assertEqual(len(ours), 9)
            for mine, published in zip(ours, theirs):
                self.assertEqual(mine[0].split()[0], published[0])
                for number, other in zip(mine[1:], published[1:]):
                    self.assertRegex(number, r"^[0-9]+[.][0-9]$")
                    self.assertRegex(other, r"^[0-9]+[.][0-9]±[0-9][.][0-9]$")

    def test_claims_have_verdicts(self):
        self.open(paper())
        tables = self.js("""[...document.querySelectorAll('#claims table')].map((t) => [...t.querySelectorAll('tbody tr')].map(
            (r) => [...r.children].map((c) => [c.textContent, c.dataset.tip || '', c.querySelector('b') !== null])))""")
        self.assertEqual([len(rows) for rows in tables], [7, 8])
        for claim, published, *ours in tables[0]:
            self.assertGreater(len(claim[1]), 10)
            self.assertRegex(published[0], "^(holds|contradicted by its own tables), [0-9]+ of [0-9]+$")
            for verdict, exceptions, bold in ours:
                self.assertRegex(verdict, "^(confirmed|not reproduced), [0-9]+ of [0-9]+$")
                self.assertEqual(bold, verdict.startswith("not"))
                self.assertEqual(bold, exceptions.startswith("Exceptions: "))

    def test_related_work_is_shown(self):
        self.open(paper())
        names = self.js("[...document.querySelectorAll('#related table')].map((t) => [...t.querySelectorAll('tbody tr')].map((r) => r.children[0].textContent))")
        self.assertEqual(len(names), 2)
        self.assertEqual(names[0], names[1])
        self.assertIn("ncut", names[0])
        self.assertNotIn("ssc", names[0])

    def test_figures_follow_the_theme(self):
        look = """[...document.querySelectorAll('.figure svg')].map((s) => getComputedStyle(s.querySelector('rect')).fill)"""
        self.open(paper())
        self.assertEqual(self.js(look), ["rgb(255, 255, 255)"] * 2)
        self.open(paper(), dark=True)
        self.assertNotIn("rgb(255, 255, 255)", self.js(look))
        self.js("document.querySelector('.theme').click()")  # from the system's, dark, to light
        self.assertEqual(self.js(look), ["rgb(255, 255, 255)"] * 2)

    # ---- both ----

    def test_widths_themes_and_contrast(self):
        for name, page in (("experiment", experiment()), ("paper", paper())):
            for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
                self.open(page, width, dark=dark)
                self.js("document.querySelectorAll('#cells details').forEach((d, i) => { d.open = i < 3; })")
                self.browser.settle()
                self.assertLessEqual(self.js("document.documentElement.scrollWidth"), width)
                wide = self.js(f"""[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > {width} + 1
                    && !e.closest('.scroll, .figure')).map((e) => e.tagName + '.' + e.className)""")
                self.assertEqual(wide, [])
                ratio, where = self.js(CONTRAST + "('h2, h3, .lead, td, td b, td span, th, th button, summary, caption, .key, .key span, .scale span, .chart text')")
                self.assertGreaterEqual(ratio, 4.5, (name, width, dark, where))
                if SHOTS:
                    self.browser.screenshot(os.path.join(SHOTS, f"{name}-{width}-{'dark' if dark else 'light'}.png"))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    HUDDLE = os.path.abspath(sys.argv.pop(1))
    if find_chromium() is None:
        print("skipped: chromium is not installed (apt-get install chromium)")
        sys.exit(77)
    try:
        unittest.main()
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
