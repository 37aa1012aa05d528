"""Entries on both sides of number 2^31 against SciPy's small matrices, for scipy_test.py.

The arrays are addresses of which only what is touched becomes memory: the offsets alone say that
there are so many entries.
"""

import ctypes
import itertools
import mmap

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from numpy_test import BINARY, REDUCE, scalar_of, view_of
from sparse_library import ORIENTATIONS, SORT, SORTED, UNIQUE, lent, options
from sparse_matrices import SparseTest, compressed, coordinates_of, unique, values_of

COALESCED = SORTED | UNIQUE
SUM, BY_MAGNITUDE, FROBENIUS = 1, 2, 3
NO_RESERVE = 0x4000  # of Linux, which has no name in this module before Python 3.13
FAR = 2**31


def addresses(count, dtype):
    """An array of zeros that takes memory where it is written."""
    dtype = np.dtype(dtype)
    memory = mmap.mmap(-1, count * dtype.itemsize,
                       flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    return np.frombuffer(memory, dtype, count)


class FarEntries(SparseTest):
    def setUp(self):
        super().setUp()
        if not hasattr(mmap, "MAP_ANONYMOUS"):
            self.skipTest("no such mappings on this system")
        try:
            self.arrays = {index: self.prepared(index) for index in (np.int32, np.int64)}
        except OSError as error:
            self.skipTest(f"no addresses: {error}")

    def prepared(self, index):
        """Where the entries begin; indices; and values, of which those of i64 lie beyond 2^31."""
        first = FAR - 1 - 100 if index == np.int32 else FAR - 40
        return first, addresses(first + 100, index), addresses(first + 100, np.float32)

    def far(self, matrix, flags=COALESCED):
        """The matrix as rows (columns) of something larger."""
        index = matrix.indices.dtype.type
        first, indices, values = self.arrays[index]
        end = first + matrix.nnz
        indices[first:end], values[first:end] = matrix.indices, matrix.data
        offsets = matrix.indptr + index(first)
        view, _ = lent(matrix, flags)
        view.major, view.minor, view.values = map(view_of, (offsets, indices[:end], values[:end]))
        return view, (offsets, values[first:end], values[:end])

    def cases(self):
        """Square matrices of at most 100 entries, of each index type, by rows and by columns."""
        row, col = (self.rng.integers(0, 12, 90) for _ in range(2))
        dense_row = np.full(12, 3), np.arange(12)
        for (row, col), index in itertools.product(((row, col), dense_row),
                                                   (np.int32, np.int64)):
            coo = coordinates_of((12, 12), row.astype(index), col.astype(index),
                                 values_of(self.rng, np.float32, len(row)))
            for by_columns in (False, True):
                matrix = compressed(unique(coo), by_columns)
                yield matrix, f"{matrix.format}, {len(row)} entries, {np.dtype(index)}"

    def assert_same(self, made, wanted, message):
        found, _ = made
        self.assertEqual((found.format, found.shape), (wanted.format, wanted.shape), message)
        self.assert_dense(found.toarray(), wanted.toarray().astype(np.float32), message)

    def test_conversions_are_scipys(self):
        for matrix, message in self.cases():
            view, kept = self.far(matrix)
            for name in ("coo", "csr", "csc"):
                self.assert_same(self.library.made("convert", view, options(name, flags=SORT)),
                                 matrix.asformat(name), f"to {name}, {message}, {len(kept)}")
            found, _ = self.library.made("convert", view, options("bsr", block=(3, 2)))
            self.assert_dense(found.toarray(), matrix.toarray(), message)
            out = np.full(matrix.shape, 77, np.float32)
            self.assert_dense(self.library.to_dense(view, out), matrix.toarray(), message)

    def test_fewer_entries_are_scipys(self):
        for matrix, message in self.cases():
            view, kept = self.far(matrix)
            self.assert_same(self.library.made("coalesce", SUM, view), matrix,
                             f"{message}, {len(kept)}")
            wanted = matrix.copy()
            wanted.eliminate_zeros()
            self.assert_same(self.library.made("prune", view, options()), wanted, message)
            if matrix.format == "csr":
                self.assert_same(self.library.made("top_k", BY_MAGNITUDE, view,
                                                   ctypes.c_int64(12)), matrix, message)
            rows, cols = (self.rng.integers(0, 12, 7) for _ in range(2))
            self.assert_same(self.library.made("select", view, rows, cols), matrix[rows][:, cols],
                             message)
            block = map(ctypes.c_int64, (2, 7, 1, 9))
            self.assert_same(self.library.made("slice", view, *block), matrix[2:9, 1:10], message)

    def test_products_are_scipys(self):
        for matrix, message in self.cases():
            view, kept = self.far(matrix)
            for (name, columns) in itertools.product(ORIENTATIONS, ((), (5,))):
                b, out = (values_of(self.rng, np.float32, (12, *columns)) for _ in range(2))
                used = matrix.T if name == "transposed" else matrix
                wanted = (2 * (used @ b) + 3 * out).astype(np.float32)
                alpha, beta = (scalar_of(np.float32(number)) for number in (2, 3))
                self.library.do("matmul", ORIENTATIONS[name], alpha, view, b, beta, out)
                self.assert_dense(out, wanted, f"{name} times {columns}, {message}, {len(kept)}")
            self.assert_same(self.library.made("product", view, view), matrix @ matrix, message)
            pattern = matrix.astype(bool)
            masked = (matrix @ matrix).multiply(pattern).asformat(matrix.format)
            found, _ = self.library.made("product_masked", view, view, view)
            on_pattern = masked.toarray() * (matrix.toarray() != 0)
            there = np.where(matrix.toarray() != 0, found.toarray(), 0)
            self.assert_dense(there, on_pattern.astype(np.float32), message)

    def test_products_at_entries_are_numpys(self):
        for matrix, message in self.cases():
            view, _ = self.far(matrix)
            x, y = (values_of(self.rng, np.float32, shape) for shape in ((12, 9), (9, 12)))
            row, col = matrix.tocoo().coords
            wanted = np.einsum("ij,ij->i", x[row], y.T[col]).astype(np.float32)
            out = np.empty(matrix.nnz, np.float32)
            self.library.do("sddmm", scalar_of(np.float32(1)), view, x, y, out)
            self.assert_dense(out, wanted, message)

    def test_arithmetic_is_scipys(self):
        for matrix, message in self.cases():
            view, (_, near, whole) = self.far(matrix)
            for name, wanted in (("add", matrix + matrix), ("mul", matrix.multiply(matrix))):
                self.assert_same(self.library.made("binary", BINARY[name], view, view),
                                 wanted.asformat(matrix.format), f"{name}, {message}")
            out = values_of(self.rng, np.float32, (12, 12))
            wanted = out + matrix.toarray()
            self.library.do("accumulate", view, out)
            self.assert_dense(out, wanted, message)
            factors = values_of(self.rng, np.float32, 12)
            wanted = with_factors(matrix, factors)
            self.library.do("scale", factors, 1, view)
            self.assert_dense(near, wanted, f"{message}, {len(whole)}")

    def test_softmax_is_numpys(self):
        for matrix, message in self.cases():
            if matrix.format == "csr":
                view, (_, near, _) = self.far(matrix)
                powers = sp.csr_array((np.exp(matrix.data.astype(np.float64)), matrix.indices,
                                       matrix.indptr), shape=matrix.shape)
                lengths = np.diff(matrix.indptr)
                wanted = powers.data / np.repeat(powers.sum(axis=1), lengths)
                self.library.do("softmax", view)
                self.assertTrue(np.allclose(near, wanted, rtol=4e-6), message)

    def test_fewer_numbers_are_scipys(self):
        for matrix, message in self.cases():
            view, kept = self.far(matrix)
            for axis in (0, 1):
                out, counts = np.full(12, 77, np.float32), np.full(12, 77, np.int64)
                for name in ("sum", "max"):
                    self.library.do("reduce", REDUCE[name], view, 1 << axis, out)
                    wanted = getattr(matrix, name)(axis=axis)
                    wanted = wanted.toarray() if sp.issparse(wanted) else wanted
                    self.assert_dense(out, wanted, f"{name}, {axis}, {message}, {len(kept)}")
                self.library.do("reduce", REDUCE["count"], view, 1 << axis, counts)
                self.assert_dense(counts, matrix.count_nonzero(axis=axis).astype(np.int64), message)
            norm = ctypes.c_double(-1)
            self.library.do("norm", FROBENIUS, view, ctypes.byref(norm))
            self.assertTrue(np.isclose(norm.value, sp.linalg.norm(matrix)), message)
            out = np.full(12, 77, np.float32)
            self.library.do("diagonal", view, out)
            self.assert_dense(out, matrix.diagonal(), message)

    def test_triangular_systems_are_scipys(self):
        for index in (np.int32, np.int64):
            dense = np.tril(values_of(self.rng, np.float32, (12, 12)), -1) / 8 + 2 * np.eye(12)
            matrix = sp.csr_array(dense.astype(np.float32))
            matrix.indptr, matrix.indices = (part.astype(index) for part in
                                             (matrix.indptr, matrix.indices))
            view, kept = self.far(matrix)
            b, out = values_of(self.rng, np.float32, 12), np.full(12, 77, np.float32)
            self.library.do("solve", view, b, out)
            wanted = sp.linalg.spsolve_triangular(matrix.astype(np.float64).tocsr(), b)
            self.assertTrue(np.allclose(out, wanted, rtol=1e-4, atol=1e-4), f"{len(kept)}")

    def test_batches_are_scipys(self):
        for index in (np.int32, np.int64):
            first, indices, values = self.arrays[index]
            dense = values_of(self.rng, np.float32, (3, 6, 5))
            dense[1] = 0
            parts = [sp.csr_array(matrix) for matrix in dense]
            counts = [part.nnz for part in parts]
            begins = first + np.cumsum([0, *counts])
            end = begins[-1]
            indices[first:end] = np.concatenate([part.indices for part in parts])
            values[first:end] = np.concatenate([part.data for part in parts])
            offsets = np.concatenate([part.indptr for part in parts]).astype(index)
            view, _ = lent(parts[0])
            view.major, view.minor, view.values, view.batch_offsets = map(
                view_of, (offsets, indices[:end], values[:end], begins))
            out = np.full(dense.shape, 77, np.float32)
            self.library.do("to_dense", view, out)
            self.assert_dense(out, dense, f"{np.dtype(index)}")
            b, products = values_of(self.rng, np.float32, 5), np.full((3, 6), 77, np.float32)
            one, zero = (scalar_of(np.float32(number)) for number in (1, 0))
            self.library.do("matmul", ORIENTATIONS["as_is"], one, view, b, zero, products)
            self.assert_dense(products, dense @ b, f"{np.dtype(index)}")


def with_factors(matrix, factors):
    """The values of a matrix, times the factor of the column of each."""
    return (matrix.data * factors[matrix.tocoo().coords[1]]).astype(np.float32)
