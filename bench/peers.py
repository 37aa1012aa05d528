"""PyTorch, NumPy and numexpr beside Tenure, in turn, in one process and on the same memory.

    python bench/peers.py LIBRARY FOLDER [--quick | --test]

LIBRARY is libtenure.so, FOLDER where SET/python.json is written, SET being the instruction set in
use: in the form of the other figures (src/figures.rs), for `./x bench report`. --test: everything
once, on small sizes.
"""

import ctypes
import datetime
import json
import math
import os
import pathlib
import sys
import time
import weakref

# Of the products of NumPy; OpenBLAS reads it as it is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numexpr
import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
# tests/interop defines how arrays are lent to the library.
sys.path.append(str(HERE.parent / "tests" / "interop"))
import numpy_test as interop
from graphs import ContextOptions, sized

SEED = 1  # of the permutations, as in benches/movement.rs


class FromMatmulAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("bias", ctypes.POINTER(interop.View)),
                ("activation", ctypes.c_int32), ("index_dtype", ctypes.c_uint32),
                ("predicate", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("threshold", interop.Scalar)]


class Node(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint32), ("dtype", ctypes.c_uint32),
                ("operands", ctypes.c_uint32 * 3), ("attributes", ctypes.c_uint32),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Expression(ctypes.Structure):
    """Nodes of f32, each (kind, code of the operation, operands, flags)."""
    _fields_ = [("struct_size", ctypes.c_uint64), ("nodes", ctypes.POINTER(Node)),
                ("views", ctypes.POINTER(ctypes.POINTER(interop.View))),
                ("scalars", ctypes.POINTER(interop.Scalar)), ("attributes", ctypes.c_void_p)] + [
                    (name, ctypes.c_uint32) for name in
                    ("node_count", "view_count", "scalar_count", "attribute_count")]
    UNARY, BINARY, REDUCE = 0x1_0000, 0x2_0000, 0x7_0000
    VIEW, SCALAR, NONE, KEEP_AXES = 0x4000_0000, 0x8000_0000, 0xffff_ffff, 0x100

    def __init__(self, nodes, arrays, numbers=()):
        f32 = interop.dtype_of(np.dtype(np.float32))
        operands = [(*given, *[self.NONE] * (3 - len(given))) for _, _, given, _ in nodes]
        self.parts = [interop.view_of(array) for array in arrays]
        super().__init__(
            ctypes.sizeof(Expression),
            (Node * len(nodes))(*(
                Node(kind + code, f32, three, 0, flags)
                for (kind, code, _, flags), three in zip(nodes, operands))),
            (ctypes.POINTER(interop.View) * len(arrays))(*map(ctypes.pointer, self.parts)),
            (interop.Scalar * max(len(numbers), 1))(*map(interop.scalar_of, numbers)),
            None, len(nodes), len(arrays), len(numbers), 0)


class Tenure:
    """The C functions, called as ctypes calls them; views and contexts are made beforehand."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tnr_last_error.restype = ctypes.POINTER(interop.Error)
        self.c.tnr_build_info.restype = ctypes.c_char_p
        self.c.tnr_memory_trim.restype = ctypes.c_size_t
        self.c.tnr_blob_alloc.restype = ctypes.c_void_p
        self.c.tnr_context_create.restype = ctypes.c_void_p
        self.c.tnr_factor_create.restype = ctypes.c_void_p
        self.c.tnr_sparse_from_matmul.restype = ctypes.c_void_p
        self.c.tnr_nonzero.restype = ctypes.c_void_p
        self.c.tnr_masked_select.restype = ctypes.c_void_p
        self.contexts = {1: None}

    def context(self, threads):
        if threads not in self.contexts:
            options = sized(ContextOptions, thread_count=threads)
            made = self.c.tnr_context_create(ctypes.byref(options))
            if not made:
                raise RuntimeError(self.message())
            self.contexts[threads] = ctypes.c_void_p(made)
        return self.contexts[threads]

    def message(self):
        return self.c.tnr_last_error().contents.message.decode()

    def call(self, threads, name, *arguments, attribute=None):
        """A function that does the call again and again; arrays are lent once."""
        passed = interop.with_attributes(interop.lend(arguments), attribute)
        function, context = getattr(self.c, "tnr_" + name), self.context(threads)

        def run():
            if function(context, *passed) != 0:
                raise RuntimeError(self.message())
        return run

    def by_packed(self, threads, a, b, out):
        """A function that multiplies by `b` again and again, which is packed once."""
        made = ctypes.c_void_p(self.c.tnr_factor_create(None, *interop.lend([b]), None))
        if not made:
            raise RuntimeError(self.message())
        one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))
        run = self.call(threads, "factor_matmul", one, a, made, zero, out)
        weakref.finalize(run, self.c.tnr_factor_release, made)
        return run

    def to_csr(self, threads, a, b, bias):
        """A function that makes the entries of relu(a b + bias) that are not zero."""
        of_bias = interop.view_of(bias)
        with_bias = FromMatmulAttributes(
            ctypes.sizeof(FromMatmulAttributes), ctypes.pointer(of_bias), interop.UNARY["relu"])
        passed = [*interop.lend([interop.scalar_of(np.uint8(1)), a, b]), ctypes.byref(with_bias)]
        context = self.context(threads)

        def run():
            made = ctypes.c_void_p(self.c.tnr_sparse_from_matmul(context, *passed))
            if not made:
                raise RuntimeError(self.message())
            self.c.tnr_sparse_release(made)
        return run

    def makes(self, threads, name, *arguments):
        """A function that has the call make its result again and again, which ends with it."""
        found = interop.View()
        passed = interop.with_attributes(interop.lend([*arguments, found]))
        function, context = getattr(self.c, "tnr_" + name), self.context(threads)

        def run():
            blob = ctypes.c_void_p(function(context, *passed))
            if not blob:
                raise RuntimeError(self.message())
            self.c.tnr_blob_release(blob)
        return run

    def allocating(self, threads, name, *arguments, like):
        """As `call`, into a blob that is made for it, of the shape of `like`, and ends with it."""
        out = interop.View()
        passed = interop.with_attributes(interop.lend([*arguments, out]))
        function, context = getattr(self.c, "tnr_" + name), self.context(threads)
        shape = (ctypes.c_int64 * like.ndim)(*like.shape)
        size, dtype = ctypes.c_size_t(like.nbytes), ctypes.c_uint32(interop.dtype_of(like.dtype))
        zero, rank = ctypes.c_uint64(0), ctypes.c_uint32(like.ndim)

        def run():
            blob = ctypes.c_void_p(self.c.tnr_blob_alloc(context, size))
            failed = not blob or self.c.tnr_blob_view_mut(
                blob, zero, dtype, rank, shape, None, ctypes.byref(out))
            if failed or function(context, *passed) != 0:
                raise RuntimeError(self.message())
            self.c.tnr_blob_release(blob)
        return run


class Permutations:
    """The twin of src/permutation.rs."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % bound

    def draw(self, bits):
        """(shape, axes, name)"""
        rank = 3 + self.below(4)
        parts = [1] * rank
        for _ in range(rank, bits):
            parts[self.below(rank)] += 1
        shape = []
        for part in parts[1:]:
            most = 1 << part
            shape.append(most - self.below(most // 4 + 1))
        shape.append((1 << bits) // math.prod(shape))
        axes = list(range(rank))
        while axes == sorted(axes):
            for i in range(rank - 1, 0, -1):
                j = self.below(i + 1)
                axes[i], axes[j] = axes[j], axes[i]
        name = "permute {} by {}".format("x".join(map(str, shape)), ",".join(map(str, axes)))
        return shape, axes, name


class Rounds:
    """The twin of src/rounds.rs and src/subject.rs."""

    def __init__(self, scale, tenure):
        self.count = 1 if scale == "test" else 9
        self.length = 0 if scale == "test" else 3_000_000
        self.threads = 1
        self.tenure = tenure
        self.libc = ctypes.CDLL(None)
        self.rows = []

    def give_back(self):
        self.tenure.c.tnr_memory_trim()
        if hasattr(self.libc, "malloc_trim"):
            self.libc.malloc_trim(0)

    def run(self, case, passes):
        """Nanoseconds of so many passes."""
        _, how, work = case
        if self.threads > 1:
            time.sleep(0.01)  # GNU's OpenMP spins for 5 ms and more after the case before
        if how == "cold":
            total, done = 0, min(passes, 64)
            for _ in range(done):
                self.give_back()
                start = time.perf_counter_ns()
                work()
                total += time.perf_counter_ns() - start
            return total * passes / done
        if self.threads > 1 or how == "recycled":
            work()
        start = time.perf_counter_ns()
        for _ in range(passes):
            work()
        return time.perf_counter_ns() - start

    def measure(self, operation, size, threads, traffic, cases):
        """`cases`: (library, how, what does it once)."""
        self.threads = threads
        torch.set_num_threads(threads)
        numexpr.set_num_threads(threads)
        if self.count > 1:
            for case in cases:
                self.run(case, 1)
        passes = [min(max(math.ceil(self.length / max(self.run(case, 1), 1)), 1), 1 << 20)
                  for case in cases]
        times = [[] for _ in cases]
        for _ in range(self.count):
            for case, count, row in zip(cases, passes, times):
                row.append(self.run(case, count) / count)
        print(f"\n{operation}, {size} bytes, {threads} threads")
        for (library, how, _), row in zip(cases, times):
            median = sorted(row)[len(row) // 2]
            speed = traffic / median
            print(f"    {library + ' ' + how:<32} {median:16.1f} ns  best {min(row):16.1f}"
                  f"  {speed:8.2f} G/s")
            self.rows.append({
                "operation": operation, "bytes": size, "threads": threads, "library": library,
                "how": how, "traffic": traffic, "median_ns": median, "best_ns": min(row),
                "times_ns": row})


def fresh(library, work):
    """The two columns of what is allocated."""
    return [(library, "cold", work), (library, "recycled", work)]


def arrays_of(count):
    """Three arrays; whole numbers, so that sums have one value."""
    a, b = (np.resize(np.arange(1, last + 1, dtype=np.float32), count)
            for last in (8_388_593, 4_093))
    return a, b, np.full(count, -1, np.float32)


def elementwise(rounds, tenure, size, threads):
    a, b, c = arrays_of(size // 4)
    ta, tb, tc = map(torch.from_numpy, (a, b, c))
    one = threads == 1  # NumPy has no threads

    def binary(name, code, torch_into, numpy_into, expression):
        cases = [
            ("tenure", "into", tenure.call(threads, "binary", code, a, b, c)),
            ("PyTorch", "into", lambda: torch_into(ta, tb, out=tc)),
            ("numexpr", "into", lambda: numexpr.evaluate(expression, {"a": a, "b": b}, out=c))]
        if one:
            cases.append(("NumPy", "into", lambda: numpy_into(a, b, out=c)))
        rounds.measure(name, size, threads, 3 * size, cases)

    binary("add", interop.BINARY["add"], torch.add, np.add, "a + b")
    binary("mul", interop.BINARY["mul"], torch.mul, np.multiply, "a * b")
    cases = [
        ("tenure", "into", tenure.call(threads, "unary", interop.UNARY["relu"], a, c)),
        ("PyTorch", "into", lambda: torch.clamp_min(ta, 0, out=tc))]
    if one:
        cases.append(("NumPy", "into", lambda: np.maximum(a, np.float32(0), out=c)))
    rounds.measure("relu", size, threads, 2 * size, cases)
    if size <= 64 << 20:
        own = tenure.allocating(threads, "binary", interop.BINARY["add"], a, b, like=c)
        cases = fresh("tenure", own)
        cases += fresh("PyTorch", lambda: ta + tb)
        cases += fresh("numexpr", lambda: numexpr.evaluate("a + b", {"a": a, "b": b}))
        if one:
            cases += fresh("NumPy", lambda: a + b)
        rounds.measure("a + b", size, threads, 3 * size, cases)


def reductions(rounds, tenure, size, threads):
    side = math.isqrt(size // 4)
    a = arrays_of(size // 4)[0].reshape(side, side)
    ta = torch.from_numpy(a)
    code = interop.REDUCE
    for op, torch_op, numpy_op in (("sum", torch.sum, np.sum), ("max", torch.amax, np.max),
                                   ("argmax", torch.argmax, np.argmax)):
        for axis in (None, 0, 1):
            name = op if axis is None else f"{op}, axis {axis}"
            mask = 3 if axis is None else 1 << axis
            dtype = np.int64 if op == "argmax" else np.float32
            out = np.zeros(() if axis is None else side, dtype)
            dims = () if axis is None else (axis,)
            cases = [
                ("tenure", "into", tenure.call(threads, "reduce", code[op], a, mask, out)),
                ("PyTorch", "allocates", lambda: torch_op(ta, *dims))]
            if threads == 1:
                cases.append(("NumPy", "allocates", lambda: numpy_op(a, axis=axis)))
            rounds.measure(name, size, threads, size, cases)


# In the first level of the caches and beyond all of them, or a test.
FUNCTION_BYTES = ((16 << 10, 64 << 20), (16 << 10,))


def functions(rounds, tenure, size, threads, dtype, suffix):
    """Functions of numbers from -6 to 6 or of a part of them, into memory that is there; of those
    whose results are subnormal, or all but 0 or 1, far from 0, also from -200 to 200."""
    aten = torch.ops.aten
    whole, above, inside = (-6, 6), (1e-3, 6), (-0.999, 0.999)
    rows = {
        "exp": (whole, torch.exp, np.exp), "exp2": (whole, torch.exp2, np.exp2),
        "expm1": (whole, torch.expm1, np.expm1), "ln": (above, torch.log, np.log),
        "log2": (above, torch.log2, np.log2), "log10": (above, torch.log10, np.log10),
        "log1p": (above, torch.log1p, np.log1p), "rsqrt": (above, torch.rsqrt, None),
        "cbrt": (whole, None, np.cbrt), "sin": (whole, torch.sin, np.sin),
        "tan": (whole, torch.tan, np.tan), "asin": (inside, torch.asin, np.arcsin),
        "acos": (inside, torch.acos, np.arccos), "atan": (whole, torch.atan, np.arctan),
        "sinh": (whole, torch.sinh, np.sinh), "cosh": (whole, torch.cosh, np.cosh),
        "tanh": (whole, torch.tanh, np.tanh), "asinh": (whole, torch.asinh, np.arcsinh),
        "acosh": ((1.001, 6), torch.acosh, np.arccosh),
        "atanh": (inside, torch.atanh, np.arctanh), "erf": (whole, torch.erf, None),
        "sigmoid": (whole, torch.sigmoid, None), "silu": (whole, aten.silu.out, None),
        "gelu": (whole, aten.gelu.out, None)}
    fading = ("exp", "erf", "sigmoid", "silu", "gelu")
    count = size // np.dtype(dtype).itemsize
    out = np.zeros(count, dtype)
    t_out = torch.from_numpy(out)

    def measure(name, moved, own, of_torch, of_numpy, *operands):
        tensors = [torch.from_numpy(operand) for operand in operands]
        cases = [("tenure", "into", own(name, *operands))]
        if of_torch:
            cases.append(("PyTorch", "into", lambda: of_torch(*tensors, out=t_out)))
        if of_numpy and threads == 1:
            cases.append(("NumPy", "into", lambda: of_numpy(*operands, out=out)))
        rounds.measure(row + suffix, size, threads, moved * size, cases)

    def unary(name, a):
        return tenure.call(threads, "unary", interop.UNARY[name], a, out)

    def binary(name, a, b):
        return tenure.call(threads, "binary", interop.BINARY[name], a, b, out)

    for name, ends in [(name, rows[name][0]) for name in rows] + [
            (name, (-200, 200)) for name in fading]:
        row = name if ends[1] < 200 else f"{name}, to 200"
        measure(name, 2, unary, *rows[name][1:], np.linspace(*ends, count, dtype=dtype))
    drawn = np.random.default_rng(SEED)
    a, b = (drawn.uniform(*ends, count).astype(dtype) for ends in (above, whole))
    for name, of_torch, of_numpy in (("pow", torch.pow, np.power),
                                     ("atan2", torch.atan2, np.arctan2),
                                     ("hypot", torch.hypot, np.hypot),
                                     ("rem", torch.fmod, np.fmod)):
        row = name
        measure(name, 3, binary, of_torch, of_numpy, a, b)


def halves(rounds, tenure, size, threads):
    """Arithmetic of 16-bit floats."""
    for dtype, name in ((torch.float16, "f16"), (torch.bfloat16, "bf16")):
        (ta, a), (tb, b), (tc, c) = (factor_of(dtype, (size // 2,)) for _ in range(3))
        for op, of_torch in (("add", torch.add), ("mul", torch.mul), ("max", torch.maximum)):
            rounds.measure(f"{op} {name}", size, threads, 3 * size, [
                ("tenure", "into", tenure.call(threads, "binary", interop.BINARY[op], a, b, c)),
                ("PyTorch", "into", lambda: of_torch(ta, tb, out=tc))])


# Of normalizations: everything, or a test.
ROW_LENGTHS = ((256, 4 << 10, 64 << 10), (256,))


def normalizations(rounds, tenure, lengths, size, threads):
    code = interop.NORMALIZE
    functions = torch.nn.functional
    for length in lengths:
        a = arrays_of(size // 4)[0].reshape(-1, length)
        ta, out, t_out = torch.from_numpy(a), np.zeros_like(a), torch.zeros(a.shape)
        softmaxes = (("softmax", functions.softmax, torch.softmax),
                     ("log_softmax", functions.log_softmax, torch.log_softmax))
        for name, of_a, into in softmaxes:
            rounds.measure(f"{name}, rows of {length}", size, threads, 2 * size, [
                ("tenure", "into", tenure.call(threads, "normalize", code[name], a, 2, out)),
                ("PyTorch", "into", lambda: into(ta, 1, out=t_out)),
                ("PyTorch", "allocates", lambda: of_a(ta, 1))])
        eps = interop.NormalizeAttributes(ctypes.sizeof(interop.NormalizeAttributes), 1e-5)
        t_means, t_scales = torch.zeros(len(a), 1), torch.zeros(len(a), 1)
        rounds.measure(f"layer_norm, rows of {length}", size, threads, 2 * size, [
            ("tenure", "into", tenure.call(threads, "normalize", code["layer_norm"], a, 2, out,
                                           attribute=eps)),
            ("PyTorch", "into", lambda: torch.ops.aten.native_layer_norm.out(
                ta, [length], None, None, 1e-5, out0=t_out, out1=t_means, out2=t_scales)),
            ("PyTorch", "allocates", lambda: functions.layer_norm(ta, [length]))])


def scans(rounds, tenure, size, threads):
    side = math.isqrt(size // 4)
    a = arrays_of(size // 4)[0][:side * side].reshape(side, side)
    ta, out, t_out = torch.from_numpy(a), np.zeros_like(a), torch.zeros(a.shape)
    for axis in (0, 1):
        cases = [
            ("tenure", "into", tenure.call(threads, "scan", interop.SCAN["sum"], a, axis, out)),
            ("PyTorch", "into", lambda: torch.cumsum(ta, axis, out=t_out))]
        if threads == 1:
            cases.append(("NumPy", "into", lambda: np.cumsum(a, axis, out=out)))
        rounds.measure(f"cumsum, axis {axis}", size, threads, 2 * size, cases)


# In the second level of the caches and beyond all of them, or a test.
EXPRESSION_BYTES = ((256 << 10, 64 << 20), (64 << 10,))


def expressions(rounds, tenure, size, threads):
    """In one pass; of PyTorch as it is written, and with each result into memory that is there."""
    count = size // 4
    side = 1024
    a, b, c = (array.reshape(-1, side) / 1e6 for array in arrays_of(count // side * side))
    out, column, row = np.empty_like(a), np.empty((len(a), 1), np.float32), np.empty_like(a[0])
    ta, tb, tc, t_out = map(torch.from_numpy, (a, b, c, out))
    of, node = interop.BINARY, Expression
    x, y, z, number = node.VIEW, node.VIEW + 1, node.VIEW + 2, node.SCALAR
    mean, rsqrt = interop.REDUCE["mean"], interop.UNARY["rsqrt"]

    def evaluate(nodes, arrays, numbers, to):
        return ("tenure", "into", tenure.call(
            threads, "evaluate", Expression(nodes, arrays, numbers), to))

    def in_place():
        torch.mul(ta, tb, out=t_out)
        torch.add(t_out, tc, out=t_out)

    rounds.measure("a * b + c", size, threads, 4 * size, [
        evaluate([(node.BINARY, of["mul"], (x, y), 0), (node.BINARY, of["add"], (0, z), 0)],
                 [a, b, c], (), out),
        ("PyTorch", "allocates", lambda: ta * tb + tc),
        ("PyTorch", "into", in_place),
        ("numexpr", "into",
         lambda: numexpr.evaluate("a * b + c", {"a": a, "b": b, "c": c}, out=out))])
    chain = [(node.BINARY, of["mul"], (x, number), 0), (node.BINARY, of["add"], (0, number + 1), 0),
             (node.BINARY, of["mul"], (1, x), 0), (node.BINARY, of["sub"], (2, number), 0),
             (node.BINARY, of["max"], (3, number + 1), 0)]
    numbers = (np.float32(0.5), np.float32(0.25))

    def eager():
        return torch.clamp((ta * 0.5 + 0.25) * ta - 0.5, min=0.25)

    rounds.measure("a chain of 5 operations", size, threads, 2 * size, [
        evaluate(chain, [a], numbers, out),
        ("PyTorch", "allocates", eager),
        ("numexpr", "into", lambda: numexpr.evaluate(
            "where((a * h + q) * a - h > q, (a * h + q) * a - h, q)",
            {"a": a, "h": numbers[0], "q": numbers[1]}, out=out))])
    for axis, to, traffic in ((0, row, size), (1, column, size)):
        flags = 1 << axis | (node.KEEP_AXES if axis == 1 else 0)
        rounds.measure(f"the same, summed over axis {axis}", size, threads, traffic, [
            evaluate([*chain, (node.REDUCE, interop.REDUCE["sum"], (4,), flags)], [a], numbers, to),
            ("PyTorch", "allocates", lambda: eager().sum(axis))])
    last = 1 << 1 | node.KEEP_AXES
    layer_norm = [
        (node.REDUCE, mean, (x,), last), (node.BINARY, of["sub"], (x, 0), 0),
        (node.BINARY, of["mul"], (1, 1), 0), (node.REDUCE, mean, (2,), last),
        (node.BINARY, of["add"], (3, number), 0), (node.UNARY, rsqrt, (4,), 0),
        (node.BINARY, of["mul"], (1, 5), 0)]
    rounds.measure("layer norm as an expression", size, threads, 2 * size, [
        evaluate(layer_norm, [a], (np.float32(1e-5),), out),
        ("PyTorch", "allocates", lambda: torch.nn.functional.layer_norm(ta, [side]))])


def indexing(rounds, tenure, size, threads):
    """Rows and elements by index, sums by index, and places of what is not zero."""
    drawn = np.random.default_rng(SEED)
    axis = ctypes.c_uint32(0)
    for row_bytes in (4096, 256):
        rows = size // row_bytes
        a = np.ones((rows, row_bytes // 4), np.float32)
        out, index = np.empty_like(a), drawn.integers(0, rows, rows)
        ta, t_out, t_index = map(torch.from_numpy, (a, out, index))
        rounds.measure(f"take rows of {row_bytes} B", size, threads, 2 * size, [
            ("tenure", "into", tenure.call(threads, "take", a, axis, index, out)),
            ("PyTorch", "into", lambda: torch.index_select(ta, 0, t_index, out=t_out)),
            ("a copy", "into", tenure.call(threads, "copy", a, out))])
        rounds.measure(f"add rows of {row_bytes} B by index", size, threads, 3 * size, [
            ("tenure", "into", tenure.call(
                threads, "put", interop.BINARY["add"], a, axis, index, out)),
            ("PyTorch", "into", lambda: t_out.index_add_(0, t_index, ta))])
    count = size // 16
    for extent in (min(count, 1 << 14), count):
        a, index = np.ones(count, np.float32), drawn.integers(0, extent, count)
        to, out = np.zeros(extent, np.float32), np.empty(count, np.float32)
        ta, t_index, t_to, t_out = map(torch.from_numpy, (a, index, to, out))
        rounds.measure(f"gather of {extent}", size, threads, size, [
            ("tenure", "into", tenure.call(threads, "gather", to, axis, index, out)),
            ("PyTorch", "into", lambda: torch.gather(t_to, 0, t_index, out=t_out))])
        rounds.measure(f"scatter-add to {extent}", size, threads, size, [
            ("tenure", "into", tenure.call(
                threads, "scatter", interop.BINARY["add"], a, axis, index, to)),
            ("PyTorch", "into", lambda: t_to.scatter_add_(0, t_index, ta))])
    for percent in (1, 50):
        a = (drawn.random(size // 4, np.float32) < percent / 100).astype(np.float32)
        ta, mask = torch.from_numpy(a), a != 0
        t_mask = torch.from_numpy(mask)
        cases = [("tenure", "allocates", tenure.makes(threads, "nonzero", a)),
                 ("PyTorch", "allocates", lambda: torch.nonzero(ta))]
        if threads == 1:
            cases.append(("NumPy", "allocates", lambda: np.nonzero(a)))
        rounds.measure(f"nonzero, {percent} %", size, threads, size, cases)
        rounds.measure(f"masked select, {percent} %", size, threads, size, [
            ("tenure", "allocates", tenure.makes(threads, "masked_select", a, mask)),
            ("PyTorch", "allocates", lambda: torch.masked_select(ta, t_mask))])


def matmul(rounds, tenure, sides, cubes, threads):
    one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))
    for dtype, name in ((np.float32, "f32"), (np.float64, "f64")):
        for side in [*sides, *(cubes if threads == 1 else ())]:
            a = np.resize(np.arange(17, dtype=dtype), (side, side))
            b, c = a.copy(), np.empty_like(a)
            ta, tb, tc = map(torch.from_numpy, (a, b, c))
            turned = [("", a, ta, b, tb)]
            if side == sides[0] and threads == 1:
                turned += [(", a transposed", a.T, ta.t(), b, tb),
                           (", b transposed", a, ta, b.T, tb.t()),
                           (", a and b transposed", a.T, ta.t(), b.T, tb.t())]
            for suffix, a, ta, b, tb in turned:
                cases = [
                    ("tenure", "into", tenure.call(threads, "matmul", one, a, b, zero, c)),
                    ("PyTorch", "into", lambda: torch.mm(ta, tb, out=tc))]
                if side in sides:
                    cases.append(("tenure", "packed before", tenure.by_packed(threads, a, b, c)))
                if threads == 1:
                    cases.append(("NumPy", "into", lambda: np.matmul(a, b, out=c)))
                operations = 2 * side**3
                rounds.measure(f"matmul {name} {side}{suffix}", 3 * a.nbytes, threads, operations,
                               cases)


def few_rows(rounds, tenure, side, threads):
    """A few rows by a matrix that no cache holds, as it lies and packed before."""
    one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))
    b = np.resize(np.arange(17, dtype=np.float32), (side, side))
    tb = torch.from_numpy(b)
    for rows in (1, 2, 4, 8):
        a, c = b[:rows].copy(), np.empty((rows, side), np.float32)
        ta, tc = map(torch.from_numpy, (a, c))
        rounds.measure(f"matmul f32, {rows} by {side}", b.nbytes, threads, 2 * rows * side**2, [
            ("tenure", "into", tenure.call(threads, "matmul", one, a, b, zero, c)),
            ("tenure", "packed before", tenure.by_packed(threads, a, b, c)),
            ("PyTorch", "into", lambda: torch.mm(ta, tb, out=tc))])


def to_csr(rounds, tenure, side, threads):
    """A layer whose result is mostly zeros: one column of ten is above them."""
    one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))
    a = np.resize(np.arange(17, dtype=np.float32), (side, side))
    bias = np.where(np.arange(side) % 10 == 0, 0, -1e6).astype(np.float32)
    c = np.empty_like(a)
    ta, tbias = torch.from_numpy(a), torch.from_numpy(bias)
    rounds.measure(f"matmul f32 {side}, relu, to CSR", 3 * a.nbytes, threads, 2 * side**3, [
        ("tenure", "into", tenure.call(threads, "matmul", one, a, a, zero, c)),
        ("tenure", "to CSR", tenure.to_csr(threads, a, a, bias)),
        ("PyTorch", "dense, then CSR",
         lambda: torch.addmm(tbias, ta, ta).relu_().to_sparse_csr())])


def factor_of(dtype, shape):
    """Small whole numbers of a dtype of PyTorch, and an array of the same memory."""
    tensor = torch.from_numpy(np.resize(np.arange(17, dtype=np.int8), shape)).to(dtype)
    # NumPy has no bfloat16; the code of one is that of raw bytes.
    if dtype == torch.bfloat16:
        return tensor, tensor.view(torch.int16).numpy().view("V2")
    return tensor, tensor.numpy()


def product_dtypes(rounds, tenure, side, batch, threads):
    """Products of other dtypes, and `batch` of them, each of 32 by 32."""
    one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))

    def measure(name, dtype, of_product, torch_into, shape):
        (ta, a), (tb, b) = (factor_of(dtype, shape) for _ in range(2))
        tc, c = factor_of(of_product, shape)
        size = ta.nbytes + tb.nbytes + tc.nbytes
        operations = 2 * ta.numel() * shape[-1] * (4 if dtype.is_complex else 1)
        rounds.measure(f"matmul {name}", size, threads, operations, [
            ("tenure", "into", tenure.call(threads, "matmul", one, a, b, zero, c)),
            ("PyTorch", "into", lambda: torch_into(ta, tb, out=tc))])

    for name, dtype in (("bf16", torch.bfloat16), ("c64", torch.complex64),
                        ("c128", torch.complex128)):
        measure(f"{name} {side}", dtype, dtype, torch.mm, (side, side))
    measure(f"i8 {side}", torch.int8, torch.int32, torch._int_mm, (side, side))
    for each in (8, 16, 32, 64):
        measure(f"f32, {batch} of {each}", torch.float32, torch.float32, torch.bmm,
                (batch, each, each))


class Conv2dAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("strides", ctypes.c_int64 * 2),
                ("padding", ctypes.c_int64 * 4), ("dilations", ctypes.c_int64 * 2),
                ("groups", ctypes.c_int64), ("activation", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("low", ctypes.c_double),
                ("high", ctypes.c_double)]


# Images, channels, side, filters, side of a filter, stride: as in src/operations/convolutions.rs.
CONVOLUTIONS = [
    (8, 64, 56, 64, 3, 1), (1, 64, 56, 64, 3, 1), (1, 3, 224, 64, 7, 2), (1, 64, 56, 256, 1, 1),
    (1, 256, 56, 64, 1, 1), (1, 128, 28, 128, 3, 1), (1, 256, 56, 128, 1, 2),
    (1, 256, 14, 256, 3, 1), (1, 512, 7, 512, 3, 1), (1, 512, 7, 2048, 1, 1),
    (8, 512, 7, 512, 3, 1)]


def images_of(shape, is_last):
    """Small whole numbers, of the shape [count, channels, side, side]; the channels may be last."""
    count, channels, side = shape
    laid = (count, side, side, channels) if is_last else (count, channels, side, side)
    numbers = np.resize(np.arange(17, dtype=np.float32), laid)
    return numbers.transpose(0, 3, 1, 2) if is_last else numbers


def conv2d(rounds, tenure, shapes, threads):
    for images, channels, side, filters, kernel, stride in shapes:
        around = kernel // 2
        out_side = (side + 2 * around - kernel) // stride + 1
        attributes = Conv2dAttributes(
            ctypes.sizeof(Conv2dAttributes), (stride, stride), (around,) * 4)
        step = "" if stride == 1 else f", stride {stride}"
        name = f"conv2d {images}x{channels}x{side}x{side} by {filters} of {kernel}x{kernel}{step}"
        for is_last, order in ((False, ""), (True, ", NHWC")):
            a = images_of((images, channels, side), is_last)
            weight = images_of((filters, channels, kernel), is_last)
            out = images_of((images, filters, out_side), is_last)
            ta, tw = map(torch.from_numpy, (a, weight))
            cases = [
                ("tenure", "into",
                 tenure.call(threads, "conv2d", a, weight, None, out, attribute=attributes)),
                ("PyTorch", "allocates",
                 lambda: torch.nn.functional.conv2d(ta, tw, None, stride, around))]
            operations = 2 * out.size * channels * kernel**2
            rounds.measure(name + order, a.nbytes + weight.nbytes + out.nbytes, threads,
                           operations, cases)


class Pool2dAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("kernel", ctypes.c_int64 * 2),
                ("strides", ctypes.c_int64 * 2), ("padding", ctypes.c_int64 * 4),
                ("dilations", ctypes.c_int64 * 2), ("flags", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


def windows(rounds, tenure, shape, threads):
    """As src/operations/windows.rs."""
    images, channels, side = shape
    size, half = ctypes.sizeof(Pool2dAttributes), side // 2
    overlapping = Pool2dAttributes(size, (3, 3), (2, 2), (1,) * 4)
    tiles = Pool2dAttributes(size, (2, 2))
    beside = Conv2dAttributes(
        ctypes.sizeof(Conv2dAttributes), (1, 1), (1,) * 4, (1, 1), channels)
    weight = images_of((channels, 1, 3), False)
    tw = torch.from_numpy(weight)
    of_torch = torch.nn.functional
    maximum, mean = interop.REDUCE["max"], interop.REDUCE["mean"]
    for is_last, order in ((False, ""), (True, ", NHWC")):
        a = images_of(shape, is_last)
        out = images_of((images, channels, half), is_last)
        ta = torch.from_numpy(a)

        def pool2d(op, attributes):
            return tenure.call(threads, "pool2d", op, a, out, attribute=attributes)

        for name, ours, theirs in (
                ("maxima of 3x3", pool2d(maximum, overlapping),
                 lambda: of_torch.max_pool2d(ta, 3, 2, 1)),
                ("maxima of 2x2", pool2d(maximum, tiles), lambda: of_torch.max_pool2d(ta, 2)),
                ("means of 2x2", pool2d(mean, tiles), lambda: of_torch.avg_pool2d(ta, 2))):
            rounds.measure(f"{name}, stride 2{order}", a.nbytes, threads, a.nbytes + out.nbytes,
                           [("tenure", "into", ours), ("PyTorch", "allocates", theirs)])
        out = images_of(shape, is_last)
        rounds.measure(
            f"depthwise 3x3{order}", a.nbytes, threads, 2 * a.nbytes,
            [("tenure", "into",
              tenure.call(threads, "conv2d", a, weight, None, out, attribute=beside)),
             ("PyTorch", "allocates",
              lambda: of_torch.conv2d(ta, tw, None, 1, 1, 1, channels))])


def laid_out(shape):
    """Arrays of a shape, in layouts that PyTorch has too, and what each is called."""
    numbers = np.resize(np.arange(17, dtype=np.float32), math.prod(shape) * 2)
    flat = numbers[:math.prod(shape)]
    yield "row-major", flat.reshape(shape)
    if len(shape) == 4:
        images, channels, height, width = shape
        laid = flat.reshape(images, height, width, channels)
        yield "channels last", laid.transpose(0, 3, 1, 2)
    else:
        yield "transposed", flat.reshape(shape[::-1]).T
    yield "every second column", numbers.reshape(*shape[:-1], 2 * shape[-1])[..., ::2]


def elementwise_layouts(rounds, tenure, shape, threads):
    """`a` in each layout beside others, and what is written, row-major."""
    b = np.resize(np.arange(13, dtype=np.float32), shape)
    out, wide, truths = np.empty_like(b), np.empty(shape), np.empty(shape, np.bool_)
    condition = b > 6
    tb, tout, twide, ttruths, tcondition = map(
        torch.from_numpy, (b, out, wide, truths, condition))
    what = "a" if len(shape) == 2 else "images"
    for layout, a in laid_out(shape):
        ta = torch.from_numpy(a)
        for name, nbytes, ours, torch_work, numpy_work in (
                (f"{what} + b", 12, ("binary", interop.BINARY["add"], a, b, out),
                 lambda: torch.add(ta, tb, out=tout), lambda: np.add(a, b, out=out)),
                (f"{what} < b", 9, ("compare", interop.COMPARE["lt"], a, b, truths),
                 lambda: torch.lt(ta, tb, out=ttruths), lambda: np.less(a, b, out=truths)),
                (f"select {what}", 13, ("select", condition, a, b, out),
                 lambda: torch.where(tcondition, ta, tb, out=tout),
                 lambda: np.copyto(out, np.where(condition, a, b))),
                (f"{what} to f64", 12, ("cast", a, wide),
                 lambda: twide.copy_(ta), lambda: np.copyto(wide, a))):
            cases = [("tenure", "into", tenure.call(threads, *ours)),
                     ("PyTorch", "into", torch_work)]
            if threads == 1:
                cases.append(("NumPy", "into", numpy_work))
            rounds.measure(f"layouts: {name}, {layout}", 3 * a.nbytes, threads, nbytes * a.size,
                           cases)


def layouts(rounds, tenure, side, image, threads):
    """One operand in each layout; the others, and what is written, row-major. The result of a
    convolution has its channels last where those of the images are, as PyTorch's has."""
    one, zero = interop.scalar_of(np.uint8(1)), interop.scalar_of(np.uint8(0))
    b = np.resize(np.arange(13, dtype=np.float32), (side, side))
    out = np.empty_like(b)
    tb, tout = torch.from_numpy(b), torch.from_numpy(out)
    for layout, a in laid_out((side, side)):
        ta = torch.from_numpy(a)
        for name, operations, ours, theirs in (
                ("matmul", 2 * side**3, tenure.call(threads, "matmul", one, a, b, zero, out),
                 lambda: torch.mm(ta, tb, out=tout)),
                ("copy", 2 * a.nbytes, tenure.call(threads, "copy", a, out),
                 lambda: tout.copy_(ta))):
            rounds.measure(f"layouts: {name}, {layout}", 3 * a.nbytes, threads, operations,
                           [("tenure", "into", ours), ("PyTorch", "into", theirs)])
    elementwise_layouts(rounds, tenure, (4 * side, 4 * side), threads)
    elementwise_layouts(rounds, tenure, image, threads)
    weight = images_of((image[1], image[1], 3), False)
    tw = torch.from_numpy(weight)
    for layout, a in laid_out(image):
        out = images_of(image[:3], layout == "channels last")
        ta = torch.from_numpy(a)
        attributes = Conv2dAttributes(ctypes.sizeof(Conv2dAttributes), (1, 1), (1,) * 4)
        rounds.measure(
            f"layouts: conv2d, {layout}", 2 * a.nbytes, threads, 2 * out.size * weight[0].size,
            [("tenure", "into",
              tenure.call(threads, "conv2d", a, weight, None, out, attribute=attributes)),
             ("PyTorch", "allocates", lambda: torch.nn.functional.conv2d(ta, tw, None, 1, 1))])


# Specs and shapes of their operands.
EINSUMS = [
    ("ij,jk->ik", [(512, 512)] * 2), ("ij,kj->ki", [(512, 512)] * 2),
    ("bij,bjk->bik", [(64, 64, 64)] * 2), ("bhqd,bhkd->bhqk", [(8, 8, 128, 64)] * 2),
    ("bqhd,bkhd->bhqk", [(8, 128, 8, 64)] * 2), ("ijk,jil->kl", [(60, 70, 80), (70, 60, 90)]),
    ("ijk,ilm,njm,nlk,abc->",
     [(10, 17, 9), (10, 13, 16), (15, 17, 16), (15, 13, 9), (10, 16, 17)]),
    ("ea,fb,abcd,gc,hd->efgh", [(24, 24)] * 2 + [(24,) * 4] + [(24, 24)] * 2),
    ("ij,jk,kl,lm->im", [(10, 1000), (1000, 10)] * 2), ("ij,jk->ik", [(8, 8)] * 2),
    ("ii->", [(1000, 1000)]), ("i,j->ij", [(2000,)] * 2), ("ij,ij->i", [(1000, 1000)] * 2),
    ("ij,ij->j", [(1000, 1000)] * 2)]


def einsums(rounds, tenure, specs, threads):
    for spec, shapes in specs:
        arrays = [np.resize(np.arange(17, dtype=np.float32), shape) for shape in shapes]
        tensors = list(map(torch.from_numpy, arrays))
        out = np.empty_like(np.einsum(spec, *arrays, optimize=True))
        views = (interop.View * len(arrays))(*map(interop.view_of, arrays))
        cases = [("tenure", "into",
                  tenure.call(threads, "einsum", spec.encode(), views, len(arrays), out)),
                 ("PyTorch", "allocates", lambda: torch.einsum(spec, *tensors))]
        if threads == 1:
            cases.append(("NumPy", "allocates", lambda: np.einsum(spec, *arrays, optimize=True)))
        size = sum(array.nbytes for array in arrays) + out.nbytes
        sides = "x".join(map(str, shapes[0]))
        rounds.measure(f"einsum {spec}, {sides}", size, threads, size, cases)


def ordering(rounds, tenure, count, threads):
    """Random elements; PyTorch's sort gives indices as well, whether they are wanted or not."""
    drawn = np.random.default_rng(SEED)
    one = threads == 1
    arrays = {
        "f32": drawn.standard_normal(count).astype(np.float32),
        "i64": drawn.integers(-2**62, 2**62, count)}
    for name, a in arrays.items():
        ta, out = torch.from_numpy(a), np.empty_like(a)
        cases = [("tenure", "into", tenure.call(threads, "sort", a, 0, None, out)),
                 ("PyTorch", "allocates", lambda: torch.sort(ta))]
        if one:
            cases.append(("NumPy", "allocates", lambda: np.sort(a)))
        rounds.measure(f"sort {name}", a.nbytes, threads, count, cases)
        for length in (100, 1000):
            rows = a[:count // length * length].reshape(-1, length)
            trows, rows_out = torch.from_numpy(rows), np.empty_like(rows)
            cases = [("tenure", "into", tenure.call(threads, "sort", rows, 1, None, rows_out)),
                     ("PyTorch", "allocates", lambda: torch.sort(trows))]
            if one:
                cases.append(("NumPy", "allocates", lambda: np.sort(rows)))
            rounds.measure(f"sort rows of {length} {name}", rows.nbytes, threads, rows.size, cases)
    a, places = arrays["f32"], np.empty(count, np.int64)
    ta = torch.from_numpy(a)
    best, middle = np.empty(100, np.float32), np.empty(1, np.float32)
    edges = np.sort(a[:1000])
    tedges = torch.from_numpy(edges)
    half = (ctypes.c_double * 1)(0.5)
    for name, ours, torch_work, numpy_work in (
            ("top 100 f32", tenure.call(threads, "top_k", a, 0, None, best),
             lambda: torch.topk(ta, 100), lambda: np.sort(np.partition(a, count - 100)[-100:])),
            ("median f32", tenure.call(threads, "quantile", a, 1, half, 1, middle),
             lambda: torch.median(ta), lambda: np.median(a)),
            ("searchsorted among 1000 f32", tenure.call(threads, "searchsorted", edges, a, places),
             lambda: torch.searchsorted(tedges, ta), lambda: np.searchsorted(edges, a))):
        cases = [("tenure", "into", ours), ("PyTorch", "allocates", torch_work)]
        if one:
            cases.append(("NumPy", "allocates", numpy_work))
        rounds.measure(name, a.nbytes, threads, count, cases)


def movement(rounds, tenure, bits, permutations, batch, threads):
    """`permutations`: how many are drawn, on one thread and on two."""
    a, _, c = arrays_of(max(1 << bits, batch * 64 * 56 * 56))
    side, size = 1 << bits // 2, 4 << bits
    square, out = (array[:1 << bits].reshape(side, side) for array in (a, c))
    ta, tout = torch.from_numpy(square), torch.from_numpy(out)
    cases = [
        ("tenure", "into", tenure.call(threads, "copy", square.T, out)),
        ("PyTorch", "into", lambda: tout.copy_(ta.t()))]
    cases += fresh("tenure", tenure.allocating(threads, "copy", square.T, like=out))
    cases += fresh("PyTorch", lambda: ta.t().contiguous())
    if threads == 1:
        cases.append(("NumPy", "into", lambda: np.copyto(out, square.T)))
        cases += fresh("NumPy", lambda: np.ascontiguousarray(square.T))
    rounds.measure("transpose", size, threads, 2 * size, cases)

    def permute(name, shape, axes):
        count = math.prod(shape)
        of, to = a[:count].reshape(shape), c[:count].reshape([shape[i] for i in axes])
        tof, tto = torch.from_numpy(of).permute(axes), torch.from_numpy(to)
        cases = [
            ("tenure", "into", tenure.call(threads, "copy", of.transpose(axes), to)),
            ("PyTorch", "into", lambda: tto.copy_(tof))]
        rounds.measure(name, 4 * count, threads, 8 * count, cases)

    permute("NCHW to NHWC", [batch, 64, 56, 56], [0, 2, 3, 1])
    permute("NHWC to NCHW", [batch, 56, 56, 64], [0, 3, 1, 2])
    permute("rows of 8 KiB", [batch, 64, 2048], [1, 0, 2])
    drawn = Permutations(SEED)
    for _ in range(permutations[threads - 1]):
        shape, axes, name = drawn.draw(bits)
        permute(name, shape, axes)


def random(rounds, tenure, count, threads):
    """Numbers into memory that is there; a permutation, which others only allocate."""
    seed, offset = ctypes.c_uint64(SEED), ctypes.c_uint64(0)
    out = np.empty(count, np.float32)
    tout = torch.from_numpy(out)
    generator = np.random.default_rng(SEED)
    for name, code, torch_into, numpy_into in (
            ("uniform", 1, tout.uniform_, lambda: generator.random(out=out, dtype=np.float32)),
            ("normal", 2, tout.normal_,
             lambda: generator.standard_normal(out=out, dtype=np.float32))):
        cases = [("tenure", "into", tenure.call(threads, "random", code, seed, offset, out)),
                 ("PyTorch", "into", torch_into)]
        if threads == 1:
            cases.append(("NumPy", "into", numpy_into))
        rounds.measure(f"random: {name}", out.nbytes, threads, out.nbytes, cases)
    if threads == 1:
        order = np.empty(count // 10, np.int64)
        rounds.measure("random: permutation", order.nbytes, threads, order.nbytes, [
            ("tenure", "into", tenure.call(threads, "random_permutation", seed, offset, order)),
            ("PyTorch", "allocates", lambda: torch.randperm(order.size)),
            ("NumPy", "allocates", lambda: generator.permutation(order.size))])


def calls(rounds, tenure, counts):
    for count in counts:
        a, b, c = arrays_of(count)
        ta, tb, tc = map(torch.from_numpy, (a, b, c))
        cases = [
            ("tenure", "into", tenure.call(1, "binary", interop.BINARY["add"], a, b, c)),
            ("PyTorch", "into", lambda: torch.add(ta, tb, out=tc)),
            ("PyTorch", "allocates", lambda: ta + tb),
            ("NumPy", "into", lambda: np.add(a, b, out=c)),
            ("NumPy", "allocates", lambda: a + b)]
        # Another name than from Rust: here the interpreter is in each figure.
        rounds.measure("call from Python", 4 * count, 1, 12 * count, cases)


def check_permutations():
    """Those that Rust draws, which its tests compare with the same file."""
    drawn = Permutations(1)
    expected = (HERE / "permutations.txt").read_text().splitlines()
    assert [drawn.draw(24)[2] for _ in expected] == expected, "other permutations than Rust's"


def machine():
    lines = open("/proc/cpuinfo")
    fields = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
    name, family, model = (
        fields.get(key, "unknown") for key in ("model name", "cpu family", "model"))
    return f"{name} (family {family}, model {model}), {os.cpu_count()} cores"


class Record:
    """The figures of one run, which is what there is when it begins."""

    def __init__(self, subject, tenure, versions):
        load = " ".join(f"{figure:.2f}" for figure in os.getloadavg())
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
        build = tenure.c.tnr_build_info().decode()
        instruction_set = build.rpartition("in use: ")[2]
        if instruction_set.startswith("avx512"):
            instruction_set = "avx512"
        self.figures = {
            "subject": subject, "set": instruction_set, "cpu": machine(), "date": date,
            "load": load, "versions": {
                "tenure": build, "Python": sys.version.split()[0],
                "PyTorch": torch.__version__, "NumPy": np.__version__, **versions}}

    def write(self, folder, rows):
        path = pathlib.Path(folder, self.figures["set"], self.figures["subject"] + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**self.figures, "rows": rows}, indent=1) + "\n")
        print(f"\nWritten to {path}")


def main():
    library, folder, *options = sys.argv[1:]
    scale = options[0].removeprefix("--") if options else "full"
    check_permutations()
    tenure = Tenure(library)
    rounds = Rounds(scale, tenure)
    record = Record("python", tenure, {"numexpr": numexpr.__version__})

    small = {"test": [64 << 10], "quick": [1 << 20, 64 << 20]}
    bits, permutations, batch = {"test": (12, (3, 1), 1), "quick": (24, (20, 5), 32)}.get(
        scale, (24, (200, 40), 32))
    counts = [8] if scale == "test" else [1, 8, 64, 512, 8192, 65536, 262_144, 1_000_000]
    products = {"test": ([48], [8]), "quick": ([1024], [8, 16, 32, 64])}.get(
        scale, ([1024, 2048], [8, 12, 16, 24, 32, 48, 64]))
    convolutions = {"test": [(1, 3, 6, 5, 3, 1)], "quick": CONVOLUTIONS[:4]}.get(
        scale, CONVOLUTIONS)
    rows_by, sparse_side = {"test": (64, 48)}.get(scale, (8192, 2048))
    dtypes = {"test": (32, 2)}.get(scale, (1024, 4096))
    images = {"test": (1, 3, 64), "quick": (8, 32, 256)}.get(scale, (8, 128, 256))
    squares = {"test": (48, (1, 3, 6, 6))}.get(scale, (1024, (8, 64, 56, 56)))
    randoms = {"test": 1000, "quick": 10_000_000}.get(scale, 100_000_000)
    specs = EINSUMS[-4:] if scale == "test" else EINSUMS
    calls(rounds, tenure, counts)
    for threads in (1, 2):
        for size in small.get(scale, [1 << 20, 64 << 20, 1 << 30]):
            elementwise(rounds, tenure, size, threads)
            reductions(rounds, tenure, size, threads)
            normalizations(rounds, tenure, ROW_LENGTHS[scale == "test"], size, threads)
            scans(rounds, tenure, size, threads)
        for size in EXPRESSION_BYTES[scale == "test"]:
            expressions(rounds, tenure, size, threads)
        indexing(rounds, tenure, (64 << 10) if scale == "test" else 64 << 20, threads)
        for size in FUNCTION_BYTES[scale == "test"]:
            functions(rounds, tenure, size, threads, np.float32, "")
            functions(rounds, tenure, size, threads, np.float64, " f64")
            halves(rounds, tenure, size // 2, threads)
        movement(rounds, tenure, bits, permutations, batch, threads)
        matmul(rounds, tenure, *products, threads)
        few_rows(rounds, tenure, rows_by, threads)
        to_csr(rounds, tenure, sparse_side, threads)
        product_dtypes(rounds, tenure, *dtypes, threads)
        conv2d(rounds, tenure, convolutions, threads)
        windows(rounds, tenure, images, threads)
        layouts(rounds, tenure, *squares, threads)
        einsums(rounds, tenure, specs, threads)
        random(rounds, tenure, randoms, threads)
        ordering(rounds, tenure, 10_000 if scale == "test" else 10_000_000, threads)

    record.write(folder, rounds.rows)


if __name__ == "__main__":
    main()
