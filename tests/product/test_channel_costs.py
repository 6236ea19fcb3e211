"""What a link does to a round beyond the gain that is known: places in the results, uploads that the true
gain does not carry, and the cost of receiving the model."""
import math

import osafl_run
from osafl_run import SMALL, ProductTest

SIMULATED = {"training.enabled": False}


class ChannelCosts(ProductTest):
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

    def test_channel_without_geometry(self):
        text = self.osafl("check", SMALL, "--set", "results.places=true", "--set",
                          "channel.plugin=fixed", status=1)
        self.assertIn("channel/fixed", text)
        self.assertIn("results.places", text)


if __name__ == "__main__":
    osafl_run.main()
