#!/usr/bin/python3
"""Writes the small containers that tests/unit/test_io_containers.c reads.

X[i, j] = 10 i + j for 6 samples of 4 features everywhere; labels are 3, 5, 3, 5, 3, 5 or the
texts "cat" and "dog" in turn. Run in this directory.
"""
import struct
import zlib

import h5py
import numpy as np
import scipy.io
import scipy.sparse

n, d = 6, 4
X = 10.0 * np.arange(n)[:, None] + np.arange(d)
y = np.array([3, 5] * 3)
words = np.array(["cat", "dog"] * 3)
S = scipy.sparse.csr_matrix(X * (np.add.outer(np.arange(n), np.arange(d)) % 2 == 0))


def matlab5():
    cells = np.empty((n, 1), dtype=object)
    cells[:, 0] = words
    scipy.io.savemat("io_v5.mat", {"fea": X.astype("u1"), "gnd": y[:, None]}, do_compression=True)
    scipy.io.savemat("io_v5_columns.mat", {
        "X": X.T, "gnd": y.astype("f8"), "im_height": 2.0, "im_width": 2.0, "extra": np.ones((3, 3))})
    scipy.io.savemat("io_v5_cells.mat", {"X": X.astype("f4"), "y": cells})
    scipy.io.savemat("io_v5_chars.mat", {"X": X, "labels": words})
    scipy.io.savemat("io_v5_sparse.mat", {"fea": S.tocsc(), "gnd": y})
    scipy.io.savemat("io_v5_complex.mat", {"X": X + 1j, "y": y})
    scipy.io.savemat("io_v5_logical.mat", {"X": X, "y": (y == 3)[:, None]})


def matlab73():
    """As MATLAB writes it: dimensions reversed, a class attribute, a 512-byte header."""
    def mark(thing, kind):  # a text that ends with a zero, which h5py's own attributes do not
        text = h5py.h5t.C_S1.copy()
        text.set_size(len(kind))
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        attribute = h5py.h5a.create(thing.id, b"MATLAB_class", text, space)
        attribute.write(np.array(kind.encode(), f"S{len(kind)}"), mtype=text)

    def put(group, name, values, kind):
        data = group.create_dataset(name, data=values, track_times=False)
        mark(data, kind)
        return data

    with h5py.File("io_v73.mat", "w", userblock_size=512) as file:
        put(file, "fea", X, "double")  # MATLAB sees 4 x 6: samples in columns
        put(file, "gnd", y[None, :].astype("f8"), "double")
        refs = file.create_group("#refs#")
        cells = np.empty((1, n), dtype=h5py.ref_dtype)
        for i, word in enumerate(words):
            text = put(refs, f"c{i}", np.frombuffer(word.encode("utf-16-le"), "u2")[:, None], "char")
            text.attrs["MATLAB_int_decode"] = np.int32(2)
            cells[0, i] = text.ref
        put(file, "names", cells, "cell")
        C = S.tocsc()
        sparse = file.create_group("S")
        mark(sparse, "double")
        sparse.attrs["MATLAB_sparse"] = np.uint64(n)
        for name, values in (("data", C.data), ("ir", C.indices.astype("u8")),
                             ("jc", C.indptr.astype("u8"))):
            sparse.create_dataset(name, data=values, track_times=False)
    header = b"MATLAB 7.3 MAT-file, made by make_io.py".ljust(116) + bytes(8) + b"\x00\x02IM"
    with open("io_v73.mat", "r+b") as file:
        file.write(header)


def numpy_archives():
    np.savez("io_plain.npz", X=X.astype("f4"), y=y)
    np.savez_compressed("io_packed.npz", data=np.asfortranarray(X), target=words)
    scipy.sparse.save_npz("io_csr.npz", S)
    scipy.sparse.save_npz("io_csc.npz", S.tocsc(), compressed=False)
    scipy.sparse.save_npz("io_coo.npz", S.tocoo())


def hdf5():
    with h5py.File("io_nested.h5", "w") as file:
        for name, rows in (("train", slice(0, 4)), ("test", slice(4, 6))):
            group = file.create_group(name)
            group.create_dataset("data", data=X[rows].astype("f4"), track_times=False)
            group.create_dataset("target", data=y[rows].astype("i4"), track_times=False)
    with h5py.File("io_images.h5", "w") as file:
        file.create_dataset("images", data=X.reshape(n, 2, 2).astype("u1"), track_times=False,
                            compression="gzip")
        file.create_dataset("label", data=words.astype("S5"), track_times=False)
        file.create_dataset("names", data=list(words), dtype=h5py.string_dtype(), track_times=False)


def png(name, depth, colour, rows):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    height, width = len(rows), 3
    raw = b"".join(b"\0" + row for row in rows)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" +
                   chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


matlab5()
matlab73()
numpy_archives()
hdf5()
png("io_gray8.png", 8, 0, [bytes([0, 100, 255]), bytes([1, 2, 3])])
png("io_gray16.png", 16, 0, [struct.pack(">HHH", 0, 25700, 65535), struct.pack(">HHH", 257, 514, 771)])
png("io_rgb8.png", 8, 2, [bytes([0] * 3 + [100] * 3 + [255] * 3), bytes([1] * 3 + [2] * 3 + [3] * 3)])
png("io_gray1.png", 1, 0, [bytes([0b01000000]), bytes([0b10100000])])
