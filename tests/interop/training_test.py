"""The losses of a network that Tenure trains, and those of PyTorch from the same weights and batches.

    python tests/interop/training_test.py CURVE_PROGRAM [STEPS]

CURVE_PROGRAM is the example `curve` of rust/demo. Needs numpy and torch.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch.nn import functional as F

DATA = pathlib.Path(__file__).parents[2] / "rust/tenure/examples/data"
BATCH = 32
# Of a loss in f32. A rounding may decide which element of a window is the greatest, or whether one is
# above 0, and each later loss differs then: behind 260 of 300 steps PyTorch's losses in f32 and f64
# differ by 2e-4.
BOUND = 1e-4


def scores(images, weights):
    """The network of rust/demo/src/learned.rs."""
    for kernel, bias in (weights[0:2], weights[2:4]):
        images = F.relu(F.conv2d(images, kernel, bias, padding=1))
    return F.max_pool2d(images, 2).flatten(1) @ weights[4] + weights[5]


def losses_of_torch(folder, dtype):
    samples = np.load(folder / "samples.npy").reshape(-1, BATCH)
    pixels = torch.from_numpy(np.load(DATA / "digits.npy"))
    labels = torch.from_numpy(np.load(DATA / "digits.labels.npy")).long()
    weights = [torch.from_numpy(np.load(folder / f"weights{i}.npy")).to(dtype).requires_grad_()
               for i in range(6)]
    optimizer = torch.optim.AdamW(weights, weight_decay=0.01)
    losses = []
    for number, rate in enumerate(np.load(folder / "rates.npy")):
        images = (pixels[samples[number]].to(dtype) / 16).reshape(-1, 1, 8, 8)
        row, column = number % 3, number // 3 % 3
        moved = F.pad(images, (1, 1, 1, 1))[:, :, row:row + 8, column:column + 8]
        loss = F.cross_entropy(scores(moved, weights), labels[samples[number]])
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def main(program, steps="200"):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([program, folder, steps], check=True)
        ours = np.load(folder / "losses.npy").astype(np.float64)
        theirs = losses_of_torch(folder, torch.float32)
        exact = losses_of_torch(folder, torch.float64)
    assert len(ours) == int(steps) and ours[-50:].mean() < 0.25 * ours[0], "it has not learned"
    difference = np.abs(ours - theirs).max()
    print(f"{steps} losses, {ours[0]:.3f} to {ours[-50:].mean():.4f}: differ from PyTorch's by "
          f"{difference:.2e} at most; from those in f64 by {np.abs(ours - exact).max():.2e}, "
          f"PyTorch's by {np.abs(theirs - exact).max():.2e}")
    assert difference <= BOUND, f"{difference} is more than {BOUND}"


if __name__ == "__main__":
    main(*sys.argv[1:])
