"""What `osafl check` says about an experiment before anything is trained."""
import math
import os
import random
import re
import time

import osafl_run
from osafl_run import LOSSLESS, ProductTest, arguments, csv_table, natural, number, plugins

CLIENT_ROW = re.compile(r" *(\d+) +(\d+) +(\d+) +([\d.]+) +([\d.]+)  ((?: \d+:\d+)+)( \.\.\.)?$")


class Partition(ProductTest):
    """Samples, label histogram, entropy, smallest and largest client for every scheme."""

    def check_partition(self, *settings):
        """The clients' rows [(samples, entropy, {label: count})]; everything that is printed must
        agree."""
        output = self.check_small(*settings)
        rows = []
        for line in output.splitlines():
            row = CLIENT_ROW.match(line)
            if row:
                self.assertEqual(int(row[1]), len(rows))
                histogram = {int(label): int(count) for label, count in
                             re.findall(r"(\d+):(\d+)", row[6])}
                rows.append((int(row[2]), float(row[5]), histogram))
        for samples, entropy, histogram in rows:
            self.assertEqual(sum(histogram.values()), samples)
            shares = [count / samples for count in histogram.values()]
            self.assertAlmostEqual(entropy, -sum(p * math.log(p) for p in shares), 3)
        facts = re.search(r"smallest client: (\d+) with (\d+) samples; largest: (\d+) with (\d+)",
                          output)
        sizes = [samples for samples, _, _ in rows]
        self.assertEqual([int(each) for each in facts.groups()],
                         [sizes.index(min(sizes)), min(sizes), sizes.index(max(sizes)), max(sizes)])
        self.assertIn("clients: %d, with %d samples" % (len(rows), sum(sizes)), output)
        everything = re.search(r"labels of all stores:(.*)", output)[1]
        for label, count in re.findall(r"(\d+):(\d+)", everything):
            self.assertEqual(int(count), sum(row[2].get(int(label), 0) for row in rows))
        return rows, output

    def test_dirichlet(self):
        """From one label for each client to all labels for all."""
        entropies = []
        for concentration in (1e-8, 1e-3, 0.1, 0.3, 1.0, 100.0, 1e6):
            rows, _ = self.check_partition({"partition.dirichlet.concentration": concentration,
                                            "clients.storage": 2000})
            entropies.append(sum(row[1] for row in rows) / len(rows))
        self.assertEqual(entropies, sorted(entropies))
        self.assertLess(entropies[0], 0.01)
        self.assertGreater(entropies[-1], math.log(10) - 0.01)

    def test_dirichlet_with_many_clients_returns_at_once(self):
        for concentration in (1e-300, 1e-8, 1e-4, 1.0, 1e4, 1e6, 1e300):
            start = time.process_time(), time.monotonic()
            output = self.check_small({"clients.count": 100,
                                       "partition.dirichlet.concentration": concentration})
            self.assertLess(time.monotonic() - start[1], 20)  # the machine may be busy
            self.assertIn("clients: 100, with ", output)
            self.assertIn("... and 50 more", output)

    def test_iid(self):
        rows, _ = self.check_partition({"partition.plugin": '"iid"', "clients.storage": 4000,
                                        "clients.arrivals": 0})
        for samples, _, histogram in rows:
            for label in range(10):
                self.assertAlmostEqual(histogram[label] / samples, 0.1, delta=0.03)

    def test_shards(self):
        for labels in (1, 2, 10):
            rows, _ = self.check_partition({"partition.plugin": '"shards"',
                                            "partition.shards.labels": labels})
            self.assertEqual({len(row[2]) for row in rows}, {labels})
        output = self.check_small({"partition.plugin": '"shards"',
                                   "partition.shards.labels": 11}, status=2)
        self.assertIn("partition.shards.labels is 11", output)
        self.assertIn("choose 1 .. 10", output)

    def test_natural(self):
        random.seed(1)
        samples = [([random.random(), random.random()], random.randrange(3), "abcd"[i % 4])
                   for i in range(80)]
        table = self.path("table.csv", csv_table(samples))
        settings = natural(table, 4, 20)
        rows, output = self.check_partition(settings, {"dataset.csv.test_path": table})
        for u, (size, _, histogram) in enumerate(rows):
            own = [label for _, label, owner in samples if owner == "abcd"[u]]
            self.assertEqual(histogram, {label: own.count(label) for label in set(own)})
            self.assertEqual(size, 20)
        self.assertNotIn("left out", output)
        _, output = self.check_partition(settings, {"dataset.csv.test_path": table,
                                                    "clients.count": 3})
        self.assertIn("left out: 20 of 80 training samples", output)

    def test_the_run_warns_of_samples_left_out(self):
        """With the words of check, when it begins and not when it goes on."""
        table = self.path("table.csv", csv_table([([float(i)], i % 2, i % 4) for i in range(80)]))
        settings = {**natural(table, 3, 20), "dataset.csv.test_path": table, "rounds": 4}
        run = ["run", osafl_run.SMALL, "--out", self.path("run"), *arguments(settings)]
        line = re.search("(?m)^left out: .*", self.check_small(settings)).group()
        self.assertEqual(self.osafl(*run).count("osafl: warning: " + line + "\n"), 1)
        os.remove(os.path.join(self.path("run"), "model.safetensors"))
        again = self.osafl(*run)
        self.assertIn("resuming after round 4", again)
        self.assertNotIn("left out", again)
        whole = {**settings, "clients.count": 4}
        self.assertNotIn("left out", self.osafl("run", osafl_run.SMALL, "--out",
                                                self.path("whole"), *arguments(whole)))

    def test_natural_needs_owners(self):
        table = self.path("table.csv", csv_table([([float(i)], i % 2, i % 5) for i in range(50)]))
        nobody = {**natural(table, 5, 5), "dataset.csv.client": '""',
                  "dataset.csv.ignore": '"client"'}
        output = self.check_small(nobody, status=2)
        self.assertIn("dataset.csv.client", output)
        self.assertNotIn("clients.count", output)
        output = self.check_small({"partition.plugin": '"natural"'}, status=2)
        self.assertIn('dataset "glyphs" does not say to whom', output)
        output = self.check_small({**natural(table, 5, 5), "dataset.csv.client": '"owner"'},
                                  status=2)
        self.assertIn('dataset.csv.client: no column is named "owner"', output)


class Forecast(ProductTest):
    """Participation is known before the run, and is what the run then records."""

    SCARCE = {"channel.tr38901.radius_m": 1600.0, "deadline_s": 2.0, "selection.plugin": "uniform", "selection.uniform.share": 0.8}

    def forecast(self, *settings):
        output = self.check_small(*settings)
        taking_part = re.search(r"taking part +([\d.e+-]+) % of the (\d+) client-rounds", output)
        local_rounds = re.search(r"local rounds +mean ([\d.]+); all (\d+) in ([\d.e+-]+) %", output)
        sitting_out = re.search(r"sitting out +(.*)", output)
        reasons = re.findall(r"(\w+) ([\d.e+-]+) %", sitting_out[1]) if sitting_out else []
        cost = re.search(r"mean cost +([\d.e+-]+) J of computing, ([\d.e+-]+) J of sending, "
                         r"([\d.e+-]+) Mbit", output)
        return (number(taking_part[1]), int(taking_part[2]), local_rounds and local_rounds.groups(),
                {reason: number(share) for reason, share in reasons},
                cost and [number(each) for each in cost.groups()])

    def check_forecast(self, *settings, rounds=12):
        share, all_of_them, local_rounds, reasons, cost = self.forecast({"rounds": rounds},
                                                                        *settings)
        run = self.run_small(*settings, rounds=rounds)
        rows = run.clients("participates", "reason", "local_rounds")
        self.assertEqual(all_of_them, len(rows))
        self.assert_percent(share, [row[0] == "1" for row in rows])
        for reason in set(reasons) | {row[1] for row in rows if row[1]}:
            self.assert_percent(reasons[reason], [row[1] == reason for row in rows])
        taking_part = [int(row[2]) for row in rows if row[0] == "1"]
        self.assertEqual(float(local_rounds[0]), round(sum(taking_part) / len(taking_part), 2))
        self.assert_percent(number(local_rounds[2]), [row[2] == local_rounds[1] for row in rows])
        for value, column, factor in zip(cost, ("compute_j", "upload_j", "uplink_payload_bits"),
                                         (1, 1, 1e-6)):
            mean = factor * sum(run.rounds(column)) / rounds
            self.assertAlmostEqual(value / mean, 1.0, delta=6e-4, msg=column)
        return reasons

    def assert_percent(self, share, flags):
        self.assertAlmostEqual(share, 100.0 * sum(flags) / len(flags), delta=0.006)

    def test_scarce_resources(self):
        reasons = self.check_forecast(self.SCARCE, LOSSLESS)
        self.assertGreater(len(reasons), 2, "the setting shows too little")

    def test_every_policy_and_channel(self):
        for policy in plugins("resource"):
            self.check_forecast(self.SCARCE, {"resource.plugin": policy})
        for channel in ("fixed", "logdistance"):
            self.check_forecast(self.SCARCE, {"channel.plugin": channel})
        self.check_forecast(self.SCARCE, {"aggregator.plugin": '"scaffold"'})

    def test_who_is_there(self):
        for arrival in ({"arrival.plugin": '"onoff"', "arrival.onoff.away": "true"},
                        {"arrival.plugin": '"diurnal"', "arrival.diurnal.night": 0.5},
                        {"arrival.plugin": '"poisson"', "arrival.poisson.fill": 0.0,
                         "arrival.poisson.rate": 0.3}):
            self.assertIn("absent", self.check_forecast(self.SCARCE, LOSSLESS, arrival))

    def test_nobody(self):
        share, _, local_rounds, reasons, _ = self.forecast({"deadline_s": 1e-6})
        self.assertEqual((share, local_rounds, reasons), (0.0, None, {"deadline": 100.0}))
        self.assertIn("30 rounds without anybody", self.check_small({"deadline_s": 1e-6}))

    def test_large_runs_are_not_asked_for_in_full(self):
        output = self.check_small({"clients.count": 3000, "rounds": 1000})
        self.assertIn("of the 198000 client-rounds of the first 66 rounds", output)

    def test_no_link_no_forecast(self):
        output = self.check_small({"aggregator.plugin": '"genie"'}, {"filter.plugin": '"noise"'},
                                  {"filter.noise.share": 0.5})
        self.assertNotIn("taking part", output)
        self.assertNotIn("touches", output)
        self.assertIn("selection and filter change nothing", output)


class Harm(ProductTest):
    """Who attacks, and what is lost."""

    def test_attackers_are_named(self):
        output = self.check_small({"filter.plugin": '"label_flip"', "filter.label_flip.share": 0.33})
        named = re.search(r"filter +label_flip touches (\d+) of 9 clients:((?: \d+)+)\n", output)
        attackers = [int(each) for each in named[2].split()]
        self.assertEqual((named[1], len(set(attackers))), ("3", 3))
        # They are who trains on labels that cannot be learnt.
        run = self.run_small(LOSSLESS, {"filter.plugin": "label_flip", "filter.label_flip.share": 0.33,
                                        "partition.plugin": "iid"}, rounds=15)
        losses = {u: float(loss) for t, u, loss in run.clients("round", "client", "train_loss")
                  if t == "14"}
        self.assertEqual(sorted(losses, key=lambda u: -losses[u])[:3],
                         sorted(map(str, attackers), key=lambda u: -losses[u]))
        output = self.check_small({"clients.count": 200, "filter.noise.share": 1.0,
                                   "filter.plugin": '"noise"'})
        self.assertRegex(output, r"filter +noise touches 200 of 200 clients:(?: \d+){50} \.\.\.\n")

    def test_attack_that_nobody_makes(self):
        for settings in ({"filter.noise.share": 0.05}, {}):
            self.assertIn("warning: filter/noise touches none of the 9 clients",
                          self.check_small({"filter.plugin": '"noise"'}, settings))
        self.assertNotIn("filter", self.check_small())

    def test_krum_says_when_it_promises_nothing(self):
        krum = {"aggregator.plugin": "krum"}
        for f, promised in ((3, True), (4, False), (50, False)):
            output = self.check_small(krum, {"aggregator.krum.byzantine": f})
            self.assertEqual("asks for at least %d participants, and there are 9 clients" %
                             (2 * f + 3) not in output, promised)

    def test_one_of_a_thing_is_singular(self):
        """In the output of a run of one of everything no noun is plural after a 1."""
        one = {"clients.count": 1, "clients.storage": 1, "clients.arrivals": 1, "rounds": 1,
               "training.batch": 1, "training.minibatches": 1, "training.max_local_rounds": 1,
               "evaluation.samples": 1, "filter.plugin": '"noise"', "filter.noise.share": 1.0,
               "selection.plugin": "uniform", "resource.plugin": "fixed"}
        texts = [self.check_small(one)]
        run = self.run_small(one, rounds=1)
        for command in (["report"], ["report", "--compute"], ["verify"], ["evaluate"]):
            more = [osafl_run.SMALL, *arguments(one)] if command == ["evaluate"] else []
            texts.append(self.osafl(*command, run.folder, *more))
        page = self.path("one.html")
        self.osafl("report", "--html", page, run.folder)
        with open(page, encoding="utf-8") as stream:
            texts.append(re.sub("<[^>]*>", " ", stream.read()))
        for text in texts:
            self.assertNotRegex(text, r"(?<![\d./])\b1 (?:[a-z-]+ )?(?:client|round|sample|seed|run|"
                                      r"step|vector|value|time|cell|setting|client-round)s\b")

    def test_layers_side_by_side(self):
        """A concatenation is one line, with the channels of all its parts."""
        for second in ("input", "a"):
            output = self.check_small({"model.plugin": "network", "model.network.layers":
                '( { name = "a"; conv = 8; kernel = 3; padding = 1; },'
                '  { name = "b"; conv = 4; kernel = 1; from = "%s"; }, { concat = "a, b"; },'
                '  { global_average = true; }, { linear = "classes"; } )' % second})
            self.assertEqual(re.findall(r"(?m)^- +concatenation +(\d+) x", output), ["12"])

    def test_a_model_that_refuses_the_samples(self):
        output = self.check_small({"model.plugin": "network", "model.network.layers":
            '( { embedding = 256; size = 4; }, { global_average = true; }, { linear = "classes"; } )'},
            status=2)
        self.assertIn("which is no token of an embedding of 256", output)

    def test_losses_are_told(self):
        self.assertIn("30 % of the updates", self.check_small({"uplink.loss_probability": 0.3}))
        self.assertNotIn("lost on the way", self.check_small())


if __name__ == "__main__":
    osafl_run.main()
