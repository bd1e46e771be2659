Output files are complete or absent.

Standard output on a full disc is a failure.

  $ huddle cluster digits -m kmeans -q > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle cluster digits -m kmeans -q --json > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle generate moons -q > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle help > /dev/full
  huddle: standard output: No space left on device
  [1]
  $ huddle info digits > /dev/full
  huddle: standard output: No space left on device
  [1]

So is a closed standard output.

  $ huddle info digits >&-
  huddle: standard output: Bad file descriptor
  [1]

A file that grows beyond what is allowed leaves no trace, and what was there before stays. A build
that measures coverage must not begin a profile that it cannot finish.

  $ export GCOV_PREFIX=/dev/null
  $ huddle convert digits digits.csv -q
  $ cp digits.csv before.csv
  $ (ulimit -f 16; trap '' XFSZ; huddle convert digits digits.csv -q)
  huddle: digits.csv: cannot be written: File too large
  [1]
  $ cmp digits.csv before.csv
  $ (ulimit -f 16; trap '' XFSZ; huddle convert digits new.npy -q)
  huddle: new.npy: cannot be written: File too large
  [1]
  $ (ulimit -f 16; trap '' XFSZ; huddle convert digits new.h5 -q)
  huddle: new.h5: cannot be written: * (glob)
  [1]
  $ (ulimit -f 16; trap '' XFSZ; huddle convert digits new.mat -q)
  huddle: new.mat: cannot be written: File too large
  [1]
  $ (ulimit -f 16; trap '' XFSZ; huddle convert digits new.npz -q)
  huddle: new.npz: cannot be written: * (glob)
  [1]
  $ (ulimit -f 1; trap '' XFSZ; huddle cluster digits -m kmeans -o labels.txt -q)
  huddle: labels.txt: cannot be written: File too large
  [1]
  $ (ulimit -f 1; trap '' XFSZ; huddle cluster digits -m kmeans --save model -q)
  huddle: model: * (glob)
  [1]
  $ unset GCOV_PREFIX
  $ ls -A
  before.csv
  digits.csv

Missing folders are reported before the computation.

  $ huddle cluster digits -m kmeans -o nowhere/labels.csv
  huddle: nowhere/labels.csv: folder 'nowhere' does not exist
  [1]
  $ huddle cluster digits -m kmeans --save nowhere/model
  huddle: nowhere/model: folder 'nowhere' does not exist
  [1]
  $ huddle convert digits nowhere/digits.csv
  huddle: nowhere/digits.csv: folder 'nowhere' does not exist
  [1]
  $ mkdir folder.csv
  $ huddle convert digits folder.csv
  huddle: folder.csv: is a folder
  [1]
  $ huddle cluster digits -m kmeans --dump before.csv -q
  huddle: before.csv: is not a folder
  [1]
  $ huddle cluster digits -m kmeans --dump nowhere/stages -q
  huddle: nowhere/stages: folder 'nowhere' does not exist
  [1]

An output must not be one of the inputs.

  $ huddle cluster before.csv -m kmeans -o before.csv
  huddle: before.csv: is also an input and would be overwritten; choose another file
  [2]
  $ ln -s before.csv link.csv
  $ huddle cluster before.csv -m kmeans --save ./link.csv
  huddle: ./link.csv: is also an input and would be overwritten; choose another file
  [2]
  $ huddle cluster digits.csv --y before.csv -m kmeans -o before.csv
  huddle: before.csv: is also an input and would be overwritten; choose another file
  [2]
  $ huddle convert before.csv before.csv
  huddle: before.csv: is also an input and would be overwritten; choose another file
  [2]
  $ cmp digits.csv before.csv

Unknown endings of outputs are usage errors in every command.

  $ huddle cluster digits -o labels.json
  huddle: labels.json: labels can be written as .npy, .csv or .txt
  [2]
  $ huddle convert digits digits.json
  huddle: digits.json: data can be written as .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .hdf5, .svm or .libsvm
  [2]
  $ huddle generate moons -o moons.json
  huddle: moons.json: data can be written as .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .hdf5, .svm or .libsvm
  [2]
  $ for ending in csv tsv txt npy npz mat h5 hdf5 svm libsvm; do
  >   huddle generate moons --n 30 -o moons.$ending -q || echo $ending
  > done
  $ huddle generate moons --n 30 -o /dev/stdout | cmp - moons.csv
