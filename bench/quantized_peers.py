"""Products of f32 rows by quantized weights: Tenure, PyTorch with torchao, and onnxruntime, in turns
in one process.

    python bench/quantized_peers.py LIBRARY [THREADS]

LIBRARY is libtenure.so. Every time includes the quantization of the rows; weights are quantized and
packed before. torchao runs as torch.compile makes it, without which it has no kernel of integers.
Needs torch, torchao, onnx and onnxruntime. The differences are relative to the largest number of the
product of f32.
"""

import ctypes
import os
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests" / "interop"))
import numpy_test as interop
from peers import Tenure

SHAPES = [(1, 8192, 8192), (1, 1024, 1024), (16, 1024, 1024), (256, 1024, 1024),
          (1024, 1024, 1024), (128, 384, 1536), (16, 384, 1536), (128, 4096, 4096), (64, 64, 64)]
GROUP = 32
TURNS, LEAST_NS = 11, 2_000_000


class FactorAttributes(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("a_dtype", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32), ("group_scales", ctypes.c_void_p)]


def whole(weight, axis, most):
    """Integers from -most to most, and the scale of each group along the first axis."""
    grouped = weight.reshape(-1, axis, weight.shape[1])
    scales = np.abs(grouped).max(1) / np.float32(most)
    values = np.rint(grouped / scales[:, None]).astype(np.int8)
    return values.reshape(weight.shape), scales.astype(np.float32)


def by_tenure(tenure, threads, a, weight, out):
    depth = weight.shape[0]
    values, scales = whole(weight, depth, 127)

    def factor(integers, attributes):
        made = tenure.c.tnr_factor_create(None, *interop.lend([integers]), ctypes.byref(attributes))
        if not made:
            raise RuntimeError(tenure.message())
        return ctypes.c_void_p(made)

    i8 = interop.dtype_of(np.dtype(np.int8))
    eight = factor(values, FactorAttributes(ctypes.sizeof(FactorAttributes), i8))
    yield "tenure f32", tenure.by_packed(threads, a, weight, out)
    yield "tenure int8", tenure.call(
        threads, "factor_quantized_matmul", a, None, None, eight, scales[0], None, out)
    if depth % GROUP == 0:
        nibbles, of_groups = whole(weight, GROUP, 7)
        view = interop.view_of(of_groups)
        four = factor(nibbles, FactorAttributes(ctypes.sizeof(FactorAttributes), 0, 0,
                                                ctypes.addressof(view)))
        yield "tenure int4", tenure.call(
            threads, "factor_quantized_matmul", a, None, None, four, None, None, out)


def keeping(work):
    """A function that keeps the result of the work."""
    def run():
        with torch.no_grad():
            run.result = work()
    return run


def by_torch(a, weight):
    linear = torch.nn.Linear(*weight.shape, bias=False)
    linear.weight = torch.nn.Parameter(torch.from_numpy(weight.T.copy()))
    rows = torch.from_numpy(a)

    yield "PyTorch f32", keeping(lambda: linear(rows))
    twin = torch.nn.Sequential(torch.nn.Linear(*weight.shape, bias=False))
    twin[0].weight = torch.nn.Parameter(linear.weight.detach().clone())
    quantize_(twin, Int8DynamicActivationInt8WeightConfig())
    compiled = torch.compile(twin)
    yield "torchao int8", keeping(lambda: compiled(rows))


def by_onnxruntime(folder, threads, a, weight):
    of = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["a", "w"], ["y"])], "product",
        [onnx.helper.make_tensor_value_info("a", of, list(a.shape))],
        [onnx.helper.make_tensor_value_info("y", of, [a.shape[0], weight.shape[1]])],
        [onnx.numpy_helper.from_array(weight, "w")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)],
                                   ir_version=9)
    plain, eight, four = (str(folder / name) for name in ("f32.onnx", "int8.onnx", "int4.onnx"))
    onnx.save(model, plain)
    quantize_dynamic(plain, eight, weight_type=QuantType.QInt8, per_channel=True)
    names = {"onnxruntime f32": plain, "onnxruntime int8": eight}
    if weight.shape[0] % GROUP == 0:
        quantizer = MatMulNBitsQuantizer(model, block_size=GROUP, is_symmetric=True,
                                         accuracy_level=4)
        quantizer.process()
        onnx.save(quantizer.model.model, four)
        names["onnxruntime int4"] = four
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    for name, path in names.items():
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        yield name, keeping(lambda session=session: session.run(None, {"a": a})[0])


def passes_of(run):
    run()
    start = time.perf_counter_ns()
    run()
    return max(1, LEAST_NS // max(time.perf_counter_ns() - start, 1))


def main():
    warnings.simplefilter("ignore")
    tenure, threads = Tenure(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torch.set_num_threads(threads)
    rng = np.random.default_rng(1)
    print(tenure.c.tnr_build_info().decode(), f"{threads} threads", sep="\n")
    for m, k, n in SHAPES:
        a = rng.normal(size=(m, k)).astype(np.float32)
        weight = rng.normal(0, 0.05, (k, n)).astype(np.float32)
        out, exact = np.empty((m, n), np.float32), a @ weight
        with tempfile.TemporaryDirectory() as folder:
            cases = [*by_tenure(tenure, threads, a, weight, out), *by_torch(a, weight),
                     *by_onnxruntime(pathlib.Path(folder), threads, a, weight)]
            passes = [passes_of(run) for _, run in cases]
            times = [[] for _ in cases]
            for _ in range(TURNS):
                for (_, run), count, row in zip(cases, passes, times):
                    start = time.perf_counter_ns()
                    for _ in range(count):
                        run()
                    row.append((time.perf_counter_ns() - start) / count)
        print(f"\n{m} x {k} x {n}")
        for (name, run), row in zip(cases, times):
            run()
            result = np.asarray(getattr(run, "result", out)) if "tenure" not in name else out
            difference = np.abs(result - exact).max() / np.abs(exact).max()
            median = statistics.median(row)
            print(f"    {name:18}{median / 1e3:12.1f} us  best {min(row) / 1e3:10.1f}"
                  f"{2 * m * k * n / median:9.1f} Gop/s   difference {difference:.4f}", flush=True)


if __name__ == "__main__":
    main()
