"""evaluation.prequential: samples are judged when they arrive, before anyone trains on them."""
import random

import osafl_run
from osafl_run import FROZEN, LOSSLESS, Logistic, ProductTest, csv_table, natural

CLIENTS, SAMPLES, LABELS, FEATURES, ROUNDS = 3, 70, 3, 4, 3
ON = {"evaluation.prequential": True}


class Prequential(ProductTest):
    def test_by_hand(self):
        """Round t judges by w^t what arrives in it.  Here all samples of a client do, more than one
        batch of them, in every round."""
        random.seed(8)
        rows = [([random.gauss(label == f, 1) for f in range(FEATURES)], label, u)
                for u in range(CLIENTS) for label in random.choices(range(LABELS), k=SAMPLES)]
        table = self.path("table.csv", csv_table(rows))
        world = {**natural(table, CLIENTS, SAMPLES), "clients.arrivals": SAMPLES,
                 "dataset.csv.test_path": table, **LOSSLESS, "aggregator.plugin": "fedavg",
                 "optimizer.sgd.learning_rate": 0.1}
        run = self.run_small(world, ON, rounds=ROUNDS)
        self.assertEqual(run.rounds("arrived_samples"), [CLIENTS * SAMPLES] * ROUNDS)
        arrived = [(x, label) for x, label, _ in rows]
        losses = []
        for t in range(ROUNDS):
            before = {"rounds": t} if t > 0 else {"rounds": 1}
            model = Logistic(self.run_small(world, {} if t > 0 else FROZEN, **before).tensors())
            losses.append(model.loss(arrived))
            self.assertAlmostEqual(run.rounds("prequential_loss")[t], losses[t], 5)
            self.assertAlmostEqual(run.rounds("prequential_accuracy")[t],
                                   model.accuracy(arrived), 9)
        self.assertGreater(losses[0], losses[1] + 0.01)

    def test_nothing_else_changes(self):
        """Nor do threads and an interruption, beside a policy that uses measures too."""
        for k, settings in enumerate(({}, {"deletion.plugin": "by_loss"},
                                      {"aggregator.plugin": "genie"})):
            plain = self.run_small(settings, rounds=40)
            run = self.run_small(settings, ON, rounds=40, threads=3)
            self.assertEqual(plain.bytes("clients.csv"), run.bytes("clients.csv"))
            for a, b in zip(plain.rows("rounds.csv"), run.rows("rounds.csv")):
                self.assertEqual(a, {key: b[key] for key in a})
                self.assertEqual(set(b) - set(a), {"arrived_samples", "prequential_accuracy",
                                                   "prequential_loss"})
            folder = self.path("stopped-%d" % k)
            self.stopped_small(folder, settings, ON, {"checkpoint_every": 3}, rounds=40)
            again = self.run_small(settings, ON, {"checkpoint_every": 3}, rounds=40, folder=folder)
            self.assertEqual(run.bytes("rounds.csv"), again.bytes("rounds.csv"))

    def test_without_arrivals(self):
        for settings, arrived in (({"clients.arrivals": 0}, 0),
                                  ({"training.enabled": False}, None)):
            run = self.run_small(settings, ON, rounds=2)
            for row in run.rows("rounds.csv"):
                self.assertEqual((row["prequential_accuracy"], row["prequential_loss"]), ("", ""))
                self.assertEqual(int(row["arrived_samples"]) > 0, arrived is None)


if __name__ == "__main__":
    osafl_run.main()
