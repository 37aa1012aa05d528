"""Comparisons of a graph's gradients with PyTorch's, for torch_gradients_test.py.

The reference is PyTorch's result in f64 at the same operands. An element may differ from it by
`PLACES[dtype]` units in the last place, times the factor of the case. The unit is that of the sum
of its magnitude and of the root mean square of the gradient, or of the upstream gradient where that
is greater: 1 - tanh^2 is a difference of numbers of that size.
"""

import collections
import unittest
import zlib

import numpy as np
import torch

import gradient_cases
import graphs

TORCH = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
         "bf16": torch.bfloat16, "c64": torch.complex64, "c128": torch.complex128}
EPS = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "c128": 2.0**-52,
       "c64": 2.0**-23}
PLACES = {"f64": 8, "f32": 4, "f16": 4, "bf16": 4, "c128": 4, "c64": 4}
LAYOUTS = ("row-major", "column-major", "every second", "reversed")


def to_array(tensor):
    """The elements as NumPy has them: bfloat16 as 16-bit integers."""
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy()
    return tensor.detach().contiguous().numpy()


def to_tensor(array, dtype):
    """The opposite, in f64 or c128."""
    tensor = torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape))
    if dtype == "bf16":
        tensor = tensor.view(torch.bfloat16)
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def root_mean_square(tensor):
    return float(tensor.abs().square().mean().sqrt()) if tensor.numel() > 0 else 0.0


def laid_out(array, layout):
    """The same elements in memory of another layout."""
    if layout == "row-major" or array.ndim == 0:
        return array
    if layout == "column-major":
        return np.asfortranarray(array)
    gaps = np.zeros([2 * extent + 1 for extent in array.shape], array.dtype)
    places = tuple(slice(1, None, 2) for _ in array.shape)
    if layout == "reversed":
        flip = tuple(slice(None, None, -1) for _ in array.shape)
        gaps[places][flip] = array
        return gaps[places][flip]
    gaps[places] = array
    return gaps[places]


def numbers(rng, domain, shape, dtype):
    """Elements of a domain, rounded to a dtype."""
    values = torch.from_numpy(np.asarray(domain(rng, shape), np.float64))
    if TORCH[dtype].is_complex:
        values = torch.complex(values, torch.from_numpy(np.asarray(domain(rng, shape))))
    return values.to(TORCH[dtype])


def theirs(function, operands, seed, dtype=None):
    """PyTorch's result and gradients, in f64 unless another dtype is given."""
    exact = [operand.to(dtype or (torch.complex128 if operand.is_complex() else torch.float64))
             for operand in operands]
    leaves = [operand.clone().requires_grad_() for operand in exact]
    result = function(*leaves)
    if callable(seed):
        seed = seed(result)
    gradients = torch.autograd.grad(result, leaves, seed.to(result.dtype), allow_unused=True)
    return result.detach(), seed, [torch.zeros_like(leaf) if gradient is None else gradient
                                   for leaf, gradient in zip(leaves, gradients)]


class GradientTest(unittest.TestCase):
    library = None
    seed = 0
    graph_count = 300
    counts = collections.Counter()
    worst = {}
    refused = {}

    def rng_of(self, name):
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def ours(self, build, arrays, dtypes, shapes, seed, seed_dtype, threads=None):
        """The result and the gradients by all operands."""
        with self.library.graph() as g:
            values = [g.input(dtype, shape) for dtype, shape in zip(dtypes, shapes)]
            result = build(g, *values)
            upstream = g.input(seed_dtype, seed.shape)
            for value in (result, *g.gradients(result, values, upstream)):
                g.output(value)
            with g.program() as program:
                return program.run([*arrays, seed], threads=threads)

    def error(self, got, want, eps, beside=0.0):
        """The greatest difference in units of the bound."""
        if got.shape != want.shape:
            self.fail(f"shape {tuple(got.shape)} instead of {tuple(want.shape)}")
        if got.numel() == 0:
            return 0.0
        same = (got == want) | (torch.isnan(got) & torch.isnan(want))
        finite = want.isfinite()
        scale = max(root_mean_square(want[finite]), beside)
        difference = torch.where(same, 0, (got - want).abs() / (eps * (want.abs() + scale)))
        difference = torch.where(difference.isnan(), torch.inf, difference)
        return float(difference.max())

    def check(self, case, dtype, layout="row-major"):
        name = f"{case.name} in {dtype}, {layout}"
        rng = self.rng_of(case.name + dtype)
        dtypes = [operand.dtype or dtype for operand in case.operands]
        operands = [numbers(rng, operand.domain, operand.shape, own)
                    for operand, own in zip(case.operands, dtypes)]
        result_dtype = case.result or dtype
        upstream = lambda result: numbers(rng, gradient_cases.real, tuple(result.shape),
                                          result_dtype)
        wanted, seed, gradients = theirs(case.theirs, operands, upstream)
        # The values of a sparse matrix have no gaps.
        packed = {0} if case.row.startswith("sparse") else {}
        arrays = [laid_out(to_array(operand), LAYOUTS[0] if i in packed else layout)
                  for i, operand in enumerate(operands)]
        shapes = [tuple(operand.shape) for operand in operands]
        try:
            found = self.ours(case.ours, arrays, dtypes, shapes,
                              laid_out(to_array(seed.to(TORCH[result_dtype])), layout),
                              result_dtype)
        except graphs.Refused as refusal:
            is_complex = dtype in gradient_cases.COMPLEX and "does not take c" in str(refusal)
            if not is_complex and "its derivative is not written yet" not in str(refusal):
                raise
            self.refused[case.name] = str(refusal)
            return
        kinds = [result_dtype, *dtypes]
        for i, (got, want, kind) in enumerate(zip(found, [wanted, *gradients], kinds)):
            coarse = max(EPS[kind], EPS[result_dtype], key=float)
            error = self.error(to_tensor(got, kind), want, coarse,
                               root_mean_square(seed) if i > 0 else 0.0)
            if layout == "row-major":
                key = (dtype, "result" if i == 0 else "gradient")
                self.worst[key] = max(self.worst.get(key, (0, "")), (error / case.places, name))
            if not error <= PLACES[dtype] * case.places:
                self.fail(f"{name}, seed {self.seed}: output {i} is {error:.3g} places away\n"
                          f"operands {operands}\nupstream {seed}\n got {got}\nwant {want}")
        self.counts["gradients"] += len(gradients)
