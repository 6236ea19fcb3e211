"""Runs the osafl program on small experiments and reads what it wrote: the ground of the product
tests.  Python's standard library is all that they need.

A test program ends with main(); it is called as `test_NAME.py OSAFL SOURCE-TREE [unittest's own
arguments]`.
"""
import csv
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

OSAFL, SOURCE_TREE = (os.path.abspath(path) for path in (sys.argv[1], sys.argv[2]))
sys.path.insert(0, os.path.join(SOURCE_TREE, "tests", "support"))
import read_safetensors  # noqa: E402  (its folder is known only now)

SMALL = os.path.join(SOURCE_TREE, "tests", "cli", "small.cfg")
SKIPPED = 77

# A rate too small to change a parameter: what is trained on shows in the losses, and nothing else.
FROZEN = {"optimizer.%s.learning_rate" % name: 1e-30 for name in ("sgd", "proximal", "scaffold")}
# One client step is one batch, and everybody takes part with one local round.
SINGLE_STEPS = {"training.minibatches": 1, "training.max_local_rounds": 1,
                "resource.plugin": "fixed"}
# The server gets what the clients send.
LOSSLESS = {"quantizer.plugin": "none"}


def csv_table(rows):
    """The text of a table from rows ([x ...], label, client)."""
    lines = ["x%d" % i for i in range(len(rows[0][0]))] + ["client", "label"]
    lines = [",".join(lines)]
    for x, label, client in rows:
        lines.append(",".join([*map(repr, x), str(client), str(label)]))
    return "\n".join(lines) + "\n"


def natural(path, clients, storage):
    """Settings: every client holds exactly the `storage` samples that the table says are its own,
    as they stand there."""
    return {"dataset.plugin": "csv", "dataset.csv.path": path, "dataset.csv.client": "client",
            "dataset.csv.standardise": False, "partition.plugin": "natural",
            "clients.count": clients, "clients.storage": storage, "clients.arrivals": 0,
            "clients.activity": [1.0, 1.0], "deletion.plugin": "fifo"}


def plugins(kind):
    """Names of the built-in plugins of a kind."""
    folder = os.path.join(os.path.dirname(OSAFL), "plugins", kind)
    return sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".so"))


def setting(value):
    """A value as libconfig writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(setting(each) for each in value)
    return repr(value) if isinstance(value, float) else str(value)


def arguments(settings):
    return [part for key, value in settings.items() for part in ("--set", key + "=" + setting(value))]


class Logistic:
    """The model `logistic`, reckoned in Python's doubles."""

    def __init__(self, tensors):
        (classes, features), weights = tensors["linear.weight"]
        bias = tensors["linear.bias"][1]
        self.rows = [list(weights[c * features:(c + 1) * features]) + [bias[c]]
                     for c in range(classes)]

    def shares(self, x):
        """The softmax over the classes."""
        logits = [sum(a * b for a, b in zip(row, [*x, 1.0])) for row in self.rows]
        powers = [math.exp(logit - max(logits)) for logit in logits]
        return [power / sum(powers) for power in powers]

    def loss(self, samples):
        """Mean cross-entropy of [(x, label)]."""
        return sum(-math.log(self.shares(x)[label]) for x, label in samples) / len(samples)

    def accuracy(self, samples):
        hits = 0
        for x, label in samples:
            shares = self.shares(x)
            hits += shares.index(max(shares)) == label
        return hits / len(samples)


class Run:
    """The results folder of a run."""

    def __init__(self, folder):
        self.folder = folder

    def bytes(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def rows(self, name):
        """The whole lines of a table; read at one go, because a run may be writing it."""
        text = self.bytes(name).decode()
        return list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))

    def rounds(self, column):
        """A column of rounds.csv as numbers; None where nothing was measured."""
        return [number(row[column]) for row in self.rows("rounds.csv")]

    def clients(self, *columns):
        """Columns of clients.csv as texts: a tuple for every round and client."""
        return [tuple(row[column] for column in columns) for row in self.rows("clients.csv")]

    def tensors(self):
        return read_safetensors.read(os.path.join(self.folder, "model.safetensors"))[1]

    def parameters(self):
        """All parameters of the final model, one after the other."""
        return [value for _, values in self.tensors().values() for value in values]


def number(text):
    return float(text) if text != "" else None


class ProductTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="osafl-product-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.runs = 0
        self.addTypeEqualityFunc(dict, self.assert_same_entries)

    def assert_same_entries(self, a, b, msg=None):
        """Names the keys that differ: the difference of models that unittest prints takes minutes."""
        if a != b:
            keys = sorted(key for key in {*a, *b} if a.get(key) != b.get(key))
            self.fail(self._formatMessage(msg, "different: " + ", ".join(map(str, keys))))

    def path(self, name, text=None):
        """A path in the test's folder; with a text, that of a new file."""
        path = os.path.join(self.work, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def osafl(self, *arguments, status=0):
        """Output and errors of the program, whose exit status is checked."""
        done = subprocess.run([OSAFL, *arguments], cwd=self.work, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, status, " ".join(arguments) + "\n" + done.stdout)
        return done.stdout

    def run_small(self, *settings, folder=None, threads=1, rounds=4):
        """Runs tests/cli/small.cfg with the settings of several dictionaries over it."""
        merged = {"rounds": rounds}
        for each in settings:
            merged.update(each)
        self.runs += 1
        folder = folder or self.path("run-%d" % self.runs)
        self.osafl("run", SMALL, "--quiet", "--threads", str(threads), "--out", folder,
                   *arguments(merged))
        return Run(folder)

    def stopped_small(self, folder, *settings, rounds):
        """Starts a run and asks it to stop after some of its rounds."""
        merged = {"rounds": rounds}
        for each in settings:
            merged.update(each)
        command = [OSAFL, "run", SMALL, "--threads", "1", "--out", folder, *arguments(merged)]
        with open(self.path("log"), "w") as log:
            process = subprocess.Popen(command, cwd=self.work, stdout=log, stderr=log)
            table = os.path.join(folder, "rounds.csv")
            while process.poll() is None:
                if os.path.exists(table) and len(Run(folder).rows("rounds.csv")) >= 4:
                    process.send_signal(signal.SIGTERM)
                    break
                time.sleep(0.002)
        self.assertEqual(process.wait(), 3, "it ended before it was stopped")
        self.assertLess(len(Run(folder).rows("rounds.csv")), rounds)
        return Run(folder)

    def check_small(self, *settings, status=0):
        merged = {}
        for each in settings:
            merged.update(each)
        return self.osafl("check", SMALL, *arguments(merged), status=status)

    def assert_close(self, a, b, tolerance, message=""):
        """Lists of numbers that differ by at most the tolerance everywhere."""
        self.assertEqual(len(a), len(b), message)
        worst = max((abs(x - y) for x, y in zip(a, b)), default=0.0)
        self.assertLessEqual(worst, tolerance, message)


def main():
    """Runs the tests of the calling program; skips of whole programs end with status 77."""
    program = unittest.main(argv=[sys.argv[0]] + sys.argv[3:], exit=False, verbosity=2)
    result = program.result
    if result.wasSuccessful() and result.testsRun > 0 and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())
