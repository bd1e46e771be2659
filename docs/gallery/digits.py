"""
Handwritten digits
==================

1797 images of 8 x 8 pixels, ten clusters, no labels used: the embedding before and after shrinking, the digits that
ended in the wrong cluster, and how sure the labels are.
"""
import numpy as np
from matplotlib import pyplot as plt

from huddle import SpectralShrunkClustering
from huddle.datasets import load_digits
from huddle.metrics import scores

X, y = load_digits()
model = SpectralShrunkClustering(n_clusters=10).fit(X)
print("ACC %(acc).3f  NMI %(nmi).3f  ARI %(ari).3f" % scores(y, model.labels_))
print(f"objective within {model.gap_:.1e} of the optimum, proven")

# %%
# Shrinking
# ---------
# Two of ten dimensions cannot show ten clusters. This linear map brings each cluster as near as
# possible to its own place on a circle.
labels = model.labels_
angle = 2 * np.pi * labels / 10
axes = np.linalg.lstsq(model.embedding_, np.c_[np.cos(angle), np.sin(angle)], rcond=None)[0]

figure, panels = plt.subplots(1, 2, figsize=(9, 4.6), sharex=True, sharey=True)
for panel, rows, title in zip(panels, (model.embedding_, model.shrunk_), ("embedded", "shrunk")):
    panel.scatter(*(rows @ axes).T, c=y, s=7, cmap="tab10", linewidths=0)
    distinct = len(np.unique(rows, axis=0))
    panel.set(title=f"{title}: {distinct} distinct points", xticks=[], yticks=[], aspect="equal")
figure.tight_layout()

# %%
# One row for each cluster
# ------------------------
# On the left the images that are most certain, on the right the least certain ones.
figure, panels = plt.subplots(10, 16, figsize=(8, 5.4))
for k, row in enumerate(panels):
    members = np.flatnonzero(labels == k)
    members = members[np.argsort(-model.confidence_[members], kind="stable")]
    chosen = np.r_[members[:8], members[-8:]]
    for panel, i in zip(row, chosen):
        panel.imshow(X[i].reshape(8, 8), cmap="gray_r")
        panel.axis("off")
figure.tight_layout(pad=.3)
plt.show()
