#!/usr/bin/python3
"""Clustering digits from Python, cell by cell.

    PYTHONPATH=python /usr/bin/python3 examples/digits.py [FOLDER]

Opens as a notebook in editors that know `# %%`. Pictures are written to FOLDER (default: here).
"""
# %% The data: 1797 images of 8 x 8 pixels, and what they show
import pathlib
import sys
import time

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot
from sklearn.cluster import SpectralClustering as SklearnSpectralClustering
from sklearn.model_selection import train_test_split

from huddle import KMeans, SpectralClustering, SpectralShrunkClustering, cluster_path
from huddle.datasets import load_digits
from huddle.metrics import scores

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
X, y = load_digits()

# %% Clustering: three lines
model = SpectralShrunkClustering(n_clusters=10)
labels = model.fit_predict(X)
print("ACC %(acc).3f  NMI %(nmi).3f" % scores(y, labels))

# %% The certificate of the shrink step: its objective is proven to be this near to the optimum
print(f"objective {model.objective_:.4f}, relative gap at most {model.gap_:.1e}")

# %% How many clusters? Leave it open, and the eigengap chooses
print("chosen without being told:", SpectralShrunkClustering().fit(X).n_clusters_)

# %% Before and after shrinking
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4))
for ax, rows, title in zip(axes, (model.embedding_, model.shrunk_), ("embedded", "shrunk")):
    ax.scatter(rows[:, 1], rows[:, 2], c=y, cmap="tab10", s=4)
    ax.set_title(title)
figure.savefig(folder / "shrinking.png", dpi=120)

# %% The path: every gamma from exact fit to collapse
path = cluster_path(X, n_clusters=10, n_gamma=20, keep_shrunk=True)
ax = path.plot()
ax.figure.savefig(folder / "path.png", dpi=120)
print("read off the path, without K-means: ACC %.3f" % scores(y, path.labels)["acc"])

# %% Prediction: labels for points that were not there
X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0)
model = SpectralShrunkClustering(n_clusters=10).fit(X_train)
print("new points: ACC %.3f" % scores(y_new, model.predict(X_new))["acc"])

# %% Beside scikit-learn
rivals = {
    "huddle SSC": SpectralShrunkClustering(10),
    "huddle spectral": SpectralClustering(10),
    "huddle K-means": KMeans(10),
    "scikit-learn spectral": SklearnSpectralClustering(10, affinity="nearest_neighbors",
                                                       n_neighbors=5, random_state=0),
}
for name, rival in rivals.items():
    began = time.perf_counter()
    found = rival.fit_predict(X)
    seconds = time.perf_counter() - began
    print(f"{name:22} ACC {scores(y, found)['acc']:.3f}   {seconds:5.2f} s")
