"""Operations that move or order elements, for the tests of gradients."""

import itertools

import numpy as np
import torch
from torch.nn import functional

import graphs
from gradient_cases import (FLOATS, WIDE, Case, Operand, away_from_zero, distinct, node, real,
                            shares, with_nan, with_zeros)
from graphs import ORDER, PAD_MODES, TRIANGLES, sized

PAD_NAMES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def pads():
    for name, mode in PAD_NAMES.items():
        # The last axes, as PyTorch pads them.
        for shape, around in [((2, 5), [(0, 0), (2, 1)]), ((1, 2, 4, 5), [(0, 0), (0, 0), (1, 2),
                                                                           (3, 0)])]:
            attributes = sized(graphs.Pad)
            attributes.before[:len(shape)] = [before for before, _ in around]
            numbers = [extent + sum(both) for extent, both in zip(shape, around)]
            flat = [n for both in reversed(around) for n in both]
            flat = flat[:2] if len(shape) == 2 else flat[:4]
            yield Case("pad", f"{name} {shape}", [Operand(shape)],
                       node("pad", PAD_MODES[name], numbers=numbers, attributes=attributes),
                       lambda a, flat=flat, mode=mode: functional.pad(a, flat, mode))
    cropped = sized(graphs.Pad)
    cropped.before[:2] = [-1, -2]
    yield Case("pad", "that crops", [Operand((4, 6))],
               node("pad", 0, numbers=[2, 7], attributes=cropped),
               lambda a: functional.pad(a, (-2, 3, -1, -1)))
    symmetric = sized(graphs.Pad)
    symmetric.before[0] = 2
    places = torch.tensor([1, 0, 0, 1, 2, 3, 3])
    yield Case("pad", "symmetric", [Operand((4, 3))],
               node("pad", PAD_MODES["symmetric"], numbers=[7, 3], attributes=symmetric),
               lambda a: a[places])


def movement():
    for shape, to in [((2, 3, 4), (6, 4)), ((6,), (2, 1, 3)), ((), (1, 1)), ((0, 3), (3, 0))]:
        yield Case("reshape", f"{shape} to {to}", [Operand(shape)], node("reshape", numbers=to),
                   lambda a, to=to: a.reshape(to))
    for axes in [(1, 0), (2, 0, 1), (1, 2, 0), (0, 2, 1), (3, 1, 0, 2)]:
        yield Case("permute", str(axes), [Operand((2, 3, 4, 5)[:len(axes)])],
                   node("permute", numbers=axes), lambda a, axes=axes: a.permute(axes))
    for shape, to in [((3,), (2, 3)), ((3, 1), (3, 4)), ((), (2, 2)), ((1, 3), (0, 3)),
                      ((1, 1, 2), (4, 3, 2))]:
        yield Case("broadcast", f"{shape} to {to}", [Operand(shape)],
                   node("broadcast", numbers=to), lambda a, to=to: a.expand(to))
    for axis, start, stop, step in [(0, 1, 4, 1), (1, 0, 7, 2), (1, 1, 7, 3), (0, 2, 2, 1),
                                    (1, 0, 7, 1), (1, 6, -1, -1), (1, 5, 0, -2), (0, 4, -1, -3)]:
        places = list(range(start, stop, step))
        yield Case("slice", f"{axis}: {start}:{stop}:{step}", [Operand((5, 7))],
                   node("slice", numbers=[axis, start, stop, step]),
                   lambda a, axis=axis, places=places: a.index_select(
                       axis, torch.tensor(places, dtype=torch.int64)))
    for axis, shapes in [(0, [(2, 3), (1, 3), (4, 3)]), (1, [(2, 3), (2, 0), (2, 1)]), (0, [(3,)])]:
        yield Case("concat", f"{shapes} along {axis}", list(map(Operand, shapes)),
                   lambda g, *parts, axis=axis: g.node("concat", parts, numbers=[axis]),
                   lambda *parts, axis=axis: torch.cat(parts, axis))
    yield Case("concat", "of one value twice", [Operand((2, 3))],
               lambda g, a: g.node("concat", [a, a], numbers=[0]), lambda a: torch.cat([a, a]))
    yield from pads()
    rng = np.random.default_rng(8)
    for axis, shape in [(0, (4,)), (1, (4,)), (0, (2, 3)), (0, ()), (1, (0,))]:
        indices = rng.integers(0, 5, shape)
        yield Case("take", f"{shape} along {axis}", [Operand((5, 6))],
                   lambda g, a, i=indices, axis=axis: g.node(
                       "take", [a, g.constant(i, "i64")], numbers=[axis]),
                   lambda a, i=indices, axis=axis: taken(a, axis, i))
    for axis, shape in [(0, (7, 6)), (1, (5, 3)), (0, (0, 6)), (1, (5, 0))]:
        indices = rng.integers(0, 5, shape)
        yield Case("gather", f"{shape} along {axis}", [Operand((5, 6))],
                   lambda g, a, i=indices, axis=axis: g.node(
                       "gather", [a, g.constant(i, "i64")], numbers=[axis]),
                   lambda a, i=indices, axis=axis: torch.gather(a, axis, torch.from_numpy(i)))
    for part, function in [("lower", torch.tril), ("upper", torch.triu)]:
        for shape, diagonal in itertools.product([(4, 5), (2, 3, 3), (0, 3)], (-1, 0, 2)):
            yield Case("triangular", f"{part} {shape} {diagonal}", [Operand(shape)],
                       node("triangular", TRIANGLES[part],
                            attributes=sized(graphs.Diagonal, diagonal=diagonal)),
                       lambda a, f=function, d=diagonal: f(a, d))
    mask = rng.random((4, 5)) < 0.5
    for text, part in [("of a matrix", mask), ("of rows", mask[:1]), ("of none", mask & False)]:
        yield Case("masked_select", text, [Operand((4, 5))],
                   lambda g, a, part=part: masked_select(g, a, part, 20),
                   lambda a, part=part: torch.masked_select(
                       a, torch.from_numpy(part)).square().sum(), places=4)
    yield from puts()


def taken(a, axis, indices):
    flat = a.index_select(axis, torch.from_numpy(indices.reshape(-1)))
    return flat.reshape(*a.shape[:axis], *indices.shape, *a.shape[axis + 1:])


def masked_select(g, a, mask, most):
    """The sum of the squares of the chosen elements: their number is no extent of a seed."""
    extent = g.extent("chosen", most)
    chosen = g.node("masked_select", [a, g.constant(mask, "bool8")], numbers=[extent])
    return g.reduce("sum", g.unary("square", chosen), (0,))


def put_in_order(out, a, indices, axis):
    """Puts one slice after the other: the last of equal indices wins."""
    for i, index in enumerate(indices):
        at = torch.tensor([int(index)])
        out = out.index_copy(axis, at, a.narrow(axis, i, 1))
    return out


REDUCTIONS = {"mul": "prod", "min": "amin", "max": "amax"}


def puts():
    unique, repeated = np.array([3, 0, 4]), np.array([3, 0, 3, 1])
    for (indices, axis), op in itertools.product(
            [(unique, 0), (repeated, 0), (repeated, 1)], ("", "add", "mul", "min", "max")):
        shape = [5, 5]
        shape[axis] = len(indices)
        ours = node_with_indices("put", op, indices, axis)
        at = torch.from_numpy(indices)
        if op == "add":
            theirs = lambda out, a, at=at, axis=axis: out.index_add(axis, at, a)
        elif op == "":
            theirs = lambda out, a, i=indices, axis=axis: put_in_order(out, a, i, axis)
        else:
            theirs = lambda out, a, at=at, axis=axis, op=op: out.index_reduce(
                axis, at, a, REDUCTIONS[op])
        text = f"{op or 'overwrite'} {indices} along {axis}"
        # PyTorch's derivative of index_reduce takes no other than unique indices for products of
        # zeros, which scatter tests.
        domain = away_from_zero if op == "mul" else real
        yield Case("put", text, [Operand((5, 5), domain), Operand(tuple(shape), domain)], ours,
                   theirs, places=4)
    rng = np.random.default_rng(9)
    places = np.array([[0, 1, 2], [0, 4, 2], [3, 1, 2]])
    for op, domain in itertools.product(("add", "mul", "min", "max"), (distinct, with_zeros)):
        if op in ("min", "max") and domain is with_zeros:
            continue  # ties: a test of special points
        at = torch.from_numpy(places)
        theirs = (lambda out, a, at=at: out.scatter_add(0, at, a)) if op == "add" else (
            lambda out, a, at=at, op=op: out.scatter_reduce(0, at, a, REDUCTIONS[op]))
        dtypes = FLOATS if op != "mul" or domain is with_zeros else WIDE
        yield Case("scatter", f"{op} {domain.__name__}", [Operand((5, 3), domain),
                                                          Operand((3, 3), domain)],
                   node_with_indices("scatter", op, places, 0), theirs, dtypes, places=8)
    single = np.stack([rng.permutation(5)[:3] for _ in range(4)], 1)
    yield Case("scatter", "overwrite", [Operand((5, 4)), Operand((3, 4))],
               node_with_indices("scatter", "", single, 0),
               lambda out, a: out.scatter(0, torch.from_numpy(single), a))


def node_with_indices(kind, op, indices, axis):
    return lambda g, out, a: g.node(kind, [out, a, g.constant(indices, "i64")], op=op or 0,
                                    numbers=[axis])


def ordering():
    for shape, axis in [((9,), 0), ((4, 7), 1), ((4, 7), 0), ((2, 3, 5), 1), ((0, 4), 1)]:
        for descending in (0, 1):
            yield Case("sort", f"{shape} along {axis}, {descending}", [Operand(shape, distinct)],
                       node("sort", ORDER["values"], numbers=[axis],
                            attributes=sized(graphs.Flags, flags=descending)),
                       lambda a, axis=axis, d=descending: torch.sort(
                           a, dim=axis, descending=bool(d), stable=True).values)
        if 0 in shape:
            continue
        for k, smallest in itertools.product((0, 1, 3), (0, 1)):
            yield Case("top_k", f"{k} of {shape} along {axis}, {smallest}",
                       [Operand(shape, distinct)],
                       node("top_k", ORDER["values"], numbers=[axis, k],
                            attributes=sized(graphs.Flags, flags=smallest)),
                       lambda a, k=k, axis=axis, s=smallest: torch.topk(
                           a, k, axis, largest=not s).values)
        for kth in (0, shape[axis] // 2):
            yield Case("partition", f"{shape} along {axis}, {kth}", [Operand(shape, distinct)],
                       lambda g, a, axis=axis, kth=kth: g.node(
                           "slice", [g.node("partition", [a], op=ORDER["values"],
                                            numbers=[axis, kth])], numbers=[axis, kth, kth + 1, 1]),
                       lambda a, axis=axis, kth=kth: torch.kthvalue(
                           a, kth + 1, axis, keepdim=True).values)
    medians = lambda a, q: torch.quantile(a, q, 1)
    for text, q in [("median", [0.5]), ("quantiles", [0.1, 0.37, 0.9]), ("ends", [0.0, 1.0])]:
        for shape in [(4, 7), (3, 8), (2, 1)]:
            yield Case("quantile", f"{text} of {shape}", [Operand(shape, distinct)],
                       lambda g, a, q=q: g.node("quantile", [a, g.constant(np.array(q), "f64")],
                                                flags=2),
                       lambda a, q=q: medians(a, torch.tensor(q, dtype=torch.float64)))
    yield Case("quantile", "over all axes, by the share too",
               [Operand((4, 7), distinct), Operand((3,), shares, "f64")],
               lambda g, a, q: g.node("quantile", [a, q], flags=3),
               lambda a, q: torch.quantile(a.reshape(-1), q), places=8)
    yield Case("quantile", "without NaN", [Operand((4, 9), with_nan)],
               lambda g, a: g.node("quantile", [a, g.constant(np.array([0.25, 0.5]), "f64")],
                                   flags=2, attributes=sized(graphs.Flags, flags=1)),
               lambda a: torch.nanquantile(a, torch.tensor([0.25, 0.5], dtype=torch.float64), 1))
    bins = np.array([0, 2, 2, 5, 0, 1])
    yield Case("bincount", "weights", [Operand((6,))],
               lambda g, w: g.node("bincount", [g.constant(bins, "i64"), w], numbers=[7]),
               lambda w: torch.zeros(7, dtype=w.dtype).index_add(0, torch.from_numpy(bins), w),
               WIDE)
