"""--measure theory: the run stays as it is, and the parts of the bound are those that Python reckons."""
import math
import os
import random

import osafl_run
from osafl_run import (FROZEN, SMALL, SOURCE_TREE, Logistic, ProductTest, arguments, csv_table,
                       natural)

CLIENTS, STORAGE, FEATURES = 3, 12, 4
EXAMPLE = os.path.join(SOURCE_TREE, "experiments", "theory.cfg")
# Every client takes one step on all of its store, and FedAvg averages them: delta = 1.
FULL_GRADIENT = {"aggregator.plugin": "fedavg", "resource.plugin": "fixed",
                 "training.max_local_rounds": 1, "training.minibatches": 1,
                 "training.batch": STORAGE, "quantizer.plugin": "none"}


class Theory(ProductTest):
    def world(self):
        """Settings of a small world, and its samples by client."""
        draw = random.Random(11)
        rows = [([draw.gauss((i + u) % 3 == f, 1.0) for f in range(FEATURES)], (i + u) % 3, u)
                for u in range(CLIENTS) for i in range(STORAGE)]
        table = self.path("table.csv", csv_table(rows))
        settings = {**natural('"%s"' % table, CLIENTS, STORAGE),
                    "dataset.csv.test_path": '"%s"' % table}
        return settings, [[(x, y) for x, y, client in rows if client == u] for u in range(CLIENTS)]

    def measured(self, *settings, rounds=4, threads=1, measure="theory", folder=None):
        """A run, and its theory.csv as numbers."""
        merged = {"rounds": rounds}
        for each in settings:
            merged.update(each)
        self.runs += 1
        folder = folder or self.path("measured-%d" % self.runs)
        self.osafl("run", SMALL, "--quiet", "--threads", str(threads), "--out", folder,
                   "--measure", measure, *arguments(merged))
        run = osafl_run.Run(folder)
        return run, [{key: osafl_run.number(value) for key, value in row.items()}
                     for row in run.rows("theory.csv")]

    def test_the_run_stays_as_it_is(self):
        for settings in ({"training.minibatches": 1, "uplink.loss_probability": 0.3},
                         {"aggregator.plugin": "fedavg", "training.minibatches": 1,
                          "resource.plugin": "fixed", "optimizer.sgd.weight_decay": 0.01}):
            plain = self.run_small(settings)
            run, rows = self.measured(settings, measure="theory=4")
            again, _ = self.measured(settings, measure="theory=4", threads=3)
            self.assertEqual(len(rows), 4)
            for name in ("rounds.csv", "clients.csv", "model.safetensors", "resolved.cfg"):
                self.assertEqual(plain.bytes(name), run.bytes(name), name)
            self.assertEqual(run.bytes("theory.csv"), again.bytes("theory.csv"))

    def gradients(self, model, samples, decay):
        """Of each sample: the gradient by (class, feature), as one list."""
        found = []
        for x, label in samples:
            p = model.shares(x)
            found.append([(p[c] - (c == label)) * value + decay * model.rows[c][i]
                          for c in range(3) for i, value in enumerate([*x, 1.0])])
        return found

    def largest_eigenvalue(self, samples):
        v = [1.0] * (FEATURES + 1)
        for _ in range(400):
            u = [0.0] * (FEATURES + 1)
            for x, _ in samples:
                row = [*x, 1.0]
                product = sum(a * b for a, b in zip(row, v)) / len(samples)
                u = [a + product * b for a, b in zip(u, row)]
            size = math.sqrt(sum(a * a for a in u))
            v = [a / size for a in u]
        return size

    def test_the_parts(self):
        settings, stores = self.world()
        decay, batch = 0.05, 5
        run, rows = self.measured(settings, FROZEN, FULL_GRADIENT,
                                  {"optimizer.sgd.weight_decay": decay, "training.batch": batch},
                                  measure="theory=2", rounds=2)
        model = Logistic(run.tensors())
        norm2 = sum(value * value for row in model.rows for value in row)
        values = [model.loss(store) + decay / 2 * norm2 for store in stores]
        each = [self.gradients(model, store, decay) for store in stores]
        mean = [[sum(g[i] for g in store) / STORAGE for i in range(len(store[0]))]
                for store in each]
        whole = [sum(g[i] for g in mean) / CLIENTS for i in range(len(mean[0]))]
        variance = max(sum(sum((a - b) ** 2 for a, b in zip(g, m)) for g in store) / STORAGE
                       for store, m in zip(each, mean))
        beta = max(self.largest_eigenvalue(store) for store in stores) / 2 + decay
        expected = {
            "value": sum(values) / CLIENTS,
            "lhs": sum(a * a for a in whole),
            "varpi2": max(sum((a - b) ** 2 for a, b in zip(m, whole)) for m in mean),
            "sigma2": variance / batch * (STORAGE - batch) / (STORAGE - 1),
            "beta": beta, "kappa": 1, "eta_ef": 1, "sum_score": 1, "q": 0, "v": 1, "t6": 1,
            "clients": CLIENTS, "slack": 4, "drift_data": 0,
        }
        for key, value in expected.items():
            self.assertAlmostEqual(rows[0][key], value, delta=1e-6 * max(1, abs(value)), msg=key)

    def test_full_gradients(self):
        settings, _ = self.world()
        _, rows = self.measured(settings, FULL_GRADIENT, {"optimizer.sgd.learning_rate": 0.01},
                                measure="theory=2", rounds=5)
        for row in rows:
            self.assertEqual((row["step_small"], row["rate_small"], row["scores_small"],
                              row["repaired_applies"]), (1, 1, 1, 1))
            self.assertLess(row["expected_se"], 1e-7)  # nothing is random
            self.assertTrue(1.8 <= row["descent"] / row["lhs"] <= 2.0, row)
            self.assertGreaterEqual(row["rhs"], row["lhs"])
            self.assertGreaterEqual(row["rhs_repaired"], row["t6_repaired"] * row["lhs"])
            self.assertAlmostEqual(row["eta_gl"], 1.0, delta=1e-4)

    def test_the_example(self):
        text = self.osafl("run", EXAMPLE, "--measure", "theory=32", "--results",
                          self.path("example"))
        self.assertEqual(text.count("the printed bound was broken in 0 of them"), 7)
        self.assertEqual(text.count("and was broken in 0; right side"), 7)
        self.assertEqual(text.count("held in 1 of 20 rounds"), 2)  # the first one, with OSAFL

    def test_what_is_refused(self):
        folder = self.path("run")
        for text, more in (
                ("other steps than those of plain SGD", ["--set", "optimizer.sgd.momentum=0.9"]),
                ("takes another step than the", ["--set", "aggregator.plugin=feddisco"]),
                ("updates may arrive in later rounds", ["--set", 'uplink.late="carry"']),
                ("there is theory", ["--measure", "practice"]),
                ("must be a whole number", ["--measure", "theory=0"]),
                ("must be a number above 0", ["--smoothness", "-1"])):
            self.assertIn(text, self.osafl("run", SMALL, "--quiet", "--out", folder, "--measure",
                                           "theory=2", "--force", "--set", "rounds=2", *more,
                                           status=2))
        plain = self.run_small()
        text = self.osafl("run", SMALL, "--quiet", "--out", plain.folder, "--set", "rounds=4",
                          "--measure", "theory", status=2)
        self.assertIn("without their measurements", text)


if __name__ == "__main__":
    osafl_run.main()
