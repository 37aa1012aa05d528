"""ONNX's own tests of nodes, by the importer of the crate `tenure`.

    python tests/interop/onnx_test.py ONNX_PROGRAM [FOLDER]

ONNX_PROGRAM is the example `onnx`, which runs all cases in one process. The wheel `onnx` makes the
cases. Each one is passed, refused, with the reason, or wrong: no case may be wrong, and none of an
operator that the importer has may be refused but for the reasons below.
"""

import collections
import itertools
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnx.reference
from onnx.backend.test.loader import load_node_model_tests


def plain(array):
    """Elements of types that NumPy's files lack: bits of bf16, bytes of integers of few bits."""
    if isinstance(array, onnx.TensorProto):
        array = onnx.numpy_helper.to_array(array)
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16)
    if array.dtype.name in ("int4", "int2"):
        return array.astype(np.int8)
    if array.dtype.name in ("uint4", "uint2"):
        return array.astype(np.uint8)
    return array if array.dtype.kind in "biuf" else None


def write(case, folder):
    """Writes the model and the inputs of a case; the outputs, or None where NumPy's files have not
    the types."""
    inputs, outputs = case.data_sets[0]
    arrays = [plain(array) for array in inputs if not isinstance(array, (list, type(None)))]
    expected = [plain(array) for array in outputs if not isinstance(array, (list, type(None)))]
    is_whole = len(arrays) == len(inputs) and len(expected) == len(outputs)
    if not is_whole or any(array is None for array in arrays + expected):
        return None
    folder.mkdir(parents=True)
    onnx.save(case.model, folder / "model.onnx")
    for number, array in enumerate(arrays):
        np.save(folder / f"input_{number}.npy", array)
    return expected


def bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def difference(case, got, expected, number):
    """Why an output differs, or None."""
    if got.shape != expected.shape:
        return f"shape {got.shape} of {expected.shape}"
    kind = case.model.graph.output[number].type.tensor_type.elem_type
    if kind == onnx.TensorProto.BFLOAT16:
        got, expected = bf16(got), bf16(expected)
    if got.dtype != expected.dtype:
        return f"dtype {got.dtype} of {expected.dtype}"
    if got.dtype.kind != "f":
        return None if np.array_equal(got, expected) else "other integers"
    # One unit in the last place of a narrow type is more than the tolerance of the case. Each node
    # of an expanded function rounds to that type.
    narrow = {onnx.TensorProto.BFLOAT16: 2 ** -7, onnx.TensorProto.FLOAT16: 2 ** -10}.get(kind, 0)
    narrow *= min(len(case.model.graph.node), 2)
    close = np.isclose(got, expected, rtol=max(case.rtol, narrow), atol=max(case.atol, narrow / 16),
                       equal_nan=True)
    return None if close.all() else f"{(~close).sum()} of {close.size} elements"


def quantized_cases():
    """Products of integers that several nodes make, which the importer joins: the definition is that
    of ONNX's reference."""
    rng = np.random.default_rng(4)
    for left in (np.uint8, np.int8):
        for right in (np.uint8, np.int8):
            for per_column, zero_points in itertools.product((False, True), repeat=2):
                yield from quantized_products(rng, left, right, per_column, zero_points)


def quantized_products(rng, left, right, per_column, zero_points):
    rows, depth, columns = 5, 70, 9
    count = columns if per_column else 1

    def zeros(dtype, count):
        low, high = (1, 9) if zero_points else (0, 1)
        return rng.integers(low, high, count).astype(dtype)

    def matrix(dtype, shape):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max + 1, shape).astype(dtype)

    one = (lambda array: array) if per_column else (lambda array: array.reshape(()))
    known = {
        "w": matrix(right, (depth, columns)), "wt": matrix(right, (columns, depth)),
        "w_scale": one(rng.uniform(0.01, 0.1, count).astype(np.float32)),
        "w_zero": one(zeros(right, count)), "x_scale": np.array(0.05, np.float32),
        "x_zero": zeros(left, 1).reshape(()), "y_scale": np.array(7.5, np.float32),
        "y_zero": np.array(3, left), "bias": rng.normal(0, 9, columns).astype(np.float32)}
    floats, integers = onnx.TensorProto.FLOAT, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(left))
    node = onnx.helper.make_node
    dequantized = [node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["a"])]
    tail = [node("Relu", ["sum"], ["high"]), node("QuantizeLinear", ["high", "y_scale", "y_zero"], ["y"])]
    forms = {
        "qdq": dequantized + [
            node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["b"], axis=1),
            node("MatMul", ["a", "b"], ["product"]), node("Add", ["product", "bias"], ["sum"])] + tail,
        "qdq_gemm": dequantized + [
            node("DequantizeLinear", ["wt", "w_scale", "w_zero"], ["b"], axis=0),
            node("Gemm", ["a", "b", "bias"], ["sum"], transB=1, beta=0.5)] + tail,
        "integer": [
            node("MatMulInteger", ["x", "w", "x_zero", "w_zero"], ["sums"]),
            node("Cast", ["sums"], ["numbers"], to=floats),
            node("Mul", ["x_scale", "w_scale"], ["scale"]), node("Mul", ["scale", "numbers"], ["y"])],
    }
    for form, nodes in forms.items():
        # The reference of MatMulInteger has no zero point of each column.
        if form == "integer" and zero_points and per_column:
            continue
        name = f"{form}_{left.__name__}_{right.__name__}_{per_column}_{zero_points}"
        of = floats if form == "integer" else integers
        read = {text for one_node in nodes for text in one_node.input}
        graph = onnx.helper.make_graph(
            nodes, name, [onnx.helper.make_tensor_value_info("x", integers, [rows, depth])],
            [onnx.helper.make_tensor_value_info("y", of, [rows, columns])],
            [onnx.numpy_helper.from_array(array, key) for key, array in known.items() if key in read])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)])
        x = matrix(left, (rows, depth))
        expected = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
        yield QuantizedCase(name, model, [([x], expected)], 1e-5, 1e-5)


# As the cases of ONNX's tests.
QuantizedCase = collections.namedtuple("QuantizedCase", "name model data_sets rtol atol")


def operator_of(case):
    """The operator that a case is of: a model of several nodes is a function of ONNX, expanded."""
    nodes = case.model.graph.node
    if isinstance(case, QuantizedCase):
        return "products of integers, joined"
    return nodes[0].op_type if len(nodes) == 1 else "functions, expanded"


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else scratch) / "cases"
        folder.mkdir(parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = {case.name: case for case in load_node_model_tests()}
            cases |= {case.name: case for case in quantized_cases()}
        expected = {name: write(case, folder / name) for name, case in cases.items()}
        subprocess.run([program, "--cases", folder], check=True)
        return report(cases, expected, folder)


def report(cases, expected, folder):
    table = collections.defaultdict(collections.Counter)
    reasons, wrong = collections.defaultdict(list), []
    for name, case in cases.items():
        operator, outputs = operator_of(case), expected[name]
        refused = folder / name / "refused"
        if outputs is None:
            verdict, why = "refused", "a type that NumPy's files lack"
        elif refused.exists():
            verdict, why = "refused", refused.read_text()
        else:
            got = [np.load(folder / name / f"got_{number}.npy") for number in range(len(outputs))]
            why = [difference(case, *pair, number)
                   for number, pair in enumerate(zip(got, outputs))]
            why = [found for found in why if found]
            verdict = "wrong" if why else "passed"
        table[operator][verdict] += 1
        if verdict == "refused":
            reasons[operator].append(f"{name}: {why[:300]}")
        if verdict == "wrong":
            wrong.append(f"{name}: {'; '.join(why)}")
    total = sum(table.values(), collections.Counter())
    print(f"{'operator':32}{'passed':>8}{'refused':>8}{'wrong':>8}")
    for operator, row in sorted(table.items()):
        print(f"{operator:32}{row['passed']:8}{row['refused']:8}{row['wrong']:8}")
        for reason in reasons[operator] if row["passed"] or "-v" in sys.argv else []:
            print(f"    {reason}")
    print(f"{'all':32}{total['passed']:8}{total['refused']:8}{total['wrong']:8}")
    for name in wrong:
        print(f"wrong: {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
