"""Sparse matrices that are hard on an algorithm, for the tests beside this file."""

import itertools
import unittest
import warnings

import numpy as np
import scipy.sparse as sp

from numpy_test import UNARY, UNSUPPORTED
from sparse_library import arrays_of

FLOATS = [np.float64, np.float32]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
ALL_ZEROS = "entries that are all zeros"


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
    yield ALL_ZEROS, drawn(20, 30, 90)
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


def coordinates_of(shape, row, col, data):
    """A COO over these arrays: SciPy would choose a width for the indices."""
    made = sp.coo_array((data, (row, col)), shape=shape)
    made.coords = row, col
    return made


def matrices(rng, dtypes, index_dtypes=(np.int32, np.int64), small=False):
    """Unsorted COO matrices, with duplicates and zeros."""
    for (name, (shape, row, col)), dtype, index in itertools.product(
            coordinates(rng), dtypes, index_dtypes):
        if small and name == "large":
            continue
        row, col = row.astype(index), (row if col is None else col).astype(index)
        values = values_of(rng, dtype, len(row))
        if name == ALL_ZEROS:
            values[:] = 0
        coo = coordinates_of(shape, row, col, values)
        yield coo, f"{name} of {np.dtype(dtype)}, {np.dtype(index)}"


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
    """In order and without duplicates: the last of each position."""
    where = coo.row.astype(np.int64) * coo.shape[1] + coo.col
    last = len(where) - 1 - np.unique(where[::-1], return_index=True)[1]
    return coordinates_of(coo.shape, coo.row[last], coo.col[last], coo.data[last])


class SparseTest(unittest.TestCase):
    """With `library`, which the program sets, and comparisons of what it made."""
    library = None

    @classmethod
    def setUpClass(cls):
        # TENURE_ISA may ask for instructions that this processor lacks.
        a = np.ones(1, np.float32)
        if cls.library.call("unary", UNARY["neg"], a, a.copy()) == UNSUPPORTED:
            raise unittest.SkipTest(cls.library.message())

    def setUp(self):
        self.rng = np.random.default_rng(20241121)
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)

    def assert_arrays(self, found, wanted, message):
        """The same format, shape and arrays."""
        self.assertEqual((found.format, found.shape), (wanted.format, wanted.shape), message)
        for name, one, other in zip(("major", "minor", "values"), arrays_of(found),
                                    arrays_of(wanted)):
            self.assertEqual(one.dtype, other.dtype, f"{message}: {name}")
            same = np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
            self.assertTrue(same, f"{message}: {name}\n{one}\n{other}")

    def assert_dense(self, found, wanted, message):
        self.assertEqual((found.dtype, found.shape), (wanted.dtype, wanted.shape), message)
        self.assertTrue(np.array_equal(found, wanted), f"{message}\n{found}\n{wanted}")
