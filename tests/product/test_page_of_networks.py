"""The complete example of sdk/NETWORKS.md, word for word: where NumPy is installed its data are made
as the page says, and where PyTorch is, it finds the accuracy that osafl evaluate prints."""
import contextlib
import io
import os
import random
import re
import struct
import sys
import types
import zipfile

import osafl_run
from osafl_run import SOURCE_TREE, ProductTest, Run, read_safetensors

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None


def blocks():
    """The indented blocks under the page's heading: data, experiment, commands, PyTorch."""
    with open(os.path.join(SOURCE_TREE, "sdk", "NETWORKS.md")) as file:
        text = file.read().split("## A complete example\n")[1]
    return [re.sub(r"(?m)^    ", "", block).strip() + "\n"
            for block in re.findall(r"(?m)(?:^    .*\n(?:\n(?=    ))?)+", text)]


def npy(kind, code, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack("<%d%s" % (len(values), code), *values)


def write_arrays():
    """What the page's program makes, by other random numbers."""
    draw = random.Random(1)
    y = [draw.randrange(3) for _ in range(900)]
    x = [[draw.gauss(0.5 if cell % 12 // 4 == label else 0.0, 1) for cell in range(144)]
         for label in y]
    with zipfile.ZipFile("mine.npz", "w") as file:
        for part, begin, end in (("", 0, 600), ("test_", 600, 900)):
            file.writestr(part + "x.npy", npy("<f4", "f", (end - begin, 1, 12, 12),
                                              [v for row in x[begin:end] for v in row]))
            file.writestr(part + "y.npy", npy("<i8", "q", (end - begin,), y[begin:end]))
        file.writestr("client.npy", npy("<i8", "q", (600,), [i % 10 for i in range(600)]))


class PageOfNetworks(ProductTest):
    def run_python(self, text):
        """What a program prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(text, {})
        return printed.getvalue()

    def test_the_example(self):
        data, experiment, commands, in_torch = blocks()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.work)
        if numpy is not None:
            self.run_python(data)
        else:
            write_arrays()
        self.path("mine.cfg", experiment)
        for line in commands.splitlines():
            program, *words = line.split()
            self.assertEqual(program, "osafl")
            text = self.osafl(*words)
        accuracy = Run("trained").rounds("test_accuracy")
        self.assertGreater(accuracy[-1], 0.9)
        self.assertIn("accuracy %r, " % accuracy[-1], text)
        if torch is None or numpy is None:
            return
        module = types.ModuleType("safetensors.torch")  # which Debian has not
        module.load_file = lambda path: {
            name: torch.tensor(values).reshape(size)
            for name, (size, values) in read_safetensors.read(path)[1].items()}
        sys.modules["safetensors"] = types.ModuleType("safetensors")
        sys.modules["safetensors.torch"] = module
        self.assertAlmostEqual(float(self.run_python(in_torch)), accuracy[-1], delta=0.004)


osafl_run.main()
