There and back again: every format keeps points and labels.

  $ for ending in csv tsv npz mat h5 libsvm; do
  >   huddle convert digits digits.$ending
  >   huddle info digits.$ending --json | tr -d '\n ' | grep -o '"n":[^,]*,"d":[^,]*,"n_classes":[^,]*'
  >   huddle cluster digits.$ending -m kmeans --n-init 3 -o $ending.txt -q > /dev/null
  >   cmp csv.txt $ending.txt
  > done
  huddle: digits.csv: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.tsv: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.npz: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.mat: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.h5: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  huddle: digits.libsvm: 1797 points, 64 features, 10 classes
  "n":1797,"d":64,"n_classes":10
  $ huddle convert digits digits.npy -q
  $ huddle info digits.npy --json | grep -E '"(n|d|n_classes)"'
    "n": 1797,
    "d": 64,
    "n_classes": null,

Only some classes, only a few of each.

  $ huddle convert digits few.csv --classes 1,3-4 --per-class 5
  huddle: few.csv: 15 points, 64 features, 3 classes
  $ huddle info few.csv | grep classes
  classes   3: 1 3 4

Others can read it.

  $ huddle convert digits digits.npz -q
  $ huddle convert digits digits.mat -q
  $ /usr/bin/python3 -c '
  > import numpy as np, scipy.io
  > z = np.load("digits.npz"); m = scipy.io.loadmat("digits.mat")
  > print(sorted(z.files), sorted(k for k in m if k[0] != "_"))'
  ['X', 'im_height', 'im_order', 'im_width', 'y'] ['X', 'im_height', 'im_order', 'im_width', 'y']
