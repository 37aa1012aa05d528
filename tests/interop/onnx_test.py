"""ONNX's own tests of nodes, by the importer of the crate `tenure`.

    python tests/interop/onnx_test.py ONNX_PROGRAM [FOLDER]

ONNX_PROGRAM is the example `onnx`, which runs all cases in one process. The wheel `onnx` makes the
cases. Each one is passed, refused, with the reason, or wrong: no case may be wrong, and none of an
operator that the importer has may be refused but for the reasons below.
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
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


def operator_of(case):
    """The operator that a case is of: a model of several nodes is a function of ONNX, expanded."""
    nodes = case.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 else "functions, expanded"


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else scratch) / "cases"
        folder.mkdir(parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = {case.name: case for case in load_node_model_tests()}
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
