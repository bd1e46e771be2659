"""
Documents
=========

Texts as sparse points: the descriptions of SciPy's functions, clustered by the words that they use, against the
subpackages that they belong to. Sparse matrices stay sparse.
"""
import importlib
import inspect

import numpy as np
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

from huddle import KMeans, SpectralShrunkClustering
from huddle.metrics import scores

packages = ["stats", "signal", "ndimage", "interpolate", "optimize", "spatial", "fft"]
n_clusters = len(packages)
texts, y = [], []
for k, package in enumerate(packages):
    module = importlib.import_module("scipy." + package)
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 300 and not inspect.ismodule(getattr(module, name)):
            texts.append(text)
            y.append(k)
y = np.array(y)

# Names of packages would give the answer away.
words = TfidfVectorizer(stop_words=packages + ["scipy", "numpy", "np"], token_pattern=r"[A-Za-z]{3,}", min_df=3,
                        max_df=.3, sublinear_tf=True)
X = words.fit_transform(texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} words in a text")

for name, model in {"K-means": KMeans(n_clusters), "SSC": SpectralShrunkClustering(n_clusters)}.items():
    labels = model.fit_predict(X)
    print(f"{name:8} ACC %(acc).3f  NMI %(nmi).3f" % scores(y, labels))

# %%
# What is in each cluster: its most typical words, and the packages that its texts come from.
vocabulary = words.get_feature_names_out()
mean = np.asarray(X.mean(axis=0)).ravel()
table = np.zeros((n_clusters, len(packages)), int)
np.add.at(table, (labels, y), 1)
names = []
for k in range(n_clusters):
    typical = np.argsort(-(np.asarray(X[labels == k].mean(axis=0)).ravel() - mean))[:3]
    names.append(", ".join(vocabulary[typical]))

figure, panel = plt.subplots(figsize=(8.5, 4.4))
order = np.argsort(table.argmax(axis=1), kind="stable")
panel.imshow(table[order], cmap="Blues", aspect="auto", vmax=table.max())
for (i, j), count in np.ndenumerate(table[order]):
    if count:
        panel.text(j, i, count, ha="center", va="center", color="white" if count > .6 * table.max() else "black")
panel.set_yticks(range(n_clusters), [names[k] for k in order])
panel.set_xticks(range(len(packages)), packages, rotation=30, ha="right")
figure.tight_layout()
plt.show()
