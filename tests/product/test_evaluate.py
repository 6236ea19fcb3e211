"""osafl evaluate, and what a model's file tells: the measures that a run reported are found again, by
the program from the run or its model, and by Python from the model's file and the data alone."""
import json
import math
import os
import random
import struct

import osafl_run
from osafl_run import SMALL, Logistic, ProductTest, arguments, read_safetensors

N = 200


def safetensors(tensors):
    """A file of {name: (shape, values)} in doubles, as other programs write them."""
    header, body = {}, b""
    for name, (shape, values) in tensors.items():
        data = struct.pack("<%dd" % len(values), *values)
        header[name] = {"dtype": "F64", "shape": list(shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


class Evaluate(ProductTest):
    def table(self, name, shift):
        """A table of three classes; settings that read it, and its samples."""
        draw = random.Random(3)
        samples = []
        for i in range(N):
            label = i % 3
            samples.append(([draw.gauss(shift + 2 * (label == k), 1 + k) for k in range(3)],
                            "abc"[label]))
        lines = ["x,y,z,class"] + [",".join([*map(repr, x), label]) for x, label in samples]
        path = self.path(name, "\n".join(lines) + "\n")
        return {"dataset.plugin": "csv", "dataset.csv.path": path, "evaluation.samples": 0,
                "clients.count": 3, "clients.storage": 30, "clients.arrivals": 3}, samples

    def evaluate(self, weights, settings, *more, status=0):
        return self.osafl("evaluate", weights, SMALL, *arguments(settings), *more, status=status)

    def measures(self, text):
        """{"accuracy": ..., "loss": ...} of what was printed."""
        (line,) = [line for line in text.splitlines() if line.startswith("measures ")]
        pairs = [part.split() for part in line[len("measures "):].split(",")]
        return {name: float(value) for name, value in pairs}

    def reported(self, run):
        return {name: run.rounds("test_" + name)[-1] for name in ("accuracy", "loss")}

    def test_a_run_is_found_again(self):
        settings, _ = self.table("own.csv", 5.0)
        run = self.run_small(settings)
        expected = self.reported(run)
        model = run.folder + "/model.safetensors"
        for weights, more in ((run.folder, ()), (model, ("--threads", "3"))):
            self.assertEqual(self.measures(self.evaluate(weights, settings, *more)), expected)
        text = self.osafl("evaluate", run.folder, run.folder + "/resolved.cfg",
                          "--set", "evaluation.per_class=true")
        self.assertEqual(self.measures(text), expected)
        self.assertIn("label 2                c, ", text)

    def test_python_finds_the_accuracy_in_the_file_and_the_data(self):
        settings, samples = self.table("own.csv", 5.0)
        run = self.run_small(settings)
        metadata, tensors = read_safetensors.read(run.folder + "/model.safetensors")
        self.assertEqual([metadata[key] for key in ("format", "model")], ["pt", "logistic"])
        data = json.loads(metadata["data"])
        self.assertEqual(data, json.loads(run.bytes("data.json")))
        test = []
        for i in data["test_samples"]:
            x, label = samples[i]
            scaled = [(v - m) / d for v, m, d in zip(x, data["mean"], data["deviation"])]
            test.append((scaled, data["classes"].index(label)))
        model, expected = Logistic(tensors), self.reported(run)
        self.assertEqual(model.accuracy(test), expected["accuracy"])
        self.assertAlmostEqual(model.loss(test), expected["loss"], places=5)

    def test_weights_from_elsewhere(self):
        settings, _ = self.table("own.csv", 5.0)
        path = self.path("mine.safetensors")
        with open(path, "wb") as file:
            file.write(safetensors({"linear.bias": ([3], [0.0] * 3),
                                    "linear.weight": ([3, 3], [0.0] * 9)}))
        found = self.measures(self.evaluate(path, settings))
        self.assertAlmostEqual(found["loss"], math.log(3), places=6)

    def test_other_scaling_is_a_warning(self):
        run = self.run_small(self.table("own.csv", 5.0)[0])
        text = self.evaluate(run.folder, self.table("other.csv", 7.0)[0])
        self.assertIn("data set (data.json): mean, deviation", text)
        self.assertIn("accuracy", text)

    def test_what_does_not_fit_is_refused(self):
        settings, _ = self.table("own.csv", 5.0)
        run = self.run_small(settings)
        for weights, more, words in (
                (run.folder, {"model.plugin": "mlp"}, '"fc1.weight" [200, 3] is missing'),
                (self.work, {}, "is not a file; name a safetensors file"),
                (self.path("gone"), {}, "cannot read"),
                (run.folder, {"seeds": [1, 2]}, "is a grid of 2 cells; pick one with --only"),
                (run.folder, {"evaluation.split": '"validation"'}, "dataset.csv.validation")):
            self.assertIn(words, self.evaluate(weights, {**settings, **more}, status=2))
        os.remove(run.folder + "/model.safetensors")
        self.assertIn("holds no model.safetensors: the run has not ended",
                      self.evaluate(run.folder, settings, status=2))
        self.osafl("evaluate", run.folder, status=2)


osafl_run.main()
