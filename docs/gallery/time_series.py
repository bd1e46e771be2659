"""
Time series
===========

Signals of six kinds, each with noise and a start of its own. Two equal signals that start at different times have a
large distance point by point; the size of their Fourier coefficients does not depend on the start.
"""
import numpy as np
from matplotlib import pyplot as plt
from scipy import signal

from huddle import SpectralShrunkClustering
from huddle.metrics import scores

rng = np.random.default_rng(0)
length, each = 256, 80
time = np.arange(length) / length
kinds = {
    "sine": lambda t: np.sin(2 * np.pi * 5 * t),
    "square": lambda t: signal.square(2 * np.pi * 5 * t),
    "sawtooth": lambda t: signal.sawtooth(2 * np.pi * 5 * t),
    "beat": lambda t: np.sin(2 * np.pi * 9 * t) * np.sin(2 * np.pi * t),
    "pulses": lambda t: np.exp(-(((5 * t) % 1 - .5) / .06) ** 2),
    "chirp": lambda t: signal.chirp(t % 1, 1, 1, 14),
}
series = np.array([kind(time + rng.uniform()) for kind in kinds.values() for _ in range(each)])
series += rng.normal(0, .35, series.shape)
series = (series - series.mean(axis=1, keepdims=True)) / series.std(axis=1, keepdims=True)
y = np.repeat(np.arange(len(kinds)), each)

# %%
spectra = np.abs(np.fft.rfft(series))[:, 1:40]
for name, X in {"samples": series, "spectrum": spectra}.items():
    labels = SpectralShrunkClustering(len(kinds)).fit_predict(X)
    print(f"{name:9} ACC %(acc).3f  NMI %(nmi).3f" % scores(y, labels))

# %%
# Three signals of each cluster, in its order.
figure, panels = plt.subplots(len(kinds), 3, figsize=(9, 6), sharex=True, sharey=True)
for k, row in enumerate(panels):
    members = np.flatnonzero(labels == k)
    for panel, i in zip(row, members[:: max(1, len(members) // 3)]):
        panel.plot(time, series[i], lw=.7, color=f"C{k}")
        panel.set(xticks=[], yticks=[])
    row[0].set_ylabel(f"cluster {k}\n{len(members)} series", rotation=0, ha="right", va="center")
figure.tight_layout()
plt.show()
