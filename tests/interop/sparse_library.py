"""Sparse matrices of SciPy and the shared library's C functions: the structs, and who lends what.

For the tests beside this file and for the benches. Needs numpy and scipy.
"""

import contextlib
import ctypes
import dataclasses

import numpy as np
import scipy.sparse as sp

from numpy_test import Library, Scalar, View, dtype_of, lend, scalar_of, view_of, with_attributes

FORMATS = {"coo": 1, "csr": 2, "csc": 3, "bsr": 4}
NAMES = {code: name for name, code in FORMATS.items()}
SORTED, UNIQUE = 1, 2
KEEP_NEGATIVE_ZERO, SORT = 1, 2
PREDICATES = {"non_zero": 0, "greater": 1, "magnitude_greater": 2, "mask": 3}
JOINS = {"vstack": 1, "hstack": 2, "block_diag": 3}
TRIANGLES = {"tril": 1, "triu": 2}
ORIENTATIONS = {"as_is": 1, "transposed": 2}


class SparseView(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("owner", ctypes.c_uint64), ("format", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
        ("block_rows", ctypes.c_int64), ("block_cols", ctypes.c_int64), ("major", View),
        ("minor", View), ("values", View), ("batch_offsets", View)]


class FromDense(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("index_dtype", ctypes.c_uint32),
        ("predicate", ctypes.c_int32), ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
        ("block_rows", ctypes.c_int64), ("block_cols", ctypes.c_int64), ("threshold", Scalar),
        ("mask", ctypes.POINTER(View))]


class Convert(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("index_dtype", ctypes.c_uint32),
        ("flags", ctypes.c_uint32), ("block_rows", ctypes.c_int64), ("block_cols", ctypes.c_int64)]


class Prune(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("predicate", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("threshold", Scalar)]


@dataclasses.dataclass
class Options:
    """The format of a result, and the attributes of the functions that take such options."""
    format: int
    index_dtype: int
    predicate: int
    flags: int
    block_rows: int
    block_cols: int
    threshold: Scalar
    mask: ctypes.POINTER(View)

    def attributes(self, struct):
        made = struct(struct_size=ctypes.sizeof(struct))
        for name, _ in struct._fields_:
            if name not in ("struct_size", "reserved"):
                setattr(made, name, getattr(self, name))
        return made


class Triangle(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("diagonal", ctypes.c_int64)]


def options(format_name=None, index_dtype=None, predicate="non_zero", flags=0, block=(0, 0),
            threshold=None, mask=None):
    """Without a format those of `prune`."""
    is_above = predicate in ("greater", "magnitude_greater")
    return Options(
        format=FORMATS.get(format_name), flags=flags, predicate=PREDICATES[predicate],
        index_dtype=0 if index_dtype is None else dtype_of(index_dtype),
        block_rows=block[0], block_cols=block[1],
        threshold=scalar_of(threshold) if is_above else Scalar(),
        mask=ctypes.pointer(view_of(mask)) if predicate == "mask" else None)


def arrays_of(matrix):
    """Offsets, or row indices, then indices, then values."""
    if matrix.format == "coo":
        return [np.ascontiguousarray(part) for part in (matrix.row, matrix.col, matrix.data)]
    return [matrix.indptr, matrix.indices, np.ascontiguousarray(matrix.data)]


def lent(matrix, flags=0):
    """A SciPy matrix lent as it lies; the arrays beside it keep its memory alive."""
    arrays = arrays_of(matrix)
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    view = SparseView(struct_size=ctypes.sizeof(SparseView), format=FORMATS[matrix.format],
                      flags=flags, rows=matrix.shape[0], cols=matrix.shape[1],
                      block_rows=block[0], block_cols=block[1])
    view.major, view.minor, view.values = map(view_of, arrays)
    return view, arrays


def lent_list(matrices, flags=0):
    """Matrices as a list of pointers to them, and what keeps their memory alive."""
    kept = [lent(matrix, flags) for matrix in matrices]
    pointers = [ctypes.pointer(view) for view, _ in kept]
    return (ctypes.POINTER(SparseView) * len(kept))(*pointers), kept


def numpy_dtype(code):
    kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}[code & 0xff]
    return np.dtype(f"{kind}{(code >> 8 & 0xff) // 8}")


def copied(view):
    shape = tuple(view.shape[:view.rank])
    raw = ctypes.string_at(view.data, view.size_bytes) if view.size_bytes else b""
    return np.frombuffer(bytearray(raw), numpy_dtype(view.dtype)).reshape(shape)


class Refused(Exception):
    pass


class Sparse(Library):
    MAKING = ("from_dense", "convert", "product", "coalesce", "prune", "top_k", "binary", "unary",
              "product_masked", "select", "slice", "from_dense_top_k", "from_dense_dropout",
              "concat", "kron", "triangular")
    WITH_OPTIONS = {"from_dense": FromDense, "convert": Convert, "prune": Prune}

    def __init__(self, path):
        super().__init__(path)
        for name in self.MAKING:
            getattr(self.c, "tnr_sparse_" + name).restype = ctypes.c_void_p
        self.c.tnr_sparse_view_of.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.c.tnr_sparse_release.argtypes = [ctypes.c_void_p]

    @classmethod
    def passed(cls, name, arguments, attribute=None):
        """The arguments as tnr_sparse_<name> takes them; what makes a matrix returns it."""
        if name in cls.WITH_OPTIONS:
            *operands, given = arguments
            formats = [] if name == "prune" else [given.format]
            return lend([*formats, *operands, given.attributes(cls.WITH_OPTIONS[name])])
        return with_attributes(lend(arguments), attribute, has_output=name not in cls.MAKING)

    def called(self, name, arguments, flags, attribute=None):
        """The result of tnr_sparse_<name>; matrices are lent with the flags, arrays as they lie."""
        kept = [lent(argument, flags) if sp.issparse(argument) else
                lent_list(argument, flags) if isinstance(argument, list) else (argument, None)
                for argument in arguments]
        passed = self.passed(name, [argument for argument, _ in kept], attribute)
        return getattr(self.c, "tnr_sparse_" + name)(None, *passed)

    def do(self, name, *arguments, flags=0, attribute=None):
        """Calls tnr_sparse_<name>, which writes to its last argument."""
        if self.called(name, arguments, flags, attribute) != 0:
            raise Refused(self.message())

    @contextlib.contextmanager
    def held(self, name, *arguments, flags=0, attribute=None):
        """The view of what tnr_sparse_<name> makes, for as long as it lives."""
        handle = self.called(name, arguments, flags, attribute)
        if not handle:
            raise Refused(self.message())
        view = SparseView(struct_size=ctypes.sizeof(SparseView))
        assert self.c.tnr_sparse_view_of(handle, ctypes.byref(view)) == 0
        assert self.c.tnr_sparse_check(ctypes.byref(view)) == 0, self.message()
        yield view
        assert self.c.tnr_sparse_release(handle) == 0

    def made(self, name, *arguments, flags=0, attribute=None):
        """The matrix that tnr_sparse_<name> makes, as SciPy has it, and its flags."""
        with self.held(name, *arguments, flags=flags, attribute=attribute) as view:
            major, minor, values = map(copied, (view.major, view.minor, view.values))
            shape = (view.rows, view.cols)
            parts = (values, (major, minor)) if view.format == 1 else (values, minor, major)
            make = getattr(sp, NAMES[view.format] + "_array")
            if view.format == FORMATS["bsr"]:
                block = (view.block_rows, view.block_cols)
                return make(parts, shape=shape, blocksize=block), view.flags
            return make(parts, shape=shape), view.flags

    def to_dense(self, matrix, out):
        self.do("to_dense", matrix, out)
        return out

    def matmul(self, alpha, matrix, orientation, b, beta, out):
        alpha, beta = (scalar_of(np.asarray(number, out.dtype)) for number in (alpha, beta))
        self.do("matmul", ORIENTATIONS[orientation], alpha, matrix, b, beta, out)
        return out
