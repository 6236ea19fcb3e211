"""What a run keeps beside its tables: the best model, confusion.json, the learning rate."""
import json
import os
import random

import osafl_run
from osafl_run import SMALL, Logistic, ProductTest, arguments, read_safetensors

ROUNDS = 13
STEADY = {"aggregator.osafl.final_step": 1.0}  # no step depends on the number of rounds


class KeptModels(ProductTest):
    def tensors(self, run, name="model.safetensors"):
        return read_safetensors.read(os.path.join(run.folder, name))[1]

    def best_round(self, run):
        values = run.rounds("test_accuracy")
        return values.index(max(values))

    def test_the_best_model(self):
        last = self.run_small(STEADY, rounds=ROUNDS)
        both = self.run_small(STEADY, {"results.keep": "both"}, rounds=ROUNDS)
        best = self.run_small(STEADY, {"results.keep": "best"}, rounds=ROUNDS, threads=2)
        round_ = self.best_round(last)
        self.assertLess(round_, ROUNDS - 1, "the best round is the last: the test shows nothing")
        until_best = self.run_small(STEADY, rounds=round_ + 1)
        self.assertEqual(self.tensors(last), self.tensors(both))
        self.assertEqual(self.tensors(until_best), self.tensors(both, "best.safetensors"))
        self.assertEqual(self.tensors(until_best), self.tensors(best))
        self.assertFalse(os.path.exists(best.folder + "/best.safetensors"))
        self.assertFalse(os.path.exists(last.folder + "/best.safetensors"))
        for run in (both, best):
            self.assertEqual(run.bytes("rounds.csv"), last.bytes("rounds.csv"))

    def test_the_best_model_after_an_interruption(self):
        settings = {"results.keep": "both"}
        whole = self.run_small(settings, rounds=80)
        pieces = self.stopped_small(self.path("pieces"), settings, rounds=80)
        self.osafl("run", SMALL, "--quiet", "--out", pieces.folder,
                   *arguments({"rounds": 80, **settings}))
        for name in ("best.safetensors", "model.safetensors", "rounds.csv"):
            self.assertEqual(whole.bytes(name), pieces.bytes(name), name)

    def test_learning_rate(self):
        settings = {"results.learning_rate": True, "optimizer.sgd.schedule": "linear",
                    "optimizer.sgd.final_factor": 0.5}
        run = self.run_small(settings, rounds=5)
        self.assert_close(run.rounds("learning_rate"), [0.02, 0.0175, 0.015, 0.0125, 0.01], 1e-15)
        plain = self.run_small({k: v for k, v in settings.items() if "results" not in k}, rounds=5)
        self.assertNotIn("learning_rate", plain.rows("rounds.csv")[0])
        for column in plain.rows("rounds.csv")[0]:
            self.assertEqual(plain.rounds(column), run.rounds(column), column)

    def table(self):
        """Three classes, one of them rare; settings, and the samples as Python reads them."""
        draw = random.Random(5)
        samples = []
        for i in range(240):
            label = 2 if i % 12 == 0 else i % 2
            samples.append(([draw.gauss(1.2 * (label == k), 1.0) for k in range(3)], label))
        lines = ["x,y,z,class"] + [",".join([*map(repr, x), "abc"[c]]) for x, c in samples]
        path = self.path("rare.csv", "\n".join(lines) + "\n")
        return {"dataset.plugin": "csv", "dataset.csv.path": path, "dataset.csv.test_path": path,
                "dataset.csv.standardise": False, "evaluation.samples": 0, "clients.count": 3,
                "clients.storage": 40, "clients.arrivals": 4, "results.confusion": True}, samples

    def test_confusion(self):
        settings, samples = self.table()
        run = self.run_small(settings, rounds=6)
        found = json.loads(run.bytes("confusion.json"))
        model = Logistic(self.tensors(run))
        count = [[0] * 3 for _ in range(3)]
        for x, label in samples:
            shares = model.shares(x)
            count[label][shares.index(max(shares))] += 1
        self.assertEqual([c["taken_for"] for c in found["classes"]], count)
        self.assertEqual([c["name"] for c in found["classes"]], ["a", "b", "c"])
        self.assertEqual([c["samples"] for c in found["classes"]], [100, 120, 20])
        self.assertEqual((found["split"], found["rounds"]), ("test", 6))
        recall = [count[c][c] / sum(count[c]) for c in range(3)]
        taken = [sum(row[c] for row in count) for c in range(3)]
        f1 = [2 * count[c][c] / (sum(count[c]) + taken[c]) for c in range(3)]
        self.assert_close([c["recall"] for c in found["classes"]], recall, 1e-15)
        self.assert_close([c["f1"] for c in found["classes"]], f1, 1e-15)
        self.assert_close([found["balanced_accuracy"], found["macro_f1"]],
                          [sum(recall) / 3, sum(f1) / 3], 1e-15)
        right = sum(count[c][c] for c in range(3)) / len(samples)
        self.assert_close([run.rounds("test_accuracy")[-1]], [right], 1e-15)
        text = self.osafl("evaluate", run.folder, SMALL, *arguments(settings))
        self.assertIn("balanced accuracy      %r" % found["balanced_accuracy"], text)
        self.assertIn("same: rounds 0 to 5, rounds.csv, clients.csv, data.json, confusion.json",
                      self.osafl("verify", "--quiet", run.folder))

    def test_help_and_refusal(self):
        text = self.osafl("help", "results")
        self.assertIn("confusion", text)
        self.assertIn("rounds.csv", text)
        text = self.osafl("check", SMALL, "--set", "results.keep=all", status=2)
        self.assertIn("results.keep", text)


if __name__ == "__main__":
    osafl_run.main()
