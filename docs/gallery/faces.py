"""
Faces
=====

The same person under other light and with another expression: images whose distances say more about the light than
about the face. The faces are drawn by this program; with the name of a file as its argument
(``python faces.py ORL.mat``) it clusters photographs instead.
"""
import sys

import numpy as np
from matplotlib import pyplot as plt

from huddle import KMeans, SpectralShrunkClustering, read
from huddle.metrics import scores

SIDE = 32


def draw_face(person, rng):
    """One image: the features of the person, seen with another expression, pose and light."""
    v, u = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]
    u, v = u - rng.normal(0, .04), v - rng.normal(0, .04)
    smile, blink = rng.uniform(-.15, .25), rng.uniform(.5, 1)
    head = 1 / (1 + np.exp(((u / person["width"]) ** 2 + (v / .85) ** 2 - 1) * 12))
    hair = 1 / (1 + np.exp((v + person["hair"] + .25 * u ** 2) * 14))
    image = head * person["skin"] * (1 - hair) + head * hair * person["hair_tone"]
    for side in (-1, 1):
        eye = ((u - side * person["eyes"]) / .13) ** 2 + ((v + .12) / (.07 * blink)) ** 2
        brow = ((u - side * person["eyes"]) / .2) ** 2 + ((v + .12 + person["brow"]) / .035) ** 2
        image -= .55 * np.exp(-eye) + .4 * person["brow_tone"] * np.exp(-brow)
    image -= .25 * np.exp(-(u / person["nose"]) ** 2 - ((v - .15) / .18) ** 2)
    image -= .45 * np.exp(-(u / person["mouth"]) ** 2 - ((v - .45 + smile * u ** 2 * 4) / .05) ** 2)
    light = 1 + rng.uniform(-.55, .55) * u + rng.uniform(-.25, .25) * v
    return np.clip(image * light, 0, 2) + rng.normal(0, .03, u.shape)


def draw_people(n_people=15, n_images=20, seed=0):
    rng = np.random.default_rng(seed)
    ranges = {"width": (.5, .85), "skin": (.5, 1), "hair": (.2, .75), "hair_tone": (0, .9), "eyes": (.22, .36),
              "brow": (.14, .24), "brow_tone": (.3, 1), "nose": (.05, .14), "mouth": (.15, .35)}
    people = [{name: rng.uniform(*limits) for name, limits in ranges.items()} for _ in range(n_people)]
    X = np.array([draw_face(person, rng).ravel() for person in people for _ in range(n_images)])
    return X.astype(np.float32), np.repeat(np.arange(n_people), n_images)


if len(sys.argv) > 1 and sys.argv[1].endswith((".mat", ".h5", ".npz")):
    data = read(sys.argv[1])
    X, y, images = data.X, data.y, data.images
else:
    X, y = draw_people()
    images = X.reshape(-1, SIDE, SIDE)
n_people = len(np.unique(y))
models = {"K-means": KMeans(n_people, prepare="none"), "SSC": SpectralShrunkClustering(n_people)}
for name, model in models.items():
    model.fit(X)
    print(f"{name:8} ACC %(acc).3f  NMI %(nmi).3f" % scores(y, model.labels_))
print("SSC prepared the images by:", model.info_["prepare"]["rule"])

# %%
# The first clusters, one in each row: within a row the light differs more often than the person.
figure, panels = plt.subplots(8, 14, figsize=(8.4, 4.9))
for k, row in enumerate(panels):
    members = np.flatnonzero(model.labels_ == k)
    for panel, i in zip(row, members):
        panel.imshow(images[i], cmap="gray")
    for panel in row:
        panel.axis("off")
figure.tight_layout(pad=.2)
plt.show()
