"""model/network through the whole program: the example networks learn, and PyTorch, where it is
installed, loads their weights by name and finds the reported accuracy."""
import json
import math
import os
import random
import struct
import sys

import osafl_run
from osafl_run import FROZEN, SOURCE_TREE, ProductTest

try:
    import torch
except ImportError:
    torch = None

CLASSES = 4


def npy(kind, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (
        kind, ", ".join(map(str, shape)))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"<i4": "i", "<f4": "f"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack("<%d%s" % (len(values), code), *values)


def pictures(draw, n, shape):
    """Samples whose class is the quarter that is bright."""
    x, y = [], []
    for i in range(n):
        y.append(i % CLASSES)
        for cell in range(math.prod(shape)):
            v, u = cell // shape[2] % shape[1], cell % shape[2]
            quarter = 2 * (2 * v >= shape[1]) + (2 * u >= shape[2])
            x.append(draw.gauss(1.5 if quarter == y[-1] else 0.0, 1.0))
    return x, y


def sequences(draw, n, shape):
    """Tokens below 80; the class is the parity of the one that comes most, and its half."""
    x, y = [], []
    for i in range(n):
        y.append(i % CLASSES)
        x += [float(20 * y[-1] + draw.randrange(20)) if draw.random() < 0.6
              else float(draw.randrange(80)) for _ in range(shape[2])]
    return x, y


class Networks(ProductTest):
    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return '"%s"' % self.path(name)

    def data(self, make, shape):
        draw = random.Random(5)
        settings = {"dataset.plugin": "npy"}
        for part, n in (("", 400), ("test_", 120)):
            x, y = make(draw, n, shape)
            key = "dataset.npy." + part
            settings[key + "x"] = self.write(part + "x.npy", npy("<f4", (n, *shape), x))
            settings[key + "y"] = self.write(part + "y.npy", npy("<i4", (n,), y))
            self.test = x, y
        return settings

    @staticmethod
    def layers(network):
        """The rows of an example, as a value of --set."""
        path = os.path.join(SOURCE_TREE, "experiments", "networks", network + ".cfg")
        with open(path) as file:
            text = file.read()
        return text[text.index("layers = ") + len("layers = "):text.rindex(");") + 1]

    def learns(self, network, make, shape, rate, **more):
        run = self.run_small(self.data(make, shape), {
            "model.plugin": "network", "model.network.layers": self.layers(network),
            "training.batch": 8, "training.minibatches": 8, "optimizer.sgd.learning_rate": rate,
            "aggregator.plugin": "fedavg", "quantizer.plugin": "none", "resource.plugin": "fixed",
            "partition.dirichlet.concentration": 10.0, "clients.count": 3, "evaluation.samples": 0, **more}, rounds=5)
        accuracy = run.rounds("test_accuracy")
        self.assertGreater(max(accuracy), 0.5, network)
        return run

    def test_check_prints_the_layers(self):
        text = self.check_small({"model.plugin": "network", "model.network.layers":
                                 self.layers("lenet5")})
        lines = [line.split() for line in text.splitlines()]
        for line in (["layer", "kind", "gives", "parameters", "operations"],
                     "3 convolution 16 x 10 x 10 2416 480000".split(),
                     "7 linear 120 x 1 x 1 48120 96000".split(),
                     ["parameters", "61706"]):
            self.assertIn(line, lines)

    def test_lenet5_learns_and_pytorch_agrees(self):
        run = self.learns("lenet5", pictures, (1, 28, 28), 0.05)
        metadata = osafl_run.read_safetensors.read(run.folder + "/model.safetensors")[0]
        self.assertEqual((metadata["format"], metadata["model"]), ("pt", "network"))
        if torch is None:
            self.skipTest("no PyTorch here")
        nn = torch.nn
        net = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                            nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                            nn.Linear(84, CLASSES))
        self.compare(net, run, (1, 28, 28))

    def test_sequences_learn(self):
        shape = (1, 1, 16)
        self.compare_example("transformer", self.learns("transformer", sequences, shape, 0.05), shape)
        shape = (1, 1, 8)
        self.compare_example("shakespeare-lstm",
                             self.learns("shakespeare-lstm", sequences, shape, 1.0), shape)

    def test_mobilenetv2_learns(self):
        shape = (3, 16, 16)
        run = self.learns("mobilenetv2", pictures, shape, 0.01,
                          **{"training.minibatches": 4, "clients.count": 2, "rounds": 2})
        self.compare_example("mobilenetv2", run, shape)

    def start(self, tensors, status=0):
        """osafl check of a logistic model that starts with {name: (type, shape, bytes)}."""
        header, body = {}, b""
        for name, (kind, shape, data) in tensors.items():
            header[name] = {"dtype": kind, "shape": shape,
                            "data_offsets": [len(body), len(body) + len(data)]}
            body += data
        head = json.dumps(header).encode()
        path = self.write("start.safetensors", struct.pack("<Q", len(head)) + head + body)
        return self.check_small({"model.start": path}, status=status)

    def test_weights_that_do_not_fit_are_listed(self):
        weight, bias = ("F32", [10, 784], bytes(31360)), ("BF16", [10], bytes(20))
        self.start({"linear.weight": weight, "linear.bias": bias})
        text = self.start({"linear.weight": ("F32", [784, 10], bytes(31360)), "other": bias}, 2)
        for part in ('model.start: ', '"linear.weight" has the shape [784, 10], not [10, 784]',
                     '"linear.bias" [10] is missing', 'the model has no tensor "other"'):
            self.assertIn(part, text)
        text = self.start({"linear.weight": weight, "linear.bias": ("I64", [10], bytes(80))}, 2)
        self.assertIn('"linear.bias" is of type I64; F32, F64, F16 and BF16 are read', text)
        text = self.start({"linear.weight": weight, "linear.bias": ("F16", [10], b"\0\x7e" * 10)}, 2)
        self.assertIn('"linear.bias" holds a number that is not a finite float', text)
        text = self.start({"linear.weight": weight, "linear.bias": ("F32", [10], bytes(36))}, 2)
        self.assertIn("lies outside the file, or its length is wrong", text)
        self.refuse_extents(weight[2], bytes(40))
        path = self.write("short.safetensors", b"\xff" * 9)
        self.assertIn("is not a safetensors file",
                      self.check_small({"model.start": path}, status=2))
        self.assertIn("--set: model.start: cannot read /nowhere: No such file or directory; it is "
                      "gone or its name is wrong",
                      self.check_small({"model.start": '"/nowhere"'}, status=2))

    def refuse_extents(self, weight, bias):
        """Tensors fill the file: no overlap, no gap, nothing behind them."""
        for begin, body, message in (
                (31360, weight + bias + bytes(24), "24 bytes at its end belong to no tensor"),
                (31320, weight, '"linear.weight" and "linear.bias" overlap'),
                (0, weight, '"linear.bias" and "linear.weight" overlap'),
                (31364, weight + bytes(4) + bias, '4 bytes before "linear.bias" belong to no tensor')):
            head = json.dumps({
                "linear.weight": {"dtype": "F32", "shape": [10, 784], "data_offsets": [0, 31360]},
                "linear.bias": {"dtype": "F32", "shape": [10],
                                "data_offsets": [begin, begin + 40]}}).encode()
            path = self.write("start.safetensors", struct.pack("<Q", len(head)) + head + body)
            self.assertIn(message, self.check_small({"model.start": path}, status=2))

    def test_a_run_starts_with_given_weights(self):
        """With a rate that changes nothing, what comes out is what went in, in every type."""
        n = 7850
        values = [((i * 37) % 2048 - 1024) / 1024 for i in range(n)]
        for kind, pack in (("F32", "<%df"), ("F64", "<%dd"), ("F16", "<%de")):
            data = struct.pack(pack % n, *values)
            cut = len(data) // n * 7840
            self.start({"linear.bias": (kind, [10], data[cut:]),
                        "linear.weight": (kind, [10, 784], data[:cut])})
            run = self.run_small(FROZEN, {"model.start": '"%s"' % self.path("start.safetensors"),
                                          "quantizer.plugin": "none",
                                          "aggregator.plugin": "fedavg"}, rounds=1)
            self.assert_close(run.parameters(), values, 1e-20, kind)

    def compare_example(self, name, run, shape):
        """The same with an example's module in tests/golden/make_networks.py, made for the shape
        and the classes."""
        if torch is None:
            return
        sys.path.append(os.path.join(SOURCE_TREE, "tests", "golden"))
        import make_networks
        (net,) = [case["model"] for case in make_networks.cases() if case.get("file") == name]
        last = "classifier.1" if name == "mobilenetv2" else "fc"
        path, _, leaf = last.rpartition(".")
        setattr(net.get_submodule(path), leaf,
                torch.nn.Linear(net.get_submodule(last).in_features, CLASSES))
        if name == "transformer":
            net.positions = make_networks.Position(shape[2], 64)
        self.compare(net.float(), run, shape)

    def compare(self, net, run, shape):
        """The network with the run's weights, loaded by name, has the run's last accuracy."""
        net.load_state_dict({name: torch.tensor(values).reshape(size)
                             for name, (size, values) in run.tensors().items()}, strict=True)
        x, y = self.test
        with torch.no_grad():
            found = net(torch.tensor(x).reshape(-1, *shape)).argmax(1)
        accuracy = (found == torch.tensor(y)).double().mean().item()
        self.assertAlmostEqual(accuracy, run.rounds("test_accuracy")[-1], delta=0.01)


osafl_run.main()
