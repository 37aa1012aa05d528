"""Sparse matrices against SciPy: what computes through the shared library's C functions, and files
through a program.

    python tests/interop/scipy_test.py LIBRARY_PATH [FILES_PROGRAM]

Needs numpy and scipy. FILES_PROGRAM is the example `sparse_files` of the Rust crate: it reads a
file and writes the result to another. The demo's program `digits` is in the folder above.
"""

import itertools
import sys
import unittest

import numpy as np
import scipy
import scipy.sparse as sp

import scipy_files_test
from sparse_library import (KEEP_NEGATIVE_ZERO, ORIENTATIONS, SORT, SORTED, UNIQUE, Refused, Sparse,
                            arrays_of, options)
from sparse_matrices import (COMPLEX, FLOATS, INTEGERS, SparseTest, compressed, coordinates_of,
                             matrices, unique, values_of)


class SciPyTest(SparseTest):
    # ---- conversions ----

    def test_compression_keeps_entries_in_their_order(self):
        for coo, message in matrices(self.rng, [np.float32, np.int64, np.complex128, np.uint8]):
            csr, csc = compressed(coo), compressed(coo, by_columns=True)
            self.assert_arrays(self.library.made("convert", coo, options("csr"))[0], csr, message)
            self.assert_arrays(self.library.made("convert", coo, options("csc"))[0], csc, message)

    def test_csr_to_csc_and_back_is_scipys(self):
        for coo, message in matrices(self.rng, [np.float64, np.float32, np.int16]):
            csr, csc = compressed(coo), compressed(coo, by_columns=True)
            for matrix, wanted in ((csr, csr.tocsc()), (csc, csc.tocsr())):
                index = matrix.indices.dtype
                wanted.indptr, wanted.indices = (part.astype(index) for part in
                                                 (wanted.indptr, wanted.indices))
                found, flags = self.library.made("convert", matrix, options(wanted.format))
                self.assertEqual(flags & SORTED, SORTED, message)
                self.assert_arrays(found, wanted, message)

    def test_sorting_is_scipys(self):
        for coo, message in matrices(self.rng, [np.float32, np.int64]):
            # SciPy's order of duplicates is its own.
            coo = unique(coo)
            order = self.rng.permutation(coo.nnz)
            coo = coordinates_of(coo.shape, coo.row[order], coo.col[order], coo.data[order])
            wanted = compressed(coo)
            wanted.has_sorted_indices = False
            wanted.sort_indices()
            found, flags = self.library.made("convert", coo, options("csr", flags=SORT))
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
                found, _ = self.library.made("convert", csr, options("bsr", block=block))
                self.assert_arrays(found, wanted, message)
                self.assert_dense(self.library.made("convert", found, options("csr"))[0].toarray(),
                                  dense, message)
                for order in "CF":
                    out = np.full(shape, 7, dtype, order=order)
                    self.assert_dense(self.library.to_dense(wanted, out), dense, message)
                if index == np.int32:
                    found, _ = self.library.made("from_dense", dense, options("bsr", block=block))
                    self.assert_arrays(found, wanted, f"dense to {message}")

    def test_blocks_come_from_every_format_and_go_to_it(self):
        for block, density in itertools.product([(1, 1), (2, 3), (4, 4), (16, 16)], (0, 0.05, 1)):
            shape = (8 * block[0], 6 * block[1])
            dense = values_of(self.rng, np.float32, shape) * (self.rng.random(shape) < density)
            wanted = sp.csr_array(dense.astype(np.float32)).tobsr(block)
            wanted.sort_indices()
            for name in ("coo", "csr", "csc"):
                message = f"blocks {block}, {name}, density {density}"
                found, _ = self.library.made("convert", wanted, options(name))
                self.assertEqual(found.nnz, wanted.nnz, message)
                self.assert_dense(found.toarray(), wanted.toarray(), message)
                again, _ = self.library.made("convert", found, options("bsr", block=block))
                self.assert_arrays(again, wanted, message)
            for other in ((1, 1), (2 * block[0], block[1]), (block[0], 2 * block[1])):
                if max(other) > 16:
                    continue
                found, _ = self.library.made("convert", wanted, options("bsr", block=other))
                self.assertEqual(found.blocksize, other)
                self.assert_dense(found.toarray(), wanted.toarray(), f"{block} to {other}")

    def test_every_conversion_is_the_same_matrix(self):
        dtypes = [*FLOATS, *INTEGERS, *COMPLEX]
        for coo, message in matrices(self.rng, dtypes, [np.int32], small=True):
            dense = coo.toarray().astype(coo.dtype)
            for start in ("coo", "csr", "csc"):
                matrix = {"coo": coo, "csr": compressed(coo),
                          "csc": compressed(coo, by_columns=True)}[start]
                for end, index in itertools.product(("coo", "csr", "csc"), (None, np.int64)):
                    found, _ = self.library.made("convert", matrix, options(end, index))
                    text = f"{start} to {end}, {message}"
                    self.assertEqual(found.nnz, coo.nnz, text)
                    self.assert_dense(found.toarray().astype(coo.dtype), dense, text)

    def test_to_dense_is_scipys(self):
        for coo, message in matrices(self.rng, [*FLOATS, *INTEGERS], [np.int32], small=True):
            wanted = coo.toarray().astype(coo.dtype)
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                for order in "CF":
                    out = np.full(coo.shape, 7, coo.dtype, order=order)
                    self.assert_dense(self.library.to_dense(matrix, out), wanted, message)
                wide = np.full((coo.shape[0], 2 * coo.shape[1]), 7, coo.dtype)
                self.assert_dense(self.library.to_dense(matrix, wide[:, ::2]), wanted, message)
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
                        found, flags = self.library.made("from_dense", array, options(format_name))
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
                    row, col = (part.astype(np.int32) for part in np.nonzero(kept))
                    coo = coordinates_of(dense.shape, row, col, dense[kept])
                    for wanted in (coo, compressed(coo), compressed(coo, by_columns=True)):
                        found, _ = self.library.made("from_dense", dense, options(
                            wanted.format, predicate=predicate, threshold=limit, mask=mask))
                        self.assert_arrays(found, wanted, f"{predicate} {wanted.format} {message}")

    def test_relu_to_rows_is_that_of_dense_matrices(self):
        for dtype in [*FLOATS, np.int16, np.uint64]:
            for dense, message in self.dense_cases(dtype):
                found, flags = self.library.made("from_dense", dense, options(
                    "csr", predicate="greater", threshold=np.zeros((), dtype)))
                self.assertEqual(flags, SORTED | UNIQUE, message)
                self.assert_arrays(found, sp.csr_array(np.maximum(dense, 0)), message)

    def test_a_block_has_all_of_its_elements(self):
        """Once one of them is chosen, however that was."""
        for block, dtype in itertools.product([(1, 1), (2, 3), (4, 4), (16, 16)],
                                              [np.float32, np.int8]):
            dense = values_of(self.rng, dtype, (5 * block[0], 6 * block[1]))
            limit = np.asarray(0.75 if dtype == np.float32 else 3, dtype)
            mask = self.rng.random(dense.shape) < 0.5 / (block[0] * block[1])
            for predicate, chosen in (("greater", dense > limit), ("mask", mask),
                                      ("magnitude_greater", np.abs(dense) > limit)):
                blocks = chosen.reshape(5, block[0], 6, block[1]).any(axis=(1, 3))
                whole = np.kron(blocks, np.ones(block, bool))
                found, _ = self.library.made("from_dense", dense, options(
                    "bsr", predicate=predicate, threshold=limit, mask=mask, block=block))
                self.assertEqual(found.nnz, whole.sum(), f"{predicate}, {block}")
                self.assert_dense(found.toarray(), dense * whole, f"{predicate}, {block}")

    def test_negative_zeros_are_kept_where_asked(self):
        dense = np.array([[0.0, -0.0, 1.0]], np.float32)
        found, _ = self.library.made("from_dense", dense, options("csr"))
        self.assertEqual(found.indices.tolist(), [2])
        found, _ = self.library.made("from_dense", dense, options("csr", flags=KEEP_NEGATIVE_ZERO))
        self.assertEqual(found.indices.tolist(), [1, 2])
        self.assertTrue(np.signbit(found.data[0]))

    def test_what_i32_cannot_count_says_so(self):
        most = 2**31 - 1
        for rows, fits in ((most, True), (most + 1, True), (most + 2, False)):
            coo = coordinates_of((rows, 1), np.array([rows - 1]), np.array([0]),
                                 np.ones(1, np.float32))
            if fits:
                found, _ = self.library.made("convert", coo, options("coo", np.int32))
                self.assertEqual(found.row.tolist(), [rows - 1])
                continue
            with self.assertRaisesRegex(Refused, "i64"):
                self.library.made("convert", coo, options("coo", np.int32))
            found, _ = self.library.made("convert", coo, options("coo", np.int64))
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
                    found = self.library.matmul(2, matrix, orientation, b, 3, out.copy())
                    self.assert_dense(found, wanted, text)
                    # In other layouts, and over values that the product does not read.
                    wide = np.zeros((2 * cols, *shape[1:]), coo.dtype, order="F")
                    wide[1::2] = b
                    over = np.full(out.shape, 99, coo.dtype, order="F")
                    if over.dtype.kind == "f":
                        over[...] = np.nan
                    found = self.library.matmul(1, matrix, orientation, wide[1::2], 0, over)
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
                found = self.library.matmul(1, bsr, orientation, b, 0, out)
                self.assert_dense(found, (used.toarray() @ b).astype(dtype), f"{block}")

    def test_products_of_two_are_scipys(self):
        for coo, message in matrices(self.rng, FLOATS):
            left, right = compressed(coo), compressed(coo, by_columns=True).T
            for a, b in ((left, right), (right, left), (left.T, right.T), (right.T, left.T)):
                index = coo.row.dtype
                for part in (a, b):
                    part.indptr, part.indices = (numbers.astype(index) for numbers in
                                                 (part.indptr, part.indices))
                found, flags = self.library.made("product", a, b)
                self.assertEqual(flags, SORTED | UNIQUE, message)
                ones = [sp.csr_array(part, copy=True) for part in (a, b)]
                for part in ones:
                    part.data = np.ones(part.nnz)
                self.assertEqual(found.nnz, (ones[0] @ ones[1]).nnz, message)
                difference = found - (a @ b)
                self.assertEqual(difference.count_nonzero(), 0, message)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: scipy_test.py LIBRARY_PATH [FILES_PROGRAM]")
    if len(sys.argv) == 3:
        scipy_files_test.Files.program = sys.argv.pop()
    SparseTest.library = Sparse(sys.argv.pop())
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    unittest.main(module=None, argv=[*sys.argv, "scipy_test", "scipy_algebra_test",
                                                   "scipy_batch_test", "scipy_far_test",
                                                   "scipy_packed_test",
                                                   "scipy_files_test"])


if __name__ == "__main__":
    main()
