Errors are one message that names the file; the exit status is 1 and nothing is written.

Files that do not exist or are not regular files.

  $ huddle info nowhere.csv
  huddle: nowhere.csv: cannot be opened: No such file or directory
  [1]
  $ mkdir empty
  $ huddle info empty
  huddle: empty: the folder contains no images, nor folders of them; PGM, .* are read (re)
  [1]
  $ huddle cluster empty -m kmeans -c 2 -o labels.csv
  huddle: empty: the folder contains no images, nor folders of them; PGM, .* are read (re)
  [1]

Empty files.

  $ : > nothing.csv
  $ huddle info nothing.csv
  huddle: nothing.csv: the file is empty
  [1]
  $ : > nothing.npy
  $ huddle info nothing.npy
  huddle: nothing.npy: the file is empty
  [1]
  $ : > nothing.mat
  $ huddle info nothing.mat
  huddle: nothing.mat: the file is empty
  [1]
  $ printf 'a,b,c\n' > header.csv
  $ huddle info header.csv
  huddle: header.csv: the file contains a header but no rows
  [1]

A single row is a valid data set.

  $ printf '1,2,3\n' > one.csv
  $ huddle info one.csv
  file      one.csv
  format    csv
  points    1
  features  3
  classes   none
  $ huddle cluster one.csv -m kmeans -c 1 -q -o one.txt | head -1
  one.csv: 1 point, 3 features
  $ cat one.txt
  0
  $ huddle cluster one.csv -m kmeans -c 2
  huddle: one.csv: n_clusters = 2 is outside [1, 1]
  [1]

Ragged rows, missing values, words among numbers.

  $ printf '1,2,3\n4,5\n' > ragged.csv
  $ huddle info ragged.csv
  huddle: ragged.csv: line 2 has 2 columns, but line 1 has 3
  [1]
  $ printf '1,2,3\n4,,6\n' > missing.csv
  $ huddle info missing.csv
  huddle: missing.csv: line 2, column 2: the value is missing; --missing drop|mean|median leaves such rows out or fills them
  [1]
  $ printf 'age,size\n1,2\n3,\n' > missing2.csv
  $ huddle info missing2.csv
  huddle: missing2.csv: line 3, column 2 (size): the value is missing; --missing drop|mean|median leaves such rows out or fills them
  [1]

NaN and infinity, by row and column.

  $ printf '1,2\n3,nan\n' > nan.csv
  $ huddle info nan.csv
  huddle: nan.csv: line 2, column 2: the value is missing; --missing drop|mean|median leaves such rows out or fills them
  [1]
  $ printf '1,2\ninf,4\n' > inf.csv
  $ huddle cluster inf.csv -m kmeans -c 1
  huddle: inf.csv: line 2, column 1: 'inf' is not a number
  [1]
  $ /usr/bin/python3 -c '
  > import numpy as np
  > a = np.zeros((5, 3), np.float32); a[3, 1] = np.nan
  > np.save("nan.npy", a)
  > np.save("objects.npy", np.array([{}, {}]))
  > np.save("good.npy", np.arange(600, dtype=np.float32).reshape(200, 3))
  > np.savez("good.npz", X=np.arange(600.).reshape(200, 3))
  > import scipy.io
  > scipy.io.savemat("good.mat", {"fea": np.arange(600.).reshape(200, 3), "gnd": np.arange(200) % 4})'
  $ huddle info nan.npy
  huddle: nan.npy: row 4, column 2: the value is not a number
  [1]
  $ huddle info objects.npy
  huddle: objects.npy: 'array' contains Python objects
  [1]

The content of a file determines its format, not its ending.

  $ cp good.npy lies.csv
  $ huddle info lies.csv --json | grep -E '"(format|n|d)"'
    "format": "npy",
    "n": 200,
    "d": 3,
  $ printf 'this is no archive\n' > words.npz
  $ huddle info words.npz
  huddle: words.npz: * (glob)
  [1]
  $ printf 'neither is this MAT\n' > words.mat
  $ huddle info words.mat
  huddle: words.mat: * (glob)
  [1]

Truncated or damaged containers.

  $ head -c 1000 good.npy > short.npy
  $ huddle info short.npy
  huddle: short.npy: the array needs 2400 bytes, but only 872 follow its header
  [1]
  $ head -c 40 good.npy > head.npy
  $ huddle info head.npy
  huddle: head.npy: the NPY header is damaged or cut short
  [1]
  $ head -c 500 good.npz > short.npz
  $ huddle info short.npz
  huddle: short.npz: the archive is damaged: * (glob)
  [1]
  $ { printf 'PK\003\004'; head -c 26 /dev/zero; printf 'PK\006\007\0\0\0\0'
  >   printf '\0\0\0\0\0\100\0\0\001\0\0\0PK\005\006'; head -c 18 /dev/zero; } > end64.npz
  $ wc -c < end64.npz
  72
  $ huddle info end64.npz
  huddle: end64.npz: the archive is damaged: its ZIP64 directory is missing
  [1]
  $ huddle cluster end64.npz
  huddle: end64.npz: the archive is damaged: its ZIP64 directory is missing
  [1]
  $ huddle predict end64.npz digits
  huddle: end64.npz: the archive is damaged: its ZIP64 directory is missing
  [1]
  $ head -c 300 good.mat > short.mat
  $ huddle info short.mat
  huddle: short.mat: * (glob)
  [1]
  $ head -c 5000 $HUDDLE_SOURCE/tests/golden/io_v73.mat > short73.mat
  $ huddle info short73.mat
  huddle: short73.mat: HDF5 cannot open it: it is cut short or damaged
  [1]
  $ huddle convert digits good.h5 -q
  $ head -c 3000 good.h5 > short.h5
  $ huddle info short.h5
  huddle: short.h5: HDF5 cannot open it: it is cut short or damaged
  [1]
  $ head -c 100 /dev/zero > zeros.h5
  $ huddle info zeros.h5
  huddle: zeros.h5: the content is not hdf5, nor any other format Huddle reads
  [1]

Sizes in headers are checked against the file.

  $ /usr/bin/python3 -c '
  > data = open("good.npy", "rb").read()
  > text = data.replace(b"(200, 3), }       ", b"(99999999999, 3), }")
  > open("huge.npy", "wb").write(text[:len(data)])'
  $ huddle info huge.npy
  huddle: huge.npy: the array needs 1199999999988 bytes, but only 2400 follow its header
  [1]

Names that do not exist.

  $ huddle info good.mat --x features
  huddle: good.mat: no variable named 'features'; the file contains fea, gnd
  [1]
  $ huddle info good.mat --y names
  huddle: good.mat: no variable named 'names'; the file contains fea, gnd
  [1]
  $ huddle info one.csv --y 7
  huddle: one.csv: no column '7'; it has 3 columns without names
  [1]

Labels of a different length.

  $ printf '0\n1\n' > two.txt
  $ huddle info good.npy --y two.txt
  huddle: two.txt: there are 2 labels for 200 samples
  [1]
  $ huddle info digits --classes 77
  huddle: digits: classes = '77': no class 77; they run from 0 to 9
  [1]

More clusters than points.

  $ huddle cluster good.npy -m kmeans -c 201 -o labels.csv
  huddle: good.npy: n_clusters = 201 is outside [1, 200]
  [1]
  $ huddle cluster good.npy -m ssc -c 201 -o labels.csv
  huddle: good.npy: n_clusters = 201 is outside [1, 200]
  [1]

Devices never end, or are no data; a pipe is read.

  $ huddle cluster /dev/zero -c 2
  huddle: /dev/zero: is a device, not a file
  [1]
  $ huddle cluster good.npy -c 2 --y /dev/zero
  huddle: *dev/zero* (glob)
  [1]
  $ huddle predict /dev/urandom good.npy
  huddle: /dev/urandom: is a device, not a file
  [1]
  $ mkfifo pipe.csv; (printf 'a,b\n1,2\n3,4\n' > pipe.csv &)
  $ huddle info pipe.csv | grep points
  points    2

Files that are not models.

  $ huddle predict nowhere.model good.npy
  huddle: nowhere.model: cannot be opened: No such file or directory
  [1]
  $ huddle predict good.npy good.npy
  huddle: good.npy: this is not a Huddle model
  [1]
  $ huddle predict good.h5 good.npy
  huddle: good.h5: this is not a Huddle model
  [1]

Files that are not graphs or embeddings.

  $ huddle cluster good.npy -m sc -c 2 --graph nowhere.npz
  huddle: nowhere.npz: cannot be opened: No such file or directory
  [1]
  $ huddle cluster good.npy -m sc -c 2 --graph words.npz
  huddle: words.npz: * (glob)
  [1]
  $ huddle cluster good.npy -m sc -c 2 --embedding nan.npy
  huddle: nan.npy: row 4, column 2: the value is not a number
  [1]

None of these commands has written a file.

  $ test -e labels.csv
  [1]
