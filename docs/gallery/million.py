"""
A million points
================

Forty sheets, bent in sixteen dimensions, of 25,000 points each: no sampling of the points, and a certificate at the
end. It needs 3 GB and about 90 seconds on two cores. To try it with fewer points, set the environment variable
``HUDDLE_GALLERY_POINTS``.
"""
import os
import time

import numpy as np
from matplotlib import pyplot as plt

from huddle import SpectralShrunkClustering
from huddle.metrics import scores

n = int(os.environ.get("HUDDLE_GALLERY_POINTS", 1_000_000))
rng = np.random.default_rng(0)


def make_sheets(n, n_sheets=40, d=16):
    """Points on bent two-dimensional sheets, with noise in all dimensions."""
    y = np.arange(n) % n_sheets
    X = np.empty((n, d), np.float32)
    for k in range(n_sheets):
        mine = y == k
        u, v = rng.uniform(-1, 1, (2, mine.sum()))
        bent = np.c_[u, v, u * v, u ** 2 - v ** 2]
        X[mine] = rng.normal(0, 3, d) + bent @ rng.normal(0, 1, (4, d))
    X += rng.normal(0, .05, X.shape)
    return X, y


X, y = make_sheets(n)
start = time.perf_counter()
model = SpectralShrunkClustering(n_clusters=40).fit(X)
print(f"{n} points in {time.perf_counter() - start:.1f} s")
print("ACC %(acc).4f  NMI %(nmi).4f" % scores(y, model.labels_), f" gap {model.gap_:.1e}")

# %%
# Where the time went, and two principal components of a sample of the points.
seconds = {name: value for name, value in model.info_["seconds"].items()
           if name != "total" and value > 0}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
left.barh(list(seconds)[::-1], list(seconds.values())[::-1])
left.set(xlabel="seconds", title="stages of the fit")
sample = rng.choice(n, min(n, 20_000), replace=False)
centred = X[sample] - X[sample].mean(axis=0)
axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
right.scatter(*(centred @ axes.T).T, c=model.labels_[sample], s=1, cmap="tab20", linewidths=0)
right.set(xticks=[], yticks=[], title="40 clusters")
figure.tight_layout()
plt.show()
