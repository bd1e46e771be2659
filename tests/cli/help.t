Without arguments the tool prints its help on stderr and fails.

  $ huddle
  Usage: huddle COMMAND [OPTIONS] ...
  
  Clusters points by spectral shrunk clustering and related methods.
  
  Commands
    cluster DATA            cluster a data set and report the result
    path DATA               solve the shrink problem for a range of gamma
    refine GRAPH LABELS ... improve labels on a graph
    predict MODEL DATA      label new points with a saved model
    score TRUTH LABELS      compare labels with known classes
    experiment PLAN         run methods on data sets over grids of options and seeds
    paper DIR               run the published experiments on the data sets in a folder
    info DATA               describe a data set
    convert IN OUT          write a data set in another format
    generate KIND           generate points of a known shape
    methods                 list the clustering methods
    engines                 list the compute engines
    options [METHOD]        list the options of one method or of all
    help [COMMAND]          show the help of the tool or of a command
    man                     print the manual page (view it with man -l -)
    completion SHELL        print completions for bash, zsh or fish
  
  Options of every command
    -h, --help              print the help of the command and exit
    -V, --version           print the version and exit
  
  Options of the commands that compute
    -o, --output FILE       where to write the result; - is stdout
    -j, --n-threads N       number of threads
    -q, --quiet             print only errors on stderr
    -v, --verbose           print more on stderr
        --json              print one JSON object instead of text
  
  - in the place of a file is stdin or stdout. Underscores in names of options
  are dashes, and two names of scikit-learn are understood: --random-state
  (--seed) and --n-jobs (--n-threads).
  
  Examples
    huddle cluster digits
    cat points.csv | huddle cluster - -c 5 -o - > labels.txt
    huddle cluster faces.mat -m ssc -c 40 -o labels.csv
    huddle help cluster     the options of all methods
  [2]
  $ huddle 2>/dev/null
  [2]

On request the help goes to stdout.

  $ huddle help > general
  $ huddle --help | cmp - general
  $ huddle -h | cmp - general
  $ head -3 general
  Usage: huddle COMMAND [OPTIONS] ...
  
  Clusters points by spectral shrunk clustering and related methods.

The version.

  $ huddle --version
  huddle 0.3.0

Three ways to the help of a command.

  $ huddle help info > info
  $ huddle info --help | cmp - info
  $ huddle info -h nowhere.csv | cmp - info
  $ cat info
  Usage: huddle info [OPTIONS] DATA
  
  Describe a data set.
  
  DATA is a file (CSV or TSV, ARFF, NPY, NPZ, MAT, HDF5, LIBSVM, MatrixMarket, IDX; all but
  HDF5 also compressed by gzip, bzip2, xz or zstd), a folder of PGM, PPM, PNG, JPEG, BMP or
  TIFF images with one subfolder per class, a TIFF file of several pages, the built-in data
  set digits, a generator (moons, rings, spirals, blobs, unequal, swissroll), or - for
  stdin, whose content determines the format. In a container, arrays with conventional names
  (X, fea, data ... and y, gnd, labels ...) are used unless --x and --y name others.
  
  Options
        --formats             list the file formats of this build instead
        --json                print JSON instead of text
  
  Input
        --x NAME              the points: arrays of a container, which are concatenated, or
                              columns of a table, by name or position, such as a,b,c or
                              2-64; put a name that contains a comma in double quotes, or
                              repeat --x
        --y NAME              the labels: likewise, or a file of labels, or none
        --transpose           samples are columns, not rows
        --header RULE         whether the first row of a table has the names of the columns;
                              auto: as it looks; auto|yes|no [auto]
        --missing RULE        missing values of a table (empty, NA, ?): refuse them, drop
                              their rows, or replace them by the mean or median of the
                              column; error|drop|mean|median [error]
        --encode              encode the text columns of a table as features, one per
                              distinct text (one-hot)
        --gray                read colour images as gray ones
        --image SIZE          what each row shows, for reports: HEIGHTxWIDTH,
                              HEIGHTxWIDTHx3, or 3xHEIGHTxWIDTH (all red values first), with
                              :rows or :columns after it if pixels run that way; none;
                              default: inferred
        --classes LIST        keep only these classes, given by their values in the file,
                              such as 11-36,40
        --per-class N         keep only the first N points of each class
        --n N                 number of points to generate [1000]
        --noise NUMBER        noise of generated points; default: depends on the generator
  
  Generators
        --seed N              seed of generated points [0]
  
  Other options
    -q, --quiet               print only errors on stderr: no progress and no notes
    -v, --verbose             print more on stderr: the version, threads and engine, when
                              each stage begins, and the files that are written
    -h, --help                print this help and exit
    -V, --version             print the version and exit
  
  Examples
    huddle info faces.mat
    zcat table.csv.gz | head -1000 | huddle info -
    huddle info USPS.h5 --x train/data --x test/data --y train/target --y test/target

Every command has help with all its options, and no line is too wide.

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

The help of cluster contains every option of every method.

  $ huddle help cluster > cluster
  $ huddle options --json | /usr/bin/python3 -c '
  > import json, sys
  > text = open("cluster").read()
  > for method in json.load(sys.stdin)["methods"]:
  >     for option in method["options"]:
  >         flag = "--" + option["name"].replace("_", "-")
  >         if flag + " " not in text:
  >             print(method["method"], flag)'

Usage errors: one message with a suggestion, and exit status 2.

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
  huddle: a command must precede the options; see huddle help
  [2]
