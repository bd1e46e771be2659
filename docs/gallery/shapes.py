"""
Moons, rings and spirals
========================

Clusters that no straight line separates, and blobs of very different sizes: K-means against spectral shrunk
clustering with its defaults.
"""
from matplotlib import pyplot as plt

from huddle import KMeans, SpectralShrunkClustering
from huddle.datasets import make_moons, make_rings, make_spirals, make_unequal
from huddle.metrics import accuracy

shapes = {
    "moons": make_moons(600, noise=0.08),
    "rings": make_rings(600, noise=0.04),
    "spirals": make_spirals(600, noise=0.03),
    "unequal": make_unequal(600),
}

figure, panels = plt.subplots(2, len(shapes), figsize=(11, 5.6))
for column, (name, (X, y)) in zip(panels.T, shapes.items()):
    n_clusters = y.max() + 1
    for panel, estimator in zip(column, (KMeans(n_clusters), SpectralShrunkClustering(n_clusters))):
        labels = estimator.fit_predict(X)
        acc = accuracy(y, labels)
        print(f"{name:8} {type(estimator).__name__:26} ACC {acc:.3f}")
        panel.scatter(*X.T, c=labels, s=5, cmap="tab10", linewidths=0)
        panel.set(xticks=[], yticks=[], aspect="equal")
        panel.set_xlabel(f"ACC {acc:.2f}")
    column[0].set_title(name)
for panel, name in zip(panels[:, 0], ("K-means", "SSC")):
    panel.set_ylabel(name)
figure.tight_layout()
plt.show()
