"""Random graphs for torch_gradients_test.py: the nodes of a graph, and the same steps in PyTorch.

Numbers stay small, and away from points without a derivative: there a rounding chooses between two
gradients. A node for which that does not hold is not added.
"""

import numpy as np
import torch

import graphs
from gradient_cases import BINARY, REDUCE, UNARY, node
from gradient_movement_cases import taken
from gradient_product_cases import einsum_node
from graphs import ORDER, PAD_MODES, TRIANGLES, reduce_attributes, sized

MOST_ELEMENTS = 6000
MARGIN = 2e-3
GREATEST = 300.0
SMOOTH = ["tanh", "sigmoid", "sin", "cos", "gelu", "gelu_tanh", "silu", "softplus", "atan", "erf",
          "erfc", "square", "neg", "asinh", "softsign", "nan_to_num"]
GROWING = ["exp", "exp2", "expm1", "sinh", "cosh"]
OF_POSITIVE = ["sqrt", "rsqrt", "ln", "log2", "log10", "log1p", "reciprocal", "cbrt"]
OF_UNIT = ["asin", "acos", "atanh", "tan"]
# The points without a derivative.
BROKEN = {"relu": [0], "leaky_relu": [0], "abs": [0], "sign": [0], "elu": [0],
          "hardswish": [-3, 3]}


class Twin:
    """A graph and the same steps in PyTorch, which can be run in any dtype."""

    def __init__(self, g, rng, dtype):
        self.g, self.rng = g, rng
        self.ids, self.dtypes, self.tensors, self.steps = [], [], [], []
        self.used = set()
        self.leaves = []
        self.dtype = dtype

    def input(self, array):
        tensor = torch.from_numpy(array)
        self.leaves.append(tensor)
        self._append(self.g.input(self.dtype, array.shape), self.dtype, tensor.double(), None)

    def _append(self, value, dtype, tensor, step):
        self.ids.append(value)
        self.dtypes.append(dtype)
        self.tensors.append(tensor)
        self.steps.append(step)
        return len(self.ids) - 1

    def accepts(self, tensor):
        return (tensor.numel() <= MOST_ELEMENTS and bool(tensor.isfinite().all()) and
                (tensor.numel() == 0 or float(tensor.abs().max()) <= GREATEST))

    def add(self, ours, theirs, *operands, dtype=None):
        """Adds a node on values of one dtype; None where its result is refused."""
        own = self.dtypes[operands[0]]
        tensor = theirs(*(self.tensors[i] for i in operands))
        if not self.accepts(tensor):
            return None
        value = ours(self.g, *(self.ids[i] for i in operands))
        self.used.update(operands)
        return self._append(value, dtype or own, tensor, (theirs, operands, dtype))

    def of_dtype(self, index, dtype):
        if self.dtypes[index] == dtype:
            return index
        return self.add(node("cast", dtype=dtype), torch.clone, index, dtype=dtype)

    def replay(self, wide):
        """The last result and its gradients, all in f64 or each step in its dtype."""
        as_dtype = {"f64": torch.float64, "f32": torch.float32}
        leaves, values = [], []
        own = iter(self.leaves)
        for step, dtype in zip(self.steps, self.dtypes):
            if step is None:
                leaves.append(next(own).double() if wide else next(own).clone())
                values.append(leaves[-1].requires_grad_())
                continue
            theirs, operands, cast = step
            value = theirs(*(values[i] for i in operands))
            values.append(value.to(as_dtype[cast]) if cast and not wide else value)
        found = torch.autograd.grad(values[-1].sum(), leaves, allow_unused=True)
        return values[-1].detach(), [torch.zeros_like(leaf) if gradient is None else gradient
                                     for leaf, gradient in zip(leaves, found)]


def far(tensor, *points):
    return all(tensor.numel() == 0 or float((tensor - point).abs().min()) > MARGIN
               for point in points)


def ordered_apart(tensor, axis):
    """Whether the elements along an axis are apart."""
    rows = torch.sort(tensor, dim=axis).values
    return far(torch.diff(rows, dim=axis), 0)


class Builder:
    """Chooses nodes."""

    def __init__(self, twin):
        self.twin, self.rng = twin, twin.rng

    def pick(self, *, least_rank=0):
        """A value, rather a late one."""
        twin = self.twin
        fitting = [i for i, tensor in enumerate(twin.tensors) if tensor.dim() >= least_rank]
        if not fitting:
            return None
        unused = [i for i in fitting if i not in twin.used]
        if unused and self.rng.random() < 0.6:
            return int(self.rng.choice(unused))
        return int(self.rng.choice(fitting[-8:]))

    def tensor(self, i):
        return self.twin.tensors[i]

    def broken(self, *indices):
        return any(i is None for i in indices)

    def pair(self):
        """Two values that broadcast, of one dtype."""
        a = self.pick()
        for _ in range(6):
            b = self.pick()
            try:
                shape = torch.broadcast_shapes(self.tensor(a).shape, self.tensor(b).shape)
            except RuntimeError:
                continue
            if len(shape) <= 4:
                b = self.twin.of_dtype(b, self.twin.dtypes[a])
                return (a, b) if b is not None else None
        return None

    def axis_of(self, a):
        return int(self.rng.integers(self.tensor(a).dim()))

    def axes_of(self, a):
        rank = self.tensor(a).dim()
        axes = [axis for axis in range(rank) if self.rng.random() < 0.6]
        return tuple(axes or [self.axis_of(a)])

    # ---- element-wise ----
    def positive(self, a, least=0.5):
        square = self.twin.add(node("unary", "square"), torch.square, a)
        if square is None:
            return None
        return self.twin.add(lambda g, v: g.binary("add", v, g.scalar(least)),
                             lambda v: v + least, square)

    def scaled(self, a, by):
        return self.twin.add(lambda g, v: g.binary("mul", v, g.scalar(by)), lambda v: v * by, a)

    def smooth(self):
        op = str(self.rng.choice(SMOOTH))
        return self.twin.add(node("unary", op), UNARY[op][0], self.pick())

    def growing(self):
        op, a = str(self.rng.choice(GROWING)), self.pick()
        if not self.tensor(a).numel() or self.tensor(a).abs().max() > 3:
            return None
        return self.twin.add(node("unary", op), UNARY[op][0], a)

    def of_positive(self):
        op, a = str(self.rng.choice(OF_POSITIVE)), self.positive(self.pick())
        return None if a is None else self.twin.add(node("unary", op), UNARY[op][0], a)

    def of_unit(self):
        op = str(self.rng.choice(OF_UNIT))
        a = self.twin.add(node("unary", "tanh"), torch.tanh, self.pick())
        a = None if a is None else self.scaled(a, 0.75)
        return None if a is None else self.twin.add(node("unary", op), UNARY[op][0], a)

    def of_beyond_one(self):
        a = self.positive(self.pick(), 1.5)
        return None if a is None else self.twin.add(node("unary", "acosh"), torch.acosh, a)

    def with_a_kink(self):
        op, a = str(self.rng.choice(list(BROKEN))), self.pick()
        if not far(self.tensor(a), *BROKEN[op]):
            return None
        return self.twin.add(node("unary", op), UNARY[op][0], a)

    def steps(self):
        op, a = str(self.rng.choice(["floor", "ceil", "trunc"])), self.pick()
        if not far(self.tensor(a) - self.tensor(a).round(), 0):
            return None
        return self.twin.add(node("unary", op), UNARY[op][0], a)

    def arithmetic(self):
        pair = self.pair()
        op = str(self.rng.choice(["add", "sub", "mul"]))
        return pair and self.twin.add(node("binary", op), BINARY[op][0], *pair)

    def with_itself(self):
        a = self.pick()
        return self.twin.add(lambda g, v: g.binary("mul", v, v), lambda v: v * v, a)

    def with_number(self):
        a, number = self.pick(), float(np.round(self.rng.uniform(-2, 2), 3))
        op = str(self.rng.choice(["add", "mul"]))
        return self.twin.add(lambda g, v: g.binary(op, v, g.scalar(number)),
                             lambda v: BINARY[op][0](v, number), a)

    def quotient(self):
        pair = self.pair()
        if not pair:
            return None
        b = self.positive(pair[1])
        op = str(self.rng.choice(["div", "atan2", "hypot"]))
        return None if b is None else self.twin.add(node("binary", op), BINARY[op][0], pair[0], b)

    def remainder(self):
        pair = self.pair()
        if not pair:
            return None
        b = self.positive(pair[1])
        if b is None:
            return None
        quotient = self.tensor(pair[0]) / self.tensor(b)
        if not far(quotient - quotient.round(), 0):
            return None
        return self.twin.add(node("binary", "rem"), torch.fmod, pair[0], b)

    def power(self):
        pair = self.pair()
        if not pair:
            return None
        a = self.positive(pair[0])
        b = self.twin.add(node("unary", "tanh"), torch.tanh, pair[1])
        return None if self.broken(a, b) else self.twin.add(node("binary", "pow"), torch.pow, a, b)

    def extreme(self):
        pair = self.pair()
        if not pair or not far(self.tensor(pair[0]) - self.tensor(pair[1]), 0):
            return None
        op = str(self.rng.choice(["min", "max"]))
        return self.twin.add(node("binary", op), BINARY[op][0], *pair)

    def of_three(self):
        pair = self.pair()
        if not pair:
            return None
        op, function = [("fma", lambda a, b: a * b + a), ("lerp", lambda a, b: a + b * (b - a))][
            int(self.rng.integers(2))]
        order = (0, 1, 0) if op == "fma" else (0, 1, 1)
        return self.twin.add(lambda g, *v: g.node("ternary", [v[i] for i in order], op=op),
                             function, *pair)

    def clamp(self):
        a = self.pick()
        if not far(self.tensor(a), -1, 1):
            return None
        return self.twin.add(
            lambda g, v: g.node("ternary", [v, g.scalar(-1), g.scalar(1)], op="clamp"),
            lambda v: torch.clamp(v, -1, 1), a)

    def choice(self):
        pair = self.pair()
        if not pair or not far(self.tensor(pair[0]) - self.tensor(pair[1]), 0):
            return None

        def ours(g, a, b):
            return g.node("select", [g.node("compare", [a, b], op="lt"), a, b])
        return self.twin.add(ours, lambda a, b: torch.where(a < b, a, b), *pair)

    def cast(self):
        a = self.pick()
        to = "f32" if self.twin.dtypes[a] == "f64" else "f64"
        return self.twin.of_dtype(a, to)

    # ---- along axes ----
    def reduction(self):
        a = self.pick(least_rank=1)
        if a is None or not self.tensor(a).numel():
            return None
        op = str(self.rng.choice(["sum", "mean", "var", "std", "norm", "logsumexp", "prod", "min",
                                  "max"]))
        axes, keep = self.axes_of(a), bool(self.rng.integers(2))
        count = int(np.prod([self.tensor(a).shape[axis] for axis in axes]))
        attributes = None
        if op in ("var", "std"):
            if count < 3:
                return None
            attributes = reduce_attributes(ddof=1)
        if op == "norm":
            attributes = reduce_attributes(power=2.0)
        if op in ("min", "max"):
            axes = axes[:1]
            if not ordered_apart(self.tensor(a), axes[0]):
                return None
        if op in ("std", "norm"):
            values = REDUCE[op][0](self.tensor(a), axes, keep)
            if not far(values, 0):
                return None
        bits = sum(1 << axis for axis in axes) | (graphs.KEEP_AXES if keep else 0)
        return self.twin.add(node("reduce", op, flags=bits, attributes=attributes),
                             lambda v: REDUCE[op][0](v, axes, keep), a)

    def normalization(self):
        a = self.pick(least_rank=1)
        if a is None or not self.tensor(a).numel():
            return None
        op, axis = str(self.rng.choice(["softmax", "log_softmax", "layer_norm", "rms_norm"])), None
        axis = self.axis_of(a)
        given = {"flags": 1 << axis}
        if op.endswith("norm"):
            given["attributes"] = graphs.eps_attributes(0.1)

        def theirs(v):
            if not op.endswith("norm"):
                return getattr(torch, op)(v, axis)
            v = v - v.mean(axis, keepdim=True) if op == "layer_norm" else v
            return v * torch.rsqrt(v.square().mean(axis, keepdim=True) + 0.1)
        return self.twin.add(node("normalize", op, **given), theirs, a)

    def scan(self):
        a = self.pick(least_rank=1)
        if a is None:
            return None
        op, axis = str(self.rng.choice(["sum", "prod", "min", "max"])), self.axis_of(a)
        function = getattr(torch, "cum" + op)
        if op in ("min", "max"):
            if not ordered_apart(self.tensor(a), axis):
                return None
            return self.twin.add(node("scan", op, numbers=[axis]),
                                 lambda v: function(v, axis).values, a)
        return self.twin.add(node("scan", op, numbers=[axis]), lambda v: function(v, axis), a)

    def order(self):
        a = self.pick(least_rank=1)
        if a is None:
            return None
        axis = self.axis_of(a)
        extent = self.tensor(a).shape[axis]
        if not extent or not ordered_apart(self.tensor(a), axis):
            return None
        kind = int(self.rng.integers(3))
        if kind == 0:
            return self.twin.add(node("sort", ORDER["values"], numbers=[axis]),
                                 lambda v: torch.sort(v, dim=axis).values, a)
        if kind == 1:
            k = int(self.rng.integers(1, extent + 1))
            return self.twin.add(node("top_k", ORDER["values"], numbers=[axis, k]),
                                 lambda v: torch.topk(v, k, axis).values, a)
        q = np.round(self.rng.random(2), 2)
        return self.twin.add(
            lambda g, v: g.node("quantile", [v, g.constant(q, "f64")], flags=1 << axis),
            lambda v: torch.quantile(v, torch.from_numpy(q).to(v.dtype), axis), a)

    # ---- movement ----
    def moved(self):
        a = self.pick(least_rank=1)
        if a is None:
            return None
        shape = list(self.tensor(a).shape)
        kind = str(self.rng.choice(["reshape", "permute", "slice", "flip", "pad", "triangular",
                                    "broadcast"]))
        axis = self.axis_of(a)
        add = self.twin.add
        if kind == "reshape":
            to = [int(np.prod(shape))] if len(shape) > 1 else [1, *shape]
            return add(node("reshape", numbers=to), lambda v: v.reshape(to), a)
        if kind == "permute":
            axes = [int(i) for i in self.rng.permutation(len(shape))]
            return add(node("permute", numbers=axes), lambda v: v.permute(axes), a)
        if kind == "slice":
            start = int(self.rng.integers(0, max(1, shape[axis])))
            step = int(self.rng.integers(1, 4))
            places = torch.arange(start, shape[axis], step)
            return add(node("slice", numbers=[axis, start, shape[axis], step]),
                       lambda v: v.index_select(axis, places), a)
        if kind == "flip" and shape[axis]:
            return add(node("slice", numbers=[axis, shape[axis] - 1, -1, -1]),
                       lambda v: v.flip(axis), a)
        if kind == "pad" and len(shape) < 4:
            attributes = sized(graphs.Pad)
            attributes.before[axis] = 1
            to = list(shape)
            to[axis] += 3
            flat = [0, 0] * (len(shape) - 1 - axis) + [1, 2]
            return add(node("pad", PAD_MODES["constant"], numbers=to, attributes=attributes),
                       lambda v: torch.nn.functional.pad(v, flat), a)
        if kind == "triangular" and len(shape) > 1:
            return add(node("triangular", TRIANGLES["lower"],
                            attributes=sized(graphs.Diagonal, diagonal=1)),
                       lambda v: torch.tril(v, 1), a)
        if kind == "broadcast" and len(shape) < 4:
            to = [2, *shape]
            return add(node("broadcast", numbers=to), lambda v: v.expand(to), a)
        return None

    def joined(self):
        a = self.pick(least_rank=1)
        if a is None:
            return None
        same = [i for i, tensor in enumerate(self.twin.tensors)
                if tensor.shape == self.tensor(a).shape and
                self.twin.dtypes[i] == self.twin.dtypes[a]]
        b, axis = int(self.rng.choice(same)), self.axis_of(a)
        return self.twin.add(node("concat", numbers=[axis]), lambda v, w: torch.cat([v, w], axis),
                             a, b)

    def indexed(self):
        a = self.pick(least_rank=1)
        if a is None:
            return None
        axis = self.axis_of(a)
        extent = self.tensor(a).shape[axis]
        if not extent:
            return None
        kind = int(self.rng.integers(3))
        if kind == 0:
            indices = self.rng.integers(0, extent, int(self.rng.integers(1, 6)))
            return self.twin.add(
                lambda g, v: g.node("take", [v, g.constant(indices, "i64")], numbers=[axis]),
                lambda v: taken(v, axis, indices), a)
        indices = self.rng.integers(0, extent, tuple(self.tensor(a).shape))
        at = torch.from_numpy(indices)
        if kind == 1:
            return self.twin.add(
                lambda g, v: g.node("gather", [v, g.constant(indices, "i64")], numbers=[axis]),
                lambda v: torch.gather(v, axis, at), a)
        return self.twin.add(
            lambda g, v: g.node("scatter", [v, v, g.constant(indices, "i64")], op="add",
                                numbers=[axis]),
            lambda v: v.scatter_add(axis, at, v), a)

    # ---- products ----
    def product(self):
        a = self.pick(least_rank=2)
        if a is None:
            return None
        for _ in range(6):
            b = self.pick(least_rank=2)
            if self.tensor(b).shape[-1] != self.tensor(a).shape[-1]:
                continue
            rank = self.tensor(b).dim()
            b = self.twin.of_dtype(b, self.twin.dtypes[a])
            axes = [*range(rank - 2), rank - 1, rank - 2]
            turned = None if b is None else self.twin.add(
                node("permute", numbers=axes), lambda v: v.transpose(-1, -2), b)
            if turned is None:
                return None
            shapes = self.tensor(a).shape[:-2], self.tensor(turned).shape[:-2]
            try:
                torch.broadcast_shapes(*shapes)
            except RuntimeError:
                continue
            product = self.twin.add(node("matmul"), torch.matmul, a, turned)
            return None if product is None else self.scaled(product, 0.25)
        return None

    def einsum(self):
        a = self.pick(least_rank=2)
        if a is None:
            return None
        spec = str(self.rng.choice(["...ij,...kj->...ik", "...ij,...ij->...i", "...ij->...ji"]))
        operands = [a] if spec.count(",") == 0 else [a, a]
        result = self.twin.add(lambda g, *v: einsum_node(spec)(g, *v),
                               lambda *v: torch.einsum(spec, *v), *operands)
        return None if result is None else self.scaled(result, 0.25)

    MAKERS = [smooth, smooth, growing, of_positive, of_unit, of_beyond_one, with_a_kink, steps,
              arithmetic, arithmetic, arithmetic, with_itself, with_number, quotient, remainder,
              power, extreme, of_three, clamp, choice, cast, reduction, reduction, normalization,
              scan, order, moved, moved, joined, indexed, product, product, einsum]

    def build(self, count):
        """Adds that number of nodes or a few more, and the sum of the values without a user."""
        twin = self.twin
        first = len(twin.ids)
        for _ in range(8 * count):
            if len(twin.ids) - first >= count:
                break
            self.rng.choice(self.MAKERS)(self)
        total = None
        for i in [i for i in range(len(twin.ids)) if i not in twin.used]:
            axes = tuple(range(self.tensor(i).dim()))
            bits = sum(1 << axis for axis in axes)
            part = i
            if axes:
                if not self.tensor(i).numel():
                    continue
                part = twin.add(node("reduce", "mean", flags=bits), lambda v: v.mean(), i)
            part = twin.of_dtype(part, twin.dtype)
            total = part if total is None else twin.add(
                node("binary", "add"), torch.add, total, part)
        return total


def shapes_of(rng):
    """Shapes that broadcast with each other."""
    extents = [1, 2, 3, 4, 5, 7] if rng.random() < 0.9 else [24, 33, 40]
    whole = [int(rng.choice(extents)) for _ in range(int(rng.integers(1, 4)))]
    shapes = [tuple(whole)]
    for _ in range(int(rng.integers(1, 4))):
        part = whole[int(rng.integers(len(whole) + 1)):]
        shapes.append(tuple(1 if rng.random() < 0.2 else extent for extent in part))
    return shapes


def random_graph(g, rng, dtype):
    """A graph whose last value is a sum, and the same steps."""
    twin = Twin(g, rng, dtype)
    for shape in shapes_of(rng):
        array = np.asarray(rng.standard_normal(shape))
        twin.input(array.astype(np.float64 if dtype == "f64" else np.float32))
    total = Builder(twin).build(int(rng.integers(5, 31)))
    return twin if total is not None and total == len(twin.ids) - 1 else None
