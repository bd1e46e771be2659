#!/usr/bin/python3
"""Clustering handwritten digits in Python, cell by cell.

    PYTHONPATH=python /usr/bin/python3 examples/digits.py [FOLDER]

Editors that support `# %%` cells open it as a notebook. Figures are written to FOLDER (default: the
current folder).
"""
# %% The data: 1797 images of 8 x 8 pixels, and the digits that they show
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

# %% Clustering in three lines
model = SpectralShrunkClustering(n_clusters=10)
labels = model.fit_predict(X)
print("ACC %(acc).3f  NMI %(nmi).3f" % scores(y, labels))

# %% The certificate of the shrink step: a proven bound of the distance to the optimum
print(f"objective {model.objective_:.4f}, relative gap at most {model.gap_:.1e}")

# %% The number of clusters: by default it is chosen
automatic = SpectralShrunkClustering().fit(X)
print(f"number of clusters by {automatic.info_['chosen_by']}: {automatic.n_clusters_}")

# %% Before and after shrinking
figure, axes = pyplot.subplots(1, 2, figsize=(9, 4))
for ax, rows, title in zip(axes, (model.embedding_, model.shrunk_), ("embedded", "shrunk")):
    ax.scatter(rows[:, 1], rows[:, 2], c=y, cmap="tab10", s=4)
    ax.set_title(title)
figure.savefig(folder / "shrinking.png", dpi=120)

# %% The path: a range of gamma, from no shrinking to collapse
path = cluster_path(X, n_clusters=10, n_gamma=20, keep_shrunk=True)
ax = path.plot()
ax.figure.savefig(folder / "path.png", dpi=120)
print("labels from the path, without K-means: ACC %.3f" % scores(y, path.labels)["acc"])

# %% Prediction: labels of new points
X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0)
model = SpectralShrunkClustering(n_clusters=10).fit(X_train)
print("new points: ACC %.3f" % scores(y_new, model.predict(X_new))["acc"])

# %% Comparison with scikit-learn
estimators = {
    "huddle SSC": SpectralShrunkClustering(10),
    "huddle spectral": SpectralClustering(10),
    "huddle K-means": KMeans(10),
    "scikit-learn spectral": SklearnSpectralClustering(10, affinity="nearest_neighbors",
                                                       n_neighbors=5, random_state=0),
}
for name, estimator in estimators.items():
    start = time.perf_counter()
    found = estimator.fit_predict(X)
    seconds = time.perf_counter() - start
    print(f"{name:22} ACC {scores(y, found)['acc']:.3f}   {seconds:5.2f} s")
