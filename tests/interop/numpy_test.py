"""Every operation and dtype against NumPy, through the shared library's C functions.

    python tests/interop/numpy_test.py LIBRARY_PATH

Needs numpy; bfloat16 is tested where ml_dtypes is installed. Left out is where the two differ on
purpose: docs/operations.md lists it.
"""

import ctypes
import itertools
import math
import sys
import unittest
import warnings

import numpy as np

import operations

try:
    import ml_dtypes
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

MAX_RANK = 8
CPU = 1
UNSUPPORTED = 3

FLOATS = [np.float64, np.float32, np.float16] + ([bfloat16] if bfloat16 else [])
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
NUMBERS = FLOATS + SIGNED + UNSIGNED
REAL = NUMBERS + [np.bool_]
COMPLEX = [np.complex64, np.complex128]
CODES = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}  # of DLPack, by NumPy's kind

UNARY, BINARY, COMPARE, REDUCE, NORMALIZE, SCAN = (
    {name: row.code for name, row in rows.items()} for rows in (
        operations.UNARY, operations.BINARY, operations.COMPARE, operations.REDUCE,
        operations.NORMALIZE, operations.SCAN))
CLASSIFICATIONS = ["is_nan", "is_inf", "is_finite"]


def kind_of(dtype):
    """What the rows call a dtype."""
    kind = np.dtype(dtype).kind
    return "bool" if kind == "b" else "integer" if kind in "iu" else "float"


def largest_of(dtype):
    """The largest finite number, which NumPy does not say of a foreign dtype."""
    return ml_dtypes.finfo(dtype).max if bfloat16 else np.finfo(dtype).max


def oracle(row):
    """The function of NumPy that a row names, or what it has no function for."""
    def weighted(a, weight):
        """The limit where a is infinite and the weight 0."""
        return np.where(np.isinf(a) & (weight == 0), 0.0, a * weight)

    def sigmoid(a):
        return 1 / (1 + np.exp(-a))

    # Below 0 a rounding of the argument grows with the argument, so these are computed in more.
    def normal_integral(a):
        root = -a / np.sqrt(2)
        excess = root.astype(np.longdouble)**2 - a.astype(np.longdouble)**2 / 2
        excess = np.where(np.isfinite(a) & (a < 0), excess, 0).astype(np.float64)
        return np.vectorize(math.erfc, otypes=[np.float64])(root) / 2 * np.exp(excess)

    def gelu_tanh(a):
        a = a.astype(np.longdouble)
        slope = np.sqrt(8 / np.arccos(np.longdouble(-1)))
        return weighted(a, sigmoid(slope * (a + np.longdouble("0.044715") * a**3)))

    own = {
        "erf": np.vectorize(math.erf, otypes=[np.float64]),
        "erfc": np.vectorize(math.erfc, otypes=[np.float64]),
        "rsqrt": lambda a: 1 / np.sqrt(a),
        "fma": lambda a, b, c: a * b + c,
        "lerp": lambda a, b, c: (1 - c) * a + c * b,
        "relu": lambda a: np.where(a < 0, np.zeros_like(a), a),
        "sigmoid": sigmoid,
        "silu": lambda a: weighted(a, sigmoid(a)),
        "gelu": lambda a: weighted(a, normal_integral(a)),
        "gelu_tanh": gelu_tanh,
        "softplus": lambda a: np.logaddexp(0, a),
        "hardswish": lambda a: weighted(a, np.clip(a / 6 + 0.5, 0, 1)),
        "softsign": lambda a: np.where(np.isinf(a), np.sign(a), a / (1 + np.abs(a))),
        "elu": lambda a: np.where(a > 0, a, np.expm1(a)),
        "leaky_relu": lambda a: np.where(a < 0, 0.01 * a, a),
    }
    return own.get(row.numpy) or getattr(np, row.numpy.removeprefix("np."))


class View(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("base", ctypes.c_void_p), ("size_bytes", ctypes.c_uint64),
        ("owner", ctypes.c_uint64), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32),
        ("device_kind", ctypes.c_int32), ("device_index", ctypes.c_int32),
        ("flags", ctypes.c_uint32), ("bit_offset", ctypes.c_uint32), ("reserved", ctypes.c_uint64),
        ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("bytes", ctypes.c_uint8 * 16)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("reserved", ctypes.c_uint32),
                ("message", ctypes.c_char * 504)]


class Attributes(ctypes.Structure):
    """The attributes of an operation that has one, of 32 bits."""
    _fields_ = [("struct_size", ctypes.c_uint64), ("value", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class ReduceAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("ddof", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32), ("power", ctypes.c_double)]


class NormalizeAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("eps", ctypes.c_double),
                ("weight", ctypes.c_void_p), ("bias", ctypes.c_void_p)]


def attributes_of(value):
    """The attributes argument of a call: a structure, or its one field; NULL for None."""
    if value is None:
        return None
    if isinstance(value, ctypes.Structure):
        return ctypes.byref(value)
    return ctypes.byref(Attributes(struct_size=ctypes.sizeof(Attributes), value=value))


def dtype_of(array_dtype):
    dtype = np.dtype(array_dtype)
    code = 4 if bfloat16 and dtype == bfloat16 else CODES[dtype.kind]
    return code | dtype.itemsize * 8 << 8 | 1 << 16


def view_of(array):
    """The array lent as it lies. A stride of NumPy is in bytes, one of Tenure in elements."""
    view = View(dtype=dtype_of(array.dtype), rank=array.ndim, device_kind=CPU)
    data = array.__array_interface__["data"][0]
    low, high = data, data + array.itemsize
    for axis, (extent, stride) in enumerate(zip(array.shape, array.strides)):
        assert stride % array.itemsize == 0
        view.shape[axis] = extent
        view.strides[axis] = stride // array.itemsize
        reach = (extent - 1) * stride
        low, high = min(low, low + reach), max(high, high + reach)
    if array.size == 0:
        view.data = view.base = data
    else:
        view.data, view.base, view.size_bytes = data, low, high - low
    view.array = array  # C knows only its address; the view keeps the memory alive
    return view


def scalar_of(value):
    value = np.asarray(value)
    scalar = Scalar(dtype=dtype_of(value.dtype))
    raw = value.tobytes()
    scalar.bytes[:len(raw)] = raw
    return scalar


def lend(arguments):
    """The arguments as C takes them: arrays and scalars of NumPy as views, structs by reference."""
    parts = [view_of(np.asarray(argument)) if isinstance(argument, (np.ndarray, np.generic))
             else argument for argument in arguments]
    return [ctypes.byref(part) if isinstance(part, ctypes.Structure) else part for part in parts]


def with_attributes(passed, attribute=None, *, has_output=True):
    """The arguments with the attributes, which stand before the output where there is one."""
    at = len(passed) - has_output
    return [*passed[:at], attributes_of(attribute), *passed[at:]]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.tnr_last_error.restype = ctypes.POINTER(Error)

    def call(self, name, *arguments, attribute=None):
        """Calls tnr_<name>(NULL, ...), lending arrays."""
        return getattr(self.c, "tnr_" + name)(None, *with_attributes(lend(arguments), attribute))

    def run(self, name, *arguments, attribute=None):
        if self.call(name, *arguments, attribute=attribute) != 0:
            raise AssertionError(self.message())

    def message(self):
        return self.c.tnr_last_error().contents.message.decode()


library = None


def numbers(rng, dtype, shape):
    """Small numbers of both signs with repeats, and for floats NaN, infinities and zeros too."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        values = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        return np.asarray(values).astype(dtype)
    if dtype.kind in "biu":
        low, high = {"b": (0, 2), "i": (-50, 50), "u": (0, 100)}[dtype.kind]
        return np.asarray(rng.integers(low, high, shape)).astype(dtype)
    values = np.asarray(rng.integers(-40, 40, shape) / 8.0)
    specials = rng.choice([np.nan, np.inf, -np.inf, -0.0], values.shape)
    return np.where(rng.random(values.shape) < 0.05, specials, values).astype(dtype)


def layouts(array):
    """The same shape over memory of several kinds; what is not a copy of `array` repeats it."""
    array = np.asarray(array)
    yield array
    if array.ndim == 0:
        return
    yield np.asfortranarray(array)
    padded = np.zeros([2 * extent + 1 for extent in array.shape], array.dtype)
    every_second = padded[tuple(slice(1, None, 2) for _ in array.shape)]
    every_second[...] = array
    yield every_second
    yield every_second[tuple(slice(None, None, -1) for _ in array.shape)]
    if array.size:
        yield np.broadcast_to(array[:1], array.shape)


def philox(seed, block, stream):
    """The four words of each block of Philox4x32-10."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    counter = [block & low, block >> half, np.full_like(block, stream), np.zeros_like(block)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [second >> half ^ counter[1] ^ np.uint64(key[0]), second & low,
                   first >> half ^ counter[3] ^ np.uint64(key[1]), first & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(counter)


SHAPES = [(), (1,), (7,), (64,), (257,), (0,), (3, 0), (5, 33), (40, 3), (2, 3, 4), (3, 1, 2, 17)]


class NumpyTest(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(20240607)
        self.ignored = np.errstate(all="ignore")
        self.ignored.__enter__()
        self.addCleanup(self.ignored.__exit__, None, None, None)

    def assert_same(self, actual, expected, message):
        """Equal as values; NaN equals NaN."""
        expected = np.asarray(expected)
        self.assertEqual(actual.dtype, expected.dtype, message)
        both_nan = (actual != actual) & (expected != expected)
        if not np.all((actual == expected) | both_nan):
            self.fail(f"{message}\n got {actual}\nwant {expected}")

    def assert_near(self, actual, exact, message, roundings=1, beside=0):
        """Within `roundings` last places of actual's dtype from a result computed in f64; of one
        that is a sum, of the larger of it and `beside`, a term."""
        eps = {2: 2.0**-8 if actual.dtype.kind == "V" else 2.0**-11, 4: 2.0**-23, 8: 2.0**-51}
        expected = np.asarray(exact).astype(actual.dtype).astype(np.float64)
        tolerance = eps[actual.itemsize] * roundings
        if actual.itemsize == 2:
            # Half a place from what f32 holds, so that a value between two may go to either.
            expected = np.where(np.isfinite(expected), np.asarray(exact, np.float64), expected)
            tolerance *= 1 + 2.0**-10
        # Half a place of subnormal numbers of f16, which are not as rare as others.
        least = 2.0**-25 * (1 + 2.0**-10) if actual.dtype == np.float16 else 1e-300
        least = np.maximum(least, np.nan_to_num(tolerance * np.abs(beside), posinf=0))
        near = np.isclose(actual.astype(np.float64), expected, rtol=tolerance, atol=least,
                          equal_nan=True)
        if not np.all(near):
            self.fail(f"{message}\n got {actual}\nwant {expected}")

    def cases(self, dtypes):
        for dtype, shape in itertools.product(dtypes, SHAPES):
            array = numbers(self.rng, dtype, shape)
            for number, layout in enumerate(layouts(array)):
                yield layout, f"{np.dtype(dtype)} {shape} layout {number}"

    def outputs(self, shape, dtype):
        """An output in order, and one with gaps whose bytes must not change."""
        yield np.empty(shape, dtype), lambda: None
        if not shape:
            return
        gaps = np.full([2 * extent + 1 for extent in shape], 0, dtype)
        canary = gaps.view(np.uint8)
        canary[...] = 0x5A
        out = gaps[tuple(slice(1, None, 2) for _ in shape)]
        mask = np.ones(gaps.shape, bool)
        mask[tuple(slice(1, None, 2) for _ in shape)] = False

        def check():
            raw = np.ascontiguousarray(gaps[mask]).view(np.uint8)
            self.assertTrue(np.all(raw == 0x5A), "a byte between the elements changed")
        yield out, check

    def each_output(self, name, arguments, shape, dtype, attribute=None):
        for out, check in self.outputs(shape, dtype):
            library.run(name, *arguments, out, attribute=attribute)
            check()
            yield out

    def test_copy(self):
        for a, message in self.cases(REAL + COMPLEX):
            for out in self.each_output("copy", [a], a.shape, a.dtype):
                self.assert_same(out, a, message)

    def test_copy_of_permutations(self):
        generator = np.random.default_rng(31)
        for shape in [(33, 65), (130, 127), (7, 64, 3), (5, 17, 4, 9), (3, 5, 2, 31, 6)]:
            for dtype in [np.uint8, np.float16, np.float32, np.float64, np.complex128]:
                a = generator.integers(0, 200, shape).astype(dtype)
                for axes in itertools.permutations(range(len(shape))):
                    turned = a.transpose(axes)
                    out = np.empty(turned.shape, dtype)
                    self.assertEqual(library.call("copy", turned, out), 0, library.message())
                    self.assertTrue(np.array_equal(out, turned), f"{shape} {axes} {dtype}")
                    turned = turned[..., ::-1]
                    self.assertEqual(library.call("copy", turned, out), 0, library.message())
                    self.assertTrue(np.array_equal(out, turned), f"{shape} {axes} {dtype} reversed")

    def test_fill(self):
        for dtype in REAL + COMPLEX:
            for shape in SHAPES:
                value = np.asarray(1 if dtype == np.bool_ else 5).astype(dtype)[()]
                for out in self.each_output("fill", [scalar_of(value)], shape, dtype):
                    self.assert_same(out, np.full(shape, value, dtype), f"fill {dtype} {shape}")

    def test_cast(self):
        for a, message in self.cases(REAL):
            for to in REAL:
                floats_to_integers = a.dtype.kind in "fV" and np.dtype(to).kind in "iu"
                source = a
                if floats_to_integers:  # NumPy leaves numbers out of range undefined
                    in_range = np.isfinite(a.astype(np.float64))
                    low = 0 if np.dtype(to).kind == "u" else -100
                    in_range &= a.astype(np.float64) >= low
                    source = np.where(in_range, a, np.asarray(1).astype(a.dtype)).astype(a.dtype)
                expected = source.astype(to)
                for out in self.each_output("cast", [source], a.shape, to):
                    self.assert_same(out, expected, f"{message} to {np.dtype(to)}")

    def test_cast_of_complex(self):
        for a, message in self.cases(COMPLEX):
            for to in COMPLEX:
                for out in self.each_output("cast", [a], a.shape, to):
                    self.assert_same(out, a.astype(to), f"{message} to {np.dtype(to)}")

    def test_every_f16_widens_and_comes_back(self):
        every = np.arange(65536, dtype=np.uint16).view(np.float16)
        self.every_half(every)

    @unittest.skipUnless(bfloat16, "ml_dtypes is not installed")
    def test_every_bf16_widens_and_comes_back(self):
        every = np.arange(65536, dtype=np.uint16).view(bfloat16)
        self.every_half(every)

    def every_half(self, every):
        for wide in (np.float32, np.float64):
            widened = np.empty(every.shape, wide)
            library.run("cast", every, widened)
            self.assert_same(widened, every.astype(wide), f"{every.dtype} to {wide}")
            back = np.empty_like(every)
            library.run("cast", widened, back)
            keeps = every == every
            self.assertTrue(np.array_equal(back[keeps].view(np.uint16),
                                           every[keeps].view(np.uint16)))
            self.assertTrue(np.all(back[~keeps] != back[~keeps]))

    def test_between_halves_rounds_once_to_even(self):
        for dtype in [np.float16] + ([bfloat16] if bfloat16 else []):
            every = np.arange(65536, dtype=np.uint16).view(dtype)
            finite = np.sort(every[np.isfinite(every.astype(np.float32))].astype(np.float64))
            middles = (finite[:-1] + finite[1:]) / 2
            for wide in (np.float32, np.float64):
                # ml_dtypes goes from f64 to bf16 through f32, which rounds twice.
                if wide == np.float64 and dtype is bfloat16:
                    continue
                middle = middles.astype(wide)
                for a in (middle, np.nextafter(middle, wide(np.inf)),
                          np.nextafter(middle, wide(-np.inf))):
                    out = np.empty(a.shape, dtype)
                    library.run("cast", a, out)
                    self.assertTrue(np.array_equal(out.view(np.uint16),
                                                   a.astype(dtype).view(np.uint16)))

    def test_unary(self):
        """Every row that takes all numbers, of which each is exact."""
        rows = [row for row in operations.UNARY.values()
                if {"float", "integer"} <= set(row.dtypes.split())]
        for a, message in self.cases(NUMBERS):
            for row in rows:
                for out in self.each_output("unary", [row.code, a], a.shape, a.dtype):
                    self.assert_same(out, oracle(row)(a), f"{row.numpy} {message}")

    def test_sqrt(self):
        for a, message in self.cases(FLOATS):
            for out in self.each_output("unary", [UNARY["sqrt"], a], a.shape, a.dtype):
                self.assert_same(out, np.sqrt(a), f"sqrt {message}")

    def test_functions(self):
        """Every row that takes floats alone, within its bound and one rounding of the oracle."""
        others = [*CLASSIFICATIONS, "nan_to_num"]
        rows = [row for name, row in operations.UNARY.items()
                if "float" in row.dtypes.split() and "integer" not in row.dtypes.split()
                and name not in others]
        for a, message in self.cases(FLOATS):
            for row in rows:
                for out in self.each_output("unary", [row.code, a], a.shape, a.dtype):
                    self.assert_near(out, oracle(row)(a.astype(np.float64)),
                                     f"{row.numpy} {message}", roundings=row.places + 1)

    def test_classifications(self):
        for a, message in self.cases(FLOATS):
            for name in CLASSIFICATIONS:
                row = operations.UNARY[name]
                for out in self.each_output("unary", [row.code, a], a.shape, np.bool_):
                    self.assert_same(out, oracle(row)(a), f"{name} {message}")

    def test_nan_to_num(self):
        for a, message in self.cases(FLOATS):
            most = largest_of(a.dtype)
            expected = np.where(np.isnan(a), np.zeros_like(a), np.clip(a, -most, most))
            for out in self.each_output("unary", [UNARY["nan_to_num"], a], a.shape, a.dtype):
                self.assert_same(out, expected.astype(a.dtype), f"nan_to_num {message}")

    def test_of_bits_and_truths(self):
        for a, message in self.cases(SIGNED + UNSIGNED + [np.bool_]):
            for name in ("logical_not", "bit_not"):
                row = operations.UNARY[name]
                if kind_of(a.dtype) not in row.dtypes.split():
                    continue
                for out in self.each_output("unary", [row.code, a], a.shape, a.dtype):
                    self.assert_same(out, oracle(row)(a), f"{name} {message}")

    def test_binary(self):
        rows = {name: row for name, row in operations.BINARY.items() if name != "div"}
        for a, message in self.cases(REAL):
            for name, row in rows.items():
                if kind_of(a.dtype) not in row.dtypes.split():
                    continue
                b = numbers(self.rng, a.dtype, a.shape)
                if name == "rem" and a.dtype.kind in "iu":
                    b = np.where(b == 0, b.dtype.type(3), b)
                if name == "pow" and a.dtype.kind in "iu":
                    b = np.abs(b)
                if row.places > 0.5:
                    expected = oracle(row)(a.astype(np.float64), b.astype(np.float64))
                    if a.dtype.kind not in "iu":
                        for out in self.each_output("binary", [row.code, a, b], a.shape, a.dtype):
                            self.assert_near(out, expected, f"{row.numpy} {message}",
                                             roundings=row.places + 1)
                        continue
                for out in self.each_output("binary", [row.code, a, b], a.shape, a.dtype):
                    self.assert_same(out, oracle(row)(a, b), f"{row.numpy} {message}")

    def test_ternary(self):
        for a, message in self.cases(NUMBERS):
            b, c = (numbers(self.rng, a.dtype, a.shape) for _ in range(2))
            for name, row in operations.TERNARY.items():
                if kind_of(a.dtype) not in row.dtypes.split():
                    continue
                if name == "clamp":
                    expected = np.minimum(np.maximum(a, b), c)
                else:  # eighths, whose products f64 holds
                    wide = [x.astype(np.float64) if x.dtype.kind in "fV" else x for x in (a, b, c)]
                    expected = oracle(row)(*wide).astype(a.dtype)
                for out in self.each_output("ternary", [row.code, a, b, c], a.shape, a.dtype):
                    if name == "lerp":
                        finite = np.isfinite(expected.astype(np.float64))
                        self.assert_near(out[finite], expected[finite], f"{name} {message}", 2)
                    else:
                        self.assert_same(out, expected, f"{name} {message}")

    def test_division(self):
        for a, message in self.cases(NUMBERS):
            b = numbers(self.rng, a.dtype, a.shape)
            if a.dtype.kind in "iu":  # NumPy's // rounds down; both agree on numbers from 0 on
                b = np.where(b == 0, b.dtype.type(3), np.abs(b)).astype(b.dtype)
                a = np.abs(a)
                expected = a // b
            else:
                expected = np.divide(a, b)
            for out in self.each_output("binary", [BINARY["div"], a, b], a.shape, a.dtype):
                self.assert_same(out, expected, f"div {message}")

    def test_binary_broadcasts(self):
        shapes = [((3, 1), (1, 4)), ((4,), (2, 3, 4)), ((), (5,)), ((2, 1, 5), (7, 1)),
                  ((1, 1, 1), (1,)), ((600, 1), (1, 3)), ((0, 1), (1, 4))]
        for dtype, (left, right) in itertools.product(NUMBERS, shapes):
            a, b = numbers(self.rng, dtype, left), numbers(self.rng, dtype, right)
            expected = np.subtract(a, b)
            for out in self.each_output("binary", [BINARY["sub"], a, b], expected.shape, dtype):
                self.assert_same(out, expected, f"{np.dtype(dtype)} {left} {right}")

    def test_binary_with_a_number(self):
        functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "min": np.minimum,
                     "max": np.maximum}
        for a, message in self.cases(NUMBERS):
            three = np.asarray(3).astype(a.dtype)
            number = scalar_of(three)
            for name, function in functions.items():
                for out in self.each_output("binary_scalar", [BINARY[name], a, number], a.shape,
                                            a.dtype):
                    self.assert_same(out, function(a, three), f"{name} {message}")
                for out in self.each_output("scalar_binary", [BINARY[name], number, a], a.shape,
                                            a.dtype):
                    self.assert_same(out, function(three, a), f"{name} {message}")

    def test_compare(self):
        for a, message in self.cases(REAL):
            b = numbers(self.rng, a.dtype, a.shape)
            one = np.asarray(1).astype(a.dtype)
            number = scalar_of(one)
            for name, code in COMPARE.items():
                function = oracle(operations.COMPARE[name])
                for out in self.each_output("compare", [code, a, b], a.shape, np.bool_):
                    self.assert_same(out, function(a, b), f"{name} {message}")
                for out in self.each_output("compare_scalar", [code, a, number], a.shape, np.bool_):
                    self.assert_same(out, function(a, one), f"{name} number {message}")

    # ---- complex numbers ----

    def assert_near_complex(self, actual, exact, message, beside=None):
        """Within three roundings of the magnitude, or of that of a term."""
        self.assertEqual(actual.dtype.kind, "c", message)
        part = actual.real.dtype
        exact = np.asarray(exact)
        size = np.abs(exact) if beside is None else beside
        near = np.abs(actual - exact) <= 3 * np.finfo(part).eps * size
        if not np.all(near | (np.isnan(actual) & np.isnan(exact))):
            self.fail(f"{message}\n got {actual}\nwant {exact}")

    def test_complex_of_one(self):
        rows = [(name, row) for name, row in operations.UNARY.items()
                if "complex" in row.dtypes.split()]
        self.assertEqual([name for name, _ in rows],
                         ["neg", "abs", "square", "reciprocal", "conj", "arg"])
        for a, message in self.cases(COMPLEX):
            wide = a.astype(np.clongdouble)
            for name, row in rows:
                dtype = a.real.dtype if name in ("abs", "arg") else a.dtype
                for out in self.each_output("unary", [row.code, a], a.shape, dtype):
                    if name in ("neg", "conj"):
                        self.assert_same(out, oracle(row)(a), f"{name} {message}")
                    elif name in ("abs", "arg"):
                        self.assert_near(out, oracle(row)(wide), f"{name} {message}", 2)
                    else:
                        self.assert_near_complex(out, oracle(row)(wide), f"{name} {message}")

    def test_complex_of_two(self):
        for a, message in self.cases(COMPLEX):
            b = numbers(self.rng, a.dtype, a.shape)
            number = numbers(self.rng, a.dtype, ())
            for name, row in operations.BINARY.items():
                if "complex" not in row.dtypes.split():
                    self.assertEqual(library.call("binary", row.code, a, b, np.empty_like(a)),
                                     UNSUPPORTED)
                    continue
                for call, left, right in (("binary", a, b),
                                          ("binary_scalar", a, scalar_of(number)),
                                          ("scalar_binary", scalar_of(number), b)):
                    x = number if isinstance(left, Scalar) else left
                    y = number if isinstance(right, Scalar) else right
                    for out in self.each_output(call, [row.code, left, right], a.shape, a.dtype):
                        if name in ("add", "sub"):
                            self.assert_same(out, oracle(row)(x, y), f"{name} {message}")
                        else:
                            exact = oracle(row)(x.astype(np.clongdouble), y)
                            self.assert_near_complex(out, exact, f"{name} {message}")

    def test_complex_broadcasts(self):
        for dtype in COMPLEX:
            for left, right in [((3, 1), (1, 4)), ((4,), (2, 3, 4)), ((), (5,)), ((600, 1), (1, 3)),
                                ((0, 1), (1, 4))]:
                a, b = numbers(self.rng, dtype, left), numbers(self.rng, dtype, right)
                expected = np.subtract(a, b)
                for out in self.each_output("binary", [BINARY["sub"], a, b], expected.shape, dtype):
                    self.assert_same(out, expected, f"{np.dtype(dtype)} {left} {right}")

    def test_complex_zeros_and_infinities(self):
        """Where NumPy's quotient is a number, or what a divisor of 0 leaves."""
        parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
        every = np.array([complex(x, y) for x in parts for y in parts])
        for dtype in COMPLEX:
            a, b = (x.ravel().astype(dtype) for x in np.meshgrid(every, every))
            out = np.empty_like(a)
            library.run("binary", BINARY["div"], a, b, out)
            expected = a / b
            for i in range(a.size):
                message = f"{a[i]} / {b[i]}"
                finite = np.isfinite(a[i]) and np.isfinite(b[i])
                if np.isfinite(expected[i]):
                    self.assertTrue(np.isclose(out[i], expected[i]), message)
                elif finite or (b[i] == 0 and not np.isinf(a[i])):
                    self.assert_same(out[i], expected[i], message)
                elif np.isinf(b[i]) and np.isfinite(a[i]):
                    self.assertEqual(out[i], 0, message)
                elif np.isinf(a[i]) and np.isfinite(b[i]):
                    self.assertTrue(np.isinf(out[i]), message)
                elif np.isinf(a[i]) and np.isinf(b[i]):
                    self.assertTrue(np.isnan(out[i].real) and np.isnan(out[i].imag), message)

    def test_complex_equality(self):
        for a, message in self.cases(COMPLEX):
            b = np.where(self.rng.random(a.shape) < 0.5, a, a.conj()).astype(a.dtype)
            number = a.flat[0] if a.size else a.dtype.type(1)
            for name in ("eq", "ne"):
                function = oracle(operations.COMPARE[name])
                for out in self.each_output("compare", [COMPARE[name], a, b], a.shape, np.bool_):
                    self.assert_same(out, function(a, b), f"{name} {message}")
                for out in self.each_output("compare_scalar", [COMPARE[name], a, scalar_of(number)],
                                            a.shape, np.bool_):
                    self.assert_same(out, function(a, number), f"{name} number {message}")

    def test_complex_sums(self):
        for a, axes, keep, message in self.reductions(COMPLEX):
            wide = a.astype(np.clongdouble)
            count = np.longdouble(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
            terms = np.sum(np.abs(wide), axis=axes, keepdims=keep)
            expected = np.sum(wide, axis=axes, keepdims=keep)
            for out in self.reduce("sum", a, axes, a.dtype, keep):
                self.assert_near_complex(out, expected, f"sum {message}", terms)
            for out in self.reduce("mean", a, axes, a.dtype, keep):
                self.assert_near_complex(out, expected / count, f"mean {message}", terms / count)

    def test_select(self):
        for a, message in self.cases(REAL + COMPLEX):
            b = numbers(self.rng, a.dtype, a.shape)
            condition = numbers(self.rng, np.bool_, a.shape)
            for out in self.each_output("select", [condition, a, b], a.shape, a.dtype):
                self.assert_same(out, np.where(condition, a, b).astype(a.dtype), message)

    # ---- reductions ----

    def reductions(self, dtypes):
        for a, message in self.cases(dtypes):
            for count in range(a.ndim + 1):
                for axes in itertools.combinations(range(a.ndim), count):
                    for keep in (False, True):
                        yield a, axes, keep, f"{message} axes {axes} keep {keep}"

    def reduce(self, name, a, axes, dtype, keep, ddof=None):
        shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(a.shape)
                      if keep or axis not in axes)
        mask = sum(1 << axis for axis in axes)
        attributes = ddof
        if isinstance(ddof, int):
            attributes = ReduceAttributes(ctypes.sizeof(ReduceAttributes), ddof, 0, 0)
        return self.each_output("reduce", [REDUCE[name], a, mask], shape, dtype, attributes)

    def test_sum_and_prod_of_integers(self):
        for a, axes, keep, message in self.reductions(SIGNED + UNSIGNED):
            wide = np.uint64 if a.dtype.kind == "u" else np.int64
            for name in ("sum", "prod"):
                expected = getattr(np, name)(a, axis=axes, keepdims=keep, dtype=wide)
                for out in self.reduce(name, a, axes, wide, keep):
                    self.assert_same(out, expected, f"{name} {message}")

    def test_sums_of_floats(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            a64 = a.astype(np.float64)
            expected = np.sum(a64, axis=axes, keepdims=keep)
            for out in self.reduce("sum", a, axes, a.dtype, keep):
                self.assert_near(out, expected, f"sum {message}")

    def test_products_of_floats(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            a = (np.abs(np.nan_to_num(a.astype(np.float64), nan=1, posinf=1)) / 8 + 0.75)
            for dtype in (np.float64, np.float32):
                a = a.astype(dtype)
                expected = np.prod(a.astype(np.float64), axis=axes, keepdims=keep)
                for out in self.reduce("prod", a, axes, dtype, keep):
                    self.assert_near(out, expected, f"prod {message}", roundings=40)

    def test_mean(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            a64 = a.astype(np.float64)
            expected = np.sum(a64, axis=axes, keepdims=keep) / np.float64(
                np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
            for out in self.reduce("mean", a, axes, a.dtype, keep):
                self.assert_near(out, expected, f"mean {message}")

    def test_var_and_std(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            a64 = np.nan_to_num(a.astype(np.float64), nan=2, posinf=3, neginf=-3)
            a = a64.astype(a.dtype)
            # In f64 NumPy is 3 roundings away from the exact value itself.
            exact = a64.astype(np.longdouble) if a.dtype == np.float64 else a64
            count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
            for name, ddof in itertools.product(("var", "std"), (0, 1)):
                if count <= ddof:  # NumPy gives inf where it divides by 0; Tenure gives NaN
                    expected = np.full(np.sum(a64, axis=axes, keepdims=keep).shape, np.nan)
                else:
                    expected = getattr(np, name)(exact, axis=axes, keepdims=keep, ddof=ddof)
                for out in self.reduce(name, a, axes, a.dtype, keep, ddof):
                    self.assert_near(out, expected, f"{name} {ddof} {message}")

    def test_min_and_max(self):
        for a, axes, keep, message in self.reductions(NUMBERS):
            if any(a.shape[axis] == 0 for axis in axes):
                continue
            for name in ("min", "max"):
                if bfloat16 and a.dtype == bfloat16:
                    # ml_dtypes has no initial value for NumPy's reduction of no axes.
                    expected = getattr(np, name)(a.astype(np.float32), axis=axes, keepdims=keep)
                else:
                    expected = getattr(np, name)(a, axis=axes, keepdims=keep)
                for out in self.reduce(name, a, axes, a.dtype, keep):
                    self.assert_same(out, np.asarray(expected).astype(a.dtype),
                                     f"{name} {message}")

    def test_argmin_and_argmax(self):
        for a, axes, keep, message in self.reductions(NUMBERS):
            if any(a.shape[axis] == 0 for axis in axes):
                continue
            if len(axes) != 1 and len(axes) != a.ndim:
                continue
            comparable = a.astype(np.float32) if a.dtype.kind == "V" else a
            for name in ("argmin", "argmax"):
                axis = axes[0] if len(axes) == 1 else None
                expected = getattr(np, name)(comparable, axis=axis, keepdims=keep)
                for out in self.reduce(name, a, axes, np.int64, keep):
                    self.assert_same(out, expected, f"{name} {message}")

    # Longer than the blocks in which the extreme is looked for, and with more than one NaN.
    def test_places_in_large_arrays(self):
        for dtype in NUMBERS:
            if np.dtype(dtype).kind == "V":
                continue
            for shape in ((70001,), (300, 401), (5, 33000)):
                a = numbers(self.rng, np.dtype(dtype), shape)
                plain = np.nan_to_num(a, nan=1) if a.dtype.kind == "f" else a
                for array in (a, plain, plain[::-1], plain.T, plain[..., ::2]):
                    for axis in [None, *range(array.ndim)]:
                        axes = range(array.ndim) if axis is None else (axis,)
                        for name in ("min", "max", "argmin", "argmax"):
                            out_dtype = np.int64 if name.startswith("arg") else array.dtype
                            expected = getattr(np, name)(array, axis=axis)
                            for out in self.reduce(name, array, tuple(axes), out_dtype, False):
                                self.assert_same(out, np.asarray(expected, out_dtype),
                                                 f"{name} {dtype} {shape} axis {axis}")

    def test_sums_of_large_arrays(self):
        for dtype in (np.float32, np.float64):
            for shape in ((300001,), (700, 501), (9, 40000)):
                a = self.rng.standard_normal(shape).astype(dtype)
                for array in (a, a[::-1], a.T):
                    for axis in [None, *range(array.ndim)]:
                        axes = range(array.ndim) if axis is None else (axis,)
                        exact = np.sum(array.astype(np.longdouble), axis=axis)
                        bound = np.sum(np.abs(array.astype(np.longdouble)), axis=axis)
                        bound *= 40 * np.finfo(dtype).eps
                        for out in self.reduce("sum", array, tuple(axes), dtype, False):
                            self.assertTrue(np.all(np.abs(out - exact) <= bound),
                                            f"sum {dtype} {shape} axis {axis}")

    def test_any_all_and_count(self):
        for a, axes, keep, message in self.reductions(REAL):
            nonzero = a != 0
            for name in ("any", "all"):
                expected = getattr(np, name)(nonzero, axis=axes, keepdims=keep)
                for out in self.reduce(name, a, axes, np.bool_, keep):
                    self.assert_same(out, expected, f"{name} {message}")
            expected = np.sum(nonzero, axis=axes, keepdims=keep, dtype=np.int64)
            for out in self.reduce("count", a, axes, np.int64, keep):
                self.assert_same(out, expected, f"count {message}")

    def test_norms(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            a64 = np.nan_to_num(a.astype(np.float64), nan=2, posinf=3, neginf=-3)
            a = a64.astype(a.dtype)
            for power in (1, 2, 3.5, np.inf):
                if np.isinf(power):
                    expected = np.max(np.abs(a64), axis=axes, keepdims=keep, initial=0)
                else:
                    expected = np.sum(np.abs(a64)**power, axis=axes, keepdims=keep)**(1 / power)
                given = ReduceAttributes(ctypes.sizeof(ReduceAttributes), 0, 0, power)
                for out in self.reduce("norm", a, axes, a.dtype, keep, given):
                    self.assert_near(out, expected, f"norm {power} {message}", roundings=4)

    def test_logsumexp(self):
        for a, axes, keep, message in self.reductions(FLOATS):
            if any(a.shape[axis] == 0 for axis in axes):
                continue
            a64 = a.astype(np.float64)
            expected = self.logsumexp(a64, axes, keep)
            greatest = np.max(a64, axis=axes, keepdims=keep)
            for out in self.reduce("logsumexp", a, axes, a.dtype, keep):
                self.assert_near(out, expected, f"logsumexp {message}", roundings=4,
                                 beside=greatest)

    # Reductions that skip NaN.
    def test_reductions_without_tests_of_their_own(self):
        own = {"sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all",
               "count", "norm", "logsumexp"}
        rows = {name: row for name, row in operations.REDUCE.items() if name not in own}
        for a, axes, keep, message in self.reductions(FLOATS):
            if any(a.shape[axis] == 0 for axis in axes):
                continue
            finite = np.nan_to_num(a.astype(np.float64), nan=2, posinf=3, neginf=-3)
            gaps = np.where(self.rng.random(a.shape) < 0.4, np.nan, finite).astype(a.dtype)
            for array, (name, row) in itertools.product((a, gaps), rows.items()):
                # In f64 NumPy is some roundings away from the exact value itself.
                exact = array.astype(np.longdouble if a.dtype == np.float64 else np.float64)
                for ddof in (0, 1) if row.attribute == "ddof" else (None,):
                    given = {} if ddof is None else {"ddof": ddof}
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        function = getattr(np, row.numpy.removeprefix("np."))
                        expected = function(exact, axis=axes, keepdims=keep, **given)
                    for out in self.reduce(name, array, axes, a.dtype, keep, ddof):
                        self.assert_near(out, expected, f"{name} {ddof} {message}", roundings=4)

    @staticmethod
    def logsumexp(a, axes, keep):
        greatest = np.max(a, axis=axes, keepdims=True)
        from_there = np.where(np.isinf(greatest), 0, greatest)
        powers = np.exp(a - from_there)
        # Powers of 1 are counted, so that the logarithm of a sum next to 1 keeps its digits.
        ones = np.sum(powers == 1, axis=axes, keepdims=True)
        others = np.sum(np.where(powers == 1, 0, powers), axis=axes, keepdims=True)
        sums = np.log1p((ones - 1) + others) + from_there
        return sums if keep else np.squeeze(sums, axis=axes)

    def test_softmax_and_layer_norm(self):
        for a, message in self.cases(FLOATS):
            for count in range(a.ndim + 1):
                for axes in itertools.combinations(range(a.ndim), count):
                    self.check_normalizations(a, axes, f"{message} axes {axes}")

    def check_normalizations(self, a, axes, message):
        a64 = np.nan_to_num(a.astype(np.float64), nan=2, posinf=3, neginf=-3)
        a = a64.astype(a.dtype)
        mask = sum(1 << axis for axis in axes)
        distance = a64 - (np.max(a64, axis=axes, keepdims=True) if a.size else 0)
        rest = np.log(np.sum(np.exp(distance), axis=axes, keepdims=True))
        deviation = a64 - np.mean(a64, axis=axes, keepdims=True) if a.size else a64
        squares = np.mean(deviation**2, axis=axes, keepdims=True) if a.size else a64
        all_squares = np.mean(a64**2, axis=axes, keepdims=True) if a.size else a64
        expected = {"softmax": np.exp(distance - rest), "log_softmax": distance - rest,
                    "layer_norm": deviation / np.sqrt(squares + 0.5),
                    "rms_norm": a64 / np.sqrt(all_squares + 0.5)}
        for name, of_a in expected.items():
            eps = 0.5 if name.endswith("norm") else 0
            given = NormalizeAttributes(ctypes.sizeof(NormalizeAttributes), eps, None, None)
            for out in self.each_output("normalize", [NORMALIZE[name], a, mask], a.shape, a.dtype,
                                        given):
                places = 4 if a.dtype.itemsize == 2 else 32
                near = np.abs(out.astype(np.float64) - of_a) <= places * {
                    2: 2.0**-8, 4: 2.0**-24, 8: 2.0**-51}[a.dtype.itemsize] * (1 + np.abs(of_a))
                self.assertTrue(np.all(near), f"{name} {message}\n got {out}\nwant {of_a}")

    def test_scans(self):
        for a, message in self.cases(NUMBERS):
            if a.dtype.kind == "V":
                continue
            for axis in range(a.ndim):
                self.check_scans(a, axis, f"{message} axis {axis}")

    def check_scans(self, a, axis, message):
        is_float = a.dtype.kind == "f"
        wide = a.dtype if is_float else np.dtype("u8" if a.dtype.kind == "u" else "i8")
        with np.errstate(all="ignore"):
            for name, function in (("sum", np.cumsum), ("prod", np.cumprod)):
                expected = function(a.astype(np.float64) if is_float else a, axis=axis,
                                    dtype=np.float64 if is_float else wide)
                for out in self.each_output("scan", [SCAN[name], a, axis], a.shape, wide):
                    if is_float:
                        self.assert_near(out, expected, f"{name} {message}", roundings=4)
                    else:
                        self.assert_same(out, expected, f"{name} {message}")
            for name, function in (("min", np.minimum), ("max", np.maximum)):
                expected = function.accumulate(a, axis=axis)
                for out in self.each_output("scan", [SCAN[name], a, axis], a.shape, a.dtype):
                    self.assert_same(out, expected, f"{name} {message}")

    def test_matmul(self):
        one, zero, two = (scalar_of(np.uint8(number)) for number in (1, 0, 2))
        shapes = [((3,), (3,)), ((4, 3), (3,)), ((3,), (3, 5)), ((4, 3), (3, 5)),
                  ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 1, 4, 3), (6, 3, 5)),
                  ((4, 0), (0, 5)), ((0, 3), (3, 5)), ((33, 70), (70, 65)), ((2, 600), (600, 1030))]
        for dtype in (np.float64, np.float32, np.complex128, np.complex64):
            for a_shape, b_shape in shapes:
                a, b = (self.rng.integers(-9, 9, shape).astype(dtype)
                        for shape in (a_shape, b_shape))
                for a, b in itertools.product(layouts(a), layouts(b)):
                    expected = np.matmul(a, b)  # whole numbers: every sum is exact
                    message = f"matmul {dtype} {a.shape} {a.strides} {b.shape} {b.strides}"
                    passed = [one, a, b, zero]
                    for out in self.each_output("matmul", passed, expected.shape, dtype):
                        self.assert_same(out, expected, message)
                    out = np.ones(expected.shape, dtype)
                    library.run("matmul", two, a, b, one, out)
                    self.assert_same(out, 2 * expected + 1, f"{message} scaled")
        i32 = np.int32
        for a_dtype, b_dtype in itertools.product((np.uint8, np.int8), repeat=2):
            for a_shape, b_shape in shapes:
                a, b = (self.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype,
                                          endpoint=True)
                        for shape, dtype in ((a_shape, a_dtype), (b_shape, b_dtype)))
                for a, b in itertools.product(layouts(a), layouts(b)):
                    expected = np.matmul(a.astype(i32), b.astype(i32))
                    for out in self.each_output("matmul", [one, a, b, zero], expected.shape, i32):
                        self.assert_same(out, expected, f"matmul {a.dtype} {b.dtype} {a.strides}")

    def any_spec(self):
        """A spec in any of NumPy's forms, and the shapes of its operands."""
        letters = self.rng.choice(list("abcdeXYZ"), 5, replace=False)
        extents = dict(zip(letters, self.rng.integers(0 if self.rng.random() < 0.1 else 1, 5, 5)))
        broadcast = tuple(self.rng.integers(1, 4, self.rng.integers(0, 3)))
        terms, shapes = [], []
        for _ in range(self.rng.integers(1, 5)):
            term = list(self.rng.choice(letters, self.rng.integers(0, 5)))
            shape = [extents[letter] for letter in term]
            if self.rng.random() < 0.3:
                at = self.rng.integers(0, len(term) + 1)
                first = self.rng.integers(0, len(broadcast) + 1)
                axes = [1 if self.rng.random() < 0.2 else extent for extent in broadcast[first:]]
                term.insert(at, "...")
                shape[at:at] = axes
            terms.append("".join(term))
            shapes.append(tuple(shape))
        spec = (" " if self.rng.random() < 0.1 else "") + ",".join(terms)
        if self.rng.random() < 0.8:
            used = sorted(set("".join(terms)) - {"."})
            kept = list(self.rng.permutation(used)[:self.rng.integers(0, len(used) + 1)])
            if "..." in spec:
                kept.insert(self.rng.integers(0, len(kept) + 1), "...")
            spec += "->" + "".join(kept)
        return spec, shapes

    def test_einsum(self):
        for _ in range(1500):
            spec, shapes = self.any_spec()
            arrays = [self.rng.integers(-3, 4, shape).astype(np.float64) for shape in shapes]
            arrays = [self.rng.choice(np.array([*layouts(a), None], object)[:-1]) if a.ndim else a
                      for a in arrays]
            expected = np.einsum(spec, *arrays)  # whole numbers: every sum is exact
            if expected.ndim > MAX_RANK:
                continue
            message = f"{spec} {[(a.shape, a.strides) for a in arrays]}"
            views = (View * len(arrays))(*map(view_of, arrays))
            text = spec.encode()
            rank, shape = ctypes.c_uint32(), (ctypes.c_int64 * MAX_RANK)()
            status = library.c.tnr_einsum_shape(text, views, len(arrays), ctypes.byref(rank), shape)
            self.assertEqual(status, 0, library.message())
            self.assertEqual(tuple(shape[:rank.value]), expected.shape, message)
            passed = [text, views, len(arrays)]
            for out in self.each_output("einsum", passed, expected.shape, np.float64):
                self.assert_same(out, expected, message)

    def test_random_numbers_are_those_of_their_places(self):
        # docs/random.md, on arrays of places; NumPy's own Philox has words of 64 bits.
        seed, offset, count = 0x0123456789ABCDEF, (1 << 34) + 3, 10_001
        places = np.arange(count, dtype=np.uint64) + np.uint64(offset)
        words = philox(seed, places // 4, 0)[places % 4, np.arange(count)]
        halves = philox(seed, places // 2, 1)
        low, high = (halves[places % 2 * 2 + half, np.arange(count)] for half in (0, 1))
        wide = low | high << np.uint64(32)

        def drawn(dtype, distribution):
            out = np.empty(count, dtype)
            library.run("random", distribution, ctypes.c_uint64(seed), ctypes.c_uint64(offset), out)
            return out

        uniform, normal, integers = 1, 2, 3
        expected = (words >> np.uint64(8)).astype(np.float32) * np.float32(2**-24)
        self.assert_same(drawn(np.float32, uniform), expected, "uniform f32")
        expected = (wide >> np.uint64(11)).astype(np.float64) * 2**-53
        self.assert_same(drawn(np.float64, uniform), expected, "uniform f64")
        self.assert_same(drawn(np.uint64, integers), wide, "u64")
        signed = (wide >> np.uint64(48)).astype(np.int64) - (1 << 15)
        self.assert_same(drawn(np.int16, integers), signed.astype(np.int16), "i16")
        # The squares of a pair of normal numbers are that of its radius; the first place is odd.
        pairs = drawn(np.float64, normal)[1:].reshape(-1, 2)
        squares = -2 * np.log(((wide[1::2] >> np.uint64(12)) + 0.5) * 2.0**-52)
        self.assertTrue(np.allclose((pairs**2).sum(axis=1), squares, rtol=1e-13, atol=0))

    def test_bool_takes_no_arithmetic(self):
        a = np.ones(3, np.bool_)
        for out, name, arguments in [
                (a.copy(), "unary", [UNARY["neg"], a]),
                (a.copy(), "binary", [BINARY["add"], a, a]),
                (np.zeros((), np.int64), "reduce", [REDUCE["sum"], a, 1]),
                (np.zeros((), np.bool_), "reduce", [REDUCE["max"], a, 1])]:
            self.assertEqual(library.call(name, *arguments, out), UNSUPPORTED)


def setUpModule():
    # TENURE_ISA may ask for instructions that this processor lacks.
    a = np.ones(1, np.float32)
    if library.call("unary", UNARY["neg"], a, a.copy()) == UNSUPPORTED:
        raise unittest.SkipTest(library.message())


def main():
    global library
    if len(sys.argv) != 2:
        sys.exit("usage: numpy_test.py LIBRARY_PATH")
    library = Library(sys.argv.pop())
    print(f"NumPy {np.__version__}" + ("" if bfloat16 else "; no ml_dtypes, bf16 is left out"))
    unittest.main()


if __name__ == "__main__":
    main()
