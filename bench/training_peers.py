"""Training steps of Tenure and of other libraries, in turns.

    python bench/training_peers.py THREADS FOLDER... [--models digits,block,mlp] [--rounds 9]

The FOLDERs have the program `training` (bench/examples), and may have `candle` and `burn`
(bench/training), which answer the same lines from the same first weights. PyTorch and JAX run in
processes of this script, so that each library has its own threads. Each row has the loss of the
second step and that of the last one. Times are medians of rounds in which all take their turn; a
ratio is the median of those of the rounds, the time of Tenure over that of the peer. The time of
processors, a mean, is that of all threads of a process: compare it where the machine has other
work.

Memory is the growth of the resident size of the process in one step: in the first one of Tenure,
which keeps its memory, and in a later one of others, whose first makes the optimiser's states.
Parameters, states and inputs are there before. PyTorch's is also given as the most bytes that its
allocator had in the step beyond those before it.
"""

import ctypes
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import time

MLP = (64, 1024)
BLOCK = (16, 128, 6, 384)
DIGITS = (32, 16, 32, 16, 10)
RATE = 1e-4


# ---- the models -----------------------------------------------------------------------------


def torch_model(model):
    """Parameters, and the loss as a function of nothing."""
    import torch
    from torch.nn import functional as F

    torch.manual_seed(1)

    def linear(inputs, outputs):
        return torch.nn.Linear(inputs, outputs)

    if model == "digits":
        batch, edges, shapes, pixels, classes = DIGITS
        x = torch.randint(0, 17, (batch, 64), dtype=torch.uint8)
        y = torch.arange(batch) % classes
        first, second = (torch.nn.Conv2d(i, o, 3, padding=1)
                         for i, o in ((1, edges), (edges, shapes)))
        scores = linear(shapes * pixels, classes)
        modules = [first, second, scores]

        def loss():
            images = (x.float() * 0.0625).reshape(batch, 1, 8, 8)
            moved = F.pad(images, (1, 1, 1, 1))[:, :, 0:8, 0:8]
            of = F.max_pool2d(F.relu(second(F.relu(first(moved)))), 2).reshape(batch, -1)
            return F.cross_entropy(scores(F.dropout(of, 0.5)), y)
    elif model == "mlp":
        batch, width = MLP
        x, y = torch.randn(batch, width), torch.randn(batch, width)
        modules = [linear(width, width) for _ in range(3)]

        def loss():
            hidden = F.relu(modules[1](F.relu(modules[0](x))))
            return F.mse_loss(modules[2](hidden), y)
    else:
        batch, tokens, heads, width = BLOCK
        x, y = (torch.randn(batch, tokens, width) for _ in range(2))
        norms = [torch.nn.LayerNorm(width) for _ in range(2)]
        layers = [linear(*of) for of in ((width, 3 * width), (width, width),
                                         (width, 4 * width), (4 * width, width))]
        modules = norms + layers

        def loss():
            parts = layers[0](norms[0](x)).view(batch, tokens, 3, heads, -1)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(query, key, value)
            of = x + layers[1](mixed.transpose(1, 2).reshape(x.shape))
            return F.mse_loss(of + layers[3](F.gelu(layers[2](norms[1](of)))), y)
    return [p for module in modules for p in module.parameters()], loss


def torch_step(model, how):
    import torch

    parameters, loss = torch_model(model)
    # The fused form is the fastest that PyTorch has on the CPU.
    optimizer = torch.optim.AdamW(parameters, RATE, fused=True)
    # A part that PyTorch cannot compile is an error, not a part that runs as it is.
    loss = torch.compile(loss, fullgraph=True) if how == "compiled" else loss

    def step():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.item()
    # Gradients are kept until the next step: those of the last one are no part of a step's memory.
    step.forget = optimizer.zero_grad
    return step


def jax_step(model):
    import jax
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(1)
    nn = jax.nn

    def normal(*shape, deviation=0.02):
        return jnp.asarray(rng.normal(0, deviation, shape).astype(np.float32))

    def linear(inputs, outputs):
        return [normal(inputs, outputs), jnp.zeros(outputs)]

    if model == "digits":
        batch, edges, shapes, pixels, classes = DIGITS
        x = jnp.asarray(rng.integers(0, 17, (batch, 64), dtype=np.uint8))
        y = jnp.arange(batch) % classes
        weights = [normal(edges, 1, 3, 3), jnp.zeros((edges, 1, 1)),
                   normal(shapes, edges, 3, 3), jnp.zeros((shapes, 1, 1)),
                   *linear(shapes * pixels, classes)]

        def convolved(images, kernel, bias):
            return nn.relu(jax.lax.conv(images, kernel, (1, 1), "SAME") + bias)

        def loss(w, x, y, key):
            images = (x.astype(jnp.float32) * 0.0625).reshape(batch, 1, 8, 8)
            moved = jnp.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))[:, :, 0:8, 0:8]
            of = convolved(convolved(moved, w[0], w[1]), w[2], w[3])
            of = of.reshape(batch, shapes, 4, 2, 4, 2).max((3, 5)).reshape(batch, -1)
            of = jnp.where(jax.random.bernoulli(key, 0.5, of.shape), of * 2, 0)
            scores = nn.log_softmax(of @ w[4] + w[5])
            return -jnp.take_along_axis(scores, y[:, None], 1).mean()
    elif model == "mlp":
        batch, width = MLP
        x, y = normal(batch, width, deviation=1), normal(batch, width, deviation=1)
        weights = [part for _ in range(3) for part in linear(width, width)]

        def loss(w, x, y, key):
            hidden = nn.relu(nn.relu(x @ w[0] + w[1]) @ w[2] + w[3])
            return ((hidden @ w[4] + w[5] - y) ** 2).mean()
    else:
        batch, tokens, heads, width = BLOCK
        x, y = (normal(batch, tokens, width, deviation=1) for _ in range(2))
        weights = [part for of in ((width, 3 * width), (width, width), (width, 4 * width),
                                   (4 * width, width)) for part in linear(*of)]
        weights += [part for _ in range(2) for part in (jnp.ones(width), jnp.zeros(width))]

        def norm(x, scale, shift):
            centred = x - x.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) \
                * scale + shift

        def loss(w, x, y, key):
            parts = (norm(x, w[8], w[9]) @ w[0] + w[1]).reshape(batch, tokens, 3, heads, -1)
            mixed = nn.dot_product_attention(*(parts[:, :, i] for i in range(3)))
            of = x + mixed.reshape(x.shape) @ w[2] + w[3]
            wide = nn.gelu(norm(of, w[10], w[11]) @ w[4] + w[5], approximate=False)
            return ((of + wide @ w[6] + w[7] - y) ** 2).mean()

    def step(state, x, y, key):
        weights, means, squares, count = state
        value, gradients = jax.value_and_grad(loss)(weights, x, y, key)
        count = count + 1
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients)]
        squares = [0.999 * v + 0.001 * g * g for v, g in zip(squares, gradients)]
        weights = [w - RATE * (m / (1 - 0.9 ** count) / (jnp.sqrt(v / (1 - 0.999 ** count)) + 1e-8)
                               + 0.01 * w) for w, m, v in zip(weights, means, squares)]
        return (weights, means, squares, count), value

    zeros = [jnp.zeros_like(w) for w in weights]
    state = (weights, zeros, [jnp.zeros_like(w) for w in weights], jnp.float32(0))
    compiled = jax.jit(step, donate_argnums=0)
    key = jax.random.key(7)

    def run():
        nonlocal state
        state, value = compiled(state, x, y, key)
        return float(value)
    return run


# ---- the processes --------------------------------------------------------------------------


def resident(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split(name)[1].split()[0]) * 1024


def grown_by(step):
    getattr(step, "forget", lambda: None)()
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS:")
    step()
    return max(resident("VmHWM:") - before, 0)


def allocated_by(step):
    """The most bytes that PyTorch's allocator has beyond those before the step."""
    from torch.profiler import profile

    step.forget()
    with profile(profile_memory=True) as of:
        step()
    total = most = 0
    events = of.profiler.kineto_results.events()
    for event in sorted((e for e in events if e.name() == "[memory]"), key=lambda e: e.start_ns()):
        total += event.nbytes()
        most = max(most, total)
    return most


def serve(library, model, threads):
    """Answers the lines of bench/src/turns.rs."""
    # Libraries print to the standard output, too.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if library == "JAX":
        step, planned = jax_step(model), lambda: 0
    else:
        import torch

        torch.set_num_threads(threads)
        step = torch_step(model, library.split()[1])
        planned = lambda: allocated_by(step)  # noqa: E731
    for line in sys.stdin:
        words = line.split()
        if words[0] == "memory":
            print(planned(), grown_by(step), file=answers)
            continue
        start = time.perf_counter()
        for _ in range(int(words[1])):
            loss = step()
        print((time.perf_counter() - start) * 1e3 / int(words[1]), loss, file=answers)


class Turns:
    def __init__(self, command, threads):
        # Threads that wait sleep, as they would keep the processor from the next library.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive",
                           MKL_NUM_THREADS=str(threads), RAYON_NUM_THREADS=str(threads))
        if threads == 1:
            command = ["taskset", "-c", "0", *command] if "JAX" in command else command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, env=environment)

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args} ended")
        return [float(word) for word in answer.split()]

    def processor_ms(self):
        """Of all threads so far."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(stat[11]) + int(stat[12])) * 1e3 / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def commands(model, threads, folders):
    own = {}
    for folder in folders:
        for name in ("training", "candle", "burn"):
            if (pathlib.Path(folder) / name).exists():
                own[name] = [str(pathlib.Path(folder) / name), model]
    ways = {"Tenure": [*own.pop("training"), str(threads)]}
    for library in ("PyTorch eager", "PyTorch compiled", "JAX"):
        module = library.split()[0].lower().removeprefix("py")
        if importlib.util.find_spec(module) is not None:
            ways[library] = [sys.executable, __file__, "--serve", library, model, str(threads)]
    ways.update(own)
    return ways


def measure(model, threads, folders, count):
    ways = {name: Turns(command, threads)
            for name, command in commands(model, threads, folders).items()}
    times = {name: [] for name in ways}
    used = {name: 0 for name in ways}
    # A program keeps the memory of its first run.
    memory = {"Tenure": ways["Tenure"]("memory")}
    steps, second, last = {}, {}, {}
    for name, way in ways.items():
        if name not in memory:
            way("run", 1)  # compiles, and makes the optimiser's states
        _, second[name] = way("run", 1)
        steps[name] = max(1, round(100 / way("run", 2)[0]))
    for _ in range(count):
        for name, way in ways.items():
            before = way.processor_ms()
            time_of_step, last[name] = way("run", steps[name])
            times[name].append(time_of_step)
            used[name] += (way.processor_ms() - before) / (count * steps[name])
    print(f"{model}, {threads} thread{'s' * (threads > 1)}")
    for name, way in ways.items():
        ratio = statistics.median(a / b for a, b in zip(times["Tenure"], times[name]))
        planned, grown = memory.get(name) or way("memory")
        print(f"  {name:17} {statistics.median(times[name]):9.3f} ms  {ratio:6.3f}  of processors "
              f"{used[name]:9.3f} ms  {used['Tenure'] / max(used[name], 1e-9):6.3f}  planned "
              f"{planned / 2**20:8.2f} MiB, grown {grown / 2**20:8.2f} MiB  loss "
              f"{second[name]:.5f} to {last[name]:.5f}", flush=True)
        way.close()


def main(arguments):
    if arguments[0] == "--serve":
        return serve(arguments[1], arguments[2], int(arguments[3]))
    threads, folders, models, count = int(arguments[0]), [], ["digits", "block", "mlp"], 9
    rest = iter(arguments[1:])
    for argument in rest:
        if argument == "--models":
            models = next(rest).split(",")
        elif argument == "--rounds":
            count = int(next(rest))
        else:
            folders.append(argument)
    for model in models:
        measure(model, threads, folders, count)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
