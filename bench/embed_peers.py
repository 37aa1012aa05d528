"""Runs of a sentence encoder by `rust/encoder`, PyTorch and onnxruntime, in turns.

    python bench/embed_peers.py TURNS_PROGRAM MODEL_FOLDER [THREADS]

TURNS_PROGRAM is the example `turns` of rust/encoder, in a process of its own. Times are medians of
rounds in which all of them take their turn; ratios are medians of those of the rounds. Needs
PyTorch; onnxruntime is beside it where it and `onnx` are installed.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests/interop"))
from numpy_files_test import tensors_of  # noqa: E402

SHAPES = [(1, 16), (1, 128), (16, 16), (16, 128), (32, 128)]


class Turns:
    def __init__(self, program, model, threads):
        self.process = subprocess.Popen([program, model, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


class Torch:
    """With the function of attention that PyTorch has for it."""

    def __init__(self, tensors, heads):
        self.tensors = {name: torch.from_numpy(np.array(t)) for name, t in tensors.items()}
        self.heads = heads
        self.layers = 1 + max(int(name.split(".")[2]) for name in tensors if ".layer." in name)

    def norm(self, name, x):
        weight, bias = (self.tensors[f"{name}.LayerNorm.{kind}"] for kind in ("weight", "bias"))
        return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, 1e-12)

    def linear(self, name, x):
        return torch.nn.functional.linear(x, *(self.tensors[f"{name}.{kind}"]
                                               for kind in ("weight", "bias")))

    @torch.inference_mode()
    def __call__(self, ids):
        table = "embeddings.{}_embeddings.weight".format
        batch, words = ids.shape
        places = self.tensors[table("position")][:words] + self.tensors[table("token_type")][0]
        x = self.norm("embeddings", self.tensors[table("word")][ids] + places)
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            parts = (self.linear(f"{name}.attention.self.{part}", x)
                     for part in ("query", "key", "value"))
            split = (part.view(batch, words, self.heads, -1).transpose(1, 2) for part in parts)
            mixed = torch.nn.functional.scaled_dot_product_attention(*split)
            mixed = mixed.transpose(1, 2).reshape(x.shape)
            x = self.norm(f"{name}.attention.output",
                          self.linear(f"{name}.attention.output.dense", mixed) + x)
            wide = torch.nn.functional.gelu(self.linear(f"{name}.intermediate.dense", x))
            x = self.norm(f"{name}.output", self.linear(f"{name}.output.dense", wide) + x)
        return torch.nn.functional.normalize(x.mean(1), dim=1)


def onnx_session(tensors, heads, layers, threads):
    """The same as a graph of ONNX; None where there is no onnxruntime."""
    try:
        import onnx
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        return None
    nodes, constants = [], []

    def constant(array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), f"c{len(constants)}"))
        return constants[-1].name

    def node(op, *inputs, **attributes):
        out = f"v{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
        return out

    def norm(name, x):
        parts = (constant(tensors[f"{name}.LayerNorm.{kind}"]) for kind in ("weight", "bias"))
        return node("LayerNormalization", x, *parts, axis=-1, epsilon=1e-12)

    def linear(name, x):
        weight = constant(tensors[f"{name}.weight"].T)
        return node("Add", node("MatMul", x, weight), constant(tensors[f"{name}.bias"]))

    def table(name):
        return tensors[f"embeddings.{name}_embeddings.weight"]

    hidden = table("word").shape[1]
    width = hidden // heads
    words = node("Gather", node("Shape", "ids"), constant(np.array([1])))
    places = node("Slice", constant(table("position") + table("token_type")[0]),
                  constant(np.array([0])), words, constant(np.array([0])))
    x = norm("embeddings", node("Add", node("Gather", constant(table("word")), "ids"), places))
    split, joined = constant(np.array([0, 0, heads, width])), constant(np.array([0, 0, hidden]))
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            node("Transpose", node("Reshape", linear(f"{name}.attention.self.{part}", x), split),
                 perm=perm) for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]),
                                               ("value", [0, 2, 1, 3])))
        scores = node("Div", node("MatMul", query, key), constant(np.float32(width ** 0.5)))
        mixed = node("MatMul", node("Softmax", scores, axis=-1), value)
        mixed = node("Reshape", node("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        output = f"{name}.attention.output"
        x = norm(output, node("Add", linear(f"{output}.dense", mixed), x))
        wide = node("Gelu", linear(f"{name}.intermediate.dense", x))
        x = norm(f"{name}.output", node("Add", linear(f"{name}.output.dense", wide), x))
    mean = node("ReduceMean", x, constant(np.array([1])), keepdims=0)
    out = node("Div", mean, node("ReduceL2", mean, constant(np.array([1])), keepdims=1))
    graph = helper.make_graph(
        nodes, "encoder", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "w"])],
        [helper.make_tensor_value_info(out, TensorProto.FLOAT, ["b", hidden])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = min(model.ir_version, 10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def timed(run):
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def rounds(ways, count=9):
    """Of each way the times of its turns, after one that warms up. Before each turn the threads of
    the one before, which wait for more by spinning, have time to sleep."""
    times = {name: [] for name in ways}
    for _ in range(1 + count):
        for name, way in ways.items():
            time.sleep(0.05)
            times[name].append(way())
    return {name: of_way[1:] for name, of_way in times.items()}


def ratio(times, a, b):
    return statistics.median(x / y for x, y in zip(times[a], times[b]))


def main(program, model, threads):
    model = pathlib.Path(model)
    torch.set_num_threads(threads)
    tensors = tensors_of(model / "model.safetensors")[0]
    tensors = {name: tensor for name, tensor in tensors.items() if tensor.dtype == np.float32}
    heads = json.loads((model / "config.json").read_text())["num_attention_heads"]
    turns, peer = Turns(program, model, threads), Torch(tensors, heads)
    session = onnx_session(tensors, heads, peer.layers, threads)
    rng = np.random.default_rng(1)
    print(f"threads: {threads}; ms, and how many times as fast as each peer (packed)")
    for batch, words in SHAPES:
        ids = rng.integers(0, 20_000, (batch, words))
        ways = {"tenure": lambda: turns("run", "plain", batch, words),
                "packed": lambda: turns("run", "packed", batch, words),
                "PyTorch": lambda: timed(lambda: peer(torch.from_numpy(ids)))}
        if session:
            np.testing.assert_allclose(session.run(None, {"ids": ids})[0],
                                       peer(torch.from_numpy(ids)).numpy(), atol=1e-5)
            ways["onnxruntime"] = lambda: timed(lambda: session.run(None, {"ids": ids}))
        times = rounds(ways)
        medians = ", ".join(f"{name} {statistics.median(t):.2f}" for name, t in times.items())
        ratios = ((ratio(times, peer, "tenure"), ratio(times, peer, "packed"), peer)
                  for peer in list(times)[2:])
        ratios = ", ".join("{:.2f} ({:.2f}) {}".format(*of_peer) for of_peer in ratios)
        print(f"{batch} x {words}: {medians}; {ratios}", flush=True)
    lengths = np.clip(rng.lognormal(3, 0.6, 1000).astype(int), 3, 256)
    times = rounds({how: lambda how=how: turns("lines", how, *lengths)
                    for how in ("sorted", "padded")}, 3)
    print(f"1,000 texts of {lengths.min()} to {lengths.max()} tokens, on average "
          f"{lengths.mean():.0f}: sorted {statistics.median(times['sorted']):.0f}, padded "
          f"{statistics.median(times['padded']):.0f}: {ratio(times, 'padded', 'sorted'):.2f}")
    if threads == 1:
        times = rounds({count: lambda count=count: turns("serve", count, 12 // count, 1, 32)
                        for count in (1, 2, 3, 4)})
        print("12 runs of 1 x 32 by 1 to 4 threads that share a program: "
              + ", ".join(f"{count}: {12e3 / statistics.median(t):.0f} a second"
                          for count, t in times.items()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
