"""Data as people have them, read by the whole program from files that are made here."""
import csv
import io
import json
import os
import re
import struct
import zipfile

import osafl_run
from osafl_run import Logistic, ProductTest, SOURCE_TREE, natural


def npy(kind, shape, values):
    """An array as numpy.save() writes it."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (
        kind, ", ".join(map(str, shape)))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"|u1": "B", "<i4": "i", "<f2": "e", "<f4": "f"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + \
        struct.pack("<%d%s" % (len(values), code), *values)


SAMPLES = 40
LABELS = [i % 4 for i in range(SAMPLES)]
VALUES = [0.5 * (i % 4) + 0.25 * j for i in range(SAMPLES) for j in range(3)]


class Archives(ProductTest):
    """Members of .npz archives are the arrays that they would be as files."""

    def npz(self, name, compression, zip64=False, comment=b""):
        """numpy.savez() writes with zip64, savez_compressed() deflated."""
        path = self.path(name)
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.comment = comment
            for member, data in (("x.npy", npy("<f2", (SAMPLES, 3), VALUES)),
                                 ("labels.npy", npy("<i4", (SAMPLES,), LABELS))):
                with archive.open(member, "w", force_zip64=zip64) as file:
                    file.write(data)
        return path

    def settings(self, x, y):
        return {"dataset.plugin": "npy", "dataset.npy.x": '"%s"' % x, "dataset.npy.y": '"%s"' % y,
                "clients.count": 2, "clients.storage": 10, "clients.arrivals": 2,
                "evaluation.samples": 0}

    def refused(self, x, y):
        return self.check_small(self.settings(x, y), status=2)

    def test_members_are_arrays(self):
        files = []
        for name, data in (("x.npy", npy("<f2", (SAMPLES, 3), VALUES)),
                           ("y.npy", npy("<i4", (SAMPLES,), LABELS))):
            files.append(self.path(name))
            with open(files[-1], "wb") as file:
                file.write(data)
        expected = self.run_small(self.settings(*files), rounds=2).bytes("rounds.csv")
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for zip64 in (False, True):
                path = self.npz("data.npz", compression, zip64, b"a comment")
                for x in (":x", ":x.npy"):
                    run = self.run_small(self.settings(path + x, path + ":labels"), rounds=2)
                    self.assertEqual(run.bytes("rounds.csv"), expected)
        # The only array needs no name.
        with zipfile.ZipFile(self.path("y.npz"), "w") as archive:
            archive.writestr("arr_0.npy", npy("<i4", (SAMPLES,), LABELS))
        run = self.run_small(self.settings(files[0], self.path("y.npz")), rounds=2)
        self.assertEqual(run.bytes("rounds.csv"), expected)

    def test_times(self):
        """Arrays with clients and times make the run that a table of the same columns makes."""
        clients = [i % 2 for i in range(SAMPLES)]
        times = [i * 17 % SAMPLES for i in range(SAMPLES)]
        arrays = {"x": npy("<f4", (SAMPLES, 3), VALUES), "y": npy("<i4", (SAMPLES,), LABELS),
                  "client": npy("<i4", (SAMPLES,), clients), "time": npy("<i4", (SAMPLES,), times)}
        settings = {"arrival.plugin": "timed", "arrival.timed.period": 10.0}
        for name, data in arrays.items():
            settings["dataset.npy." + name] = '"%s"' % self.path(name + ".npy")
            with open(self.path(name + ".npy"), "wb") as file:
                file.write(data)
        rows = ["a,b,c,y,client,time"]
        rows += [",".join(map(repr, VALUES[3 * i:3 * i + 3] + [LABELS[i], clients[i], times[i]]))
                 for i in range(SAMPLES)]
        table = natural('"%s"' % self.path("table.csv", "\n".join(rows) + "\n"), 2, 20)
        settings.update(table, **{"dataset.csv.label": "y", "dataset.csv.time": "time"})
        runs = [self.run_small(settings, {"dataset.plugin": name}, rounds=4)
                for name in ("csv", "npy")]
        for file in ("rounds.csv", "clients.csv"):
            self.assertEqual(runs[0].bytes(file), runs[1].bytes(file))
        self.assertEqual(len(set(runs[0].clients("samples"))) > 2, True)
        for lack in ({"dataset.npy.time": '""'}, {"partition.plugin": "iid"}):
            self.assertIn("arrival/timed: it needs samples that have times and are dealt to the clients "
                          "that own them; set partition.plugin = \"natural\" and name ",
                          self.check_small({**settings, "dataset.plugin": "npy", **lack}, status=2))

    def test_a_member_must_be_named(self):
        path = self.npz("data.npz", zipfile.ZIP_STORED)
        self.assertIn('data.npz: holds several arrays (x, labels); say which one, as in "%s:x"' %
                      path, self.refused(path, path + ":labels"))
        self.assertIn("data.npz: holds no array of that name, but: x, labels",
                      self.refused(path + ":images", path + ":labels"))
        self.assertIn("none.npz: cannot be opened: No such file",
                      self.refused(self.path("none.npz") + ":x", path))

    def test_damaged_archives_are_refused(self):
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with open(self.npz("whole.npz", compression), "rb") as file:
                whole = file.read()
            path = self.path("data.npz")
            with zipfile.ZipFile(self.path("whole.npz")) as archive:
                begin = archive.infolist()[0].header_offset + 35  # behind header and name
                packed = archive.infolist()[0].compress_size

            def refusal(data):
                with open(path, "wb") as file:
                    file.write(data)
                output = self.refused(path + ":x", path + ":labels")
                self.assertIn("data.npz", output)
                return output

            for cut in (0, 10, 21, len(whole) // 2, len(whole) - 1):
                self.assertIn("does not end in a directory; is the file cut off?",
                              refusal(whole[:cut]))
            for at in (begin + packed // 3, begin + packed // 2):
                self.assertRegex(refusal(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:]),
                                 "checksum of a member is wrong|data are damaged|is no .npy")
            directory = whole.index(b"PK\x01\x02")
            changed = bytearray(whole)
            changed[directory + 8] |= 1
            self.assertIn("is encrypted", refusal(changed))
            changed = bytearray(whole)
            changed[directory + 10] = 12
            self.assertIn("neither stored nor deflated", refusal(changed))
            changed = bytearray(whole)
            changed[directory + 45] = 0x70  # where the member begins
            self.assertIn("leads beyond its end", refusal(changed))
            changed = bytearray(whole)
            changed[directory + 27] = 0x70  # its size
            self.assertRegex(refusal(changed), "directory is damaged|is cut off|shorter than")
            changed = bytearray(whole)
            changed[directory] = 0
            self.assertIn("its directory is damaged", refusal(changed))

    def test_a_member_that_is_no_array(self):
        path = self.path("data.npz")
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as archive:
            archive.writestr("x", b"text")
            archive.writestr("empty", b"")
        with open(path, "wb") as file:
            file.write(memory.getvalue())
        self.assertIn("is cut off: the magic string", self.refused(path + ":x", path + ":x"))
        self.assertIn("is cut off: the magic string", self.refused(path + ":empty", path + ":x"))


class Paths(ProductTest):
    def test_an_empty_path_is_refused(self):
        for kind, name, key in (("arrival", "trace", "path"), ("channel", "trace", "path"),
                                ("partition", "assigned", "path"), ("dataset", "csv", "path"),
                                ("dataset", "npy", "x"), ("dataset", "npy", "y"),
                                ("dataset", "libsvm", "path"), ("dataset", "idx", "path"),
                                ("dataset", "cifar10", "path"), ("dataset", "cifar100", "path")):
            setting = "%s.%s.%s" % (kind, name, key)
            self.assertIn(setting + ": is empty; name a file or folder", self.check_small(
                {kind + ".plugin": name, setting: '""'}, status=2))


class Room(ProductTest):
    def test_the_storage_that_a_trace_needs(self):
        """The value in the message is the least that does for all rows."""
        trace = self.path("trace.csv", "round,client,samples,present\n0,0,10,1\n1,1,12,1\n")
        settings = {"arrival.plugin": "trace", "arrival.trace.path": '"%s"' % trace,
                    "arrival.trace.at_end": "cycle", "clients.count": 4}

        def check(storage, activity, status):
            return self.check_small(settings, {"clients.storage": storage,
                                               "clients.activity": activity}, status=status)
        found = re.search(r"has room for \d+: clients\.storage times its activity of .* set "
                          r"clients\.storage to (\d+) or more, or with clients\.activity = "
                          r"\[1\.0, 1\.0\] to 12 or more", check(10, [0.3, 0.4], 2))
        least = int(found[1])
        check(least - 1, [0.3, 0.4], 2)
        check(least, [0.3, 0.4], 0)
        check(12, [1.0, 1.0], 0)


class Tables(ProductTest):
    """The example of the README, and the use of a model of a table outside."""

    EXAMPLE = os.path.join(SOURCE_TREE, "experiments", "own-data.cfg")

    def test_the_example_learns(self):
        output = self.osafl("check", self.EXAMPLE)
        self.assertRegex(output, r"data set +csv: 192 training, 0 validation, 48 test samples, each "
                                 r"10 values; 2 classes: no, yes\n")
        self.assertRegex(output, r'label +column 7 \("churned"\)\n')
        self.assertRegex(output, r"scaling +\(v - mean\) / deviation, of each value over the training")
        self.osafl("run", self.EXAMPLE, "--quiet", "--out", self.path("run"))
        last = osafl_run.Run(self.path("run")).rows("rounds.csv")[-1]
        self.assertGreater(float(last["test_accuracy"]), 0.7)

    def samples(self, data):
        """The held-out rows of the example's table, made into samples by data.json alone."""
        with open(os.path.join(SOURCE_TREE, "experiments", "own-data.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        samples = []
        for i in data["test_samples"]:
            values = []
            for k, feature in enumerate(data["features"]):
                column, _, category = feature.partition("=")
                if category:
                    value = float(rows[i][column] == category)
                elif rows[i][column] in ("", "NA"):
                    value = data["filled_in"][k]
                else:
                    value = float(rows[i][column])
                scale = data["deviation"][k]
                values.append((value - data["mean"][k]) / scale if scale else 0.0)
            samples.append((values, data["classes"].index(rows[i]["churned"])))
        return samples

    def test_accuracy_follows_from_what_lies_beside_the_model(self):
        folder = self.path("run")
        self.osafl("run", self.EXAMPLE, "--quiet", "--out", folder, "--set", "model.plugin=logistic")
        run = osafl_run.Run(folder)
        data = json.loads(run.bytes("data.json"))
        self.assertEqual((data["dataset"], data["shape"], data["classes"]),
                         ("csv", [10], ["no", "yes"]))
        samples = self.samples(data)
        self.assertEqual(len(samples), 48)
        model = Logistic(run.tensors())
        last = run.rows("rounds.csv")[-1]
        self.assertAlmostEqual(model.accuracy(samples), float(last["test_accuracy"]), 12)
        self.assertAlmostEqual(model.loss(samples), float(last["test_loss"]), 5)

    def test_every_data_set_is_described(self):
        run = self.run_small({"dataset.glyphs.test": 70}, rounds=1)
        data = json.loads(run.bytes("data.json"))
        self.assertEqual(data["dataset"], "glyphs")
        self.assertRegex(self.check_small({"dataset.glyphs.test": 70}),
                         r"data set +glyphs: endless training, \S+ validation, 70 test samples, each "
                         r"1 x \d+ x \d+ values; 10 classes")
        path = self.path("x.npy")
        with open(path, "wb") as file:
            file.write(npy("|u1", (SAMPLES, 3), [i * 2 for i in range(3 * SAMPLES)]))
        with open(self.path("y.npy"), "wb") as file:
            file.write(npy("<i4", (SAMPLES,), LABELS))
        settings = {"dataset.plugin": "npy", "dataset.npy.x": path,
                    "dataset.npy.y": self.path("y.npy"), "clients.count": 2,
                    "clients.storage": 10, "clients.arrivals": 2, "evaluation.samples": 0,
                    "dataset.npy.validation": 3}
        for pixels, scaling in (("signed", "(v / 255 - 0.5) / 0.5, of bytes"),
                                ("unit", "v / 255, of bytes"),
                                ("standard", "(v / 255 - mean) / deviation, of each channel over the "
                                             "training samples; 0 where the deviation is 0"),
                                ("raw", "none: bytes are numbers from 0 to 255")):
            run = self.run_small(settings, {"dataset.npy.pixels": pixels}, rounds=1)
            data = json.loads(run.bytes("data.json"))
            self.assertEqual(data["scaling"], scaling)
            self.assertEqual(data["classes"], 4)
            self.assertEqual((len(data["test_samples"]), len(data["validation_samples"])), (8, 3))
            self.assertEqual("mean" in data, pixels == "standard")


if __name__ == "__main__":
    osafl_run.main()
