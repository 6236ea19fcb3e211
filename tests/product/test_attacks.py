"""Clients that attack, updates that are lost, and the aggregators that bear it."""
import math

import osafl_run
from osafl_run import FROZEN, LOSSLESS, ProductTest

# Robust rules are for clients that have much the same data.
CROWD = {"clients.count": 10, "partition.plugin": '"iid"', "evaluation.samples": 300}
BREAKING = {"sign_flip": 4.0, "scale": 50.0, "noise": 100.0}
ROBUST = {"median": {}, "trimmed_mean": {"aggregator.trimmed_mean.trim": 0.3},
          "krum": {"aggregator.krum.byzantine": 3}}
ONE_ROUND = {"aggregator.plugin": "fedavg", "rounds": 1}


def attack(method, share, strength=1.0):
    settings = {"filter.plugin": '"%s"' % method, "filter.%s.share" % method: share}
    return settings if method == "label_flip" else {**settings,
                                                    "filter.%s.strength" % method: strength}


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def norm(a):
    return math.sqrt(sum(x * x for x in a))


class Attacks(ProductTest):
    def accuracy(self, aggregator, *settings):
        run = self.run_small(CROWD, LOSSLESS, {"aggregator.plugin": aggregator}, *settings,
                             rounds=20)
        return run.rounds("test_accuracy")[-1]

    def test_robust_rules_learn_where_the_mean_fails(self):
        plain = self.accuracy("fedavg")
        self.assertGreater(plain, 0.5)
        for method, strength in BREAKING.items():
            wrong = attack(method, 0.3, strength)
            with self.subTest(method=method):
                self.assertLess(self.accuracy("fedavg", wrong), 0.35)
                for aggregator, settings in ROBUST.items():
                    self.assertGreater(self.accuracy(aggregator, wrong, settings), 0.45, aggregator)

    def update(self, *settings):
        """What a round with everybody attacking adds to the model."""
        start = self.run_small(FROZEN, LOSSLESS, rounds=1).parameters()
        return minus(self.run_small(LOSSLESS, ONE_ROUND, *settings, rounds=1).parameters(), start)

    def test_updates_of_attackers(self):
        true = self.update()
        self.assertGreater(norm(true), 0.1)
        for method, factor in (("sign_flip", -3.0), ("scale", 3.0)):
            sent = self.update(attack(method, 1.0, 3.0))
            self.assert_close(sent, [factor * x for x in true], 1e-5, method)
        # The noise of one client: of the update's norm times the strength, in no relation to it.
        # The clients' draws are the same for any strength.
        alone = {"clients.count": 1}
        true, sent = self.update(alone), self.update(alone, attack("noise", 1.0, 3.0))
        self.assertAlmostEqual(norm(sent) / norm(true), 3.0, delta=0.1)
        cosine = sum(x * y for x, y in zip(sent, true)) / norm(sent) / norm(true)
        self.assertLess(abs(cosine), 0.06)

    def test_share_of_attackers(self):
        """Random labels cannot be learnt: attackers are those whose loss stays high, the same
        clients in all rounds."""
        attackers = None
        run = self.run_small(CROWD, LOSSLESS, {"aggregator.plugin": "median"},
                             attack("label_flip", 0.3), rounds=15)
        for t in range(11, 15):
            losses = [float(loss) for round_, loss in run.clients("round", "train_loss")
                      if int(round_) == t]
            worst = sorted(range(10), key=lambda u: -losses[u])[:3]
            self.assertGreater(min(losses[u] for u in worst), 2.0)
            self.assertLess(max(losses[u] for u in range(10) if u not in worst), 2.0)
            attackers = attackers or sorted(worst)
            self.assertEqual(sorted(worst), attackers)

    def test_nobody_attacks_without_share(self):
        expected = self.run_small()
        for settings in ({"filter.plugin": '"scale"'}, attack("sign_flip", 0.01)):
            self.assertEqual(self.run_small(settings).tensors(), expected.tensors())

    def test_impossible_settings_are_refused(self):
        for key, value in (("filter.scale.share", 1.5), ("filter.scale.share", -0.1),
                           ("filter.scale.strength", -1.0), ("uplink.loss_probability", 1.1)):
            self.assertIn(key, self.check_small({"filter.plugin": '"scale"', key: value},
                                                status=2))
        self.assertIn("flip", self.check_small({"filter.plugin": '"flip"'}, status=2))


class Losses(ProductTest):
    def test_share_of_lost_updates(self):
        run = self.run_small({"uplink.loss_probability": 0.3}, rounds=30)
        reasons = [reason for reason, in run.clients("reason")]
        lost = reasons.count("lost")
        n = len(reasons)
        self.assertEqual(lost + reasons.count(""), n)
        self.assertAlmostEqual(lost / n, 0.3, delta=4 * math.sqrt(0.3 * 0.7 / n))
        # What was sent in vain was sent.
        whole = self.run_small(rounds=30)
        for column in ("uplink_payload_bits", "upload_j", "compute_j"):
            self.assertEqual(run.rounds(column), whole.rounds(column), column)
        self.assertEqual(sum(run.rounds("participants")), n - lost)

    def test_everything_is_lost(self):
        start = self.run_small(FROZEN, LOSSLESS, rounds=1).tensors()
        for aggregator in ("fedavg", "osafl", "scaffold", "afa_cs", "fedavgm"):
            run = self.run_small({"uplink.loss_probability": 1.0, "aggregator.plugin": aggregator})
            self.assertEqual(run.tensors(), start, aggregator)
            self.assertEqual(run.rounds("participants"), [0, 0, 0, 0])


if __name__ == "__main__":
    osafl_run.main()
