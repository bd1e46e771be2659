"""The picture at the top of a page, what can be done with it, and how the page looks. Run by
test_page.py."""

import csv
import glob
import json
import math
import os
import subprocess
import time
import xml.dom.minidom

from pages import CANVAS, FOLDER, HUDDLE, PageTest, digits, digits_path, make

READOUT = "[...document.querySelectorAll('#path dd')].map((d) => d.textContent)"
BUTTON = "[...document.querySelectorAll('.above .choice button')].find((b) => b.own === '%s').click()"

# Text nodes whose contrast with what is behind them is below that of WCAG AA: 4.5, or 3 for large
# text. The background is that of the nearest ancestors, blended where they are translucent.
CONTRAST = r"""(() => {
    const part = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parse = (text) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = text; probe.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
    const behind = (e) => { const layers = [];
        for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] > 0.99) break; }
        return layers.reverse().reduce((below, c) => below.map((v, i) => v * (1 - c[3]) + c[i] * c[3]), [255, 255, 255]); };
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let checked = 0;
    while (walk.nextNode()) {
        const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
        if (!text || !e.checkVisibility || !e.checkVisibility() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName)) continue;
        const style = getComputedStyle(e), back = behind(e), ink = parse(e.namespaceURI.endsWith('svg') ? style.fill : style.color);
        const front = ink.slice(0, 3).map((v, i) => v * ink[3] + back[i] * (1 - ink[3]));
        const [a, b] = [light(front), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
        const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        checked++;
        if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${e.tagName}.${e.className.baseVal ?? e.className}: ${text.slice(0, 40)}`);
    }
    return [checked, [...new Set(found)]]; })()"""


# A place in the window where the picture has a strong colour: a mark.
COLOURED = """(() => { const canvas = document.querySelector('.picture canvas'), r = canvas.getBoundingClientRect();
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
        if (Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 80)
            return [r.left + (i / 4 % canvas.width) * r.width / canvas.width, r.top + Math.floor(i / 4 / canvas.width) * r.height / canvas.height];
    })()"""


def report_of(*arguments):
    run = subprocess.run([HUDDLE, *arguments, "--json", "-q"], capture_output=True, check=True)
    return json.loads(run.stdout)


def iris_like():
    """A table with names: three groups, four features of which the last one is noise."""
    table = os.path.join(FOLDER, "flowers.csv")
    if not os.path.exists(table):
        with open(table, "w", encoding="utf-8") as file:
            file.write("length,width,height,noise,class\n")
            for i in range(150):
                k, u = i % 3, i * 0.618 % 1 - 0.5
                file.write(f"{5 * k + u},{(k == 1) * 4 + (i * 0.41 % 1)},{-k + 0.3 * u},{i * 0.77 % 1},kind{k}\n")
    return table


class PictureTest(PageTest):
    def press(self, name):
        self.js(BUTTON % name)
        time.sleep(1.2)
        self.browser.settle()

    def drag(self, places):
        self.mouse("mousePressed", *places[0], button="left", clickCount=1, buttons=1)
        for place in places[1:]:
            self.mouse("mouseMoved", *place, button="left", buttons=1)
        self.mouse("mouseReleased", *places[-1], button="left", clickCount=1)
        self.browser.settle()

    def test_it_begins_with_the_g_of_the_run(self):
        shrink = report_of("cluster", "digits", "-m", "ssc")["shrink"]
        self.open(digits())
        gamma, groups, gap = self.js(READOUT)
        self.assertEqual(gamma, f"{shrink['gamma']:.0f}")
        self.assertEqual(groups, str(shrink["groups"]))
        self.assertGreaterEqual(float(gap.split()[0]) / 100, shrink["gap"])
        self.assertLess(float(gap.split()[0]) / 100, 1.1 * shrink["gap"] + 1e-9)
        top = self.js("document.querySelector('.picture canvas').getBoundingClientRect().bottom")
        self.assertLess(top, 900)  # in the first window, without scrolling

    def test_f_and_g_are_the_ends_of_the_slider(self):
        self.open(digits())
        began = self.js(CANVAS)
        self.press("F")
        self.assertEqual(self.js("Number(document.querySelector('#path input').value)"), 0)
        self.assertEqual(self.js(READOUT)[1], "1,797")
        self.assertTrue(began != self.js(CANVAS))
        self.press("X")
        self.press("G")
        self.assertTrue(began == self.js(CANVAS))
        self.check_clean()

    def test_projections(self):
        for page in (digits(), digits_path(), make("sc", "cluster", "digits", "-m", "sc")):
            self.open(page)
            names = self.js("[...document.querySelectorAll('.above option')].map((o) => o.text)")
            self.assertEqual(names[:2], ["clusters on a circle", "components 1–2"])
            seen = {self.js(CANVAS)}
            for value in ("1", "2", "0"):
                self.choose("Projection", value)
                time.sleep(0.9)
                seen.add(self.js(CANVAS))
            self.assertEqual(len(seen), 3)
            self.check_clean()

    def test_a_graph_has_no_features(self):
        folder = os.path.join(FOLDER, "dump")
        subprocess.run([HUDDLE, "cluster", "digits", "-m", "sc", "--dump", folder, "-q"], check=True,
                       capture_output=True)
        self.open(make("graph", "cluster", folder + "/A.npz", "--affinity", "precomputed", "-c", "10"))
        buttons = self.js("[...document.querySelectorAll('.above .choice button')].map((b) => b.own)")
        self.assertEqual(buttons, ["F", "G"])
        sections = self.js("[...document.querySelectorAll('section')].map((s) => s.id)")
        self.assertNotIn("features", sections)
        self.assertNotIn("distances", sections)

    def test_colours(self):
        self.open(make("flowers", "cluster", iris_like(), "-m", "ssc"))
        seen = [self.js(CANVAS)]
        self.assertRegex(self.js("document.querySelector('.legend').innerText"), r"0\s*→ class kind\d")
        self.choose("Colour", "class")
        self.assertIn("class kind0", self.js("document.querySelector('.legend').innerText"))
        self.choose("Colour", "f0")
        seen.append(self.js(CANVAS))
        key = self.js("document.querySelector('.rampkey').innerText").split("\n")
        name = key[0]
        with open(iris_like(), encoding="utf-8") as file:
            values = sorted(float(row[name]) for row in csv.DictReader(file))
        self.assertAlmostEqual(float(key[1].strip("≤ ").replace("−", "-")), values[3], places=2)
        self.assertAlmostEqual(float(key[-1].strip("≥ ")), values[-4], places=2)
        self.js("document.querySelector('table.heat tbody tr:nth-child(2) button').click()")
        self.assertEqual(self.js("document.querySelector('.rampkey b').textContent"),
                         self.js("document.querySelector('table.heat tbody tr:nth-child(2) button').textContent"))
        self.choose("Colour", "cluster")
        self.assertTrue(seen[0] == self.js(CANVAS) and seen[0] != seen[1])
        self.check_clean()

    def test_errors_are_what_purity_leaves(self):
        report = report_of("cluster", "digits", "-m", "ssc")
        self.open(digits())
        options = self.js("[...document.querySelectorAll('option')].map((o) => o.text)")
        wrong = round(report["n"] * (1 - report["scores"]["purity"]))
        self.assertIn(f"errors ({wrong})", options)
        before = self.js(CANVAS)
        self.choose("Show", "errors")
        self.assertTrue(before != self.js(CANVAS))

    def test_zoom_by_wheel_keys_and_buttons(self):
        self.open(digits())
        x, y, _ = self.centre(".picture canvas")
        began = self.js(CANVAS)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
        self.browser.settle()
        self.js("scrollTo(0, 0)")
        x, y, _ = self.centre(".picture canvas")
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", x + 200, y + 200)
        self.browser.settle()
        scrolled = self.js("scrollY")
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
        self.browser.settle()
        self.assertEqual(self.js("scrollY"), scrolled)
        self.assertTrue(began != self.js(CANVAS))
        key = "document.querySelector('.picture canvas').onkeydown(new KeyboardEvent('keydown', {key: '%s'}))"
        self.js(key % "0")
        self.js(key % "Escape")
        self.mouse("mouseMoved", 5, 5)
        self.browser.settle()
        self.assertTrue(began == self.js(CANVAS))
        self.js("document.querySelector('.zoom button').click()")
        self.browser.settle()
        self.assertTrue(began != self.js(CANVAS))
        self.check_clean()

    def test_lasso_selects_and_copies(self):
        self.open(digits())
        x, y, width = self.centre(".picture canvas")
        self.js("document.querySelector('.zoom button[aria-pressed]').click()")
        far = width / 2 - 3
        self.drag([(x - far, y - far), (x + far, y - far), (x + far, y + far), (x - far, y + far)])
        text = self.js("document.querySelector('.selection').innerText")
        self.assertIn("1,797 points selected", text)
        self.js("[...document.querySelectorAll('.selection button')].find((b) => b.textContent === 'Clear').click()")
        self.assertEqual(self.js("document.querySelector('.selection').innerText"), "")
        self.drag([(x - far, y - far), (x, y - far), (x, y + far), (x - far, y + far)])
        text = self.js("document.querySelector('.selection').innerText")
        count = int(text.split(" ")[0].replace(",", ""))
        index = [int(part) for part in text.rstrip(", …").split("\n")[-1].split(", ")]
        self.assertTrue(0 < count < 1797)
        self.assertEqual(len(index), min(count, 400))
        self.assertEqual(index, sorted(set(index)))
        line = [part for part in text.split("\n") if part.startswith("cluster")][0]
        self.assertEqual(sum(int(part.split(": ")[1]) for part in line[8:].split(", ")), count)
        self.check_clean()

    def test_tree_sets_gamma_and_selects_the_group(self):
        self.open(digits_path())
        self.assertRegex(self.js("document.querySelector('.legend').innerText"), r"0\s*→ class \d")
        label = self.js("""(() => { const text = document.querySelector('#tree text.name');
            text.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'})); return text.textContent; })()""")
        self.assertIn(f"{label.split(' · ')[1]} points selected", self.js("document.querySelector('.selection').innerText"))
        place = "document.querySelector('#tree .cursor').getAttribute('d')"
        before = self.js(place)
        self.move(0.2)
        self.assertNotEqual(before, self.js(place))
        x, y, width = self.centre("#tree svg")
        self.mouse("mousePressed", x + width / 4, y, button="left", clickCount=1, buttons=1)
        self.mouse("mouseReleased", x + width / 4, y, button="left", clickCount=1)
        self.browser.settle()
        self.assertGreater(self.js("Number(document.querySelector('#path input').value)"), 0.4)
        self.check_clean()

    def test_search(self):
        self.open(digits())
        find = """(text) => { const input = document.querySelector('input[type=search]');
            input.value = text; input.dispatchEvent(new Event('input')); return document.querySelector('.answer').innerText; }"""
        before = self.js(CANVAS)
        self.assertRegex(self.js(f"({find})('17')"), r"point 17 · cluster \d · class \d")
        self.browser.settle()
        marked = self.js(CANVAS)
        self.assertNotEqual(marked, before)
        # The mark remains when the pointer has passed over the picture.
        x, y, width = self.centre(".picture canvas")
        self.mouse("mouseMoved", x, y)
        self.mouse("mouseMoved", x + width, y)
        self.browser.settle()
        self.assertEqual(self.js(CANVAS), marked)
        self.assertIn("no such point", self.js(f"({find})('99999')"))
        self.assertEqual(self.js(f"({find})('')"), "")
        self.browser.settle()
        self.assertEqual(self.js(CANVAS), before)

    def test_downloads(self):
        folder, labels = os.path.join(FOLDER, "saved"), os.path.join(FOLDER, "labels.txt")
        os.makedirs(folder, exist_ok=True)
        page = make("digits-saved", "cluster", "digits", "-m", "ssc", "-o", labels)
        session, self.browser.session = self.browser.session, None
        self.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        self.browser.session = session
        self.open(page)
        self.js("document.querySelectorAll('.downloads button').forEach((b) => b.click())")
        deadline = time.monotonic() + 20
        while len(glob.glob(folder + "/digits*[a-z]")) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.3)
        with open(folder + "/digits-labels.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(labels, encoding="utf-8") as file:
            self.assertEqual([row["cluster"] for row in rows], file.read().split())
        self.assertEqual([row["index"] for row in rows], [str(i) for i in range(1797)])
        with open(folder + "/digits.png", "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        picture = xml.dom.minidom.parse(folder + "/digits.svg")
        self.assertGreater(len(picture.getElementsByTagName("circle")), 150)
        self.check_clean()

    def test_features_and_silhouettes_are_right(self):
        report = report_of("cluster", iris_like(), "-m", "ssc")
        labels = os.path.join(FOLDER, "flowers.txt")
        subprocess.run([HUDDLE, "cluster", iris_like(), "-m", "ssc", "-o", labels, "-q"], check=True,
                       capture_output=True)
        with open(labels, encoding="utf-8") as file:
            clusters = [int(line) for line in file]
        with open(iris_like(), encoding="utf-8") as file:
            rows = [[float(row[name]) for name in ("length", "width", "height", "noise")] for row in csv.DictReader(file)]
        self.open(make("flowers", "cluster", iris_like(), "-m", "ssc"))
        names = self.js("[...document.querySelectorAll('table.heat tbody th')].map((t) => t.textContent)")
        cells = self.js("[...document.querySelectorAll('table.heat tbody tr')].map((t) => [...t.querySelectorAll('td')].map((c) => c.textContent))")
        self.assertEqual(names[-1], "noise")  # separates nothing
        column = [row[0] for row in rows]
        mean = sum(column) / len(column)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in column) / len(column))
        shown = cells[names.index("length")]
        for k in range(report["n_clusters"]):
            own = [v for v, c in zip(column, clusters) if c == k]
            self.assertAlmostEqual(float(shown[k].replace("−", "-")), (sum(own) / len(own) - mean) / deviation, delta=0.0501)
        # Red is above the mean and blue below it, as the caption says.
        tones = self.js("""[...document.querySelectorAll('table.heat td:not(.number)')].map((cell) => {
            const [r, , b] = getComputedStyle(cell).backgroundColor.match(/[0-9.]+/g).map(Number);
            return [Number(cell.textContent.replace('−', '-')), r - b]; })""")
        self.assertTrue(any(by > 0.5 for by, _ in tones) and any(by < -0.5 for by, _ in tones))
        for by, tone in tones:
            if abs(by) > 0.5:
                self.assertGreater(tone * by, 0)
        rule = report["prepare"]["rule"]
        if rule == "none":
            self.assertIn(f"their mean, {self.silhouette(rows, clusters):.3g}.", self.js("document.querySelector('#distances').innerText"))
        self.check_clean()

    @staticmethod
    def silhouette(rows, clusters):
        total = 0
        for i, row in enumerate(rows):
            sums, counts = {}, {}
            for j, other in enumerate(rows):
                if i != j:
                    sums[clusters[j]] = sums.get(clusters[j], 0) + math.dist(row, other)
                    counts[clusters[j]] = counts.get(clusters[j], 0) + 1
            means = {k: sums[k] / counts[k] for k in sums}
            inside = means.pop(clusters[i])
            total += (min(means.values()) - inside) / max(inside, min(means.values()))
        return total / len(rows)


class AppearanceTest(PageTest):
    def test_contrast(self):
        for page in (digits(), digits_path(), make("flowers", "cluster", iris_like(), "-m", "ssc")):
            for dark in (False, True):
                self.open(page, dark=dark)
                self.unfold()
                self.js("document.querySelector('.legend button').click()")
                checked, found = self.js(CONTRAST)
                self.assertGreater(checked, 100)
                self.assertEqual(found, [], f"{page}, {'dark' if dark else 'light'}")

    def test_touch(self):
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            self.open(digits(), 390, 844, mobile=True)
            x, y, _ = self.centre(".picture canvas")
            place = self.js(COLOURED)
            self.browser.call("Input.dispatchTouchEvent", type="touchStart",
                              touchPoints=[{"x": place[0], "y": place[1]}])
            self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.assertFalse(self.js("document.querySelector('.tip').hidden"))
            before = self.js(CANVAS)
            for kind, far in (("touchStart", 20), ("touchMove", 40), ("touchMove", 70), ("touchMove", 100)):
                self.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[
                    {"x": x - far, "y": y, "id": 1}, {"x": x + far, "y": y, "id": 2}])
            self.browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.browser.settle()
            self.assertTrue(before != self.js(CANVAS))
            self.assertEqual(self.js("visualViewport.scale"), 1)  # the picture was magnified, not the page
        finally:
            self.browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 390)
        self.check_clean()

    def test_every_control_is_reached_and_seen_by_the_keyboard(self):
        self.open(digits())
        wanted = self.js("""[...document.querySelectorAll('.top :is(button, select, input, canvas[tabindex], summary)')]
            .filter((e) => e.checkVisibility()).length""")
        reached, bare = set(), []
        self.js("document.querySelectorAll('.top :is(button, select, input, canvas, summary)').forEach((e, i) => { e.dataset.at = i; })")
        for _ in range(wanted + 40):
            self.browser.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            at, outline = self.js("[document.activeElement.dataset.at, getComputedStyle(document.activeElement).outlineStyle]")
            if at is not None:
                reached.add(at)
                if outline == "none":
                    bare.append(at)
        self.assertEqual(len(reached), wanted)
        self.assertEqual(bare, [])

    def test_reduced_motion(self):
        self.open(digits())
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        self.browser.open(digits())
        self.js(BUTTON % "F")
        self.assertEqual(self.js("Number(document.querySelector('#path input').value)"), 0)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def test_title_is_the_file_name(self):
        self.open(make("flowers", "cluster", iris_like(), "-m", "ssc"))
        self.assertEqual(self.js("document.title"), "flowers.csv · Huddle")
        self.assertEqual(self.js("document.querySelector('h1').textContent"), "flowers.csv")

    def test_spectrum_has_whole_ticks(self):
        self.open(make("few", "cluster", "moons", "--n", "150", "-m", "ssc"))
        ticks = self.js("[...document.querySelectorAll('#spectrum text[text-anchor=middle]')].map((t) => t.textContent)")
        self.assertTrue(all("." not in text for text in ticks if text[0].isdigit()), ticks)
