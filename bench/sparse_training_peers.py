"""Gradients of a product with a CSR matrix, beside PyTorch's, in turns in one process.

    python bench/sparse_training_peers.py LIBRARY [--side 4096] [--percent 10] [--rounds 9]

y = a x, where a has random entries (f32, i32) and x is dense. `values` is the gradient of the
entries' values, `x` that of x, `both` is both, each by a gradient of y that is given: a backward
pass without the forward one. Needs numpy and, for the peer, torch. Memory of Tenure is what a
program's plan says, with the scratch memory of its operations; that of PyTorch is the growth of the
process's highest resident size in a process of its own.
"""

import argparse
import ctypes
import multiprocessing
import pathlib
import resource
import statistics
import sys
import time
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "interop"))
import graphs  # noqa: E402

COLUMNS = (1, 64, 256)
PARTS = ("forward", "values", "x", "both")


def matrix(side, percent):
    """Offsets, columns and values of random entries, ordered in each row."""
    rng = np.random.default_rng(1)
    per_row = rng.binomial(side, percent / 100, side)
    columns = [np.sort(rng.choice(side, count, replace=False)) for count in per_row]
    offsets = np.concatenate([[0], np.cumsum(per_row)]).astype(np.int32)
    values = rng.standard_normal(offsets[-1]).astype(np.float32)
    return offsets, np.concatenate(columns).astype(np.int32), values


class Ours:
    """A program for a part, on outputs that are allocated once."""

    def __init__(self, library, part, arrays, x, seed):
        offsets, columns, values = arrays
        rows = len(offsets) - 1
        attributes = graphs.sized(graphs.SparseAttributes, format=2, flags=3)
        with library.graph() as g:
            parts = [g.input("i32", offsets.shape), g.input("i32", columns.shape),
                     g.input("f32", values.shape)]
            dense = g.input("f32", x.shape)
            y = g.node("sparse_matmul", [*parts, dense], numbers=(rows, len(x)),
                       attributes=attributes)
            arrays = [offsets, columns, values, x]
            by = {"forward": [], "values": [parts[2]], "x": [dense], "both": [parts[2], dense]}[part]
            if by:
                upstream = g.input("f32", seed.shape)
                arrays.append(seed)
                made = g.gradients(y, by, upstream)
            else:
                made = [y]
            for value in made:
                g.output(value)
            self.program = g.program()
        self.library = library
        shapes = {"forward": [seed.shape], "values": [values.shape], "x": [x.shape],
                  "both": [values.shape, x.shape]}[part]
        self.outputs = [np.empty(shape, np.float32) for shape in shapes]
        self.views = [graphs.lent(output, "f32") for output in self.outputs]
        self.pointers = (ctypes.POINTER(graphs.View) * len(self.views))(
            *map(ctypes.pointer, self.views))
        self.arrays = arrays
        self.kept, self.inputs = self.program._lent(arrays)

    def run(self, threads):
        self.library.check(self.library.c.tnr_program_run(
            self.library.context(threads), self.program.handle, self.inputs, len(self.arrays),
            None, self.pointers, len(self.views)))

    def memory(self):
        self.run(1)
        plan = self.program.memory(self.arrays)
        return plan.peak_bytes + plan.scratch_bytes + sum(out.nbytes for out in self.outputs)


def theirs(part, arrays, x, seed):
    """The part by PyTorch, and what it computes."""
    import torch
    warnings.filterwarnings("ignore", "Sparse", UserWarning)  # that CSR is in beta state
    offsets, columns, values = (torch.from_numpy(array) for array in arrays)
    a = torch.sparse_csr_tensor(offsets, columns, values, (len(offsets) - 1, len(x)))
    a.requires_grad_(part in ("values", "both"))
    dense = torch.from_numpy(x).clone().requires_grad_(part in ("x", "both"))
    upstream = torch.from_numpy(seed)
    if part == "forward":
        def forward():
            with torch.no_grad():
                return a @ dense
        return forward
    y = a @ dense
    by = [leaf for leaf in (a, dense) if leaf.requires_grad]
    return lambda: torch.autograd.grad(y, by, upstream, retain_graph=True)


def growth(part, arrays, x, seed, pipe):
    """Sends the growth of the highest resident size while PyTorch computes a part, twice."""
    import torch
    torch.set_num_threads(1)
    small = matrix(64, 10)
    theirs(part, small, x[:64].copy(), seed[:64].copy())()
    work = theirs(part, arrays, x, seed)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    with open("/proc/self/statm") as statm:
        before = int(statm.read().split()[1]) * resource.getpagesize()
    work()
    status = pathlib.Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
    pipe.send(peak - before)


def growth_of(*what):
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(False)
    process = context.Process(target=growth, args=(*what, sender))
    process.start()
    bytes_ = receiver.recv()
    process.join()
    return bytes_


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_turns(ways, rounds):
    """The median time of each way, in milliseconds."""
    times = {name: [] for name in ways}
    for number in range(rounds + 2):
        for name, work in ways.items():
            took = timed(work)
            if number >= 2:
                times[name].append(took * 1e3)
    return {name: statistics.median(of) for name, of in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--percent", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    options = parser.parse_args()
    library = graphs.Programs(options.library)
    arrays = matrix(options.side, options.percent)
    print(f"{options.side} x {options.side}, {len(arrays[2])} entries, f32; ms, the median; MiB")
    print("| columns | part | threads | Tenure | of its forward | PyTorch | memory | PyTorch's |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    rng = np.random.default_rng(2)
    for columns in COLUMNS:
        x = rng.standard_normal((options.side, columns)).astype(np.float32)
        seed = rng.standard_normal((options.side, columns)).astype(np.float32)
        ours = {part: Ours(library, part, arrays, x, seed) for part in PARTS}
        for threads in (1, 2):
            ways = {part: lambda part=part: ours[part].run(threads) for part in PARTS}
            if not options.alone:
                import torch
                torch.set_num_threads(threads)
                ways |= {f"torch {part}": theirs(part, arrays, x, seed) for part in PARTS}
            times = in_turns(ways, options.rounds)
            for part in PARTS:
                memory = f"{ours[part].memory() / 2**20:.1f}" if threads == 1 else ""
                peer, peers_memory = "", ""
                if not options.alone:
                    peer = f"{times[f'torch {part}']:.2f}"
                    if threads == 1:
                        peers_memory = f"{growth_of(part, arrays, x, seed) / 2**20:.1f}"
                print(f"| {columns} | {part} | {threads} | {times[part]:.2f} | "
                      f"{times[part] / times['forward']:.2f} | {peer} | {memory} | "
                      f"{peers_memory} |", flush=True)


if __name__ == "__main__":
    main()
