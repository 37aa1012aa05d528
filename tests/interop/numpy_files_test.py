"""Files that NumPy wrote, read by the library, and files that it wrote, read by NumPy.

    python tests/interop/numpy_files_test.py ARRAYS_PROGRAM

Needs numpy. ARRAYS_PROGRAM is the example `arrays` of the Rust crate: it reads a file of arrays and
writes them to another. Files of safetensors are taken apart here by the format's own description;
where Python's `safetensors` is installed it reads and writes them too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
import zipfile

import numpy as np

try:
    import safetensors.numpy
except ImportError:
    safetensors = None

DTYPES = [np.float64, np.float32, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8,
          np.uint16, np.uint32, np.uint64, np.bool_, np.complex64, np.complex128]
NAMES = {"F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1",
         "U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "b1", "C64": "c8"}
SHAPES = [(), (1,), (7,), (0, 3), (2, 3), (3, 1, 5), (2,) * 8]

program = None


def tensors_of(path):
    """The tensors of a file, and what else its header says."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, payload = json.loads(data[8:8 + length]), data[8 + length:]
    text = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(payload[begin:end], "<" + NAMES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors, text


def write_tensors(path, tensors):
    header, payload = {}, b""
    for name, tensor in tensors.items():
        code = next(code for code, kind in NAMES.items() if np.dtype(kind) == tensor.dtype)
        begin, payload = len(payload), payload + tensor.tobytes()
        header[name] = {"dtype": code, "shape": tensor.shape, "data_offsets": [begin, len(payload)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # as the format's own writer aligns the elements
    path.write_bytes(len(text).to_bytes(8, "little") + text + payload)


class Files(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(20261121)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def through(self, pairs):
        """Has the program read the first and write the second of each pair of files."""
        names = [str(self.folder / name) for pair in pairs for name in pair]
        done = subprocess.run([program, *names], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def arrays(self):
        """Arrays of every dtype and shape, in both orders of memory and both byte orders."""
        for dtype in DTYPES:
            for shape in SHAPES:
                values = self.rng.integers(0, 2 if dtype == np.bool_ else 100, shape)
                array = np.asarray(values).astype(dtype)
                name = f"{np.dtype(dtype).name}{'x'.join(map(str, shape))}"
                yield name, array
                yield name + "F", np.asfortranarray(array)
                yield name + "swapped", array.astype(array.dtype.newbyteorder())

    def assert_same(self, found, wanted, message):
        self.assertEqual(found.dtype, wanted.dtype.newbyteorder("="), message)
        self.assertEqual(found.shape, wanted.shape, message)
        self.assertTrue(np.array_equal(found, wanted), message)

    def test_npy(self):
        wanted = dict(self.arrays())
        for name, array in wanted.items():
            np.save(self.folder / f"{name}.npy", array)
        self.through([(f"{name}.npy", f"out-{name}.npy") for name in wanted])
        for name, array in wanted.items():
            found = np.load(self.folder / f"out-{name}.npy")
            self.assert_same(found, array, name)
            self.assertEqual(found.flags.f_contiguous, array.flags.f_contiguous, name)

    def test_npz(self):
        wanted = dict(self.arrays())
        np.savez(self.folder / "stored.npz", **wanted)
        np.savez_compressed(self.folder / "deflated.npz", **wanted)
        lines = self.through([("stored.npz", "a.npz"), ("deflated.npz", "b.npz"),
                              ("a.npz", "again.npz")])
        for path in ("a.npz", "b.npz", "again.npz"):
            with np.load(self.folder / path) as found:
                self.assertEqual(set(found.files), set(wanted))
                for name, array in wanted.items():
                    self.assert_same(found[name], array, f"{name} in {path}")
        again = lines[-len(wanted):]
        self.assertTrue(all(line.endswith(", lent") for line in again),
                        "what the library stored it can lend")

    def test_words_for_dtypes(self):
        """Every word that numpy.dtype takes and that means a dtype of the library."""
        words = set(map(str, np.sctypeDict if hasattr(np, "sctypeDict") else np._core.sctypeDict))
        words |= set("?bBhHiIlLqQpPnNefdFDgGSUVOMm")
        words = words - {"a"} | {kind + str(size) for kind in "fiucb" for size in (1, 2, 4, 8, 16)}
        wanted = {}
        for word in sorted(order + word for word in words for order in ("", "=", "|", "<", ">")):
            try:
                dtype = np.dtype(word)
            except TypeError:
                continue
            if dtype.newbyteorder("=") not in DTYPES:
                continue
            name = f"{len(wanted)}.npy"
            array = self.rng.integers(0, 2, 3).astype(dtype)
            header = repr({"descr": word, "fortran_order": False, "shape": (3,)}).encode("latin1")
            data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes()
            (self.folder / name).write_bytes(data)
            self.assertTrue(np.array_equal(np.load(self.folder / name), array), word)
            wanted[name] = array, word
        self.assertGreater(len(wanted), 150)
        self.through([(name, "out-" + name) for name in wanted])
        for name, (array, word) in wanted.items():
            self.assert_same(np.load(self.folder / ("out-" + name)), array, word)

    def test_archives_as_zipfile_writes_them(self):
        """Other bytes around, other members between, names twice: what NumPy gives comes back."""
        wanted = {"a": np.arange(3), "\u20ac": np.float32(2.5), "plain": np.arange(4.0), "b": np.eye(2)}

        def member(archive, name, array):
            with archive.open(name, "w") as file:
                np.lib.format.write_array(file, np.asanyarray(array))

        for name, before, behind, method in (
                ("plain", b"", b"", zipfile.ZIP_STORED), ("deflated", b"", b"", zipfile.ZIP_DEFLATED),
                ("script", b"#!/bin/sh\nexit\n", b"", zipfile.ZIP_STORED),
                ("behind", b"", b"\n\n", zipfile.ZIP_DEFLATED),
                ("both", b"PK\x03\x04", b"\0" * 1000, zipfile.ZIP_STORED)):
            path = self.folder / f"{name}.npz"
            path.write_bytes(before)
            with zipfile.ZipFile(path, "a", method) as archive, warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of the name that is written twice
                member(archive, "a.npy", np.zeros(7))
                archive.writestr("README", "no array")
                archive.mkdir("folder")
                for key, array in wanted.items():
                    member(archive, key if key == "plain" else key + ".npy", array)
                archive.comment = b"a comment"
            path.write_bytes(path.read_bytes() + behind)
            self.through([(f"{name}.npz", "out.npz")])
            given = [path] if not before else []  # NumPy looks at the first bytes before zipfile
            for path in [*given, self.folder / "out.npz"]:
                with np.load(path) as found:
                    for key, array in wanted.items():
                        self.assertTrue(np.array_equal(found[key], array), f"{key} in {path}")
            with np.load(self.folder / "out.npz") as found:
                self.assertEqual(set(found.files), set(wanted), name)

    def test_safetensors(self):
        wanted = {name: array for name, array in self.arrays()
                  if array.dtype.isnative and array.dtype != np.complex128}
        wanted['"quoted" \u20ac \U0001f600\n'] = np.arange(3.0)
        write_tensors(self.folder / "in.safetensors", wanted)
        np.savez(self.folder / "in.npz", **wanted)
        self.through([("in.safetensors", "a.safetensors"), ("in.npz", "b.safetensors"),
                      ("in.safetensors", "c.npz")])
        for path in ("a.safetensors", "b.safetensors"):
            found, _ = tensors_of(self.folder / path)
            self.assertEqual(set(found), set(wanted))
            for name, array in wanted.items():
                self.assert_same(found[name], array, f"{name} in {path}")
        with np.load(self.folder / "c.npz") as found:
            for name, array in wanted.items():
                self.assert_same(found[name], array, name)

    def test_safetensors_with_more_than_is_known(self):
        write_tensors(self.folder / "in.safetensors", {"w": np.arange(3.0)})
        data = (self.folder / "in.safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8:8 + length])
        header["w"] |= {"strides": [1], "quantization": {"scale": [0.5, None, True, "x"]}}
        header |= {"__metadata__": None, "none": {"dtype": "F32", "shape": [2 ** 59, 0],
                                                  "data_offsets": [24, 24]}}
        text = json.dumps(header).encode()
        data = len(text).to_bytes(8, "little") + text + data[8 + length:]
        (self.folder / "more.safetensors").write_bytes(data)
        if safetensors is not None:
            self.assertEqual(set(dict(safetensors.deserialize(data))), {"w", "none"})
        self.through([("more.safetensors", "out.safetensors")])
        found, _ = tensors_of(self.folder / "out.safetensors")
        self.assert_same(found["w"], np.arange(3.0), "w")

    @unittest.skipIf(safetensors is None, "Python's safetensors is not installed")
    def test_safetensors_of_its_own_library(self):
        wanted = {name: np.ascontiguousarray(array) for name, array in self.arrays()
                  if array.dtype.isnative and array.dtype.kind != "c" and array.ndim}
        safetensors.numpy.save_file(wanted, self.folder / "in.safetensors")
        self.through([("in.safetensors", "out.safetensors")])
        found = safetensors.numpy.load_file(self.folder / "out.safetensors")
        self.assertEqual(set(found), set(wanted))
        for name, array in wanted.items():
            self.assert_same(found[name], array, name)

    def test_what_is_refused_is_named(self):
        np.save(self.folder / "text.npy", np.array(["a", "b"]))
        np.save(self.folder / "fields.npy", np.zeros(2, [("a", "f4"), ("b", "i8")]))
        np.save(self.folder / "dates.npy", np.array(["2026-11-29"], "M8[D]"))
        for name, why in (("text", "'<U1', which is not read"), ("dates", "M8[D]', which is not read"),
                          ("fields", "')]', which is not read: structured dtypes are not supported")):
            done = subprocess.run([program, self.folder / f"{name}.npy", self.folder / "out.npy"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{name}.npy: the array is of", done.stderr)
            self.assertIn(why, done.stderr)


def main():
    global program
    if len(sys.argv) != 2:
        sys.exit("usage: numpy_files_test.py ARRAYS_PROGRAM")
    program = sys.argv.pop()
    print(f"NumPy {np.__version__}")
    unittest.main()


if __name__ == "__main__":
    main()
