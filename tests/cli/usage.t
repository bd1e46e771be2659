Usage errors: one message, exit status 2, nothing on stdout.

  $ huddle cluster
  huddle: cluster: missing DATA; see huddle help cluster
  [2]
  $ huddle cluster digits moons
  huddle: cluster: unexpected argument 'moons'; see huddle help cluster
  [2]
  $ huddle score only.txt
  huddle: score: missing LABELS; see huddle help score
  [2]
  $ huddle convert digits
  huddle: convert: missing OUT; see huddle help convert
  [2]
  $ huddle cluster digits --n-neighbours 5
  huddle: cluster has no option --n-neighbours; did you mean --n-neighbors?
  [2]
  $ huddle cluster digits --frobnicate 5
  huddle: cluster has no option --frobnicate; see huddle help cluster
  [2]
  $ huddle cluster digits -z
  huddle: cluster has no option -z; see huddle help cluster
  [2]
  $ huddle cluster digits --json=yes
  huddle: --json takes no value
  [2]
  $ huddle cluster digits -m
  huddle: -m needs a value
  [2]
  $ huddle cluster digits --seed
  huddle: --seed needs a value
  [2]

Options cannot be abbreviated.

  $ huddle cluster digits --n-clust 10
  huddle: cluster has no option --n-clust; did you mean --n-clusters?
  [2]

Values that are never valid.

  $ huddle cluster digits -m kmeans -c 0
  huddle: n_clusters = 0: expected auto, integer >= 1, or range such as 2-20
  [2]
  $ huddle cluster digits -m kmeans -c -3
  huddle: n_clusters = -3: expected auto, integer >= 1, or range such as 2-20
  [2]
  $ huddle cluster digits -m kmeans -c many
  huddle: n_clusters = many: expected auto, integer >= 1, or range such as 2-20
  [2]
  $ huddle cluster digits -m kmeans -c 5-2
  huddle: n_clusters = 5-2: expected auto, integer >= 1, or range such as 2-20
  [2]
  $ huddle cluster digits -m kmeans --n-init 0
  huddle: n_init = 0: expected integer >= 1
  [2]
  $ huddle cluster digits -m kmeans --n-init 1000000000000
  huddle: n_init = 1000000000000: expected integer in [1, 2147483647]
  [2]
  $ huddle cluster digits -m kmeans --n-init 1e12
  huddle: n_init = 1e12: expected integer in [1, 2147483647]
  [2]
  $ huddle cluster digits -m kmeans --n-init 1e3
  huddle: n_init = 1e3: expected integer >= 1, in digits
  [2]
  $ huddle cluster digits -m kmeans -c 2-3000000000
  huddle: n_clusters = 2-3000000000: expected auto, integer in [1, 2147483647], or range such as 2-20
  [2]
  $ huddle cluster digits -m kmeans --seed 18446744073709551616
  huddle: seed = 18446744073709551616: expected integer in [0, 18446744073709551615]
  [2]
  $ huddle generate moons --n 10000000000000000000
  huddle: --n = 10000000000000000000: expected integer in [1, 9000000000000000000]
  [2]
  $ huddle paper . --n-init 3000000000
  huddle: --n-init = 3000000000: expected integer in [1, 2147483647]
  [2]
  $ huddle cluster digits -m kmeans --n-threads 3000000000
  huddle: --n-threads = 3000000000: expected integer in [1, 2147483647]
  [2]
  $ huddle cluster digits -m kmeans --seed -1
  huddle: seed = -1: expected integer >= 0
  [2]
  $ huddle cluster digits -m kmeans --prepare whitened
  huddle: prepare = whitened: expected one of *none|standard|clip|ranks|unit* (glob)
  [2]
  $ huddle cluster digits -m kmeans --prepare pca:0
  huddle: prepare = pca:0: expected one of *none|standard|clip|ranks|unit* (glob)
  [2]
  $ huddle cluster digits -m kmean
  huddle: --method: unknown value 'kmean'; did you mean 'kmeans'?
  [2]
  $ huddle cluster digits -m spectral
  huddle: --method = spectral: expected one of *kmeans* (glob)
  [2]
  $ huddle cluster digits -m kmeans --n-threads 0
  huddle: --n-threads = 0: expected integer >= 1
  [2]
  $ huddle cluster digits -m kmeans --n-threads 2000
  huddle: n_threads = 2000 is outside [1, 1024]
  [2]
  $ huddle cluster digits -m kmeans --engine quantum
  huddle: --engine = quantum: expected one of cpu* (glob)
  [2]
  $ huddle cluster digits --per-class 0
  huddle: --per-class = 0: expected integer >= 1
  [2]
  $ huddle cluster moons --n ten
  huddle: --n = ten: expected integer >= 1
  [2]
  $ huddle cluster moons --noise -1
  huddle: --noise = -1: expected number >= 0
  [2]
  $ huddle generate moon
  huddle: no kind named 'moon'; did you mean 'moons'?
  [2]
  $ huddle options nothing
  huddle: no method named 'nothing'; see huddle methods
  [2]

Options of another method, and flags without effect.

  $ huddle cluster digits -m kmeans --gamma 3
  huddle: method kmeans has no option --gamma; see huddle options kmeans
  [2]
  $ huddle cluster digits --n 100
  huddle: digits: --n applies only to generators
  [2]
  $ huddle cluster moons --transpose
  huddle: moons: --transpose applies only to files
  [2]

Unknown formats of outputs are refused before the computation.

  $ huddle cluster digits -o labels.xls
  huddle: labels.xls: labels can be written as .npy, .csv or .txt
  [2]
  $ huddle convert digits digits.xls
  huddle: digits.xls: data can be written as .csv, .tsv, .txt, .npy, .npz, .mat, .h5, .hdf5, .svm or .libsvm
  [2]

A word after -- is an operand, whatever it looks like.

  $ huddle info -- --json
  huddle: --json: cannot be opened: No such file or directory
  [1]
