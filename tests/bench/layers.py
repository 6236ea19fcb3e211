"""Times layers of model/network, and the networks of experiments/networks, against PyTorch.

usage: /usr/bin/python3 layers.py OSAFL [--rounds R] [--repeats N] [--only NAME]...

Prints two tables in Markdown.  Of a layer: forward, and backward with the gradients of weights and
input (osafl's backward makes the step, too).  Of a network: a whole training step.  Both sides run
in turn, R times; times are CPU time of one thread, the least of all.  Batches have 16 samples.
compare.py says which kernels PyTorch gets.  Needs python3-torch (Debian: 1.13).
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "golden"))
import compare  # noqa: E402
import make_networks  # noqa: E402
from make_networks import Attention, recurrent  # noqa: E402

BATCH = 16
NETWORKS = HERE.parent.parent / "experiments" / "networks"


def sequence(steps, size):
    """Rows before a layer that reads a sequence of vectors."""
    return (1, 1, steps), 80, f"{{ embedding = 80; size = {size}; }}", (steps, size)


def picture(channels, size):
    """The same for a map: a convolution makes it."""
    return ((3, size, size), 0, f"{{ conv = {channels}; kernel = 1; }}", (channels, size, size))


def layers():
    """(what it is, what comes before, its row, PyTorch's module)"""
    for c, size, k, s in ((32, 32, 3, 1), (96, 32, 3, 1), (144, 16, 3, 2), (384, 8, 3, 1),
                          (960, 4, 3, 1), (64, 16, 5, 1)):
        yield (f"depthwise {k} x {k}, stride {s}: {c} x {size} x {size}", picture(c, size),
               f"depthwise = 1; kernel = {k}; stride = {s}; padding = {k // 2};",
               nn.Conv2d(c, c, k, s, k // 2, groups=c))
    for c, o, size, k in ((1, 6, 28, 5), (1, 32, 28, 5), (3, 64, 24, 5), (3, 32, 32, 3)):
        yield (f"first convolution {k} x {k}: {c} x {size} x {size} to {o}", None,
               f"conv = {o}; kernel = {k}; padding = {k // 2};", nn.Conv2d(c, o, k, 1, k // 2))
    for c, o, size in ((6, 16, 14), (32, 64, 14), (64, 64, 12)):
        yield (f"convolution 5 x 5: {c} x {size} x {size} to {o}", picture(c, size),
               f"conv = {o}; kernel = 5; padding = 2;", nn.Conv2d(c, o, 5, 1, 2))
    yield ("convolution 3 x 3, 4 groups: 64 x 16 x 16", picture(64, 16),
           "conv = 64; kernel = 3; padding = 1; groups = 4;", nn.Conv2d(64, 64, 3, 1, 1, groups=4))
    yield ("convolution 4 x 4, stride 2: 64 x 16 x 16", picture(64, 16),
           "conv = 64; kernel = 4; stride = 2; padding = 1;", nn.Conv2d(64, 64, 4, 2, 1))
    yield ("convolution 1 x 1: 96 x 16 x 16", picture(96, 16), "conv = 24; kernel = 1;",
           nn.Conv2d(96, 24, 1))
    yield ("average pool 2 x 2: 64 x 32 x 32", picture(64, 32), "average_pool = 2;",
           nn.AvgPool2d(2))
    for c, groups, size in ((96, 8, 32), (144, 8, 16), (64, 32, 16), (960, 8, 4), (64, 2, 32)):
        yield (f"GroupNorm, {groups} groups: {c} x {size} x {size}", picture(c, size),
               f"group_norm = {groups};", nn.GroupNorm(groups, c))
    for name, module in (("relu6", nn.ReLU6()), ("gelu", nn.GELU()), ("tanh", nn.Tanh()),
                         ("sigmoid", nn.Sigmoid())):
        yield (f"{name}: 64 x 16 x 16", picture(64, 16), f'activation = "{name}";', module)
    yield "linear: 64 x 64 to 256", sequence(64, 64), "linear = 256;", nn.Linear(64, 256)
    yield "LayerNorm: 64 x 64", sequence(64, 64), "layer_norm = true;", nn.LayerNorm(64)
    yield "attention, 4 heads: 64 x 64", sequence(64, 64), "attention = 4;", Attention(64, 4)
    yield ("causal attention, 8 heads: 128 x 128", sequence(128, 128),
           "attention = 8; causal = true;", Attention(128, 8, True))
    yield "LSTM 256: 80 x 8", sequence(80, 8), "lstm = 256;", recurrent(nn.LSTM, False)(8, 256)
    yield "LSTM 256: 80 x 256", sequence(80, 256), "lstm = 256;", recurrent(nn.LSTM, False)(256, 256)
    yield "GRU 128: 64 x 64", sequence(64, 64), "gru = 128;", recurrent(nn.GRU, False)(64, 128)


def osafl(options, rows, shape, tokens, layers_too=True):
    """The line of osafl bench on a network of these rows, or of a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        if isinstance(rows, str):
            file.write(f'model: {{ plugin = "network"; network: {{ layers = ({rows}); }}; }};')
            file.flush()
        model = file.name if isinstance(rows, str) else str(rows)
        command = [options.osafl, "bench", "--json", "--clients", "0", "--model", model, "--batch",
                   str(BATCH), "--repeats", str(options.repeats), "--picture",
                   "x".join(map(str, shape))]
        command += ["--tokens", str(tokens)] if tokens else []
        return compare.run(command + (["--layers"] if layers_too else []))


def least(repeats, work):
    """The least milliseconds of each part of work(), which gives the marks between them."""
    times = []
    for _ in range(repeats + 2):
        marks = list(work())
        times.append([1e3 * (b - a) for a, b in zip(marks, marks[1:])])
    return [min(part) for part in zip(*times[2:])]


def torch_layer(repeats, module, shape, first):
    x = torch.randn(BATCH, *shape, requires_grad=not first)
    dy = torch.randn_like(module(x))

    def work():
        x.grad = None
        module.zero_grad(set_to_none=True)
        yield time.thread_time()
        y = module(x)
        yield time.thread_time()
        y.backward(dy)
        yield time.thread_time()

    return least(repeats, work)


def torch_step(repeats, model, shape, tokens):
    model = model.float()
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randint(0, tokens, (BATCH, *shape)) if tokens else torch.randn(BATCH, *shape)
    y = torch.randint(0, 10, (BATCH,))

    def work():
        yield time.thread_time()
        sgd.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        sgd.step()
        yield time.thread_time()

    return least(repeats, work)


def smaller(a, b):
    return b if a is None else [min(pair) for pair in zip(a, b)]


def time_layer(options, name, before, row, module):
    ours = theirs = None
    if before is None:
        shape = inner = (module.in_channels, *map(int, name.split(": ")[1].split(" ")[2:5:2]))
        tokens, rows = 0, f"{{ {row} }}"
    else:
        shape, tokens, rows, inner = before
        rows += f", {{ {row} }}"
    network = rows + ', { global_average = true; }, { linear = "classes"; }'
    for _ in range(options.rounds):
        timed = osafl(options, network, shape, tokens)["layers"][before is not None]
        ours = smaller(ours, [timed["forward_ms"], timed["backward_ms"]])
        theirs = smaller(theirs, torch_layer(options.repeats, module, inner,
                                              before is None))
    print(f"| {name} | {ours[0]:.3f} | {theirs[0]:.3f} | {theirs[0] / ours[0]:.1f} | "
          f"{ours[1]:.3f} | {theirs[1]:.3f} | {theirs[1] / ours[1]:.1f} |", flush=True)


def time_network(options, case, shape):
    ours = theirs = None
    for _ in range(options.rounds):
        line = osafl(options, NETWORKS / (case["file"] + ".cfg"), shape, case.get("tokens", 0), False)
        ours = smaller(ours, [line["step_ms"]])
        theirs = smaller(theirs, torch_step(options.repeats, case["model"], shape,
                                            case.get("tokens", 0)))
    size = " x ".join(map(str, shape))
    print(f"| {case['file']}, {size} | {ours[0]:.2f} | {theirs[0]:.2f} | "
          f"{theirs[0] / ours[0]:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("osafl")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    torch.set_num_threads(1)

    def wanted(name):
        return not options.only or any(name.startswith(only) for only in options.only)

    print("| layer | forward: osafl ms | PyTorch ms | ratio | backward: osafl ms | PyTorch ms | "
          "ratio |\n|---|---|---|---|---|---|---|")
    for layer in layers():
        if wanted(layer[0]):
            time_layer(options, *layer)
    print("\n| network, a step | osafl ms | PyTorch ms | ratio |\n|---|---|---|---|")
    for case in make_networks.cases():
        if "file" in case and wanted(case["file"]):
            shape = case["shape"]
            if case["file"] == "mobilenetv2":
                shape = (3, 32, 32)
            elif "tokens" in case:
                shape = (1, 1, 80)
            if case["file"] == "transformer":
                case["model"].positions = make_networks.Position(80, 64)
            time_network(options, case, shape)


if __name__ == "__main__":
    main()
