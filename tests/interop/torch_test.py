"""Sparse matrices against PyTorch: what computes through the shared library's C functions.

    python tests/interop/torch_test.py LIBRARY_PATH

Needs numpy, scipy and torch: several GB, so `./x interop torch` runs this and `./x test` does not.
"""

import itertools
import sys
import unittest
import warnings

import numpy as np
import scipy.sparse as sp
import torch

from numpy_test import BINARY, REDUCE, scalar_of
from sparse_library import ORIENTATIONS, SORTED, UNIQUE, Sparse, options
from sparse_matrices import FLOATS, SparseTest, compressed, matrices, unique, values_of

COALESCED = SORTED | UNIQUE
SUM = 1
DTYPES = [*FLOATS, np.int32, np.int64, np.uint8]


def to_torch(matrix):
    """A PyTorch matrix over the arrays of a SciPy one, but that its coordinates are i64."""
    values = torch.from_numpy(np.ascontiguousarray(matrix.data))
    if matrix.format == "coo":
        places = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
        return torch.sparse_coo_tensor(places, values, matrix.shape)
    make = {"csr": torch.sparse_csr_tensor, "csc": torch.sparse_csc_tensor,
            "bsr": torch.sparse_bsr_tensor}[matrix.format]
    return make(torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices), values,
                size=matrix.shape)


def arrays_of_torch(matrix):
    """Offsets, or row indices, then indices, then values."""
    if matrix.layout == torch.sparse_coo:
        return [part.numpy() for part in (*matrix._indices(), matrix._values())]
    names = {torch.sparse_csr: ("crow_indices", "col_indices"),
             torch.sparse_csc: ("ccol_indices", "row_indices"),
             torch.sparse_bsr: ("crow_indices", "col_indices")}[matrix.layout]
    return [getattr(matrix, name)().numpy() for name in (*names, "values")]


class TorchTest(SparseTest):
    def setUp(self):
        super().setUp()
        warnings.filterwarnings("ignore", message=".*beta state.*")
        warnings.filterwarnings("ignore", message=".*Sparse invariant checks.*")

    def assert_same(self, found, wanted, message):
        """The same numbers in the arrays; PyTorch makes indices i64."""
        mine = ([found.row, found.col] if found.format == "coo" else [found.indptr, found.indices])
        theirs = arrays_of_torch(wanted)
        self.assertEqual(found.data.dtype, theirs[2].dtype, message)
        for one, other in zip((*mine, found.data), theirs):
            self.assertTrue(np.array_equal(one, other), f"{message}\n{one}\n{other}")

    def dense_cases(self):
        for dtype, shape, density in itertools.product(
                DTYPES, [(0, 0), (0, 4), (4, 0), (1, 1), (3, 1000), (1000, 3), (65, 129)],
                (0, 0.01, 0.5, 1)):
            kept = self.rng.random(shape) < density
            dense = np.where(kept, values_of(self.rng, dtype, shape), 0).astype(dtype)
            yield dense, f"{np.dtype(dtype)} {shape}, {density}"

    # ---- conversions ----

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
            csr, csc = compressed(unique(coo)), compressed(unique(coo), by_columns=True)
            for matrix, name, convert in ((csr, "csc", "to_sparse_csc"), (csr, "coo", "to_sparse"),
                                          (csc, "csr", "to_sparse_csr")):
                found, _ = self.library.made("convert", matrix, options(name))
                wanted = getattr(to_torch(matrix), convert)()
                self.assert_same(found, wanted, f"{matrix.format} to {name}, {message}")

    def test_to_dense_is_pytorchs(self):
        for coo, message in matrices(self.rng, DTYPES, [np.int32]):
            wanted = to_torch(coo).to_dense().numpy()
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                out = np.full(coo.shape, 77, coo.dtype)
                self.assert_dense(self.library.to_dense(matrix, out), wanted, message)

    def test_coalescing_is_pytorchs(self):
        for coo, message in matrices(self.rng, DTYPES, [np.int32, np.int64]):
            found, flags = self.library.made("coalesce", coo, SUM)
            self.assertEqual(flags, COALESCED, message)
            self.assert_same(found, to_torch(coo).coalesce(), message)

    # ---- kernels ----

    def test_products_with_dense_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int32, np.int64]):
            for matrix, orientation in itertools.product((coo, compressed(coo)), ORIENTATIONS):
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
            self.library.do("sddmm", scalar_of(one), csr, 0, x, y, out)
            wanted = torch.sparse.sampled_addmm(
                to_torch(csr), torch.from_numpy(x), torch.from_numpy(y), beta=0)
            self.assert_dense(out, wanted.values().numpy(), message)

    def test_softmax_of_rows_is_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int32, np.int64]):
            coalesced = unique(coo)
            wanted = torch.sparse.softmax(to_torch(coalesced), 1).coalesce().values().numpy()
            found = compressed(coalesced)
            self.library.do("softmax", found)
            close = 4e-6 if coo.dtype == np.float32 else 1e-14
            self.assertTrue(np.allclose(found.data, wanted, rtol=close, atol=close), message)

    def test_sums_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int32]):
            theirs = to_torch(coo)
            for matrix, axis in itertools.product((compressed(coo),
                                                   compressed(coo, by_columns=True)), (0, 1)):
                out = np.full(coo.shape[1 - axis], 77, coo.dtype)
                self.library.do("reduce", REDUCE["sum"], matrix, 1 << axis, out)
                wanted = torch.sparse.sum(theirs, axis).to_dense().numpy()
                self.assert_dense(out, wanted, f"axis {axis}, {matrix.format}, {message}")

    def test_sums_of_two_are_pytorchs(self):
        for coo, message in matrices(self.rng, [*FLOATS, np.int64], [np.int64]):
            a = compressed(unique(coo))
            flipped = sp.csr_array(a.toarray()[::-1, ::-1]) if coo.nnz else a
            flipped.indptr, flipped.indices = (part.astype(np.int64) for part in
                                               (flipped.indptr, flipped.indices))
            found, _ = self.library.made("binary", BINARY["add"], a, flipped, flags=COALESCED)
            wanted = to_torch(a.tocoo()) + to_torch(flipped.tocoo())
            self.assert_dense(found.toarray(), wanted.to_dense().numpy(), message)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: torch_test.py LIBRARY_PATH")
    SparseTest.library = Sparse(sys.argv.pop())
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}")
    unittest.main()


if __name__ == "__main__":
    main()
