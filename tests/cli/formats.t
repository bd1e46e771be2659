The formats of this build. Some libraries are optional.

  $ huddle info --formats
  format        access      values         files
  csv           read, write dense          .csv .tsv .txt (table, columns separated by commas, tabs or blanks)
  arff          read        sparse         .arff (Weka, sparse)
  arff          read        dense          .arff (Weka)
  npy           read, write dense          .npy (NumPy array)
  npz           read, write dense, sparse  .npz (NumPy archive, also of scipy.sparse)
  mat           read, write dense, sparse  .mat (MATLAB up to v7)
  mat           read        dense, sparse  .mat \(MATLAB v7.3\); (uses|not available: this build has no) HDF5 (re)
  hdf5          read, write dense          .h5 .hdf5 .hdf \(HDF5\); (uses|not available: this build has no) HDF5 (re)
  idx           read        dense          .idx .idx3-ubyte .idx1-ubyte (IDX, as of MNIST)
  matrixmarket  read        dense, sparse  .mtx .mm (MatrixMarket)
  libsvm        read, write dense, sparse  .svm .libsvm .svmlight (LIBSVM and SVMlight)
  images        read        dense          .pgm .ppm (folder of PGM or PPM images)
  images        read        dense          .bmp (folder of BMP images)
  images        read        dense          .png \(folder of PNG images\); (uses|not available: this build has no) libpng (re)
  images        read        dense          .jpg .jpeg \(folder of JPEG images\); (uses|not available: this build has no) libjpeg (re)
  images        read        dense          .tif .tiff \(folder of TIFF images, or one file of several pages\); (uses|not available: this build has no) libtiff (re)
  compressed    read                       .gz (gzip); uses zlib
  compressed    read                       .bz2 \(bzip2\); (uses|not available: this build has no) libbz2 (re)
  compressed    read                       .xz \(xz\); (uses|not available: this build has no) liblzma (re)
  compressed    read                       .zst \(zstd\); (uses|not available: this build has no) libzstd (re)

As JSON.

  $ huddle info --formats --json | /usr/bin/python3 -c '
  > import json, sys
  > for f in json.load(sys.stdin):
  >     print(f["name"], f["write_endings"], f["library"])'
  csv .csv .tsv .txt None
  arff None None
  arff None None
  npy .npy None
  npz .npz None
  mat .mat None
  mat None HDF5
  hdf5 .h5 .hdf5 HDF5
  idx None None
  matrixmarket None None
  libsvm .svm .libsvm None
  images None None
  images None None
  images None libpng
  images None libjpeg
  images None libtiff

  $ huddle info
  huddle: info: missing DATA or --formats
  [2]
