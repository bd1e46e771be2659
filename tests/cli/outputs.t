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
  $ (ulimit -f 16; huddle convert digits digits.csv -q)
  huddle: digits.csv: cannot be written: File too large
  [1]
  $ cmp digits.csv before.csv
  $ (ulimit -f 16; huddle convert digits new.npy -q)
  huddle: new.npy: cannot be written: File too large
  [1]
  $ (ulimit -f 16; huddle convert digits new.h5 -q)
  huddle: new.h5: cannot be written: * (glob)
  [1]
  $ (ulimit -f 16; huddle convert digits new.mat -q)
  huddle: new.mat: cannot be written: File too large
  [1]
  $ (ulimit -f 16; huddle convert digits new.npz -q)
  huddle: new.npz: cannot be written: * (glob)
  [1]
  $ (ulimit -f 1; huddle cluster digits -m kmeans -o labels.txt -q)
  huddle: labels.txt: cannot be written: File too large
  [1]
  $ (ulimit -f 1; huddle cluster digits -m kmeans --save model -q)
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
  $ mkdir results; cp before.csv results/X.npy
  $ huddle cluster results/X.npy -m kmeans --dump results
  huddle: results/X.npy: is an input and would be overwritten by --dump; choose another folder
  [2]
  $ printf '{"data": ["before.csv"], "methods": ["kmeans"]}' > plan.json
  $ huddle experiment plan.json --report ./plan.json -q
  huddle: ./plan.json: is also an input and would be overwritten; choose another file
  [2]
  $ huddle experiment plan.json --report link.csv -q
  huddle: plan.json: data[0]: before.csv would be overwritten by the page
  [1]
  $ cmp digits.csv before.csv

Two outputs must not be one file, whatever its names; one option that is given twice has its last value.

  $ huddle cluster digits -m kmeans -o same.txt --save same.txt
  huddle: same.txt: -o and --save would write the same file; choose another
  [2]
  $ ln -s same.txt same
  $ huddle cluster digits -m kmeans -o ./same.txt --report same
  huddle: same: -o and --report would write the same file; choose another
  [2]
  $ echo before > one.csv; ln one.csv two.csv
  $ huddle path digits --labels one.csv -o two.csv
  huddle: one.csv: -o and --labels would write the same file; choose another
  [2]
  $ huddle cluster digits -m kmeans -o results/labels.npy --dump results
  huddle: results/labels.npy: -o and --dump would write the same file; choose another
  [2]
  $ huddle cluster digits -m kmeans --dump all --save all
  huddle: all: --save and --dump would write the same file; choose another
  [2]
  $ huddle experiment plan.json -o results --report results/results.csv
  huddle: results/results.csv: -o and --report would write the same file; choose another
  [2]
  $ cat one.csv
  before
  $ huddle cluster digits -m kmeans --n-init 1 -o one.csv -o three.csv --save one.csv -q > /dev/null
  $ huddle cluster digits -m kmeans --n-init 1 --save /dev/null --save /dev/null -q > /dev/null
  huddle: /dev/null: cannot be written: this format needs a file
  [1]

A link is kept; the file that it leads to is replaced, or created.

  $ ls -l same | grep -c ' -> same.txt'
  1
  $ huddle convert digits same.csv -q; ln -s same.csv kept.csv; ln -s missing/new.csv nowhere.csv
  $ rm same.csv; huddle convert digits kept.csv -q; ls -l kept.csv | grep -c ' -> same.csv'
  1
  $ cmp same.csv digits.csv
  $ huddle convert digits nowhere.csv
  huddle: nowhere.csv: folder 'missing' does not exist
  [1]
  $ ln -s round.csv round.csv
  $ huddle convert digits round.csv
  huddle: round.csv: cannot be written: Too many levels of symbolic links
  [1]

A process that is killed leaves its temporary file, which the next one removes.

  $ mkdir killed
  $ cat > kill.py <<'END'
  > import glob, subprocess, time
  > # More text than is written before the signal.
  > process = subprocess.Popen("huddle generate blobs --n 3000000 -q -o killed/x.csv".split())
  > while not glob.glob("killed/x.csv.*"):
  >     time.sleep(0.005)
  > process.kill()
  > print(process.wait(), len(glob.glob("killed/*")))
  > END
  $ /usr/bin/python3 kill.py
  -9 1
  $ huddle generate blobs --n 30 -q -o killed/x.csv
  $ ls -A killed
  x.csv

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
