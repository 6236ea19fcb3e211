"""Payloads that depend on client and round: a quantizer that takes as many levels as the link
carries."""
import math

import osafl_run
from osafl_run import ProductTest

ADAPTIVE = {"quantizer.plugin": "adaptive_qsgd", "quantizer.adaptive_qsgd.upload_share": 0.01,
            "deadline_s": 5.0, "aggregator.plugin": "fedavg"}
# Everybody sends at the greatest power, which is then in clients.csv; links of all qualities.
FULL_POWER = {"resource.plugin": "fixed", "channel.tr38901.radius_m": 2500.0}
BANDWIDTH_HZ = 540e3
NOISE_W = BANDWIDTH_HZ * 10 ** (-174 / 10 - 3)


class AdaptivePayload(ProductTest):
    def test_payload_follows_the_link(self):
        run = self.run_small(ADAPTIVE, FULL_POWER, rounds=6)
        parameters = len(run.parameters())
        total = [0.0] * 6
        levels = set()
        columns = ("round", "participates", "gain", "power_w", "upload_s")
        for t, participates, gain, power_w, upload_s in run.clients(*columns):
            self.assertEqual(participates, "1")
            rate = BANDWIDTH_HZ * math.log2(1 + float(gain) * float(power_w) / NOISE_W)
            bits = parameters * 2 + 32
            for log_levels in range(2, 9):
                if parameters * (1 + log_levels) + 32 <= 0.01 * 5.0 * rate:
                    bits = parameters * (1 + log_levels) + 32
            levels.add(bits)
            total[int(t)] += bits
            self.assertAlmostEqual(float(upload_s) * rate / bits, 1.0, 6)
        self.assertGreater(len(levels), 3, "links alike: the setting shows too little")
        self.assertEqual(run.rounds("uplink_payload_bits"), total)
        output = self.check_small(ADAPTIVE, FULL_POWER, {"rounds": 6})
        self.assertRegex(output, r"payload +at most %d bits" % (parameters * 9 + 32))
        self.assertIn("%.4g Mbit of payload" % (1e-6 * sum(total) / 6), output)

    def test_threads_change_nothing(self):
        runs = [self.run_small(ADAPTIVE, {"aggregator.plugin": "scaffold"}, rounds=5, threads=n)
                for n in (1, 3)]
        for name in ("rounds.csv", "clients.csv", "model.safetensors"):
            self.assertEqual(runs[0].bytes(name), runs[1].bytes(name), name)

    def test_it_learns(self):
        """Beside two levels for everybody, which it beats, and floats, which it comes close to."""
        settings = ({"evaluation.samples": 400, "evaluation.every": 30, "resource.plugin": "fixed",
                     "deadline_s": 5.0, "aggregator.plugin": "fedavg",
                     "optimizer.sgd.learning_rate": 0.05},)
        accuracy = {name: self.run_small(*settings, {"quantizer.plugin": name}, rounds=60)
                    .rounds("test_accuracy")[-1] for name in ("adaptive_qsgd", "qsgd", "none")}
        self.assertGreater(accuracy["none"], 0.6)
        self.assertGreater(accuracy["adaptive_qsgd"], accuracy["none"] - 0.08)
        self.assertGreater(accuracy["adaptive_qsgd"], accuracy["qsgd"])


if __name__ == "__main__":
    osafl_run.main()
