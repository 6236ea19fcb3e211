"""Every plugin runs, with every one of its choices, and the help knows it."""
import os
import re

import osafl_run
from osafl_run import SOURCE_TREE, ProductTest, csv_table, natural, plugins

KINDS = ("model", "channel", "resource", "optimizer", "quantizer", "deletion", "aggregator",
         "partition", "drift", "arrival", "selection", "filter")
# Clients that sit out, a link that loses updates, labels that drift: much of a world in 2 rounds.
WORLD = {"clients.count": 4, "clients.storage": 40, "clients.arrivals": 6,
         "arrival.plugin": '"binomial"', "uplink.loss_probability": 0.1,
         "training.minibatches": 2, "training.max_local_rounds": 2, "evaluation.samples": 20}
SHORT = {"clients.count": 1, "clients.storage": 8, "clients.arrivals": 2, "training.batch": 2,
         "training.minibatches": 1, "evaluation.samples": 2}
LARGE = {"cnn": SHORT, "squeezenet": SHORT, "resnet18": SHORT}
# Plugins that need a partner.
PARTNERS = {"optimizer/scaffold": {"aggregator.plugin": "scaffold"},
            "optimizer/fedper": {"optimizer.fedper.learning_rate": 0.02},
            "model/network": {"model.network.layers":
                              '({ flatten = true; }, { linear = "classes"; })'}}


class Plugins(ProductTest):
    def settings_of(self, kind, name):
        """Settings to try: the defaults, and each other choice and switch alone."""
        yield {}
        text = self.osafl("help", kind + "/" + name)
        for key, choices in re.findall(r'^  (\w+) +one of ((?:"\w+",? ?)+)=', text, re.M):
            for choice in re.findall(r'"(\w+)"', choices):
                yield {"%s.%s.%s" % (kind, name, key): '"%s"' % choice}
        for key, value in re.findall(r"^  (\w+) +bool = (true|false)", text, re.M):
            yield {"%s.%s.%s" % (kind, name, key): value == "false"}

    def needed(self, kind, name):
        """Settings without which a plugin cannot run here."""
        if (kind, name) == ("channel", "trace"):
            gains = [",".join(["1e-12", "2e-12", "3e-12", "4e-12"])] * 2
            return {"channel.trace.path": '"%s"' % self.path("gains.csv", "\n".join(gains) + "\n")}
        if (kind, name) == ("arrival", "trace"):
            path = self.path("arrivals.csv", "round,client,samples,present\n0,2,3,1\n1,0,2,0\n")
            return {"arrival.trace.path": '"%s"' % path}
        table = csv_table([([i % 3, i % 5], i % 2, i % 4) for i in range(40)])
        if (kind, name) == ("arrival", "timed"):
            return {**natural('"%s"' % self.path("timed.csv", table), 4, 40),
                    "dataset.csv.time": "x0", "arrival.timed.period": 1.0}
        if (kind, name) in (("partition", "assigned"), ("partition", "natural")):
            owners = self.path("owners.csv", "sample,client\n0,0\n1,1\n2,2\n3,3\n4,0\n")
            return {**natural('"%s"' % self.path("owned.csv", table), 4, 40),
                    "partition.plugin": name, "partition.assigned.path": '"%s"' % owners}
        return {**PARTNERS.get(kind + "/" + name, {}), **LARGE.get(name, {})}

    def check_run(self, run):
        for file in ("rounds.csv", "clients.csv"):
            self.assertNotRegex(run.bytes(file).decode(), r"(?i)\b(nan|inf)\b")
        self.assertEqual(len(run.rows("rounds.csv")), 2)

    def test_every_plugin_and_choice(self):
        tried = 0
        for kind in KINDS:
            for name in plugins(kind):
                for settings in self.settings_of(kind, name):
                    if "channel.trace.layout" in settings:
                        continue  # its table is of another form: tests/cli/channel_replay.sh
                    with self.subTest(plugin=kind + "/" + name, settings=settings):
                        self.check_run(self.run_small(WORLD, {kind + ".plugin": name},
                                                      self.needed(kind, name), settings, rounds=2))
                        tried += 1
        self.assertGreater(tried, 80)

    def test_help_knows_every_plugin_and_setting(self):
        listed = self.osafl("plugins")
        everything = ""
        for kind in KINDS + ("dataset",):
            for name in plugins(kind):
                self.assertRegex(listed, r"(?m)^  %s +\d" % name)
                text = self.osafl("help", kind + "/" + name)
                self.assertIn("license   MIT", text)
                everything += text
        for word in ("mu", "option", "variant", "participation", "server_learning_rate",
                     "noise_figure_db", "bs_antenna_gain_dbi", "initial_power", "norm",
                     "error_feedback", "discrepancy", "trim", "byzantine", "momentum"):
            self.assertRegex(everything, r"(?m)^  %s +" % word)

    def test_resnet18_is_as_large_as_it_should_be(self):
        self.assertRegex(self.check_small({"model.plugin": "resnet18"}), r"parameters +11175370\n")
        self.assertRegex(self.check_small({"model.plugin": "squeezenet"}), r"parameters +726474\n")
        self.assertRegex(self.check_small({"model.plugin": "cnn"}), r"parameters +955722\n")


class Experiments(ProductTest):
    def test_every_experiment_of_the_tree_is_right(self):
        """All settings known, all plugins there; data files are another matter.  Parts of
        experiments (include, networks) are tried with those that include them."""
        folder = os.path.join(SOURCE_TREE, "experiments")
        files = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names
                 if name.endswith(".cfg") and os.path.basename(path) not in ("include", "networks")]
        self.assertGreater(len(files), 1)
        for file in files:
            with self.subTest(file=os.path.relpath(file, folder)):
                self.osafl("run", file, "--list")

    def test_comparison_has_every_aggregator(self):
        file = os.path.join(SOURCE_TREE, "experiments", "algorithms.cfg")
        with open(file) as text:
            named = re.findall(r'aggregator: \{\s*plugin = "(\w+)"', text.read())
        self.assertEqual(sorted(set(named)), plugins("aggregator"))


if __name__ == "__main__":
    osafl_run.main()
