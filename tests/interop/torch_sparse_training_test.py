"""The losses of 50 steps on the values of a CSR matrix, by PyTorch on a dense matrix with a mask.

    python tests/interop/torch_sparse_training_test.py [--print]

Needs torch. Compares them with the numbers in rust/tenure/tests/program/sparse_training.rs, which
Tenure's steps are compared with, or prints these.
"""

import pathlib
import re
import sys

import torch

RUST = pathlib.Path(__file__).resolve().parents[2] / "rust/tenure/tests/program/sparse_training.rs"
ROWS, COLS, HIDDEN, BATCH, STEPS, EVERY = 12, 10, 3, 6, 50, 7


def waves(shape, step):
    """The numbers that `waves` of the Rust test gives."""
    count = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return torch.sin(count * step + 0.5).reshape(shape)


def losses(rule):
    mask = torch.tensor([[(7 * row + 3 * col) % 4 == 0 for col in range(COLS)]
                         for row in range(ROWS)])
    values = waves([int(mask.sum())], 0.7).requires_grad_()
    weight = waves([HIDDEN, ROWS], 1.3).requires_grad_()
    x, target = waves([COLS, BATCH], 0.3), waves([HIDDEN, BATCH], 0.9)
    optimizer = rule([values, weight])
    found = []
    for _ in range(STEPS):
        dense = torch.zeros(ROWS, COLS, dtype=torch.float64).masked_scatter(mask, values)
        loss = (weight @ torch.tanh(dense @ x) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found[::EVERY]


RULES = {
    "SGD": lambda of: torch.optim.SGD(of, lr=0.05, momentum=0.9, weight_decay=0.01),
    "ADAMW": lambda of: torch.optim.AdamW(of, lr=0.02, weight_decay=0.01),
}


def main():
    for name, rule in RULES.items():
        found = losses(rule)
        text = ", ".join(f"{loss:.8f}" for loss in found)
        if "--print" in sys.argv:
            print(f"const {name}: [f64; {len(found)}] = [{text}];")
            continue
        recorded = re.search(rf"const {name}: \[f64; \d+\] =\s*\[([^\]]*)\]", RUST.read_text())
        numbers = [float(number) for number in recorded[1].split(",") if number.strip()]
        if len(numbers) != len(found) or max(
                abs(a - b) for a, b in zip(numbers, found)) > 1e-7:
            sys.exit(f"{RUST.name} has {name} {numbers} instead of {text}")
        print(f"{name}: {len(found)} losses of {STEPS} steps are PyTorch's")


if __name__ == "__main__":
    main()
