"""Memory that PyTorch takes for what benches/memory.rs does with Tenure.

    python bench/memory_peers.py LIBRARY FOLDER [--quick | --test]

FOLDER is where python-memory.json is written; LIBRARY, which all scripts of peers are given, is not
used.
"""

import ctypes
import json
import pathlib
import sys
import threading
import time

import numpy as np
import torch

from sparse_peers import SEED, random_dense


def resident():
    """Bytes; of a file that says it at once."""
    return int(open("/proc/self/statm").read().split()[1]) * 4096


def growth(operation, input_bytes, work, output_of, follow=False):
    """As src/memory.rs: the most that the process grows by while `work` is done once."""
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    start, before, curve, over = time.perf_counter(), resident(), [], threading.Event()

    def watch():
        while not over.wait(0.002):
            curve.append([int(1e6 * (time.perf_counter() - start)), max(resident() - before, 0)])

    watcher = threading.Thread(target=watch)
    if follow:
        watcher.start()
    made = work()
    over.set()
    if follow:
        watcher.join()
    status = pathlib.Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024 - before
    print(f"{operation}: {(peak - output_of(made)) / 2**20:.1f} MiB above the result")
    return {"operation": operation, "library": "PyTorch", "input": input_bytes,
            "output": output_of(made), "peak": max(peak, 0), "curve": curve}


def output_of(made):
    """Bytes of what PyTorch makes, whose indices are i64."""
    parts = {torch.strided: lambda: [made],
             torch.sparse_coo: lambda: [made.indices(), made.values()],
             torch.sparse_csr: lambda: [made.crow_indices(), made.col_indices(), made.values()],
             torch.sparse_csc: lambda: [made.ccol_indices(), made.row_indices(), made.values()]}
    return sum(part.nbytes for part in parts[made.layout]())


def dense(count):
    """Arrays of so many f32 that are there, and what the process grows by."""
    a, b, out = torch.ones(count), torch.full((count,), 2.0), torch.full((count,), 3.0)
    made = [
        ("add, in place", 2, lambda: a.add_(b)), ("add, into memory that is there", 3,
         lambda: torch.add(a, b, out=out)), ("add, into a new array", 2, lambda: a + b),
        ("relu, in place", 1, lambda: torch.relu_(a)), ("relu, into memory that is there", 2,
         lambda: torch.clamp_min(a, 0, out=out)), ("relu, into a new array", 1,
         lambda: torch.relu(a)),
    ]
    # Rows of 4096, as benches/memory.rs has them; PyTorch has no form in place.
    ta, t_out = a.view(-1, 4096), out.view(-1, 4096)
    means, scales = torch.zeros(len(ta), 1), torch.zeros(len(ta), 1)
    made += [
        ("layer_norm of rows, into memory that is there", 2,
         lambda: torch.ops.aten.native_layer_norm.out(ta, [4096], None, None, 1e-5, out0=t_out,
                                                      out1=means, out2=scales)),
        ("layer_norm of rows, into a new array", 1,
         lambda: torch.nn.functional.layer_norm(ta, [4096])),
    ]
    is_new = "into a new array"
    return [growth(name, arrays * a.nbytes, work, output_of if is_new in name else lambda made: 0)
            for name, arrays, work in made]


def sparse(side, large):
    dense = torch.from_numpy(random_dense(np.random.default_rng(SEED), side, 10))
    rows = [growth(f"dense to {name}, 10 %", dense.nbytes, work, output_of) for name, work in (
        ("CSR", dense.to_sparse_csr), ("COO", dense.to_sparse), ("CSC", dense.to_sparse_csc))]
    matrix = dense.to_sparse_csr()
    rows.append(growth("CSR to dense, 10 %", output_of(matrix), matrix.to_dense, output_of))
    del dense, matrix
    # Tenure does 32768^2 too, for which PyTorch needs 23 GB.
    normal = torch.randn(large, large)
    rows.append(growth(f"relu to CSR, {large}^2", normal.nbytes,
                       lambda: torch.relu(normal).to_sparse_csr(), output_of, follow=True))
    return rows


def main():
    _, folder, *flags = sys.argv[1:]
    scale = flags[0].removeprefix("--") if flags else "full"
    torch.set_num_threads(1)
    rows = dense(2**16 if scale == "test" else 2**26)
    side = {"test": 256, "quick": 4096}.get(scale, 8192)
    rows += sparse(side, 256 if scale == "test" else 16384)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python-memory.json").write_text(json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
