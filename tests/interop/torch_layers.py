"""Layers and their gradients by PyTorch, as numbers for the tests of `tenure::layers`.

    python tests/interop/torch_layers.py [--write]

Compares the numbers of `rust/tenure/tests/program/layers.txt`, which the Rust tests read, with those
that PyTorch gives now; `--write` writes them. Each case has inputs of shapes whose extents may have
a name (`batch=2`), a function of them, and the gradients of the sum of its elements times a seed.
"""

import argparse
import pathlib
import sys

import torch
import torch.nn.functional as F

FILE = pathlib.Path(__file__).parents[2] / "rust/tenure/tests/program/layers.txt"


def numbers(seed, shape):
    """Numbers from -1.4 to 1.4 that every float has exactly."""
    count = 1
    for extent in shape:
        count *= extent
    values = [((i * 37 + seed * 101) % 89 - 44) / 32 for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def heads(query, key, value, **options):
    return F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **options)


def causal(queries, keys):
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def masked(query, key, value):
    mask = causal(3, 4).logical_and(torch.tensor([True, False, True, True]))
    return heads(query, key, value, attn_mask=mask, scale=0.5)


def rotary(x, adjacent):
    width = x.shape[-1]
    angles = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * 100.0 ** (
        -torch.arange(0, width, 2, dtype=torch.float64) / width)
    pairs = x.unflatten(-1, (-1, 2)) if adjacent else x.unflatten(-1, (2, -1)).transpose(-1, -2)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) *
                                torch.polar(torch.ones_like(angles), angles))
    return (turned if adjacent else turned.transpose(-1, -2)).flatten(-2)


def batch_norm(x, weight, bias):
    return F.batch_norm(x, None, None, weight, bias, training=True, eps=1e-3)


def running(x, mean, var):
    """The running statistics, which PyTorch writes without a gradient."""
    own = [mean.detach().clone(), var.detach().clone()]
    F.batch_norm(x, *own, training=True, momentum=0.1)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    new = [0.9 * mean + 0.1 * x.mean(axes), 0.9 * var + 0.1 * x.var(axes)]
    torch.testing.assert_close(new, own)
    return torch.cat(new)


def recurrent(kind, x, state, weights, is_reversed=False):
    layer = kind(x.shape[2], state[0].shape[1], batch_first=True, dtype=torch.float64)
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    first = tuple(s.unsqueeze(0) for s in state)
    first = first if kind is torch.nn.LSTM else first[0]
    x = x.flip(1) if is_reversed else x
    y, last = torch.func.functional_call(layer, dict(zip(names, weights)), (x, first))
    last = last if kind is torch.nn.LSTM else (last,)
    y = y.flip(1) if is_reversed else y
    return torch.cat([y.flatten(), *(s.flatten() for s in last)])


RESIZED = {
    "nearest": {"mode": "nearest"},
    "nearest half pixel": {"mode": "nearest-exact"},
    "linear": {"mode": "bilinear"},
    "linear corners": {"mode": "bilinear", "align_corners": True},
}
ATTENDED = ["batch=2 4 queries=3 4", "batch=2 2 keys=4 4", "batch=2 2 keys=4 3"]
RECURRENT = ["batch=2 time=3 2", "batch=2 2"]

# The function and the inputs of each case.
CASES = {
    "attention": (heads, ATTENDED),
    "attention causal": (lambda q, k, v: heads(q, k, v, attn_mask=causal(3, 4)), ATTENDED),
    "attention masked": (masked, ATTENDED),
    "attention biased": (lambda q, k, v, bias: heads(q, k, v, attn_mask=bias),
                         [*ATTENDED, "4 queries=3 keys=4"]),
    "attention of matrices": (lambda q, k, v: heads(q[None], k[None], v[None])[0],
                              ["queries=3 4", "keys=4 4", "keys=4 3"]),
    "rotary halves": (lambda x: rotary(x, False), ["batch=2 words=3 6"]),
    "rotary adjacent": (lambda x: rotary(x, True), ["batch=2 words=3 6"]),
    "embedding": (lambda table: F.embedding(torch.tensor([[3, 1, 3], [0, 2, 2]]), table), ["4 3"]),
    "embedding padded": (
        lambda table: F.embedding(torch.tensor([[3, 1, 3], [0, 2, 2]]),
                                  table * (torch.arange(4) != 2)[:, None], padding_idx=2),
        ["4 3"]),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, w, b, 1e-3), ["batch=2 4 height=3 2", "4", "4"]),
    "instance norm": (lambda x: F.instance_norm(x, eps=1e-3), ["batch=2 3 length=4"]),
    "batch norm": (batch_norm, ["batch=2 3 height=2 2", "3", "3"]),
    "batch norm of rows": (batch_norm, ["batch=4 3", "3", "3"]),
    "running statistics": (running, ["batch=2 3 height=2 2", "3", "3"]),
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=2, dilation=2, groups=2),
               ["batch=2 4 length=6", "4 2 3", "4"]),
    "conv1d plain": (F.conv1d, ["batch=2 2 length=5", "3 2 3"]),
    "conv3d": (lambda x, w, b: F.conv3d(x, w, b, stride=(2, 1, 2), padding=(1, 0, 1),
                                        dilation=(1, 2, 1), groups=2),
               ["batch=2 4 depth=4 height=3 width=3", "2 2 2 2 2", "2"]),
    "conv3d plain": (F.conv3d, ["batch=1 2 depth=3 height=2 width=3", "2 2 2 1 2"]),
    "cdist": (lambda x, y: torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"),
              ["batch=2 points=3 2", "batch=2 others=4 2"]),
    "lstm": (lambda x, h, c, *w: recurrent(torch.nn.LSTM, x, (h, c), w),
             [*RECURRENT, "batch=2 2", "8 2", "8 2", "8", "8"]),
    "lstm reversed": (lambda x, h, c, *w: recurrent(torch.nn.LSTM, x, (h, c), w, True),
                      [*RECURRENT, "batch=2 2", "8 2", "8 2", "8", "8"]),
    "gru": (lambda x, h, *w: recurrent(torch.nn.GRU, x, (h,), w),
            [*RECURRENT, "6 2", "6 2", "6", "6"]),
}
for name, options in RESIZED.items():
    for size in [(5, 2), (2, 7)]:
        CASES[f"resize {name} {size[0]} {size[1]}"] = (
            lambda x, size=size, options=options: F.interpolate(x[None], size, **options)[0],
            ["channels=2 height=3 width=4"])
CASES["resize factors nearest"] = (
    lambda x: F.interpolate(x[None], scale_factor=(1.5, 0.5), mode="nearest")[0],
    ["channels=2 height=3 width=5"])
CASES["resize factors linear"] = (
    lambda x: F.interpolate(x[None], scale_factor=(1.5, 0.5), mode="bilinear")[0],
    ["channels=2 height=3 width=5"])


def extents(spec):
    return [int(part.split("=")[-1]) for part in spec.split()]


def results(function, specs):
    """The result, and its gradient by each input."""
    inputs = [numbers(i, extents(spec)).requires_grad_() for i, spec in enumerate(specs)]
    result = function(*inputs)
    loss = (result.flatten() * numbers(50, [result.numel()])).sum()
    gradients = torch.autograd.grad(loss, inputs, allow_unused=True)
    zeros = [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, gradients)]
    return [result.detach(), *zeros]


def text(tensor):
    return " ".join(f"{x:.13g}" for x in tensor.flatten().tolist())


def lines():
    yield f"# By PyTorch {torch.__version__.split('+')[0]}: tests/interop/torch_layers.py --write"
    for name, (function, specs) in CASES.items():
        yield f"case {name}"
        yield from (f"input {spec}" for spec in specs)
        result, *gradients = results(function, specs)
        yield f"output {text(result)}"
        yield from (f"gradient {text(gradient)}" for gradient in gradients)


def is_near(a, b):
    """Whether two lines have the same words and, within 1e-9, the same numbers."""
    a, b = a.split(), b.split()
    if len(a) != len(b) or a[:1] != b[:1]:
        return False
    if a[:1] == ["#"] or a[0] in ("case", "input"):
        return a[0] == "#" or a == b
    return all(abs(float(x) - float(y)) <= 1e-9 * (1 + abs(float(y))) for x, y in zip(a[1:], b[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    torch.manual_seed(0)
    new = list(lines())
    if parser.parse_args().write:
        FILE.write_text("\n".join(new) + "\n", encoding="utf-8")
        return
    old = FILE.read_text(encoding="utf-8").splitlines()
    wrong = [f"{a}\n{b}" for a, b in zip(old, new) if not is_near(a, b)]
    if wrong or len(old) != len(new):
        sys.exit("\n".join([f"{FILE} has {len(old)} lines but PyTorch gives {len(new)}", *wrong]))
    print(f"{len(CASES)} layers and their gradients are those of PyTorch")


if __name__ == "__main__":
    main()
