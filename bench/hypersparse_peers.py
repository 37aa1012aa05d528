"""Hypersparse matrices of huge extents, and strided dense operands, beside SciPy and NumPy.

    python bench/hypersparse_peers.py LIBRARY [PART OF A NAME]

Needs numpy and scipy. Each row has the time of both, in turns on one thread, and what the process
grows by at most over what it has: beside the operands and the result, of which it should be three
times at most. Matrices are held, so that they have been checked, as those of Rust are.
"""

import ctypes
import pathlib
import sys
import time

import numpy as np
import scipy.sparse as sp

# tests/interop defines how arrays are lent to the library.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "interop"))
import numpy_test as interop
import sparse_library
from sparse_library import FORMATS, ORIENTATIONS, SORTED, UNIQUE, SparseView, options

COALESCED = SORTED | UNIQUE
ROUNDS, SHORTEST = 5, 5e-3  # seconds that calls are repeated for
FEW = 1000


class Library(sparse_library.Sparse):
    def __init__(self, path):
        super().__init__(path)
        self.c.tnr_blob_alloc.restype = ctypes.c_void_p
        self.c.tnr_sparse_create.restype = ctypes.c_void_p
        self.c.tnr_memory_trim.restype = ctypes.c_size_t
        self.kept = []

    def held_array(self, array):
        """A view of a blob with a copy of the array."""
        blob = self.c.tnr_blob_alloc(None, ctypes.c_size_t(array.nbytes))
        view, shape = interop.View(), (ctypes.c_int64 * array.ndim)(*array.shape)
        if not blob or self.c.tnr_blob_view_mut(
                ctypes.c_void_p(blob), ctypes.c_uint64(0),
                ctypes.c_uint32(interop.dtype_of(array.dtype)), ctypes.c_uint32(array.ndim), shape,
                None, ctypes.byref(view)):
            raise RuntimeError(self.message())
        ctypes.memmove(view.data, array.ctypes.data, array.nbytes)
        return view

    def hold(self, matrix, flags=COALESCED):
        """SciPy's matrix, held for the rest of the process."""
        block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        major, minor, values = map(self.held_array, sparse_library.arrays_of(matrix))
        parts = SparseView(
            struct_size=ctypes.sizeof(SparseView), format=FORMATS[matrix.format], flags=flags,
            rows=matrix.shape[0], cols=matrix.shape[1], block_rows=block[0], block_cols=block[1],
            major=major, minor=minor, values=values)
        made = self.c.tnr_sparse_create(ctypes.byref(parts))
        view = SparseView(struct_size=ctypes.sizeof(SparseView))
        if not made or self.c.tnr_sparse_view_of(ctypes.c_void_p(made), ctypes.byref(view)):
            raise RuntimeError(self.message())
        return view

    def call(self, name, *arguments):
        """A function that does the call; what it makes ends at once."""
        function, of_sparse = getattr(self.c, "tnr_" + name), name.removeprefix("sparse_")
        makes = of_sparse != name and of_sparse in self.MAKING
        passed = (interop.with_attributes(interop.lend(arguments)) if of_sparse == name
                  else self.passed(of_sparse, arguments))

        def run():
            made = function(None, *passed)
            if makes and not made or not makes and made != 0:
                raise RuntimeError(self.message())
            if makes:
                self.c.tnr_sparse_release(ctypes.c_void_p(made))
        return run


def best(*works):
    """The least seconds of each, in turns."""
    counts = []
    for work in works:
        start = time.perf_counter()
        work()
        once = time.perf_counter() - start
        counts.append(max(1, int(SHORTEST / max(once, 1e-7))))
    least = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for i, work in enumerate(works):
            start = time.perf_counter()
            for _ in range(counts[i]):
                work()
            least[i] = min(least[i], (time.perf_counter() - start) / counts[i])
    return least


def growth(library, work):
    """The most that the process grows by while `work` is done once, in MiB."""
    library.c.tnr_memory_trim()
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = int(open("/proc/self/statm").read().split()[1]) * 4096
    work()
    status = pathlib.Path("/proc/self/status").read_text()
    return (int(status.split("VmHWM:")[1].split()[0]) * 1024 - before) / 2**20


def table(library, rows, chosen):
    print(f"{'':52}{'ours, us':>11}{'peer':>11}{'ratio':>7}{'ours, MiB':>11}{'peer':>8}")
    for name, ours, theirs in rows:
        if chosen not in name:
            continue
        works = [ours] if theirs is None else [ours, theirs]
        try:
            spent = best(*works)
        except RuntimeError as error:
            print(f"{name:52}{error}", flush=True)
            continue
        grown = [growth(library, work) for work in works]
        line = f"{name:52}{spent[0] * 1e6:11.1f}"
        if theirs is None:
            line += f"{'':18}{grown[0]:11.1f}"
        else:
            line += f"{spent[1] * 1e6:11.1f}{spent[0] / spent[1]:7.2f}"
            line += f"{grown[0]:11.1f}{grown[1]:8.1f}"
        print(line, flush=True)


def random_coo(rows, cols, count, seed=1, dtype=np.float32):
    """In the order of rows, no place twice."""
    rng = np.random.default_rng(seed)
    at = np.unique(rng.integers(0, rows * cols, count))
    index = np.int32 if max(rows, cols) < 2**31 else np.int64
    made = sp.coo_array((rng.random(len(at)).astype(dtype) + 1,
                         ((at // cols).astype(index), (at % cols).astype(index))),
                        shape=(rows, cols))
    made.has_canonical_format = True
    return made


def shuffled(matrix):
    order = np.random.default_rng(3).permutation(matrix.nnz)
    return sp.coo_array((matrix.data[order], (matrix.row[order], matrix.col[order])),
                        shape=matrix.shape)


def canonical(matrix, form):
    made = matrix.asformat(form)
    made.sort_indices()
    made.has_canonical_format = True
    return made


ONE, ZERO = (interop.scalar_of(np.float32(number)) for number in (1, 0))


def times(library, name, held, matrix, x, orientation="as_is"):
    shape = (matrix.shape[0 if orientation == "as_is" else 1], *x.shape[1:])
    out = np.empty(shape, np.float32)
    factor = matrix if orientation == "as_is" else matrix.T
    return (name,
            library.call("sparse_matmul", ORIENTATIONS[orientation], ONE, held, x, ZERO, out),
            lambda: factor @ x)


def of_coordinates(library, shape, count):
    """Every operation that takes COO."""
    title = "COO {}x{}, {}: ".format(*(f"{extent:g}" for extent in shape), count)
    coo = random_coo(*shape, count)
    mixed = shuffled(coo)
    held, loose = library.hold(coo), library.hold(mixed, 0)

    def summed():
        fresh = mixed.copy()
        fresh.sum_duplicates()
    yield title + "coalesce", library.call("sparse_coalesce", 1, loose), summed
    yield title + "sort", library.call("sparse_convert", loose, options("coo", flags=2)), None
    yield title + "copy", library.call("sparse_convert", held, options("coo")), coo.copy
    yield title + "prune", library.call(
        "sparse_prune", held, pruned(1.5)), lambda: coo.data[coo.data > 1.5]
    yield title + "relu", library.call("sparse_unary", 5, held), None
    if max(shape) > 1 << 25:
        return
    yield title + "to CSR", library.call("sparse_convert", held, options("csr")), coo.tocsr
    yield title + "to CSC", library.call("sparse_convert", held, options("csc")), coo.tocsc
    yield title + "mixed to CSR", library.call("sparse_convert", loose, options("csr")), mixed.tocsr
    for columns in (1, 8) if shape[0] * shape[1] < 1e10 else (1,):
        for orientation, extent in (("as_is", shape[1]), ("transposed", shape[0])):
            x = np.ones((extent,) if columns == 1 else (extent, columns), np.float32)
            for which, view, matrix in (("", held, coo), ("mixed, ", loose, mixed)):
                yield times(library, f"{title}{which}times {columns}, {orientation}", view, matrix,
                            x, orientation)


def pruned(threshold):
    return options(predicate="greater", threshold=np.float32(threshold))


def of_compressed(library, form, shape, count):
    """Every operation that takes CSR or CSC."""
    title = "{} {}x{}, {}: ".format(form.upper(), *(f"{extent:g}" for extent in shape), count)
    coo = random_coo(*shape, count)
    matrix, other = canonical(coo, form), canonical(random_coo(*shape, count, 2), form)
    held, b = library.hold(matrix), library.hold(other)
    loose = library.hold(matrix, 0)
    scalar = lambda dtype=np.float32: np.zeros((), dtype)

    def summed():
        fresh = form_of((matrix.data, matrix.indices, matrix.indptr), shape=shape, copy=True)
        fresh.sum_duplicates()
    form_of = type(matrix)
    yield title + "coalesce", library.call("sparse_coalesce", 1, loose), summed
    for to in ("coo", "csr", "csc"):
        yield (title + "to " + to.upper(), library.call("sparse_convert", held, options(to)),
               lambda to=to: matrix.asformat(to, copy=True))
    yield title + "prune", library.call("sparse_prune", held, pruned(1.5)), None
    if form == "csr":
        yield title + "top 1", library.call("sparse_top_k", 1, held, ctypes.c_int64(1)), None
    few = [np.arange(0, extent, max(1, extent // 100)) for extent in shape]
    null = ctypes.c_void_p()
    yield (title + "100 rows", library.call("sparse_select", held, few[0], null),
           lambda: matrix[few[0]])
    yield (title + "100 columns", library.call("sparse_select", held, null, few[1]),
           lambda: matrix[:, few[1]])
    i64 = ctypes.c_int64
    corner = [min(extent, 1000) for extent in shape]
    yield (title + "a corner",
           library.call("sparse_slice", held, i64(0), i64(corner[0]), i64(0), i64(corner[1])),
           lambda: matrix[:corner[0], :corner[1]])
    for op, code in (("add", 1), ("mul", 3), ("max", 6)):
        theirs = {"add": lambda: matrix + other, "mul": lambda: matrix * other,
                  "max": lambda: matrix.maximum(other)}[op]
        yield title + op, library.call("sparse_binary", code, held, b), theirs
    if shape[0] == shape[1]:
        yield title + "product", library.call("sparse_product", held, b), lambda: matrix @ other
        yield title + "masked product", library.call("sparse_product_masked", held, b, b), None
    for op, code in (("sum", 1), ("max", 7)):
        theirs = getattr(matrix, op)
        yield title + op + " of all", library.call("sparse_reduce", code, held, 3, scalar()), theirs
        for axis in (0, 1):
            out = np.zeros(shape[1 - axis], np.float32)
            yield (f"{title}{op} over axis {axis}",
                   library.call("sparse_reduce", code, held, 1 << axis, out),
                   lambda axis=axis, theirs=theirs: theirs(axis=axis))
    for orientation, extent in (("as_is", shape[1]), ("transposed", shape[0])):
        yield times(library, f"{title}times 1, {orientation}", held, matrix,
                    np.ones(extent, np.float32), orientation)
        if shape[0] * shape[1] < 1e10:
            yield times(library, f"{title}times 8, {orientation}", held, matrix,
                        np.ones((extent, 8), np.float32), orientation)
    out = np.zeros(min(shape), np.float32)
    yield title + "diagonal", library.call("sparse_diagonal", held, out), matrix.diagonal
    u, v = (np.ones((extent, 4), np.float32) for extent in shape)
    made = np.zeros(matrix.nnz, np.float32)
    yield title + "sddmm", library.call("sparse_sddmm", ONE, held, u, v.T, made), None
    for axis in (0, 1):
        factors = np.ones(shape[axis], np.float32)
        yield f"{title}scale axis {axis}", library.call("sparse_scale", factors, axis, held), None


def of_blocks(library, shape, count):
    title = "BSR 2x2 {}x{}, {}: ".format(*(f"{extent:g}" for extent in shape), count)
    coo = random_coo(shape[0] // 2, shape[1] // 2, count)
    matrix = sp.kron(coo, np.ones((2, 2), np.float32), "bsr")
    held = library.hold(matrix)
    for to in ("coo", "csr", "csc"):
        yield (title + "to " + to.upper(), library.call("sparse_convert", held, options(to)),
               lambda to=to: matrix.asformat(to, copy=True))
    for orientation, extent in (("as_is", shape[1]), ("transposed", shape[0])):
        yield times(library, f"{title}times 1, {orientation}", held, matrix,
                    np.ones(extent, np.float32), orientation)


def of_one_dense_row(library, side):
    """A row with an entry in each column, all others with one."""
    rows = np.concatenate([np.zeros(side), np.arange(1, side)]).astype(np.int32)
    cols = np.concatenate([np.arange(side), np.arange(1, side)]).astype(np.int32)
    matrix = sp.csr_array((np.ones(len(rows), np.float32), (rows, cols)), shape=(side, side))
    x = np.ones(side, np.float32)
    held = library.hold(matrix)
    yield times(library, f"CSR {side}^2, one dense row: times 1", held, matrix, x)
    yield times(library, f"CSR {side}^2, one dense row: transposed", held, matrix, x, "transposed")


def of_strided_x(library, cols):
    coo = random_coo(1000, cols, 10000)
    matrix = canonical(coo, "csr")
    held = library.hold(matrix)
    wide = np.ones(2 * cols, np.float32)
    for name, x in (("adjacent", wide[:cols]), ("step 2", wide[::2]),
                    ("step 0", np.broadcast_to(wide[:1], (cols,)))):
        yield times(library, f"CSR 1000x{cols:g}, 10000: x of {name}", held, matrix, x)
        yield times(library, f"COO 1000x{cols:g}, 10000: x of {name}", library.hold(coo), coo, x)


def of_dense(library):
    side = 1000
    rng = np.random.default_rng(4)
    for dtype in (np.uint8, np.int16, np.float32, np.float64):
        base = (rng.random((side, 2 * side)) * 100).astype(dtype)
        name = np.dtype(dtype).name
        flat = base.reshape(-1)
        for what, a in (("adjacent", base), ("step 2", base[:, ::2]), ("flat, step 2", flat[::2]),
                        ("transposed", base[:, :side].T), ("backwards", base[:, ::-1]),
                        ("flat, step 3", flat[::3])):
            for op, code in (("max", 7), ("min", 6), ("sum", 1)):
                made = dtype if op != "sum" or np.dtype(dtype).kind == "f" else (
                    np.uint64 if np.dtype(dtype).kind == "u" else np.int64)
                yield (f"dense {op} of {name}, {what}",
                       library.call("reduce", code, a, (1 << a.ndim) - 1, np.zeros((), made)),
                       lambda a=a, op=op: getattr(a, op)())
        a, out = np.ascontiguousarray(base[:, :side]), np.zeros((side, side), dtype)
        for what, b in (("its transpose", a.T), ("step 2", base[:, ::2]),
                        ("backwards", a[::-1, ::-1]),
                        ("a row", np.broadcast_to(a[0], a.shape)),
                        ("a column", np.broadcast_to(a[:, :1], a.shape))):
            yield (f"dense {name} {side}^2, a + {what}", library.call("binary", 1, a, b, out),
                   lambda a=a, b=b, out=out: np.add(a, b, out=out))


def rows(library):
    yield from of_coordinates(library, (2_000_000, 2_000_000), FEW)
    yield from of_coordinates(library, (50, 1_000_000), 100_000)
    for form in ("csr", "csc"):
        for shape, count in (((2_000_000, 2_000_000), FEW), ((50, 1_000_000), 100_000),
                             ((1_000_000, 50), 100_000), ((50, 1_000_000), FEW)):
            yield from of_compressed(library, form, shape, count)
    yield from of_blocks(library, (2_000_000, 2_000_000), FEW)
    yield from of_one_dense_row(library, 20000)
    yield from of_strided_x(library, 1 << 22)
    yield from of_dense(library)


def main():
    path, *chosen = sys.argv[1:]
    library = Library(path)
    table(library, rows(library), chosen[0] if chosen else "")


if __name__ == "__main__":
    main()
