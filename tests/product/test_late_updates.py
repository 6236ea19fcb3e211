"""Updates that take longer than a round (uplink.late = "carry"), and the aggregators made for
them."""
import math

import osafl_run
from osafl_run import LOSSLESS, ProductTest

ASYNCHRONOUS = ("fedbuff", "fedasync")
AGES = {"results.ages": True}
CARRY = {"uplink.late": "carry", **AGES}
# With every clock at its maximum, computing takes 1.5 to 4.2 s, whatever the deadline.
SLOW = {"resource.plugin": "fixed", "deadline_s": 1.6}
TABLES = ("rounds.csv", "clients.csv")


def aggregator(name):
    return {"aggregator.plugin": name}


class LateUpdates(ProductTest):
    def test_run_in_which_nobody_is_late_is_the_synchronous_run(self):
        for name in (*ASYNCHRONOUS, "fedavg", "osafl"):
            with self.subTest(aggregator=name):
                plain = self.run_small(aggregator(name), AGES)
                carried = self.run_small(aggregator(name), CARRY)
                for table in TABLES:
                    self.assertEqual(plain.bytes(table), carried.bytes(table), table)
                self.assertEqual(plain.tensors(), carried.tensors())

    def follow(self, run, deadline_s, most, rounds):
        """Reckons who is late, busy and back from the times in clients.csv; returns how many are
        late."""
        due = {}
        late = 0
        arrived = [0] * rounds
        age = [0] * rounds  # of those, in all
        for row in run.rows("clients.csv"):
            t, u = int(row["round"]), int(row["client"])
            back, delivers, by = due.get(u, (-1, False, 0))
            if back >= t:
                delivered = back == t and delivers
                self.assertEqual(row["reason"], "" if delivered else "busy", (t, u))
                self.assertEqual(row["local_rounds"], "0")
                arrived[t] += delivered
                age[t] += by * delivered
                continue
            self.assertNotEqual(row["local_rounds"], "0")
            seconds = float(row["compute_s"]) + float(row["upload_s"])
            by = max(0, math.ceil(seconds / deadline_s * (1 - 1e-9)) - 1)
            due[u] = (t + by, 0 < by <= most, by)
            self.assertEqual(row["reason"], "" if by == 0 else "late" if by <= most else "stale")
            self.assertEqual(row["participates"], "1" if by == 0 else "0")
            arrived[t] += by == 0
            late += by > 0
        self.assertEqual(run.rounds("participants"), arrived)
        for got, a, n in zip(run.rounds("mean_age_updates"), age, arrived, strict=True):
            self.assertEqual(got, a / n if n > 0 else None)
        return late

    def test_late_updates_arrive_in_the_round_in_which_they_are_done(self):
        for name, most in (("fedbuff", 8), ("fedasync", 4), ("fedavg", 0)):
            with self.subTest(aggregator=name):
                run = self.run_small(aggregator(name), SLOW, CARRY, rounds=12)
                self.assertGreater(self.follow(run, SLOW["deadline_s"], most, 12), 10)

    def test_bound_of_the_aggregator(self):
        run = self.run_small(aggregator("fedbuff"), CARRY, SLOW,
                             {"aggregator.fedbuff.max_staleness": 1, "deadline_s": 1.0}, rounds=8)
        self.follow(run, 1.0, 1, 8)
        reasons = {reason for (reason,) in run.clients("reason")}
        self.assertEqual(reasons, {"", "late", "stale", "busy"})

    def test_threads_and_an_interruption_change_nothing(self):
        for method in ASYNCHRONOUS:
            with self.subTest(aggregator=method):
                settings = (aggregator(method), CARRY, SLOW, {"checkpoint_every": 3})
                whole = self.run_small(*settings, rounds=40)
                folder = self.path("stopped-" + method)
                self.stopped_small(folder, *settings, rounds=40)
                runs = [self.run_small(*settings, rounds=40, threads=3),
                        self.run_small(*settings, rounds=40, folder=folder, threads=2)]
                for run in runs:
                    for name in (*TABLES, "model.safetensors"):
                        self.assertEqual(run.bytes(name), whole.bytes(name), name)

    def test_who_trains_is_the_same_without_training(self):
        settings = (aggregator("fedbuff"), CARRY, SLOW)
        columns = ("participates", "reason", "local_rounds", "upload_s")
        run = self.run_small(*settings, rounds=10)
        simulated = self.run_small(*settings, {"training.enabled": False}, rounds=10)
        self.assertEqual(run.clients(*columns), simulated.clients(*columns))
        output = self.check_small(*settings, {"rounds": 10})
        taking_part = sum(rounds != "0" for (rounds,) in run.clients("local_rounds"))
        late = sum(reason == "late" for (reason,) in run.clients("reason"))
        self.assertRegex(output, r"late +%s %% of those" % ("%.4g" % (100.0 * late / taking_part)))

    def test_each_learns(self):
        """Half of the clients or more are late.  FedAvg, for which they are lost, is the baseline
        below, and FedAvg that waits for everybody the one above."""
        settings = (LOSSLESS, SLOW, {"evaluation.samples": 400, "evaluation.every": 30,
                                     "optimizer.sgd.learning_rate": 0.05})
        best = {name: self.run_small(aggregator(name), *settings, CARRY,
                                     {"aggregator.fedbuff.buffer": 4}, rounds=60)
                .rounds("test_accuracy")[-1] for name in (*ASYNCHRONOUS, "fedavg")}
        waits = self.run_small(aggregator("fedavg"), *settings, rounds=60)
        self.assertGreater(waits.rounds("test_accuracy")[-1], 0.6)
        for name in ASYNCHRONOUS:
            self.assertGreater(best[name], waits.rounds("test_accuracy")[-1] - 0.15, name)
            self.assertGreater(best[name], best["fedavg"], name)

    def test_private_filter_is_refused(self):
        output = self.check_small(CARRY, {"filter.plugin": "gaussian"}, status=2)
        self.assertIn("leave out uplink.late", output)


if __name__ == "__main__":
    osafl_run.main()
