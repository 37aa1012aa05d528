"""Operations on sparse matrices, for the tests of gradients."""

import dataclasses
import itertools

import numpy as np
import torch

import graphs
from gradient_cases import WIDE, Case, Operand, away_from_zero, positive
from graphs import sized

# Rows and columns of entries, without an entry in some rows and columns.
ENTRY_ROWS = np.array([0, 0, 0, 2, 2, 3, 3, 3, 3])
ENTRY_COLS = np.array([0, 2, 5, 1, 2, 0, 1, 3, 5])
EXTENTS = (4, 6)
FORMATS = {"coo": 1, "csr": 2, "csc": 3, "bsr": 4}
SORTED_UNIQUE = 3


def offsets(of, extent):
    return np.searchsorted(of, np.arange(extent + 1))


@dataclasses.dataclass
class Pattern:
    """The entries of a sparse matrix in the order of its values."""
    name: str
    major: np.ndarray
    minor: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    shape: tuple
    block: tuple = (1, 1)

    @property
    def values(self):
        blocked = self.block != (1, 1)
        return (len(self.minor), *self.block) if blocked else (len(self.minor),)

    def dense(self, values):
        at = (torch.from_numpy(self.rows), torch.from_numpy(self.cols))
        return torch.zeros(self.shape, dtype=values.dtype).index_put(
            at, values.reshape(-1), accumulate=True)

    def at(self, dense):
        return dense[torch.from_numpy(self.rows), torch.from_numpy(self.cols)].reshape(self.values)

    def attributes(self, **given):
        given = {"orientation": 0, "call_flags": 0, **given}
        return sized(graphs.SparseAttributes, format=FORMATS[self.name], flags=SORTED_UNIQUE,
                     block_rows=self.block[0] if self.block != (1, 1) else 0,
                     block_cols=self.block[1] if self.block != (1, 1) else 0, **given)

    def node(self, g, kind, values, others=(), *, op=0, flags=0, **given):
        operands = [g.constant(self.major, "i64"), g.constant(self.minor, "i64"), values, *others]
        return g.node(kind, operands, op=op, numbers=self.shape, flags=flags,
                      attributes=self.attributes(**given))


def patterns():
    order = np.lexsort((ENTRY_ROWS, ENTRY_COLS))
    rows, cols = ENTRY_ROWS, ENTRY_COLS
    # Blocks of 2 x 3 at (0, 1), (2, 0) and (2, 1) of a matrix of 6 x 6.
    at = [(0, 1), (2, 0), (2, 1)]
    block_rows = np.concatenate([np.repeat([2 * r, 2 * r + 1], 3) for r, _ in at])
    block_cols = np.concatenate([np.tile([3 * c, 3 * c + 1, 3 * c + 2], 2) for _, c in at])
    return {
        "coo": Pattern("coo", rows, cols, rows, cols, EXTENTS),
        "csr": Pattern("csr", offsets(rows, 4), cols, rows, cols, EXTENTS),
        "csc": Pattern("csc", offsets(cols[order], 6), rows[order], rows[order], cols[order],
                       EXTENTS),
        "bsr": Pattern("bsr", np.array([0, 1, 1, 3]), np.array([1, 0, 1]), block_rows, block_cols,
                       (6, 6), (2, 3)),
        "empty": Pattern("csr", np.zeros(5, np.int64), np.zeros(0, np.int64),
                         np.zeros(0, np.int64), np.zeros(0, np.int64), EXTENTS),
    }


def row_softmax(p, values):
    rows = torch.from_numpy(p.rows)
    powers = torch.exp(values)
    sums = torch.zeros(p.shape[0], dtype=values.dtype).index_add(0, rows, powers)
    return powers / sums[rows]


def sparse():
    every = patterns()
    for name, p in every.items():
        rows, cols = p.shape
        values = Operand(p.values, away_from_zero)

        def case(kind, text, others, ours, theirs, result=None, places=4, p=p, name=name,
                 values=values):
            return Case(kind, f"{name} {text}".strip(), [values, *others], ours, theirs, WIDE,
                        result, places)
        yield case("sparse_to_dense", "", [], lambda g, v, p=p: p.node(g, "sparse_to_dense", v),
                   lambda v, p=p: p.dense(v))
        for orientation, width in itertools.product((1, 2), (None, 1, 5)):
            extent = rows if orientation == 2 else cols
            yield case("sparse_matmul", f"orientation {orientation}, width {width}",
                       [Operand((extent,) if width is None else (extent, width))],
                       lambda g, v, b, p=p, o=orientation: p.node(
                           g, "sparse_matmul", v, [b], orientation=o),
                       lambda v, b, p=p, o=orientation: (
                           p.dense(v).T if o == 2 else p.dense(v)) @ b)
        for times in (0, 1):
            yield case("sparse_sddmm", f"times values {times}",
                       [Operand((rows, 3)), Operand((3, cols))],
                       lambda g, v, x, y, p=p, t=times: p.node(
                           g, "sparse_sddmm", v, [x, y], call_flags=t),
                       lambda v, x, y, p=p, t=times: p.at(x @ y) * (v if t else 1))
        if name in ("coo", "bsr"):
            continue
        for axis in (0, 1):
            yield case("sparse_scale", f"axis {axis}", [Operand((p.shape[axis],))],
                       lambda g, v, f, p=p, axis=axis: p.node(g, "sparse_scale", v, [f], op=axis),
                       lambda v, f, p=p, axis=axis: v * f[torch.from_numpy(
                           p.cols if axis else p.rows)])
        for op, bits in itertools.product(("sum", "min", "max"), (1, 2, 3)):
            axes = tuple(axis for axis in (0, 1) if bits >> axis & 1)
            # Rows and columns without an extreme at an entry have it at zeros that are no entries.
            function = {"sum": torch.sum, "min": torch.amin, "max": torch.amax}[op]
            yield case("sparse_reduce", f"{op} over {axes}", [],
                       lambda g, v, p=p, op=op, bits=bits: p.node(
                           g, "sparse_reduce", v, op=op, flags=bits),
                       lambda v, p=p, f=function, axes=axes: f(p.dense(v), axes))
        for op, norm in [(1, 1), (2, torch.inf), (3, "fro")]:
            if name == "empty":
                continue  # sums without an entry are equal, which PyTorch shares
            yield case("sparse_norm", f"{norm}", [],
                       lambda g, v, p=p, op=op: p.node(g, "sparse_norm", v, op=op),
                       lambda v, p=p, norm=norm: torch.linalg.matrix_norm(p.dense(v), norm),
                       "f64", 8)
        yield case("sparse_diagonal", "", [], lambda g, v, p=p: p.node(g, "sparse_diagonal", v),
                   lambda v, p=p: torch.diagonal(p.dense(v)))
        yield case("sparse_accumulate", "", [Operand(p.shape)],
                   lambda g, v, out, p=p: p.node(g, "sparse_accumulate", v, [out]),
                   lambda v, out, p=p: out + p.dense(v))
        if p.name == "csr":
            yield case("sparse_softmax", "", [],
                       lambda g, v, p=p: p.node(g, "sparse_softmax", v),
                       lambda v, p=p: row_softmax(p, v))
    rows, cols = np.tril_indices(4)
    triangle = Pattern("csr", offsets(rows, 4), cols, rows, cols, (4, 4))
    for unit_diagonal, width in itertools.product((0, 2), (1, 3)):
        yield Case("sparse_solve", f"flags {unit_diagonal}, width {width}",
                   [Operand(triangle.values, positive), Operand((4, width))],
                   lambda g, v, b, flags=unit_diagonal: triangle.node(
                       g, "sparse_solve", v, [b], call_flags=flags),
                   lambda v, b, unit=bool(unit_diagonal): torch.linalg.solve_triangular(
                       triangle.dense(v), b, upper=False, unitriangular=unit), WIDE, places=64)
    # PyTorch's own products of compressed rows.
    p = every["csr"]
    major, minor = torch.from_numpy(p.major), torch.from_numpy(p.minor)
    yield Case("sparse_matmul", "as PyTorch's", [Operand(p.values), Operand((6, 5))],
               lambda g, v, b: p.node(g, "sparse_matmul", v, [b]),
               lambda v, b: torch.sparse.mm(torch.sparse_csr_tensor(major, minor, v, p.shape), b),
               WIDE, places=4)
