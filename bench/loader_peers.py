"""NumPy's take and PyTorch's DataLoader, in turns with the bench `loader` in Rust.

    loader_peers.py ROWS BATCH_ROWS BATCHES ROW_ELEMENTS

Reads names of peers, a line each, and answers each with the nanoseconds that BATCHES batches of
BATCH_ROWS rows took, drawn at random from ROWS rows of f32.
"""

import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

rows, batch_rows, batches, elements = map(int, sys.argv[1:])
torch.set_num_threads(1)
data = np.resize(np.arange(1, 8_388_594, dtype=np.float32), (rows, elements))
tensor = torch.from_numpy(data)
# The number of buffers of the loader on one thread.
outs = [np.ones((batch_rows, elements), np.float32) for _ in range(3)]
tensor_outs = [torch.from_numpy(out) for out in outs]
drawn = np.random.default_rng(1)


def indices():
    return drawn.permutation(rows)[:batches * batch_rows].reshape(batches, batch_rows)


def take(order):
    # With another mode than `clip`, NumPy goes through a buffer of its own.
    for i, of in enumerate(order):
        np.take(data, of, axis=0, out=outs[i % len(outs)], mode="clip")


def index_select(order):
    for i, of in enumerate(order):
        torch.index_select(tensor, 0, of, out=tensor_outs[i % len(outs)])


def loader(workers):
    sampler = RandomSampler(TensorDataset(tensor), num_samples=batches * batch_rows)
    return DataLoader(TensorDataset(tensor), batch_rows, sampler=sampler, num_workers=workers,
                      persistent_workers=workers > 0)


loaders = {}


def run(name):
    if name.startswith("DataLoader"):
        workers = int(name.split()[1])
        batches_of = loaders.setdefault(workers, loader(workers))
        start = time.perf_counter_ns()
        for _ in batches_of:
            pass
        return time.perf_counter_ns() - start
    order, work = indices(), take
    if name == "PyTorch":
        order, work = torch.from_numpy(order), index_select
    start = time.perf_counter_ns()
    work(order)
    return time.perf_counter_ns() - start


for line in sys.stdin:
    print(run(line.strip()), flush=True)
