"""Matrices of PyTorch over the arrays of SciPy's, for the tests beside this file."""

import warnings

import numpy as np
import torch

from sparse_library import SORTED, UNIQUE
from sparse_matrices import SparseTest

COALESCED = SORTED | UNIQUE


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
    """Comparisons with what PyTorch made."""

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
