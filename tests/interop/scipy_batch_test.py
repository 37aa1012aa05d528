"""Batches of sparse matrices against lists of SciPy's, for scipy_test.py."""

import ctypes
import itertools

import numpy as np
import scipy.sparse as sp

from numpy_test import UNARY, scalar_of, view_of
from sparse_library import (FORMATS, ORIENTATIONS, SORT, Refused, SparseView, arrays_of, copied,
                            lent, options)
from sparse_matrices import SparseTest, values_of

SHAPES = [(0, 6, 4), (1, 6, 4), (7, 6, 4), (40, 12, 30), (300, 6, 8), (3, 0, 4), (3, 6, 0)]
BLOCK = (2, 2)


def as_format(dense, name):
    """A SciPy matrix of this format, coalesced."""
    made = sp.csr_array(dense)
    if name != "bsr":
        return getattr(made, "to" + name)()
    made = made.tobsr(BLOCK)
    made.sort_indices()  # SciPy meets the blocks line by line
    return made


def lent_batch(dense, name, index=np.int32):
    """SciPy's matrices side by side, each with its own offsets; and the arrays that are lent."""
    parts = [arrays_of(as_format(matrix, name)) for matrix in dense]
    shape, dtype = dense.shape, dense.dtype
    block = BLOCK if name == "bsr" else (1, 1)
    none = np.empty((0, *block) if name == "bsr" else 0, dtype)
    arrays = [np.concatenate([np.empty(0, index), *(part[at] for part in parts)]).astype(index)
              for at in (0, 1)] + [np.concatenate([none, *(part[2] for part in parts)])]
    begins = np.cumsum([0, *(len(part[1]) for part in parts)]).astype(np.int64)
    view = SparseView(struct_size=ctypes.sizeof(SparseView), format=FORMATS[name], rows=shape[1],
                      cols=shape[2], block_rows=block[0], block_cols=block[1])
    view.major, view.minor, view.values = map(view_of, arrays)
    view.batch_offsets = view_of(begins)
    return view, (arrays, begins)


class Batches(SparseTest):
    def cases(self, dtypes=(np.float32, np.int16)):
        """Dense stacks, some of whose matrices have no entries, and a message."""
        for shape, dtype in itertools.product(SHAPES, dtypes):
            dense = values_of(self.rng, dtype, shape)
            dense *= self.rng.random(shape) < 0.3
            dense[1::3] = 0
            yield dense, f"{shape} of {np.dtype(dtype)}"

    def assert_batch(self, view, wanted, message):
        """The arrays of the batch are those of SciPy's matrices."""
        begins = copied(view.batch_offsets)
        self.assertEqual(len(begins), len(wanted) + 1, message)
        parts = [copied(part) for part in (view.major, view.minor, view.values)]
        for at, matrix in enumerate(wanted):
            entries = slice(begins[at], begins[at + 1])
            major, minor, values = arrays_of(matrix)
            own = slice(at * len(major), (at + 1) * len(major))
            if view.format == FORMATS["coo"]:
                own = entries
            for found, expected in zip((parts[0][own], parts[1][entries], parts[2][entries]),
                                       (major, minor, values)):
                self.assertTrue(np.array_equal(found, expected), f"{message}, matrix {at}")

    def test_from_dense_is_scipys(self):
        for (dense, message), name in itertools.product(self.cases(), FORMATS):
            block = BLOCK if name == "bsr" else (0, 0)
            wanted = [as_format(matrix, name) for matrix in dense]
            for layout in (dense, np.asfortranarray(dense), np.repeat(dense, 2, axis=1)[:, ::2]):
                with self.library.held("from_dense", layout, options(name, block=block)) as view:
                    self.assert_batch(view, wanted, f"{name}, {message}")

    def test_to_dense_is_scipys(self):
        for (dense, message), name, index in itertools.product(self.cases(), FORMATS,
                                                               (np.int32, np.int64)):
            view, kept = lent_batch(dense, name, index)
            out = np.full(dense.shape, 99, dense.dtype, order="F")
            self.library.do("to_dense", view, out)
            self.assert_dense(out, dense, f"{name}, {message}, {len(kept)}")

    def test_conversions_are_scipys(self):
        for (dense, message), start, to in itertools.product(self.cases([np.float32]), FORMATS,
                                                             FORMATS):
            view, kept = lent_batch(dense, start)
            block = BLOCK if to == "bsr" else (0, 0)
            # Conversions of one matrix, which other tests find to be SciPy's; from coordinates,
            # which list all elements of a block.
            target = options(to, np.int32, block=block, flags=SORT)
            wanted = [self.library.made("convert", as_format(matrix, start).tocoo(), target)[0]
                      for matrix in dense]
            with self.library.held("convert", view, target) as made:
                self.assert_batch(made, wanted, f"{start} to {to}, {message}, {len(kept)}")

    def test_products_are_scipys(self):
        for (dense, message), name, orientation in itertools.product(
                self.cases([np.float32, np.int32]), FORMATS, ORIENTATIONS):
            view, kept = lent_batch(dense, name)
            used = dense.swapaxes(1, 2) if orientation == "transposed" else dense
            count, rows, cols = used.shape
            for b_shape, out_shape in (
                    ((count, cols, 3), (count, rows, 3)), ((cols, 3), (count, rows, 3)),
                    ((cols,), (count, rows)), ((count, cols), (count, rows))):
                b = values_of(self.rng, dense.dtype, b_shape)
                out = values_of(self.rng, dense.dtype, out_shape)
                own = b if b.ndim == out.ndim else [b] * count
                wanted = np.array([2 * (matrix @ one) + 3 * before
                                   for matrix, one, before in zip(used, own, out)], dense.dtype)
                alpha, beta = (scalar_of(np.asarray(number, dense.dtype)) for number in (2, 3))
                self.library.do("matmul", ORIENTATIONS[orientation], alpha, view, b, beta, out)
                self.assert_dense(out, wanted.reshape(out_shape),
                                  f"{name} {orientation} times {b_shape}, {message}, {len(kept)}")

    def test_functions_keep_the_patterns(self):
        for (dense, message), name in itertools.product(self.cases(), FORMATS):
            block = BLOCK if name == "bsr" else (0, 0)
            wanted = [as_format(matrix, name) for matrix in dense]
            for matrix in wanted:
                matrix.data = np.maximum(matrix.data, 0)
            with self.library.held("from_dense", dense, options(name, block=block)) as view:
                with self.library.held("unary", UNARY["relu"], view) as made:
                    self.assert_batch(made, wanted, f"{name}, {message}")
                    shared = [(one.data, one.owner) for part in ("major", "minor", "batch_offsets")
                              for one in (getattr(view, part), getattr(made, part))]
                    self.assertEqual(shared[::2], shared[1::2], message)

    def test_each_matrix_is_a_view(self):
        dense = values_of(self.rng, np.float32, (5, 6, 4))
        with self.library.held("from_dense", dense, options("csr")) as batch:
            for at, matrix in enumerate(dense):
                view = SparseView(struct_size=ctypes.sizeof(SparseView))
                status = self.library.c.tnr_sparse_batch_at(ctypes.byref(batch), ctypes.c_int64(at),
                                                            ctypes.byref(view))
                self.assertEqual(status, 0, self.library.message())
                b = values_of(self.rng, np.float32, 4)
                out = np.zeros(6, np.float32)
                alpha, beta = (scalar_of(np.float32(number)) for number in (1, 0))
                self.library.do("matmul", ORIENTATIONS["as_is"], alpha, view, b, beta, out)
                self.assert_dense(out, matrix @ b, f"matrix {at}")

    def test_what_takes_one_matrix_says_so(self):
        dense = values_of(self.rng, np.float32, (5, 6, 4))
        with self.library.held("from_dense", dense, options("csr")) as batch:
            with self.assertRaisesRegex(Refused, "a is a batch of 5 matrices"):
                self.library.made("coalesce", 1, batch)
        single, kept = lent(sp.csr_array(dense[0]))
        begins = np.array([0, 99], np.int64)
        single.batch_offsets = view_of(begins)
        with self.assertRaisesRegex(Refused, r"a.batch_offsets\[1\] is 99 ", msg=str(kept)):
            self.library.do("to_dense", single, np.zeros((1, 6, 4), np.float32))
