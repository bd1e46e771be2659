"""
How many clusters?
==================

Three ways to find the number of clusters without labels: let Huddle choose, compare a range that shares one embedding,
or look at the order in which points fuse as the shrinking grows.
"""
import numpy as np
from matplotlib import pyplot as plt

from huddle import SpectralShrunkClustering, cluster_path
from huddle.datasets import load_digits

X, y = load_digits()
automatic = SpectralShrunkClustering(n_clusters="auto").fit(X)
print("chosen automatically:", automatic.n_clusters_)

model = SpectralShrunkClustering(n_clusters=range(4, 17)).fit(X)
print("chosen from a range:", model.n_clusters_)

# %%
# The eigenvalues of the graph show a gap after the number of clusters, if there is one. The fusion
# tree shows which groups of points become one as gamma grows.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
values = SpectralShrunkClustering(n_clusters=16, refine="none").fit(X).eigenvalues_
left.plot(np.arange(1, len(values) + 1), values, "o-", ms=4)
left.axvline(model.n_clusters_ + .5, color="0.6", lw=1, ls="--")
left.set(xlabel="eigenvalue", ylabel="value", title="spectrum of the graph", xticks=range(1, len(values) + 1, 2))

path = cluster_path(X, n_clusters=10, n_gamma=20)
path.dendrogram(ax=right, max_leaves=30)
right.set_title("fusions along the path")
figure.tight_layout()
plt.show()
