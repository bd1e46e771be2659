#!/usr/bin/python3
"""Speed of the report page in headless Chromium, rendered in software:

    bench/page.py build/huddle [--n 50000] [--columns 20] [--keep DIR]

Writes the page of random clusters of n points with the given number of columns and prints its size,
the time until it is complete, and the frame times while the slider of gamma moves over its whole
range, in three projections and colourings.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "page"))
from browser import Browser, find_chromium  # noqa: E402

LOAD = """(() => { const entry = performance.getEntriesByType('navigation')[0];
    return [entry.domInteractive, entry.loadEventEnd, performance.now()]; })()"""

# Moves the slider a little in each frame; frame times, and the time that the script itself takes.
FRAMES = """new Promise((done) => {
    const input = document.querySelector('input[type=range]'), count = 120, frames = [], work = [];
    let before = 0, at = 0;
    const step = (now) => {
        if (before) frames.push(now - before);
        before = now;
        if (at === count) { done([frames.slice(1), work]); return; }
        const began = performance.now();
        input.value = at++ / (count - 1);
        input.dispatchEvent(new Event('input'));
        work.push(performance.now() - began);
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step); })"""

CHOOSE = """(() => { const select = [...document.querySelectorAll('.chooser')].find(
    (c) => c.textContent.startsWith('%s')).querySelector('select');
    select.selectedIndex = %d; select.onchange(); })()"""


def make_points(folder, n, columns):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, columns)) * 1.1
    labels = rng.integers(0, 10, n)
    points = centres[labels] + rng.normal(size=(n, columns)) * rng.uniform(0.8, 2.2, (10, 1))[labels]
    path = os.path.join(folder, "points.npz")
    np.savez(path, X=points.astype(np.float32), y=labels)
    return path


def measure(browser, page):
    browser.window(1280, 900)
    browser.open(page)
    interactive, load, _ = browser.run(LOAD)
    print(f"size               {os.path.getsize(page) / 1e6:8.2f} MB")
    print(f"document parsed    {interactive:8.0f} ms")
    print(f"page complete      {load:8.0f} ms")
    browser.run("new Promise((done) => setTimeout(done, 1500))")
    cases = [("circle, clusters", None), ("components, clusters", ("Projection", 1)),
             ("components, feature", ("Colour", 2))]
    for name, choice in cases:
        if choice:
            browser.run(CHOOSE % choice)
            browser.run("new Promise((done) => setTimeout(done, 1200))")
        if not browser.run("Boolean(document.querySelector('input[type=range]'))"):
            sys.exit("the page has no path: the clusters are separate components")
        frames, work = (sorted(times) for times in browser.run(FRAMES))
        print(f"{name:22} frame: median {frames[len(frames) // 2]:5.1f} ms, 95 % "
              f"{frames[int(0.95 * len(frames))]:5.1f} ms; {1000 * len(frames) / sum(frames):5.1f} "
              f"frames/s; slider event median {work[len(work) // 2]:4.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("huddle")
    parser.add_argument("--n", type=int, default=50000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--keep", metavar="DIR", help="keep the page there, or use the one there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(options.keep or folder, f"points-{options.n}.html")
        if not os.path.exists(page):
            data = make_points(folder, options.n, options.columns)
            subprocess.run([options.huddle, "cluster", data, "--report", page, "-q"], check=True,
                           stdout=subprocess.DEVNULL)
        with Browser(find_chromium()) as browser:
            measure(browser, page)


if __name__ == "__main__":
    main()
