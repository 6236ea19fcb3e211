"""Stores that begin below their capacity, arrivals from a table, samples assigned by one."""
import json
import re

import osafl_run
from osafl_run import ProductTest, csv_table, natural, plugins

EMPTY = {"arrival.plugin": "steady", "arrival.steady.fill": 0.0}


class Stores(ProductTest):
    def sizes(self, run, clients):
        """samples of clients.csv, a list a round."""
        column = [int(row[0]) for row in run.clients("samples")]
        return [column[i:i + clients] for i in range(0, len(column), clients)]

    def check_run(self, run, rounds):
        for file in ("rounds.csv", "clients.csv"):
            self.assertNotRegex(run.bytes(file).decode(), r"(?i)\b(nan|inf)\b")
        self.assertEqual(len(run.rows("rounds.csv")), rounds)

    def test_growth_with_every_deletion(self):
        """Nobody has a sample in round 0, so that the round is empty; stores grow by E_u."""
        for name in plugins("deletion"):
            run = self.run_small(EMPTY, {"deletion.plugin": name}, rounds=14)
            self.check_run(run, 14)
            sizes = self.sizes(run, 9)
            self.assertEqual(sizes[0], [0] * 9)
            capacity = sizes[-1]
            for t, now in enumerate(sizes):
                self.assertEqual(now, [min(c, t * e) for c, e in zip(capacity, sizes[1])])
            self.assertEqual(run.rounds("participants")[0], 0)
            self.assertGreater(run.rounds("participants")[1], 0)
            first = run.rows("clients.csv")[0]
            self.assertEqual((first["reason"], first["label_entropy"]), ("absent", ""))

    def test_nobody_is_there(self):
        """Told once, and of the arrival."""
        text = self.osafl("run", osafl_run.SMALL, "--quiet", "--out", self.path("told"),
                          *osafl_run.arguments({**EMPTY, "rounds": 3, "arrival.steady.fill": 0.0}))
        self.assertEqual(text.count("is empty"), 1, text)
        self.assertIn("arrival/steady, round 0: no available client has a sample", text)

    def test_every_aggregator(self):
        for name in plugins("aggregator"):
            with self.subTest(aggregator=name):
                self.check_run(self.run_small(EMPTY, {"aggregator.plugin": name}, rounds=3), 3)

    def test_evaluation_per_client(self):
        for settings in ({}, {"uplink.late": '"carry"', "aggregator.plugin": "fedbuff"}):
            run = self.run_small(EMPTY, settings, {"evaluation.per_client": True}, rounds=3)
            self.check_run(run, 3)

    def test_resume(self):
        settings = {**EMPTY, "partition.dirichlet.concentration": 0.1, "training.minibatches": 20,
                    "drift.plugin": "redraw", "drift.redraw.probability": 0.2}
        whole = self.run_small(settings, rounds=24)
        folder = self.path("stopped")
        self.stopped_small(folder, settings, rounds=24)
        resumed = self.run_small(settings, folder=folder, rounds=24)
        for name in ("rounds.csv", "clients.csv", "model.safetensors"):
            self.assertEqual(whole.bytes(name), resumed.bytes(name), name)

    def test_check(self):
        text = self.check_small(EMPTY)
        self.assertRegex(text, r"with 0 samples in stores for \d+")
        self.assertIn("empty stores: 9", text)
        self.assertRegex(self.check_small(), r"with (\d+) samples; \d+ arrive in a round")
        self.assertIn('partition              "dirichlet", concentration = 0.3, form = "symmetric"',
                      self.check_small())
        self.assertIn('form = "weighted"',
                      self.check_small({"partition.dirichlet.form": '"weighted"'}))

    def test_stores_that_outgrow_the_machine(self):
        """They are refused before they are filled, by check and by run."""
        groups = "({clients = 999; storage = 2147483647; arrivals = 2;})"
        huge = {"clients.count": 1000, "clients.groups": groups}
        for command in (("check",), ("run", "--out", self.path("huge"))):
            text = self.osafl(*command, osafl_run.SMALL, *osafl_run.arguments(huge), status=1)
            self.assertRegex(text, r"the stores of 1000 clients, with \d+ samples in all, need "
                             r"319\d\d\.\d GiB, and this machine has \d+\.\d GiB; lower "
                             r"clients.count, clients.storage or the storage in clients.groups")

    def test_groups(self):
        """Five clients with stores of 50, three with stores of 20 to 30, one as drawn."""
        plain = self.check_small()
        groups = "({clients = 5; storage = 50; arrivals = 2;}, {clients = 3; storage = [20, 30];})"
        text = self.check_small({"clients.groups": groups})
        rows = [re.findall(r"(?m)^ +%d +(\d+) +(\d+) " % u, t)[0] for t in (text, plain)
                for u in range(9)]
        self.assertEqual(rows[:5], [("50", "2")] * 5)
        self.assertTrue(all(20 <= int(n) <= 30 for n, _ in rows[5:8]), rows)
        self.assertEqual([e for _, e in rows[5:9]], [e for _, e in rows[14:]])
        self.assertEqual(rows[8], rows[17])
        manifests = [json.loads(self.run_small(s, rounds=1).bytes("manifest.json"))
                     for s in ({"clients.groups": "()"}, {})]
        self.assertEqual(manifests[0]["identity"], manifests[1]["identity"])
        self.assertIn("clients.groups[1] ends with client 9, but clients.count is 9", self.check_small(
            {"clients.groups": "({clients = 5;}, {clients = 5;})"}, status=2))

    def test_trace(self):
        """A store begins empty and holds what the table has brought; who is away is absent."""
        rows = [(t, u, (3 * t + u) % 5, int((t + u) % 4 > 0)) for t in range(6) for u in range(9)]
        text = "round,client,samples,present\n" + "".join("%d,%d,%d,%d\n" % row for row in rows)
        path = self.path("arrivals.csv", text)
        trace = {"arrival.plugin": "trace", "arrival.trace.path": '"%s"' % path,
                 "arrival.trace.fill": 0.0, "clients.arrivals": 0}
        run = self.run_small(trace, rounds=6)
        self.check_run(run, 6)
        expected = [0] * 9
        for t, now in enumerate(self.sizes(run, 9)):
            self.assertEqual(now, expected)
            reasons = [row["reason"] for row in run.rows("clients.csv")[9 * t:9 * t + 9]]
            for u in range(9):
                away = (t + u) % 4 == 0 or now[u] == 0
                self.assertEqual(reasons[u] == "absent", away, (t, u))
            expected = [n + (3 * t + u) % 5 for u, n in enumerate(expected)]
        answer = self.osafl("run", osafl_run.SMALL, "--out", self.path("refused"),
                            *osafl_run.arguments({**trace, "rounds": 7}), status=2)
        self.assertIn("holds 6 rounds, the experiment needs 7", answer)

    def test_numbers_of_its_own(self):
        """Numbers from a table are not compared with clients.arrivals; those of steady are."""
        path = self.path("arrivals.csv", "round,client,samples,present\n0,0,5,1\n1,3,20,1\n")
        more = {"clients.storage": 20, "clients.arrivals": 50, "clients.activity": [1.0, 1.0]}
        trace = {"arrival.plugin": "trace", "arrival.trace.path": '"%s"' % path, **more,
                 "arrival.trace.at_end": '"nothing"'}
        groups = "({clients = 5; storage = 30; arrivals = 40;})"
        kept = [self.run_small({**trace, **other}, rounds=2).bytes("clients.csv")
                for other in ({}, {"clients.arrivals": 0}, {"clients.groups": groups})]
        self.assertEqual(kept[0], kept[1])
        self.assertIn("arrival/trace, whatever clients.arrivals is", self.check_small(trace))
        self.assertRegex(self.check_small(trace), r"(?m)^ +8 +20 +- ")
        self.assertIn("clients.arrivals: more samples would arrive in a round, 50, than "
                      "clients.storage = 20 holds", self.check_small(more, status=2))
        self.assertIn("client 0 stores 30 samples and would receive 40", self.check_small(
            {"clients.groups": groups}, status=2))

    def test_assigned(self):
        """Client u has label u and nothing else; samples that are not listed are nobody's."""
        table = csv_table([([i % 7, i % 5], i // 100, 0) for i in range(400)])
        text = "client,sample\n" + "".join("%d,%d\n" % (i // 100, i) for i in range(0, 300, 2))
        path = self.path("owners.csv", text)
        table = '"%s"' % self.path("table.csv", table)
        settings = {**natural(table, 3, 40), "dataset.csv.test_path": table,
                    "partition.plugin": "assigned", "partition.assigned.path": '"%s"' % path}
        text_of_check = self.check_small(settings)
        for u in range(3):
            self.assertRegex(text_of_check, r"(?m)^ +%d +40 .* %d:40$" % (u, u))
        self.assertIn("left out: 250 of 400 training samples", text_of_check)
        for row, word in (("0,0", ":152: sample 0 belongs to client 0 already"),
                          ("1,-4", ":152: column 2"), ("1,400", ":152: sample 400 is missing"),
                          ("3,1", ":152: client 3 is unknown, there are 0 .. 2; raise "
                                  "clients.count or remove the row"),
                          ("1,3,3", ":152: has 3 columns")):
            self.path("owners.csv", text + row + "\n")
            self.assertIn(path + word, self.check_small(settings, status=2))
        self.assertIn("the data set is endless",
                      self.check_small({"partition.plugin": "assigned",
                                        "partition.assigned.path": '"%s"' % path}, status=2))

    def once(self, storage):
        """Clients with 10, 7 and 30 samples of their own, of which 3 arrive in a round."""
        owners = [u for u, n in enumerate((10, 7, 30)) for _ in range(n)]
        table = '"%s"' % self.path("table.csv", csv_table(
            [([i % 7, i % 5], i % 2, u) for i, u in enumerate(owners)]))
        return {**natural(table, 3, storage), "dataset.csv.test_path": table,
                "clients.arrivals": 3, "clients.deal_once": True, "evaluation.prequential": True}

    def test_once(self):
        """After a store of 4, clients 0 and 1 have 6 and 3 samples left: two rounds and one."""
        settings = self.once(4)
        run = self.run_small(settings, rounds=5)
        self.assertEqual(run.rounds("arrived_samples"), [9, 6, 3, 3, 3])
        self.assertEqual(self.sizes(run, 3), [[4, 4, 4]] * 5)
        text = self.osafl("run", osafl_run.SMALL, "--out", self.path("told"),
                          *osafl_run.arguments({**settings, "rounds": 5}))
        self.assertIn("note: 21 samples did not arrive, as each is dealt once and those of the "
                      "training split were used up (client 0: 9 samples, client 1: 12 samples)",
                      text)
        again = self.run_small(settings, {"clients.deal_once": False}, rounds=5)
        self.assertEqual(again.rounds("arrived_samples"), [9] * 5)

    def test_once_where_stores_are_larger(self):
        """Stores for 20 begin with what there is; 10 of client 2's are left: 3, 3, 3, 1, 0."""
        settings = self.once(20)
        run = self.run_small(settings, rounds=5)
        self.assertEqual(self.sizes(run, 3)[0], [10, 7, 20])
        self.assertEqual(run.rounds("arrived_samples"), [3, 3, 3, 1, 0])
        text = self.check_small(settings)
        self.assertIn("with 37 samples in stores for 60", text)
        self.assertIn("missing, as clients hold more than there is: client 0: 10 samples, "
                      "client 1: 13 samples", text)

    def test_once_with_labels(self):
        """A label a round and few samples of each, so that some clients never get any.  Resumed;
        the forecast of check deals as the run does."""
        settings = {"dataset.plugin": "csv", "dataset.csv.path": '"%s"' % self.path(
                        "many.csv", csv_table([([i % 7, i % 5], i % 4, 0) for i in range(120)])),
                    "dataset.csv.ignore": '"client"', "clients.deal_once": True, **EMPTY,
                    "clients.storage": 100, "clients.arrivals": 20, "partition.plugin": "tasks",
                    "partition.tasks.labels": 1, "drift.plugin": "recurrent",
                    "drift.recurrent.period": 1, "drift.recurrent.mixes": 4}
        whole = self.run_small(settings, rounds=24)
        folder = self.path("stopped")
        self.stopped_small(folder, settings, rounds=24)
        resumed = self.run_small(settings, folder=folder, rounds=24)
        for name in ("rounds.csv", "clients.csv", "model.safetensors"):
            self.assertEqual(whole.bytes(name), resumed.bytes(name), name)
        away = sum(row["reason"] == "absent" for row in whole.rows("clients.csv"))
        self.assertTrue(24 < away < 24 * 8, away)
        text = self.check_small({**settings, "rounds": 24})
        self.assertRegex(text, r"sitting out .*absent %s %%" % re.escape(
            "%.4g" % (100 * away / (24 * 9))))


if __name__ == "__main__":
    osafl_run.main()
