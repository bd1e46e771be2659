"""Golden numbers for the layers of graphencoder: graphencoder.txt, by NumPy.

Everything is dense and comes from the definitions: the reconstruction is formed, the constants of
the decoder are found by least squares, and gradients are finite differences of the loss. Blocks of
numbers follow each other in the order of the calls of put() below, the same for each problem."""

import os

import numpy as np

STEP = 1e-4
here = os.path.dirname(os.path.abspath(__file__))
blocks = []


def put(title, values):
    values = np.asarray(values, dtype=float)
    text = "\n".join(" ".join("%.17g" % v for v in row) for row in np.atleast_2d(values))
    blocks.append("# %s\n%s\n" % (title, text))


def divergence(r, p):
    return r * np.log(r / p) + (1 - r) * np.log((1 - r) / (1 - p))


def unpack(theta, m, h):
    return theta[:m * h].reshape(m, h), theta[m * h:2 * m * h].reshape(m, h), theta[2 * m * h:]


def hidden(theta, x, h):
    u, _, b = unpack(theta, x.shape[1], h)
    return 1 / (1 + np.exp(-(x @ u + b)))


def loss(theta, x, h, rho, beta):
    v = unpack(theta, x.shape[1], h)[1]
    code = hidden(theta, x, h)
    without = x - code @ v.T
    ones = np.ones((len(x), 1))
    constants = np.linalg.lstsq(ones, without, rcond=None)[0]
    error = ((without - ones @ constants) ** 2).sum() / len(x)
    return error + beta * divergence(rho, code.mean(0)).sum()


def gradient(theta, *problem):
    """By differences of four values, whose error is of fourth order."""
    out = np.empty_like(theta)
    for k in range(len(theta)):
        value = []
        for far in (2, 1, -1, -2):
            moved = theta.copy()
            moved[k] += far * STEP
            value.append(loss(moved, *problem))
        out[k] = (-value[0] + 8 * value[1] - 8 * value[2] + value[3]) / (12 * STEP)
    return out


# n, m, h, rho, beta, share of entries that are not 0
for seed, (n, m, h, rho, beta, dense) in enumerate(((12, 12, 3, .5, 0., .3), (15, 7, 4, .1, .3, 1.),
                                                    (9, 20, 2, .3, 2., .2))):
    rng = np.random.default_rng(seed)
    x = rng.random((n, m)) * (rng.random((n, m)) < dense)
    x[0, 0] = .5
    theta = rng.standard_normal((2 * m + 1) * h) * .5
    problem = (x, h, rho, beta)
    put("problem %d: n, m, h, rho, beta" % seed, [n, m, h, rho, beta])
    put("x", x)
    put("parameters", theta)
    put("loss", [loss(theta, *problem)])
    put("its gradient, by differences", gradient(theta, *problem))
    put("codes", hidden(theta, x, h))

with open(os.path.join(here, "graphencoder.txt"), "w") as file:
    file.write("# Made by make_graphencoder.py.\n" + "".join(blocks))
