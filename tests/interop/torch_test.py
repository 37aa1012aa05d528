"""Sparse matrices against PyTorch: what computes through the shared library's C functions.

    python tests/interop/torch_test.py LIBRARY_PATH

Needs numpy, scipy and torch: several GB, so `./x interop torch` runs this and `./x test` does not.
Where PyTorch has no counterpart (the 2^31st entry of a row range, the largest of each row), the
tests are in scipy_test.py alone.
"""

import itertools
import sys
import unittest

import numpy as np
import scipy.sparse as sp
import torch

from numpy_test import scalar_of
from sparse_library import ORIENTATIONS, SORT, Sparse, options
from sparse_matrices import FLOATS, SparseTest, compressed, matrices, unique, values_of
from torch_matrices import COALESCED, TorchTest, to_torch

SUM = 1
DTYPES = [*FLOATS, np.int32, np.int64, np.uint8]


class Conversions(TorchTest):
    def dense_cases(self):
        for dtype, shape, density in itertools.product(
                DTYPES, [(0, 0), (0, 4), (4, 0), (1, 1), (3, 1000), (1000, 3), (65, 129)],
                (0, 0.01, 0.5, 1)):
            kept = self.rng.random(shape) < density
            dense = np.where(kept, values_of(self.rng, dtype, shape), 0).astype(dtype)
            yield dense, f"{np.dtype(dtype)} {shape}, {density}"

    def test_from_dense_is_pytorchs(self):
        for dense, message in self.dense_cases():
            theirs = torch.from_numpy(dense)
            for name, convert in (("csr", theirs.to_sparse_csr), ("csc", theirs.to_sparse_csc),
                                  ("coo", theirs.to_sparse)):
                found, _ = self.library.made("from_dense", dense, options(name))
                self.assert_same(found, convert(), f"{name}, {message}")

    def test_blocks_are_pytorchs(self):
        for block, dtype, density in itertools.product([(2, 3), (4, 4), (8, 8), (16, 16)], FLOATS,
                                                       (0, 0.02, 0.3, 1)):
            shape = (9 * block[0], 7 * block[1])
            dense = (self.rng.random(shape) < density).astype(dtype)
            dense *= (1 + np.arange(dense.size).reshape(shape)).astype(dtype)
            found, _ = self.library.made("from_dense", dense, options("bsr", block=block))
            wanted = torch.from_numpy(dense).to_sparse_bsr(block)
            self.assert_same(found, wanted, f"blocks {block}, {density}")
            out = np.full(shape, 77, dtype)
            self.library.to_dense(found, out)
            self.assert_dense(out, to_torch(found).to_dense().numpy(), f"blocks {block}")

    def test_conversions_among_formats_are_pytorchs(self):
        for coo, message in matrices(self.rng, DTYPES, [np.int64]):
            coo = unique(coo)
            csr, csc = compressed(coo), compressed(coo, by_columns=True)
            for matrix, name, convert in ((csr, "csc", "to_sparse_csc"), (csr, "coo", "to_sparse"),
                                          (csc, "csr", "to_sparse_csr"),
                                          (coo, "csr", "to_sparse_csr"),
                                          (coo, "csc", "to_sparse_csc")):
                found, _ = self.library.made("convert", matrix, options(name))
                wanted = getattr(to_torch(matrix), convert)()
                self.assert_same(found, wanted, f"{matrix.format} to {name}, {message}")
            # Ordered by rows there, by columns here.
            found, _ = self.library.made("convert", csc, options("coo", flags=SORT))
            self.assert_same(found, to_torch(csc).to_sparse().coalesce(), f"csc, {message}")

    def test_conversions_to_blocks_and_back_are_pytorchs(self):
        for block, density in itertools.product([(1, 1), (2, 3), (4, 4), (16, 16)], (0, 0.05, 1)):
            shape = (8 * block[0], 6 * block[1])
            dense = values_of(self.rng, np.float32, shape) * (self.rng.random(shape) < density)
            coo = unique(sp.coo_array(dense.astype(np.float32)))
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                wanted = to_torch(matrix).to_sparse_bsr(block)
                found, _ = self.library.made("convert", matrix, options("bsr", block=block))
                message = f"{matrix.format}, blocks of {block}, {density}"
                self.assert_same(found, wanted, message)
                again, _ = self.library.made("convert", found, options("coo", flags=SORT))
                self.assert_same(again, wanted.to_sparse().coalesce(), message)

    def test_relu_to_rows_is_pytorchs(self):
        for dense, message in self.dense_cases():
            if dense.dtype.kind != "u":
                found, _ = self.library.made("from_dense", dense, options(
                    "csr", predicate="greater", threshold=np.zeros((), dense.dtype)))
                wanted = torch.relu(torch.from_numpy(dense)).to_sparse_csr()
                self.assert_same(found, wanted, message)

    def test_to_dense_is_pytorchs(self):
        for coo, message in matrices(self.rng, DTYPES, [np.int32]):
            wanted = to_torch(coo).to_dense().numpy()
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                out = np.full(coo.shape, 77, coo.dtype)
                self.assert_dense(self.library.to_dense(matrix, out), wanted, message)

    def test_coalescing_is_pytorchs(self):
        for coo, message in matrices(self.rng, DTYPES, [np.int32, np.int64]):
            found, flags = self.library.made("coalesce", SUM, coo)
            self.assertEqual(flags, COALESCED, message)
            self.assert_same(found, to_torch(coo).coalesce(), message)


class Products(TorchTest):
    def test_products_with_dense_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int32, np.int64]):
            for matrix, orientation in itertools.product(
                    (coo, compressed(coo), compressed(coo, by_columns=True)), ORIENTATIONS):
                theirs = to_torch(coo)
                theirs = theirs.t() if orientation == "transposed" else theirs
                rows, cols = theirs.shape
                for width in (1, 5, 33):
                    b = values_of(self.rng, coo.dtype, (cols, width))
                    out = values_of(self.rng, coo.dtype, (rows, width))
                    wanted = torch.sparse.addmm(torch.from_numpy(out), theirs, torch.from_numpy(b),
                                                beta=3, alpha=2)
                    found = self.library.matmul(2, matrix, orientation, b, 3, out.copy())
                    text = f"{matrix.format} {orientation} times {width}, {message}"
                    self.assert_dense(found, wanted.numpy(), text)

    def test_products_of_compressed_rows_with_dense_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int32, np.int64]):
            csr = compressed(unique(coo))
            for width in (1, 64):
                b = values_of(self.rng, coo.dtype, (coo.shape[1], width))
                out = np.full((coo.shape[0], width), 77, coo.dtype)
                wanted = to_torch(csr) @ torch.from_numpy(b)
                found = self.library.matmul(1, csr, "as_is", b, 0, out)
                self.assert_dense(found, wanted.numpy(), f"{width}, {message}")

    def test_products_of_blocks_with_dense_are_pytorchs(self):
        # Square ones: of others PyTorch, with MKL, has none.
        for block, dtype, width in itertools.product([(1, 1), (3, 3), (4, 4), (16, 16)], FLOATS,
                                                     (1, 6, 32)):
            shape = (9 * block[0], 7 * block[1])
            dense = values_of(self.rng, dtype, shape) * (self.rng.random(shape) < 0.1)
            bsr = sp.csr_array(dense.astype(dtype)).tobsr(block)
            b = values_of(self.rng, dtype, (shape[1], width))
            out = np.full((shape[0], width), 77, dtype)
            wanted = to_torch(bsr) @ torch.from_numpy(b)
            found = self.library.matmul(1, bsr, "as_is", b, 0, out)
            self.assert_dense(found, wanted.numpy(), f"{block}, {width}")

    def test_products_of_batches_are_pytorchs(self):
        for dtype, shape in itertools.product(FLOATS, [(1, 6, 4), (7, 6, 4), (40, 12, 30)]):
            dense = values_of(self.rng, dtype, shape) * (self.rng.random(shape) < 0.3)
            dense[1::3] = 0
            dense = dense.astype(dtype)
            b = values_of(self.rng, dtype, (shape[0], shape[2], 3))
            wanted = torch.bmm(torch.from_numpy(dense).to_sparse(), torch.from_numpy(b)).numpy()
            one, zero = (scalar_of(np.asarray(number, dtype)) for number in (1, 0))
            for name in ("coo", "csr", "csc"):
                out = np.full(wanted.shape, 77, dtype)
                with self.library.held("from_dense", dense, options(name)) as view:
                    self.library.do("matmul", ORIENTATIONS["as_is"], one, view, b, zero, out)
                self.assert_dense(out, wanted, f"{name}, {shape}")

    def test_products_of_two_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int64]):
            a = compressed(unique(coo))
            b = compressed(unique(coo.T))
            found, flags = self.library.made("product", a, b)
            self.assertEqual(flags, COALESCED, message)
            wanted = torch.sparse.mm(to_torch(a.tocoo()), to_torch(b.tocoo()))
            self.assert_dense(found.toarray(), wanted.to_dense().numpy(), message)

    def test_products_at_entries_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int64]):
            csr = compressed(unique(coo))
            if csr.nnz == 0:
                continue
            x = values_of(self.rng, coo.dtype, (coo.shape[0], 9))
            y = values_of(self.rng, coo.dtype, (9, coo.shape[1]))
            out = np.full(csr.nnz, 77, coo.dtype)
            one = np.ones((), coo.dtype)
            self.library.do("sddmm", scalar_of(one), csr, x, y, out)
            wanted = torch.sparse.sampled_addmm(
                to_torch(csr), torch.from_numpy(x), torch.from_numpy(y), beta=0)
            self.assert_dense(out, wanted.values().numpy(), message)



def main():
    if len(sys.argv) != 2:
        sys.exit("usage: torch_test.py LIBRARY_PATH")
    SparseTest.library = Sparse(sys.argv.pop())
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}")
    unittest.main(module=None, argv=[*sys.argv, "torch_test", "torch_algebra_test"])


if __name__ == "__main__":
    main()
