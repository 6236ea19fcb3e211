"""Every data set through the whole program: from files that are made here, with test and
validation splits, and with the accuracy of classes and of clients."""
import gzip
import random
import struct

import osafl_run
from osafl_run import FROZEN, LOSSLESS, Logistic, ProductTest, csv_table, number, plugins

CLASSES = 10
TINY = {"clients.count": 3, "clients.storage": 30, "clients.arrivals": 3, "evaluation.samples": 0,
        "evaluation.per_class": True, "evaluation.per_client": True, "rounds": 3}
# Pictures of one grey each, the darker the smaller the class.
GREYS = [25 * label for label in range(CLASSES)]


def idx(shape, values):
    head = struct.pack(">HBB", 0, 8, len(shape)) + struct.pack(">%dI" % len(shape), *shape)
    return head + bytes(values)


def npy(kind, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (
        kind, ", ".join(map(str, shape)))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"|u1": "B", "<i4": "i", "<f4": "f"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack("<%d%s" % (len(values), code), *values)


class DataSets(ProductTest):
    def write(self, name, data):
        path = self.path(name)
        with (gzip.open(path, "wb", 1) if name.endswith(".gz") else open(path, "wb")) as file:
            file.write(data)
        return path

    def idx_settings(self):
        for stem, n in (("train", 200), ("t10k", 50)):
            labels = [i % CLASSES for i in range(n)]
            pixels = [GREYS[label] for label in labels for _ in range(64)]
            self.write(stem + "-images-idx3-ubyte.gz", idx((n, 8, 8), pixels))
            self.write(stem + "-labels-idx1-ubyte", idx((n,), labels))
        return {"dataset.idx.path": '"%s"' % self.work}, 50

    def cifar10_settings(self):
        batch = b"".join(bytes([label]) + bytes([GREYS[label]]) * 3072
                         for label in range(CLASSES)) * 1000
        for name in ["data_batch_%d" % number_ for number_ in range(1, 6)] + ["test_batch"]:
            self.write(name + ".bin.gz", batch)
        return {"dataset.cifar10.path": '"%s"' % self.work, "training.minibatches": 1}, 10000

    def cifar100_settings(self):
        batch = b"".join(bytes([label, label]) + bytes([GREYS[label]]) * 3072
                         for label in range(CLASSES)) * 1000
        self.write("train.bin", batch * 5)
        self.write("test.bin", batch)
        return {"dataset.cifar100.path": '"%s"' % self.work, "training.minibatches": 1}, 10000

    def csv_settings(self):
        rows = [([GREYS[i % CLASSES] / 100.0, 1.0], i % CLASSES, i % 3) for i in range(200)]
        return {"dataset.csv.path": '"%s"' % self.path("table.csv", csv_table(rows)),
                "dataset.csv.ignore": '"client"'}, 40

    def libsvm_settings(self):
        lines = ["%d 1:%r 3:1" % (i % CLASSES, GREYS[i % CLASSES] / 100.0) for i in range(200)]
        return {"dataset.libsvm.path": '"%s"' % self.path("sparse.txt", "\n".join(lines))}, 40

    def npy_settings(self):
        labels = [i % CLASSES for i in range(200)]
        pixels = [GREYS[label] for label in labels for _ in range(48)]
        return {"dataset.npy.x": '"%s"' % self.write("x.npy", npy("|u1", (200, 3, 4, 4), pixels)),
                "dataset.npy.y": '"%s"' % self.write("y.npy.gz", npy("<i4", (200,), labels))}, 40

    def test_drift_over_one_label(self):
        """Of three classes the training samples have one."""
        settings = {**TINY, **self.npy_settings()[0], "dataset.plugin": "npy",
                    "dataset.npy.classes": CLASSES,
                    "dataset.npy.y": '"%s"' % self.write("y1.npy", npy("<i4", (200,), [1] * 200))}
        for name in plugins("drift"):
            answer = self.check_small(settings, {"drift.plugin": name},
                                      status=0 if name == "none" else 2)
            refused = ('drift.plugin = "%s" has nothing to change: all training samples of dataset '
                       '"npy" have label 1; leave drift out' % name)
            self.assertEqual(refused in answer, name != "none", answer)
        with open(osafl_run.SMALL) as file:
            lines = file.read() + 'drift: { plugin = "sudden"; };\n'
        answer = self.osafl("check", self.path("one.cfg", lines), *osafl_run.arguments(settings),
                            status=2)
        self.assertIn("one.cfg:%d: drift.plugin" % lines.count("\n"), answer)

    def glyphs_settings(self):
        return {"dataset.glyphs.test": 70}, 70

    def beams_settings(self):
        return {"dataset.beams.test": 60, "dataset.beams.beams": CLASSES,
                "dataset.beams.samples": 300}, 60

    def test_every_data_set_and_split(self):
        for name in ("idx", "cifar10", "cifar100", "csv", "libsvm", "npy",
                     "glyphs", "beams"):
            with self.subTest(dataset=name):
                settings, n_test = getattr(self, name + "_settings")()
                settings = {**TINY, **settings, "dataset.plugin": name}
                self.check_split(settings, "test", n_test)
                self.check_split({**settings, "evaluation.split": '"validation"',
                                  "dataset.%s.validation" % name: 30}, "validation", 30)
                output = self.check_small(settings, {"evaluation.split": '"validation"'}, status=2)
                self.assertIn("no validation samples; say how many with dataset.%s.validation" %
                              name, output)

    def check_split(self, settings, split, samples):
        self.assertIn("evaluation             3 times on %d samples" % samples,
                      self.check_small(settings))
        run = self.run_small(settings, rounds=3)
        accuracy = run.rounds(split + "_accuracy")
        # Hits of the classes are whole numbers, and make the hits of all.
        for t, row in enumerate(run.rows("rounds.csv")):
            classes = [number(row["%s_accuracy_label_%d" % (split, c)]) for c in range(CLASSES)]
            self.assertTrue(all(share is None or 0.0 <= share <= 1.0 for share in classes))
            hits = accuracy[t] * samples
            self.assertAlmostEqual(hits, round(hits), 6)
            known = [share for share in classes if share is not None]
            self.assertTrue(min(known) <= accuracy[t] <= max(known))
        for share, in run.clients(split + "_accuracy"):
            # Unknown for who holds a label that no evaluated sample has.
            self.assertTrue(share == "" or 0.0 <= number(share) <= 1.0)

    def test_every_data_set_is_tried(self):
        self.assertEqual(sorted(name[:-len("_settings")] for name in dir(self)
                                if name.endswith("_settings")), osafl_run.plugins("dataset"))

    def test_grey_pictures_are_learnt(self):
        """Pictures and labels belong together: the darkest and the brightest are told apart."""
        settings, _ = self.idx_settings()
        run = self.run_small({**TINY, **settings, "dataset.plugin": "idx", "model.plugin": "mlp",
                              "optimizer.sgd.learning_rate": 0.1, "partition.plugin": '"iid"'},
                             LOSSLESS, {"aggregator.plugin": "fedavg"}, rounds=30)
        self.assertEqual(run.rounds("test_accuracy_label_0")[-1], 1.0)
        self.assertEqual(run.rounds("test_accuracy_label_9")[-1], 1.0)


class Measures(ProductTest):
    def test_accuracy_of_classes_and_clients(self):
        """Against Python, on a table of which every class is learnt more or less."""
        random.seed(2)
        samples = []
        for i in range(120):
            label = i % 4
            samples.append(([random.gauss(label, 0.8), random.gauss(label % 2, 0.8)],
                            label, i % 3))
        table = self.path("table.csv", csv_table(samples))
        run = self.run_small({
            "dataset.plugin": "csv", "dataset.csv.path": '"%s"' % table,
            "dataset.csv.test_path": '"%s"' % table, "dataset.csv.ignore": '"client"',
            "dataset.csv.standardise": False, "evaluation.per_class": True,
            "evaluation.per_client": True, "evaluation.samples": 0, "clients.arrivals": 0,
            "partition.plugin": '"shards"', "partition.shards.labels": 1,
            "aggregator.plugin": "fedavg"}, LOSSLESS, rounds=8)
        model = Logistic(run.tensors())
        by_class = [model.accuracy([(x, y) for x, y, _ in samples if y == c]) for c in range(4)]
        self.assertGreater(len(set(by_class)), 2)
        last = run.rows("rounds.csv")[-1]
        self.assertAlmostEqual(number(last["test_accuracy"]), sum(by_class) / 4, 12)
        for c in range(4):
            self.assertAlmostEqual(number(last["test_accuracy_label_%d" % c]), by_class[c], 12)
        # A client of one class has its accuracy.
        of_clients = {number(share) for t, share in run.clients("round", "test_accuracy")
                      if t == "7"}
        for share in of_clients:
            self.assertLess(min(abs(share - each) for each in by_class), 1e-12)
        self.assertGreater(max(of_clients) - min(of_clients), 0.1)

    def test_class_without_test_samples_has_no_accuracy(self):
        run = self.run_small({"evaluation.samples": 7, "evaluation.per_class": True})
        row = run.rows("rounds.csv")[-1]
        self.assertEqual([row["test_accuracy_label_%d" % c] == "" for c in range(10)],
                         [False] * 7 + [True] * 3)

    def test_nothing_more_than_asked_for(self):
        run = self.run_small(FROZEN, rounds=1)
        self.assertNotIn("test_accuracy_label_0", run.rows("rounds.csv")[0])
        self.assertNotIn("test_accuracy", run.rows("clients.csv")[0])


if __name__ == "__main__":
    osafl_run.main()
