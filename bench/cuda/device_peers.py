"""The rows of device.cpp by PyTorch on the same GPU: python device_peers.py [MEGABYTES]"""

import sys
import time

import torch

ROUNDS = 9
ROUND_SECONDS = 0.02


def seconds_of(calls, call):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls


def report(name, moved_bytes, call, unit="GB/s"):
    first = max(seconds_of(3, call), 1e-7)
    calls = min(max(int(ROUND_SECONDS / first), 1), 500)
    seconds = sorted(seconds_of(calls, call) for _ in range(ROUNDS))[ROUNDS // 2]
    rate = moved_bytes / seconds * 1e-9
    print(f"{name:28} {seconds * 1e6:9.1f} us {rate:8.1f} {unit}", flush=True)


def size_of(tensor):
    return tensor.numel() * tensor.element_size()


def ones(*shape, dtype=torch.float32):
    return torch.ones(*shape, dtype=dtype, device="cuda")


def unary(name, function, count, dtype=torch.float32, **options):
    a = ones(count, dtype=dtype)
    if options.pop("has_out", True):
        out = torch.empty_like(a)
        report(name, 2 * size_of(a), lambda: function(a, out=out))
    else:
        report(name, 2 * size_of(a), lambda: function(a))


def binary(name, count, dtype):
    a, b, out = (ones(count, dtype=dtype) for _ in range(3))
    report(name, 3 * size_of(a), lambda: torch.add(a, b, out=out))


def move(name, a, out):
    report(name, size_of(out) + a.numel() * a.element_size(), lambda: out.copy_(a))


def reduce(name, function, a, out_bytes):
    report(name, size_of(a) + out_bytes, lambda: function(a))


def sparse_rows(side, one_of):
    percent = 100 // one_of
    dense = (torch.randint(one_of, (side, side), device="cuda") == 0).float()
    csr = dense.to_sparse_csr()
    moved = size_of(dense) + 8 * csr.values().numel() + 4 * (side + 1)
    # Indices of PyTorch's conversion are of 8 bytes.
    report(f"dense to CSR f32, {percent} %", moved, lambda: dense.to_sparse_csr())
    report(f"CSR to dense f32, {percent} %", moved, lambda: csr.to_dense())
    narrow = torch.sparse_csr_tensor(
        csr.crow_indices().int(), csr.col_indices().int(), csr.values(), csr.shape
    )
    moved -= size_of(dense)
    vector, columns = ones(side), ones(side, 64)
    report(f"SpMV f32, {percent} %", moved + 2 * size_of(vector), lambda: narrow @ vector)
    report(f"SpMM f32 by 64, {percent} %", moved + 2 * size_of(columns), lambda: narrow @ columns)


def image_rows():
    def of(images, channels, side, memory_format):
        return ones(images, channels, side, side).contiguous(memory_format=memory_format)

    nn = torch.nn.functional
    for layout, suffix in ((torch.contiguous_format, ""), (torch.channels_last, ", NHWC")):
        for channels, side, groups, name in (
            (64, 56, 1, "64 by 56"),
            (256, 14, 1, "256 by 14"),
            (256, 28, 256, "depthwise"),
        ):
            a = of(32, channels, side, layout)
            weight = ones(channels, channels // groups, 3, 3).contiguous(memory_format=layout)
            flops = a.numel() * 2 * 9 * (channels // groups)
            report(
                f"conv2d f32, {name}{suffix}",
                flops,
                lambda: nn.conv2d(a, weight, padding=1, groups=groups),
                "Gflop/s",
            )
        a = of(32, 256, 28, layout)
        report(f"max_pool2d f32{suffix}", 2 * size_of(a), lambda: nn.max_pool2d(a, 3, 1, 1))


def main():
    # The library computes in f32 too.
    torch.backends.cudnn.allow_tf32 = False
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    words = megabytes * (1 << 20) // 4
    side = 1 << (14 if megabytes >= 1024 else 12)
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    move("copy f32", ones(words), ones(words))
    move("copy f32, from element 1", ones(words + 1)[1:], ones(words))
    move("copy f32, transposed", ones(side, side).t(), ones(side, side))
    move("copy f32, every second", ones(words)[::2], ones(words // 2))
    move("cast f32 to f16", ones(words), ones(words, dtype=torch.float16))
    move("cast i8 to f32", ones(words, dtype=torch.int8), ones(words))
    gelu = torch.nn.functional.gelu
    unary("exp f32", torch.exp, words)
    unary("tanh f32", torch.tanh, words)
    unary("sin f32", torch.sin, words)
    unary("gelu f32", gelu, words, has_out=False)
    unary("gelu f16", gelu, 2 * words, torch.float16, has_out=False)
    binary("add f32", words, torch.float32)
    binary("add f64", words // 2, torch.float64)
    binary("add i8", 4 * words, torch.int8)
    binary("add bf16", 2 * words, torch.bfloat16)
    flat = ones(words)
    rows = flat.view(-1, 4096)
    reduce("sum f32, all", lambda a: a.sum(), flat, 4)
    reduce("sum f32, rows of 4096", lambda a: a.sum(1), rows, words // 1024)
    reduce("sum f32, rows of 33", lambda a: a.sum(1), ones(words // 33, 33), words // 33 * 4)
    reduce("sum f32, columns of 4096", lambda a: a.sum(0), rows, 4096 * 4)
    reduce("sum i8, all", lambda a: a.sum(), ones(4 * words, dtype=torch.int8), 8)
    reduce("max f32, all", lambda a: a.max(), flat, 4)
    reduce("argmax f32, rows of 4096", lambda a: a.argmax(1), rows, words // 512)
    reduce("var f32, rows of 4096", lambda a: a.var(1, correction=0), rows, words // 1024)
    reduce("logsumexp f32, rows of 4096", lambda a: a.logsumexp(1), rows, words // 1024)
    sparse_side = 1
    while 4 * sparse_side * sparse_side <= words:
        sparse_side *= 2
    sparse_rows(sparse_side, 100)
    sparse_rows(sparse_side, 10)
    image_rows()


main()
