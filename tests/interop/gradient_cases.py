"""Operations, each as a node of a graph and as the same function of PyTorch, for the tests of
gradients.

Each case names the row of the table of operations, or the kind of node, that it is about. Operands
are arrays of f64 that a domain makes, or arrays of indices and truth values as they are.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

import graphs
from graphs import reduce_attributes

FLOATS = ("f64", "f32", "f16", "bf16")
WIDE = ("f64", "f32")
COMPLEX = ("c128", "c64")

# ---- domains: numbers at which a function has a derivative -----------------------------------


def real(rng, shape):
    return rng.standard_normal(shape)


def positive(rng, shape):
    return 0.25 + 2 * rng.random(shape)


def unit(rng, shape):
    return rng.uniform(-0.9, 0.9, shape)


def beyond_one(rng, shape):
    return 1.125 + 2 * rng.random(shape)


def away_from_zero(rng, shape):
    return rng.choice([-1.0, 1.0], shape) * positive(rng, shape)


def distinct(rng, shape):
    """Multiples of 1/8 without repeats, which f16 and bf16 represent."""
    count = int(np.prod(shape))
    return ((rng.permutation(count) - count // 2) / 8.0).reshape(shape)


def with_nan(rng, shape):
    """NaN at every third element of each axis, so that others remain along each of them."""
    places = np.add.reduce(np.indices(shape), 0) if shape else np.ones(())
    return np.where(places % 3 == 0, np.nan, distinct(rng, shape))


def with_zeros(rng, shape):
    return np.where(rng.random(shape) < 0.25, 0.0, away_from_zero(rng, shape))


def shares(rng, shape):
    return rng.random(shape)


@dataclasses.dataclass
class Operand:
    """An operand that has a gradient."""
    shape: tuple
    domain: Callable = real
    dtype: str = None  # the case's


@dataclasses.dataclass
class Case:
    """`ours` adds the node to a graph and returns its value; `theirs` is the function."""
    row: str
    text: str
    operands: list
    ours: Callable
    theirs: Callable
    dtypes: tuple = FLOATS
    result: str = None  # dtype of the result: the case's
    places: float = 1.0  # factor of the bound

    @property
    def name(self):
        return f"{self.row} {self.text}".strip()


# ---- element-wise ----------------------------------------------------------------------------

def cube_root(x):
    return torch.sign(x) * torch.abs(x) ** (1 / 3)


# The function and the domain of each row.
UNARY = {
    "neg": (torch.neg, real), "abs": (torch.abs, away_from_zero), "sqrt": (torch.sqrt, positive),
    "exp": (torch.exp, real), "relu": (torch.relu, away_from_zero), "tanh": (torch.tanh, real),
    "sigmoid": (torch.sigmoid, real), "silu": (functional.silu, real),
    "gelu": (functional.gelu, real),
    "gelu_tanh": (lambda x: functional.gelu(x, approximate="tanh"), real),
    # PyTorch's softplus is x above 20.
    "softplus": (lambda x: torch.logaddexp(x, torch.zeros_like(x)), real),
    "hardswish": (functional.hardswish, lambda rng, shape: 2.5 * rng.standard_normal(shape)),
    "elu": (functional.elu, real), "leaky_relu": (functional.leaky_relu, away_from_zero),
    "square": (torch.square, real), "reciprocal": (torch.reciprocal, away_from_zero),
    "rsqrt": (torch.rsqrt, positive), "floor": (torch.floor, real), "ceil": (torch.ceil, real),
    "round": (torch.round, real), "trunc": (torch.trunc, real), "sign": (torch.sign, real),
    "nan_to_num": (torch.nan_to_num, real), "exp2": (torch.exp2, real),
    "expm1": (torch.expm1, real), "ln": (torch.log, positive), "log2": (torch.log2, positive),
    "log10": (torch.log10, positive), "log1p": (torch.log1p, positive), "erf": (torch.erf, real),
    "erfc": (torch.erfc, real), "sin": (torch.sin, real), "cos": (torch.cos, real),
    "tan": (torch.tan, unit), "asin": (torch.asin, unit), "acos": (torch.acos, unit),
    "atan": (torch.atan, real), "sinh": (torch.sinh, real), "cosh": (torch.cosh, real),
    "asinh": (torch.asinh, real), "acosh": (torch.acosh, beyond_one),
    "atanh": (torch.atanh, unit), "cbrt": (cube_root, away_from_zero),
    "softsign": (functional.softsign, real),
}
COMPLEX_UNARY = {"neg": torch.neg, "square": torch.square, "reciprocal": torch.reciprocal,
                 "conj": lambda x: torch.conj(x).resolve_conj()}
BINARY = {
    "add": (torch.add, real, real), "sub": (torch.sub, real, real),
    "mul": (torch.mul, real, real), "div": (torch.div, real, away_from_zero),
    "min": (torch.minimum, real, real), "max": (torch.maximum, real, real),
    "rem": (torch.fmod, lambda rng, shape: 4 * rng.standard_normal(shape), away_from_zero),
    "pow": (torch.pow, positive, real), "atan2": (torch.atan2, away_from_zero, away_from_zero),
    "hypot": (torch.hypot, away_from_zero, away_from_zero),
}
TERNARY = {
    "fma": (lambda a, b, c: a * b + c, real, real, real),
    "lerp": (torch.lerp, real, real, real),
    "clamp": (torch.clamp, real, lambda rng, shape: -0.5 - rng.random(shape),
              lambda rng, shape: 0.5 + rng.random(shape)),
}
# Rows whose results are truth values or bits.
WITHOUT_GRADIENT = {
    "is_nan", "is_inf", "is_finite", "logical_not", "bit_not", "logical_and", "logical_or",
    "logical_xor", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right", "argmin", "argmax",
    "any", "all", "count"}
PAIRS = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((3, 1), (2, 3, 4)), ((), (5,)),
         ((5,), ()), ((), ()), ((0, 3), (1, 3)), ((3, 0), ()), ((1, 4), (0, 4)), ((300,), (7, 300))]
TRIPLES = [((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((), (2, 1, 3), (4, 1)),
           ((0, 2), (2,), (1, 1)), ((2, 3), (1, 3), (2, 1))]


def node(kind, op=0, **given):
    return lambda g, *values: g.node(kind, list(values), op=op, **given)


def elementwise():
    for op, (function, domain) in UNARY.items():
        for shape in [(7,), (), (0, 3), (3, 5), (517,)]:
            yield Case("unary." + op, str(shape), [Operand(shape, domain)], node("unary", op),
                       function)
    for op, function in COMPLEX_UNARY.items():
        yield Case("unary." + op, "complex", [Operand((3, 5))], node("unary", op), function,
                   COMPLEX)
    for op, (function, *domains) in BINARY.items():
        for shapes in PAIRS:
            yield Case("binary." + op, f"{shapes}", list(map(Operand, shapes, domains)),
                       node("binary", op), function)
    for op in ("add", "sub", "mul", "div"):
        yield Case("binary." + op, "complex", [Operand((3, 1)), Operand((2, 3, 4))],
                   node("binary", op), BINARY[op][0], COMPLEX)
    # A number is an operand of element-wise nodes.
    for op in ("add", "sub", "mul", "div", "max", "rem", "pow", "atan2", "hypot"):
        function, domain, _ = BINARY[op]
        yield Case("binary." + op, "with a number", [Operand((3, 4), domain)],
                   lambda g, a, op=op: g.binary(op, a, g.scalar(1.25)),
                   lambda a, f=function: f(a, torch.tensor(1.25, dtype=a.dtype)))
        yield Case("binary." + op, "of a number", [Operand((3, 4), away_from_zero)],
                   lambda g, a, op=op: g.binary(op, g.scalar(1.25), a),
                   lambda a, f=function: f(torch.tensor(1.25, dtype=a.dtype), a))
    # One value as both operands.
    for op in ("add", "sub", "mul", "div", "max", "pow"):
        yield Case("binary." + op, "of itself", [Operand((3, 4), positive)],
                   lambda g, a, op=op: g.binary(op, a, a),
                   lambda a, f=BINARY[op][0]: f(a, a))
    for op, (function, *domains) in TERNARY.items():
        for shapes in TRIPLES:
            yield Case("ternary." + op, f"{shapes}", list(map(Operand, shapes, domains)),
                       node("ternary", op), function)
    yield Case("ternary.fma", "with a number", [Operand((3, 4)), Operand((4,))],
               lambda g, a, b: g.node("ternary", [a, g.scalar(0.5), b], op="fma"),
               lambda a, b: a * 0.5 + b)
    mask = np.random.default_rng(4).random((3, 4)) < 0.5
    for shapes in [((3, 4), (3, 4)), ((4,), (3, 1)), ((), (3, 4))]:
        yield Case("select", f"{shapes}", list(map(Operand, shapes)),
                   lambda g, a, b: g.node("select", [g.constant(mask, "bool8"), a, b]),
                   lambda a, b: torch.where(torch.from_numpy(mask), a, b))
    for a, b in itertools.product(FLOATS, repeat=2):
        yield Case("cast", f"{a} to {b}", [Operand((3, 5))], node("cast", dtype=b), torch.clone,
                   (a,), b)
    yield Case("cast", "of truth values", [Operand((3, 5))], truth_as_float,
               lambda a: a * (a > 0), FLOATS)
    for shape, to in [((2, 3, 4), (3, 1)), ((2, 3), ()), ((2, 3), (2, 3)), ((4, 1, 3), (1, 3)),
                      ((0, 3), (1, 3))]:
        yield Case("sum_to", f"{shape} to {to}", [Operand(shape)],
                   lambda g, a, to=to: sum_to(g, a, to),
                   lambda a, to=to: a.sum_to_size(to))


def sum_to(g, a, to):
    """Summed to the shape of an array, whose dtype does not count."""
    return g.node("sum_to", [a, g.constant(np.zeros(to, np.bool_), "bool8")])


def truth_as_float(g, a):
    """a (a > 0): no gradient leads through the comparison."""
    above = g.node("compare", [a, g.scalar(0)], op="gt")
    return g.binary("mul", a, g.node("cast", [above], dtype=g.inputs[0]))


# ---- reductions, normalizations, scans -------------------------------------------------------

def over(function):
    """A function of one axis as one of several: from the last axis on."""
    def apply(a, axes, keep):
        for axis in sorted(axes, reverse=True):
            a = function(a, axis, keep)
        return a
    return apply


def deviations(a, axes, ddof, function):
    """A function of a variance without NaN."""
    there = ~torch.isnan(a)
    count = there.sum(axes, keepdim=True)
    clean = torch.where(there, a, 0)
    mean = clean.sum(axes, keepdim=True) / count
    difference = torch.where(there, clean - mean, 0)
    return function((difference**2).sum(axes, keepdim=True) / (count - ddof))


def squeezed(a, axes, keep):
    if keep:
        return a
    for axis in sorted(axes, reverse=True):
        a = a.squeeze(axis)
    return a


def extreme_without_nan(a, axes, keep, is_max):
    filled = torch.where(torch.isnan(a), -torch.inf if is_max else torch.inf, a)
    return (torch.amax if is_max else torch.amin)(filled, axes, keep)


REDUCE = {
    "sum": (lambda a, axes, keep: a.sum(axes, keep), real),
    "prod": (over(torch.prod), away_from_zero),
    "mean": (lambda a, axes, keep: a.mean(axes, keep), real),
    "var": (lambda a, axes, keep: a.var(axes, correction=1, keepdim=keep), real),
    "std": (lambda a, axes, keep: a.std(axes, correction=1, keepdim=keep), real),
    "min": (torch.amin, distinct), "max": (torch.amax, distinct),
    "norm": (lambda a, axes, keep: torch.linalg.vector_norm(a, 2, axes, keep), real),
    "logsumexp": (torch.logsumexp, real),
    "nan_sum": (lambda a, axes, keep: a.nansum(axes, keep), with_nan),
    "nan_mean": (lambda a, axes, keep: a.nanmean(axes, keep), with_nan),
    "nan_min": (lambda a, axes, keep: extreme_without_nan(a, axes, keep, False), with_nan),
    "nan_max": (lambda a, axes, keep: extreme_without_nan(a, axes, keep, True), with_nan),
    "nan_var": (lambda a, axes, keep: squeezed(deviations(a, axes, 0, torch.clone), axes, keep),
                with_nan),
    "nan_std": (lambda a, axes, keep: squeezed(deviations(a, axes, 0, torch.sqrt), axes, keep),
                with_nan),
}
DDOF = {"var": 1, "std": 1}


def subsets(rank):
    return [axes for count in range(1, rank + 1)
            for axes in itertools.combinations(range(rank), count)]


def reduce_node(op, axes, keep, attributes=None):
    return lambda g, a: g.reduce(op, a, axes, keep=keep, attributes=attributes)


def attributes_of_reduce(op):
    if op in DDOF:
        return reduce_attributes(ddof=DDOF[op])
    return reduce_attributes(power=2.0) if op == "norm" else None


def reductions():
    for op, (function, domain) in REDUCE.items():
        attributes = attributes_of_reduce(op)
        for shape in [(4,), (5, 6), (3, 4, 5), (2, 3, 1, 4)]:
            for axes, keep in itertools.product(subsets(len(shape)), (False, True)):
                if domain is with_nan and np.prod([shape[axis] for axis in axes]) < 4:
                    continue  # some sets would have no number
                if op in DDOF and np.prod([shape[axis] for axis in axes]) < 2:
                    continue
                yield Case("reduce." + op, f"{shape} over {axes}, keep {keep}",
                           [Operand(shape, domain)], reduce_node(op, axes, keep, attributes),
                           lambda a, f=function, axes=axes, keep=keep: f(a, axes, keep), places=4)
        empty = {"min", "max", "nan_min", "nan_max"}
        for shape, axes in [((0, 3), (1,)), *([] if op in empty else [((0, 3), (0,))])]:
            yield Case("reduce." + op, f"{shape} over {axes}", [Operand(shape, domain)],
                       reduce_node(op, axes, False, attributes),
                       lambda a, f=function, axes=axes: f(a, axes, False))
    for power, axes in itertools.product((0.5, 1, 1.5, 2, 3, np.inf), [(1,), (0,), (0, 1)]):
        yield Case("reduce.norm", f"of power {power} over {axes}", [Operand((4, 5), distinct)],
                   reduce_node("norm", axes, False, reduce_attributes(power=power)),
                   lambda a, p=power, axes=axes: torch.linalg.vector_norm(a, p, axes), places=8)
    for op, ddof in itertools.product(("var", "std", "nan_var", "nan_std"), (0, 1, 2)):
        root = torch.sqrt if op.endswith("std") else torch.clone
        yield Case("reduce." + op, f"with ddof {ddof}", [Operand((4, 9))],
                   reduce_node(op, (1,), False, reduce_attributes(ddof=ddof)),
                   lambda a, d=ddof, root=root: deviations(a, (1,), d, root).squeeze(1), places=4)
    for axes in [(0,), (1,), (0, 1)]:
        yield Case("reduce.prod", f"with zeros over {axes}", [Operand((4, 5), with_zeros)],
                   reduce_node("prod", axes, False),
                   lambda a, axes=axes: over(torch.prod)(a, axes, False), places=4)
    for op in ("sum", "mean"):
        yield Case("reduce." + op, "complex", [Operand((4, 5))], reduce_node(op, (1,), False),
                   lambda a, f=REDUCE[op][0]: f(a, (1,), False), COMPLEX, places=4)


def normalized(a, axes, weight=None, bias=None, *, centred=True):
    mean = a.mean(axes, keepdim=True) if centred else 0
    variance = ((a - mean)**2).mean(axes, keepdim=True)
    normal = (a - mean) / torch.sqrt(variance + 1e-3)
    shape = [extent if axis in axes else 1 for axis, extent in enumerate(a.shape)]
    if weight is not None:
        normal = normal * weight.reshape(shape)
    return normal if bias is None else normal + bias.reshape(shape)


def normalizations():
    eps = graphs.eps_attributes(1e-3)
    for shape in [(6,), (4, 6), (2, 3, 5)]:
        for axes in subsets(len(shape)):
            bits = sum(1 << axis for axis in axes)
            text = f"{shape} over {axes}"
            own = tuple(shape[axis] for axis in axes)
            yield Case("normalize.softmax", text, [Operand(shape)],
                       node("normalize", "softmax", flags=bits),
                       lambda a, axes=axes: torch.exp(a - torch.logsumexp(a, axes, True)), places=4)
            yield Case("normalize.log_softmax", text, [Operand(shape)],
                       node("normalize", "log_softmax", flags=bits),
                       lambda a, axes=axes: a - torch.logsumexp(a, axes, True), places=4)
            for count in (0, 1, 2):
                yield Case("normalize.layer_norm", f"{text}, {count} of weight and bias",
                           [Operand(shape), Operand(own), Operand(own)][:1 + count],
                           lambda g, *values, bits=bits: g.node(
                               "normalize", values, op="layer_norm", flags=bits, attributes=eps),
                           lambda a, *others, axes=axes: normalized(a, axes, *others), places=16)
            for count in (0, 1):
                yield Case("normalize.rms_norm", f"{text}, {count} weights",
                           [Operand(shape), Operand(own)][:1 + count],
                           lambda g, *values, bits=bits: g.node(
                               "normalize", values, op="rms_norm", flags=bits, attributes=eps),
                           lambda a, *others, axes=axes: normalized(
                               a, axes, *others, centred=False), places=16)
    yield Case("normalize.softmax", "as PyTorch's", [Operand((4, 7))],
               node("normalize", "softmax", flags=2), lambda a: torch.softmax(a, 1), places=4)
    yield Case("normalize.log_softmax", "as PyTorch's", [Operand((4, 7))],
               node("normalize", "log_softmax", flags=2), lambda a: torch.log_softmax(a, 1),
               places=4)
    yield Case("normalize.layer_norm", "as PyTorch's", [Operand((4, 7)), Operand((7,)),
                                                        Operand((7,))],
               lambda g, *values: g.node("normalize", values, op="layer_norm", flags=2,
                                         attributes=eps),
               lambda a, w, b: functional.layer_norm(a, (7,), w, b, 1e-3), places=16)
    yield Case("normalize.rms_norm", "as PyTorch's", [Operand((4, 7)), Operand((7,))],
               lambda g, *values: g.node("normalize", values, op="rms_norm", flags=2,
                                         attributes=eps),
               lambda a, w: functional.rms_norm(a, (7,), w, 1e-3), places=16)


def scans():
    functions = {"sum": (torch.cumsum, real), "prod": (torch.cumprod, away_from_zero),
                 "min": (lambda a, axis: torch.cummin(a, axis).values, distinct),
                 "max": (lambda a, axis: torch.cummax(a, axis).values, distinct)}
    for op, (function, domain) in functions.items():
        for shape in [(1,), (9,), (4, 5), (3, 1, 6), (0, 3), (3, 0)]:
            for axis in range(len(shape)):
                yield Case("scan." + op, f"{shape} along {axis}", [Operand(shape, domain)],
                           node("scan", op, numbers=[axis]),
                           lambda a, f=function, axis=axis: f(a, axis), places=8)
    for shape in [(5,), (8,), (4, 9)]:
        yield Case("scan.prod", f"with zeros {shape}", [Operand(shape, with_zeros)],
                   node("scan", "prod", numbers=[len(shape) - 1]),
                   lambda a: torch.cumprod(a, -1), places=8)
