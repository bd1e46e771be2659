"""
Segments of an image
====================

Each pixel is a point: its colour and its place. Clusters of pixels are segments of the photograph.
"""
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from huddle import KMeans, SpectralShrunkClustering

image = load_sample_image("flower.jpg")[::4, ::4] / 255
height, width = image.shape[:2]
rows, columns = np.mgrid[:height, :width] / width
X = np.c_[image.reshape(-1, 3), 0.4 * rows.ravel(), 0.4 * columns.ravel()]
print(f"{len(X)} pixels, {X.shape[1]} features")

# %%
# The features have one unit by construction, so they are used as they are.
n_segments = 6
labels = {"K-means": KMeans(n_segments, prepare="none").fit_predict(X),
          "SSC": SpectralShrunkClustering(n_segments, prepare="none", n_neighbors=12).fit_predict(X)}

figure, panels = plt.subplots(1, 3, figsize=(11, 2.8))
panels[0].imshow(image)
panels[0].set_title("photograph")
for panel, (name, found) in zip(panels[1:], labels.items()):
    colours = np.array([image.reshape(-1, 3)[found == k].mean(axis=0) for k in range(n_segments)])
    panel.imshow(colours[found].reshape(height, width, 3))
    panel.contour(found.reshape(height, width), levels=np.arange(n_segments) + .5, colors="white", linewidths=.4)
    panel.set_title(name)
for panel in panels:
    panel.axis("off")
figure.tight_layout()
plt.show()
