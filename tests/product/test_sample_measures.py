"""Deletion policies that go by what the model makes of each sample."""
import math
import random

import osafl_run
from osafl_run import FROZEN, LOSSLESS, Logistic, ProductTest, csv_table, natural

POLICIES = [({"deletion.plugin": "by_loss"}, "high loss"),
            ({"deletion.plugin": "by_loss", "deletion.by_loss.keep": "low"}, "low loss"),
            ({"deletion.plugin": "uncertainty"}, "entropy"),
            ({"deletion.plugin": "uncertainty", "deletion.uncertainty.certainty": "margin"},
             "margin")]
CLIENTS, STORAGE, ARRIVALS, LABELS, FEATURES = 2, 12, 5, 3, 4
CYCLES_PER_BIT, SAMPLE_BITS, CAPACITANCE = 30.0, 4e5, 2e-28


def kept(model, samples, policy):
    """Those that stay of all that a client has had."""
    def margin(sample):
        first, second = sorted(model.shares(sample[0]))[:-3:-1]
        return first - second

    order = {
        "high loss": lambda s: model.loss([s]),
        "low loss": lambda s: -model.loss([s]),
        "entropy": lambda s: -sum(p * math.log(p) for p in model.shares(s[0])),
        "margin": lambda s: -margin(s),
    }[policy]
    return sorted(samples, key=order)[-STORAGE:]


class SampleMeasures(ProductTest):
    def setUp(self):
        super().setUp()
        random.seed(5)
        rows = [([random.gauss(0, 1) for _ in range(FEATURES)], random.randrange(LABELS), u)
                for u in range(CLIENTS) for _ in range(STORAGE + ARRIVALS)]
        self.samples = [[(x, label) for x, label, owner in rows if owner == u]
                        for u in range(CLIENTS)]
        table = self.path("table.csv", csv_table(rows))
        # The model stays as it began; a local round is one step on the whole store, so that the
        # training loss is the mean loss of the store.
        self.world = {**natural(table, CLIENTS, STORAGE), "clients.arrivals": ARRIVALS,
                      "dataset.csv.test_path": table, **LOSSLESS, **FROZEN,
                      "training.minibatches": 0, "training.batch": 100,
                      "training.max_local_rounds": 1, "resource.plugin": "fixed",
                      "clients.cycles_per_bit": [CYCLES_PER_BIT] * 2,
                      "clients.sample_bits": SAMPLE_BITS, "clients.capacitance": CAPACITANCE,
                      "aggregator.plugin": "fedavg"}

    def test_stores_are_what_the_measure_says(self):
        """After one round a client has had all its samples, and keeps those that the policy
        wants."""
        for settings, policy in POLICIES:
            with self.subTest(policy=policy):
                run = self.run_small(self.world, settings, rounds=2)
                model = Logistic(run.tensors())
                rows = [row for row in run.rows("clients.csv") if row["round"] == "1"]
                self.assertEqual(len(rows), CLIENTS)
                for u, row in enumerate(rows):
                    expected = model.loss(kept(model, self.samples[u], policy))
                    self.assertAlmostEqual(float(row["train_loss"]), expected, 5)

    def test_measuring_costs_a_forward_pass(self):
        run = self.run_small(self.world, POLICIES[0][0], rounds=1)
        plain = self.run_small(self.world, {"deletion.plugin": "topk"}, rounds=1)
        cycles = (STORAGE + ARRIVALS) * CYCLES_PER_BIT * SAMPLE_BITS / 3
        joules = sum(0.5 * CAPACITANCE * cycles * float(clock) ** 2
                     for (clock,) in run.clients("clock_hz"))
        spent = run.rounds("compute_j")[0] - plain.rounds("compute_j")[0]
        self.assertAlmostEqual(spent / joules, 1.0, 9)
        self.assertEqual(run.clients("compute_j"), plain.clients("compute_j"))

    def test_threads_and_an_interruption_change_nothing(self):
        settings = ({"deletion.plugin": "uncertainty", "checkpoint_every": 3},)
        whole = self.run_small(*settings, rounds=40)
        folder = self.path("stopped")
        self.stopped_small(folder, *settings, rounds=40)
        for run in (self.run_small(*settings, rounds=40, threads=3),
                    self.run_small(*settings, rounds=40, folder=folder, threads=2)):
            for name in ("rounds.csv", "clients.csv", "model.safetensors"):
                self.assertEqual(run.bytes(name), whole.bytes(name), name)

    def test_each_learns(self):
        """Beside random deletion; low losses are for wrong labels, and here too easy."""
        settings = (LOSSLESS, {"evaluation.samples": 400, "evaluation.every": 40,
                               "aggregator.plugin": "fedavg", "clients.arrivals": 40,
                               "optimizer.sgd.learning_rate": 0.05})
        random_one = self.run_small(*settings, {"deletion.plugin": "random"}, rounds=40)
        baseline = random_one.rounds("test_accuracy")[-1]
        self.assertGreater(baseline, 0.55)
        for policy, name in POLICIES:
            if name != "low loss":
                run = self.run_small(*settings, policy, rounds=40)
                self.assertGreater(run.rounds("test_accuracy")[-1], baseline - 0.15, name)

    def file_with(self, **lines):
        """small.cfg with other lines for some kinds; its path, and the line of each kind."""
        with open(osafl_run.SMALL) as file:
            text = file.read().splitlines()
        place = {}
        for kind, line in lines.items():
            place[kind] = next(i for i, old in enumerate(text) if old.startswith(kind + ":"))
            text[place[kind]] = "%s: %s;" % (kind, line)
        return self.path("wrong.cfg", "\n".join(text)), {k: i + 1 for k, i in place.items()}

    def test_measure_that_the_model_has_not(self):
        path, line = self.file_with(
            deletion='{ plugin = "uncertainty"; }',
            model='{ plugin = "network"; network: { loss = "squared_error"; '
                  'layers = ({ linear = "classes"; }); }; }')
        output = self.osafl("check", path, status=2)
        self.assertIn("wrong.cfg:%d: deletion.plugin = \"uncertainty\" uses the measure "
                      "\"entropy\", which model/network does not have; it has accuracy, loss: "
                      "choose" % line["deletion"], output)

    def test_measure_without_training(self):
        path, line = self.file_with(deletion='{ plugin = "by_loss"; }')
        output = self.osafl("check", path, "--set", "training.enabled=false", status=2)
        self.assertIn("wrong.cfg:%d: deletion.plugin = \"by_loss\" measures each sample "
                      "with the model" % line["deletion"], output)


if __name__ == "__main__":
    osafl_run.main()
