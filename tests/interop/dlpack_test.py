"""Tensors exchanged with NumPy, and PyTorch and JAX where they are installed, in both directions by
DLPack.

    python tests/interop/dlpack_test.py LIBRARY_PATH

Nothing is compiled: capsules are made and opened through Python's own C functions. Each side writes
and the other reads, and every deleter is counted.
"""

import ctypes
import gc
import sys
import unittest
import weakref

import numpy as np

from numpy_test import COMPLEX, REAL, Library, View, view_of

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None

INVALID_ARGUMENT = 1
READ_ONLY = 1
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}  # by whether it is versioned
USED_NAMES = {True: b"used_dltensor_versioned", False: b"used_dltensor"}

RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

library = None


def declare(c):
    for name in ["blob_adopt", "blob_share", "blob_import", "blob_import_legacy"]:
        getattr(c, "tnr_" + name).restype = ctypes.c_void_p
    c.tnr_blob_adopt.argtypes = c.tnr_blob_share.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, RELEASE, ctypes.c_void_p]
    c.tnr_blob_import.argtypes = c.tnr_blob_import_legacy.argtypes = [
        ctypes.c_void_p, ctypes.POINTER(View)]
    c.tnr_blob_release.argtypes = [ctypes.c_void_p]
    c.tnr_view_export.argtypes = [
        ctypes.POINTER(View), ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)]
    c.tnr_view_export_legacy.argtypes = [ctypes.POINTER(View), ctypes.POINTER(ctypes.c_void_p)]


class Imported:
    """A tensor that the library has imported from a producer of capsules."""

    def __init__(self, producer, versioned):
        asked = {"max_version": (1, 0)} if versioned else {}
        capsule = producer.__dlpack__(**asked)
        self.versioned = bool(python.PyCapsule_IsValid(capsule, NAMES[True]))
        name = NAMES[self.versioned]
        self.view = View()
        take = library.c.tnr_blob_import if self.versioned else library.c.tnr_blob_import_legacy
        self.blob = take(python.PyCapsule_GetPointer(capsule, name), ctypes.byref(self.view))
        if self.blob is None:
            raise AssertionError(library.message())
        # The capsule no longer owns it. Python keeps the pointer to the name.
        python.PyCapsule_SetName(capsule, USED_NAMES[self.versioned])

    def release(self):
        assert library.c.tnr_blob_release(self.blob) == 0


class Blob:
    """Memory of an array, adopted or shared by the library. Its end is counted."""

    def __init__(self, array, adopted=True):
        self.array = array
        self.released = 0
        self.release_function = RELEASE(self.count)
        view = view_of(array)
        hold = library.c.tnr_blob_adopt if adopted else library.c.tnr_blob_share
        self.blob = hold(view.base, view.size_bytes, self.release_function, None)
        view.owner = self.blob
        self.view = view

    def count(self, _context):
        self.released += 1

    def release(self):
        assert library.c.tnr_blob_release(self.blob) == 0


class Exported:
    """A producer of capsules over a view of a blob, as consumers ask for them."""

    def __init__(self, view, versioned=True):
        self.view = view
        self.versioned = versioned

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        tensor = ctypes.c_void_p()
        if self.versioned and max_version is not None:
            status = library.c.tnr_view_export(ctypes.byref(self.view), 0, ctypes.byref(tensor))
        else:
            status = library.c.tnr_view_export_legacy(
                ctypes.byref(self.view), ctypes.byref(tensor))
        if status != 0:
            raise BufferError(library.message())
        is_versioned = self.versioned and max_version is not None
        # Each consumer here takes the capsule at once, so it needs no destructor.
        return python.PyCapsule_New(tensor, NAMES[is_versioned], None)


def layouts(array):
    yield array
    yield np.asfortranarray(array)
    yield array[::-1, 1::2]
    yield array.T


def matrix(dtype):
    return np.asarray(np.arange(24).reshape(4, 6)).astype(dtype)


class FromNumpy(unittest.TestCase):
    def test_elements_are_read_and_written_where_they_lie(self):
        for versioned in (True, False):
            for array in layouts(matrix(np.float32)):
                taken = Imported(array, versioned)
                self.assertEqual(taken.versioned, versioned)
                self.assertEqual(taken.view.data, array.__array_interface__["data"][0])
                out = np.zeros(array.shape, array.dtype)
                library.run("copy", taken.view, out)
                self.assertTrue(np.array_equal(out, array))
                library.run("unary", 1, out, out)
                library.run("copy", out, taken.view)
                self.assertTrue(np.array_equal(out, array))
                taken.release()

    def test_dtypes(self):
        for dtype in [*REAL, *COMPLEX]:
            if dtype in (np.float64, *COMPLEX) or np.dtype(dtype).kind in "iufb":
                array = matrix(dtype)
                taken = Imported(array, True)
                self.assertEqual(taken.view.dtype, view_of(array).dtype, dtype)
                taken.release()

    def test_the_array_lives_until_the_blob_is_released(self):
        for versioned in (True, False):
            array = matrix(np.float64)
            alive = weakref.ref(array)
            taken = Imported(array, versioned)
            del array
            gc.collect()
            self.assertIsNotNone(alive())
            taken.release()
            gc.collect()
            self.assertIsNone(alive())

    def test_read_only_is_not_written(self):
        array = matrix(np.float32)
        array.flags.writeable = False
        taken = Imported(array, True)
        values = np.ones(array.shape, np.float32)
        status = library.call("copy", values, taken.view)
        self.assertEqual(status, INVALID_ARGUMENT)
        self.assertIn("nobody may write", library.message())
        taken.release()

    def test_no_elements_and_no_axes(self):
        for array in (np.zeros((3, 0), np.int16), np.array(5.0)):
            taken = Imported(array, True)
            self.assertEqual(taken.view.rank, array.ndim)
            self.assertEqual(taken.view.size_bytes, array.nbytes)
            taken.release()


class ToNumpy(unittest.TestCase):
    def test_elements_are_read_and_written_where_they_lie(self):
        for versioned in (True, False):
            for array in layouts(matrix(np.int32)):
                blob = Blob(array)
                found = np.from_dlpack(Exported(blob.view, versioned))
                self.assertTrue(np.shares_memory(found, array))
                self.assertTrue(np.array_equal(found, array))
                self.assertEqual(found.strides, array.strides)
                if found.flags.writeable:
                    found[0, 0] = -7
                    self.assertEqual(array[0, 0], -7)
                # Versioned tensors say that they may be written; NumPy writes no others.
                self.assertEqual(found.flags.writeable, versioned)
                blob.release()
                self.assertEqual(blob.released, 0)
                del found
                gc.collect()
                self.assertEqual(blob.released, 1)

    def test_shared_memory_is_read_only(self):
        blob = Blob(matrix(np.float32), adopted=False)
        found = np.from_dlpack(Exported(blob.view))
        self.assertFalse(found.flags.writeable)
        del found
        with self.assertRaisesRegex(BufferError, "nobody may write"):
            np.from_dlpack(Exported(blob.view, versioned=False))
        blob.release()
        self.assertEqual(blob.released, 1)

    def test_and_back_again(self):
        blob = Blob(matrix(np.uint8))
        found = np.from_dlpack(Exported(blob.view))
        taken = Imported(found, True)
        self.assertEqual(taken.view.data, blob.view.data)
        blob.release()
        del found
        gc.collect()
        self.assertEqual(blob.released, 0)
        taken.release()
        gc.collect()
        self.assertEqual(blob.released, 1)


@unittest.skipUnless(torch, "PyTorch is not installed")
class WithTorch(unittest.TestCase):
    def test_from_torch(self):
        for tensor in (torch.arange(24.0).reshape(4, 6), torch.arange(24).reshape(4, 6).T):
            for versioned in (True, False):
                taken = Imported(tensor, versioned)
                self.assertEqual(taken.view.data, tensor.data_ptr())
                out = np.zeros(tuple(tensor.shape), tensor.numpy().dtype)
                library.run("copy", taken.view, out)
                self.assertTrue(np.array_equal(out, tensor.numpy()))
                taken.release()

    def test_to_torch(self):
        for versioned in (True, False):
            array = matrix(np.float32)
            blob = Blob(array)
            found = torch.from_dlpack(Exported(blob.view, versioned))
            self.assertEqual(found.data_ptr(), blob.view.data)
            found += 1
            self.assertTrue(np.array_equal(array, matrix(np.float32) + 1))
            blob.release()
            self.assertEqual(blob.released, 0)
            del found
            gc.collect()
            self.assertEqual(blob.released, 1)


@unittest.skipUnless(jax, "JAX is not installed")
class WithJax(unittest.TestCase):
    """Arrays of JAX never change. Its tensors have no version and cannot say so: nothing is written
    here through what came from there."""

    def test_from_jax(self):
        for dtype in (np.float32, np.int8):
            array = jax.numpy.asarray(matrix(dtype))
            taken = Imported(array, versioned=True)
            self.assertEqual(taken.view.data, array.unsafe_buffer_pointer())
            out = np.zeros(array.shape, dtype)
            library.run("copy", taken.view, out)
            self.assertTrue(np.array_equal(out, matrix(dtype)))
            taken.release()

    def test_to_jax(self):
        for versioned in (True, False):
            memory = np.empty(24 * 4 + 64, np.uint8)  # JAX copies memory not aligned to 64
            begin = -memory.ctypes.data % 64
            array = memory[begin:begin + 96].view(np.float32).reshape(4, 6)
            array[...] = matrix(np.float32)
            blob = Blob(array)
            found = jax.dlpack.from_dlpack(Exported(blob.view, versioned))
            self.assertEqual(found.unsafe_buffer_pointer(), blob.view.data)
            self.assertTrue(np.array_equal(np.asarray(found + 1), matrix(np.float32) + 1))
            blob.release()
            self.assertEqual(blob.released, 0)
            del found
            gc.collect()
            self.assertEqual(blob.released, 1)


def main():
    global library
    if len(sys.argv) != 2:
        sys.exit("usage: dlpack_test.py LIBRARY_PATH")
    import numpy_test
    library = numpy_test.library = Library(sys.argv.pop())
    declare(library.c)
    print(f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch else "")
          + (f", JAX {jax.__version__}" if jax else ""))
    unittest.main()


if __name__ == "__main__":
    main()
