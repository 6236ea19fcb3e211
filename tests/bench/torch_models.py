"""The three networks of the model plugins, in PyTorch, and the time of a training step or a round.

usage: torch_models.py MODEL [--repeats R] [--batch N] [--threads T]
       torch_models.py MODEL --clients C [--processes P] [--batch N] [--threads T]

Prints one line of JSON: milliseconds of CPU time of the calling thread for each step (forward,
backward, plain SGD) and for each evaluation batch; or, with --clients, the seconds on the wall
that a round takes in which each client makes 40 steps and has 400 samples evaluated, as in "osafl
bench": clients are shared out among P processes of T threads.  Needs python3-torch (Debian: 1.13).
"""
import argparse
import json
import multiprocessing
import os
import time

import torch
from torch import nn
from torch.nn import functional


class Fire(nn.Module):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeeze, 1)
        self.expand1x1 = nn.Conv2d(squeeze, expand, 1)
        self.expand3x3 = nn.Conv2d(squeeze, expand, 3, padding=1)

    def forward(self, x):
        x = functional.relu(self.squeeze(x), inplace=True)
        return torch.cat([functional.relu(self.expand1x1(x), inplace=True),
                          functional.relu(self.expand3x3(x), inplace=True)], 1)


def squeezenet(channels, classes):
    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)
    return nn.Sequential(
        nn.Conv2d(channels, 64, 3, stride=2), nn.ReLU(inplace=True), pool(),
        Fire(64, 16, 64), Fire(128, 16, 64), pool(),
        Fire(128, 32, 128), Fire(256, 32, 128), pool(),
        Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256),
        nn.Dropout(0.5), nn.Conv2d(512, classes, 1), nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1), nn.Flatten())


def cnn(channels, classes, size=32):
    return nn.Sequential(
        nn.Conv2d(channels, 256, 3, padding=1), nn.MaxPool2d(2),
        nn.Conv2d(256, 64, 3, padding=1), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * (size // 4) ** 2, 256), nn.ReLU(inplace=True), nn.Linear(256, classes))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, groups=2):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(groups, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(groups, outputs)
        self.shortcut = nn.Sequential()
        if stride != 1:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                          nn.GroupNorm(groups, outputs))

    def forward(self, x):
        y = functional.relu(self.norm1(self.conv1(x)), inplace=True)
        return functional.relu(self.norm2(self.conv2(y)) + self.shortcut(x), inplace=True)


def resnet18(channels, classes):
    layers = [nn.Conv2d(channels, 64, 7, 2, 3, bias=False), nn.GroupNorm(2, 64),
              nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs in (64, 128, 256, 512):
        layers += [Block(inputs, outputs, 1 if outputs == 64 else 2), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


MODELS = {"cnn": cnn, "squeezenet": squeezenet, "resnet18": resnet18}


STEPS_OF_CLIENT, EVALUATED_OF_CLIENT, EVALUATION_CHUNK = 40, 400, 200


def train_and_evaluate(options, clients, ready, cpu_s):
    """What one process does in a round; ready: all processes have what they need.  cpu_s: what
    training and evaluation took in CPU time is added to its two numbers."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    net = MODELS[options.model](3, 10)
    sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    x = torch.randn(options.batch, 3, 32, 32)
    y = torch.randint(0, 10, (options.batch,))
    many = torch.randn(EVALUATION_CHUNK, 3, 32, 32)

    def step():
        sgd.zero_grad(set_to_none=True)
        loss_of(net(x), y).backward()
        sgd.step()

    def evaluate(chunks):
        net.eval()
        with torch.no_grad():
            for _ in range(chunks):
                net(many)
        net.train()

    step()
    evaluate(1)
    ready.wait()
    start = time.process_time()
    for _ in range(clients * STEPS_OF_CLIENT):
        step()
    trained = time.process_time()
    evaluate(clients * EVALUATED_OF_CLIENT // EVALUATION_CHUNK)
    with cpu_s.get_lock():
        cpu_s[0] += trained - start
        cpu_s[1] += time.process_time() - trained


def time_round(options):
    """Seconds from the moment when all processes are ready until the last one is done."""
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(options.processes + 1)
    cpu_s = context.Array("d", 2)
    workers = []
    for i in range(options.processes):
        share = len(range(i, options.clients, options.processes))
        workers.append(context.Process(target=train_and_evaluate, args=(options, share, ready, cpu_s)))
        workers[-1].start()
    ready.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - start
    assert all(worker.exitcode == 0 for worker in workers)
    print(json.dumps({"model": options.model, "threads": options.threads,
                      "processes": options.processes, "clients": options.clients,
                      "round_s": seconds, "round_cpu_s": sum(cpu_s), "evaluate_cpu_s": cpu_s[1]}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.clients > 0:
        time_round(options)
        return
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    net = MODELS[options.model](3, 10)
    sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
    loss_of = nn.CrossEntropyLoss()
    x = torch.randn(options.batch, 3, 32, 32)
    y = torch.randint(0, 10, (options.batch,))
    steps, evaluations = [], []
    for _ in range(options.repeats + 2):
        start = clock()
        sgd.zero_grad(set_to_none=True)
        loss_of(net(x), y).backward()
        sgd.step()
        steps.append(1e3 * (clock() - start))
    net.eval()
    many = torch.randn(16 * options.batch, 3, 32, 32)
    with torch.no_grad():
        for _ in range(options.repeats // 4 + 2):
            start = clock()
            net(many)
            evaluations.append(1e3 * (clock() - start) / 16)
    print(json.dumps({"model": options.model, "threads": options.threads,
                      "batch": options.batch, "torch": torch.__version__,
                      "core": os.environ.get("OPENBLAS_CORETYPE", ""),
                      "step_ms": steps[2:], "evaluate_ms": evaluations[2:]}))


if __name__ == "__main__":
    main()
