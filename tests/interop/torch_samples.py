"""The sample inputs of PyTorch's own tests, for torch_gradients_test.py."""

import sys
import types
import unittest

import numpy as np
import torch

import gradient_cases
import graphs
from gradient_product_cases import einsum_node
from torch_gradients import EPS, GradientTest, numbers, root_mean_square, theirs, to_array


def samples_of_pytorch():
    """PyTorch's own list of operations with sample inputs, or None."""
    # A package of tests, which nothing here needs: only its name is imported.
    sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))
    try:
        from torch.testing._internal import common_methods_invocations
    except ImportError:
        return None
    return {info.name: info for info in common_methods_invocations.op_db
            if not info.variant_test_name}


# The rows of those operations: their samples have a tensor, or two, or an axis.
SAMPLED_UNARY = {"log": "ln", **{op: op for op in gradient_cases.UNARY if op not in (
    "gelu_tanh", "cbrt", "ln")}, **{f"nn.functional.{op}": op for op in (
        "relu", "silu", "gelu", "softsign", "hardswish", "leaky_relu", "elu")}}
SAMPLED_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "maximum": "max",
                  "minimum": "min", "fmod": "rem", "pow": "pow", "atan2": "atan2",
                  "hypot": "hypot"}
SAMPLED_REDUCE = {"sum": "sum", "mean": "mean", "amax": "max", "amin": "min",
                  "logsumexp": "logsumexp", "nansum": "nan_sum", "nanmean": "nan_mean"}
SAMPLED_ALONG = {"cumsum": ("scan", "sum"), "cumprod": ("scan", "prod"),
                 "softmax": ("normalize", "softmax"), "log_softmax": ("normalize", "log_softmax")}


class Samples(GradientTest):
    """The sample inputs of PyTorch's own tests."""

    def samples(self, names):
        infos = samples_of_pytorch()
        if infos is None:
            self.skipTest("the list of samples cannot be imported")
        for name in names:
            if name not in infos:
                continue
            for i, sample in enumerate(infos[name].sample_inputs("cpu", torch.float64)):
                yield infos[name], name, i, sample

    def check_sample(self, name, build, function, operands, places=1):
        result, seed, gradients = theirs(
            function, operands, lambda of: numbers(self.rng_of(name), gradient_cases.real,
                                                   tuple(of.shape), "f64"))
        found = self.ours(build, [to_array(operand) for operand in operands],
                          ["f64"] * len(operands), [tuple(operand.shape) for operand in operands],
                          to_array(seed), "f64")
        for got, want in zip(found, [result, *gradients]):
            # Others are special points, which have a test of their own.
            finite = want.isfinite()
            error = self.error(torch.from_numpy(np.asarray(got))[finite], want[finite],
                               EPS["f64"], root_mean_square(seed))
            if not error <= 32 * places:
                self.fail(f"{name} is {error:.3g} places away\n{operands}\ngot {got}\n"
                          f"want {want}")
        self.counts["samples of PyTorch"] += 1

    def test_functions_of_one_and_two_operands(self):
        for info, name, i, sample in self.samples({**SAMPLED_UNARY, **SAMPLED_BINARY}):
            operands = [sample.input, *sample.args]
            kind, op = (("unary", SAMPLED_UNARY[name]) if name in SAMPLED_UNARY else
                        ("binary", SAMPLED_BINARY[name]))
            is_plain = (not sample.kwargs and len(operands) == 1 + (kind == "binary") and
                        all(isinstance(operand, torch.Tensor) and operand.dtype == torch.float64
                            for operand in operands))
            if is_plain:
                with self.subTest(name=name, sample=i):
                    self.check_sample(f"{name} {i}", gradient_cases.node(kind, op), info.op,
                                      operands)

    def test_reductions(self):
        for info, name, i, sample in self.samples(SAMPLED_REDUCE):
            rank = sample.input.dim()
            axes = sample.kwargs.get("dim", sample.args[0] if sample.args else None)
            keep = sample.kwargs.get("keepdim", len(sample.args) > 1 and sample.args[1])
            if axes is None or axes == ():
                axes = tuple(range(rank))
            axes = (axes,) if isinstance(axes, int) else tuple(axes)
            if rank == 0 or set(sample.kwargs) - {"dim", "keepdim"}:
                continue
            bits = sum({1 << axis % rank for axis in axes}) | (graphs.KEEP_AXES if keep else 0)
            with self.subTest(name=name, sample=i):
                self.check_sample(
                    f"{name} {i}",
                    gradient_cases.node("reduce", SAMPLED_REDUCE[name], flags=bits),
                    lambda a, info=info, sample=sample: info.op(a, *sample.args, **sample.kwargs),
                    [sample.input], 4)

    def test_functions_along_an_axis(self):
        for info, name, i, sample in self.samples(SAMPLED_ALONG):
            axis = sample.kwargs.get("dim", sample.args[0] if sample.args else None)
            rank = sample.input.dim()
            if rank == 0 or set(sample.kwargs) - {"dim"} or len(sample.args) > 1:
                continue
            kind, op = SAMPLED_ALONG[name]
            given = {"numbers": [axis % rank]} if kind == "scan" else {"flags": 1 << axis % rank}
            with self.subTest(name=name, sample=i):
                self.check_sample(
                    f"{name} {i}", gradient_cases.node(kind, op, **given),
                    lambda a, info=info, sample=sample: info.op(a, *sample.args, **sample.kwargs),
                    [sample.input], 8)

    def test_products(self):
        for info, name, i, sample in self.samples(["matmul", "mm", "bmm", "mv", "dot"]):
            with self.subTest(name=name, sample=i):
                self.check_sample(f"{name} {i}", gradient_cases.node("matmul"), torch.matmul,
                                  [sample.input, *sample.args], 8)
        for info, name, i, sample in self.samples(["einsum"]):
            operands, spec = list(sample.input), sample.args[0]
            # PyTorch sums axes of "..." that the result does not name.
            is_taken = isinstance(spec, str) and len(spec) < 120 and (
                "->" not in spec or spec.count("...") == 0 or "..." in spec.split("->")[1])
            if is_taken:
                with self.subTest(name=name, sample=i, spec=spec):
                    self.check_sample(
                        f"{name} {i}", einsum_node(spec),
                        lambda *v, spec=spec: torch.einsum(spec, *v), operands, 8)

    def test_movement(self):
        for info, name, i, sample in self.samples(["tril", "triu", "permute", "gather",
                                                   "index_select", "where"]):
            own = self.movement_of(name, sample)
            if own is None:
                continue
            build, function, operands = own
            with self.subTest(name=name, sample=i):
                self.check_sample(f"{name} {i}", build, function, operands)

    def movement_of(self, name, sample):
        a, arguments = sample.input, sample.args
        rank = a.dim() or 1
        if name in ("tril", "triu"):
            diagonal = arguments[0] if arguments else sample.kwargs.get("diagonal", 0)
            part = graphs.TRIANGLES["lower" if name == "tril" else "upper"]
            return (gradient_cases.node("triangular", part, attributes=graphs.sized(
                graphs.Diagonal, diagonal=diagonal)),
                    lambda a: getattr(torch, name)(a, diagonal), [a])
        if name == "permute":
            axes = arguments[0] if len(arguments) == 1 else arguments
            axes = [axis % rank for axis in axes]
            return gradient_cases.node("permute", numbers=axes), lambda a: a.permute(axes), [a]
        if name in ("gather", "index_select") and a.dim() > 0:
            axis, indices = arguments[0] % rank, arguments[1].long().contiguous()
            if indices.dim() == 0 or sample.kwargs:
                return None
            # PyTorch's gather takes fewer elements along other axes, too.
            others = [i for i in range(rank) if i != axis]
            if name == "gather" and (indices.dim() != rank or any(
                    a.shape[i] != indices.shape[i] for i in others)):
                return None
            kind = "gather" if name == "gather" else "take"
            return (lambda g, v: g.node(kind, [v, g.constant(indices.numpy(), "i64")],
                                        numbers=[axis]),
                    lambda a: getattr(torch, name)(a, axis, indices), [a])
        if name == "where" and len(arguments) == 2:
            condition, b = arguments
            if condition.dtype == torch.bool and isinstance(b, torch.Tensor):
                return (lambda g, v, w: g.node("select", [g.constant(condition.numpy(), "bool8"),
                                                          v, w]),
                        lambda a, b: torch.where(condition, a, b), [a, b])
        return None
