What a file holds, for people and for programs.

  $ huddle info digits
  file      digits
  format    digits
  points    1797
  features  64
  classes   10: 0 1 2 3 4 5 6 7 8 9
  image     8 x 8
  $ huddle info digits --json
  {
    "file": "digits",
    "format": "digits",
    "n": 1797,
    "d": 64,
    "n_classes": 10,
    "names": [],
    "image": {
      "height": 8,
      "width": 8
    }
  }
  $ huddle info moons --n 50 --json
  {
    "file": "moons",
    "format": "moons",
    "n": 50,
    "d": 2,
    "n_classes": 2,
    "names": []
  }
  $ huddle info blobs --n 50
  file      blobs
  format    blobs
  points    50
  features  2
  classes   5: 0 1 2 3 4

CSV: names of columns, a column of words as labels.

  $ printf 'width,height,kind\n1,2,cat\n3,4,dog\n5,6,cat\n' > table.csv
  $ huddle info table.csv
  file      table.csv
  format    csv
  points    3
  features  2
  classes   2: cat dog
  $ huddle info table.csv --y none --x width --x height --json
  {
    "file": "table.csv",
    "format": "csv",
    "n": 3,
    "d": 2,
    "n_classes": null,
    "names": []
  }
  $ huddle info table.csv --classes cat
  file      table.csv
  format    csv
  points    2
  features  2
  classes   1: cat

Containers: names by habit, or given.

  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.io, scipy.sparse, h5py
  > x = np.arange(24.).reshape(8, 3); y = np.arange(8) % 2
  > scipy.io.savemat("a.mat", {"fea": x, "gnd": y})
  > scipy.io.savemat("columns.mat", {"X": x.T, "Y": y})
  > np.savez("a.npz", X=x, y=y)
  > np.save("images.npy", np.zeros((4, 5, 6)))
  > with h5py.File("parts.h5", "w") as f:
  >     for part in "train", "test":
  >         f[part + "/data"] = x; f[part + "/target"] = y
  > scipy.io.mmwrite("a.mtx", scipy.sparse.csr_matrix(x))'
  $ huddle info a.mat
  file      a.mat
  format    mat
  points    8
  features  3
  classes   2: 0 1
  names     fea, gnd
  $ huddle info columns.mat --json
  {
    "file": "columns.mat",
    "format": "mat",
    "n": 8,
    "d": 3,
    "n_classes": 2,
    "names": ["X", "Y"]
  }
  $ huddle info a.npz --json
  {
    "file": "a.npz",
    "format": "npz",
    "n": 8,
    "d": 3,
    "n_classes": 2,
    "names": ["X", "y"]
  }
  $ huddle info images.npy --json
  {
    "file": "images.npy",
    "format": "npy",
    "n": 4,
    "d": 30,
    "n_classes": null,
    "names": ["array"],
    "image": {
      "height": 5,
      "width": 6
    }
  }
  $ huddle info parts.h5 --x train/data --x test/data --y train/target --y test/target --json
  {
    "file": "parts.h5",
    "format": "hdf5",
    "n": 16,
    "d": 3,
    "n_classes": 2,
    "names": ["test/data", "test/target", "train/data", "train/target"]
  }
  $ huddle info a.mtx --json
  {
    "file": "a.mtx",
    "format": "matrixmarket",
    "n": 8,
    "d": 3,
    "n_classes": null,
    "names": ["matrix"],
    "nonzeros": 23
  }
  $ huddle info columns.mat --y none --transpose --json | grep -E '"[nd]"'
    "n": 8,
    "d": 3,
