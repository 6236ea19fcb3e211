"""Bits, seconds and joules of a run against the formulas of sdk/ALGORITHMS.md 2, for every
quantizer, policy and kind of update, from what the run itself has recorded."""
import math

import osafl_run
from osafl_run import FROZEN, LOSSLESS, SINGLE_STEPS, ProductTest, number, plugins

PARAMETERS, TENSORS, INDEX_BITS = 7850, 2, 13  # the model "logistic" on 28 x 28 and 10 labels
CYCLES_PER_BIT, CAPACITANCE, SAMPLE_BITS, COST_MINIBATCHES, BATCH = 30.0, 2e-28, 4e5, 6, 8
BANDWIDTH_HZ, NOISE_DBM_PER_HZ, NOISE_FIGURE_DB = 3e5, -170.0, 5.0
NOISE_W = BANDWIDTH_HZ * 10 ** ((NOISE_DBM_PER_HZ + NOISE_FIGURE_DB - 30.0) / 10.0)
DEADLINE_S = 4.0

WORLD = {"clients.cycles_per_bit": [CYCLES_PER_BIT] * 2, "clients.capacitance": CAPACITANCE,
         "clients.sample_bits": SAMPLE_BITS, "training.cost_minibatches": COST_MINIBATCHES,
         "training.batch": BATCH, "deadline_s": DEADLINE_S,
         "channel.tr38901.bandwidth_hz": BANDWIDTH_HZ,
         "channel.tr38901.noise_dbm_per_hz": NOISE_DBM_PER_HZ,
         "channel.tr38901.noise_figure_db": NOISE_FIGURE_DB,
         "channel.tr38901.radius_m": 900.0, "selection.plugin": "uniform", "selection.uniform.share": 0.8}


def bits_for(values):
    """Bits that tell so many values apart."""
    return math.ceil(math.log2(values))


def qsgd(levels, norms):
    return PARAMETERS * (1 + bits_for(levels)) + 32 * norms


def topk(fraction):
    return math.ceil(fraction * PARAMETERS) * (INDEX_BITS + 32) + 64


# Settings of a quantizer, and the bits of one vector's payload.
PAYLOADS = [
    ({"quantizer.plugin": "none"}, 32 * PARAMETERS),
    ({"quantizer.plugin": "signsgd"}, PARAMETERS + 32),
    ({"quantizer.plugin": "topk_sparse"}, topk(0.01)),
    ({"quantizer.plugin": "topk_sparse", "quantizer.topk_sparse.fraction": 0.33}, topk(0.33)),
    ({"quantizer.plugin": "topk_sparse", "quantizer.topk_sparse.fraction": 1e-9}, topk(1e-9)),
    ({"quantizer.qsgd.levels": 1}, qsgd(1, 1)),
    ({"quantizer.qsgd.levels": 2}, qsgd(2, 1)),
    ({"quantizer.qsgd.levels": 5}, qsgd(5, 1)),
    ({"quantizer.qsgd.levels": 16, "quantizer.qsgd.norm": "tensor"}, qsgd(16, TENSORS)),
    # Levels that depend on the link are in test_adaptive_payload.py.
    ({"quantizer.plugin": "adaptive_qsgd", "quantizer.adaptive_qsgd.least_levels": 8,
      "quantizer.adaptive_qsgd.most_levels": 8}, qsgd(8, 1)),
]


class Accounting(ProductTest):
    def check(self, vector_bits, *settings, vectors=1):
        """Checks every client's costs and the sums of every round; returns the reasons met."""
        run = self.run_small(WORLD, *settings)
        payload, reasons = vectors * vector_bits, set()
        sums = [{"compute_j": 0.0, "upload_j": 0.0, "uplink_payload_bits": 0} for _ in range(4)]
        for row in run.rows("clients.csv"):
            reasons.add(row["reason"])
            if row["local_rounds"] == "0":
                continue
            gain, power, clock = (number(row[name]) for name in ("gain", "power_w", "clock_hz"))
            cycles = COST_MINIBATCHES * BATCH * CYCLES_PER_BIT * SAMPLE_BITS * \
                int(row["local_rounds"])
            rate = BANDWIDTH_HZ * math.log2(1.0 + gain * power / NOISE_W)
            expected = {"compute_s": cycles / clock, "upload_s": payload / rate,
                        "compute_j": 0.5 * CAPACITANCE * cycles * clock ** 2,
                        "upload_j": power * payload / rate}
            for name, value in expected.items():
                self.assertAlmostEqual(number(row[name]) / value, 1.0, 6, name)
            total = sums[int(row["round"])]
            total["compute_j"] += number(row["compute_j"])
            if row["reason"] != "diverged":  # who has nothing to send sends nothing
                total["upload_j"] += number(row["upload_j"])
                total["uplink_payload_bits"] += payload
        for row, total in zip(run.rows("rounds.csv"), sums):
            for name, value in total.items():
                self.assertAlmostEqual(number(row[name]), value, delta=1e-9 * value, msg=name)
            self.assertAlmostEqual(number(row["energy_j"]), total["compute_j"] + total["upload_j"],
                                   delta=1e-9 * number(row["energy_j"]))
        self.assertGreater(sums[0]["uplink_payload_bits"], 0)
        return reasons

    def test_every_quantizer(self):
        self.assertEqual({settings.get("quantizer.plugin", "qsgd") for settings, _ in PAYLOADS},
                         set(plugins("quantizer")))
        for settings, bits in PAYLOADS:
            with self.subTest(settings=settings):
                self.check(bits, settings)

    def test_control_variates_are_paid_for(self):
        for settings, bits in PAYLOADS:
            with self.subTest(settings=settings):
                self.check(bits, settings, {"aggregator.plugin": "scaffold"}, vectors=2)

    def test_every_policy(self):
        for policy in plugins("resource"):
            self.check(32 * PARAMETERS, LOSSLESS, {"resource.plugin": policy})
        for start in ("max", "fraction", "search"):
            self.check(32 * PARAMETERS, LOSSLESS, {"resource.iterative.initial_power": start})

    def test_what_is_sent_in_vain(self):
        self.assertIn("lost", self.check(qsgd(2, 1), {"uplink.loss_probability": 0.4}))
        # An update that overflows is computed, and not sent.
        self.assertIn("diverged", self.check(
            qsgd(2, 1), {"filter.plugin": "scale", "filter.scale.share": 0.4, "filter.scale.strength": 1e300,
                         "on_divergence": "drop"}))

    def test_bits_as_coded(self):
        """The one client's code, whose entries are what it adds to the model."""
        alone = {"clients.count": 1, "aggregator.plugin": "fedavg", "resource.plugin": "fixed",
                 "rounds": 1}
        start = self.run_small(FROZEN, LOSSLESS, alone).parameters()
        for norm, norms in (("whole", 1), ("tensor", TENSORS)):
            for levels in (1, 2, 16, 1000):
                run = self.run_small(alone, SINGLE_STEPS, {"quantizer.qsgd.levels": levels,
                                                           "quantizer.qsgd.norm": norm})
                entries = sum(x != y for x, y in zip(run.parameters(), start))
                sparse = entries * (INDEX_BITS + 1 + bits_for(levels))
                dense = PARAMETERS * bits_for(2 * levels + 1)
                self.assertEqual(run.rounds("uplink_air_bits"),
                                 [64 + 32 * norms + min(sparse, dense)], (norm, levels))
        for settings, bits in PAYLOADS[:5]:  # of a fixed length
            run = self.run_small(alone, settings)
            self.assertEqual(run.rounds("uplink_air_bits"), [bits], settings)


if __name__ == "__main__":
    osafl_run.main()
