"""A world, a channel and a model rebuilt from sdk/RANDOM.md and sdk/ALGORITHMS.md alone.

Nothing is trained: model.safetensors then holds the initial parameters, clients.csv the gains, and
`osafl check` prints the stores.
"""
import math
import re
import struct

import osafl_run
import random_streams
from osafl_run import ProductTest
from random_streams import KIND_CHANNEL, KIND_MODEL, MASK, NO_CLIENT, normal, philox, uniform

SEED = (7 << 32) + 13  # both halves of the key are used


def words(*name):
    return random_streams.words(SEED, *name)


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


def dirichlet(client, shapes, draw=0):
    logs = [log_gamma(client, draw, label, shape) for label, shape in enumerate(shapes)]
    powers = [math.exp(each - max(logs)) for each in logs]
    return [each / sum(powers) for each in powers]


def pick(mix, w):
    running, sums = 0.0, []
    for each in mix:
        running += each
        sums.append(running)
    x = min(uniform(w) * running, math.nextafter(running, 0.0))
    return next(label for label, upper in enumerate(sums) if upper > x)


def poisson(purpose, client, round_, mean, most):
    time, n = 0.0, 0
    while n < most:
        w = words(0, 5 | purpose << 8, client, round_, n // 32, 64)[2 * (n % 32):]
        time -= math.log(uniform(w) + 2.0 ** -54)
        if time > mean:
            break
        n += 1
    return n


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
                mix = dirichlet(client, [concentration] * 10)
                w = words(0, 4, client, 0, 0, 2 * int(samples))
                histogram = {}
                for k in range(int(samples)):
                    label = pick(mix, w[2 * k:])
                    histogram[label] = histogram.get(label, 0) + 1
                self.assertEqual({int(a): int(b) for a, b in re.findall(r"(\d+):(\d+)", labels)},
                                 histogram)

    def test_weighted_mixes(self):
        """Labels have shares 1/2, 1/3 and 1/6."""
        rows = [([i % 7, i % 5], (0, 0, 0, 1, 1, 2)[i % 6], 0) for i in range(600)]
        table = '"%s"' % self.path("table.csv", osafl_run.csv_table(rows))
        settings = dict(self.SETTINGS, **osafl_run.natural(table, 9, 50))
        settings.update({"dataset.csv.test_path": table, "partition.plugin": "dirichlet",
                         "partition.dirichlet.form": '"weighted"'})
        lines = re.findall(r"^ *(\d+) +50 +0 +1.000 +[\d.]+  ((?: \d+:\d+)+)",
                           self.check_small(settings), re.M)
        self.assertEqual(len(lines), 9)
        for client, (_, labels) in enumerate(lines):
            mix = dirichlet(client, [0.3 * 3 * share for share in (1 / 2, 1 / 3, 1 / 6)])
            w = words(0, 4, client, 0, 0, 100)
            drawn = [pick(mix, w[2 * k:]) for k in range(50)]
            self.assertEqual({int(a): int(b) for a, b in re.findall(r"(\d+):(\d+)", labels)},
                             {label: drawn.count(label) for label in set(drawn)})

    def arrivals(self, plugin, *settings):
        """[round][client]: what came, from stores that begin empty and have room for all."""
        run = self.run_small(self.SETTINGS, {
            "rounds": 7, "clients.storage": 10000, "arrival.plugin": plugin,
            "arrival.%s.fill" % plugin: 0.0}, *settings)
        stored = [int(row[0]) for row in run.clients("samples")]
        return [[stored[9 * (t + 1) + u] - stored[9 * t + u] for u in range(9)] for t in range(6)]

    def most(self, client):
        """E_u."""
        return ceil(7 * (0.3 + (0.8 - 0.3) * uniform(words(0, 1, client, 0, 0, 2))))

    def test_poisson(self):
        for rate in (0.5, 20.0):
            came = self.arrivals("poisson", {"arrival.poisson.rate": rate})
            self.assertEqual(came, [[poisson(1, u, t, rate * self.most(u), 3000) for u in range(9)]
                                    for t in range(6)])

    def test_onoff(self):
        came = self.arrivals("onoff", {"arrival.onoff.burst": 3.0, "arrival.onoff.pause": 2.0})
        for u in range(9):
            on = None
            for t in range(6):
                x = uniform(words(0, 5 | 1 << 8, u, t, 0, 2))
                if t == 0:
                    on = x < 0.5 / (0.5 + 1 / 3)
                elif x < 0.5 or x >= 1 - 1 / 3:
                    on = x < 0.5
                self.assertEqual(came[t][u], round(self.most(u) * 5 / 3) if on else 0)

    def test_diurnal(self):
        came = self.arrivals("diurnal", {"arrival.diurnal.period": 5.0})
        for u in range(9):
            ahead = uniform(words(0, 5 | 1 << 8, u, 0, 0, 2))
            for t in range(6):
                level = 1.0 + 0.8 * math.cos(2.0 * math.pi * (t / 5.0 + ahead))
                self.assertEqual(came[t][u], poisson(2, u, t, level * self.most(u), 3000))

    def test_drifts(self):
        """A mix is one label, and a store holds the arrivals of the last two rounds, half and half:
        its entropy tells whether their labels differ."""
        settings = {"clients.storage": 20, "clients.arrivals": 10, "clients.activity": [1.0, 1.0],
                    "deletion.plugin": "fifo", "partition.dirichlet.concentration": 1e-9}

        def redraw(u, t):
            return max((r + 1 for r in range(t + 1)
                        if uniform(words(0, 7, u, r, 0, 2)) < 0.5), default=0)

        def staggered(u, t):
            w = words(0, 7 | 1 << 8, u, 0, 0, 2)
            return int(t >= 1 + ((w[0] << 32 | w[1]) * 4 >> 64))

        def label(u, draw):
            mix = dirichlet(u, [1e-9] * 10, draw)
            return mix.index(max(mix))
        for name, draw, drift in (("redraw", redraw, {"drift.redraw.probability": 0.5}),
                                  ("staggered", staggered, {"drift.staggered.round": 1,
                                                            "drift.staggered.spread": 4})):
            run = self.run_small(self.SETTINGS, settings, {"drift.plugin": name, "rounds": 7}, drift)
            changes = 0
            for row in run.rows("clients.csv"):
                u, t = int(row["client"]), int(row["round"])
                draws = [draw(u, r) if r >= 0 else 0 for r in (t - 2, t - 1)]
                differ = label(u, draws[0]) != label(u, draws[1])
                expected = math.log(2.0) if differ else 0.0
                self.assertLess(abs(float(row["label_entropy"]) - expected), 1e-6, (name, u, t))
                changes += differ
            self.assertGreater(changes, 5)

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
