"""A run does not go on with other data than those with which it began."""
import gzip
import json
import random
import re

import osafl_run
from osafl_run import SMALL, ProductTest, Run, arguments

ROUNDS = 250


class Inputs(ProductTest):
    def table_lines(self, seed=1, ignored="a"):
        random.seed(seed)
        return ["x,y,note,label"] + ["%r,%r,%s%d,%d" % (random.random(), random.random(), ignored,
                                                        i, i % 3) for i in range(300)]

    def table(self, seed=1):
        return self.path("table.csv", "\n".join(self.table_lines(seed)) + "\n")

    def gains(self, factor=1.0):
        rows = [",".join(repr(factor * 1e-11 * (u + 1)) for u in range(9)) for _ in range(3)]
        return self.path("gains.csv", "\n".join(rows) + "\n")

    def settings(self):
        return {"dataset.plugin": "csv", "dataset.csv.path": '"%s"' % self.table(),
                "dataset.csv.ignore": '"note"', "channel.plugin": "trace",
                "channel.trace.path": '"%s"' % self.gains(), "channel.trace.at_end": '"cycle"',
                "evaluation.samples": 40}

    def go_on(self, folder, settings, *more, status):
        return self.osafl("run", SMALL, "--quiet", "--threads", "1", "--out", folder, *more,
                          *arguments({"rounds": ROUNDS, **settings}), status=status)

    def check_refused(self, change, name):
        """A stopped run after `change` of its data."""
        settings, folder = self.settings(), self.path("run")
        self.stopped_small(folder, settings, rounds=ROUNDS)
        before = json.loads(Run(folder).bytes("manifest.json"))["inputs_xxh3"]
        self.assertEqual(sorted(before), ["channel.trace.path", "samples of dataset/csv"])
        change()
        output = self.go_on(folder, settings, status=2)
        found = re.search("the content of %s was (\\w+) and is (\\w+)" % re.escape(name), output)
        self.assertEqual(found[1], before[name])
        self.assertNotEqual(found[2], before[name])
        self.assertIn("--accept-changes resumes anyway, --force starts over", output)

        self.go_on(folder, settings, "--accept-changes", status=0)
        self.assertIn("the content of " + name, Run(folder).bytes("changes.txt").decode())
        # The run is complete, and other data again would give other results.
        self.go_on(folder, settings, status=0)
        self.table(seed=3)
        self.go_on(folder, settings, status=2)

    def test_other_samples(self):
        self.check_refused(lambda: self.table(seed=2), "samples of dataset/csv")

    def test_one_other_value(self):
        def change():
            lines = self.table_lines()
            lines[150] = "0.5" + lines[150][lines[150].index(","):]
            self.path("table.csv", "\n".join(lines) + "\n")
        self.check_refused(change, "samples of dataset/csv")

    def test_other_gains(self):
        self.check_refused(lambda: self.gains(factor=2.0), "channel.trace.path")

    def test_same_samples_from_another_file(self):
        """What is not read may change: the samples are the same."""
        settings, folder = self.settings(), self.path("run")
        whole = self.run_small(settings, rounds=ROUNDS)
        self.stopped_small(folder, settings, rounds=ROUNDS)
        text = "\n".join(self.table_lines(ignored="b"))
        with gzip.open(self.path("table.csv"), "wt") as file:
            file.write(text)
        resumed = self.run_small(settings, folder=folder, rounds=ROUNDS)
        for name in ("rounds.csv", "clients.csv", "model.safetensors", "manifest.json"):
            self.assertEqual(resumed.bytes(name), whole.bytes(name), name)


if __name__ == "__main__":
    osafl_run.main()
