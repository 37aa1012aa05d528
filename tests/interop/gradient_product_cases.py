"""Products of dense arrays and operations on images, for the tests of gradients."""

import torch
from torch.nn import functional

import graphs
from gradient_cases import (COMPLEX, FLOATS, UNARY, WIDE, Case, Operand, distinct, node,
                            positive)
from graphs import sized

FACTORS = [((4,), (4,)), ((4,), (4, 3)), ((5, 4), (4,)), ((5, 4), (4, 3)), ((4,), (2, 4, 3)),
           ((2, 5, 4), (4,)), ((5, 4), (2, 4, 3)), ((2, 5, 4), (4, 3)), ((2, 5, 4), (2, 4, 3)),
           ((2, 1, 5, 4), (3, 4, 2)), ((3, 5, 4), (2, 1, 4, 2)), ((1, 5, 4), (3, 4, 2)),
           ((0, 4), (4, 3)), ((5, 0), (0, 3)), ((5, 4), (4, 0)), ((0, 5, 4), (4, 3)), ((0,), (0,)),
           ((2, 3, 4), (4, 0)), ((3, 2, 5, 4), (4,)), ((4,), (3, 2, 4, 5)), ((33, 70), (70, 41))]
SPECS = [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,kj->ki", [(3, 4), (5, 4)]), ("ij->ji", [(3, 4)]),
         ("ij->", [(3, 4)]), ("ij->i", [(3, 4)]), ("ii->i", [(4, 4)]), ("ii->", [(4, 4)]),
         ("i,j->ij", [(3,), (4,)]), ("i,i->", [(5,), (5,)]), ("ij,ij->ij", [(3, 4), (3, 4)]),
         ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
         ("...ij,...jk->...ik", [(2, 1, 3, 4), (3, 4, 5)]), ("ij,jk,kl->il",
                                                             [(2, 3), (3, 4), (4, 5)]),
         ("ij,j,i->", [(3, 4), (4,), (3,)]), ("bqhd,bkhd->bhqk", [(2, 3, 2, 4), (2, 5, 2, 4)]),
         ("iij,j->i", [(3, 3, 4), (4,)]), ("ij,jk->k", [(3, 4), (4, 5)]), ("i,->i", [(3,), ()]),
         ("ij,ij->i", [(3, 4), (3, 4)]), ("ij,kl->", [(2, 3), (4, 2)]),
         ("ij,jk->ik", [(3, 0), (0, 5)]), ("a...,a...->...", [(3, 2, 4), (3, 2, 4)]),
         ("ij,jk->ik", [(3, 1), (4, 5)]), ("iji->j", [(3, 4, 3)]), ("ij", [(3, 4)]),
         ("ji", [(3, 4)]), ("ij,jk", [(3, 4), (4, 5)])]


def products():
    for shapes in FACTORS:
        for dtypes in (FLOATS, COMPLEX):
            yield Case("matmul", f"{shapes}" + " complex" * (dtypes == COMPLEX),
                       list(map(Operand, shapes)), node("matmul"), torch.matmul, dtypes, places=8)
    for a, b in [((5, 4), (4, 3)), ((2, 5, 4), (4, 3)), ((2, 5, 4), (2, 4, 3))]:
        operands = [Operand(a), Operand(b), Operand((3,))]
        yield Case("matmul", f"{a} {b} with a bias", operands, node("matmul"),
                   lambda a, b, c: a @ b + c, places=8)
        for op in ("relu", "tanh", "sigmoid", "silu", "gelu", "elu", "softplus"):
            code = graphs.ROWS["unary"][op].code
            yield Case("matmul", f"{a} {b} with a bias and {op}", operands,
                       node("matmul", attributes=sized(graphs.Matmul, activation=code)),
                       lambda a, b, c, f=UNARY[op][0]: f(a @ b + c), WIDE, places=16)
        yield Case("matmul", f"{a} {b} clamped", operands,
                   node("matmul", attributes=sized(graphs.Matmul, flags=1, low=-0.5, high=1.0)),
                   lambda a, b, c: torch.clamp(a @ b + c, -0.5, 1.0), WIDE, places=16)
    for spec, shapes in SPECS:
        for dtypes in (FLOATS, COMPLEX):
            yield Case("einsum", f"{spec} {shapes}" + " complex" * (dtypes == COMPLEX),
                       list(map(Operand, shapes)), einsum_node(spec),
                       lambda *parts, spec=spec: torch.einsum(spec, *parts), dtypes, places=8)


def einsum_node(spec):
    return lambda g, *values: g.node("einsum", values,
                                     attributes=sized(graphs.Spec, spec=spec.encode()))


def images():
    shape = (2, 3, 4, 5)
    for count in range(2):
        operands = [Operand(shape), Operand((3,)), Operand((3,), positive), Operand((3,)),
                    Operand((3,))]
        yield Case("batch_norm", "of all" if count else "without mean and bias", operands
                   if count else [operands[0], operands[2], operands[3]],
                   lambda g, *v: g.node(
                       "batch_norm", v if len(v) == 5 else [v[0], graphs.NONE, v[1], v[2],
                                                            graphs.NONE],
                       attributes=sized(graphs.BatchNorm, eps=1e-3)),
                   batch_normalized, WIDE, places=16)


    for text, a, w, given, named in [
            ("plain", (2, 3, 6, 7), (4, 3, 3, 2), {}, {}),
            ("with strides", (1, 3, 7, 8), (2, 3, 3, 3), {"strides": (2, 3)}, {"stride": (2, 3)}),
            ("padded", (2, 2, 5, 4), (3, 2, 3, 3), {"padding": (1, 1, 2, 2)},
             {"padding": (1, 2)}),
            ("dilated", (1, 2, 7, 7), (2, 2, 2, 3), {"dilations": (2, 3)}, {"dilation": (2, 3)}),
            ("in groups", (2, 4, 5, 5), (6, 2, 3, 3), {"groups": 2}, {"groups": 2}),
            ("of depth", (1, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "padding": (1, 1, 1, 1)},
             {"groups": 4, "padding": 1})]:
        for biased in (0, 1):
            yield Case("conv2d", f"{text}, {biased}",
                       [Operand(a), Operand(w), Operand(w[:1])][:2 + biased],
                       node("conv2d", attributes=convolution(**given)),
                       lambda *v, named=named: functional.conv2d(*v, **named), WIDE, places=16)
        turned = (a[0], w[0], a[2], a[3])
        out = (w[1] * given.get("groups", 1),)
        for biased in (0, 1):
            yield Case("conv2d_transposed", f"{text}, {biased}",
                       [Operand(turned), Operand(w), Operand(out)][:2 + biased],
                       node("conv2d_transposed", attributes=convolution(**given)),
                       lambda *v, named=named: functional.conv_transpose2d(*v, **named), WIDE,
                       places=16)
    codes = graphs.ROWS["reduce"]
    for text, given, named in [
            ("plain", {"kernel": (2, 3)}, {"kernel_size": (2, 3)}),
            ("overlapping", {"kernel": (3, 3), "strides": (1, 2)},
             {"kernel_size": 3, "stride": (1, 2)}),
            ("padded", {"kernel": (3, 2), "strides": (2, 2), "padding": (1, 1, 1, 1)},
             {"kernel_size": (3, 2), "stride": 2, "padding": 1})]:
        attributes = sized(graphs.Pool)
        for name, numbers in given.items():
            getattr(attributes, name)[:] = numbers
        yield Case("pool2d", f"max {text}", [Operand((2, 3, 6, 7), distinct)],
                   node("pool2d", codes["max"].code, attributes=attributes),
                   lambda a, named=named: functional.max_pool2d(a, **named), WIDE)
        yield Case("pool2d", f"mean {text}", [Operand((2, 3, 6, 7))],
                   node("pool2d", codes["mean"].code, attributes=attributes),
                   lambda a, named=named: functional.avg_pool2d(
                       a, count_include_pad=False, **named), WIDE, places=4)
    yield Case("pool2d", "mean of all", [Operand((2, 3, 4, 5))],
               node("pool2d", codes["mean"].code),
               lambda a: functional.adaptive_avg_pool2d(a, 1), WIDE, places=4)


def convolution(**given):
    attributes = sized(graphs.Convolution, groups=given.pop("groups", 0))
    for name, numbers in given.items():
        getattr(attributes, name)[:] = numbers
    return attributes


def batch_normalized(a, *others):
    mean, variance, weight, bias = (others if len(others) == 4
                                    else (torch.zeros_like(others[0]), *others, None))
    by_channel = lambda of: of.reshape(1, -1, 1, 1)
    result = (a - by_channel(mean)) / torch.sqrt(by_channel(variance) + 1e-3) * by_channel(weight)
    return result if bias is None else result + by_channel(bias)
