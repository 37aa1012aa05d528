"""Operations on the entries of sparse matrices (combining, selecting, computing) against SciPy and,
where it has no such thing, against a few lines of NumPy."""

import ctypes
import itertools
import pathlib

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg

from numpy_test import BINARY, REDUCE, UNARY, scalar_of
from sparse_library import (JOINS, KEEP_NEGATIVE_ZERO, SORTED, TRIANGLES, UNIQUE, Refused, Triangle,
                            options)
from sparse_matrices import (FLOATS, INTEGERS, SparseTest, compressed, coordinates_of, matrices,
                             unique, values_of)

COMBINE = {"sum": 1, "min": 2, "max": 3, "last": 4}
ORDERS = {"value": 1, "magnitude": 2}
NORMS = {"one": (1, 1), "infinity": (2, np.inf), "frobenius": (3, "fro")}
TIMES_VALUES = 1
UPPER, UNIT_DIAGONAL = 1, 2
COALESCED = SORTED | UNIQUE
COMPUTED = [np.float32, np.float64, np.int32, np.int64]  # dtypes of most operations


def ordered(coo, by_columns=False):
    """Compressed, coalesced: the last entry of each position."""
    return compressed(unique(coo), by_columns)


def both(coo):
    yield compressed(coo)
    yield compressed(coo, by_columns=True)


def with_data(matrix, data):
    """The same pattern with other values; SciPy's own functions may drop what is zero."""
    made = matrix.copy()
    made.data = data
    return made


def kept_of(matrix, kept):
    """The entries for which `kept`, in their order."""
    if matrix.format == "coo":
        return coordinates_of(matrix.shape, matrix.row[kept], matrix.col[kept], matrix.data[kept])
    made = with_data(matrix, matrix.data[kept])
    counts = np.concatenate([[0], np.cumsum(kept)])
    made.indptr = counts[matrix.indptr].astype(matrix.indptr.dtype)
    made.indices = matrix.indices[kept]
    return made


def lines_of(matrix):
    """Slices of the entries of each row; of CSC, column."""
    return [slice(*ends) for ends in itertools.pairwise(matrix.indptr)]


def scipys_own():
    """The matrices of SciPy's own tests, where it comes with them."""
    data = pathlib.Path(scipy.__file__).parent / "sparse" / "tests" / "data"
    for path in sorted(data.glob("cs*.npz")):
        matrix = sp.csr_array(sp.load_npz(path)).astype(np.float64)
        yield matrix.tocoo(), path.name


class Algebra(SparseTest):
    def every(self, dtypes, index_dtypes=(np.int32,), small=True):
        yield from matrices(self.rng, dtypes, index_dtypes, small)
        yield from scipys_own()

    # ---- which entries there are ----

    def test_coalescing_adds_up_as_scipy_does(self):
        for coo, message in self.every([*FLOATS, *INTEGERS], [np.int32, np.int64], small=False):
            csr = coo.tocsr()
            csr.sort_indices()
            for matrix in (coo, *both(coo)):
                found, flags = self.library.made("coalesce", COMBINE["sum"], matrix)
                self.assertEqual((found.format, flags), (matrix.format, COALESCED), message)
                wanted = csr.asformat(matrix.format)
                self.assert_numbers(found, wanted, f"{matrix.format}, {message}")

    def assert_numbers(self, found, wanted, message):
        """As assert_arrays, but for the width of the indices."""
        for matrix in (found, wanted):
            if matrix.format == "coo":
                matrix.coords = tuple(part.astype(np.int64) for part in matrix.coords)
            else:
                matrix.indptr, matrix.indices = (part.astype(np.int64) for part in
                                                 (matrix.indptr, matrix.indices))
        self.assert_arrays(found, wanted, message)

    def test_coalescing_takes_the_least_the_greatest_and_the_last(self):
        for coo, message in self.every([np.float32, np.int8, np.uint64], small=False):
            where = coo.row.astype(np.int64) * coo.shape[1] + coo.col
            order = np.argsort(where, kind="stable")
            starts = np.unique(where[order], return_index=True)[1]
            sorted_data = coo.data[order]
            values = {"last": unique(coo).data}
            for name, ufunc in (("min", np.minimum), ("max", np.maximum)):
                values[name] = ufunc.reduceat(sorted_data, starts) if len(starts) else sorted_data
            for (name, data), start in itertools.product(values.items(), ("coo", "csr", "csc")):
                matrix = {"coo": coo, "csr": compressed(coo),
                          "csc": compressed(coo, by_columns=True)}[start]
                wanted = unique(coo)
                wanted.data = data
                wanted = {"coo": wanted, "csr": compressed(wanted),
                          "csc": compressed(wanted, by_columns=True)}[start]
                found, _ = self.library.made("coalesce", COMBINE[name], matrix)
                self.assert_arrays(found, wanted, f"{name}, {start}, {message}")

    def test_pruning_is_a_comparison(self):
        for coo, message in self.every([*FLOATS, np.int8, np.uint32], [np.int32, np.int64]):
            limit = np.asarray(1, coo.dtype)
            for matrix in (coo, *both(coo)):
                for predicate, kept in (("non_zero", matrix.data != 0),
                                        ("greater", matrix.data > limit),
                                        ("magnitude_greater", np.abs(matrix.data) > limit)):
                    chosen = options(predicate=predicate, threshold=limit)
                    found, _ = self.library.made("prune", matrix, chosen)
                    self.assert_arrays(found, kept_of(matrix, kept), f"{predicate}, {message}")

    def test_pruning_drops_what_scipy_eliminates(self):
        for coo, message in self.every([np.float64, np.int16]):
            chosen = options()
            for matrix in both(coo):
                wanted = matrix.copy()
                wanted.eliminate_zeros()
                self.assert_arrays(self.library.made("prune", matrix, chosen)[0], wanted, message)

    def test_pruning_keeps_what_is_no_number_and_negative_zeros_where_asked(self):
        csr = sp.csr_array(np.ones((1, 4), np.float32))
        csr.data[:] = [np.nan, -0.0, 0.0, -np.inf]
        chosen = options()
        self.assertEqual(self.library.made("prune", csr, chosen)[0].indices.tolist(), [0, 3])
        chosen.flags = KEEP_NEGATIVE_ZERO
        self.assertEqual(self.library.made("prune", csr, chosen)[0].indices.tolist(), [0, 1, 3])
        chosen = options(predicate="greater", threshold=np.float32(5))
        self.assertEqual(self.library.made("prune", csr, chosen)[0].indices.tolist(), [0])

    def test_the_largest_of_each_row_are_those_of_a_stable_sort(self):
        for coo, message in self.every([*FLOATS, np.int8, np.uint32], [np.int32, np.int64]):
            csr = compressed(coo)
            for (name, code), k in itertools.product(ORDERS.items(), (0, 1, 3, coo.shape[1])):
                if k > coo.shape[1]:
                    continue
                keys = csr.data.astype(np.float64)
                keys = np.abs(keys) if name == "magnitude" else keys
                kept = np.zeros(csr.nnz, bool)
                for line in lines_of(csr):
                    kept[line.start + np.argsort(-keys[line], kind="stable")[:k]] = True
                found, _ = self.library.made("top_k", code, csr, ctypes.c_int64(k))
                self.assert_arrays(found, kept_of(csr, kept), f"{k} by {name}, {message}")

    def test_the_largest_of_dense_rows_are_those_of_a_stable_sort(self):
        for dtype, shape in itertools.product((np.float32, np.float64, np.int8),
                                              ((1, 1), (40, 300))):
            dense = values_of(self.rng, dtype, shape)
            counts = (0, 1, shape[1] // 3, shape[1])
            for (name, code), k in itertools.product(ORDERS.items(), counts):
                keys = np.abs(dense.astype(float)) if name == "magnitude" else dense.astype(float)
                chosen = np.sort(np.argsort(-keys, axis=1, kind="stable")[:, :k], axis=1)
                wanted = sp.csr_array((np.take_along_axis(dense, chosen, 1).ravel(),
                                       chosen.ravel().astype(np.int32),
                                       np.arange(shape[0] + 1, dtype=np.int32) * np.int32(k)),
                                      shape=shape)
                found, flags = self.library.made("from_dense_top_k", code, dense,
                                                 ctypes.c_int64(k))
                self.assertEqual(flags, COALESCED)
                self.assert_arrays(found, wanted, f"{k} by {name} of {dtype.__name__}")

    def test_dropout_leaves_what_it_multiplies(self):
        dense = values_of(self.rng, np.float64, (400, 300))
        for probability in (0.0, 0.25, 0.5):
            found, _ = self.library.made("from_dense_dropout", dense, ctypes.c_double(probability),
                                         ctypes.c_uint64(3))
            there = found.toarray() != 0
            self.assertTrue(np.array_equal(found.toarray(), dense / (1 - probability) * there))
            share = there.sum() / np.count_nonzero(dense)
            self.assertAlmostEqual(share, 1 - probability, delta=0.01)

    # ---- parts of matrices ----

    def test_what_is_listed_is_what_scipy_indexes(self):
        for coo, message in self.every([np.float32, np.int8], [np.int32, np.int64]):
            rows, cols = (self.rng.integers(0, extent, 30 if extent else 0)
                          for extent in coo.shape)
            for matrix in both(unique(coo)):
                for names, wanted in (((rows, None), matrix[rows]), ((None, cols), matrix[:, cols]),
                                      ((rows, cols), matrix[rows][:, cols])):
                    found, _ = self.library.made("select", matrix, *names)
                    found.sort_indices()
                    wanted.sort_indices()
                    self.assert_same_entries(found, wanted, message)

    def test_blocks_are_what_scipy_slices(self):
        for coo, message in self.every([np.float64], [np.int32]):
            ends = [np.sort(self.rng.integers(0, extent + 1, 2)) for extent in coo.shape]
            (row, row_end), (col, col_end) = ends
            for matrix in both(unique(coo)):
                numbers = (row, row_end - row, col, col_end - col)
                found, flags = self.library.made("slice", matrix, *map(ctypes.c_int64, numbers),
                                                 flags=COALESCED)
                self.assertEqual(flags, COALESCED)
                self.assert_same_entries(found, matrix[row:row_end, col:col_end], message)

    def assert_same_entries(self, found, wanted, message):
        """SciPy may have changed the width of the indices."""
        self.assertEqual((found.format, found.shape), (wanted.format, wanted.shape), message)
        for name in ("indptr", "indices", "data"):
            one, other = getattr(found, name), getattr(wanted, name)
            self.assertTrue(np.array_equal(one, other), f"{message}: {name}\n{one}\n{other}")

    # ---- arithmetic ----

    def test_joins_are_scipys(self):
        for coo, message in matrices(self.rng, [np.float32, np.complex128], small=True):
            for matrix in (coo, compressed(coo), compressed(coo, by_columns=True)):
                for name, join in JOINS.items():
                    parts = [matrix] * 3
                    found, _ = self.library.made("concat", join, parts, len(parts))
                    wanted = getattr(sp, name)(parts, format=matrix.format)
                    text = f"{name} of {matrix.format}, {message}"
                    self.assertEqual(found.format, matrix.format, text)
                    self.assertEqual(found.nnz, 3 * matrix.nnz, text)
                    self.assert_dense(found.toarray(), wanted.toarray(), text)
                    if matrix.format == "csr" and name == "vstack":
                        self.assertTrue(np.array_equal(found.indices, wanted.indices), text)
                        self.assertTrue(np.array_equal(found.data, wanted.data), text)

    def test_kronecker_products_are_scipys(self):
        b = coordinates_of((3, 4), np.array([0, 0, 2]), np.array([1, 3, 0]), np.array([2, -1, 3]))
        for coo, message in matrices(self.rng, [np.float32, np.int8], small=True):
            b = coordinates_of(b.shape, *(part.astype(coo.row.dtype) for part in (b.row, b.col)),
                               b.data.astype(coo.dtype))
            for by_columns in (False, True):
                one, other = (compressed(part, by_columns) for part in (coo, b))
                for pair in ((one, other), (other, one)):
                    found, _ = self.library.made("kron", *pair)
                    wanted = sp.kron(*pair, format="coo").toarray().astype(coo.dtype)
                    self.assertEqual(found.nnz, pair[0].nnz * pair[1].nnz, message)
                    self.assert_dense(found.toarray(), wanted, message)

    def test_triangles_are_scipys(self):
        for coo, message in matrices(self.rng, [np.float32, np.complex128], small=True):
            for by_columns, name in itertools.product((False, True), TRIANGLES):
                matrix = compressed(coo, by_columns)
                for diagonal in (-9, 0, 1):
                    with_diagonal = Triangle(ctypes.sizeof(Triangle), diagonal)
                    found, _ = self.library.made("triangular", TRIANGLES[name], matrix,
                                                 attribute=with_diagonal)
                    wanted = getattr(sp, name)(coo, diagonal)
                    text = f"{name} {diagonal}, {message}"
                    self.assertEqual(found.nnz, wanted.nnz, text)
                    self.assert_dense(found.toarray(), wanted.toarray(), text)

    def test_masked_products_are_those_that_scipy_multiplies_with_the_mask(self):
        for coo, message in self.every(FLOATS):
            for matrix in both(unique(coo)):
                other = matrix.T.asformat(matrix.format)
                other.sort_indices()
                mask = sp.random_array((coo.shape[0],) * 2, density=0.1, rng=self.rng,
                                       format=matrix.format)
                mask.sort_indices()
                for part in (other, mask):
                    part.indptr, part.indices = (numbers.astype(np.int32) for numbers in
                                                 (part.indptr, part.indices))
                found, _ = self.library.made("product_masked", matrix, other, mask)
                ones = [with_data(part, np.ones(part.nnz)) for part in (matrix, other, mask)]
                pattern = (ones[0] @ ones[1]).multiply(ones[2])
                self.assertEqual(found.nnz, pattern.nnz, message)
                wanted = (matrix @ other).multiply(ones[2])
                self.assertEqual(abs(found - wanted).max() if found.nnz else 0, 0, message)

    def test_arithmetic_of_two_is_scipys(self):
        of_scipy = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b,
                    "mul": lambda a, b: a.multiply(b), "min": lambda a, b: a.minimum(b),
                    "max": lambda a, b: a.maximum(b)}
        for coo, message in self.every([*FLOATS, np.int8, np.int64, np.uint16],
                                       [np.int32, np.int64]):
            places = self.rng.permutation(int(np.prod(coo.shape)))[:2000]
            row, col = (part.astype(coo.row.dtype) for part in
                        np.divmod(np.asarray(places, np.int64), max(coo.shape[1], 1)))
            other = coordinates_of(coo.shape, row, col,
                                   values_of(self.rng, coo.dtype, len(row)))
            for by_columns in (False, True):
                a, b = ordered(coo, by_columns), ordered(other, by_columns)
                ones = [with_data(part, np.ones(part.nnz, bool)) for part in (a, b)]
                for name, compute in of_scipy.items():
                    text = f"{name}, {a.format}, {message}"
                    found, flags = self.library.made("binary", BINARY[name], a, b,
                                                     flags=COALESCED)
                    self.assertEqual(flags, COALESCED, text)
                    pattern = ones[0].multiply(ones[1]) if name == "mul" else ones[0] + ones[1]
                    self.assertEqual(found.nnz, pattern.nnz, text)
                    wanted = compute(a, b)
                    self.assertEqual(found.dtype, wanted.dtype, text)
                    self.assertEqual((found != wanted).nnz, 0, text)

    def test_arithmetic_of_no_numbers_is_that_of_dense_matrices(self):
        special = np.array([0, -0.0, 1, np.nan, np.inf, -np.inf])
        a, b = (np.ravel(part) for part in np.meshgrid(special, special))
        row, col = np.zeros(len(a), np.int32), np.arange(len(a), dtype=np.int32)
        for dtype in FLOATS:
            first, second = (sp.csr_array((part.astype(dtype), (row, col)), shape=(1, len(a)))
                             for part in (a, b))
            for name, compute in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply),
                                  ("min", np.minimum), ("max", np.maximum)):
                found, _ = self.library.made("binary", BINARY[name], first, second,
                                             flags=COALESCED)
                with np.errstate(invalid="ignore"):
                    wanted = compute(first.data, second.data)
                self.assertTrue(np.array_equal(found.data, wanted, equal_nan=True), name)

    def test_accumulating_is_adding_to_dense(self):
        for coo, message in self.every(COMPUTED, [np.int32, np.int64]):
            for matrix, order in itertools.product(both(coo), "CF"):
                out = values_of(self.rng, coo.dtype, coo.shape)
                out = np.array(out, coo.dtype, order=order)
                wanted = out + coo.toarray()
                self.library.do("accumulate", matrix, out)
                self.assert_dense(out, wanted.astype(coo.dtype), message)

    def test_functions_keep_the_pattern(self):
        functions = {"neg": np.negative, "abs": np.abs, "relu": lambda x: np.maximum(x, 0),
                     "sqrt": np.sqrt}
        for coo, message in self.every([*FLOATS, np.int8, np.int64]):
            for matrix, (name, compute) in itertools.product((coo, *both(coo)), functions.items()):
                if name == "sqrt" and coo.dtype.kind != "f":
                    continue
                chosen = options(matrix.format)
                with self.library.held("convert", matrix, chosen) as view:
                    found, _ = self.library.made("unary", UNARY[name], view)
                with np.errstate(invalid="ignore"):
                    wanted = with_data(matrix, compute(matrix.data))
                self.assert_arrays(found, wanted, f"{name}, {message}")

    def test_functions_keep_the_pattern_of_blocks(self):
        for block in [(1, 1), (2, 3), (16, 16)]:
            dense = values_of(self.rng, np.float32, (5 * block[0], 4 * block[1]))
            bsr = sp.csr_array(dense).tobsr(block)
            with self.library.held("convert", bsr, options("bsr", block=block)) as view:
                for name, compute in (("neg", np.negative), ("abs", np.abs)):
                    found, _ = self.library.made("unary", UNARY[name], view)
                    self.assert_dense(found.toarray(), compute(dense) + 0, f"{name} of {block}")
                with self.assertRaisesRegex(Refused, "dense"):
                    self.library.made("unary", UNARY["exp"], view)

    def test_scaling_is_a_product_with_a_diagonal_matrix(self):
        for coo, message in self.every(COMPUTED, [np.int32, np.int64], small=False):
            for matrix, axis in itertools.product(both(coo), (0, 1)):
                factors = values_of(self.rng, coo.dtype, coo.shape[axis])
                diagonal = sp.dia_array((factors[None], 0), shape=(len(factors), len(factors)))
                wanted = diagonal @ matrix if axis == 0 else matrix @ diagonal
                scaled = matrix.copy()
                self.library.do("scale", factors, axis, scaled)
                self.assertTrue(np.array_equal(scaled.indices, matrix.indices), message)
                self.assertEqual((scaled != wanted).nnz, 0, f"axis {axis}, {message}")

    def test_softmax_of_rows(self):
        for coo, message in self.every(FLOATS, [np.int32, np.int64], small=False):
            csr = compressed(coo)
            csr.data = (csr.data * 20).astype(csr.dtype)
            wanted = csr.data.astype(np.float64)
            for line in filter(lambda line: line.stop > line.start, lines_of(csr)):
                powers = np.exp(wanted[line] - wanted[line].max())
                wanted[line] = powers / powers.sum()
            found = csr.copy()
            self.library.do("softmax", found)
            self.assertTrue(np.array_equal(found.indices, csr.indices), message)
            close = 4e-6 if csr.dtype == np.float32 else 1e-14
            self.assertTrue(np.allclose(found.data, wanted, rtol=close, atol=close), message)

    # ---- to fewer numbers ----

    def reduced(self, name, matrix, axis, dtype):
        """Over an axis as NumPy counts them; None: over both."""
        shape = () if axis is None else (matrix.shape[1 - axis],)
        out = np.full(shape, 77, dtype)
        axes = {None: 3, 0: 1, 1: 2}[axis]
        self.library.do("reduce", REDUCE[name], matrix, axes, out, flags=UNIQUE)
        return out

    def test_sums_and_counts_are_scipys(self):
        for coo, message in self.every(COMPUTED, [np.int32, np.int64], small=False):
            summed = np.int64 if coo.dtype.kind == "i" else coo.dtype
            for matrix, axis in itertools.product(both(unique(coo)), (None, 0, 1)):
                text = f"axis {axis}, {matrix.format}, {message}"
                wide = matrix.astype(summed)
                found = self.reduced("sum", matrix, axis, summed)
                wanted = np.asarray(wide.sum(axis=axis), summed)
                if text.endswith(".npz"):
                    self.assertTrue(np.allclose(found, wanted), text)
                else:
                    self.assert_dense(found, wanted, "sum, " + text)
                found = self.reduced("count", matrix, axis, np.int64)
                wanted = np.asarray(matrix.count_nonzero(axis=axis), np.int64)
                self.assert_dense(found, wanted, "count, " + text)

    def test_least_and_greatest_are_scipys(self):
        for coo, message in self.every(COMPUTED, [np.int32, np.int64], small=False):
            for matrix, axis, name in itertools.product(both(unique(coo)), (None, 0, 1),
                                                        ("min", "max")):
                text = f"{name}, axis {axis}, {matrix.format}, {message}"
                left = 1 if axis is None else matrix.shape[1 - axis]
                if 0 in matrix.shape and left > 0:
                    with self.assertRaisesRegex(Refused, "no elements but needs one", msg=text):
                        self.reduced(name, matrix, axis, coo.dtype)
                    continue
                # SciPy refuses to find nothing in no elements.
                wanted = getattr(matrix, name)(axis=axis) if left else np.empty(0, coo.dtype)
                wanted = wanted.toarray() if sp.issparse(wanted) else np.asarray(wanted)
                self.assert_dense(self.reduced(name, matrix, axis, coo.dtype), wanted, text)

    def test_reductions_of_no_numbers_are_those_of_dense_matrices(self):
        for dtype, place in itertools.product(FLOATS, range(6)):
            dense = np.zeros((2, 3), dtype)
            dense.flat[place] = np.nan
            dense.flat[(place + 2) % 6] = -np.inf
            for matrix, axis in itertools.product((sp.csr_array(dense), sp.csc_array(dense)),
                                                  (None, 0, 1)):
                for name in ("min", "max", "sum"):
                    wanted = np.asarray(getattr(dense, name)(axis=axis))
                    found = self.reduced(name, matrix, axis, dtype)
                    self.assertTrue(np.array_equal(found, wanted, equal_nan=True), name)

    def test_norms_are_scipys(self):
        for coo, message in self.every(FLOATS, [np.int32, np.int64], small=False):
            for matrix, (code, order) in itertools.product(both(unique(coo)), NORMS.values()):
                found = ctypes.c_double(-1)
                self.library.do("norm", code, matrix, ctypes.byref(found), flags=UNIQUE)
                wanted = 0
                if 0 not in coo.shape:
                    wanted = sp.linalg.norm(matrix.astype(np.float64), ord=order)
                self.assertTrue(np.isclose(found.value, wanted, rtol=1e-14), f"{order}, {message}")

    def test_diagonals_are_scipys(self):
        for coo, message in self.every(COMPUTED, [np.int32, np.int64], small=False):
            for matrix in both(coo):
                out = np.full(min(coo.shape), 77, coo.dtype)
                self.library.do("diagonal", matrix, out)
                wanted = coo.diagonal() if out.size else out
                self.assert_dense(out, wanted.astype(coo.dtype), message)

    # ---- with dense matrices ----

    def test_triangular_systems_are_scipys(self):
        for coo, message in self.every(FLOATS, [np.int32, np.int64]):
            size = min(coo.shape)
            inside = (coo.row < size) & (coo.col < size) & (coo.row != coo.col)
            part = kept_of(coo, inside)
            dense = np.zeros((size, size))
            np.add.at(dense, (part.row, part.col), part.data / 64)
            np.fill_diagonal(dense, 2 + np.arange(size) % 3)
            matrix = sp.csr_array(dense.astype(coo.dtype))
            matrix.indptr, matrix.indices = (numbers.astype(coo.row.dtype) for numbers in
                                             (matrix.indptr, matrix.indices))
            for upper, unit, shape in itertools.product((0, UPPER), (0, UNIT_DIAGONAL),
                                                        ((size,), (size, 5))):
                b = values_of(self.rng, coo.dtype, shape)
                out = np.full(shape, 77, coo.dtype)
                self.library.do("solve", matrix, b, out, attribute=upper | unit)
                text = f"flags {upper | unit}, {shape}, {message}"
                if size == 0:
                    continue
                triangle = (sp.triu if upper else sp.tril)(matrix.astype(np.float64))
                wanted = sp.linalg.spsolve_triangular(
                    sp.csr_array(triangle), b.astype(np.float64), lower=not upper,
                    unit_diagonal=bool(unit))
                close = 1e-4 if coo.dtype == np.float32 else 1e-11
                self.assertTrue(np.allclose(out, wanted, rtol=close, atol=close), text)

    def test_products_at_entries(self):
        for coo, message in self.every([*FLOATS, np.int16, np.uint64], [np.int32, np.int64]):
            for matrix, width in itertools.product((coo, *both(coo)), (0, 1, 5, 32)):
                x = values_of(self.rng, coo.dtype, (coo.shape[0], width))
                y = values_of(self.rng, coo.dtype, (width, coo.shape[1]))
                row, col = matrix.tocoo().coords
                sums = np.einsum("ij,ij->i", x[row], y.T[col]).astype(coo.dtype)
                for flags in (0, TIMES_VALUES):
                    for right in (y, np.asfortranarray(y)):
                        out = np.full(coo.nnz, 77, coo.dtype)
                        self.library.do("sddmm", scalar_of(np.asarray(3, coo.dtype)), matrix,
                                        x, right, out, attribute=flags)
                        wanted = 3 * sums * (matrix.data if flags else 1)
                        self.assert_dense(out, wanted.astype(coo.dtype),
                                          f"{width}, {flags}, {matrix.format}, {message}")

    def test_products_at_blocks(self):
        for block, dtype, width in itertools.product([(1, 1), (2, 3), (4, 4), (16, 16)],
                                                     [*FLOATS, np.int32], (0, 1, 7)):
            shape = (6 * block[0], 5 * block[1])
            dense = values_of(self.rng, dtype, shape) * (self.rng.random(shape) < 0.1)
            bsr = sp.csr_array(dense.astype(dtype)).tobsr(block)
            x, y = (values_of(self.rng, dtype, extents) for extents in
                    ((shape[0], width), (width, shape[1])))
            for flags in (0, TIMES_VALUES):
                out = np.full(bsr.data.shape, 77, dtype)
                self.library.do("sddmm", scalar_of(np.asarray(3, dtype)), bsr, x, y, out,
                                attribute=flags)
                found = sp.bsr_array((out, bsr.indices, bsr.indptr), shape=shape)
                there = sp.bsr_array((np.ones_like(out), bsr.indices, bsr.indptr), shape=shape)
                times = bsr.toarray() if flags else there.toarray()
                wanted = (3 * (x @ y) * times).astype(dtype)
                self.assert_dense(found.toarray(), wanted, f"{block}, {width}, {flags}")
