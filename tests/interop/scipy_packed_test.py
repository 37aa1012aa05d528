"""Products of packed matrices against SciPy's, for scipy_test.py."""

import contextlib
import ctypes

import numpy as np
import scipy.sparse as sp

from numpy_test import lend, scalar_of, view_of, with_attributes
from sparse_library import Refused, lent
from sparse_matrices import FLOATS, SparseTest, compressed, matrices, unique, values_of

AUTO, WIDE, NARROW, BITMAP = LAYOUTS = range(4)
BLOCKS = 4  # of matrices that consist of them


class Info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("layout", ctypes.c_int32), ("dtype", ctypes.c_uint32),
        ("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("nnz", ctypes.c_int64),
        ("size_bytes", ctypes.c_uint64), ("source_bytes", ctypes.c_uint64),
        ("break_even", ctypes.c_int64), ("block_rows", ctypes.c_int64),
        ("block_cols", ctypes.c_int64)]


class Packed(SparseTest):
    def refuse(self):
        raise Refused(self.library.message())

    @contextlib.contextmanager
    def packed(self, view, layout):
        """A handle of what the view is packed into, for as long as it lives."""
        create = self.library.c.tnr_packed_create
        create.restype = ctypes.c_void_p
        made = create(None, *with_attributes(lend([view]), layout, has_output=False))
        handle = ctypes.c_void_p(made) or self.refuse()
        yield handle
        assert self.library.c.tnr_packed_release(handle) == 0

    def info(self, handle):
        info = Info(struct_size=ctypes.sizeof(Info))
        assert self.library.c.tnr_packed_describe(handle, ctypes.byref(info)) == 0
        return info

    def product(self, handle, alpha, b, beta, out):
        alpha, beta = (scalar_of(np.asarray(number, out.dtype)) for number in (alpha, beta))
        passed = with_attributes(lend([alpha, handle, b, beta, out]))
        if self.library.c.tnr_packed_matmul(None, *passed) != 0:
            self.refuse()

    def assert_products(self, view, layout, matrix, dtype, message):
        """A vector and three columns, strided, times the packed view: as of SciPy's matrix."""
        with self.packed(view, layout) as handle:
            info = self.info(handle)
            self.assertEqual((info.rows, info.cols, info.nnz), (*matrix.shape, matrix.nnz), message)
            for columns in ((), (3,)):
                b = values_of(self.rng, dtype, (2 * matrix.shape[1], *columns))[::2]
                out = values_of(self.rng, dtype, (matrix.shape[0], *columns))
                wanted = (2 * (matrix @ b.astype(matrix.dtype)) + 3 * out).astype(dtype)
                self.product(handle, 2, b, 3, out)
                self.assert_dense(out, wanted, f"layout {layout} of {info.layout}, {message}")

    def test_products_are_scipys(self):
        for coo, message in matrices(self.rng, FLOATS):
            for layout in LAYOUTS:
                matrix = compressed(unique(coo) if layout == BITMAP else coo)
                view, kept = lent(matrix)
                self.assert_products(view, layout, matrix, coo.dtype, f"{message}, {len(kept)}")

    def test_halves_are_added_up_in_f32(self):
        for coo, message in matrices(self.rng, [np.float32], small=True):
            matrix = compressed(unique(coo))  # SciPy has no halves
            halves = matrix.data.astype(np.float16)
            view, kept = lent(matrix)
            view.values = view_of(halves)
            for layout in LAYOUTS:
                self.assert_products(view, layout, matrix, np.float16, f"{message}, {len(kept)}")

    def test_blocks_are_found(self):
        for shape in ((8, 8), (4, 4), (8, 1), (1, 8), (2, 2), (4, 1), (1, 4)):
            for dtype in FLOATS:
                places = sp.random_array((33, 300), density=0.05, format="bsr", rng=self.rng)
                matrix = sp.csr_array(sp.kron(places, np.ones(shape), format="bsr"))
                matrix.sort_indices()
                matrix = sp.csr_array(
                    (values_of(self.rng, dtype, matrix.nnz), matrix.indices, matrix.indptr),
                    shape=matrix.shape)
                view, kept = lent(matrix)
                with self.packed(view, AUTO) as handle:
                    info = self.info(handle)
                    self.assertEqual(info.layout, BLOCKS, f"{shape}, {len(kept)}")
                    self.assertEqual((info.block_rows, info.block_cols), shape)
                self.assert_products(view, BLOCKS, matrix, dtype, f"{shape}")

    def test_entries_outside_of_blocks_are_refused(self):
        matrix = sp.csr_array(np.eye(8))
        view, kept = lent(matrix)
        with self.assertRaisesRegex(Refused, "not all in blocks", msg=str(kept)):
            with self.packed(view, BLOCKS):
                pass

    def test_the_choice_follows_the_density(self):
        for density, layout in ((0.02, NARROW), (0.1, NARROW), (0.15, NARROW), (0.25, BITMAP),
                                (0.9, BITMAP)):
            matrix = sp.random_array((200, 300), density=density, format="csr", rng=self.rng)
            matrix.sort_indices()
            view, kept = lent(matrix)
            with self.packed(view, AUTO) as handle:
                info = self.info(handle)
                self.assertEqual(info.layout, layout, f"{density}")
                self.assertEqual(info.source_bytes, sum(part.nbytes for part in kept))
                # As numbers say it: doubles with 4 bytes for an index, 2, or the bits of its row.
                per_entry = {NARROW: 10, BITMAP: 8}[layout] * matrix.nnz
                self.assertLess(abs(info.size_bytes - per_entry), 200 * 64)
                self.assertGreater(info.break_even, 0)

    def test_rows_that_do_not_rise_are_no_bitmap(self):
        for columns in ([1, 0], [1, 1]):
            matrix = sp.csr_array((np.ones(2), columns, [0, 2]), shape=(1, 2))
            view, kept = lent(matrix)
            with self.assertRaisesRegex(Refused, "columns do not rise", msg=str(kept)):
                with self.packed(view, BITMAP):
                    pass
            with self.packed(view, AUTO) as handle:
                self.assertEqual(self.info(handle).layout, NARROW)

