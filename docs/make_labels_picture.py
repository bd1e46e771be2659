#!/usr/bin/python3
"""Draws docs/labels.png and docs/labels.svg: the labels of the default beside the last release and others.

    bench/quality.py --only images,tables,shapes --peers --library NEW=build --library OLD=... --out R.json
    docs/make_labels_picture.py R.json docs/labels.png

The first library of the file is the default under test, the last one the release it is compared with;
with only one, its `refine="none"` is compared. Of the two settings of HDBSCAN, and of K-means on raw and
on standardised columns (tables and shapes only), the better one is shown in each row.
"""
import json
import pathlib
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

BEFORE, NOW = "#9aa3ad", "#c2410c"
# Other software: methods of bench/quality.py (the best is shown), colour, marker.
OTHERS = {"scikit-learn SpectralClustering": (["scikit-learn SC"], "#2563eb", "s"),
          "UMAP + K-means": (["UMAP + K-means"], "#0f766e", "^"),
          "HDBSCAN": (["HDBSCAN", "HDBSCAN n/(10c)"], "#7c3aed", "D"),
          "K-means": (["K-means", "K-means standardised"], "#111827", "x")}
NAMES = {"bundled/iris": "iris", "bundled/wine": "wine", "bundled/breast_cancer": "breast cancer"}


def mean(records, cases, label, method, score):
    """The mean over cases of the mean over seeds; None if a case has no score."""
    means = []
    for case in cases:
        values = [r[score] for r in records if r["case"] == case and r["label"] == label
                  and r["method"] == method and score in r]
        if not values:
            return None
        means.append(np.mean(values))
    return float(np.mean(means))


def rows_of(records):
    """(name, cases) for each panel: image sets; single tables and means over groups."""
    cases = {group: list(dict.fromkeys(r["case"] for r in records if r["case"].startswith(group + "/")
                                       and r["section"] in ("images", "tables", "shapes")))
             for group in ("images", "bundled", "tables", "shapes")}
    images = [(case.split("/")[1], [case]) for case in cases["images"]]
    if len(images) > 1:
        images.append(("mean", cases["images"]))
    flat = [(NAMES[case], [case]) for case in cases["bundled"]]
    flat += [(f"{len(cases[group])} {group}, mean", cases[group]) for group in ("tables", "shapes") if cases[group]]
    return images, flat


def draw(panel, rows, records, held, score):
    libraries = list(held["libraries"])
    before = (libraries[-1], "ssc" if len(libraries) > 1 else "ssc, refine none")
    before_name = f"Huddle {before[0]}" if len(libraries) > 1 else "Huddle without refinement"
    for y, (name, cases) in enumerate(rows):
        old, new = (mean(records, cases, *who, score) for who in (before, (libraries[0], "ssc")))
        for label, (methods, colour, marker) in OTHERS.items():
            found = [mean(records, cases, who, method, score) for method in methods
                     for who in (held["peers"], libraries[-1])]  # K-means is measured with the library
            found = [value for value in found if value is not None]
            if found:
                panel.plot(max(found), y, marker, color=colour, ms=6, mfc="none", mew=1.4, zorder=5,
                           label=label if y == 0 else None)
        if old is not None:
            panel.plot([old, new], [y, y], "-", color=NOW, lw=2.2, alpha=.35, zorder=1)
            panel.plot(old, y, "o", color=BEFORE, ms=9, zorder=3,
                       label=before_name if y == 0 else None)
        panel.plot(new, y, "o", color=NOW, ms=9, zorder=4, label="Huddle, default" if y == 0 else None)
        panel.annotate(f"{new:.2f}".lstrip("0"), (new, y), (0, 8), textcoords="offset points", ha="center",
                       fontsize=8.5, color=NOW, zorder=5)
    panel.set_yticks(range(len(rows)), [name for name, _ in rows])
    panel.set_ylim(len(rows) - .5, -.7)
    panel.set_xlim(-.03, 1.03)
    panel.grid(axis="x", color="#e5e7eb", lw=.8)
    panel.set_axisbelow(True)
    panel.tick_params(length=0)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)
    panel.spines["bottom"].set_color("#bbbbbb")


def main():
    source, target_file = sys.argv[1:]
    held = json.loads(pathlib.Path(source).read_text(encoding="utf-8"))
    records = [r for r in held["records"] if r["section"] in ("images", "tables", "shapes")]
    images, flat = rows_of(records)
    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["svg.hashsalt"] = "huddle"  # the same file from the same results
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), gridspec_kw=dict(width_ratios=[1, 1]))
    draw(panels[0], images, records, held, "acc")
    draw(panels[1], flat, records, held, "ari")
    panels[0].set_title("images: accuracy (ACC)", fontsize=11, loc="left")
    panels[1].set_title("tables and shapes: adjusted Rand index (ARI)", fontsize=11, loc="left")
    entries = {label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels())}
    names = sorted(entries, key=lambda label: (label in OTHERS, label != "Huddle, default"))
    figure.legend([entries[name] for name in names], names, loc="lower center", ncol=len(names),
                  frameon=False, fontsize=9.5, columnspacing=1.4, handletextpad=.4)
    figure.tight_layout(rect=(0, .06, 1, 1))
    figure.savefig(target_file, dpi=110)
    figure.savefig(pathlib.Path(target_file).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
