"""Whole runs of every aggregator with its optimizer against the algorithms in Python
(reference.py): server, clients, their state over the rounds, and who takes part."""
import random
import re

import osafl_run
import reference
from osafl_run import FROZEN, LOSSLESS, ProductTest, csv_table, natural, number, plugins

CLIENTS, LABELS, FEATURES, ROUNDS, RATE, SEED = 7, 3, 4, 6, 0.3, 7
STORAGE = 40
DEADLINE = 2.1


class Algorithms(ProductTest):
    def setUp(self):
        super().setUp()
        random.seed(3)
        self.points = [[[random.gauss(0, 1) for _ in range(FEATURES)] for _ in range(LABELS)]
                       for _ in range(CLIENTS)]
        rows = [(self.points[u][label], label, u) for u in range(CLIENTS) for label in range(LABELS)
                for _ in range(random.randrange(5, STORAGE))]
        table = self.path("table.csv", csv_table(rows))
        self.world = {
            **natural(table, CLIENTS, STORAGE), **LOSSLESS, "dataset.csv.test_path": table,
            # Stores of different sizes, and one step on the whole store for a local round.
            "clients.activity": [0.3, 1.0], "training.minibatches": 0,
            "training.batch": 100000,
            # Clients that are not asked, that cannot take part, or do fewer local rounds.
            "selection.plugin": "uniform", "selection.uniform.share": 0.8,
            "seed": SEED, "deadline_s": DEADLINE, "training.max_local_rounds": 4,
            "training.cost_minibatches": 1, "clients.sample_bits": 2e5,
            **{"optimizer.%s.learning_rate" % name: RATE
               for name in ("sgd", "proximal", "scaffold")}}
        self.clients = [reference.Client(histogram, self.points[u])
                        for u, histogram in enumerate(self.stores())]
        # The pooled client's one batch is the union as well.
        self.world["training.batch"] = sum(client.samples for client in self.clients)

    def stores(self):
        """Label histograms of the stores, as `osafl check` prints them."""
        stores = []
        for line in self.check_small(self.world).splitlines():
            row = re.match(r" *(\d+) +(\d+) +\d+ +[\d.]+ +[\d.]+ +((?:\d+:\d+ ?)+)$", line)
            if row:
                histogram = [0] * LABELS
                for label, count in re.findall(r"(\d+):(\d+)", row[3]):
                    histogram[int(label)] = int(count)
                self.assertEqual(int(row[1]), len(stores))
                self.assertEqual(int(row[2]), sum(histogram))
                stores.append(histogram)
        self.assertEqual(len(stores), CLIENTS)
        return stores

    def participants(self, run):
        """Of each round: {client: local rounds}."""
        rounds = [{} for _ in range(ROUNDS)]
        for t, u, participates, kappa in run.clients("round", "client", "participates",
                                                     "local_rounds"):
            if participates == "1" and kappa != "":  # the pooled client has no row of its own
                rounds[int(t)][int(u)] = int(kappa)
        return rounds

    def arrivals(self, run):
        """Of each round: its participants as they arrive."""
        rounds = [[] for _ in range(ROUNDS)]
        columns = ("round", "client", "participates", "compute_s", "upload_s")
        for t, u, participates, compute_s, upload_s in run.clients(*columns):
            if participates == "1" and compute_s != "":
                start = int(t) * DEADLINE
                rounds[int(t)].append((start + float(compute_s) + float(upload_s), int(u)))
        return [[u for _, u in sorted(each)] for each in rounds]

    def links(self, run):
        """Of each round: {participant: (gain, power)}."""
        rounds = [{} for _ in range(ROUNDS)]
        for t, u, participates, gain, power in run.clients("round", "client", "participates",
                                                           "gain", "power_w"):
            if participates == "1" and power != "":
                rounds[int(t)][int(u)] = (float(gain), float(power))
        return rounds

    def test_every_algorithm(self):
        start = self.run_small(self.world, FROZEN, rounds=1).parameters()
        rounds = self.participants(self.run_small(self.world, rounds=ROUNDS))
        self.assertGreater(len({tuple(each) for each in rounds}), 1, "always the same clients")
        self.assertGreater(len({k for each in rounds for k in each.values()}), 1)
        for algorithm in reference.ALGORITHMS:
            with self.subTest(algorithm=algorithm.__name__):
                run = self.run_small(self.world, algorithm.settings,
                                     {"aggregator.plugin": reference.plugin_of(algorithm)},
                                     rounds=ROUNDS)
                expected = algorithm(self.clients, ROUNDS, RATE, SEED)
                w = start
                arrivals, links = self.arrivals(run), self.links(run)
                for t, kappa in enumerate(self.participants(run)):
                    expected.order, expected.link = arrivals[t], links[t]
                    w = expected.round(t, w, kappa)
                moved = max(abs(x - y) for x, y in zip(w, start))
                self.assertGreater(moved, 0.01)
                self.assert_close(run.parameters(), w, 1e-5 * max(1.0, moved))

    def test_scores_of_osafl(self):
        run = self.run_small(self.world, reference.OSAFL.settings, rounds=ROUNDS)
        start = self.run_small(self.world, FROZEN, rounds=1).parameters()
        expected = reference.OSAFL(self.clients, ROUNDS, RATE)
        w = start
        for t, kappa in enumerate(self.participants(run)):
            w = expected.round(t, w, kappa)
        for t, u, score in run.clients("round", "client", "score"):
            known = expected.scores[int(t)].get(int(u))
            self.assertEqual(known is None, score == "")
            if known is not None:
                self.assertAlmostEqual(number(score), known, 5)

    def test_fednova_is_fedavg_when_all_do_the_same(self):
        """Equal local rounds, any shares of the data and any participants."""
        equal = {"resource.plugin": "fixed", "resource.fixed.local_rounds": 3}
        fednova, fedavg = (self.run_small(self.world, equal, {"aggregator.plugin": name},
                                          rounds=ROUNDS) for name in ("fednova", "fedavg"))
        self.assert_close(fednova.parameters(), fedavg.parameters(), 2e-6)
        fednova, fedavg = (self.run_small(self.world, {"aggregator.plugin": name}, rounds=ROUNDS)
                           for name in ("fednova", "fedavg"))
        moved = max(abs(x - y) for x, y in zip(fednova.parameters(), fedavg.parameters()))
        self.assertGreater(moved, 1e-3, "unequal local rounds make no difference")

    def test_osafl_with_one_participant_moves_along_its_update(self):
        alone = {"clients.count": 1, "selection.uniform.share": 1.0}
        start = self.run_small(self.world, alone, FROZEN, rounds=1).parameters()
        moves = []
        for name in ("osafl", "fedavg"):
            end = self.run_small(self.world, alone, {"aggregator.plugin": name}, rounds=1)
            moves.append([x - y for x, y in zip(end.parameters(), start)])
        inner = [sum(x * y for x, y in zip(a, b)) for a, b in
                 ((moves[0], moves[1]), (moves[0], moves[0]), (moves[1], moves[1]))]
        self.assertAlmostEqual(inner[0] / (inner[1] * inner[2]) ** 0.5, 1.0, 9)

    def test_no_aggregator_is_forgotten(self):
        self.assertEqual(sorted({reference.plugin_of(each) for each in reference.ALGORITHMS}),
                         plugins("aggregator"))


if __name__ == "__main__":
    osafl_run.main()
