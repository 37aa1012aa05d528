"""Files that SciPy wrote, read by the library, and files that it wrote, read by SciPy."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

from sparse_library import arrays_of
from sparse_matrices import COMPLEX, FLOATS, INTEGERS, compressed, matrices


class Files(unittest.TestCase):
    program = None  # which the program of the tests sets

    def setUp(self):
        if self.program is None:
            self.skipTest("no program to read and write files with")
        self.rng = np.random.default_rng(20241121)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def through(self, pairs):
        """Has the program read the first and write the second of each pair of files."""
        names = [str(self.folder / name) for pair in pairs for name in pair]
        done = subprocess.run([self.program, *names], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_npz(self):
        wanted = {}
        for number, (coo, message) in enumerate(matrices(
                self.rng, [*FLOATS, *INTEGERS, *COMPLEX, np.bool_], small=True)):
            for form in (coo, compressed(coo), compressed(coo, by_columns=True)):
                wanted[f"{number}{form.format}.npz"] = form, message
        for block in [(1, 1), (2, 3), (16, 4)]:
            dense = self.rng.integers(0, 2, (4 * block[0], 5 * block[1])).astype(np.float32)
            wanted[f"{block[0]}.npz"] = sp.csr_array(dense).tobsr(block), f"blocks of {block}"
        for number, (name, (matrix, _)) in enumerate(wanted.items()):
            sp.save_npz(self.folder / name, matrix, compressed=number % 2 == 0)
        self.through([(name, "out" + name) for name in wanted])
        for name, (matrix, message) in wanted.items():
            found = sp.load_npz(self.folder / ("out" + name))
            self.assertEqual(found.format, matrix.format, message)
            self.assertEqual((found.shape, found.dtype), (matrix.shape, matrix.dtype), message)
            for one, other in zip(arrays_of(found), arrays_of(matrix)):
                self.assertTrue(np.array_equal(one, other), message)

    def test_npz_of_other_machines_and_indices(self):
        """Values in either byte order, indices of every integer, blocks in column-major order."""
        dense = self.rng.integers(0, 3, (6, 8)).astype(np.float64)
        integers = [np.dtype(code).newbyteorder(order) for code in "bhilBHIL" for order in "<>"]
        wanted = {}
        for form in ("csr", "csc", "bsr", "coo"):
            for number, integer in enumerate(integers):
                matrix = sp.csr_array(dense).tobsr((2, 2)) if form == "bsr" else \
                    sp.coo_array(dense).asformat(form)
                value = np.dtype("fdFDhil"[number % 7]).newbyteorder("<>"[number % 2])
                matrix.data = matrix.data.astype(value)
                if form == "coo":
                    matrix.coords = tuple(axis.astype(integer) for axis in matrix.coords)
                else:
                    matrix.indices = matrix.indices.astype(integer)
                    matrix.indptr = matrix.indptr.astype(integer)
                wanted[f"{form}{number}.npz"] = matrix, dense
        for blocksize in ((6, 8), (2, 4)):
            blocks = sp.bsr_array(dense, blocksize=blocksize)
            blocks.data = np.asfortranarray(blocks.data)
            wanted[f"blocks{blocksize}.npz"] = blocks, dense
        for number, (name, (matrix, _)) in enumerate(wanted.items()):
            sp.save_npz(self.folder / name, matrix, compressed=number % 2 == 0)
        self.through([(name, "out" + name) for name in wanted])
        for name, (matrix, expected) in wanted.items():
            found = sp.load_npz(self.folder / ("out" + name))
            self.assertEqual(found.format, matrix.format, name)
            self.assertEqual(found.dtype, matrix.data.dtype.newbyteorder("="), name)
            self.assertTrue(np.array_equal(found.toarray(), expected), name)

    def test_npz_of_scipys_own_tests(self):
        data = pathlib.Path(scipy.__file__).parent / "sparse" / "tests" / "data"
        found = sorted(data.glob("cs*.npz"))
        if not found:
            self.skipTest("this SciPy comes without its tests")
        for path in found:
            (self.folder / path.name).write_bytes(path.read_bytes())
        self.through([(path.name, "out" + path.name) for path in found])
        for path in found:
            wanted = sp.load_npz(path)
            self.assertEqual((wanted != sp.load_npz(self.folder / ("out" + path.name))).nnz, 0)

    def test_the_demo(self):
        data = pathlib.Path(__file__).parents[2] / "rust/tenure/examples/data/digits.npy"
        demo = pathlib.Path(self.program).parents[1] / "digits"
        done = subprocess.run([demo, data], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = scipy.io.mmread(self.folder / "tenure-digits.mtx")
        self.assertTrue(np.array_equal(found.toarray(), np.load(data)))

    def test_matrix_market_as_others_write_it(self):
        """What SciPy reads of files that differ from the format is read alike."""
        plain = "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 2.5\n3 2 100\n"
        skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 0\n2 1 3\n"
        texts = {
            "words": plain.replace("general", "general of mine"), "double": plain.replace("real", "double"),
            "tabs": plain.replace(" ", "\t"), "breaks": plain.replace("\n", "\r\n"),
            "empty": plain.replace("\n", "\n\n") + "\n \n", "blanks": "  " + plain.replace(" ", "  "),
            "comment": plain.replace("2.5\n", "2.5 % 1\n"), "zeros": plain.replace("1 1 ", "01 001 "),
            "percent": plain[1:], "skew": skew, "general": plain.replace("general", "GENERAL"),
            "header": plain.replace("general\n", "general\n\n % a\n%\n"),
        }
        for name, text in texts.items():
            (self.folder / f"{name}.mtx").write_text(text, newline="")
        self.through([(f"{name}.mtx", f"out{name}.mtx") for name in texts])
        for name in texts:
            given = scipy.io.mmread(self.folder / f"{name}.mtx").toarray()
            found = scipy.io.mmread(self.folder / f"out{name}.mtx").toarray()
            self.assertTrue(np.array_equal(given, found), name)

    def test_matrix_market(self):
        wanted = {}
        for number, (coo, message) in enumerate(matrices(
                self.rng, [*FLOATS, np.int64, np.uint64, np.complex128], [np.int32], small=True)):
            if coo.dtype.kind in "fc" and coo.nnz:
                coo.data = coo.data / coo.dtype.type(3)
            wanted[f"{number}.mtx"] = coo, "general", message
        for kind in ("symmetric", "skew-symmetric", "hermitian"):
            lower = sp.random_array((40, 40), density=0.1, rng=self.rng)
            dense = np.tril(lower.toarray(), -1)
            full = {"symmetric": dense + dense.T + np.eye(40), "skew-symmetric": dense - dense.T,
                    "hermitian": dense * 1j - dense.T * 1j + np.eye(40)}[kind]
            wanted[kind + ".mtx"] = sp.coo_array(full), kind, kind
            wanted[kind + "array.mtx"] = full, kind, kind
        wanted["array.mtx"] = self.rng.standard_normal((5, 7)), "general", "array"
        for name, (matrix, symmetry, _) in wanted.items():
            scipy.io.mmwrite(self.folder / name, matrix, symmetry=symmetry)
        self.through([(name, "out" + name) for name in wanted])
        for name, (_, _, message) in wanted.items():
            expected = scipy.io.mmread(self.folder / name)
            found = scipy.io.mmread(self.folder / ("out" + name))
            self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype), message)
            dense = [part.toarray() if sp.issparse(part) else part for part in (found, expected)]
            self.assertTrue(np.array_equal(*dense), message)
