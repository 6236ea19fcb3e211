"""Personal models: fedper keeps layers on the client, and evaluation.per_client judges each client by
its own model; evaluation.client_spread sums that up."""
import math

import osafl_run
from osafl_run import SMALL, ProductTest, arguments

CLIENTS = 10
NON_IID = {"model.plugin": "mlp", "aggregator.plugin": "fedavg", "quantizer.plugin": "none",
           "resource.plugin": "fixed", "clients.count": CLIENTS, "clients.storage": 60,
           "partition.plugin": "dirichlet", "partition.dirichlet.concentration": 0.1,
           "dataset.glyphs.test": 500, "evaluation.samples": 0, "training.minibatches": 8,
           "evaluation.per_client": True, "evaluation.client_spread": True}
SGD = {"optimizer.plugin": "sgd", "optimizer.sgd.learning_rate": 0.05}
FEDPER = {"optimizer.plugin": "fedper", "optimizer.fedper.learning_rate": 0.05}
HEAD = ("fc3.weight", "fc3.bias")


def spread(values):
    n = len(values)
    mean = sum(values) / n
    tenth = sorted(values)[:math.ceil(n / 10)]
    return (mean, math.sqrt(sum((x - mean) ** 2 for x in values) / n), sum(tenth) / len(tenth),
            sum(values) ** 2 / (n * sum(x * x for x in values)))


class PersonalModels(ProductTest):
    def accuracies(self, run):
        """Of every client after the last round."""
        rows = run.rows("clients.csv")
        return [float(row["test_accuracy"]) for row in rows if row["round"] == rows[-1]["round"]]

    def test_clients_are_better_off_with_their_own_layers(self):
        shared = self.run_small(NON_IID, SGD, rounds=8)
        own = self.run_small(NON_IID, FEDPER, rounds=8)
        mean = [run.rounds("client_mean")[-1] for run in (shared, own)]
        worst = [run.rounds("client_worst_tenth")[-1] for run in (shared, own)]
        self.assertGreater(mean[1], mean[0] + 0.1)
        self.assertGreater(worst[1], worst[0])

    def test_the_spread_is_that_of_the_clients(self):
        for optimizer in (SGD, FEDPER):
            run = self.run_small(NON_IID, optimizer, rounds=3)
            last = run.rows("rounds.csv")[-1]
            names = ("client_mean", "client_deviation", "client_worst_tenth", "client_jain")
            for name, want in zip(names, spread(self.accuracies(run))):
                self.assertAlmostEqual(float(last[name]), want, 9, name)
        self.assertNotIn("client_mean", self.run_small(NON_IID, SGD, {
            "evaluation.client_spread": False}, rounds=1).rows("rounds.csv")[0])

    def test_personal_layers_are_never_sent(self):
        short, long = (self.run_small(NON_IID, FEDPER, rounds=n).tensors() for n in (1, 3))
        for name in short:
            self.assertEqual(short[name] == long[name], name in HEAD, name)

    def test_all_layers_may_be_personal(self):
        run = self.run_small(NON_IID, FEDPER, {"optimizer.fedper.tensors": '"*"'}, rounds=6)
        self.assertEqual(len(set(run.rounds("test_accuracy"))), 1)  # of a model that nobody changes
        self.assertGreater(run.rounds("client_mean")[-1], run.rounds("client_mean")[0])

    def test_a_single_client_has_what_plain_training_gives(self):
        alone = {"clients.count": 1, "clients.activity": [1.0, 1.0]}
        plain = self.run_small(NON_IID, SGD, alone, rounds=5)
        own = self.run_small(NON_IID, FEDPER, alone, rounds=5)
        self.assertAlmostEqual(plain.rounds("client_mean")[-1], own.rounds("client_mean")[-1], 1)
        self.assertAlmostEqual(plain.rounds("train_loss")[-1], own.rounds("train_loss")[-1], 3)

    def test_a_lost_update_changes_no_client(self):
        run = self.run_small(NON_IID, FEDPER, {
            "uplink.loss_probability": 1.0, "clients.arrivals": 0}, rounds=3)
        self.assertEqual(len(set(run.rounds("client_mean"))), 1)

    def test_a_pattern_that_matches_nothing_is_refused(self):
        text = self.osafl("run", SMALL, "--quiet", *arguments({
            **NON_IID, **FEDPER, "optimizer.fedper.tensors": '"head*"'}), status=2)
        self.assertIn('optimizer.fedper.tensors = "head*" matches none of the 6 tensors of the model, '
                      'the first of which is "fc1.weight" and the last "fc3.bias"', text)


if __name__ == "__main__":
    osafl_run.main()
