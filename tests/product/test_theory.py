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

    def test_the_error_of_the_quantizer(self):
        """Its mean over replicas is the variance of stochastic rounding to levels of the norm."""
        levels = 3
        settings, stores = self.world()
        coded = {"quantizer.plugin": "qsgd", "quantizer.qsgd.levels": levels,
                 "optimizer.sgd.learning_rate": 0.1}
        start, rows = self.measured(settings, FULL_GRADIENT, FROZEN, measure="theory=1", rounds=1)
        self.assertIsNone(rows[0]["q_measured"])  # updates of 0
        _, rows = self.measured(settings, FULL_GRADIENT, coded, measure="theory=3000", rounds=1)
        model = Logistic(start.tensors())
        shares = []
        for store in stores:
            each = self.gradients(model, store, 0.0)
            d = [sum(g[i] for g in each) / STORAGE for i in range(len(each[0]))]
            norm = math.sqrt(sum(x * x for x in d))
            part = [abs(x) / norm * levels % 1.0 for x in d]
            shares.append(sum(p * (1 - p) for p in part) / levels ** 2)
        found = rows[0]["q_measured"]
        self.assertAlmostEqual(found, max(shares), delta=0.02 * max(shares))
        self.assertLess(found, rows[0]["q"])
        self.assertEqual([row["q_measured"] for row in self.measured(
            settings, FULL_GRADIENT, {"optimizer.sgd.learning_rate": 0.1}, rounds=1)[1]], [0])

    def follow(self, rows):
        """f^t(w^{t+1}) before arrivals, from the next row."""
        return [rows[t + 1]["value"] - rows[t]["drift_data"] - rows[t + 1]["drift_scores"]
                for t in range(len(rows) - 1)]

    def test_the_sums(self):
        settings, stores = self.world()
        settings = {**settings, **FULL_GRADIENT, "optimizer.sgd.learning_rate": 0.01}
        run, _ = self.measured(settings, measure="theory=1", rounds=1)
        model = Logistic(run.tensors())
        _, rows = self.measured(settings, measure="theory=1", rounds=2)
        after = sum(model.loss(store) for store in stores) / CLIENTS
        self.assertAlmostEqual(self.follow(rows)[0], after, delta=1e-6)
        self.assertAlmostEqual(rows[0]["descent_sum"], 2 * (rows[0]["value"] - after) / 0.01,
                               delta=1e-3)
        # Scores, losses and arrivals: f^t changes under the run's feet.
        _, rows = self.measured({"training.minibatches": 1, "uplink.loss_probability": 0.3,
                                 "optimizer.sgd.learning_rate": 0.01,
                                 "training.batch": 16}, measure="theory=2", rounds=8)
        now = self.follow(rows)
        self.assertGreater(max(abs(row["drift_scores"]) for row in rows[1:]), 1e-3)
        lhs = descent = omega = drift = 0.0
        for t, row in enumerate(rows[:-1]):
            step = row["eta_gl"] * row["eta_lo"]
            lhs += row["lhs"]
            descent += 2 * (row["value"] - now[t]) / step
            omega += row["omega_sigma"] + row["omega_varpi"]
            for key, value in (("lhs_sum", lhs), ("descent_sum", descent), ("drift_sum", drift),
                               ("rhs_sum", descent + omega)):
                self.assertAlmostEqual(row[key], value, delta=1e-6 * max(1, abs(value)), msg=key)
            # The steps are alike, so that the sum telescopes.
            fall = 2 * (rows[0]["value"] - now[t]) / step
            self.assertAlmostEqual(row["descent_sum"] - row["drift_sum"], fall,
                                   delta=1e-3 * (1 + abs(fall) + abs(drift)))
            drift += 2 * (rows[t + 1]["value"] - now[t]) / step

    def test_scores_of_the_replicas(self):
        """Where nothing is random a replica is the round itself, scores, step and memory of the
        aggregator included; where updates are lost it is not."""
        settings, _ = self.world()
        certain = {**settings, **FULL_GRADIENT, "aggregator.plugin": "osafl"}
        _, rows = self.measured(certain, measure="theory=2", rounds=6)
        self.assertNotAlmostEqual(rows[4]["sum_score"], rows[0]["sum_score"], delta=1e-3)
        for row, now in zip(rows, self.follow(rows)):
            self.assertAlmostEqual(row["expected_rescored"], now, delta=1e-6)
            self.assertLess(row["expected_rescored_se"], 1e-7)
            self.assertAlmostEqual(row["descent_rescored"],
                                   2 * (row["value"] - row["expected_rescored"])
                                   / (row["eta_gl"] * row["eta_lo"]), delta=1e-9)
        lossy = {**settings, **FULL_GRADIENT, "uplink.loss_probability": 0.4}
        _, rows = self.measured(lossy, measure="theory=64", rounds=4)
        self.assertGreater(max(abs(row["expected_rescored"] - row["expected"])
                               for row in rows if row["value"] is not None), 1e-4)

    def test_a_model_of_unknown_smoothness(self):
        _, rows = self.measured({"model.plugin": "mlp", "model.mlp.hidden": [4],
                                 "training.minibatches": 1}, measure="theory=2", rounds=2)
        self.assertTrue(all(row["rhs_sum"] is None for row in rows))
        self.assertFalse(any(row["lhs_sum"] is None for row in rows))
        text = self.osafl("run", SMALL, "--out", self.path("mlp"), "--measure", "theory=2",
                          "--set", "model.plugin=mlp", "--set", "model.mlp.hidden=[4]", "--set",
                          "rounds=1", "--set", "training.minibatches=1")
        self.assertIn("the right side of the bound and its conditions are unknown", text)

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
        self.assertEqual(text.count(" summed over the rounds (theory.csv)"), 7)
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
