Without words the tool says what it can do, on stderr, and that this was not enough.

  $ huddle
  Usage: huddle COMMAND [OPTIONS] ...
  
  Clusters points by spectral shrunk clustering and its relatives.
  
  Commands
    cluster DATA            cluster a data set and report the result
    path DATA               shrink for every gamma, from exact fit to collapse
    predict MODEL DATA      label new points by a saved model
    score TRUTH LABELS      compare labels with known classes
    experiment PLAN         run methods on data sets over grids of options and seeds
    paper DIR               run the published experiments on the data sets in a folder
    info DATA               say what a file holds
    convert IN OUT          write a data set in another format
    generate KIND           make points of a known shape
    methods                 list the methods
    engines                 list the engines, the places to compute
    options [METHOD]        list the options of a method, or of all
    help [COMMAND]          say how to use the tool or a command
  
  Options
    -h, --help              print this and leave
        --version           print the version and leave
  
  Examples
    huddle cluster digits
    huddle cluster faces.mat -m ssc -c 40 -o labels.csv
    huddle help cluster     every option of every method
  [2]
  $ huddle 2>/dev/null
  [2]

The same on request is an answer.

  $ huddle help > general
  $ huddle --help | cmp - general
  $ huddle -h | cmp - general
  $ head -3 general
  Usage: huddle COMMAND [OPTIONS] ...
  
  Clusters points by spectral shrunk clustering and its relatives.

The version.

  $ huddle --version
  huddle [0-9]+\.[0-9]+\.[0-9]+ (re)

Help for a command, by three roads.

  $ huddle help info > info
  $ huddle info --help | cmp - info
  $ huddle info -h nowhere.csv | cmp - info
  $ cat info
  Usage: huddle info [OPTIONS] DATA
  
  Say what a file holds.
  
  DATA is a file (CSV or TSV, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX; all but HDF5
  also packed by gzip), a folder of PGM or PNG images with one sub-folder a class, the
  built-in set digits, or a generator: moons, rings, spirals, blobs, swissroll. Names inside
  a container are found by habit (X, fea, data ... and y, gnd, labels ...) unless --x and
  --y give them.
  
  Options
        --formats             list the file formats of this build instead
        --json                print JSON instead of text
  
  Input
        --x NAME              the points: a name in a container, or columns of a table by
                              name or position; repeat to stack parts
        --y NAME              the labels: likewise, or a file of labels, or none; repeat to
                              stack parts
        --transpose           samples stand in columns
        --missing RULE        missing values of a table (empty, NA, ?): refuse them, drop
                              their rows, or fill in the column's mean or median; error|
                              drop|mean|median [error]
        --encode              make features of a table's text columns, one for each text
                              (one-hot)
        --classes LIST        keep these classes, by their value in the file, such as
                              11-36,40
        --per-class N         keep the first N of each class
        --n N                 points to generate [1000]
        --noise NUMBER        noise of generated points; default: the kind's own
  
  Generators
        --seed N              random stream of generated points [0]
  
  Other options
    -q, --quiet               no progress or talk on stderr
    -h, --help                print this and leave
  
  Examples
    huddle info faces.mat
    huddle info USPS.h5 --x train/data --x test/data --y train/target --y test/target

Every command explains itself, with its options, and no line is too wide.

  $ for command in cluster path predict score info convert generate methods options help man completion; do
  >   huddle help $command | head -1
  >   huddle help $command | awk -v c=$command 'length > 90 {print c ": " $0}'
  > done
  Usage: huddle cluster [OPTIONS] DATA
  Usage: huddle path [OPTIONS] DATA
  Usage: huddle predict [OPTIONS] MODEL DATA
  Usage: huddle score [OPTIONS] TRUTH LABELS
  Usage: huddle info [OPTIONS] DATA
  Usage: huddle convert [OPTIONS] IN OUT
  Usage: huddle generate [OPTIONS] KIND
  Usage: huddle methods [OPTIONS]
  Usage: huddle options [OPTIONS] [METHOD]
  Usage: huddle help [OPTIONS] [COMMAND]
  Usage: huddle man [OPTIONS]
  Usage: huddle completion [OPTIONS] SHELL

Every option of every method stands in the help of cluster.

  $ huddle help cluster > cluster
  $ huddle options --json | /usr/bin/python3 -c '
  > import json, sys
  > text = open("cluster").read()
  > for method in json.load(sys.stdin)["methods"]:
  >     for option in method["options"]:
  >         flag = "--" + option["name"].replace("_", "-")
  >         if flag + " " not in text:
  >             print(method["method"], flag)'

Mistakes get one sentence, a guess, and exit status 2.

  $ huddle clustre digits
  huddle: no command named 'clustre'; did you mean 'cluster'?
  [2]
  $ huddle dance
  huddle: no command named 'dance'; see huddle help
  [2]
  $ huddle help clusters
  huddle: no command named 'clusters'; did you mean 'cluster'?
  [2]
  $ huddle --verbose
  huddle: the first word is a command; see huddle help
  [2]
