"""The pages of `huddle ... --report` in a real browser: test_page.py HUDDLE [-k NAME]

Exits with 77, which CTest reports as skipped, if chromium is not installed. With PAGE_SHOTS=DIR in
the environment, screenshots and a PDF are kept in DIR.
"""

import json
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: test_page.py HUDDLE")
    os.environ["HUDDLE"] = os.path.abspath(sys.argv.pop(1))
from browser import find_chromium  # noqa: E402
from pages import CANVAS, FOLDER, HUDDLE, SHOTS, PageTest, digits, digits_path, make  # noqa: E402
from test_picture import AppearanceTest, PictureTest  # noqa: E402, F401


class ContentTest(PageTest):
    # ---- content ----

    def test_clustering_has_all_its_parts(self):
        self.open(digits())
        sections = self.js("[...document.querySelectorAll('section')].map((s) => s.id)")
        for name in ("summary", "clusters", "views", "images", "confusion", "distances", "spectrum",
                     "convergence", "time", "repeat"):
            self.assertIn(name, sections)
        self.unfold()
        text = self.js("document.body.innerText")
        self.assertRegex(text, r"proven (within [0-9.]+ % of the optimum|optimal)")
        self.assertIn("All 1,797 points are shown.", text)
        self.assertIn("huddle cluster digits --method ssc", text)
        self.assertEqual(self.js("document.querySelectorAll('.views canvas').length"), 3)
        self.assertEqual(self.js("document.querySelectorAll('table.clusters tbody tr').length"), 10)
        self.assertGreater(self.js("document.querySelectorAll('.sheet canvas').length"), 100)

    def test_numbers_are_those_of_the_run(self):
        self.open(digits())
        sizes = self.js("""[...document.querySelectorAll('table.clusters tbody tr')].map(
            (row) => Number(row.querySelector('td.number').textContent.replace(',', '')))""")
        self.assertEqual(sum(sizes), 1797)
        counts = self.js("""[...document.querySelectorAll('table.confusion tbody td:not(:last-child)')]
            .reduce((sum, cell) => sum + (Number(cell.textContent.replace(',', '')) || 0), 0)""")
        self.assertEqual(counts, 1797)

    def test_path_has_tree_and_levels(self):
        self.open(digits_path())
        self.assertGreater(self.js("document.querySelectorAll('#tree svg path').length"), 10)
        self.assertEqual(self.js("document.querySelectorAll('#levels tbody tr').length"), 12)

    def test_method_without_embedding_omits_its_parts(self):
        self.open(make("kmeans", "cluster", "digits", "-m", "kmeans"))
        sections = self.js("[...document.querySelectorAll('section')].map((s) => s.id)")
        for name in ("views", "spectrum", "convergence"):
            self.assertNotIn(name, sections)
        self.assertEqual(self.js("document.querySelectorAll('.picture canvas').length"), 1)
        self.assertIsNone(self.js("document.querySelector('input[type=range]')"))

    def test_data_without_labels_or_images(self):
        table = os.path.join(FOLDER, "plain.csv")
        with open(table, "w", encoding="utf-8") as file:
            for i in range(90):
                file.write(f"{i % 3 * 5 + i * 0.01},{i % 7 * 0.1},{i % 3 - i % 5 * 0.05}\n")
        self.open(make("plain", "cluster", table, "-c", "3"))
        sections = self.js("[...document.querySelectorAll('section')].map((s) => s.id)")
        self.assertNotIn("confusion", sections)
        self.assertNotIn("images", sections)

    def test_refinement_shows_its_starts_and_what_it_changed(self):
        table = os.path.join(FOLDER, "noisy.csv")
        subprocess.run([HUDDLE, "generate", "blobs", "--n", "600", "--noise", "4", "-o", table,
                        "-q"], check=True)
        arguments = ("cluster", table, "-m", "ssc", "-c", "8", "--refine", "graph")
        self.open(make("noisy", *arguments))
        run = subprocess.run([HUDDLE, *arguments, "--json", "-q"], capture_output=True, check=True)
        refine = json.loads(run.stdout)["refine"]
        self.assertGreater(refine["n_changed"], 0)
        text = self.js("document.querySelector('#refinement').innerText")
        self.assertIn(f"{refine['n_changed']} of 600 differ", text)
        self.assertIn("about the shrink step, not about these labels", text)
        rows = self.js("[...document.querySelectorAll('#refinement tbody tr')].map("
                       "(r) => [r.className, Number(r.children[4].textContent)])")
        self.assertEqual([name == "marked" for name, _ in rows],
                         [trial["name"] == refine["start"] for trial in refine["trials"]])
        for (_, shown), trial in zip(rows, refine["trials"]):
            self.assertAlmostEqual(shown, trial["modularity"], places=5)
        for j in range(1, 6):  # the decimals of a column are aligned
            texts = self.js(f"[...document.querySelectorAll('#refinement tbody tr')].map((r) => r.children[{j}].textContent)")
            self.assertEqual(len({len(text.partition(".")[2]) for text in texts}), 1, texts)
        self.assertIn("the labels were refined on the graph afterwards",
                      self.js("document.querySelector('#summary').innerText"))

        seen = []
        for name in ("all", "before", "changed", "all"):
            self.choose("Show", name)
            seen.append(self.js(CANVAS))
        self.assertEqual(len(set(seen)), 3)
        self.assertEqual(seen[0], seen[3])
        self.check_clean()

    def test_labels_that_were_not_refined_have_no_choice(self):
        self.open(make("unrefined", "cluster", "blobs", "-m", "sc", "--refine", "none"))
        self.assertIsNone(self.js("document.querySelector('#refinement')"))
        self.assertNotIn("before refinement", self.js("document.body.innerText"))

    def test_numbers_of_clusters_are_charts(self):
        self.open(make("range", "cluster", "blobs", "-m", "sc", "-c", "3-6"))
        marks = self.js("[...document.querySelectorAll('#range svg .strong-text')].map((t) => t.textContent)")
        self.assertGreaterEqual(len(marks), 2)
        self.assertEqual(set(marks), {"5, chosen"})

    def test_next_best_numbers_are_marked(self):
        arguments = ("cluster", "digits", "-m", "sc", "-c", "auto")
        self.open(make("auto", *arguments))
        run = subprocess.run([HUDDLE, *arguments, "--json", "-q"], capture_output=True, check=True)
        report = json.loads(run.stdout)
        numbers = [entry["n_clusters"] for entry in report["choice"]]
        self.assertEqual(numbers[0], report["n_clusters"])
        self.assertIn(f"{numbers[0]}, chosen",
                      self.js("document.querySelector('#choice svg .strong-text').textContent"))
        texts = self.js("[...document.querySelectorAll('#choice svg text')].map((t) => t.textContent)")
        for number in numbers[1:4]:
            self.assertIn(str(number), texts)
        self.assertEqual(self.js("document.querySelectorAll('#choice tbody tr').length"), len(numbers))

    def test_range_of_numbers_is_a_table(self):
        self.open(make("range", "cluster", "blobs", "-m", "sc", "-c", "3-6"))
        self.assertEqual(self.js("document.querySelectorAll('#range tbody tr').length"), 4)
        self.assertEqual(self.js("document.querySelectorAll('#range tr.marked').length"), 1)

    def test_spectrum_shows_the_gap_that_chose_the_number(self):
        arguments = ("cluster", "digits", "-m", "sc", "-c", "auto", "--refine", "none")
        self.open(make("gap", *arguments))
        run = subprocess.run([HUDDLE, *arguments, "--json", "-q"], capture_output=True, check=True)
        report = json.loads(run.stdout)
        choice = report["choice"]
        caption = self.js("document.querySelector('#spectrum p.caption').innerText")
        self.assertIn(f"{choice[0]['n_clusters']} was chosen by the relative eigengap "
                      f"({choice[0]['relative_gap']:.2f})", caption)
        for other in choice[1:]:
            self.assertIn(f"{other['n_clusters']} ({other['relative_gap']:.2f})", caption)
        self.assertEqual(choice[0]["n_clusters"], report["n_clusters"])
        self.assertIn(f"relative gap {choice[0]['relative_gap']:.2f}",
                      self.js("document.querySelector('#spectrum svg').textContent"))
        self.open(digits())  # with a given number of clusters
        run = subprocess.run([HUDDLE, "cluster", "digits", "-m", "ssc", "--json", "-q"],
                             capture_output=True, check=True)
        gaps = json.loads(run.stdout)["embed"]["relative_gaps"]
        caption = self.js("document.querySelector('#spectrum p.caption').innerText")
        self.assertIn(f"The relative gap after 10 is {gaps[9]:.2f}", caption)
        best = max((k for k in range(len(gaps)) if gaps[k] is not None), key=gaps.__getitem__)
        self.assertIn(f"the widest, {gaps[best]:.2f}, is after {best + 1}.", caption)

    def test_medoids_are_those_of_the_report(self):
        self.open(digits())
        run = subprocess.run([HUDDLE, "cluster", "digits", "-m", "ssc", "--json", "-q"],
                             capture_output=True, check=True)
        shown = self.js("[...document.querySelectorAll('#images canvas.medoid')].map((c) => c.dataset.tip)")
        self.assertEqual([title.split(",")[0] for title in shown],
                         [f"point {m}" for m in json.loads(run.stdout)["medoids"]])

    def test_text_from_the_data_is_never_html(self):
        table = os.path.join(FOLDER, "odd <i>& 'name'.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("a,b,class\n")
            for i in range(60):
                name = "</script><script>alert(1)</script>" if i % 2 else "<!--<b>bold</b>"
                file.write(f"{i % 2 * 9 + i * 0.01},{i * 0.02},{name}\n")
        self.open(make("odd", "cluster", table, "-c", "2"))
        self.assertEqual(self.js("document.querySelectorAll('main b b, main script').length"), 0)
        self.assertIn("<i>&", self.js("document.querySelector('h1').textContent"))
        self.assertIn("</script>", self.js("document.querySelector('#confusion').textContent"))

    # ---- behaviour ----

    def test_slider_moves_points(self):
        for page in (digits(), digits_path()):
            self.open(page)
            self.move(0)
            first, groups = self.js(CANVAS), self.js("document.querySelectorAll('#path dd')[1].textContent")
            self.move(0.4)
            middle = self.js(CANVAS)
            self.move(1)
            last, fewer = self.js(CANVAS), self.js("document.querySelectorAll('#path dd')[1].textContent")
            self.assertEqual(len({first, middle, last}), 3)
            self.assertLess(int(fewer.replace(",", "")), int(groups.replace(",", "")))
            self.check_clean()

    def test_play_runs_the_slider(self):
        self.open(digits())
        self.move(0)
        self.js("document.querySelector('.play').click()")
        time.sleep(0.8)
        self.assertGreater(float(self.js("document.querySelector('#path input').value")), 0.01)
        self.js("document.querySelector('.play').click()")
        self.check_clean()

    def test_tooltip_shows_index_class_and_image(self):
        self.open(digits())
        x, y, width = self.centre(".picture canvas")
        found = False
        for step in range(12):
            self.mouse("mouseMoved", x - width / 4 + step * width / 24, y)
            self.browser.settle()
            found = found or not self.js("document.querySelector('.tip').hidden")
            if found:
                break
        self.assertTrue(found)
        text = self.js("document.querySelector('.tip').innerText")
        self.assertRegex(text, r"point(s at one place)?.*\s+cluster [0-9]+.*\s+class [0-9]")
        self.assertIn(self.js("document.querySelectorAll('.tip canvas').length"), (1, 2, 3))
        self.check_clean()

    def test_legend_highlights_a_cluster(self):
        self.open(digits())
        before = self.js(CANVAS)
        self.js("document.querySelector('.legend button').click()")
        self.browser.settle()
        self.assertTrue(before != self.js(CANVAS))
        self.js("document.querySelector('.legend button').click()")
        self.browser.settle()
        self.assertTrue(before == self.js(CANVAS))

    def test_tables_sort(self):
        self.open(digits_path())
        column = "[...document.querySelectorAll('#levels tbody tr')].map((r) => Number(r.children[3].textContent.replace(',', '')))"
        self.js("document.querySelectorAll('#levels th button')[3].click()")
        rising = self.js(column)
        self.js("document.querySelectorAll('#levels th button')[3].click()")
        falling = self.js(column)
        self.assertEqual(rising, sorted(rising))
        self.assertEqual(falling, sorted(falling, reverse=True))

    def test_many_points_are_fluid(self):
        self.open(make("many", "cluster", "blobs", "--n", "50000", "-m", "sc"))
        self.assertIn("All 50,000 points are shown.", self.js("document.body.innerText"))
        spent = self.js("""(() => { const canvas = document.querySelector('.picture canvas');
            const r = canvas.getBoundingClientRect(), began = performance.now();
            for (let i = 0; i < 20; i++)
                canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + i, clientY: r.top + 50}));
            return (performance.now() - began) / 20; })()""")
        self.assertLess(spent, 30)
        frame = self.js("""new Promise((done) => { let count = 0, began = performance.now();
            const buttons = document.querySelectorAll('.legend button');
            const step = () => { buttons[count % buttons.length].click();
                if (++count === 20) done((performance.now() - began) / 20); else requestAnimationFrame(step); };
            requestAnimationFrame(step); })""")
        self.assertLess(frame, 200)

    # ---- appearance ----

    def test_widths_and_themes(self):
        backs = set()
        for name, page in (("cluster", digits()), ("path", digits_path())):
            for width, dark in ((1280, False), (1280, True), (390, False), (390, True)):
                self.open(page, width, 844, dark=dark, mobile=width < 500)
                self.assertLessEqual(self.js("document.documentElement.scrollWidth"), width)
                backs.add(self.js("getComputedStyle(document.body).backgroundColor"))
                if SHOTS:
                    self.browser.screenshot(os.path.join(SHOTS, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        self.assertEqual(len(backs), 2)

    def test_theme_button(self):
        self.open(digits())
        back = "getComputedStyle(document.body).backgroundColor"
        before = self.js(back)
        for _ in range(2):
            self.js("document.querySelector('.theme').click()")
        self.assertNotEqual(before, self.js(back))
        self.check_clean()

    def test_printing(self):
        self.open(digits(), dark=True)
        data = self.browser.print_pdf(SHOTS and os.path.join(SHOTS, "cluster.pdf"))
        self.assertTrue(data.startswith(b"%PDF"))
        self.assertGreater(data.count(b"/Type /Page\n") + data.count(b"/Type /Page "), 2)
        self.check_clean()

    # ---- the file ----

    def test_file_is_self_contained_and_small(self):
        with open(digits(), encoding="utf-8") as file:
            text = file.read()
        self.assertLess(len(text), 2_000_000)
        for word in ("<link", "<img", "@import", "url(", "src="):
            self.assertNotIn(word, text)
        self.assertEqual(text.count("http"), text.count("http://www.w3.org/2000/svg") + 1)

    def test_same_run_same_page(self):
        def shape(name):
            import json
            import re
            with open(make(name, "cluster", "moons", "--n", "200"), encoding="utf-8") as file:
                data = re.search(r'id="data">(.*?)</script>', file.read(), re.S).group(1)
            return json.loads(data)["shared"]
        self.assertEqual(shape("moons1"), shape("moons2"))

    def test_missing_folder_is_reported_before_the_work(self):
        run = subprocess.run([HUDDLE, "cluster", "digits", "--report", FOLDER + "/absent/a.html"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("does not exist", run.stderr)


if __name__ == "__main__":
    if find_chromium() is None:
        print("skipped: chromium is not installed (apt-get install chromium)")
        sys.exit(77)
    unittest.main()
