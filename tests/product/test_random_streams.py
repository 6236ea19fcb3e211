"""A world, a channel and a model rebuilt from sdk/RANDOM.md and sdk/ALGORITHMS.md alone.

Nothing is trained: model.safetensors then holds the initial parameters, clients.csv the gains, and
`osafl check` prints the stores.
"""
import math
import re
import struct

import osafl_run
from osafl_run import ProductTest
MASK = 0xFFFFFFFF
NO_CLIENT = MASK
KIND_MODEL, KIND_CHANNEL = 2, 3
SEED = (7 << 32) + 13  # both halves of the key are used


def philox(counter, key):
    """Philox4x32-10."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(kind, purpose, client, round_, index, n):
    key = philox((client, round_, purpose, kind | 0x4F530000), (SEED & MASK, SEED >> 32))[:2]
    result = []
    for block in range((n + 3) // 4):
        result += philox((block & MASK, block >> 32, index & MASK, index >> 32), key)
    return result[:n]


def uniform(w):
    return (((w[0] << 32) | w[1]) >> 11) * 2.0 ** -53


def normal(w):
    return math.sqrt(-2.0 * math.log(uniform(w) + 2.0 ** -54)) * math.cos(
        6.283185307179586476925 * uniform(w[2:]))


def ceil(product):
    nearest = round(product)
    return nearest if abs(product - nearest) <= 2.0 ** -51 * product else math.ceil(product)


def log_gamma(client, draw, label, shape):
    d = (shape + 1.0 if shape < 1.0 else shape) - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    boost = 0.0
    for attempt in range(64):
        w = words(0, 2, client, draw, 64 * label + attempt, 8)
        if attempt == 0 and shape < 1.0:
            boost = math.log(uniform(w[6:]) + 2.0 ** -54) / shape
        x = normal(w)
        r = 1.0 + c * x
        if r > 0.0:
            v = 3.0 * math.log(r)
            if math.log(uniform(w[4:])) < 0.5 * x * x + d * (1.0 - r ** 3 + v):
                return math.log(d) + v + boost
    raise AssertionError("64 refusals")


def dirichlet(client, concentration, labels):
    logs = [log_gamma(client, 0, label, concentration) for label in range(labels)]
    powers = [math.exp(each - max(logs)) for each in logs]
    return [each / sum(powers) for each in powers]


def pick(mix, w):
    running, sums = 0.0, []
    for each in mix:
        running += each
        sums.append(running)
    x = min(uniform(w) * running, math.nextafter(running, 0.0))
    return next(label for label, upper in enumerate(sums) if upper > x)


class RandomStreams(ProductTest):
    SETTINGS = {"seed": SEED, "rounds": 3, "clients.count": 9, "clients.storage": 60,
                "clients.arrivals": 7, "clients.activity": [0.3, 0.8], "training.enabled": False,
                "partition.plugin": "dirichlet", "dataset.plugin": "glyphs",
                "model.plugin": "logistic", "channel.plugin": "logdistance"}

    def test_known_answers(self):
        """Of the Random123 library."""
        self.assertEqual(philox((0,) * 4, (0,) * 2),
                         [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])
        self.assertEqual(philox((MASK,) * 4, (MASK,) * 2),
                         [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD])

    def test_world(self):
        """Activity, sizes and the labels of every first store."""
        for concentration in (0.3, 2.5):
            settings = dict(self.SETTINGS, **{"partition.dirichlet.concentration": concentration})
            rows = re.findall(r"^ *(\d+) +(\d+) +(\d+) +([\d.]+) +[\d.]+  ((?: \d+:\d+)+)",
                              self.check_small(settings), re.M)
            self.assertEqual(len(rows), 9)
            for client, (number, samples, arrivals, activity, labels) in enumerate(rows):
                p = 0.3 + (0.8 - 0.3) * uniform(words(0, 1, client, 0, 0, 2))
                self.assertEqual((int(number), int(samples), int(arrivals)),
                                 (client, ceil(60 * p), ceil(7 * p)))
                self.assertEqual(activity, "%.3f" % p)
                mix = dirichlet(client, concentration, 10)
                w = words(0, 4, client, 0, 0, 2 * int(samples))
                histogram = {}
                for k in range(int(samples)):
                    label = pick(mix, w[2 * k:])
                    histogram[label] = histogram.get(label, 0) + 1
                self.assertEqual({int(a): int(b) for a, b in re.findall(r"(\d+):(\d+)", labels)},
                                 histogram)

    def test_channel_and_model(self):
        run = self.run_small(self.SETTINGS)
        for row in run.rows("clients.csv"):
            client, round_ = int(row["client"]), int(row["round"])
            w = words(KIND_CHANNEL, 1, client, 0, 0, 4)
            distance = math.sqrt(10.0 ** 2 + uniform(w) * (500.0 ** 2 - 10.0 ** 2))
            shadow = normal(words(KIND_CHANNEL, 3, client, round_, 0, 4))
            gain_db = -(128.1 + 37.6 * math.log10(distance / 1000.0)) - 8.0 * shadow
            self.assertLess(abs(float(row["gain"]) / 10.0 ** (gain_db / 10.0) - 1.0), 1e-9)
        for number, (name, (_, values)) in enumerate(run.tensors().items()):
            fan_in = 28 * 28
            expected = []
            for first in range(0, len(values), 1024):
                n = min(1024, len(values) - first)
                w = words(KIND_MODEL, 1, NO_CLIENT, 0, (number << 40) + first, 4 * n)
                expected += [(2.0 * uniform(w[4 * i:]) - 1.0) / math.sqrt(fan_in)
                             for i in range(n)]
            rounded = [struct.unpack("f", struct.pack("f", each))[0] for each in expected]
            self.assertEqual(list(values), rounded, name)


if __name__ == "__main__":
    osafl_run.main()
