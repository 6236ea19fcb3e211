"""Runs with far more clients than take part."""
import os
import re

import osafl_run
from osafl_run import ProductTest

MANY = {"clients.count": 10000, "clients.storage": 8, "clients.arrivals": 2, "training.batch": 2,
        "training.minibatches": 0, "training.max_local_rounds": 1, "evaluation.samples": 20,
        "selection.plugin": "uniform", "selection.uniform.share": 0.002, "resource.plugin": "fixed",
        "results.clients": "none"}


class ManyClients(ProductTest):
    def test_check_counts_the_steps_of_those_who_are_asked(self):
        output = self.check_small(MANY)
        steps = re.search(r"steps of a round +mean (\d+), at most (\d+)", output)
        # 20 clients with 3 to 7 samples, 2 in a step
        self.assertLessEqual(20 * 2, int(steps[1]))
        self.assertLessEqual(int(steps[1]), int(steps[2]))
        self.assertLessEqual(int(steps[2]), 20 * 4)

    def test_check_says_what_a_checkpoint_takes(self):
        output = self.check_small(MANY)
        stated = re.search(r"a checkpoint, at most +([\d.]+) MiB", output)
        samples = int(re.search(r"with (\d+) samples", output)[1])
        # numbers of the history (14 words, 4 doubles), the stores' sizes; samples and their births;
        # the parameters; and once more the largest table
        most = 8 * (10000 * (14 + 5 + 14) + 2 * samples) + 4 * 7850
        self.assertAlmostEqual(float(stated[1]), most / 2**20, delta=0.06)

    def test_check_counts_updates_that_are_late(self):
        """One of each client may be in a checkpoint, with its numbers and its code."""
        stated = []
        for late in ("accept", "carry"):
            output = self.check_small(MANY, {"quantizer.plugin": "none", "uplink.late": late,
                                             "aggregator.plugin": "fedbuff"})
            stated.append(float(re.search(r"a checkpoint, at most +([\d.]+) MiB", output)[1]))
        codes = 10000 * 4 * 7850 / 2**20
        self.assertGreater(stated[1] - stated[0], 2 * codes)  # the largest table counts twice
        self.assertLess(stated[1] - stated[0], 2.1 * codes)

    def test_check_says_what_waits_in_memory(self):
        """The codes and some hundred bytes of updates that are late."""
        output = self.check_small({"quantizer.plugin": "none", "aggregator.plugin": "fedbuff",
                                   "uplink.late": "carry", "resource.plugin": "fixed",
                                   "deadline_s": 1.6, "clients.count": 2000,
                                   "clients.storage": 20, "clients.arrivals": 2})
        mib, updates = re.search(r"under way +at most ([\d.]+) MiB in memory, for up to (\d+) at",
                                 output).groups()
        self.assertGreater(int(updates), 500)
        self.assertAlmostEqual(float(mib) * 2**20 / int(updates), 4 * 7850 + 400, delta=300)

    def test_check_counts_the_label_mixes_of_all_rounds(self):
        mixes = {"rounds": 100000, "evaluation.mixes": "true"}
        output = self.check_small(mixes)
        for place in ("memory on one thread", "a checkpoint, at most"):
            stated = re.search(place + r" +([\d.]+) MiB", output)
            self.assertGreater(float(stated[1]), 100000 * 11 * 8 / 2**20)  # ten labels and a value
            self.assertLess(float(stated[1]), 30.0)

    def test_check_knows_the_steps_of_a_run_without_a_link(self):
        output = self.check_small({"aggregator.plugin": "genie"})
        self.assertRegex(output, r"training +30 rounds of at most \d+ steps with \d+ samples")
        self.assertNotIn("steps of a round", output)

    def test_a_resume_and_threads_change_nothing(self):
        """The tables in the checkpoints are deflated."""
        whole = self.run_small(MANY, rounds=24)
        folder = self.path("stopped")
        self.stopped_small(folder, MANY, rounds=24)
        resumed = self.run_small(MANY, rounds=24, folder=folder, threads=3)
        self.assertEqual(resumed.bytes("rounds.csv"), whole.bytes("rounds.csv"))
        self.assertEqual(resumed.parameters(), whole.parameters())
        for slot in (0, 1):  # 14 numbers of the history for each client alone are 1.1 MB
            self.assertLess(os.path.getsize(folder + "/checkpoint.%d" % slot), 500000)


class Folding(ProductTest):
    """Updates that are added up while others are made; where a client that diverges is dropped,
    all are kept until the end of the round."""
    FULL = {"clients.count": 60, "clients.storage": 60, "clients.arrivals": 4,
            "uplink.loss_probability": 0.2}

    def test_same_bytes(self):
        rules = ("fedavg", "fedprox", "fednova", "afa_cd", "feddisco", "fedadam", "fedavgm",
                 "fedyogi")
        for rule in rules:
            settings = {**self.FULL, "aggregator.plugin": rule}
            kept = self.run_small({**settings, "on_divergence": "drop"})
            self.assertGreater(int(kept.rows("rounds.csv")[0]["participants"]), 3 * 8)
            for threads in (1, 3):
                folded = self.run_small(settings, threads=threads)
                for table in ("rounds.csv", "clients.csv"):
                    self.assertEqual(folded.bytes(table), kept.bytes(table), rule)
                self.assertEqual(folded.parameters(), kept.parameters(), rule)

    def test_check_states_what_is_held(self):
        many = {**self.FULL, "clients.count": 3000, "aggregator.plugin": "fedavg",
                "quantizer.plugin": "none", "model.plugin": "mlp"}
        folded = re.search(r"updates of a round +([\d.]+) MiB for each thread, where 8 at a time "
                           r"are added up .* and ([\d.]+) MiB", self.check_small(many))
        kept = re.search(r"updates of a round +([\d.]+) MiB in memory",
                         self.check_small({**many, "on_divergence": "drop"}))
        self.assertAlmostEqual(float(folded[1]), 8 * float(folded[2]) / 2, delta=0.3)
        self.assertGreater(float(kept[1]), 100 * float(folded[1]))

    def test_check_states_the_tables(self):
        """Some hundred bytes for each client that trains, and more where its code is kept."""
        many = {**self.FULL, "clients.count": 3000, "aggregator.plugin": "fedavg"}
        table = re.compile(r"their tables +([\d.]+) MiB")
        folded, kept = (float(table.search(self.check_small(many, {"on_divergence": rule}))[1])
                        for rule in ("stop", "drop"))
        self.assertGreater(folded, 3000 * 300 / 2**20)
        self.assertGreater(kept, folded)
        self.assertLess(kept, 3000 * 700 / 2**20)

    def test_a_client_that_diverges(self):
        output = self.osafl("run", osafl_run.SMALL, "--out", self.path("run"), status=1,
                            *osafl_run.arguments({**self.FULL, "aggregator.plugin": "fedavg",
                                                  "model.plugin": "mlp",
                                                  "optimizer.sgd.learning_rate": 1e6}))
        self.assertRegex(output, r"client \d+.*not finite.*on_divergence = \"drop\"")


class Workloads(ProductTest):
    def test_files(self):
        """The experiment files of tests/bench/workloads are experiments."""
        folder = os.path.join(osafl_run.SOURCE_TREE, "tests", "bench", "workloads")
        self.assertGreaterEqual(len(os.listdir(folder)), 3)
        for name in os.listdir(folder):
            self.osafl("run", os.path.join(folder, name), "--list")

    def test_million_with_fewer_clients(self):
        """One of a hundred is asked."""
        folder = self.path("run")
        self.osafl("run", os.path.join(osafl_run.SOURCE_TREE, "tests/bench/workloads/million.cfg"),
                   "--out", folder, *osafl_run.arguments({"clients.count": 1000, "rounds": 3}))
        self.assertEqual([row["participants"] for row in osafl_run.Run(folder).rows("rounds.csv")],
                         ["10"] * 3)


if __name__ == "__main__":
    osafl_run.main()
