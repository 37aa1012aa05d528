"""Rows and elements by index, sums by index and places of what is not zero, beside PyTorch.

    python bench/movement_peers.py LIBRARY [PART OF A NAME]

Needs numpy and torch. Each row has the time of both, in turns on as many threads, and beside it
that of a copy of as many bytes: the roof of what only moves. Outputs are there before the calls,
but for nonzero and masked_select, whose size nobody knows.
"""

import ctypes
import pathlib
import sys
import time

import numpy as np
import torch

# How arrays are lent to the library is told by the tests of that.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "interop"))
import numpy_test as interop

ROUNDS, SHORTEST = 3, 2e-2  # seconds that calls are repeated for
ADD = 1  # TNR_BINARY_OP_ADD


class ContextOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("thread_count", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)] + [
                    (name, ctypes.c_void_p) for name in
                    ("spawn", "allocate", "deallocate", "user_context", "release")]


class Library(interop.Library):
    def __init__(self, path, threads):
        super().__init__(path)
        self.c.tnr_context_create.restype = ctypes.c_void_p
        options = ContextOptions(ctypes.sizeof(ContextOptions), threads)
        self.context = ctypes.c_void_p(self.c.tnr_context_create(ctypes.byref(options)))

    def into(self, name, *arguments):
        """A function that does the call again and again; arrays are lent once."""
        passed, function = interop.with_attributes(interop.lend(arguments)), getattr(self.c, name)

        def run():
            if function(self.context, *passed) != 0:
                raise RuntimeError(self.c.tnr_last_error().contents.message.decode())
        return run

    def made(self, name, *arguments):
        """The same of a call that makes its result, which ends with it."""
        found, function = interop.View(), getattr(self.c, name)
        function.restype = ctypes.c_void_p
        passed = interop.with_attributes(interop.lend([*arguments, found]))

        def run():
            blob = function(self.context, *passed)
            if not blob:
                raise RuntimeError(self.c.tnr_last_error().contents.message.decode())
            self.c.tnr_blob_release(ctypes.c_void_p(blob))
        return run


def seconds(run):
    calls, start = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - start < SHORTEST:
        run()
        calls += 1
    return (time.perf_counter() - start) / calls


def cases(library):
    """(name, bytes read and written, tenure, torch)"""
    random = np.random.default_rng(1)
    axis = ctypes.c_uint32(0)
    for row_bytes in (4096, 256):
        total = 64 << 20
        rows, columns = total // row_bytes, row_bytes // 4
        a, out = np.ones((rows, columns), np.float32), np.empty((rows, columns), np.float32)
        n = random.integers(0, rows, rows)
        ours, theirs, index = torch.from_numpy(a), torch.from_numpy(out), torch.from_numpy(n)
        yield (f"take rows of {row_bytes} B", 2 * total,
               library.into("tnr_take", a, axis, n, out),
               lambda: torch.index_select(ours, 0, index, out=theirs))
        yield (f"put_add rows of {row_bytes} B", 3 * total,
               library.into("tnr_put", ADD, a, axis, n, out),
               lambda: theirs.index_add_(0, index, ours))
    count = 1 << 22
    for extent in (1 << 14, 1 << 22):
        a, n = np.ones(count, np.float32), random.integers(0, extent, count)
        target, out = np.zeros(extent, np.float32), np.empty(count, np.float32)
        ours, theirs, index = torch.from_numpy(a), torch.from_numpy(target), torch.from_numpy(n)
        into = torch.from_numpy(out)
        yield (f"gather of {extent}", 16 * count, library.into("tnr_gather", target, axis, n, out),
               lambda: torch.gather(theirs, 0, index, out=into))
        yield (f"scatter_add to {extent}", 16 * count,
               library.into("tnr_scatter", ADD, a, axis, n, target),
               lambda: theirs.scatter_add_(0, index, ours))
    for percent in (1, 50):
        for shape in ((1 << 24,), (1 << 12, 1 << 12)):
            a = (random.random(shape, np.float32) < percent / 100).astype(np.float32)
            ours = torch.from_numpy(a)
            size = a.nbytes + int(a.sum()) * 8 * a.ndim
            yield (f"nonzero {percent} % of {len(shape)} axes", size,
                   library.made("tnr_nonzero", a), lambda: torch.nonzero(ours))
        mask = a != 0
        chosen = torch.from_numpy(mask)
        yield (f"masked_select {percent} %", a.nbytes + mask.nbytes + int(mask.sum()) * 4,
               library.made("tnr_masked_select", a, mask),
               lambda: torch.masked_select(ours, chosen))
    a, b = np.ones((4096, 2048), np.float32), np.ones((4096, 2048), np.float32)
    out = np.empty((4096, 4096), np.float32)
    parts = (interop.View * 2)(interop.view_of(a), interop.view_of(b))
    ours, theirs, into = torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(out)
    yield ("concat along 1", 2 * out.nbytes,
           library.into("tnr_concat", parts, ctypes.c_uint32(2), ctypes.c_uint32(1), out),
           lambda: torch.cat((ours, theirs), 1, out=into))


def copy_of(library, size):
    """Of as many bytes, read and written together."""
    a = np.ones(size // 8, np.float32)
    return library.into("tnr_copy", a, np.empty_like(a))


def main():
    path, part = sys.argv[1], (sys.argv[2:] or [""])[0]
    print("| what | threads | Tenure | PyTorch | times | of a copy |")
    print("| --- | --- | --- | --- | --- | --- |")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        library = Library(path, threads)
        for name, size, tenure, peer in cases(library):
            if part not in name:
                continue
            runs = (tenure, peer, copy_of(library, size))
            rounds = [[seconds(run) for run in runs] for _ in range(ROUNDS)]
            ours, theirs, copy = (min(column) for column in zip(*rounds))
            print(f"| {name} | {threads} | {ours * 1e3:.2f} ms | {theirs * 1e3:.2f} ms "
                  f"| {theirs / ours:.2f} | {copy / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
