"""Clusters rows that are distributed over processes:

    mpirun -n 4 python3 -m mpi4py examples/mpi_digits.py

Every process passes its own rows and gets the labels of these. -m mpi4py ends all processes if one
of them raises an exception.
"""
import numpy as np
from mpi4py import MPI

from huddle import SpectralShrunkClustering, metrics
from huddle.datasets import load_digits

comm = MPI.COMM_WORLD

# A real program reads only its own rows; the order of the processes is the order of the rows.
X, y = load_digits()
begin, end = (len(X) * k // comm.size for k in (comm.rank, comm.rank + 1))
X, y = X[begin:end], y[begin:end]

model = SpectralShrunkClustering(10, engine="mpi").fit(X)
scores = metrics.scores(y, model.labels_, engine="mpi")  # of all rows, on every process
sizes = comm.allreduce(np.bincount(model.labels_, minlength=10))

if comm.rank == 0:
    print(f"{model.info_['processes']['n']} rows on {comm.size} processes")
    print(f"NMI {scores['nmi']:.3f}, cluster sizes {sorted(sizes.tolist())}")
