The content of a file, as text and as JSON.

  $ huddle info digits
  file      digits
  format    digits
  points    1797
  features  64
  classes   10: 0 1 2 3 4 5 6 7 8 9
  labels    10 classes (cluster sets -c 10)
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
      "width": 8,
      "channels": 1,
      "column_major": false
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
  labels    5 classes (cluster sets -c 5)

CSV: names of columns, a column of words as labels.

  $ printf 'width,height,kind\n1,2,cat\n3,4,dog\n5,6,cat\n' > table.csv
  $ huddle info table.csv
  file      table.csv
  format    csv
  points    3
  features  2
  classes   2: cat dog
  labels    kind, the only text column; 2 classes (cluster sets -c 2)
  names     width, height, kind
  $ huddle info table.csv --y none --x width --x height --json
  {
    "file": "table.csv",
    "format": "csv",
    "n": 3,
    "d": 2,
    "n_classes": null,
    "names": ["width", "height", "kind"],
    "columns": [
      {
        "name": "width",
        "role": "feature"
      },
      {
        "name": "height",
        "role": "feature"
      },
      {
        "name": "kind",
        "role": "ignored",
        "reason": "it looks like labels, which are not wanted"
      }
    ]
  }
  $ huddle info table.csv --classes cat
  file      table.csv
  format    csv
  points    2
  features  2
  classes   1: cat
  labels    kind, the only text column; 1 class (cluster sets -c 1)
  names     width, height, kind

Containers: conventional names, or names that are given.

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
  labels    2 classes (cluster sets -c 2)
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
      "width": 6,
      "channels": 1,
      "column_major": false
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

If the points must be selected, the arrays are listed.

  $ huddle info parts.h5
  file      parts.h5
  format    hdf5
  points    ambiguous: 'test/data' or 'train/data' could be the points
  select    --x NAME for the points, --y NAME for the labels; repeat to concatenate parts
  names     test/data (8 x 3), test/target (8), train/data (8 x 3), train/target (8)
  $ huddle info parts.h5 --json
  {
    "file": "parts.h5",
    "format": "hdf5",
    "n": null,
    "d": null,
    "n_classes": null,
    "names": ["test/data", "test/target", "train/data", "train/target"],
    "shapes": [
      [8, 3],
      [8],
      [8, 3],
      [8]
    ]
  }
  $ huddle cluster parts.h5
  huddle: parts.h5: ambiguous: 'test/data' or 'train/data' could be the points; select one or more arrays with --x
  [1]
  $ huddle info parts.h5 --x train/nothing
  huddle: parts.h5: no variable named 'train/nothing'; the file contains test/data, test/target, train/data, train/target
  [1]

Files compressed by gzip.

  $ for file in a.mat a.npz images.npy a.mtx table.csv; do
  >   gzip -k $file
  >   huddle info $file | tail -n +2 > plain
  >   huddle info $file.gz | tail -n +2 > packed
  >   cmp -s plain packed || echo $file
  > done
  $ gzip -k parts.h5
  $ huddle info parts.h5.gz
  huddle: parts.h5.gz: HDF5 is read from plain files only, not packed, nor from a pipe
  [1]
  $ printf '1 2:3\n2 1:4\n' | gzip > a.svm.gz
  $ huddle info a.svm.gz --json | tr -d '\n ' | grep -o '"format".*"n_classes":[^,]*'
  "format":"libsvm","n":2,"d":2,"n_classes":2
  $ (gzip -c table.csv; printf '7,8,cow\n' | gzip) > two.csv.gz
  $ huddle info two.csv.gz | grep -E '^(points|classes)'
  points    4
  classes   3: cat cow dog
  $ head -c 30 table.csv.gz > cut.csv.gz
  $ huddle info cut.csv.gz
  huddle: cut.csv.gz: what gzip packed is cut short
  [1]
  $ : | gzip > void.csv.gz
  $ huddle info void.csv.gz
  huddle: void.csv.gz: the file is empty
  [1]

Texts that are all different are names of rows, not labels, unless they are asked for.

  $ (echo size,weight,name; for i in $(seq 30); do echo $((i + 7)),$((i * i)),n$i; done) > named.csv
  $ huddle info named.csv
  huddle: column 3 (name) names the rows: 30 distinct values in 30 rows; --y name makes it the labels
  file      named.csv
  format    csv
  points    30
  features  2
  classes   none
  row names name: 30 distinct values in 30 rows
  rows      n1, n2, n3, n4, n5, n6, ...
  names     size, weight, name
  $ huddle info named.csv --y name | grep ^classes
  classes   30: n1 n10 n11 n12 n13 n14 n15 n16 n17 n18 n19 n2 ...
  $ huddle cluster named.csv -c 2 -m kmeans -q | grep 'row names'
    row names  name: 30 distinct values in 30 rows
  $ head -21 named.csv > few.csv
  $ huddle info few.csv | grep ^classes
  huddle: column 3 (name) names the rows: 20 distinct values in 20 rows; --y name makes it the labels
  classes   none

Coordinates are points: y beside x is no label.

  $ printf 'x,y\n1,2\n3,4\n5,6\n' > plane.csv
  $ huddle info plane.csv | grep -E '^(features|classes)'
  features  2
  classes   none
  $ printf 'x,y,z,kind\n1,2,0,a\n3,4,0,a\n5,6,0,b\n' > space.csv
  $ huddle info space.csv | grep -E '^(features|classes)'
  features  3
  classes   2: a b
  $ printf 'x,w,y\n1,2,0\n3,4,0\n5,6,1\n' > table2.csv
  $ huddle info table2.csv | grep -E '^(features|classes)'
  features  2
  classes   2: 0 1

Errors in a file of labels name that file.

  $ printf '1\n2\n' > short.csv
  $ huddle cluster plane.csv --y short.csv
  huddle: short.csv: there are 2 labels for 3 samples
  [1]
  $ huddle cluster a.npz --y short.csv
  huddle: short.csv: there are 2 labels for 8 samples
  [1]
  $ printf '1,2\n2\n' > ragged.csv
  $ huddle cluster plane.csv --y ragged.csv
  huddle: ragged.csv: it has 2 columns, and none is known to hold labels
  [1]
