"""Failures that are known from other frameworks for federated learning, each with a test that it
does not happen here."""
import random
import re

import osafl_run
from osafl_run import (FROZEN, LOSSLESS, SINGLE_STEPS, Logistic, ProductTest, csv_table, natural,
                       number, plugins)

EQUAL_SHARES = {"clients.activity": [0.5, 0.5]}
ONE_CLIENT = {"clients.count": 1}
# SGD outside the model's own fused step, without any other effect: as a 32-bit float this is 0.
UNFUSED = {"optimizer.sgd.weight_decay": 1e-60}


def difference(a, b):
    return [x - y for x, y in zip(a, b)]


def norm(a):
    return sum(x * x for x in a) ** 0.5


class ProximalTerm(ProductTest):
    """A proximal term that is always zero, that is not squared, or whose mu has no effect."""

    def fedprox(self, mu, *settings):
        return self.run_small(LOSSLESS, {"aggregator.plugin": "fedprox",
                                         "optimizer.plugin": "proximal",
                                         "optimizer.proximal.mu": mu}, *settings)

    def test_second_step_is_pulled_back_by_mu_times_the_first(self):
        """w_2 = w_1 - eta (g_2 + mu (w_1 - w_0)): linear in mu and in the distance, as only the
        gradient of mu/2 ||w - w_0||^2 is."""
        rate, settings = 0.02, {**SINGLE_STEPS, **ONE_CLIENT, "rounds": 1}
        two_steps = {"training.minibatches": 2}
        start = self.run_small(FROZEN, LOSSLESS, settings).parameters()
        first = difference(self.fedprox(0.0, settings).parameters(), start)
        plain = self.fedprox(0.0, settings, two_steps).parameters()
        self.assertGreater(norm(first), 1e-3)
        for mu in (0.5, 1.0, 10.0):
            pulled = difference(self.fedprox(mu, settings, two_steps).parameters(), plain)
            self.assert_close(pulled, [-rate * mu * x for x in first], 2e-7, "mu = %g" % mu)

    def test_greater_mu_keeps_clients_closer(self):
        start = self.run_small(FROZEN, LOSSLESS, rounds=1).parameters()
        moved = [norm(difference(self.fedprox(mu, {"rounds": 1}).parameters(), start))
                 for mu in (0.0, 1.0, 10.0, 40.0)]
        self.assertEqual(moved, sorted(moved, reverse=True))
        self.assertLess(moved[-1], 0.5 * moved[0])

    def test_mu_zero_is_fedavg_byte_for_byte(self):
        fedprox = self.fedprox(0.0)
        fedavg = self.run_small(LOSSLESS, UNFUSED, {"aggregator.plugin": "fedavg"})
        self.assertEqual(fedprox.tensors(), fedavg.tensors())
        for name in ("rounds.csv", "clients.csv"):
            self.assertEqual(fedprox.bytes(name), fedavg.bytes(name), name)

    def test_fedprox_without_the_term_is_refused(self):
        output = self.check_small({"aggregator.plugin": "fedprox", "optimizer.plugin": "sgd"},
                                  status=2)
        self.assertIn('leave optimizer.plugin out, or set it to "proximal"', output)

    def test_settings_of_its_optimizer_are_asked_for(self):
        """A file that has settings of "sgd" alone, as an experiment with FedAvg may."""
        with open(osafl_run.SMALL) as small:
            text = small.read()
        file = self.path("sgd-only.cfg", re.sub(r" +(scaffold|proximal): .*\n", "", text))
        for name, optimizer in (("fedprox", "proximal"), ("scaffold", "scaffold")):
            output = self.osafl("check", file, "--set", "aggregator.plugin=" + name, status=2)
            self.assertIn("optimizer.%s.learning_rate: missing" % optimizer, output)
            self.assertIn("its settings belong in optimizer: { %s:" % optimizer, output)
            self.assertNotIn("describe()", output)
        self.assertIn("taking part", self.osafl("check", file))


class ControlVariates(ProductTest):
    """Variates of SCAFFOLD that are reset each round, or shared between clients."""

    def pair(self, *settings, rounds=4):
        """The same run with SCAFFOLD and with a plain mean of the same clients' updates."""
        scaffold = self.run_small(LOSSLESS, EQUAL_SHARES, *settings,
                                  {"aggregator.plugin": "scaffold"}, rounds=rounds)
        fedavg = self.run_small(LOSSLESS, EQUAL_SHARES, UNFUSED, *settings,
                                {"aggregator.plugin": "fedavg"}, rounds=rounds)
        return scaffold, fedavg

    def test_first_round_is_fedavg_and_later_ones_are_not(self):
        scaffold, fedavg = self.pair(rounds=1)
        self.assert_close(scaffold.parameters(), fedavg.parameters(), 1e-6)
        scaffold, fedavg = self.pair(rounds=3)
        self.assertGreater(norm(difference(scaffold.parameters(), fedavg.parameters())), 1e-3)

    def test_single_client_keeps_its_variate(self):
        """c is the only c_u, so the correction is zero; a variate that only one side resets is
        none."""
        scaffold, fedavg = self.pair(ONE_CLIENT)
        self.assert_close(scaffold.parameters(), fedavg.parameters(), 1e-5)

    def test_corrections_of_all_clients_cancel(self):
        """With one step each the mean of -c_u + c is zero as long as c is the mean of the c_u:
        every client has its own variate and keeps it over the rounds."""
        scaffold, fedavg = self.pair(SINGLE_STEPS, rounds=6)
        self.assert_close(scaffold.parameters(), fedavg.parameters(), 1e-5)


class Names(ProductTest):
    """A misspelt algorithm that runs FedAvg, a misspelt setting that has no effect."""

    def test_misspelt_plugins_are_refused(self):
        for key, name, meant in (("aggregator.plugin", "fedprx", "fedprox"),
                                 ("aggregator.plugin", "scafold", "scaffold"),
                                 ("optimizer.plugin", "proxmal", "proximal"),
                                 ("quantizer.plugin", "qsdg", "qsgd"),
                                 ("deletion.plugin", "top_k", "topk"),
                                 ("channel.plugin", "tr3891", "tr38901"),
                                 ("resource.plugin", "optimum", "optimal"),
                                 ("model.plugin", "squeezenett", "squeezenet"),
                                 ("dataset.plugin", "glyph", "glyphs")):
            with self.subTest(key=key, name=name):
                output = self.check_small({key: name}, status=2)
                self.assertIn('did you mean "%s"?' % meant, output)

    def test_misspelt_settings_are_refused(self):
        for key in ("aggregator.fedprox.mu", "optimizer.proximal.mue", "partition.alpha",
                    "clients.straggler", "training.epochs"):
            with self.subTest(key=key):
                self.assertIn("unknown setting", self.check_small({key: 1}, status=2))

    def test_algorithms_are_different_algorithms(self):
        """No two aggregators, with the optimizers that they ask for, give the same model."""
        models = {}
        for name in plugins("aggregator"):
            run = self.run_small(LOSSLESS, {"aggregator.plugin": name}, rounds=3)
            models[name] = run.bytes("model.safetensors")[-4 * 7850:]
        self.assertEqual(len(set(models.values())), len(models))


class Resume(ProductTest):
    """Server state that is lost on resume, a schedule that starts anew on resume."""

    ROUNDS = 24

    def check_resumed(self, settings):
        whole = self.run_small(settings, rounds=self.ROUNDS)
        folder = self.path("interrupted-" + settings.get("selection.plugin", "all"))
        self.stopped_small(folder, settings, rounds=self.ROUNDS)
        resumed = self.run_small(settings, folder=folder, rounds=self.ROUNDS)
        for name in ("rounds.csv", "clients.csv", "model.safetensors", "manifest.json"):
            self.assertEqual(resumed.bytes(name), whole.bytes(name), name)

    def test_server_momentum(self):
        self.check_resumed({"aggregator.plugin": "fedavgm"})

    def test_server_moments(self):
        self.check_resumed({"aggregator.plugin": "fedyogi"})

    def test_scores_and_direction(self):
        self.check_resumed({"aggregator.plugin": "osafl"})

    def test_variates_of_both_sides(self):
        self.check_resumed({"aggregator.plugin": "scaffold", "selection.plugin": "oort",
                            "selection.oort.share": 0.5})

    def test_schedule(self):
        linear = {"optimizer.sgd.schedule": "linear", "optimizer.sgd.final_factor": 0.01}
        self.check_resumed(linear)
        # The schedule matters: without it, or from round 0 again, the run is another one.
        rates = [number(loss) for loss, in self.run_small(linear).clients("train_loss")]
        self.assertNotEqual(rates, [number(loss) for loss, in
                                    self.run_small().clients("train_loss")])

    def test_error_feedback(self):
        self.check_resumed({"quantizer.plugin": "topk_sparse"})

    def test_everything_at_once(self):
        """Variates, left out entries, stores, schedule, lost and false updates in one run."""
        self.check_resumed({
            "aggregator.plugin": "scaffold", "optimizer.scaffold.option": "gradient",
            "optimizer.scaffold.schedule": "cosine", "quantizer.plugin": "topk_sparse",
            "selection.plugin": "uniform", "selection.uniform.share": 0.7,
            "deletion.plugin": "reservoir",
            "uplink.loss_probability": 0.3, "filter.plugin": "noise",
            "filter.noise.share": 0.3})

    def test_selections(self):
        for name in plugins("selection"):
            with self.subTest(selection=name):
                share = {} if name in ("all", "energy") else {"selection.%s.share" % name: 0.4}
                self.check_resumed({"selection.plugin": name, **share})

    def test_privacy_budget(self):
        self.check_resumed({"aggregator.plugin": "fedavg", "filter.plugin": "gaussian"})


class FewSamples(ProductTest):
    """An empty client that gives NaN, a client with one sample, clients with one class."""

    def check_all_aggregators(self, *settings, participants=None):
        for name in plugins("aggregator"):
            with self.subTest(aggregator=name):
                run = self.run_small({"aggregator.plugin": name, "evaluation.samples": 20,
                                      "evaluation.per_class": True, "evaluation.per_client": True},
                                     *settings, rounds=3)
                for file in ("rounds.csv", "clients.csv"):
                    text = run.bytes(file).decode().lower()
                    self.assertNotIn("nan", text)
                    self.assertNotIn("inf", text)
                parameters = run.parameters()
                self.assertTrue(all(abs(x) < 1e3 for x in parameters))
                if participants is not None and name != "genie":
                    self.assertEqual(run.rounds("participants"), [participants] * 3)

    def test_client_with_one_sample(self):
        self.check_all_aggregators({"clients.storage": 1, "clients.arrivals": 1}, participants=9)

    def test_only_client(self):
        self.check_all_aggregators(ONE_CLIENT, {"clients.storage": 1, "clients.arrivals": 0},
                                   participants=1)

    def test_one_class_clients(self):
        self.check_all_aggregators({"partition.plugin": "shards", "partition.shards.labels": 1},
                                   participants=9)

    def test_round_without_participants(self):
        """Nobody can meet the deadline: the model stays as it is, and nothing is divided by 0."""
        nobody = {"deadline_s": 1e-6}
        self.check_all_aggregators(nobody, participants=0)
        start = self.run_small(FROZEN, LOSSLESS, rounds=1).tensors()
        for name in plugins("aggregator"):
            if name != "genie":
                run = self.run_small(nobody, {"aggregator.plugin": name}, rounds=3)
                self.assertEqual(run.tensors(), start, name)

    def test_empty_client_is_refused(self):
        rows = [([1.0, float(i)], i % 2, "ab"[i % 2]) for i in range(20)]
        table = self.path("table.csv", csv_table(rows))
        output = self.check_small(natural(table, 3, 4), status=2)
        self.assertIn("no training sample of dataset \"csv\" belongs to client 2", output)
        self.assertIn("lower clients.count", output)


class Samples(ProductTest):
    """Duplicates within an epoch of a pool, the same shuffle every round, clients seeded alike."""

    def setUp(self):
        super().setUp()
        random.seed(5)
        self.rows = [([random.gauss(0, 1) for _ in range(4)], random.randrange(3), client)
                     for client in range(2) for _ in range(30)]
        # Both clients own the same samples, of which none is held out for the test.
        self.rows += [(x, label, 2) for x, label, client in self.rows if client == 1]
        self.table = self.path("table.csv", csv_table(self.rows))
        self.settings = {**natural(self.table, 3, 30), **FROZEN, **LOSSLESS,
                         "dataset.csv.test_path": self.table, "aggregator.plugin": "fedavg",
                         "resource.plugin": "fixed", "training.max_local_rounds": 1}

    def test_store_and_epoch_hold_every_sample_once(self):
        """One batch of the whole store: its loss is that of the client's 30 samples, which it is
        with every one of them once and hardly otherwise."""
        run = self.run_small(self.settings, {"training.batch": 30, "training.minibatches": 0})
        model = Logistic(run.tensors())
        for client, loss in run.clients("client", "train_loss"):
            own = [(x, label) for x, label, owner in self.rows if owner == int(client)]
            self.assertAlmostEqual(float(loss), model.loss(own), 6)

    def test_epoch_of_small_batches(self):
        """Ten batches of three are the same samples, once each: the mean of their losses stays."""
        whole = self.run_small(self.settings, {"training.batch": 30, "training.minibatches": 0})
        parts = self.run_small(self.settings, {"training.batch": 3, "training.minibatches": 0})
        self.assert_close([float(loss) for loss, in whole.clients("train_loss")],
                          [float(loss) for loss, in parts.clients("train_loss")], 1e-6)

    def test_every_round_and_client_has_its_own_shuffle(self):
        """Stores that never change, and two clients with equal ones: no two batches of three
        samples are the same in 8 rounds."""
        run = self.run_small(self.settings, {"training.batch": 3, "training.minibatches": 1},
                             rounds=8)
        losses = [loss for loss, in run.clients("train_loss")]
        self.assertEqual(len(set(losses)), 24)

    def test_every_local_round_has_its_own_shuffle(self):
        """Two local rounds of one batch are not the same batch twice."""
        one = self.run_small(self.settings, {"training.batch": 3, "training.minibatches": 1})
        two = self.run_small(self.settings, {"training.batch": 3, "training.minibatches": 1,
                                             "training.max_local_rounds": 2})
        for a, b in zip(one.clients("train_loss"), two.clients("train_loss")):
            self.assertNotAlmostEqual(float(a[0]), float(b[0]), 6)

    def test_clients_have_their_own_generator(self):
        """Stores of the same two samples, one of which is drawn each round.  Clients that share a
        generator would draw the same one always, or, with their stores in another order, never."""
        table = self.path("pairs.csv", csv_table([([float(k)], k, u) for u in range(4)
                                                  for k in range(2)]))
        run = self.run_small(self.settings, natural(table, 4, 2),
                             {"dataset.csv.test_path": table, "training.batch": 1,
                              "training.minibatches": 1}, rounds=40)
        losses = [[loss for client, loss in run.clients("client", "train_loss")
                   if client == str(u)] for u in range(4)]
        for u in range(4):
            self.assertEqual(len(set(losses[u])), 2)
            for v in range(u):
                same = sum(a == b for a, b in zip(losses[u], losses[v]))
                self.assertIn(same, range(8, 33))

    def test_clients_are_drawn_one_by_one(self):
        """Label distributions, sizes, gains and limits of clients that an experiment treats
        alike."""
        run = self.run_small({"clients.storage": 2000, "clients.arrivals": 0}, rounds=1)
        for column in ("label_entropy", "gain", "samples", "clock_hz", "power_w"):
            self.assertEqual(len(set(run.clients(column))), 9, column)


class Evaluation(ProductTest):
    """An evaluation subset that changes with the seed, an evaluation that changes the training."""

    def setUp(self):
        super().setUp()
        random.seed(6)
        self.samples = [([random.gauss(0, 1) for _ in range(4)], random.randrange(3))
                        for _ in range(60)]
        self.table = self.path("table.csv", csv_table([(*each, 0) for each in self.samples]))
        self.settings = {"dataset.plugin": "csv", "dataset.csv.path": self.table,
                         "dataset.csv.ignore": "client", "dataset.csv.standardise": False}

    def evaluated(self, run, split):
        """The single sample on which a run was evaluated, found by its loss."""
        model = Logistic(run.tensors())
        loss = run.rounds(split + "_loss")[-1]
        found = [i for i, sample in enumerate(self.samples)
                 if abs(model.loss([sample]) - loss) < 1e-6]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_first_samples_of_a_test_table(self):
        for seed in (1, 2, 3):
            run = self.run_small(self.settings, {"dataset.csv.test_path": self.table, "seed": seed,
                                                 "evaluation.samples": 25})
            model = Logistic(run.tensors())
            self.assertAlmostEqual(run.rounds("test_loss")[-1], model.loss(self.samples[:25]), 5)
            self.assertEqual(run.rounds("test_accuracy")[-1], model.accuracy(self.samples[:25]))

    def test_samples_held_out_are_the_same_for_every_seed(self):
        for split in ("test", "validation"):
            found = {self.evaluated(self.run_small(
                self.settings, {"seed": seed, "evaluation.samples": 1, "evaluation.split": split,
                                "dataset.csv.validation": 10}), split) for seed in (1, 2, 3, 4)}
            self.assertEqual(len(found), 1, split)

    def test_frequency_changes_no_training(self):
        often = self.run_small({"evaluation.every": 1}, rounds=7)
        seldom = self.run_small({"evaluation.every": 5}, rounds=7)
        self.assertEqual(often.tensors(), seldom.tensors())
        self.assertEqual(often.bytes("clients.csv"), seldom.bytes("clients.csv"))
        accuracy = often.rounds("test_accuracy")
        self.assertEqual(seldom.rounds("test_accuracy"),
                         [None] * 4 + [accuracy[4], None, accuracy[6]])


if __name__ == "__main__":
    osafl_run.main()
