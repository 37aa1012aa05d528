"""Operations on the entries of sparse matrices against PyTorch, for torch_test.py."""

import ctypes
import itertools

import numpy as np
import scipy.sparse as sp
import torch

from numpy_test import BINARY, REDUCE, UNARY
from sparse_library import arrays_of, options
from sparse_matrices import FLOATS, compressed, matrices, unique, values_of
from torch_matrices import COALESCED, TorchTest, arrays_of_torch, to_torch

COMPUTED = [*FLOATS, np.int64]
UPPER, UNIT_DIAGONAL = 1, 2
NORMS = {"one": 1, "infinity": 2, "frobenius": 3}


class Algebra(TorchTest):
    def pairs(self, dtypes):
        """Two coalesced matrices by rows, of one shape."""
        for coo, message in matrices(self.rng, dtypes, [np.int64]):
            a = compressed(unique(coo))
            flipped = sp.csr_array(a.toarray()[::-1, ::-1]) if coo.nnz else a
            flipped.indptr, flipped.indices = (part.astype(np.int64) for part in
                                               (flipped.indptr, flipped.indices))
            yield a, flipped, message

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

    def test_arithmetic_of_two_is_pytorchs(self):
        for a, b, message in self.pairs(COMPUTED):
            ours, theirs = to_torch(a.tocoo()), to_torch(b.tocoo())
            for name, wanted in (("add", ours + theirs), ("sub", ours - theirs),
                                 ("mul", ours * theirs)):
                found, flags = self.library.made("binary", BINARY[name], a, b, flags=COALESCED)
                self.assertEqual(flags, COALESCED, message)
                self.assert_dense(found.toarray(), wanted.to_dense().numpy(), f"{name}, {message}")

    def test_accumulating_is_pytorchs(self):
        for coo, message in matrices(self.rng, COMPUTED, [np.int32]):
            out = values_of(self.rng, coo.dtype, coo.shape)
            wanted = torch.add(torch.from_numpy(out), to_torch(coo)).numpy()
            for matrix in (compressed(coo), compressed(coo, by_columns=True)):
                found = out.copy()
                self.library.do("accumulate", matrix, found)
                self.assert_dense(found, wanted, f"{matrix.format}, {message}")

    def test_functions_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int64]):
            coo = unique(coo)
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                with self.library.held("convert", matrix, options(matrix.format)) as view:
                    for name in ("neg", "abs", "relu", "sqrt"):
                        found, _ = self.library.made("unary", UNARY[name], view)
                        wanted = arrays_of_torch(getattr(torch, name)(to_torch(matrix)))
                        # MKL's square root, in PyTorch, can miss the last bit.
                        close = np.finfo(coo.dtype).eps if name == "sqrt" else 0
                        same = (np.allclose(one, other, rtol=close, atol=0, equal_nan=True)
                                for one, other in zip(arrays_of(found)[1:], wanted[1:]))
                        self.assertTrue(all(same), f"{name}, {matrix.format}, {message}")

    # ---- parts of matrices ----

    def test_what_is_listed_is_what_pytorch_selects(self):
        for coo, message in matrices(self.rng, [np.float32, np.int64], [np.int64]):
            coo = unique(coo)
            lists = [self.rng.integers(0, extent, 30 if extent else 0) for extent in coo.shape]
            for matrix, axis in itertools.product(
                    (compressed(coo), compressed(coo, by_columns=True)), (0, 1)):
                given = (lists[0], None) if axis == 0 else (None, lists[1])
                found, _ = self.library.made("select", matrix, *given)
                wanted = to_torch(coo).index_select(axis, torch.from_numpy(lists[axis]))
                self.assert_dense(found.toarray(), wanted.to_dense().numpy(),
                                  f"axis {axis}, {matrix.format}, {message}")

    def test_blocks_are_what_pytorch_narrows(self):
        for coo, message in matrices(self.rng, [np.float64], [np.int64]):
            coo = unique(coo)
            (row, row_end), (col, col_end) = (np.sort(self.rng.integers(0, extent + 1, 2)).tolist()
                                              for extent in coo.shape)
            numbers = (row, row_end - row, col, col_end - col)
            wanted = to_torch(coo).narrow_copy(0, *numbers[:2]).narrow_copy(1, *numbers[2:])
            for matrix in (compressed(coo), compressed(coo, by_columns=True)):
                found, _ = self.library.made("slice", matrix, *map(ctypes.c_int64, numbers))
                self.assert_dense(found.toarray(), wanted.to_dense().numpy(), message)

    def test_masked_products_are_pytorchs(self):
        for a, b, message in self.pairs(FLOATS):
            b = sp.csr_array(b.T)
            b.indptr, b.indices = b.indptr.astype(np.int64), b.indices.astype(np.int64)
            mask = sp.random_array((a.shape[0],) * 2, density=0.1, rng=self.rng, format="csr")
            mask.sort_indices()
            mask.indptr, mask.indices = (part.astype(np.int64) for part in
                                         (mask.indptr, mask.indices))
            found, _ = self.library.made("product_masked", a, b, mask)
            product = torch.sparse.mm(to_torch(a.tocoo()), to_torch(b.tocoo())).to_dense()
            wanted = product.sparse_mask(to_torch(mask.tocoo()).coalesce())
            self.assert_dense(found.toarray(), wanted.to_dense().numpy(), message)

    # ---- to fewer numbers, and systems ----

    def test_norms_are_pytorchs(self):
        for coo, message in matrices(self.rng, FLOATS, [np.int64]):
            dense = to_torch(unique(coo)).to_dense().double()
            if 0 in coo.shape:
                continue
            wanted = {"one": torch.linalg.norm(dense, 1),
                      "infinity": torch.linalg.norm(dense, torch.inf),
                      "frobenius": torch.norm(to_torch(unique(coo)).double())}
            for matrix, (name, code) in itertools.product(
                    (compressed(unique(coo)), compressed(unique(coo), by_columns=True)),
                    NORMS.items()):
                found = ctypes.c_double(-1)
                self.library.do("norm", code, matrix, ctypes.byref(found), flags=COALESCED)
                self.assertTrue(np.isclose(found.value, wanted[name].item(), rtol=1e-12),
                                f"{name}, {message}")

    def test_triangular_systems_are_pytorchs(self):
        if not torch.backends.mkl.is_available():
            self.skipTest("PyTorch solves these with MKL alone")
        for dtype, size, (upper, unit) in itertools.product(
                FLOATS, (1, 5, 200), itertools.product((0, UPPER), (0, UNIT_DIAGONAL))):
            dense = values_of(self.rng, np.float64, (size, size)) / 64
            dense *= self.rng.random((size, size)) < 0.2
            np.fill_diagonal(dense, 2 + np.arange(size) % 3)
            matrix = sp.csr_array((np.triu if upper else np.tril)(dense).astype(dtype))
            b = values_of(self.rng, dtype, (size, 4))
            out = np.full(b.shape, 77, dtype)
            self.library.do("solve", matrix, b, out, attribute=upper | unit)
            wanted = torch.triangular_solve(
                torch.from_numpy(b), to_torch(matrix), upper=bool(upper),
                unitriangular=bool(unit))[0].numpy()
            close = 1e-4 if dtype == np.float32 else 1e-11
            self.assertTrue(np.allclose(out, wanted, rtol=close, atol=close),
                            f"{np.dtype(dtype)}, {size}, flags {upper | unit}")
