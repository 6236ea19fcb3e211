"""evaluation.mixes and results.ages: how good a model is for the labels that come now and came
before, and how old samples and updates are."""
import osafl_run
from osafl_run import LOSSLESS, ProductTest, csv_table, natural

MIXES = ("mix_present", "mix_worst", "mix_forgetting")
ON = {"evaluation.mixes": True, "evaluation.per_class": True, "results.ages": True}
# Tasks of two labels, three in turn, of two rounds each; stores hold what came in a round or two.
TASKS = {"partition.plugin": "tasks", "drift.plugin": "recurrent", "drift.recurrent.period": 2,
         "drift.recurrent.mixes": 3, "clients.storage": 20, "clients.arrivals": 12,
         "deletion.plugin": "fifo", "aggregator.plugin": "fedavg", **LOSSLESS,
         "optimizer.sgd.learning_rate": 0.2}


def follow(values):
    """From values[t][s], of the model of round t on the mix of round s: present, worst, forgotten."""
    for t, row in enumerate(values):
        best = [max(values[k][s] for k in range(s, t + 1)) for s in range(t + 1)]
        lost = sum(best[s] - row[s] for s in range(t + 1))
        yield row[t], min(row[:t + 1]), lost / t if t > 0 else None


class StreamMeasures(ProductTest):
    def check(self, run, values):
        for row, wanted in zip(run.rows("rounds.csv"), follow(values), strict=True):
            for name, value in zip(MIXES, wanted):
                if value is None:
                    self.assertEqual(row[name], "")
                else:
                    self.assertAlmostEqual(float(row[name]), value, 9, (name, row["round"]))

    def test_tasks(self):
        """A mix is two labels in equal parts: values are means of their accuracies."""
        rounds = 12
        run = self.run_small(TASKS, ON, rounds=rounds)
        label = [run.rounds("test_accuracy_label_%d" % l) for l in range(6)]
        task = [t // 2 % 3 for t in range(rounds)]
        values = [[(label[2 * k][t] + label[2 * k + 1][t]) / 2 for k in task] for t in range(rounds)]
        self.check(run, values)
        self.assertGreater(run.rounds("mix_forgetting")[-1], 0.05)

    def test_by_hand(self):
        """Of follow(): a model that has 0.8 on the first of two tasks, then learns the second."""
        values = [[0.8, 0.1, 0.8], [0.5, 0.7, 0.5], [0.6, 0.4, 0.6]]
        wanted = [(0.8, 0.8, None), (0.7, 0.5, 0.3), (0.6, 0.4, (0.2 + 0.3 + 0.0) / 2)]
        for got, want in zip(follow(values), wanted, strict=True):
            self.assertEqual(got[:2], want[:2])
            if want[2] is not None:
                self.assertAlmostEqual(got[2], want[2], 12)

    def test_owners(self):
        """What the stores hold: 30 samples of label 0 and 10 of label 1."""
        rows = [([i % 7, i % 5], int(u == 2 or i % 30 >= 25), u)
                for u, n in enumerate((30, 5, 5)) for i in range(n)]
        held = [sum(label == l for _, label, _ in rows) for l in range(2)]
        table = '"%s"' % self.path("table.csv", csv_table(rows))
        run = self.run_small({**natural(table, 3, 30), "dataset.csv.test_path": table,
                              "clients.deal_once": True}, ON, rounds=3)
        label = [run.rounds("test_accuracy_label_%d" % l) for l in range(2)]
        values = [[sum(held[l] * label[l][t] for l in range(2)) / sum(held)] * 3 for t in range(3)]
        self.check(run, values)

    def test_nothing_else_changes(self):
        """Nor do an interruption and evaluations that are rarer."""
        for settings in (TASKS, {**TASKS, "evaluation.every": 3},
                         {**TASKS, "training.enabled": False}):
            plain = self.run_small(settings, rounds=40)
            run = self.run_small(settings, ON, rounds=40, threads=3)
            for a, b in zip(plain.rows("rounds.csv"), run.rows("rounds.csv")):
                self.assertEqual(a, {key: b[key] for key in a})
                self.assertEqual(b["mix_present"] == "", b["test_accuracy"] == "")
        settings = (TASKS, ON, {"checkpoint_every": 3})
        whole = self.run_small(*settings, rounds=40)
        folder = self.path("stopped")
        self.stopped_small(folder, *settings, rounds=40)
        again = self.run_small(*settings, rounds=40, folder=folder)
        self.assertEqual(whole.bytes("rounds.csv"), again.bytes("rounds.csv"))

    def test_ages_of_samples(self):
        """Stores of 10 into which 2 come, the oldest leave.  After round 2, 4 of the first samples
        are left, 3 rounds old, and 2 each of 2, 1 and 0: 18 rounds in all."""
        run = self.run_small({"clients.activity": [1.0, 1.0], "clients.storage": 10,
                              "clients.arrivals": 2, "deletion.plugin": "fifo"}, ON, rounds=6)
        self.assertEqual(run.rounds("mean_age_stored"), [0.8, 1.4, 1.8, 2.0, 2.0, 2.0])
        self.assertEqual(run.rounds("mean_age_updates"), [0.0] * 6)
        empty = self.run_small({"arrival.plugin": "steady", "arrival.steady.fill": 0.0,
                                "clients.arrivals": 0}, ON, rounds=2)
        self.assertEqual(empty.rounds("mean_age_stored"), [None] * 2)
        self.assertEqual(empty.rounds("mean_age_updates"), [None] * 2)
        self.assertEqual(empty.rounds("mix_present"), [None] * 2)


if __name__ == "__main__":
    osafl_run.main()
