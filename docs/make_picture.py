#!/usr/bin/python3
"""Draws docs/digits.png: the embedding of the digits before and after shrinking.

    build/huddle cluster digits -m ssc -c 10 --prepare unit --dump DIR
    docs/make_picture.py DIR docs/digits.png
"""
import sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder, target = sys.argv[1:]
F, G = (np.load(f"{folder}/{name}.npy") for name in "FG")
labels = np.load(f"{folder}/labels.npy")

# The linear projection that maps the cluster centres to a circle: two principal components do not
# separate ten clusters.
centres = np.array([F[labels == k].mean(0) for k in range(labels.max() + 1)])
angle = 2 * np.pi * np.arange(len(centres)) / len(centres)
axes = np.linalg.pinv(centres) @ np.c_[np.cos(angle), np.sin(angle)]

figure, panels = plt.subplots(1, 2, figsize=(9, 4.7), sharex=True, sharey=True)
rows, counts = np.unique(G, axis=0, return_counts=True)
owner = [labels[np.flatnonzero((G == row).all(1))[0]] for row in rows]
panels[0].scatter(*(F @ axes).T, c=labels, s=6, cmap="tab10", linewidths=0)
panels[0].set_title(f"embedding: {len(F)} points", fontsize=11)
panels[1].scatter(*(rows @ axes).T, c=owner, s=6 + 1.2 * counts, cmap="tab10", alpha=.85, linewidths=0)
panels[1].set_title(f"shrunk: {len(rows)} distinct points, area by count", fontsize=11)
for panel in panels:
    panel.set_aspect("equal")
    panel.set_xlim(-1.5, 1.5), panel.set_ylim(-1.5, 1.5)
    panel.set_xticks([]), panel.set_yticks([])
    for side in panel.spines.values():
        side.set_color("#bbbbbb")
figure.tight_layout()
figure.savefig(target, dpi=110)
