"""Graphs and programs of the shared library, with NumPy arrays in and out.

For the tests in this folder. Needs numpy. NumPy has no bfloat16: arrays of it are arrays of 16-bit
integers with the same bits, and the graph knows the dtype.
"""

import ctypes
import pathlib
import re

import numpy as np

import operations
from numpy_test import (MAX_RANK, Library, NormalizeAttributes, ReduceAttributes, Scalar, View,
                        view_of)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def constants(header, prefix):
    """The numbers that a header defines by names with a prefix."""
    text = (ROOT / "capi/include/tenure" / header).read_text()
    found = re.findall(rf"^#define {prefix}(\w+) (\d+)", text, re.MULTILINE)
    return {name.lower(): int(number) for name, number in found}


KINDS = constants("program.h", "TNR_NODE_")
KEEP_AXES = KINDS["keep_axes"]
PASSES = constants("program.h", "TNR_PASS_")
ALL_PASSES = sum(PASSES.values())
DTYPES = constants("memory.h", "TNR_DTYPE_")
PAD_MODES = constants("dense.h", "TNR_PAD_MODE_")
TRIANGLES = constants("dense.h", "TNR_TRIANGLE_")
ORDER = constants("program.h", "TNR_ORDER_RESULT_")
NONE = 2**32 - 1
INVALID_ARGUMENT, OUT_OF_MEMORY, UNSUPPORTED = 1, 2, 3
ROWS = {"unary": operations.UNARY, "binary": operations.BINARY, "ternary": operations.TERNARY,
        "compare": operations.COMPARE, "reduce": operations.REDUCE,
        "normalize": operations.NORMALIZE, "scan": operations.SCAN, "put": operations.BINARY,
        "scatter": operations.BINARY, "sparse_reduce": operations.REDUCE}
NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.int16,
         "i64": np.int64, "i32": np.int32, "bool8": np.bool_, "c64": np.complex64,
         "c128": np.complex128}
NAMES = {code: name for name, code in DTYPES.items()}


class Node(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("code", ctypes.c_uint32), ("dtype", ctypes.c_uint32),
        ("operands", ctypes.POINTER(ctypes.c_uint32)), ("numbers", ctypes.POINTER(ctypes.c_int64)),
        ("attributes", ctypes.c_void_p), ("operand_count", ctypes.c_uint32),
        ("number_count", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("copy", ctypes.c_uint32),
        ("marks", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class ProgramAttributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("disabled_passes", ctypes.c_uint32),
        ("enabled_passes", ctypes.c_uint32), ("packed", ctypes.c_void_p),
        ("budget_bytes", ctypes.c_uint64)]


class MemoryPlan(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("peak_bytes", ctypes.c_uint64),
        ("live_bytes", ctypes.c_uint64), ("total_bytes", ctypes.c_uint64),
        ("scratch_bytes", ctypes.c_uint64), ("step_count", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32), ("packed_bytes", ctypes.c_uint64)]


class RunAttributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("budget_bytes", ctypes.c_uint64),
        ("step_nanoseconds", ctypes.c_void_p), ("step_count", ctypes.c_uint32),
        ("flags", ctypes.c_uint32), ("output_shapes", ctypes.POINTER(ctypes.c_int64))]


class Pad(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("before", ctypes.c_int64 * MAX_RANK),
                ("value", Scalar)]


class Diagonal(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("diagonal", ctypes.c_int64)]


class Flags(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("flags", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class Spec(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("spec", ctypes.c_char * 120)]


class SparseAttributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("format", ctypes.c_int32), ("flags", ctypes.c_uint32),
        ("orientation", ctypes.c_int32), ("call_flags", ctypes.c_uint32),
        ("block_rows", ctypes.c_uint32), ("block_cols", ctypes.c_uint32)]


class Matmul(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("bias", ctypes.c_void_p), ("activation", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("low", ctypes.c_double), ("high", ctypes.c_double)]


class Convolution(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("strides", ctypes.c_int64 * 2),
        ("padding", ctypes.c_int64 * 4), ("dilations", ctypes.c_int64 * 2),
        ("groups", ctypes.c_int64), ("activation", ctypes.c_int32), ("flags", ctypes.c_uint32),
        ("low", ctypes.c_double), ("high", ctypes.c_double)]


class Pool(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("kernel", ctypes.c_int64 * 2),
        ("strides", ctypes.c_int64 * 2), ("padding", ctypes.c_int64 * 4),
        ("dilations", ctypes.c_int64 * 2), ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32)]


class BatchNorm(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("eps", ctypes.c_double)]


class ContextOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint64), ("thread_count", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32), ("spawn", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
        ("deallocate", ctypes.c_void_p), ("user_context", ctypes.c_void_p),
        ("release", ctypes.c_void_p), ("engine", ctypes.c_int32),
        ("reserved_end", ctypes.c_uint32), ("device", ctypes.c_int32 * 2),
        ("stream", ctypes.c_uint64)]


def sized(struct, **fields):
    return struct(struct_size=ctypes.sizeof(struct), **fields)


def reduce_attributes(ddof=0, power=0.0):
    return sized(ReduceAttributes, ddof=ddof, power=power)


def eps_attributes(eps):
    return sized(NormalizeAttributes, eps=eps)


class Refused(Exception):
    """A call that the library refused, with the status and the message."""

    def __init__(self, status, message):
        super().__init__(f"status {status}: {message}")
        self.status = status


class Programs(Library):
    """The library's functions of graphs and programs."""

    def __init__(self, path):
        super().__init__(path)
        handles = ["tnr_graph_create", "tnr_program_create", "tnr_context_create"]
        for name in handles:
            getattr(self.c, name).restype = ctypes.c_void_p
        self.contexts = {}

    def check(self, status):
        if status != 0:
            raise Refused(status, self.message())

    def checked_handle(self, handle):
        if not handle:
            error = self.c.tnr_last_error().contents
            raise Refused(error.status, error.message.decode())
        return ctypes.c_void_p(handle)

    def context(self, threads):
        """A context of that number of threads, which is made once."""
        if threads not in self.contexts:
            options = sized(ContextOptions, thread_count=threads)
            handle = self.c.tnr_context_create(ctypes.byref(options))
            self.contexts[threads] = self.checked_handle(handle)
        return self.contexts[threads]

    def graph(self):
        return Graph(self)


class Graph:
    """A graph that is being built. Values are numbers."""

    def __init__(self, library):
        self.library = library
        self.handle = library.checked_handle(library.c.tnr_graph_create())
        self.inputs = []
        self.outputs = 0

    def release(self):
        self.library.c.tnr_graph_release(self.handle)
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def _value(self, function, *arguments):
        value = ctypes.c_uint32()
        self.library.check(function(self.handle, *arguments, ctypes.byref(value)))
        return value.value

    def input(self, dtype, shape):
        """An input of a dtype's name and a shape."""
        numbers = (ctypes.c_int64 * MAX_RANK)(*shape)
        self.inputs.append(dtype)
        return self._value(self.library.c.tnr_graph_add_input, DTYPES[dtype], len(shape), numbers)

    def extent(self, name, maximum):
        """A number: an extent that a run finds."""
        number = ctypes.c_int64()
        self.library.check(self.library.c.tnr_graph_add_extent(
            self.handle, name.encode(), ctypes.c_int64(maximum), ctypes.byref(number)))
        return number.value

    def constant(self, array, dtype):
        return self._value(self.library.c.tnr_graph_add_constant,
                           ctypes.byref(lent(np.asarray(array), dtype)))

    def scalar(self, number):
        scalar = Scalar(dtype=DTYPES["f64"])
        scalar.bytes[:8] = np.float64(number).tobytes()
        return self._value(self.library.c.tnr_graph_add_scalar, ctypes.byref(scalar))

    def node(self, kind, operands, *, op=0, numbers=(), flags=0, attributes=None, dtype=None):
        """Adds a node: `op` is a number or a name of the table of operations."""
        code = ROWS[kind][op].code if isinstance(op, str) else op
        node = sized(Node, code=KINDS[kind] + code, operand_count=len(operands),
                     number_count=len(numbers), flags=flags,
                     dtype=0 if dtype is None else DTYPES[dtype],
                     operands=(ctypes.c_uint32 * max(1, len(operands)))(*operands),
                     numbers=(ctypes.c_int64 * max(1, len(numbers)))(*numbers))
        if attributes is not None:
            node.attributes = ctypes.addressof(attributes)
        return self._value(self.library.c.tnr_graph_add_node, ctypes.byref(node))

    def unary(self, op, a):
        return self.node("unary", [a], op=op)

    def binary(self, op, a, b):
        return self.node("binary", [a, b], op=op)

    def reduce(self, op, a, axes, *, keep=False, attributes=None):
        bits = sum(1 << axis for axis in axes) | (KEEP_AXES if keep else 0)
        return self.node("reduce", [a], op=op, flags=bits, attributes=attributes)

    def output(self, value):
        self.library.check(self.library.c.tnr_graph_add_output(self.handle, value, NONE))
        self.outputs += 1

    def gradients(self, of, by, seed=NONE):
        gradients = (ctypes.c_uint32 * max(1, len(by)))()
        self.library.check(self.library.c.tnr_graph_add_gradients(
            self.handle, of, seed, (ctypes.c_uint32 * max(1, len(by)))(*by), len(by), None,
            gradients))
        return list(gradients[:len(by)])

    def mixed_precision(self, of, dtype):
        lowered = (ctypes.c_uint32 * max(1, len(of)))()
        self.library.check(self.library.c.tnr_graph_add_mixed_precision(
            self.handle, (ctypes.c_uint32 * max(1, len(of)))(*of), len(of), DTYPES[dtype], None,
            lowered))
        return list(lowered[:len(of)])

    def program(self, *, disabled=0, enabled=0, budget=0):
        attributes = sized(ProgramAttributes, disabled_passes=disabled, enabled_passes=enabled,
                           budget_bytes=budget)
        handle = self.library.c.tnr_program_create(None, self.handle, ctypes.byref(attributes))
        return Program(self.library, self.library.checked_handle(handle), self.inputs,
                       self.outputs)


def lent(array, dtype):
    """A view of an array whose elements have a dtype's name."""
    view = view_of(array)
    view.dtype = DTYPES[dtype]
    return view


class Program:
    """A program, on inputs of the dtypes that its graph states."""

    def __init__(self, library, handle, inputs, outputs):
        self.library, self.handle = library, handle
        self.inputs, self.outputs = list(inputs), outputs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.tnr_program_release(self.handle)

    def _lent(self, arrays):
        views = [lent(np.asarray(array), dtype) for array, dtype in zip(arrays, self.inputs)]
        pointers = (ctypes.POINTER(View) * max(1, len(views)))(*map(ctypes.pointer, views))
        return views, pointers

    def memory(self, arrays):
        plan = sized(MemoryPlan)
        _, inputs = self._lent(arrays)
        self.library.check(self.library.c.tnr_program_memory(
            self.handle, inputs, len(arrays), ctypes.byref(plan)))
        return plan

    def run(self, arrays, *, threads=None):
        """The outputs of a run. An extent that the run counts is cut to the count."""
        kept, inputs = self._lent(arrays)
        made, views = [], []
        for output in range(self.outputs):
            dtype, rank = ctypes.c_uint32(), ctypes.c_uint32()
            shape = (ctypes.c_int64 * MAX_RANK)()
            self.library.check(self.library.c.tnr_program_output_shape(
                self.handle, inputs, len(arrays), output, ctypes.byref(dtype), ctypes.byref(rank),
                shape))
            name = NAMES[dtype.value]
            made.append(np.empty(tuple(shape[:rank.value]), NUMPY[name]))
            views.append(lent(made[-1], name))
        outputs = (ctypes.POINTER(View) * max(1, len(views)))(*map(ctypes.pointer, views))
        shapes = (ctypes.c_int64 * (MAX_RANK * max(1, self.outputs)))()
        attributes = sized(RunAttributes, output_shapes=shapes)
        context = None if threads is None else self.library.context(threads)
        self.library.check(self.library.c.tnr_program_run(
            context, self.handle, inputs, len(arrays), ctypes.byref(attributes), outputs,
            self.outputs))
        del kept
        return [array[tuple(slice(0, shapes[i * MAX_RANK + axis]) for axis in range(array.ndim))]
                for i, array in enumerate(made)]
