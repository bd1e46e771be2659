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


def matlab5_part(order, kind, values):
    """A part of a matrix of MAT v5, as the format's description has it."""
    values = values if isinstance(values, bytes) else np.asarray(values).astype(
        np.asarray(values).dtype.newbyteorder(order)).tobytes()
    if 0 < len(values) <= 4:
        tag = len(values) << 16 | kind
        return struct.pack(order + "I", tag) + values.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(values)) + values + bytes(-len(values) % 8)


def matlab5_matrix(order, kind, flags, shape, name, *parts):
    body = matlab5_part(order, 6, np.array([flags << 8 | kind, 0], "u4"))
    if shape is not None:
        body += matlab5_part(order, 5, np.array(shape, "i4"))
    body += matlab5_part(order, 1, name) + b"".join(parts)
    return struct.pack(order + "II", 14, len(body)) + body


def matlab5_file(path, order, *matrices):
    with open(path, "wb") as file:
        file.write(b"MATLAB 5.0 MAT-file, made by make_io.py".ljust(116) + bytes(8) +
                   struct.pack(order + "HH", 0x0100, 0x4D49) + b"".join(matrices))


def matlab5_by_hand():
    """What scipy.io.savemat does not write."""
    part, matrix = matlab5_part, matlab5_matrix
    accents = ["caté" if w == "cat" else "Dög" for w in words]
    cells = [matrix(">", 4, 0, (1, len(w)), b"", part(">", 17, w.encode("utf-16-be")))
             for w in accents]
    C = S.tocsc()
    matlab5_file("io_v5_big_endian.mat", ">",
                 matrix(">", 6, 0, (n, d), b"X", part(">", 4, X.T.ravel().astype("u2"))),
                 matrix(">", 1, 0, (n, 1), b"y", *cells),
                 matrix(">", 5, 0, (n, d), b"S", part(">", 5, C.indices), part(">", 5, C.indptr),
                        part(">", 9, C.data)))
    # A string array: its class has no dimensions, and a nameless matrix keeps its contents.
    matlab5_file("io_v5_object.mat", "<",
                 matrix("<", 17, 0, None, b"X", part("<", 1, b"MCOS"), part("<", 1, b"string"),
                        matrix("<", 13, 0, (2, 1), b"", part("<", 6, np.array([1, 2], "u4")))),
                 matrix("<", 6, 0, (n, d), b"fea", part("<", 9, X.T.ravel())),
                 matrix("<", 9, 0, (1, 8), b"", part("<", 2, bytes(8))))
    # MATLAB may write the values of a logical sparse matrix as bytes and call them doubles.
    matlab5_file("io_v5_logical_sparse.mat", "<",
                 matrix("<", 5, 2, (n, d), b"X", part("<", 5, C.indices), part("<", 5, C.indptr),
                        part("<", 9, b"\1" * C.nnz)))
    scipy.io.savemat("io_v5_accents.mat", {"X": X, "labels": np.array(accents)})


class Matlab73:
    """A MAT v7.3 file as MATLAB writes it: dimensions reversed, attributes that name the class, a
    block of 512 bytes before the HDF5 file that begins with the header."""

    def __init__(self, path):
        self.path = path
        self.count = 0
        self.file = h5py.File(path, "w", userblock_size=512)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        header = b"MATLAB 7.3 MAT-file, made by make_io.py".ljust(116) + bytes(8) + b"\x00\x02IM"
        with open(self.path, "r+b") as file:
            file.write(header)

    @staticmethod
    def mark(thing, kind):  # a text that ends with a zero, which h5py's own attributes do not
        text = h5py.h5t.C_S1.copy()
        text.set_size(len(kind))
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        attribute = h5py.h5a.create(thing.id, b"MATLAB_class", text, space)
        attribute.write(np.array(kind.encode(), f"S{len(kind)}"), mtype=text)

    def put(self, name, values, kind, group=None, **attributes):
        """values has HDF5's shape."""
        data = (group or self.file).create_dataset(name, data=values, track_times=False)
        self.mark(data, kind)
        for key, value in attributes.items():
            data.attrs["MATLAB_" + key] = value
        return data

    def numbers(self, name, array, kind=None, **attributes):
        return self.put(name, array.T, kind or {"f4": "single", "f8": "double"}[array.dtype.str[1:]],
                        **attributes)

    def characters(self, name, rows, group=None):
        """Rows of equally many UTF-16 units."""
        units = np.array([np.frombuffer(row.encode("utf-16-le"), "u2") for row in rows])
        if units.size == 0:
            return self.put(name, np.zeros(2, "u8"), "char", group, empty=np.uint8(1),
                            int_decode=np.int32(2))
        return self.put(name, units.T, "char", group, int_decode=np.int32(2))

    def refer(self, make):
        refs = self.file.require_group("#refs#")
        self.count += 1
        return make(f"c{self.count - 1}", refs).ref

    def cells(self, name, texts):
        references = np.empty((1, len(texts)), dtype=h5py.ref_dtype)
        for i, text in enumerate(texts):
            references[0, i] = self.refer(lambda name, group: self.characters(name, [text], group))
        self.put(name, references, "cell")

    def sparse(self, name, matrix, kind="double", values=None):
        matrix = matrix.tocsc()
        group = self.file.create_group(name)
        self.mark(group, kind)
        group.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
        members = {"data": matrix.data if values is None else values,
                   "ir": matrix.indices.astype("u8"), "jc": matrix.indptr.astype("u8")}
        for member, contents in members.items():
            if len(contents) > 0:
                group.create_dataset(member, data=contents, track_times=False)


def matlab73():
    with Matlab73("io_v73.mat") as file:
        file.put("fea", X, "double")  # MATLAB sees 4 x 6: samples in columns
        file.put("gnd", y[None, :].astype("f8"), "double")
        file.cells("names", words)
        file.sparse("S", S)
    with Matlab73("io_v73_kinds.mat") as file:
        for kind in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]:
            name = {"i": "int", "u": "uint"}[kind[0]] + str(8 * int(kind[1]))
            file.numbers(name, X.astype("<" + kind), name)
        file.numbers("double", X)
        file.numbers("single", X.astype("f4"))
        file.numbers("big_endian", X.astype(">f8"), "double")
        file.numbers("big_endian_short", X.astype(">i2"), "int16")
        packed = file.file.create_dataset("packed", data=X.T, chunks=(2, 3), compression="gzip",
                                          track_times=False)
        file.mark(packed, "double")
        file.numbers("images", X.reshape(n, 2, 2).transpose(1, 2, 0).astype("u1"), "uint8")
        file.numbers("four", np.zeros((2, 2, 2, 2)))
        file.numbers("logical", (y == 5)[:, None].astype("u1"), "logical", int_decode=np.int32(1))
        file.characters("rows", ["cat " if w == "cat" else "dogs" for w in words])
        file.cells("cells", words)
        file.cells("unicode", ["é", "日本", "\U0001F600x", "", "é", "日本"])
        file.sparse("sparse", S)
        file.sparse("sparse_logical", S, "logical", np.ones(S.nnz, "u1"))
        file.sparse("sparse_zero", scipy.sparse.csc_matrix((n, d)))
        pair = np.dtype([("real", "f8"), ("imag", "f8")])
        file.put("complex", np.zeros((d, n), pair), "double")
        file.sparse("sparse_complex", S, "double", np.zeros(S.nnz, pair))
        empty = {"empty": np.uint8(1)}
        file.put("empty", np.array([0, d], "u8"), "double", **empty)
        file.put("empty_cells", np.zeros(2, "u8"), "cell", **empty)
        struct73 = file.file.create_group("struct")
        file.mark(struct73, "struct")
        file.put("X", X, "double", struct73)  # not a variable
        file.put("string", np.zeros((1, 6), "u4"), "string", object_decode=np.int32(3))
        number = file.refer(lambda name, group: file.put(name, np.ones((1, 1)), "double", group))
        file.put("numbers_in_cells", np.array([[number]], dtype=h5py.ref_dtype), "cell")
        file.file.create_dataset("unmarked", data=X.T, track_times=False)
        file.file.create_group("#subsystem#").create_dataset("MCOS", data=X, track_times=False)


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
matlab5_by_hand()
matlab73()
numpy_archives()
hdf5()
png("io_gray8.png", 8, 0, [bytes([0, 100, 255]), bytes([1, 2, 3])])
png("io_gray16.png", 16, 0, [struct.pack(">HHH", 0, 25700, 65535), struct.pack(">HHH", 257, 514, 771)])
png("io_rgb8.png", 8, 2, [bytes([0] * 3 + [100] * 3 + [255] * 3), bytes([1] * 3 + [2] * 3 + [3] * 3)])
png("io_gray1.png", 1, 0, [bytes([0b01000000]), bytes([0b10100000])])
