"""PyTorch and SciPy beside Tenure on sparse matrices: as peers.py, in turn and in one process.

    python bench/sparse_peers.py LIBRARY FOLDER [--quick | --test]

LIBRARY is libtenure.so, FOLDER where SET/python-sparse.json is written, as by peers.py. Sparse
matrices are those that `./x bench sparse` measured, which it keeps in FOLDER/matrices.
"""

import ctypes
import pathlib
import sys

import numpy as np
import scipy
import scipy.sparse
import torch

import peers
from peers import interop
from sparse_library import FORMATS, ORIENTATIONS, SORTED, UNIQUE, SparseView, options
from sparse_library import Sparse as SparseLibrary

SEED = 1
SUM = 1
LONGEST = 4e9  # nanoseconds that the rounds of a group take, about


class Sparse(peers.Tenure):
    def making(self, threads, name, *arguments):
        """As `call`, of what makes a matrix, which ends at once."""
        passed = SparseLibrary.passed(name, arguments)
        function, context = getattr(self.c, "tnr_sparse_" + name), self.context(threads)
        function.restype = ctypes.c_void_p

        def run():
            made = function(context, *passed)
            if not made:
                raise RuntimeError(self.message())
            self.c.tnr_sparse_release(ctypes.c_void_p(made))
        return run

    def held(self, array):
        """A view of a blob with a copy of the array."""
        blob = self.c.tnr_blob_alloc(None, ctypes.c_size_t(array.nbytes))
        view, shape = interop.View(), (ctypes.c_int64 * 1)(*array.shape)
        if not blob or self.c.tnr_blob_view_mut(
                ctypes.c_void_p(blob), ctypes.c_uint64(0),
                ctypes.c_uint32(interop.dtype_of(array.dtype)), ctypes.c_uint32(1), shape, None,
                ctypes.byref(view)):
            raise RuntimeError(self.message())
        ctypes.memmove(view.data, array.ctypes.data, array.nbytes)
        return view

    def matrix(self, form, shape, major, minor, values, flags=SORTED | UNIQUE):
        """A held matrix, for the rest of the process: checked once, as those of Rust are."""
        parts = SparseView(
            struct_size=ctypes.sizeof(SparseView), format=FORMATS[form], flags=flags, rows=shape[0],
            cols=shape[1], block_rows=1, block_cols=1, major=self.held(major),
            minor=self.held(minor), values=self.held(values))
        self.c.tnr_sparse_create.restype = ctypes.c_void_p
        made = self.c.tnr_sparse_create(ctypes.byref(parts))
        view = SparseView(struct_size=ctypes.sizeof(SparseView))
        if not made or self.c.tnr_sparse_view_of(ctypes.c_void_p(made), ctypes.byref(view)):
            raise RuntimeError(self.message())
        return view

    def of(self, matrix):
        """The library's matrix of SciPy's CSR."""
        return self.matrix("csr", matrix.shape, matrix.indptr, matrix.indices, matrix.data)


class Rounds(peers.Rounds):
    """Fewer rounds of what takes long, but three."""

    def measure(self, operation, size, threads, traffic, cases):
        most = self.count
        if most > 1:
            torch.set_num_threads(threads)
            once = sum(self.run(case, 1) for case in cases)
            self.count = max(3, min(most, int(LONGEST / once) // 2 * 2 - 1))
        super().measure(operation, size, threads, traffic, cases)
        self.count = most


def to_torch(matrix):
    return torch.sparse_csr_tensor(
        *map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data)), size=matrix.shape)


def bytes_of(matrix):
    """As in src/sparse.rs: of offsets, i32 indices and values."""
    return 4 * (matrix.shape[0] + 1) + 8 * int(matrix.nnz)


def both(how, library, work):
    return [(library, one, work) for one in how]


def converts(rounds, tenure, operation, dense, written, options_of, others, how):
    """A conversion from dense; `others`: (library, whether it has threads, what does it)."""
    for threads in (1, 2):
        cases = both(("cold", "recycled"), "tenure",
                     tenure.making(threads, "from_dense", dense, options_of))
        for library, has_threads, work in others:
            if threads == 1 or has_threads:
                cases += both(how, library, work)
        rounds.measure(operation, dense.nbytes, threads, dense.nbytes + written, cases)


def random_dense(rng, side, percent):
    dense = rng.random((side, side), np.float32)
    dense[dense >= np.float32(percent / 100)] = 0
    return dense


def from_dense(rounds, tenure, side):
    rng = np.random.default_rng(SEED)
    for percent in (1, 10, 50):
        dense = random_dense(rng, side, percent)
        lent, entries = torch.from_numpy(dense), int(np.count_nonzero(dense))

        def convert(form, written, others):
            converts(rounds, tenure, f"dense to {form}, {percent} %", dense, written,
                     options(form.lower()), others, ("cold",))

        offsets = 4 * (side + 1)
        convert("CSR", offsets + 8 * entries, [
            ("PyTorch", True, lent.to_sparse_csr),
            ("SciPy", False, lambda: scipy.sparse.csr_array(dense))])
        convert("COO", 12 * entries, [
            ("PyTorch", True, lent.to_sparse),
            ("SciPy", False, lambda: scipy.sparse.coo_array(dense))])
        if percent == 10:
            convert("CSC", offsets + 8 * entries, [
                ("PyTorch", True, lent.to_sparse_csc),
                ("SciPy", False, lambda: scipy.sparse.csc_array(dense))])
        if percent < 50:
            to_dense(rounds, tenure, percent, scipy.sparse.csr_array(dense), dense)


def to_dense(rounds, tenure, percent, matrix, out):
    held, theirs = tenure.of(matrix), to_torch(matrix)
    for threads in (1, 2):
        cases = both(("cold", "recycled"), "tenure",
                     tenure.allocating(threads, "sparse_to_dense", held, like=out))
        cases += both(("cold", "recycled"), "PyTorch", theirs.to_dense)
        if threads == 1:
            cases += both(("cold", "recycled"), "SciPy", matrix.toarray)
        rounds.measure(f"CSR to dense, {percent} %", out.nbytes, threads,
                       out.nbytes + bytes_of(matrix), cases)


def from_blocks(rounds, tenure, side):
    blocks = side // 4
    present = np.random.default_rng(SEED).random((blocks, blocks)) < 0.1
    dense = np.repeat(np.repeat(present, 4, 0), 4, 1).astype(np.float32)
    lent, count = torch.from_numpy(dense), int(present.sum())
    converts(rounds, tenure, "dense to BSR 4x4, 10 % of blocks", dense,
             4 * (blocks + 1) + 68 * count, options("bsr", block=(4, 4)),
             [("PyTorch", True, lambda: lent.to_sparse_bsr((4, 4)))], ("cold",))


def rectified(rounds, tenure, side):
    rng = np.random.default_rng(SEED)
    for name, negative in (("normal", 0.5), ("90 % negative", 0.9)):
        dense = np.abs(rng.standard_normal((side, side), np.float32)) + np.float32(1e-30)
        dense[rng.random((side, side), np.float32) < negative] *= -1
        lent, entries = torch.from_numpy(dense), int(np.count_nonzero(dense > 0))
        converts(rounds, tenure, f"sparse relu, {name}", dense, 4 * (side + 1) + 8 * entries,
                 options("csr", predicate="greater", threshold=np.float32(0)),
                 [("PyTorch", True, lambda: torch.relu(lent).to_sparse_csr())], ("cold",))


def kept(folder, name, *parts):
    """Arrays of a matrix that `./x bench sparse` keeps; None, with a message, without them."""
    dtypes = {"values": np.float32}
    paths = [folder / "matrices" / f"{name}.{part}" for part in parts]
    if not all(path.exists() for path in paths):
        print(f"skipped: {name}, of which there is nothing yet: ./x bench sparse")
        return None
    return [np.fromfile(path, dtypes.get(part, np.int32)) for path, part in zip(paths, parts)]


def kept_csr(folder, name):
    parts = kept(folder, name, "offsets", "indices", "values")
    if parts is None:
        return None
    offsets, indices, values = parts
    side = len(offsets) - 1
    matrix = scipy.sparse.csr_array((values, indices, offsets), shape=(side, side))
    matrix.has_canonical_format = True
    return matrix


def conversions(rounds, tenure, folder):
    """Among sparse formats."""
    matrix = kept_csr(folder, "uniform-10")
    if matrix is None:
        return
    held, theirs, size = tenure.of(matrix), to_torch(matrix), bytes_of(matrix)
    for threads in (1, 2):
        how = ("cold", "recycled")
        cases = both(how, "tenure", tenure.making(threads, "convert", held, options("csc")))
        cases += both(how, "PyTorch", theirs.to_sparse_csc)
        cases += both(how, "SciPy", matrix.tocsc)
        rounds.measure("CSR to CSC, 10 %", size, threads, 2 * size, cases)


def coalescing(rounds, tenure, side):
    """A tenth as many entries as a square has elements, in no order, some places twice."""
    rng = np.random.default_rng(SEED)
    count = side * side // 10
    rows, cols = (rng.integers(side, size=count, dtype=np.int32) for _ in range(2))
    values = rng.random(count, np.float32)
    held = tenure.matrix("coo", (side, side), rows, cols, values, flags=0)
    places = torch.from_numpy(np.stack([rows, cols]).astype(np.int64))
    theirs = torch.sparse_coo_tensor(places, torch.from_numpy(values), (side, side))
    matrix = scipy.sparse.coo_array((values, (rows, cols)), shape=(side, side))
    written = 12 * int(matrix.tocsr().nnz)
    for threads in (1, 2):
        how = ("cold", "recycled")
        cases = both(how, "tenure", tenure.making(threads, "coalesce", SUM, held))
        cases += both(("cold",), "PyTorch", theirs.coalesce)
        cases += both(("cold",), "SciPy", matrix.tocsr)  # Its fastest way to add them up.
        rounds.measure("coalesce", 12 * count, threads, 12 * count + written, cases)


def times_dense(rounds, tenure, operation, matrix, columns, dense=None):
    """A matrix, which also is the dense one, times one or more columns."""
    shape = (matrix.shape[1], columns) if columns > 1 else (matrix.shape[1],)
    b = np.resize(np.arange(1, 4094, dtype=np.float32), shape) / 4096
    out = np.zeros_like(b)
    held, theirs, lent, into = tenure.of(matrix), to_torch(matrix), *map(torch.from_numpy, (b, out))
    one, zero = interop.scalar_of(np.float32(1)), interop.scalar_of(np.float32(0))
    for threads in (1, 2):
        own = tenure.call(threads, "sparse_matmul", ORIENTATIONS["as_is"], one, held, b, zero, out)
        cases = [
            ("tenure", "into", own),
            ("PyTorch", "allocates", lambda: theirs @ lent),
            ("SciPy", "allocates", lambda: matrix @ b)]
        if dense is not None:
            cases.append(("PyTorch, dense", "into", lambda: torch.mm(dense, lent, out=into)))
        rounds.measure(operation, bytes_of(matrix), threads,
                       bytes_of(matrix) + b.nbytes + out.nbytes, cases)


def squared(rounds, tenure, operation, matrix):
    """A matrix times itself."""
    held, theirs = tenure.of(matrix), to_torch(matrix)
    written = bytes_of(matrix @ matrix)
    for threads in (1, 2):
        cases = both(("cold", "recycled"), "tenure", tenure.making(threads, "product", held, held))
        cases += both(("recycled",), "PyTorch", lambda: theirs @ theirs)
        cases += both(("recycled",), "SciPy", lambda: matrix @ matrix)
        rounds.measure(operation, bytes_of(matrix), threads, 2 * bytes_of(matrix) + written, cases)


def products(rounds, tenure, folder):
    for percent in (1, 10):
        matrix = kept_csr(folder, f"uniform-{percent}")
        if matrix is not None:
            dense = torch.from_numpy(matrix.toarray()) if percent == 10 else None
            times_dense(rounds, tenure, f"SpMM, 64 columns, {percent} %", matrix, 64, dense)
    for name in ("RMAT", "Poisson", "banded", "blocks of 4"):
        matrix = kept_csr(folder, name)
        if matrix is not None:
            times_dense(rounds, tenure, f"SpMV, {name}", matrix, 1)
        matrix = kept_csr(folder, "RMAT-squared") if name == "RMAT" else matrix
        if matrix is not None and name != "blocks of 4":
            squared(rounds, tenure, f"SpGEMM, {name}", matrix)


def main():
    library, folder, *flags = sys.argv[1:]
    scale = flags[0].removeprefix("--") if flags else "full"
    folder = pathlib.Path(folder)
    side = {"test": 256, "quick": 4096}.get(scale, 8192)
    tenure = Sparse(library)
    rounds = Rounds(scale, tenure)
    record = peers.Record("python-sparse", tenure, {"SciPy": scipy.__version__})
    from_dense(rounds, tenure, side)
    from_blocks(rounds, tenure, side)
    rectified(rounds, tenure, side)
    conversions(rounds, tenure, folder)
    coalescing(rounds, tenure, side)
    products(rounds, tenure, folder)
    record.write(folder, rounds.rows)


if __name__ == "__main__":
    main()
