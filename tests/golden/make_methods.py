"""Golden numbers for the methods: methods.txt, by NumPy, SciPy and scikit-learn.

Everything is computed densely from the definitions, in double, on one small set of points.
Blocks of numbers follow each other in the order of the calls of put() below."""

import itertools

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.cluster import KMeans
from sklearn.cluster._spectral import discretize

from blocks import put, write

N, D, C, K = 60, 8, 3, 5


def points():
    rng = np.random.default_rng(4)
    centres = 0.9 * rng.standard_normal((C, D))
    x = centres[np.arange(N) % C] + rng.standard_normal((N, D)) * np.linspace(0.4, 1.2, D)
    return x.astype(np.float32).astype(float)


def neighbours(x, k):
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    np.fill_diagonal(d, np.inf)
    index = np.argsort(d, axis=1, kind="stable")[:, :k]
    return index, np.take_along_axis(d, index, 1)


def principal(x, r):
    """Centred points on their first r components, largest entry of each component positive."""
    xc = x - x.mean(0)
    _, s, vt = np.linalg.svd(xc, full_matrices=False)
    v = vt[:r].T
    v *= np.sign(v[np.abs(v).argmax(0), np.arange(r)])
    return xc @ v, s


def ridge_predictor(x, lam, scale):
    """Row i: k_i' (K_i + lambda I)^-1 on the neighbours of i."""
    index, distance = neighbours(x, K)
    local = distance[:, -1]
    delta2 = distance.mean() ** 2

    def kernel(i, j):
        d2 = ((x[i] - x[j]) ** 2).sum()
        return np.exp(max(-d2 / (local[i] * local[j] if scale == "selftune" else delta2), -20))

    a = np.zeros((N, N))
    for i in range(N):
        near = index[i]
        gram = np.array([[kernel(p, q) for q in near] for p in near])
        cross = np.array([kernel(i, p) for p in near])
        a[i, near] = np.linalg.solve(gram + lam * np.eye(K), cross)
    return a


def selftuned_graph(x):
    index, distance = neighbours(x, K)
    local = distance[:, -1]
    w = np.zeros((N, N))
    for i in range(N):
        for j, d in zip(index[i], distance[i]):
            w[i, j] = w[j, i] = np.exp(max(-d * d / (local[i] * local[j]), -20))
    return w


def shrink(f, w, gamma, g):
    """Squared loss, by reweighted least squares with a tiny smoothing."""
    i, j = np.nonzero(np.triu(w))
    weight = gamma * w[i, j]
    for eps in 10.0 ** np.arange(-1, -7.5, -0.5):
        for _ in range(60):
            r = np.sqrt(((g[i] - g[j]) ** 2).sum(1) + eps ** 2)
            laplacian = np.zeros((N, N))
            np.add.at(laplacian, (i, j), -weight / (2 * r))
            laplacian += laplacian.T
            laplacian -= np.diag(laplacian.sum(1))
            g = np.linalg.solve(np.eye(N) + laplacian, f)
    value = ((g - f) ** 2).sum() + (weight * np.sqrt(((g[i] - g[j]) ** 2).sum(1))).sum()
    return g, value


def reconstruction(x, w, gamma, p):
    """spls: the shrinking and the Procrustes step in turn; the last objective."""
    xc = x - x.mean(0)
    xc /= np.sqrt((xc ** 2).sum(1).mean())
    direction = np.linalg.svd(xc, full_matrices=False)[2][:p].T
    last = np.inf
    g = xc @ direction
    while True:
        f = xc @ direction
        g, value = shrink(f, w, gamma, f)
        value += (xc ** 2).sum() - (f ** 2).sum()
        if last - value < 1e-7 * value:
            return value
        last = value
        u, _, vt = np.linalg.svd(xc.T @ g, full_matrices=False)
        direction = u @ vt


def alignment(rows, starts=40):
    """The least sum of z_ij^2 / max_j z_ij^2 over rotations, by Givens angles and many starts."""
    c = rows.shape[1]
    pairs = list(itertools.combinations(range(c), 2))

    def cost(angles):
        r = np.eye(c)
        for (i, j), t in zip(pairs, angles):
            g = np.eye(c)
            g[i, i] = g[j, j] = np.cos(t)
            g[i, j], g[j, i] = -np.sin(t), np.sin(t)
            r = r @ g
        z = (rows @ r) ** 2
        return (z / z.max(1, keepdims=True)).sum()

    rng = np.random.default_rng(0)
    best = np.inf
    for _ in range(starts):
        found = scipy.optimize.minimize(cost, rng.uniform(-np.pi / 2, np.pi / 2, len(pairs)),
                                        method="Powell", options={"xtol": 1e-8, "ftol": 1e-12})
        best = min(best, found.fun)
    return best


x = points()
put("points, %d x %d" % (N, D), x)

y, s = principal(x, 3)
put("first three principal components of each point", y)
put("share of the variance in them", (s[:3] ** 2).sum() / (s ** 2).sum())
put("least K-means inertia on them, %d clusters" % C,
    KMeans(C, n_init=200, tol=0, random_state=0).fit(y).inertia_)

lam = 5.0
xc = x - x.mean(0)
put("kernel of diskmeans, lambda = 5", np.eye(N) - np.linalg.inv(np.eye(N) + xc @ xc.T / lam))

for scale, strength in (("mean", 1.0), ("selftune", 0.1)):
    a = ridge_predictor(x, strength, scale)
    t = (np.eye(N) - a).T @ (np.eye(N) - a)
    values, vectors = scipy.linalg.eigh(t)
    put("llc, scale %s, lambda %g: smallest eigenvalues of T" % (scale, strength), values[:C])
    put("and their vectors", vectors[:, :C])

w = selftuned_graph(x)
put("spls, gamma = 0.3, dim = 3: objective", reconstruction(x, w, 0.3, 3))

# lsc with every point a landmark: shares of the five nearest, the point itself among them.
d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
index = np.argsort(d, axis=1, kind="stable")[:, :5]
near = np.take_along_axis(d, index, 1)
z = np.zeros((N, N))
np.put_along_axis(z, index, np.exp(np.maximum(-near ** 2 / near.mean() ** 2, -20)), 1)
z /= z.sum(1, keepdims=True)
u, s, _ = np.linalg.svd(z / np.sqrt(z.sum(0)), full_matrices=False)
put("lsc: squared singular values", s[:C] ** 2)
put("lsc: left singular vectors", u[:, :C])

# sc's eigenvectors, rows of norm 1.
root = 1 / np.sqrt(w.sum(1))
values, vectors = scipy.linalg.eigh(np.eye(N) - root[:, None] * w * root)
put("first four eigenvectors of the normalised Laplacian", vectors[:, :4])
put("scikit-learn's discretisation of the first three",
    discretize(vectors[:, :C] * root[:, None], random_state=0))
for c in (2, 3, 4):
    rows = vectors[:, :c] / np.linalg.norm(vectors[:, :c], axis=1, keepdims=True)
    put("least alignment cost of the first %d, rows of norm 1" % c, alignment(rows))

write("methods")
