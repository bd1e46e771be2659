"""Golden numbers for nonnegative spectral clustering: nsc.txt, by NumPy.

Everything is dense and comes from the definitions: the discriminative term by the inverse of the
ridge regression's matrix, an update by the roots of the derivative of its bound. Blocks of numbers
follow each other in the order of the calls of put() below, the same for each problem."""

import numpy as np

from blocks import put, write

N, D, UPDATES = 30, 4, 20


def objective(f, m, xi):
    gram = f.T @ f - np.eye(f.shape[1])
    return np.trace(f.T @ m @ f) + xi / 2 * (gram ** 2).sum()


def update(f, q, mu, xi):
    """The least of the bound for each entry, but no less than a tenth of it."""
    b, cubes, new = q @ f, f @ f.T @ f, np.empty_like(f)
    for place, p in np.ndenumerate(f):
        ratio = 0.1
        if b[place] > 0:
            # d/dr of (2 + mu) p^2 r^2 - 2 b p log r + xi / 2 cubes p r^4, times r
            roots = np.roots([2 * xi * cubes[place] * p, 0, 2 * (2 + mu) * p * p, 0,
                              -2 * b[place] * p])
            real = roots[np.abs(roots.imag) < 1e-9].real
            ratio = max(real[real > 0].max(), 0.1)
        new[place] = ratio * p
    return new


for seed, c, mu, ridge, xi, most in ((1, 3, 1.0, 2.0, 20.0, 1), (2, 2, 0.3, 0.05, 4.0, 5),
                                     (3, 5, 4.0, 10.0, 50.0, 3)):
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((c, D)) * 2)[np.arange(N) % c] + rng.standard_normal((N, D))
    x = x.astype(np.float32).astype(float)
    copies = rng.integers(1, most + 1, N).astype(float)
    # Some weights, with a diagonal where there are copies.
    w = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / 4) * (rng.random((N, N)) < 0.5)
    w = np.maximum(w, w.T) * (copies[:, None] + copies) / 2
    np.fill_diagonal(w, copies * (copies - 1))
    w[w < 1e-3] = 0
    w[0, 1] = w[1, 0] = 0.2
    root = 1 / np.sqrt(np.maximum(w.sum(1), 1e-300)) * (w.sum(1) > 0)
    s = root[:, None] * w * root
    # The regression of all rows, those with copies counted as often as they occur.
    u = np.sqrt(copies / copies.sum())
    h = np.eye(N) - np.outer(u, u)
    xc = h @ (np.sqrt(copies)[:, None] * x)
    explained = xc @ np.linalg.inv(xc.T @ xc + ridge * np.eye(D)) @ xc.T
    r = h - explained
    left, scale, _ = np.linalg.svd(xc, full_matrices=False)
    m = np.eye(N) - s + mu * r
    q = (2 + mu + xi) * np.eye(N) - m
    assert np.linalg.eigvalsh(r).min() > -1e-12
    f = 0.05 + rng.random((N, c))
    f /= np.sqrt((f ** 2).sum(0))
    put("problem %d: c, mu, ridge, xi" % seed, [c, mu, ridge, xi])
    put("points", x)
    put("copies", copies)
    put("graph", w)
    put("ridge regression: I - u u' - the hat matrix", r)
    put("components", left * (scale / np.sqrt(scale ** 2 + ridge)))
    put("start", f)
    values = [objective(f, m, xi)]
    for t in range(UPDATES):
        f = update(f, q, mu, xi)
        values.append(objective(f, m, xi))
        assert values[-1] <= values[-2]
        if t == 0:
            put("after one update", f)
    put("after %d updates" % UPDATES, f)
    put("objective", values)

write("nsc")
