"""Recurrent networks on token arrays, and networks with real targets, beside what is known: the
entropies of a text made here, the mean as a predictor, and least squares."""
import json
import math
import random
import struct

import osafl_run
from osafl_run import ProductTest, Run, arguments

FEDAVG = {"model.plugin": "network", "aggregator.plugin": "fedavg", "quantizer.plugin": "none",
          "resource.plugin": "fixed", "clients.count": 3, "evaluation.samples": 0,
          "training.batch": 16, "training.minibatches": 20, "clients.storage": 400,
          "partition.plugin": "iid", "deletion.plugin": "fifo"}
SYMBOLS = 6


def npy(kind, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (
        kind, ", ".join(map(str, shape)))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"<i4": "i", "<i8": "q", "<f4": "f", "<f8": "d"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack("<%d%s" % (len(values), code), *values)


def text(draw, n):
    """Symbols of which each goes to the next one, mostly, or to the one before."""
    symbols = [0]
    while len(symbols) < n:
        u = draw.random()
        step = 1 if u < 0.7 else -1 if u < 0.9 else draw.randrange(SYMBOLS)
        symbols.append((symbols[-1] + step) % SYMBOLS)
    return symbols


def entropy(pairs):
    """Of the second of each pair given the first, in nats."""
    count, first = {}, {}
    for a, b in pairs:
        count[a, b] = count.get((a, b), 0) + 1
        first[a] = first.get(a, 0) + 1
    return -sum(n * math.log(n / first[a]) for (a, _), n in count.items()) / len(pairs)


def solve(a, b):
    """x of a x = b, by elimination."""
    rows = [[*row, v] for row, v in zip(a, b)]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i:
                f = rows[k][i] / rows[i][i]
                rows[k] = [u - f * v for u, v in zip(rows[k], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def least_squares(samples):
    """Weights, the intercept last, of [(x, y)]."""
    xs = [[*x, 1.0] for x, _ in samples]
    n = len(xs[0])
    return solve([[sum(x[i] * x[j] for x in xs) for j in range(n)] for i in range(n)],
                 [sum(x[i] * y for x, (_, y) in zip(xs, samples)) for i in range(n)])


def squared_error(weights, samples):
    return sum((sum(a * b for a, b in zip(weights, [*x, 1.0])) - y) ** 2 for x, y in samples) / \
        len(samples)


class SequencesAndTargets(ProductTest):
    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def tokens(self, kind, steps, n):
        draw = random.Random(8)
        settings, test = {"dataset.plugin": "npy"}, None
        for part, count in (("", n), ("test_", n // 3)):
            symbols = text(draw, count + steps)
            test = symbols[steps - 1:]
            x = [v for i in range(count) for v in symbols[i:i + steps]]
            settings["dataset.npy." + part + "x"] = self.write(part + "x.npy",
                                                               npy(kind, (count, 1, steps), x))
            settings["dataset.npy." + part + "y"] = self.write(part + "y.npy",
                                                               npy(kind, (count,), symbols[steps:]))
        return settings, test

    def learn_text(self, kind, layer, **more):
        settings, test = self.tokens(kind, 7, 1200)
        settings.update(more)
        pairs = list(zip(test, test[1:]))
        unigram, bigram = entropy([(0, b) for _, b in pairs]), entropy(pairs)
        run = self.run_small(FEDAVG, settings, {
            "model.network.layers": "( { embedding = %d; size = 6; }, { %s = 16; last = true; }, "
                                    '{ linear = "classes"; } )' % (SYMBOLS, layer),
            "optimizer.sgd.learning_rate": 0.5}, rounds=15)
        loss = run.rounds("test_loss")[-1]
        self.assertLess(loss, bigram + 0.25 * (unigram - bigram), (unigram, bigram))
        self.assertGreater(loss, bigram - 0.05)
        return run

    def test_a_recurrent_network_learns_a_text(self):
        self.learn_text("<i4", "gru")
        self.learn_text("<i8", "lstm")

    def test_tokens_may_stay_integers(self):
        floats = self.learn_text("<i4", "gru")
        tokens = self.learn_text("<i4", "gru", **{"dataset.npy.tokens": "true"})
        self.assertEqual(floats.bytes("rounds.csv"), tokens.bytes("rounds.csv"))
        self.assertEqual(json.loads(tokens.bytes("data.json"))["values"], "int32")

    def test_nothing_is_calculated_with_tokens(self):
        settings, _ = self.tokens("<i4", 7, 60)
        settings["dataset.npy.tokens"] = "true"
        text = self.osafl("run", osafl_run.SMALL, "--quiet", *arguments({
            **FEDAVG, **settings, "model.plugin": "logistic"}), status=2)
        self.assertIn("the samples are tokens, and numbers that name something are not calculated "
                      "with: begin the network with an embedding", text)

    def test_what_is_no_token_is_refused(self):
        settings, _ = self.tokens("<i4", 7, 60)
        text = self.osafl("run", osafl_run.SMALL, "--quiet", *arguments({
            **FEDAVG, **settings, "model.network.layers":
            '( { embedding = 5; size = 6; }, { gru = 4; last = true; }, { linear = "classes"; } )'}),
            status=2)
        self.assertIn("a sample holds 5, which is no token of an embedding of 5: tokens are whole "
                      "numbers from 0 to 4", text)

    def table(self, n):
        draw = random.Random(2)
        samples = []
        for _ in range(n):
            x = [draw.gauss(0, 1) for _ in range(3)]
            samples.append((x, 2 * x[0] - x[1] + 0.5 + draw.gauss(0, 0.3)))
        lines = ["a,b,c,price"] + [",".join(map(repr, [*x, y])) for x, y in samples]
        return {"dataset.plugin": "csv", "dataset.csv.target": '"real"',
                "dataset.csv.path": self.path("own.csv", "\n".join(lines) + "\n")}, samples

    def test_a_linear_network_finds_least_squares(self):
        settings, samples = self.table(400)
        run = self.run_small(FEDAVG, settings, {
            "model.network.layers": '( { linear = "classes"; } )',
            "model.network.loss": '"squared_error"', "optimizer.sgd.learning_rate": 0.02},
            rounds=10)
        data = json.loads(run.bytes("data.json"))
        self.assertEqual(data["targets"], 1)
        held = set(data["test_samples"])
        train = [s for i, s in enumerate(samples) if i not in held]
        test = [samples[i] for i in data["test_samples"]]
        mean = [0.0] * 3 + [sum(y for _, y in train) / len(train)]
        loss = run.rounds("test_loss")
        self.assertNotIn("test_accuracy", run.rows("rounds.csv")[0])
        self.assertLess(loss[-1], 1.2 * squared_error(least_squares(train), test))
        self.assertLess(loss[-1], 0.1 * squared_error(mean, test))
        self.assertLess(loss[-1], loss[0])
        text = self.osafl("evaluate", run.folder, run.folder + "/resolved.cfg")
        self.assertIn("loss %s" % run.rows("rounds.csv")[-1]["test_loss"], text)
        self.assertIn("loss", self.osafl("report", run.folder))

    def test_a_hidden_layer_beats_least_squares(self):
        draw = random.Random(4)
        samples = []
        for _ in range(500):
            x = [draw.uniform(-2, 2) for _ in range(2)]
            samples.append((x, [x[0] * x[1], math.sin(2 * x[0])]))
        train, test = samples[:400], samples[400:]
        settings = {"dataset.plugin": "npy", "dataset.npy.target": '"real"'}
        for part, some in (("", train), ("test_", test)):
            settings["dataset.npy." + part + "x"] = self.write(
                part + "x.npy", npy("<f4", (len(some), 2), [v for x, _ in some for v in x]))
            settings["dataset.npy." + part + "y"] = self.write(
                part + "y.npy", npy("<f8", (len(some), 2), [v for _, y in some for v in y]))
        run = self.run_small(FEDAVG, settings, {
            "model.network.layers": '( { linear = 24; activation = "tanh"; }, { linear = "classes"; } )',
            "model.network.loss": '"squared_error"', "optimizer.sgd.learning_rate": 0.2}, rounds=25)
        linear = [squared_error(least_squares([(x, y[k]) for x, y in train]),
                                [(x, y[k]) for x, y in test]) for k in range(2)]
        self.assertLess(run.rounds("test_loss")[-1], 0.5 * sum(linear) / 2)

    def test_what_does_not_fit_is_refused(self):
        settings, _ = self.table(40)
        check = {**FEDAVG, **settings, "model.network.layers": '( { linear = "classes"; } )'}
        self.assertIn('set model.plugin = "network" with loss = "squared_error"',
                      self.check_small({**check, "model.plugin": "logistic"}, status=2))
        check["model.network.loss"] = '"squared_error"'
        self.assertIn("1 target\n", self.check_small(check))
        self.assertIn("real targets are not classes",
                      self.check_small({**check, "dataset.csv.classes": 3}, status=2))
        for change, words in (
                ({"aggregator.plugin": "feddisco"}, "there are no labels to weigh clients by"),
                ({"deletion.plugin": "balanced"}, "there are no labels to choose by"),
                ({"deletion.plugin": "topk"}, "there are no labels to choose by"),
                ({"partition.plugin": "dirichlet"}, "there are no labels to deal by"),
                ({"partition.plugin": "shards"}, "there are no labels to deal by"),
                ({"partition.plugin": "tasks"}, "there are no labels to deal by"),
                ({"filter.plugin": "label_flip"}, "there are no labels to flip"),
                ({"evaluation.per_class": True}, "the samples of dataset/csv have no classes"),
                ({"results.confusion": True}, "there is no confusion matrix; leave it out")):
            self.assertIn(words, self.check_small({**check, **change}, status=2))
        self.path("own.csv", "a,price\n1.5,2.5\n1.0,cheap\n")
        self.assertIn('own.csv:3: a target must be a number, not "cheap" in column 2 ("price")',
                      self.check_small(check, status=2))
        self.path("own.csv", "a,price\n" + "".join("%d,%d.5\n" % (i, i) for i in range(50)))
        self.assertIn('To predict quantities, set dataset.csv.target = "real"',
                      self.check_small({**check, "dataset.csv.target": '"class"'}, status=2))
        x = self.write("x.npy", npy("<f4", (4, 1), [0.0] * 4))
        y = self.write("y.npy", npy("<f4", (3,), [0.0] * 3))
        arrays = {"dataset.plugin": "npy", "dataset.npy.target": '"real"', "dataset.npy.x": x,
                  "dataset.npy.y": y}
        self.assertIn("holds 3 rows of targets for 4",
                      self.check_small({**check, **arrays}, status=2))
        y = self.write("y.npy", npy("<f4", (4, 1, 1), [0.0] * 4))
        self.assertIn("targets must have the shape (n) or (n, targets)",
                      self.check_small({**check, **arrays}, status=2))


osafl_run.main()
