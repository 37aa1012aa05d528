"""The gradients of graphs against PyTorch's, through the shared library's C functions.

    python tests/interop/torch_gradients_test.py LIBRARY_PATH [--graphs COUNT] [--seed SEED]

Needs numpy and torch, as torch_test.py, which `./x interop torch` runs before this. The gradients
of random graphs are compared for COUNT graphs, 300 by default.
"""

import argparse
import pathlib
import re
import sys
import unittest

import numpy as np
import torch
import torchgen

import gradient_cases
import gradient_graphs
import gradient_operations
import gradient_points
import graphs
from torch_gradients import (EPS, LAYOUTS, TORCH, GradientTest, root_mean_square, theirs, to_array,
                             to_tensor)
from torch_samples import Samples  # unittest finds its tests here


class Operations(GradientTest):
    """Every operation at points where it has a derivative."""

    def check_group(self, group):
        for case in gradient_operations.GROUPS[group]():
            for dtype in case.dtypes:
                for layout in LAYOUTS if dtype in ("f32", "c128", "f16") else LAYOUTS[:1]:
                    with self.subTest(case=case.name, dtype=dtype, layout=layout):
                        self.check(case, dtype, layout)


class NamedExtents(GradientTest):
    """Gradients of a graph whose rows are counted by each run."""

    NODES = {
        "cumsum": (gradient_cases.node("scan", "sum", numbers=[0]), lambda a: a.cumsum(0)),
        "cumprod": (gradient_cases.node("scan", "prod", numbers=[0]), lambda a: a.cumprod(0)),
        "cummax": (gradient_cases.node("scan", "max", numbers=[0]),
                   lambda a: a.cummax(0).values),
        "sum": (gradient_cases.node("reduce", "sum", flags=1), lambda a: a.sum(0)),
        "mean": (gradient_cases.node("reduce", "mean", flags=1), lambda a: a.mean(0)),
        "prod": (gradient_cases.node("reduce", "prod", flags=1), lambda a: a.prod(0)),
        "max": (gradient_cases.node("reduce", "max", flags=1), lambda a: a.amax(0)),
        "var": (gradient_cases.node("reduce", "var", flags=3),
                lambda a: a.var((0, 1), correction=0)),
        "softmax": (gradient_cases.node("normalize", "softmax", flags=1),
                    lambda a: a.softmax(0)),
        "sort": (gradient_cases.node("sort", graphs.ORDER["values"], numbers=[0]),
                 lambda a: a.sort(0).values),
        "product": (lambda g, a: g.node("matmul", [g.node("permute", [a], numbers=[1, 0]), a]),
                    lambda a: a.T @ a),
        "flip": (gradient_cases.node("slice", numbers=[1, 2, -1, -1]), lambda a: a.flip(1)),
    }
    # The last index of an axis, n - 1, is no number of a run in which n is 0.
    NOT_OF_NONE = {"cumsum", "prod", "max"}

    def test_gradients_of_any_number_of_rows(self):
        for name, (build, function) in self.NODES.items():
            for rows in (4, 3, 1, 0):
                if rows or name not in self.NOT_OF_NONE:
                    with self.subTest(name=name, rows=rows):
                        self.check_rows(name, build, function, rows)

    def check_rows(self, name, build, function, rows):
        a = torch.from_numpy(gradient_cases.distinct(self.rng_of(name), (rows, 3)) + 0.0625)
        leaf = a.clone().requires_grad_()
        result = function(leaf).square().sum()
        wanted, = torch.autograd.grad(result, leaf)
        with self.library.graph() as g:
            value = g.input("f64", (g.extent("rows", 4), 3))
            squares = g.unary("square", build(g, value))
            rank = function(a).dim()
            total = g.reduce("sum", squares, range(rank)) if rank else squares
            g.output(g.gradients(total, [value])[0])
            with g.program() as program:
                found, = program.run([a.numpy()])
        error = self.error(torch.from_numpy(found), wanted, EPS["f64"], 1.0)
        self.assertLessEqual(error, 32, f"{found} instead of {wanted}")


class MixedPrecision(GradientTest):
    """A network in mixed precision beside the same one under torch.autocast."""

    SHAPES = ((16, 24), (24, 32), (32,), (32, 10))

    @staticmethod
    def function(x, first, bias, second):
        hidden = torch.nn.functional.gelu(torch.nn.functional.linear(x, first.T, bias))
        return hidden.matmul(second).softmax(1).square().sum()

    def test_values_and_gradients_are_as_near_as_those_of_autocast(self):
        for dtype in ("bf16", "f16"):
            for sample in range(20):
                with self.subTest(dtype=dtype, sample=sample):
                    self.check_sample(dtype, sample)

    def check_sample(self, dtype, sample):
        rng = self.rng_of(f"{dtype} {sample}")
        operands = [torch.from_numpy(rng.normal(0, 0.5, shape).astype(np.float32))
                    for shape in self.SHAPES]
        one = torch.ones((), dtype=torch.float64)
        value, _, gradients = theirs(self.function, operands, one)
        with torch.autocast("cpu", dtype=TORCH[dtype]):
            near, _, near_gradients = theirs(self.function, operands, one, torch.float32)
        with self.library.graph() as g:
            x, first, bias, second = (g.input("f32", shape) for shape in self.SHAPES)
            hidden = g.binary("add", g.node("matmul", [x, first]), bias)
            scores = g.node("matmul", [g.unary("gelu", hidden), second])
            shares = g.node("normalize", [scores], op="softmax", flags=2)
            loss, = g.mixed_precision([g.reduce("sum", g.unary("square", shares), [0, 1])], dtype)
            for output in (loss, *g.gradients(loss, [x, first, bias, second])):
                g.output(output)
            with g.program() as program:
                found = program.run([operand.numpy() for operand in operands])
        for ours, exact, theirs_ in zip(found, (value, *gradients), (near, *near_gradients)):
            self.assertEqual(ours.dtype, np.float32)
            size = float(exact.norm())
            off = float((torch.as_tensor(np.asarray(ours)).double() - exact).norm()) / size
            autocast = float((theirs_.double() - exact).norm()) / size
            self.assertLessEqual(off, 2 * autocast + EPS[dtype])


class Points(GradientTest):
    """Points without a derivative, and special values."""

    def assert_close(self, got, want, eps, message):
        want = torch.as_tensor(np.asarray(want, np.float64))
        error = self.error(got, want, eps)
        if not error <= 8:
            self.fail(f"{message}: got {got} instead of {want}")

    def check_point(self, point, dtype):
        operands = [torch.tensor(operand, dtype=torch.float64).to(TORCH[dtype])
                    for operand in point.operands]
        result, seed, gradients = theirs(point.theirs, operands, torch.ones_like)
        # The result of a norm of a sparse matrix is of f64.
        wide = point.name == "sparse_norm"
        found = self.ours(point.ours, [to_array(operand) for operand in operands],
                          [dtype] * len(operands), [tuple(operand.shape) for operand in operands],
                          to_array(seed if wide else seed.to(TORCH[dtype])),
                          "f64" if wide else dtype)
        for i, (got, want) in enumerate(zip(found[1:], point.expected)):
            self.assert_close(to_tensor(got, dtype), want, EPS[dtype],
                              f"{point.name} in {dtype} by operand {i}")
            self.counts["points"] += np.size(want)
        for i, gradient in enumerate(gradients if dtype == "f64" else []):
            self.assert_close(gradient, point.pytorch.get(i, point.expected[i]), EPS["f64"],
                              f"PyTorch's {point.name} by operand {i}")
            self.counts["points that differ"] += int(np.size(point.pytorch.get(i, ())))

    def test_points_are_as_documented(self):
        for point in gradient_points.POINTS:
            is_sparse = point in gradient_points.SPARSE
            for dtype in gradient_cases.WIDE if is_sparse else gradient_cases.FLOATS:
                with self.subTest(point=point.name, operands=str(point.operands), dtype=dtype):
                    self.check_point(point, dtype)

    def test_points_of_one_dtype_are_as_documented(self):
        for dtype, points in (("f64", gradient_points.OF_F64), ("f32", gradient_points.OF_F32),
                              ("f16", gradient_points.OF_F16)):
            for point in points:
                with self.subTest(point=point.name, dtype=dtype):
                    self.check_point(point, dtype)


class Checklist(unittest.TestCase):
    """Every row and every kind of node with a derivative has a case."""

    def setUp(self):
        self.cases = {case.row for cases in gradient_operations.GROUPS.values() for case in cases()}

    def formulas(self):
        """The names of PyTorch's functions with formulas of derivatives."""
        path = pathlib.Path(torchgen.__file__).parent / "packaged/autograd/derivatives.yaml"
        return set(re.findall(r"^- name: (\w+)", path.read_text(), re.MULTILINE))

    def test_every_formula_of_pytorch_with_a_counterpart_has_a_case(self):
        formulas = self.formulas()
        self.assertGreater(len(formulas), 400)
        for name, row in gradient_operations.COUNTERPARTS.items():
            with self.subTest(name=name):
                if name not in formulas:  # a function that PyTorch composes of others
                    self.assertTrue(hasattr(torch, name) or hasattr(torch.nn.functional, name))
                self.assertIn(row, self.cases)
        common = formulas & set(gradient_operations.COUNTERPARTS)
        print(f"{len(common)} of {len(formulas)} formulas of PyTorch have a counterpart")

    def test_no_formula_of_the_name_of_a_row_is_without_a_counterpart(self):
        names = {name for rows in graphs.ROWS.values() for name in rows} | set(graphs.KINDS)
        known = set(gradient_operations.COUNTERPARTS) | set(gradient_operations.OTHER_FUNCTIONS)
        self.assertEqual(names & self.formulas() - known -
                         gradient_cases.WITHOUT_GRADIENT - {"eq", "ne", "lt", "le", "gt", "ge"},
                         set())

    def test_every_row_has_a_case(self):
        for kind in ("unary", "binary", "ternary", "reduce", "normalize", "scan"):
            for name in graphs.ROWS[kind]:
                if name not in gradient_cases.WITHOUT_GRADIENT | {"arg"}:
                    self.assertIn(f"{kind}.{name}", self.cases)

    def test_every_kind_has_a_case(self):
        kinds = {name for name, code in graphs.KINDS.items() if code >= 2**16}
        kinds = {name for name in kinds if graphs.KINDS[name] < 2**31}
        have = {row.split(".")[0] for row in self.cases}
        self.assertEqual(kinds - have, WITHOUT_CASE)


# Kinds whose results do not change with their operands; kinds of integers, which have no gradient;
# kinds of subgraphs and of the caller; and gradients themselves, which the cases of convolutions and
# poolings compute.
WITHOUT_CASE = {"compare", "searchsorted", "histogram", "random", "random_permutation", "nonzero",
                "extent", "cond", "while", "custom", "conv2d_filters", "pool2d_gradient",
                "quantize", "quantize_dynamic", "dequantize", "quantized_matmul", "quantized_conv2d"}


class RandomGraphs(GradientTest):
    """Random graphs: gradients are PyTorch's, and their bits do not depend on passes, threads and
    memory."""

    def conditioned(self, gradients, narrow):
        """Units in the last place of f32 that rounding each step of PyTorch to f32 costs."""
        return max(self.error(of.double(), want, EPS["f32"])
                   for of, want in zip(narrow, gradients))

    def check_graph(self, number):
        dtype = "f64" if number % 2 else "f32"
        rng = np.random.default_rng([self.seed, number])
        with self.library.graph() as g:
            twin = gradient_graphs.random_graph(g, rng, dtype)
            if twin is None:
                self.counts["graphs without a sum"] += 1
                return
            by = twin.ids[:len(twin.leaves)]
            for value in (twin.ids[-1], *g.gradients(twin.ids[-1], by)):
                g.output(value)
            arrays = [leaf.numpy() for leaf in twin.leaves]
            with g.program() as program:
                found = program.run(arrays)
                peak = program.memory(arrays).peak_bytes
                self.assert_bits(found, program.run(arrays, threads=2), "2 threads")
            # The order of a SUM follows the strides of its operand. A value that fusion leaves out
            # is summed in row-major order, and a temporary in the order of its own operands. Other
            # passes decide which values fusion leaves out.
            with g.program(disabled=graphs.ALL_PASSES) as plain:
                others = plain.run(arrays, threads=1)
            self.assert_bits(others, self.unfused(g, arrays), "all passes except fusion")
            if not self.has_same_bits(found, others):
                self.counts["graphs of other bits with fusion"] += 1
            self.check_budget(g, found, arrays, peak // 2)
        self.compare(number, twin, found)
        self.compare(number, twin, others)
        self.counts["graphs"] += 1
        self.counts["nodes of graphs"] += len(twin.ids) - len(twin.leaves)

    def unfused(self, g, arrays):
        with g.program(disabled=graphs.PASSES["fusion"]) as program:
            return program.run(arrays, threads=2)

    def compare(self, number, twin, found):
        wanted, gradients = twin.replay(wide=True)
        # What is narrow in a graph of f64 is so in PyTorch too.
        _, narrow = twin.replay(wide=False)
        is_mixed = "f32" in twin.dtypes
        eps = EPS["f32" if is_mixed else "f64"]
        cost = self.conditioned(gradients, narrow) if is_mixed else 0
        # Parts of a gradient may cancel.
        beside = max(2.0**-6, *map(root_mean_square, gradients))
        for i, (got, want) in enumerate(zip(found, [wanted, *gradients])):
            got = torch.from_numpy(np.asarray(got)).double()
            error = self.error(got, want, eps, beside)
            self.counts["gradients of graphs"] += i > 0
            key = (("f32" if is_mixed else "f64"), "graph")
            if cost < 16:
                self.worst[key] = max(self.worst.get(key, (0, "")), (error, f"graph {number}"))
            bound = 256 + 32 * cost if is_mixed else 2**16
            if not error <= bound:
                self.fail(f"output {i} is {error:.3g} places away, bound {bound:.3g}\n"
                          f"got {got}\nwant {want}")

    def check_budget(self, g, found, arrays, budget):
        if budget == 0:
            return
        try:
            program = g.program(budget=budget)
        except graphs.Refused as refusal:
            if refusal.status != graphs.OUT_OF_MEMORY:
                raise
            self.counts["budgets that were not met"] += 1
            return
        with program:
            self.assertLessEqual(program.memory(arrays).peak_bytes, budget)
            self.assert_bits(found, program.run(arrays), f"a budget of {budget} bytes")
        self.counts["budgets that were met"] += 1

    def has_same_bits(self, found, others):
        return all(one.tobytes() == other.tobytes() for one, other in zip(found, others))

    def assert_bits(self, found, others, what):
        for i, (one, other) in enumerate(zip(found, others)):
            if one.tobytes() != other.tobytes():
                self.fail(f"output {i} has other bits with {what}: {one} and {other}")

    def test_gradients_of_random_graphs_are_pytorchs(self):
        for number in range(self.graph_count):
            with self.subTest(graph=number, seed=self.seed):
                self.check_graph(number)


for group_name in gradient_operations.GROUPS:
    setattr(Operations, f"test_{group_name}_are_pytorchs",
            lambda self, group=group_name: self.check_group(group))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20261130)
    options, rest = parser.parse_known_args()
    GradientTest.library = graphs.Programs(options.library)
    GradientTest.graph_count, GradientTest.seed = options.graphs, options.seed
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, NumPy {np.__version__}, seed {options.seed}")
    program = unittest.main(module=sys.modules[__name__], argv=[sys.argv[0], *rest], exit=False)
    for what, count in sorted(GradientTest.counts.items()):
        print(f"{count} {what}")
    for (dtype, what), (error, name) in sorted(GradientTest.worst.items()):
        print(f"{dtype}: {what}s within {error:.2f} places: {name}")
    for name, refusal in sorted(GradientTest.refused.items()):
        print(f"refused: {name}: {refusal}")
    sys.exit(not program.result.wasSuccessful())


if __name__ == "__main__":
    main()
