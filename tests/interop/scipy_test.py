"""Sparse matrices against SciPy: what computes through the shared library's C functions, and files
through a program.

    python tests/interop/scipy_test.py LIBRARY_PATH [FILES_PROGRAM]

Needs numpy and scipy. FILES_PROGRAM is the example `sparse_files` of the Rust crate: it reads a
file and writes what it found to another. The example `digits` lies beside it.
"""

import ctypes
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

import numpy_test
from numpy_test import Library, Scalar, View, dtype_of, scalar_of, view_of

FORMATS = {"coo": 1, "csr": 2, "csc": 3, "bsr": 4}
NAMES = {code: name for name, code in FORMATS.items()}
SORTED, UNIQUE = 1, 2
KEEP_NEGATIVE_ZERO, SORT = 1, 2
PREDICATES = {"non_zero": 0, "greater": 1, "magnitude_greater": 2, "mask": 3}
ORIENTATIONS = {"as_is": 1, "transposed": 2}

FLOATS = [np.float64, np.float32]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]


class SparseView(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("owner", ctypes.c_uint64), ("format", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
        ("block_rows", ctypes.c_int64), ("block_cols", ctypes.c_int64), ("major", View),
        ("minor", View), ("values", View), ("batch_offsets", View)]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("format", ctypes.c_int32),
        ("index_dtype", ctypes.c_uint32), ("predicate", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("block_rows", ctypes.c_int64),
        ("block_cols", ctypes.c_int64), ("threshold", Scalar), ("mask", View)]


def options(format_name, index_dtype=None, predicate="non_zero", flags=0, block=(0, 0),
            threshold=None, mask=None):
    made = Options(struct_size=ctypes.sizeof(Options), format=FORMATS[format_name], flags=flags,
                   predicate=PREDICATES[predicate], block_rows=block[0], block_cols=block[1])
    if index_dtype is not None:
        made.index_dtype = dtype_of(index_dtype)
    if threshold is not None:
        made.threshold = scalar_of(threshold)
    if mask is not None:
        made.mask = view_of(mask)
    return made


def arrays_of(matrix):
    """Offsets, or row indices, then indices, then values."""
    if matrix.format == "coo":
        return [np.ascontiguousarray(part) for part in (matrix.row, matrix.col, matrix.data)]
    return [matrix.indptr, matrix.indices, np.ascontiguousarray(matrix.data)]


def lent(matrix, flags=0):
    """A SciPy matrix lent as it lies; the arrays beside it keep its memory alive."""
    arrays = arrays_of(matrix)
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    view = SparseView(struct_size=ctypes.sizeof(SparseView), format=FORMATS[matrix.format],
                      flags=flags, rows=matrix.shape[0], cols=matrix.shape[1],
                      block_rows=block[0], block_cols=block[1])
    view.major, view.minor, view.values = map(view_of, arrays)
    return view, arrays


def numpy_dtype(code):
    kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}[code & 0xff]
    return np.dtype(f"{kind}{(code >> 8 & 0xff) // 8}")


def copied(view):
    shape = tuple(view.shape[:view.rank])
    raw = ctypes.string_at(view.data, view.size_bytes) if view.size_bytes else b""
    return np.frombuffer(raw, numpy_dtype(view.dtype)).reshape(shape)


class Refused(Exception):
    pass


class Sparse(Library):
    def __init__(self, path):
        super().__init__(path)
        for name in ("from_dense", "convert", "product"):
            getattr(self.c, "tnr_sparse_" + name).restype = ctypes.c_void_p
        self.c.tnr_sparse_view_of.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.c.tnr_sparse_release.argtypes = [ctypes.c_void_p]

    def made(self, name, *arguments):
        """Calls tnr_sparse_<name>, and gives what it made as SciPy has it, and its flags."""
        kept = [lent(argument) if sp.issparse(argument) else (argument, None)
                for argument in arguments]
        passed = [view_of(argument) if isinstance(argument, np.ndarray) else argument
                  for argument, _ in kept]
        handle = getattr(self.c, "tnr_sparse_" + name)(None, *map(ctypes.byref, passed))
        if not handle:
            raise Refused(self.message())
        view = SparseView(struct_size=ctypes.sizeof(SparseView))
        assert self.c.tnr_sparse_view_of(handle, ctypes.byref(view)) == 0
        assert self.c.tnr_sparse_check(ctypes.byref(view)) == 0, self.message()
        major, minor, values = map(copied, (view.major, view.minor, view.values))
        assert self.c.tnr_sparse_release(handle) == 0
        shape = (view.rows, view.cols)
        parts = (values, (major, minor)) if view.format == 1 else (values, minor, major)
        make = getattr(sp, NAMES[view.format] + "_array")
        if view.format == FORMATS["bsr"]:
            block = (view.block_rows, view.block_cols)
            return make(parts, shape=shape, blocksize=block), view.flags
        return make(parts, shape=shape), view.flags

    def to_dense(self, matrix, out):
        view, _arrays = lent(matrix)
        status = self.c.tnr_sparse_to_dense(None, ctypes.byref(view), ctypes.byref(view_of(out)))
        assert status == 0, self.message()
        return out

    def matmul(self, alpha, matrix, orientation, b, beta, out):
        view, _arrays = lent(matrix)
        scalars = [scalar_of(np.asarray(number, out.dtype)) for number in (alpha, beta)]
        status = self.c.tnr_sparse_matmul(
            None, ctypes.byref(scalars[0]), ctypes.byref(view), ORIENTATIONS[orientation],
            ctypes.byref(view_of(b)), ctypes.byref(scalars[1]), ctypes.byref(view_of(out)))
        assert status == 0, self.message()
        return out


library = None
files_program = None


def values_of(rng, dtype, count):
    """Few different numbers of both signs, of which sums and products are exact; zeros too."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.ones(count, dtype)
    numbers = rng.integers(0 if dtype.kind == "u" else -4, 5, count)
    if dtype.kind == "c":
        return (numbers + 1j * rng.integers(-4, 5, count)).astype(dtype)
    return (numbers / 4 if dtype.kind == "f" else numbers).astype(dtype)


def coordinates(rng):
    """Matrices by name: a shape, rows and columns."""
    def drawn(rows, cols, count):
        return (rows, cols), rng.integers(0, rows, count), rng.integers(0, cols, count)

    def full(rows, cols):
        row, col = np.divmod(rng.permutation(rows * cols), cols)
        return (rows, cols), row, col

    none = np.empty(0, np.int64)
    for shape in [(0, 0), (0, 5), (5, 0), (1, 1), (37, 11)]:
        yield f"nothing in {shape}", (shape, none, none)
    yield "one element", ((1, 1), np.zeros(1, int), np.zeros(1, int))
    yield "all elements", full(23, 17)
    yield "one dense row", ((40, 300), np.full(300, 31), rng.permutation(300))
    yield "one dense column", ((300, 40), rng.permutation(300), np.full(300, 7))
    yield "the corners", ((70, 90), np.array([69, 0, 69, 0]), np.array([89, 89, 0, 0]))
    yield "the same position", ((9, 9), np.full(50, 4), np.full(50, 5))
    yield "many duplicates", drawn(8, 6, 400)
    yield "a diagonal", ((64, 64), rng.permutation(64), None)
    yield "few", drawn(200, 500, 40)
    yield "random", drawn(120, 96, 2500)
    # Some rows have very many entries.
    skewed = (120 * rng.random(3000) ** 4).astype(int)
    yield "skewed", ((120, 240), skewed, rng.integers(0, 240, 3000))
    yield "large", drawn(3000, 2000, 60000)


def matrices(rng, dtypes, index_dtypes=(np.int32, np.int64), small=False):
    """Unsorted COO matrices, with duplicates and zeros."""
    for (name, (shape, row, col)), dtype, index in itertools.product(
            coordinates(rng), dtypes, index_dtypes):
        if small and name == "large":
            continue
        row, col = row.astype(index), (row if col is None else col).astype(index)
        matrix = sp.coo_array((values_of(rng, dtype, len(row)), (row, col)), shape=shape)
        matrix.row, matrix.col = row, col  # SciPy narrows them
        yield matrix, f"{name} of {np.dtype(dtype)}, {np.dtype(index)}"


def compressed(coo, by_columns=False):
    """Rows (columns) compressed, entries in the order they have: SciPy would add duplicates up."""
    major, minor = (coo.col, coo.row) if by_columns else (coo.row, coo.col)
    count = coo.shape[1 if by_columns else 0]
    order = np.argsort(major, kind="stable")
    offsets = np.zeros(count + 1, major.dtype)
    np.cumsum(np.bincount(major, minlength=count), out=offsets[1:])
    make = sp.csc_array if by_columns else sp.csr_array
    made = make(coo.shape, dtype=coo.dtype)
    made.indptr, made.indices, made.data = offsets, minor[order], coo.data[order]
    return made


def unique(coo):
    """Without duplicates: the last of each position."""
    _, last = np.unique(coo.row.astype(np.int64) * coo.shape[1] + coo.col, return_index=True)
    made = sp.coo_array((coo.data[last], (coo.row[last], coo.col[last])), shape=coo.shape)
    made.row, made.col = coo.row[last], coo.col[last]
    return made


class SciPyTest(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(20241121)
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)

    def assert_arrays(self, found, wanted, message):
        """The same format, shape and arrays."""
        self.assertEqual((found.format, found.shape), (wanted.format, wanted.shape), message)
        for name, one, other in zip(("major", "minor", "values"), arrays_of(found),
                                    arrays_of(wanted)):
            self.assertEqual(one.dtype, other.dtype, f"{message}: {name}")
            self.assertTrue(np.array_equal(one, other), f"{message}: {name}\n{one}\n{other}")

    def assert_dense(self, found, wanted, message):
        self.assertEqual((found.dtype, found.shape), (wanted.dtype, wanted.shape), message)
        self.assertTrue(np.array_equal(found, wanted), f"{message}\n{found}\n{wanted}")

    # ---- conversions ----

    def test_compression_keeps_entries_in_their_order(self):
        for coo, message in matrices(self.rng, [np.float32, np.int64, np.complex128, np.uint8]):
            csr, csc = compressed(coo), compressed(coo, by_columns=True)
            self.assert_arrays(library.made("convert", coo, options("csr"))[0], csr, message)
            self.assert_arrays(library.made("convert", coo, options("csc"))[0], csc, message)

    def test_csr_to_csc_and_back_is_scipys(self):
        for coo, message in matrices(self.rng, [np.float64, np.float32, np.int16]):
            csr, csc = compressed(coo), compressed(coo, by_columns=True)
            for matrix, wanted in ((csr, csr.tocsc()), (csc, csc.tocsr())):
                index = matrix.indices.dtype
                wanted.indptr, wanted.indices = (part.astype(index) for part in
                                                 (wanted.indptr, wanted.indices))
                found, flags = library.made("convert", matrix, options(wanted.format))
                self.assertEqual(flags & SORTED, SORTED, message)
                self.assert_arrays(found, wanted, message)

    def test_sorting_is_scipys(self):
        for coo, message in matrices(self.rng, [np.float32, np.int64]):
            # Of duplicates SciPy's order is its own.
            coo = unique(coo)
            order = self.rng.permutation(coo.nnz)
            coo.row, coo.col, coo.data = coo.row[order], coo.col[order], coo.data[order]
            wanted = compressed(coo)
            wanted.has_sorted_indices = False
            wanted.sort_indices()
            found, flags = library.made("convert", coo, options("csr", flags=SORT))
            self.assertEqual(flags & SORTED, SORTED, message)
            self.assert_arrays(found, wanted, message)

    def test_blocks_are_scipys(self):
        for block, dtype, index in itertools.product(
                [(1, 1), (2, 3), (4, 4), (8, 8), (16, 16), (3, 1)], [np.float32, np.int8],
                [np.int32, np.int64]):
            shape = (9 * block[0], 7 * block[1])
            for density in (0, 0.02, 0.3, 1):
                dense = (self.rng.random(shape) < density).astype(dtype)
                dense *= (1 + np.arange(dense.size).reshape(shape) % 100).astype(dtype)
                csr = sp.csr_array(dense)
                csr.indptr, csr.indices = csr.indptr.astype(index), csr.indices.astype(index)
                message = f"blocks {block} of {np.dtype(dtype)}, density {density}"
                wanted = csr.tobsr(block)
                wanted.indptr, wanted.indices = (part.astype(index) for part in
                                                 (wanted.indptr, wanted.indices))
                wanted.sort_indices()
                found, _ = library.made("convert", csr, options("bsr", block=block))
                self.assert_arrays(found, wanted, message)
                self.assert_dense(library.made("convert", found, options("csr"))[0].toarray(),
                                  dense, message)
                if index == np.int32:
                    found, _ = library.made("from_dense", dense, options("bsr", block=block))
                    self.assert_arrays(found, wanted, f"dense to {message}")

    def test_every_conversion_is_the_same_matrix(self):
        dtypes = [*FLOATS, *INTEGERS, *COMPLEX]
        for coo, message in matrices(self.rng, dtypes, [np.int32], small=True):
            dense = coo.toarray().astype(coo.dtype)
            for start in ("coo", "csr", "csc"):
                matrix = {"coo": coo, "csr": compressed(coo),
                          "csc": compressed(coo, by_columns=True)}[start]
                for end, index in itertools.product(("coo", "csr", "csc"), (None, np.int64)):
                    found, _ = library.made("convert", matrix, options(end, index))
                    text = f"{start} to {end}, {message}"
                    self.assertEqual(found.nnz, coo.nnz, text)
                    self.assert_dense(found.toarray().astype(coo.dtype), dense, text)

    def test_to_dense_is_scipys(self):
        for coo, message in matrices(self.rng, [*FLOATS, *INTEGERS], [np.int32], small=True):
            wanted = coo.toarray().astype(coo.dtype)
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                for order in "CF":
                    out = np.full(coo.shape, 7, coo.dtype, order=order)
                    self.assert_dense(library.to_dense(matrix, out), wanted, message)
                wide = np.full((coo.shape[0], 2 * coo.shape[1]), 7, coo.dtype)
                self.assert_dense(library.to_dense(matrix, wide[:, ::2]), wanted, message)
                self.assertTrue(np.all(wide[:, 1::2] == 7), message)

    # ---- from dense ----

    def dense_cases(self, dtype):
        for shape in [(0, 0), (0, 4), (4, 0), (1, 1), (3, 1000), (1000, 3), (65, 129)]:
            for density in (0, 0.01, 0.5, 1):
                kept = self.rng.random(shape) < density
                dense = np.where(kept, values_of(self.rng, dtype, shape), 0).astype(dtype)
                yield dense, f"{np.dtype(dtype)} {shape}, {density}"

    def test_from_dense_is_scipys(self):
        for dtype in [*FLOATS, *INTEGERS]:
            for dense, message in self.dense_cases(dtype):
                if dense.dtype.kind == "f" and dense.size > 3:
                    dense.flat[:3] = [np.nan, -0.0, np.inf]
                for format_name, make in (("csr", sp.csr_array), ("csc", sp.csc_array),
                                          ("coo", sp.coo_array)):
                    wanted = make(dense)
                    for array in (dense, np.asfortranarray(dense)):
                        found, flags = library.made("from_dense", array, options(format_name))
                        self.assertEqual(flags, SORTED | UNIQUE, message)
                        self.assertEqual(found.nnz, wanted.nnz, message)
                        for one, other in zip(arrays_of(found), arrays_of(wanted)):
                            self.assertTrue(np.array_equal(one, other, equal_nan=True)
                                            if one.dtype.kind == "f"
                                            else np.array_equal(one, other), message)

    def test_predicates_are_comparisons(self):
        for dtype in [np.float32, np.float64, np.int32, np.uint8]:
            for dense, message in self.dense_cases(dtype):
                limit = np.asarray(1, dtype)
                mask = self.rng.random(dense.shape) < 0.3
                for predicate, kept in (("greater", dense > limit),
                                        ("magnitude_greater", np.abs(dense) > limit),
                                        ("mask", mask)):
                    found, _ = library.made("from_dense", dense, options(
                        "csr", predicate=predicate, threshold=limit, mask=mask))
                    row, col = np.nonzero(kept)
                    wanted = sp.csr_array((dense[kept], (row, col)), shape=dense.shape)
                    wanted.indptr, wanted.indices = (part.astype(np.int32) for part in
                                                     (wanted.indptr, wanted.indices))
                    self.assert_arrays(found, wanted, f"{predicate} {message}")

    def test_negative_zeros_are_kept_where_asked(self):
        dense = np.array([[0.0, -0.0, 1.0]], np.float32)
        found, _ = library.made("from_dense", dense, options("csr"))
        self.assertEqual(found.indices.tolist(), [2])
        found, _ = library.made("from_dense", dense, options("csr", flags=KEEP_NEGATIVE_ZERO))
        self.assertEqual(found.indices.tolist(), [1, 2])
        self.assertTrue(np.signbit(found.data[0]))

    def test_what_i32_cannot_count_says_so(self):
        most = 2**31 - 1
        for rows, fits in ((most, True), (most + 1, True), (most + 2, False)):
            coo = sp.coo_array((np.ones(1, np.float32), (np.array([rows - 1]), np.array([0]))),
                               shape=(rows, 1))
            coo.row, coo.col = coo.row.astype(np.int64), coo.col.astype(np.int64)
            if fits:
                found, _ = library.made("convert", coo, options("coo", np.int32))
                self.assertEqual(found.row.tolist(), [rows - 1])
                continue
            with self.assertRaisesRegex(Refused, "i64"):
                library.made("convert", coo, options("coo", np.int32))
            found, _ = library.made("convert", coo, options("coo", np.int64))
            self.assertEqual(found.row.tolist(), [rows - 1])

    # ---- products ----

    def test_products_with_dense_are_scipys(self):
        for coo, message in matrices(self.rng, [*FLOATS, np.int32, np.int64, np.uint8], [np.int32]):
            for orientation, start in itertools.product(ORIENTATIONS, ("coo", "csr", "csc")):
                matrix = {"coo": coo, "csr": compressed(coo),
                          "csc": compressed(coo, by_columns=True)}[start]
                used = coo.T if orientation == "transposed" else coo
                rows, cols = used.shape
                exact = used.tocsr()
                for shape in ((cols,), (cols, 1), (cols, 5), (cols, 33)):
                    b = values_of(self.rng, coo.dtype, shape)
                    out = values_of(self.rng, coo.dtype, (rows, *shape[1:]))
                    wanted = (2 * (exact @ b) + 3 * out).astype(coo.dtype)
                    text = f"{start} {orientation} times {shape}, {message}"
                    found = library.matmul(2, matrix, orientation, b, 3, out.copy())
                    self.assert_dense(found, wanted, text)
                    # In other layouts, and over what nobody reads.
                    wide = np.zeros((2 * cols, *shape[1:]), coo.dtype, order="F")
                    wide[1::2] = b
                    over = np.full(out.shape, 99, coo.dtype, order="F")
                    if over.dtype.kind == "f":
                        over[...] = np.nan
                    found = library.matmul(1, matrix, orientation, wide[1::2], 0, over)
                    self.assert_dense(found, (exact @ b).astype(coo.dtype), text)

    def test_products_of_blocks_are_scipys(self):
        for block, dtype in itertools.product([(1, 1), (2, 3), (4, 4), (8, 8), (16, 16)], FLOATS):
            shape = (9 * block[0], 7 * block[1])
            dense = values_of(self.rng, dtype, shape) * (self.rng.random(shape) < 0.1)
            bsr = sp.csr_array(dense.astype(dtype)).tobsr(block)
            for orientation, width in itertools.product(ORIENTATIONS, (1, 6, 32)):
                used = bsr.T if orientation == "transposed" else bsr
                b = values_of(self.rng, dtype, (used.shape[1], width))
                out = np.zeros((used.shape[0], width), dtype)
                found = library.matmul(1, bsr, orientation, b, 0, out)
                self.assert_dense(found, (used.toarray() @ b).astype(dtype), f"{block}")

    def test_products_of_two_are_scipys(self):
        for coo, message in matrices(self.rng, FLOATS):
            left, right = compressed(coo), compressed(coo, by_columns=True).T
            for a, b in ((left, right), (right, left), (left.T, right.T), (right.T, left.T)):
                index = coo.row.dtype
                for part in (a, b):
                    part.indptr, part.indices = (numbers.astype(index) for numbers in
                                                 (part.indptr, part.indices))
                found, flags = library.made("product", a, b)
                self.assertEqual(flags, SORTED | UNIQUE, message)
                ones = [sp.csr_array(part, copy=True) for part in (a, b)]
                for part in ones:
                    part.data = np.ones(part.nnz)
                self.assertEqual(found.nnz, (ones[0] @ ones[1]).nnz, message)
                difference = found - (a @ b)
                self.assertEqual(difference.count_nonzero(), 0, message)


class Files(unittest.TestCase):
    def setUp(self):
        if files_program is None:
            self.skipTest("no program to read and write files with")
        self.rng = np.random.default_rng(20241121)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def through(self, pairs):
        """Has the program read the first and write the second of each pair of files."""
        names = [str(self.folder / name) for pair in pairs for name in pair]
        done = subprocess.run([files_program, *names], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_npz(self):
        wanted = {}
        for number, (coo, message) in enumerate(matrices(
                self.rng, [*FLOATS, *INTEGERS, *COMPLEX, np.bool_], small=True)):
            for form in (coo, compressed(coo), compressed(coo, by_columns=True)):
                wanted[f"{number}{form.format}.npz"] = form, message
        for block in [(1, 1), (2, 3), (16, 4)]:
            dense = self.rng.integers(0, 2, (4 * block[0], 5 * block[1])).astype(np.float32)
            wanted[f"{block[0]}.npz"] = sp.csr_array(dense).tobsr(block), f"blocks of {block}"
        for number, (name, (matrix, _)) in enumerate(wanted.items()):
            sp.save_npz(self.folder / name, matrix, compressed=number % 2 == 0)
        self.through([(name, "out" + name) for name in wanted])
        for name, (matrix, message) in wanted.items():
            found = sp.load_npz(self.folder / ("out" + name))
            self.assertEqual(found.format, matrix.format, message)
            self.assertEqual((found.shape, found.dtype), (matrix.shape, matrix.dtype), message)
            for one, other in zip(arrays_of(found), arrays_of(matrix)):
                self.assertTrue(np.array_equal(one, other), message)

    def test_npz_of_scipys_own_tests(self):
        data = pathlib.Path(scipy.__file__).parent / "sparse" / "tests" / "data"
        found = sorted(data.glob("cs*.npz"))
        if not found:
            self.skipTest("this SciPy comes without its tests")
        for path in found:
            (self.folder / path.name).write_bytes(path.read_bytes())
        self.through([(path.name, "out" + path.name) for path in found])
        for path in found:
            wanted = sp.load_npz(path)
            self.assertEqual((wanted != sp.load_npz(self.folder / ("out" + path.name))).nnz, 0)

    def test_the_demo(self):
        data = pathlib.Path(__file__).parents[2] / "rust/tenure/examples/data/digits.npy"
        demo = pathlib.Path(files_program).with_name("digits")
        done = subprocess.run([demo, data], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = scipy.io.mmread(self.folder / "tenure-digits.mtx")
        self.assertTrue(np.array_equal(found.toarray(), np.load(data)))

    def test_matrix_market(self):
        wanted = {}
        for number, (coo, message) in enumerate(matrices(
                self.rng, [*FLOATS, np.int64, np.uint64, np.complex128], [np.int32], small=True)):
            if coo.dtype.kind in "fc" and coo.nnz:
                coo.data = coo.data / coo.dtype.type(3)
            wanted[f"{number}.mtx"] = coo, "general", message
        for kind in ("symmetric", "skew-symmetric", "hermitian"):
            lower = sp.random_array((40, 40), density=0.1, rng=self.rng)
            dense = np.tril(lower.toarray(), -1)
            full = {"symmetric": dense + dense.T + np.eye(40), "skew-symmetric": dense - dense.T,
                    "hermitian": dense * 1j - dense.T * 1j + np.eye(40)}[kind]
            wanted[kind + ".mtx"] = sp.coo_array(full), kind, kind
            wanted[kind + "array.mtx"] = full, kind, kind
        wanted["array.mtx"] = self.rng.standard_normal((5, 7)), "general", "array"
        for name, (matrix, symmetry, _) in wanted.items():
            scipy.io.mmwrite(self.folder / name, matrix, symmetry=symmetry)
        self.through([(name, "out" + name) for name in wanted])
        for name, (_, _, message) in wanted.items():
            expected = scipy.io.mmread(self.folder / name)
            found = scipy.io.mmread(self.folder / ("out" + name))
            self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype), message)
            dense = [part.toarray() if sp.issparse(part) else part for part in (found, expected)]
            self.assertTrue(np.array_equal(*dense), message)


def setUpModule():
    # TENURE_ISA may ask for instructions that this processor lacks.
    a = np.ones(1, np.float32)
    if library.call("unary", 1, a, a.copy()) == numpy_test.UNSUPPORTED:
        raise unittest.SkipTest(library.message())


def main():
    global library, files_program
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: scipy_test.py LIBRARY_PATH [FILES_PROGRAM]")
    if len(sys.argv) == 3:
        files_program = sys.argv.pop()
    library = Sparse(sys.argv.pop())
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    unittest.main()


if __name__ == "__main__":
    main()
