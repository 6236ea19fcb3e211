"""results.clients: whose rows clients.csv has, and that reports say the same of runs with fewer."""
import glob
import re

import osafl_run
from osafl_run import SMALL, ProductTest, arguments

HALF = {"selection.plugin": "uniform", "selection.uniform.share": 0.5,
        "arrival.plugin": "binomial", "uplink.loss_probability": 0.2}
MANY = {"clients.count": 10001, "clients.storage": 2, "clients.arrivals": 0, "training.batch": 2,
        "training.minibatches": 1, "training.max_local_rounds": 1, "evaluation.samples": 20,
        "selection.plugin": "uniform", "selection.uniform.share": 0.001, "resource.plugin": "fixed"}


class ClientRows(ProductTest):
    def rows(self, choice, threads=1):
        return self.run_small(HALF, {"results.clients": choice}, rounds=6, threads=threads)

    def test_asked_has_the_rows_of_all_but_the_absent(self):
        everyone = self.rows("all")
        asked = self.rows("asked", threads=2)
        none = self.rows("none")
        wanted = [row for row in everyone.rows("clients.csv") if row["reason"] != "absent"]
        self.assertLess(0, len(wanted))
        self.assertLess(len(wanted), 6 * 9)
        self.assertEqual(asked.rows("clients.csv"), wanted)
        self.assertEqual(none.rows("clients.csv"), [])
        for run in (asked, none):
            self.assertEqual(run.bytes("rounds.csv"), everyone.bytes("rounds.csv"))
            self.assertEqual(run.parameters(), everyone.parameters())

    def test_up_to_10000_clients_have_rows_and_beyond_only_who_is_asked(self):
        self.assertEqual(len(self.run_small(rounds=2).rows("clients.csv")), 18)
        folder = self.path("many")
        text = self.osafl("run", SMALL, "--out", folder, *arguments({**MANY, "rounds": 2}))
        self.assertRegex(text, r"clients\.csv holds the clients that are asked, as there are more "
                               r"than 10000 \(results\.clients\)")
        rows = osafl_run.Run(folder).rows("clients.csv")
        self.assertLess(0, len(rows))
        self.assertLessEqual(len(rows), 2 * 11)
        self.assertTrue(all(row["label_entropy"] != "" for row in rows))

    def test_resume(self):
        whole = self.run_small(HALF, {"results.clients": "asked"}, rounds=24)
        folder = self.path("stopped")
        self.stopped_small(folder, HALF, {"results.clients": "asked"}, rounds=24)
        resumed = self.run_small(HALF, {"results.clients": "asked"}, rounds=24, folder=folder)
        self.assertEqual(resumed.bytes("clients.csv"), whole.bytes("clients.csv"))

    def test_reports_say_the_same(self):
        """Shares of absent clients, and the distribution of local rounds, count those without rows."""
        shares, points = {}, {}
        for choice in ("all", "asked"):
            folder = self.rows(choice).folder
            table = re.search(r"Why clients did not take part.*\n(.*)\n-+\n(.*)\n",
                              self.osafl("report", folder))
            shares[choice] = dict(zip(table.group(1).split(), table.group(2).split()[1::2]))
            self.osafl("plot", folder, "--figure", "ccdf", "--out", self.path(choice))
            data, = glob.glob(self.path(choice) + "/*.dat")
            with open(data) as file:
                points[choice] = [line for line in file if not line.startswith("#")]
        self.assertEqual(shares["all"], shares["asked"])
        self.assertIn("absent", shares["all"])
        self.assertEqual(points["all"], points["asked"])
        self.assertGreater(len(points["all"]), 2)

    def test_none(self):
        folder = self.rows("none").folder
        self.assertNotIn("Why clients did not take part", self.osafl("report", folder))
        self.assertIn("--figure ccdf: no run here has values for it",
                      self.osafl("plot", folder, "--figure", "ccdf", status=2))

    def test_damage(self):
        """Rows that do not ascend are no table of clients."""
        run = self.rows("asked")
        lines = run.bytes("clients.csv").decode().splitlines(keepends=True)
        with open(run.folder + "/clients.csv", "w") as file:
            file.writelines([lines[0], lines[2], lines[1], *lines[3:]])
        self.assertIn("clients.csv:3: clients and rounds do not ascend; rows are doubled or in "
                      "disorder", self.osafl("report", run.folder))


if __name__ == "__main__":
    osafl_run.main()
