"""Gradients at points without a derivative, and at special values, for torch_gradients_test.py.

docs/operations.md has the same table in words. `expected` has the gradient by each operand where
the upstream gradient is 1. `pytorch` has the gradients of PyTorch that differ, by operand, and
`reason` says why.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

import graphs
from gradient_cases import UNARY, node, reduce_node
from gradient_movement_cases import REDUCTIONS, node_with_indices
from gradient_sparse_cases import Pattern
from graphs import ORDER, reduce_attributes

NAN, INF = np.nan, np.inf


@dataclasses.dataclass
class Point:
    name: str
    ours: Callable
    theirs: Callable
    operands: list
    expected: list
    pytorch: dict = dataclasses.field(default_factory=dict)
    reason: str = ""


def unary(op, points, expected, pytorch=None, reason=""):
    return Point(op, node("unary", op), UNARY[op][0], [points], [expected],
                 {} if pytorch is None else {0: pytorch}, reason)


def binary(op, theirs, a, b, by_a, by_b, pytorch=None, reason=""):
    return Point(op, node("binary", op), theirs, [a, b], [by_a, by_b], pytorch or {}, reason)


def over_rows(op, theirs, rows, expected, pytorch=None, reason="", **attributes):
    given = reduce_attributes(**attributes) if attributes else None
    return Point(f"{op} {attributes or ''}".strip(), reduce_node(op, (1,), False, given), theirs,
                 [rows], [expected], {} if pytorch is None else {0: pytorch}, reason)


OF_NAN = "the gradient of a result that is NaN"
STEPS = [unary(op, [0, -0.0, 0.5, -0.5, 1, INF, -INF, NAN], [0] * 8)
         for op in ("floor", "ceil", "round", "trunc", "sign")]
ONE_OPERAND = [
    unary("relu", [0, -0.0, INF, -INF, NAN], [0, 0, 1, 0, 1]),
    unary("leaky_relu", [0, -0.0, INF, -INF, NAN], [0.01, 0.01, 1, 0.01, 1],
          [0.01, 0.01, 1, 0.01, 0.01], OF_NAN),
    unary("elu", [0, -0.0, INF, -INF], [1, 1, 1, 0]),
    unary("hardswish", [-3, 3, INF, -INF], [0, 1, 1, 0]),
    # Of NaN PyTorch's are 1 or NaN, by the place of the element among others.
    unary("elu", [NAN] * 16, [1] * 16, [NAN] * 16, OF_NAN),
    unary("hardswish", [NAN] * 16, [1] * 16, [NAN] * 16, OF_NAN),
    unary("abs", [0, -0.0, INF, -INF, NAN], [0, 0, 1, -1, NAN], [0, 0, 1, -1, 0],
          "sign(NaN) is NaN here and 0 there"),
    unary("sqrt", [0, INF, -1, NAN], [INF, 0, NAN, NAN]),
    unary("rsqrt", [0, INF, -1, NAN], [-INF, 0, NAN, NAN]),
    unary("reciprocal", [0, -0.0, INF, -INF, NAN], [-INF, -INF, 0, 0, NAN]),
    unary("cbrt", [0, -0.0, INF, NAN], [INF, INF, 0, NAN], [NAN, NAN, 0, NAN],
          "a composed function there"),
    unary("ln", [0, INF], [INF, 0]), unary("log2", [0, INF], [INF, 0]),
    unary("log10", [0, INF], [INF, 0]), unary("log1p", [-1, INF], [INF, 0]),
    unary("asin", [1, -1, 2], [INF, INF, NAN]), unary("acos", [1, -1, 2], [-INF, -INF, NAN]),
    unary("atanh", [1, -1], [INF, INF]),
    unary("acosh", [1, INF, -1, -3], [INF, 0, NAN, NAN], [INF, 0, INF, 0.35355339059327373],
          "NaN outside of the domain"),
    unary("nan_to_num", [NAN, INF, -INF, 2], [0, 0, 0, 1]),
    unary("softsign", [0, -0.0, INF, -INF], [1, 1, 0, 0], [1, 1, NAN, NAN],
          "a composed function there"),
    unary("silu", [INF, -INF], [NAN, NAN]), unary("gelu", [INF, -INF], [NAN, NAN]),
    unary("gelu_tanh", [INF, -INF], [NAN, NAN]),
    unary("exp", [INF, -INF], [INF, 0]), unary("tanh", [INF, -INF], [0, 0]),
    unary("sigmoid", [INF, -INF], [0, 0]), unary("softplus", [INF, -INF], [1, 0]),
]
TWO_OPERANDS = [
    *(binary(op, getattr(torch, op + "imum"), [1, 0, -0.0, INF], [1, -0.0, 0, INF], [0.5] * 4,
             [0.5] * 4) for op in ("min", "max")),
    *(binary(op, getattr(torch, op + "imum"), [NAN, 1, NAN], [1, NAN, NAN], [1, 0, 0.5],
             [0, 1, 0.5], {0: [1, 1, 1], 1: [1, 1, 1]}, "NaN gets it all; all there get it")
      for op in ("min", "max")),
    binary("pow", torch.pow, [0, 0, 0, 0, 0, NAN], [0, 1, 2, 0.5, -1, 0],
           [0, 1, 0, INF, -INF, 0], [0, 0, 0, 0, -INF, NAN]),
    binary("pow", torch.pow, [-2, -2, 2], [2, 0.5, INF], [-4, NAN, INF], [NAN, NAN, INF]),
    binary("hypot", torch.hypot, [0, -0.0, 0, 3], [0, 0, 2, 0], [0, 0, 0, 1], [0, 0, 1, 0],
           {0: [NAN, NAN, 0, 1], 1: [NAN, NAN, 1, 0]}, "0 at the origin; 0 / 0 there"),
    binary("atan2", torch.atan2, [0, -0.0, 0, 1, -1], [0, 0, -1, 0, 0], [0, 0, -1, 0, 0],
           [0, 0, 0, -1, 1]),
    binary("rem", torch.fmod, [3, -3, 3, 4.5], [1, 1, INF, 1.5], [1] * 4, [-3, 3, 0, -3]),
    binary("rem", torch.fmod, [INF, 1], [1, 0], [1, 1], [NAN, NAN], {1: [-INF, -INF]},
           "the remainder is NaN"),
    binary("div", torch.div, [1, 0, 1], [0, 0, INF], [INF, INF, 0], [-INF, NAN, 0]),
    binary("mul", torch.mul, [0, INF], [INF, 0], [INF, 0], [0, INF]),
]
CLAMP = node("ternary", "clamp")
BOUNDS = [
    Point("clamp", CLAMP, torch.clamp, [[0, 1, -1, 2], [0] * 4, [1] * 4],
          [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
          {0: [0.5, 0.5, 0, 0], 1: [0.5, 0, 1, 0], 2: [0, 0.5, 0, 1]},
          "1 on the closed interval; halves there where bounds are tensors"),
    Point("clamp crossed", CLAMP, torch.clamp, [[0, 5], [1, 3], [-1, 3]],
          [[0, 0], [0, 0], [1, 1]]),
    Point("clamp with NaN", CLAMP, torch.clamp, [[NAN, 0, 0], [0, NAN, 0], [1, 1, NAN]],
          [[0] * 3] * 3, {0: [1, 1, 1]}, "the result is NaN whatever the others are"),
    Point("clamp by numbers", lambda g, a: g.node("ternary", [a, g.scalar(0), g.scalar(1)],
                                                  op="clamp"),
          lambda a: torch.clamp(a, 0, 1), [[0, 1, -1, 2, -0.0]], [[1, 1, 0, 0, 1]],
          {0: [0] * 5}, "1 on the closed interval; on the open one there where bounds are numbers"),
    Point("select", lambda g, a, b: g.node("select", [g.constant(np.array([True, False]), "bool8"),
                                                      a, b]),
          lambda a, b: torch.where(torch.tensor([True, False]), a, b), [[NAN, INF], [INF, NAN]],
          [[1, 0], [0, 1]]),
]
THIRD = 1 / 3
EXTREMES = [
    over_rows("max", lambda a: torch.amax(a, 1), [[1, 1, 0], [0, -0.0, 0], [INF, INF, 1]],
              [[.5, .5, 0], [THIRD] * 3, [.5, .5, 0]]),
    over_rows("min", lambda a: torch.amin(a, 1), [[1, 1, 2], [0, -0.0, 0]],
              [[.5, .5, 0], [THIRD] * 3]),
    *(over_rows(op, lambda a, f=getattr(torch, "a" + op): f(a, 1), [[NAN, 1, 1], [2, NAN, NAN]],
                [[1, 0, 0], [0, .5, .5]], [[NAN] * 3] * 2, "NaN are equal elements here")
      for op in ("min", "max")),
    over_rows("nan_max", lambda a: torch.where(torch.isnan(a), -INF, a).amax(1),
              [[NAN, 1, 1], [NAN, NAN, NAN]], [[0, .5, .5], [0, 0, 0]]),
    *(Point("cum" + op, node("scan", op, numbers=[0]),
            lambda a, f=getattr(torch, "cum" + op): f(a, 0).values, [row], [expected])
      for op, row, expected in [("max", [1, 1, 0, 0, 1], [1, 3, 0, 0, 1]),
                                ("min", [1, 1, 0, 0, 1], [1, 1, 1, 2, 0]),
                                ("max", [1, NAN, 2, NAN, 3], [1, 2, 0, 2, 0])]),
    *(Point(f"scatter {op}", node_with_indices("scatter", op, np.array([0, 0, 1]), 0),
            lambda out, a, op=op: out.scatter_reduce(0, torch.tensor([0, 0, 1]), a,
                                                     REDUCTIONS[op]),
            [[1, 0, 5], [1, 1, 0]], [[THIRD, .5, 1], [THIRD, THIRD, .5]]) for op in ("min", "max")),
    Point("scatter max with NaN", node_with_indices("scatter", "max", np.array([0, 0, 1]), 0),
          lambda out, a: out.scatter_reduce(0, torch.tensor([0, 0, 1]), a, "amax"),
          [[NAN, 1, 0], [1, 2, NAN]], [[1, 0, 1], [0, 0, 1]],
          {0: [NAN, NAN, 1], 1: [NAN, NAN, NAN]}, "NaN gets it all; NaN there"),
]
NORMS = [
    *(over_rows("norm", lambda a, p=p: torch.linalg.vector_norm(a, p, 1), [[0, 0], [0, 2]],
                [[0, 0], [0, 1]], power=p) for p in (0.5, 1, 1.5, 2, 3, INF)),
    over_rows("norm", lambda a: torch.linalg.vector_norm(a, INF, 1), [[3, -3]], [[.5, -.5]],
              power=INF),
    *(over_rows("norm", lambda a, p=p: torch.linalg.vector_norm(a, p, 1), [[NAN, 0]],
                [[NAN, 0]], [[0, 0]], "sign(NaN) is NaN here and 0 there", power=p)
      for p in (1, INF)),
    over_rows("std", lambda a: torch.std(a, 1, correction=0), [[2, 2], [0, 0]],
              [[0, 0], [0, 0]]),
    over_rows("logsumexp", lambda a: torch.logsumexp(a, 1), [[-INF, -INF], [-INF, 0], [INF, 0]],
              [[NAN, NAN], [0, 1], [NAN, 0]]),
]
PRODUCTS = [
    over_rows("prod", lambda a: torch.prod(a, 1), [[0, 2, 3], [0, 0, 3], [0, INF, 1]],
              [[6, 0, 0], [0, 0, 0], [INF, 0, NAN]]),
    Point("cumprod", node("scan", "prod", numbers=[1]), lambda a: torch.cumprod(a, 1),
          [[[1, 1, 0, 0, 1], [0, 0, 2, 3, 0]]], [[[2, 1, 1, 0, 0], [1, 0, 0, 0, 0]]]),
    Point("cumprod of infinities", node("scan", "prod", numbers=[0]),
          lambda a: torch.cumprod(a, 0), [[INF, 1, 2, INF, 0]], [[NAN, NAN, NAN, INF, INF]],
          {0: [NAN, INF, INF, NAN, INF]}, "0 times infinity in another order"),
    Point("scatter mul", node_with_indices("scatter", "mul", np.array([0, 0, 1]), 0),
          lambda out, a: out.scatter_reduce(0, torch.tensor([0, 0, 1]), a, "prod"),
          [[0, 0, 1], [0, 2, 3]], [[0, 3, 1], [0, 0, 0]]),
]
ORDERED = [
    Point("sort", lambda g, a: g.binary("mul", g.node("sort", [a], op=ORDER["values"],
                                                      numbers=[0]),
                                        g.node("cast", [g.constant(np.arange(1, 5), "i64")],
                                               dtype=g.inputs[0])),
          lambda a: torch.sort(a, stable=True).values * torch.arange(1, 5), [[1, 0, 1, NAN]],
          [[2, 1, 3, 4]]),
    Point("top_k", node("top_k", ORDER["values"], numbers=[0, 2]),
          lambda a: torch.topk(a, 2).values, [[1, 1, 1, 0]], [[1, 1, 0, 0]], {0: [0, 1, 1, 0]},
          "of equal elements the first"),
    Point("top_k with NaN", node("top_k", ORDER["values"], numbers=[0, 2]),
          lambda a: torch.topk(a, 2).values, [[1, NAN, 2, 0]], [[1, 0, 1, 0]], {0: [0, 1, 1, 0]},
          "NaN is chosen last here and first there"),
    Point("median", lambda g, a: g.node("quantile", [a, g.constant(np.array([.5]), "f64")],
                                        flags=1),
          lambda a: torch.quantile(a, torch.tensor([.5], dtype=torch.float64)), [[1, 1, 2, 2]],
          [[0, .5, .5, 0]], {0: [.5, 0, 0, .5]}, "the order of equal elements is kept here"),
    Point("median with NaN", lambda g, a: g.node(
        "quantile", [a, g.constant(np.array([.5]), "f64")], flags=1),
          lambda a: torch.quantile(a, torch.tensor([.5], dtype=torch.float64)), [[1, NAN, 2, 3]],
          [[0, 0, .5, .5]], {0: [0, 1, 0, 0]}, "NaN is the last of the sorted elements"),
]
NORMALIZED = [
    Point(op, node("normalize", op, flags=2), lambda a, f=getattr(torch, op): f(a, 1),
          [[[INF, 0], [-INF, -INF], [NAN, 0]]], [[[NAN, NAN]] * 3])
    for op in ("softmax", "log_softmax")
] + [
    Point("layer_norm of equals", node("normalize", "layer_norm", flags=2,
                                       attributes=graphs.eps_attributes(eps)),
          lambda a, eps=eps: functional.layer_norm(a, (2,), None, None, eps), [[[1, 1]]],
          [[[gradient, gradient]]]) for eps, gradient in ((0.0, NAN), (0.5, 0))
]
# Rows (x, y, none) and (none, none, z), where none is a 0 that is not stored.
PATTERN = Pattern("csr", np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([0, 0, 1]),
                  np.array([0, 1, 2]), (2, 3))


def of_entries(kind, op, theirs, values, expected, **given):
    return Point(kind, lambda g, v: PATTERN.node(g, kind, v, op=op, **given),
                 lambda v: theirs(PATTERN.dense(v)), [values], [expected])


SPARSE = [
    *(of_entries("sparse_reduce", op, lambda d, f=getattr(torch, "a" + op): f(d, 1), values,
                 expected, flags=2)
      for op, values, expected in [("max", [-1, -1, 2], [0, 0, 1]), ("max", [0, -1, 0],
                                                                      [.5, 0, THIRD]),
                                   ("max", [1, 1, -1], [.5, .5, 0]),
                                   ("min", [-1, -1, 2], [.5, .5, 0])]),
    of_entries("sparse_norm", 1, lambda d: torch.linalg.matrix_norm(d, 1), [2, -2, 1],
               [.5, -.5, 0]),
    of_entries("sparse_norm", 2, lambda d: torch.linalg.matrix_norm(d, torch.inf), [1, -1, 2],
               [.5, -.5, .5]),
    of_entries("sparse_norm", 3, torch.linalg.matrix_norm, [0, 0, 0], [0, 0, 0]),
]
POINTS = [*STEPS, *ONE_OPERAND, *TWO_OPERANDS, *BOUNDS, *EXTREMES, *NORMS, *PRODUCTS, *ORDERED,
          *NORMALIZED, *SPARSE]
# Points of one dtype. 0.5 / 0.1 is rounded to 5, and 0.5 is 4 times 0.1 and a remainder.
OF_F64 = [
    binary("rem", torch.fmod, [0.5], [0.1], [1], [-4], {1: [-5]}, "the quotient is exact here"),
]
# The products of some elements are too large for the dtype.
OF_F32 = [
    Point("prod", reduce_node("prod", (0,), False), lambda a: torch.prod(a, 0),
          [[80] * 24 + [0, 0]], [[0] * 26]),
    Point("cumprod", node("scan", "prod", numbers=[0]), lambda a: torch.cumprod(a, 0),
          [[0, 1, *[80] * 24]], [[INF, *[0] * 25]]),
]
OF_F16 = [
    Point("prod", reduce_node("prod", (0,), False), lambda a: torch.prod(a, 0),
          [[300, 300, 0, 0]], [[0, 0, 0, 0]]),
    Point("cumprod", node("scan", "prod", numbers=[0]), lambda a: torch.cumprod(a, 0),
          [[0, 1, 300, 300]], [[INF, 0, 0, 0]]),
]
