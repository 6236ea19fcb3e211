#!/usr/bin/env python3
"""make_networks.py > tests/golden/cases/networks.json - loss, logits and gradients of networks of
many layers, by PyTorch in double precision.  Weights and inputs are those of README.md; whole
numbers below `tokens` are floor(tokens (u + 1) / 2).  A case says its network by `layers`, rows of
model/network, or by a `file` of experiments/networks; the names of its tensors are PyTorch's."""
import json
import math
import sys

import numpy
import torch
from torch import nn


def numbers(seed, t, n):
    """u(seed, t, i) of README.md for i < n."""
    with numpy.errstate(over="ignore"):
        z = numpy.arange(n, dtype=numpy.uint64) + numpy.uint64(t << 32)
        z += numpy.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(40)).astype(numpy.float64) * 2.0**-23 - 1


# Samples come as [sample][channel][line][column]; sequences are [sample][step][value].
class Line(nn.Conv1d):
    def forward(self, x):
        return super().forward(x.squeeze(2)).unsqueeze(2)


class Steps(nn.Module):
    """A picture of one line as a sequence; has no weights and no place in the numbering."""

    def forward(self, x):
        return x.squeeze(2).transpose(1, 2)


class Tokens(nn.Embedding):
    def forward(self, x):
        return super().forward(x.flatten(1).long())


class Position(nn.Module):
    def __init__(self, steps, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(steps, size))

    def forward(self, x):
        return x + self.weight


def recurrent(kind, last):
    class Recurrent(kind):
        def forward(self, x):
            y = super().forward(x)[0]
            return y[:, -1] if last else y

    return lambda a, b: Recurrent(a, b, batch_first=True)


class Attention(nn.MultiheadAttention):
    def __init__(self, size, heads, causal=False):
        super().__init__(size, heads, batch_first=True)
        self.causal = causal

    def forward(self, x):
        mask = None
        if self.causal:
            mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        return super().forward(x, x, x, need_weights=False, attn_mask=mask)[0]


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(1)


class Named(nn.Module):
    """Modules by name, which may hold points, and a function of them."""

    def __init__(self, modules, run):
        super().__init__()
        for name, module in modules.items():
            at = self
            *path, leaf = name.split(".")
            for part in path:
                if part not in at._modules:
                    at.add_module(part, nn.Module())
                at = at._modules[part]
            at.add_module(leaf, module)
        self.run = run

    def forward(self, x):
        return self.run(lambda name: self.get_submodule(name), x)


def branches(m, x):
    stem = torch.relu(m("stem")(x))
    b = nn.functional.max_pool2d(stem, 5, 2, 2)
    c = torch.tanh(m("b.conv")(nn.functional.avg_pool2d(stem, 4, 2, 1)))
    c = nn.functional.avg_pool2d(c, 2, 1)
    d = torch.cat([b, c, b], 1)
    e = m("norm")(d) + d
    return m("head")(torch.relu(m("g")(e) + m("h")(d)).mean((2, 3)))


def wide_depthwise(m, x):
    x = torch.relu(m("n")(m("0")(x)))
    x = torch.relu(m("4")(m("3")(x)) + x)
    x = nn.functional.gelu(m("8")(m("7")(m("6")(x))))
    return m("12")(x.mean((2, 3)))


def transformer(m, x):
    x = m("positions")(m("tokens")(x))
    for i in range(2):
        p = f"layers.{i}."
        x = x + m(p + "self_attn")(m(p + "norm1")(x))
        x = x + m(p + "linear2")(nn.functional.gelu(m(p + "linear1")(m(p + "norm2")(x))))
    return m("fc")(m("norm")(x).mean(1))


def mobilenetv2():
    modules, blocks, channels, n = {}, [], 32, 1

    def unit(name, conv, act):
        modules[name[0]] = conv
        modules[name[1]] = nn.GroupNorm(8, conv.out_channels)
        return name[0], name[1], act

    stem = [unit(("features.0.0", "features.0.1"), nn.Conv2d(3, 32, 3, 1, 1, bias=False), True)]
    blocks.append((stem, False))
    for t, c, repeats, s in [(1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2),
                             (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            stride, wide, p, k, units = s if i == 0 else 1, channels * t, f"features.{n}.conv.", 0, []
            if t != 1:
                units.append(unit((p + "0.0", p + "0.1"), nn.Conv2d(channels, wide, 1, bias=False),
                                  True))
                k = 1
            units.append(unit((f"{p}{k}.0", f"{p}{k}.1"),
                              nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), True))
            units.append(unit((f"{p}{k + 1}", f"{p}{k + 2}"), nn.Conv2d(wide, c, 1, bias=False),
                              False))
            blocks.append((units, stride == 1 and channels == c))
            channels, n = c, n + 1
    blocks.append(([unit(("features.18.0", "features.18.1"),
                         nn.Conv2d(320, 1280, 1, bias=False), True)], False))
    modules["classifier.1"] = nn.Linear(1280, 10)

    def run(m, x):
        for units, residual in blocks:
            before = x
            for conv, norm, act in units:
                x = m(norm)(m(conv)(x))
                x = nn.functional.relu6(x) if act else x
            x = x + before if residual else x
        return m("classifier.1")(x.mean((2, 3)))

    return Named(modules, run)


def cases():
    yield dict(name="convolutions", shape=(3, 13, 17), layers="""
        { conv = 8; kernel = 5; padding = 2; stride = 2; relu = true; },
        { conv = 12; kernel = 3; padding = 1; groups = 4; activation = "gelu"; },
        { depthwise = 2; kernel = 3; padding = 1; activation = "relu6"; },
        { depthwise = 1; kernel = 3; stride = 2; bias = false; },
        { conv = 16; kernel = 4; padding = 2; activation = "tanh"; },
        { average_pool = 2; }, { linear = 20; activation = "sigmoid"; },
        { linear = "classes"; }""", model=nn.Sequential(
            nn.Conv2d(3, 8, 5, 2, 2), nn.ReLU(), nn.Conv2d(8, 12, 3, 1, 1, groups=4), nn.GELU(),
            nn.Conv2d(12, 24, 3, 1, 1, groups=12), nn.ReLU6(),
            nn.Conv2d(24, 24, 3, 2, 0, groups=24, bias=False), nn.Conv2d(24, 16, 4, 1, 2), nn.Tanh(),
            nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 20), nn.Sigmoid(), nn.Linear(20, 10)))
    yield dict(name="wide groups", shape=(2, 5, 6), layers="""
        { conv = 150; kernel = 3; padding = 2; groups = 2; bias = false; activation = "tanh"; },
        { conv = 140; kernel = 3; groups = 2; stride = 2; activation = "tanh"; },
        { linear = "classes"; }""", model=nn.Sequential(
            nn.Conv2d(2, 150, 3, 1, 2, groups=2, bias=False), nn.Tanh(),
            nn.Conv2d(150, 140, 3, 2, groups=2), nn.Tanh(), nn.Flatten(), nn.Linear(1260, 10)))
    yield dict(name="lines", shape=(2, 1, 19), layers="""
        { conv1d = 6; kernel = 5; padding = 2; relu = true; }, { conv1d = 70; kernel = 3; },
        { conv1d = 8; kernel = 3; stride = 2; padding = 2; groups = 2; relu = true; },
        { dropout = 0.5; }, { linear = "classes"; }""", model=nn.Sequential(
            Line(2, 6, 5, 1, 2), nn.ReLU(), Line(6, 70, 3), Line(70, 8, 3, 2, 2, groups=2), nn.ReLU(),
            nn.Identity(), nn.Flatten(), nn.Linear(80, 10)))
    yield dict(name="branches", shape=(1, 12, 14), layers="""
        { name = "stem"; conv = 6; kernel = 3; padding = 1; relu = true; },
        { name = "b"; max_pool = 5; stride = 2; padding = 2; },
        { from = "stem"; average_pool = 4; stride = 2; padding = 1; },
        { name = "b.conv"; conv = 4; kernel = 2; padding = 1; activation = "tanh"; },
        { name = "even"; average_pool = 2; stride = 1; },
        { name = "d"; concat = "b, even, b"; },
        { name = "norm"; group_norm = 4; add = "d"; },
        { name = "g"; conv = 5; kernel = 3; padding = 1; },
        { name = "h"; from = "d"; conv = 5; kernel = 1; bias = false; add = "g"; relu = true; },
        { global_average = true; }, { name = "head"; linear = "classes"; }""", model=Named(dict(
            [("stem", nn.Conv2d(1, 6, 3, 1, 1)), ("b.conv", nn.Conv2d(6, 4, 2, 1, 1)),
             ("norm", nn.GroupNorm(4, 16)), ("g", nn.Conv2d(16, 5, 3, 1, 1)),
             ("h", nn.Conv2d(16, 5, 1, bias=False)), ("head", nn.Linear(5, 10))]),
            branches))
    for kind, name in ((nn.LSTM, "lstm"), (nn.GRU, "gru")):
        yield dict(name=name, shape=(3, 1, 7), layers=f"""
            {{ {name} = 70; }}, {{ {name} = 11; last = true; }}, {{ linear = "classes"; }}""",
                   model=nn.Sequential(recurrent(kind, False)(3, 70), recurrent(kind, True)(70, 11),
                                       nn.Linear(11, 10)), before=Steps())
    yield dict(name="sequence", shape=(1, 1, 9), tokens=21, layers="""
        { embedding = 21; size = 12; }, { position = true; }, { layer_norm = true; },
        { attention = 3; causal = true; }, { attention = 1; }, { linear = 7; activation = "gelu"; },
        { gru = 5; }, { global_average = true; }, { linear = "classes"; }""", model=nn.Sequential(
            Tokens(21, 12), Position(9, 12), nn.LayerNorm(12), Attention(12, 3, True),
            Attention(12, 1), nn.Linear(12, 7), nn.GELU(), recurrent(nn.GRU, False)(7, 5), Mean(),
            nn.Linear(5, 10)))
    for loss in "squared_error", "binary_cross_entropy":
        yield dict(name=loss, loss=loss, shape=(1, 2, 3), layers="""{ linear = 5; activation = "tanh"; },
            { linear = "classes"; }""", model=nn.Sequential(nn.Flatten(), nn.Linear(6, 5), nn.Tanh(),
                                                            nn.Linear(5, 10)))
    yield dict(name="lenet5", file="lenet5", shape=(1, 28, 28), model=nn.Sequential(
        nn.Conv2d(1, 6, 5, 1, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10)))
    yield dict(name="mobilenetv2", file="mobilenetv2", shape=(3, 16, 16), batch=2,
               model=mobilenetv2())
    yield dict(name="shakespeare-lstm", file="shakespeare-lstm", shape=(1, 1, 12), tokens=80,
               batch=2, model=Named(dict(
                   [("embedding", Tokens(80, 8)), ("lstm1", recurrent(nn.LSTM, False)(8, 256)),
                    ("lstm2", recurrent(nn.LSTM, True)(256, 256)), ("fc", nn.Linear(256, 10))]),
                   lambda m, x: m("fc")(m("lstm2")(m("lstm1")(m("embedding")(x))))))
    layers = {"tokens": Tokens(80, 64), "positions": Position(12, 64)}
    for i in range(2):
        p = f"layers.{i}."
        layers |= {p + "norm1": nn.LayerNorm(64), p + "self_attn": Attention(64, 4),
                   p + "norm2": nn.LayerNorm(64), p + "linear1": nn.Linear(64, 256),
                   p + "linear2": nn.Linear(256, 64)}
    layers |= {"norm": nn.LayerNorm(64), "fc": nn.Linear(64, 10)}
    yield dict(name="transformer", file="transformer", shape=(1, 1, 12), tokens=80, batch=2,
               model=Named(layers, transformer))
    yield dict(name="wide depthwise", shape=(2, 11, 14), layers="""
        { conv = 70; kernel = 3; padding = 1; }, { name = "n"; group_norm = 7; relu = true; },
        { depthwise = 1; kernel = 3; padding = 1; }, { group_norm = 14; add = "n"; relu = true; },
        { depthwise = 1; kernel = 5; padding = 2; stride = 3; bias = false; },
        { depthwise = 1; kernel = 4; padding = 3; stride = 2; }, { group_norm = 2; },
        { activation = "gelu"; }, { global_average = true; }, { linear = "classes"; }""",
               model=Named({"0": nn.Conv2d(2, 70, 3, 1, 1), "n": nn.GroupNorm(7, 70),
                            "3": nn.Conv2d(70, 70, 3, 1, 1, groups=70), "4": nn.GroupNorm(14, 70),
                            "6": nn.Conv2d(70, 70, 5, 3, 2, groups=70, bias=False),
                            "7": nn.Conv2d(70, 70, 4, 2, 3, groups=70), "8": nn.GroupNorm(2, 70),
                            "12": nn.Linear(70, 10)}, wide_depthwise))


def compute(case, seed):
    model, shape, batch = case["model"].double(), case["shape"], case.get("batch", 3)
    x = torch.tensor(numbers(seed, 0, batch * math.prod(shape)))
    tokens = case.get("tokens", 0)
    x = torch.floor(tokens * (x + 1) / 2) if tokens else 2 * x
    x = x.reshape(batch, *shape)
    for t, (name, p) in enumerate(model.named_parameters(), 1):
        u = numbers(seed, t, p.numel())
        if p.dim() > 1:
            w = u * math.sqrt(6 / math.prod(p.shape[1:]))
        else:
            w = 0.1 * u + (1 if name.endswith(".weight") else 0)
        p.data = torch.tensor(w.astype(numpy.float32).astype(numpy.float64)).reshape(p.shape)
    z = model(case["before"](x) if "before" in case else x)
    label = 3 * torch.arange(batch) % 10
    wanted = nn.functional.one_hot(label, 10).double()
    loss = {"cross_entropy": lambda: nn.functional.cross_entropy(z, label),
            "squared_error": lambda: nn.functional.mse_loss(z, wanted),
            "binary_cross_entropy": lambda: nn.functional.binary_cross_entropy_with_logits(z, wanted),
            }[case.get("loss", "cross_entropy")]()
    loss.backward()
    gradients = []
    for name, p in model.named_parameters():
        g = p.grad.flatten()
        top = sorted(torch.topk(g.abs(), min(5, g.numel())).indices.tolist())
        gradients.append({"name": name, "shape": list(p.shape), "norm": g.norm().item(),
                          "sum": g.sum().item(), "sample": [[i, g[i].item()] for i in top]})
    result = {k: case[k] for k in ("name", "layers", "file", "loss", "tokens") if k in case}
    if "loss" in result:
        result["minimise"] = result["loss"]
    if "layers" in result:
        result["layers"] = " ".join(result["layers"].split())
    result |= {"channels": shape[0], "height": shape[1], "width": shape[2], "batch": batch,
               "seed": seed, "parameters": sum(p.numel() for p in model.parameters()),
               "loss": loss.item(), "logits": z.tolist(), "gradients": gradients}
    return result


if __name__ == "__main__":
    torch.manual_seed(0)
    for i, case in enumerate(cases()):
        print("[" if i == 0 else ",")
        json.dump(compute(case, i + 1), sys.stdout)
    print("\n]")
