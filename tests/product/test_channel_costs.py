"""What a link does to a round beyond the gain that is known: places in the results, uploads that the true
gain does not carry, and the cost of receiving the model."""
import math

import osafl_run
from osafl_run import SMALL, ProductTest

SIMULATED = {"training.enabled": False}


class ChannelCosts(ProductTest):
    PAYLOAD = 7850 * 2 + 32  # of the model "logistic", at two levels
    WIDTH_HZ = 540e3
    NOISE_W = WIDTH_HZ * 10 ** (-174 / 10 - 3)

    def rate(self, gain, power_w):
        return self.WIDTH_HZ * math.log2(1 + gain * power_w / self.NOISE_W)

    def numbers(self, run, *columns):
        """Rows of clients.csv that have all of these, as numbers."""
        rows = [[row[name] for name in columns] for row in run.rows("clients.csv")]
        return [[float(x) for x in row] for row in rows if "" not in row]

    def test_places_are_those_of_the_channel(self):
        still = self.run_small(SIMULATED, {"results.places": True}, rounds=3)
        moving = self.run_small(SIMULATED, {"results.places": True, "channel.tr38901.round_s": 10.0,
                                            "channel.tr38901.speed_m_per_s": [1.0, 2.0]}, rounds=3)
        names = ["place_x_m", "place_y_m", "place_distance_m", "place_line_of_sight"]
        first = self.numbers(still, *names)
        self.assertEqual(len(first), 3 * 9)
        for x, y, distance, sight in first:
            self.assertAlmostEqual(math.hypot(x, y), distance, delta=1e-9)
            self.assertTrue(10.0 <= distance <= 500.0 and sight in (0.0, 1.0))
        self.assertEqual(first[:9], first[9:18])
        walked = self.numbers(moving, *names)
        self.assertEqual(walked[:9], first[:9])
        for (x, y, *_), (x_then, y_then, *_) in zip(walked[:9], walked[9:18], strict=True):
            step = math.hypot(x - x_then, y - y_then)
            self.assertTrue(0.0 < step <= 20.0 * (1 + 1e-9), step)

    def test_without_the_option_nothing_changes(self):
        plain = self.run_small(SIMULATED, rounds=3)
        with_places = self.run_small(SIMULATED, {"results.places": True}, rounds=3)
        self.assertEqual(plain.bytes("rounds.csv"), with_places.bytes("rounds.csv"))
        self.assertEqual([{k: v for k, v in row.items() if not k.startswith("place_")}
                          for row in with_places.rows("clients.csv")], plain.rows("clients.csv"))

    def test_uploads_above_the_capacity_are_lost(self):
        """Every row by its own numbers: the plan by the estimate, the fate by the gain."""
        run = self.run_small({"uplink.gain_error_db": 2.0}, rounds=12)
        errors_db = []
        fates = []
        for row in run.rows("clients.csv"):
            gain, known = float(row["gain"]), float(row["estimated_gain"])
            errors_db.append(10 * math.log10(known / gain))
            if row["local_rounds"] == "0":
                self.assertNotIn(row["reason"], ("", "outage"))
                continue
            power_w, upload_s = float(row["power_w"]), float(row["upload_s"])
            planned = self.rate(known, power_w) * upload_s
            self.assertAlmostEqual(planned / self.PAYLOAD, 1.0, delta=1e-6)
            lost = self.rate(gain, power_w) * upload_s < self.PAYLOAD * (1 - 1e-9)
            self.assertEqual(row["reason"], "outage" if lost else "", row)
            self.assertEqual(lost, known > gain)
            fates.append(lost)
        self.assertGreater(min(fates.count(True), fates.count(False)), 10)
        n = len(errors_db)
        self.assertLess(abs(sum(errors_db) / n), 5 * 2.0 / math.sqrt(n))
        self.assertLess(abs(sum(x * x for x in errors_db) / n / 4.0 - 1), 5 * math.sqrt(2 / n))
        # What was sent in vain has cost its joules and bits, and does not arrive.
        rows = run.rows("clients.csv")
        for t, (joules, bits, there) in enumerate(zip(
                run.rounds("upload_j"), run.rounds("uplink_payload_bits"),
                run.rounds("participants"), strict=True)):
            sent = [row for row in rows if row["round"] == str(t) and row["local_rounds"] != "0"]
            self.assertAlmostEqual(joules, sum(float(row["upload_j"]) for row in sent), delta=1e-9)
            self.assertEqual(bits, self.PAYLOAD * len(sent))
            self.assertEqual(there, sum(row["participates"] == "1" for row in sent))

    def test_analog_updates_have_no_outage(self):
        """What the channel adds up is scaled by the error of the gain, and not lost."""
        settings = {"aggregator.plugin": "aircomp", "uplink.gain_error_db": 6.0}
        run = self.run_small(settings, rounds=2)
        self.assertNotIn("outage", {reason for (reason,) in run.clients("reason")})
        self.assertNotIn("lost by outage", self.check_small(settings))
        exact = self.run_small(settings, {"uplink.gain_error_db": 0.0}, rounds=2)
        self.assertNotEqual(run.rounds("test_loss"), exact.rounds("test_loss"))

    def test_margin_against_outages(self):
        """A margin of six standard deviations loses nothing, and sends with more power or time."""
        run = self.run_small({"uplink.gain_error_db": 0.5, "uplink.gain_margin_db": 3.0}, rounds=12)
        self.assertNotIn("outage", {reason for (reason,) in run.clients("reason")})
        for gain, known in self.numbers(run, "gain", "estimated_gain"):
            self.assertLess(known, gain)

    def test_known_gains_change_nothing(self):
        plain = self.run_small(rounds=3)
        exact = self.run_small({"uplink.gain_error_db": 0.0}, rounds=3)
        for table in ("rounds.csv", "clients.csv"):
            self.assertEqual(plain.bytes(table), exact.bytes(table))

    DOWNLINK = {"downlink.enabled": True, "downlink.bandwidth_hz": 1e6, "downlink.power_dbm": 10.0,
                "downlink.bits": 4e7, "downlink.receive_power_w": 0.02,
                "clients.energy_budget_j": [1.4, 1.4]}

    def test_receiving_takes_its_part_of_time_and_energy(self):
        for policy in ("iterative", "optimal"):
            with self.subTest(policy=policy):
                self.follow_downlink(self.run_small(self.DOWNLINK, {"resource.plugin": policy},
                                                    rounds=8))

    def follow_downlink(self, run):
        reasons = set()
        joules = [0.0] * 8
        times = []
        for row in run.rows("clients.csv"):
            reasons.add(row["reason"])
            rate = 1e6 * math.log2(1 + float(row["gain"]) * 1e-2 / (1e6 * 10 ** (-165 / 10 - 3)))
            if row["local_rounds"] == "0":
                self.assertEqual((row["receive_s"], row["receive_j"]), ("", ""))
                continue
            seconds = [float(row[name]) for name in ("receive_s", "compute_s", "upload_s")]
            spent = [float(row[name]) for name in ("receive_j", "compute_j", "upload_j")]
            self.assertAlmostEqual(seconds[0] * rate / 4e7, 1.0, delta=1e-9)
            self.assertAlmostEqual(spent[0], 0.02 * seconds[0], delta=1e-12)
            self.assertLessEqual(sum(seconds), 60.0 * (1 + 1e-8))
            self.assertLessEqual(sum(spent), 1.4 * (1 + 1e-8))
            joules[int(row["round"])] += sum(spent)
            times.append(sum(seconds) / 60.0)
        self.assertTrue({"", "deadline"} <= reasons, reasons)
        self.assertGreater(max(times), 1 - 1e-6)  # who takes part uses what is left
        self.assert_close(run.rounds("energy_j"), joules, 1e-9)

    def test_size_of_what_is_received(self):
        """32 bits for each parameter, and for what SCAFFOLD sends beside them."""
        settings = {"downlink.enabled": True, "resource.plugin": "fixed", **SIMULATED}
        received = [self.numbers(self.run_small(settings, {"aggregator.plugin": name}, rounds=1),
                                 "receive_s") for name in ("fedavg", "scaffold")]
        stated = self.numbers(self.run_small(settings, {"downlink.bits": 32.0 * 7850}, rounds=1),
                              "receive_s")
        self.assertEqual(received[0], stated)
        for (once,), (twice,) in zip(*received, strict=True):
            self.assertAlmostEqual(twice, 2 * once, delta=1e-12)

    def test_selection_knows_the_time_of_receiving(self):
        """With a large penalty, Oort asks no known client whose last participation, receiving included, took
        longer than the median."""
        oort = {"selection.plugin": "oort", "selection.oort.share": 0.3, "resource.plugin": "fixed",
                "selection.oort.exploration": 0.7, "selection.oort.exploration_decay": 1.0,
                "selection.oort.penalty": 1000.0, "deadline_s": 1e6}
        run = self.run_small(oort, {"downlink.enabled": True, "downlink.bits": 1e9}, rounds=16)
        columns = ("receive_s", "compute_s", "upload_s")
        rows = run.clients("local_rounds", *columns)
        seconds = {}
        judged = 0
        for t in range(16):
            asked = {u: sum(map(float, row[1:])) for u, row in enumerate(rows[9 * t:9 * t + 9])
                     if row[0] != "0"}
            if len(seconds) == 9:
                median = sorted(seconds.values())[4]
                self.assertLess(max(seconds[u] for u in asked), 1.01 * median)
                judged += len(asked)
            seconds.update(asked)
        self.assertGreater(judged, 10)

    def test_receiving_makes_updates_late(self):
        settings = {"downlink.enabled": True, "downlink.bits": 4e9, "uplink.late": "carry",
                    "resource.plugin": "fixed", "aggregator.plugin": "fedbuff", "deadline_s": 20.0}
        run = self.run_small(settings, rounds=6)
        for receive, compute, upload, reason in (
                (*map(float, row[:3]), row[3])
                for row in run.clients("receive_s", "compute_s", "upload_s", "reason") if row[0]):
            self.assertLess(compute + upload, 20.0)
            self.assertEqual(reason == "", receive + compute + upload <= 20.0 * (1 + 1e-9))
        self.assertIn("late", {reason for (reason,) in run.clients("reason")})

    def test_forecast_counts_outages(self):
        self.assertIn("lost by outage", self.check_small({"uplink.gain_error_db": 2.0}))
        self.assertNotIn("lost by outage", self.check_small())

    def test_channel_without_geometry(self):
        text = self.osafl("check", SMALL, "--set", "results.places=true", "--set",
                          "channel.plugin=fixed", status=2)
        self.assertIn("channel/fixed", text)
        self.assertIn("results.places", text)


if __name__ == "__main__":
    osafl_run.main()
