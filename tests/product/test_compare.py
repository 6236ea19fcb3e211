"""experiments/paper/compare.py on made-up runs and printed values: its counts, orders and distances
against numbers that can be worked out in the head."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HEAD = ("experiment,model.plugin,quantizer.qsgd.levels,partition.dirichlet.concentration,case,"
        "accuracy_mean,accuracy_std,loss_mean,loss_std\n")
PRINTED = {"OSA-FL": (0.80, 0.01, 0.5, 0.02), "M-FedAvg": (0.70, 0.01, 0.6, 0.02),
           "M-FedNova": (0.60, 0.01, 0.7, 0.02)}
ROUNDS = 3


class Compare(unittest.TestCase):
    source = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(self.source / "experiments/paper/compare.py", self.folder)
        lines = [f"mnist,cnn,2,0.3,{case},{','.join(map(str, v))}\n" for case, v in PRINTED.items()]
        lines.append(f"mnist,cnn,4,0.3,OSA-FL,{','.join(map(str, PRINTED['OSA-FL']))}\n")
        (self.folder / "published.csv").write_text("# A word.\n" + HEAD + "".join(lines))

    def run_of(self, case, accuracy, loss, *, seed=1, rounds=ROUNDS, steps="0", pixels="unit"):
        """A run whose best round is the one before its last."""
        folder = self.folder / "runs" / f"{case}-{seed}-{steps}-{pixels}"
        folder.mkdir(parents=True)
        settings = {"name": '"mnist"', "rounds": str(ROUNDS), "dataset.plugin": '"idx"',
                    "quantizer.plugin": '"qsgd"', "quantizer.qsgd.levels": "2",
                    "model.plugin": '"cnn"', "partition.concentration": "0.3",
                    "training.minibatches": steps}
        if pixels != "signed":  # a run from before the setting was there
            settings["dataset.idx.pixels"] = f'"{pixels}"'
        (folder / "manifest.json").write_text(json.dumps({
            "experiment": {"name": "mnist", "case": f"{case},model.plugin=cnn", "seed": seed},
            "settings": {key: {"value": text} for key, text in settings.items()}}))
        rows = [(0.1, 2.3)] * (rounds - 2) + [(accuracy, loss), (accuracy - 0.01, 0.01)]
        (folder / "rounds.csv").write_text("round,test_accuracy,test_loss\n" + "".join(
            f"{i},{a},{b}\n" for i, (a, b) in enumerate(rows)))

    def says(self, *command):
        done = subprocess.run([sys.executable, "-B", self.folder / "compare.py", *command,
                               self.folder / "runs"], capture_output=True, text=True, check=True)
        return done.stdout

    def test_summary(self):
        self.run_of("OSA-FL", 0.795, 0.5)                   # within the deviation
        self.run_of("M-FedAvg", 0.58, 0.6, seed=1)          # 0.59: 11 points away
        self.run_of("M-FedAvg", 0.60, 0.6, seed=2)
        self.run_of("M-FedNova", 0.615, 0.7)                # within 2 points, and before M-FedAvg
        self.run_of("M-FedNova", 0.1, 9.0, seed=2, rounds=2)  # not whole
        self.run_of("OSA-FL", 0.76, 9.0, pixels="signed", steps="8")  # another reading
        text = self.says("summary")
        self.assertIn("Of the paper's 4 federated cells (2 blocks of 5 algorithms) 3 are", text)
        for line in ("within 2 points of the paper | 2 of 3",
                     "within the paper's own standard deviation | 1 of 3",
                     "of the same rank in their block | 1 of 3",
                     "pairs of a block in the same order | 2 of 3",
                     "| 1-2 | OSA-FL > M-FedAvg > M-FedNova | OSA-FL > M-FedNova > M-FedAvg |",
                     "OSA-FL -0.5, M-FedAvg -11.0, M-FedNova +1.5",
                     "Of the other blocks (1) no run is kept."):
            self.assertIn(line, text)
        self.assertIn("OSA-FL -4.0 |", self.says("summary", "8", "signed"))

    def test_picture(self):
        self.run_of("OSA-FL", 0.81, 0.5)     # a point above: 40 pixels
        self.run_of("M-FedAvg", 0.1, 9.0)    # beyond the edge
        root = xml.etree.ElementTree.fromstring(self.says("picture"))
        space = "{http://www.w3.org/2000/svg}"
        zero = next(float(t.get("x")) for t in root.iter(space + "text") if t.text == "+0")
        self.assertEqual([float(c.get("cx")) - zero for c in root.iter(space + "circle")], [40.0])
        self.assertEqual(len(list(root.iter(space + "path"))), 1)

    def test_reading(self):
        """Twice the error rate and half the loss: a factor of 2, either way."""
        self.run_of("M-FedNova", 0.2, 0.35)
        self.run_of("M-FedNova", 0.6, 0.7, steps="8")
        self.run_of("OSA-FL", 0.1, 9.0, steps="8")    # has no printed rate
        self.run_of("M-FedAvg", 0.1, 9.0, steps="8")  # nor this one with this model
        text = self.says("reading")
        self.assertRegex(text, r"\| a pass, \[0, 1\] \| 1 \| 2\.00 \(1\.9\d \.\. 2\.\d\d\)")
        self.assertRegex(text, r"\| 8 mini-batches, \[0, 1\] \| 1 \| 1\.00 \(1\.0\d \.\. 1\.\d\d\) "
                               r"\| 2\.00 \(1\.9\d \.\. 2\.\d\d\) \| 0\.50 \(0\.\d\d \.\. 0\.\d\d\)")
        self.assertIn("| a pass, [-1, 1] | 0 | - | - | - |", text)
        self.assertNotIn("OSA-FL", text)
        self.assertNotIn("Other pairs", text)
        self.assertEqual(text, self.says("reading"))

    def test_readings_a_choice_apart(self):
        self.run_of("M-FedNova", 0.61, 0.7, pixels="signed", steps="8")
        self.run_of("M-FedNova", 0.2, 0.35, pixels="signed")
        self.run_of("M-FedNova", 0.6, 0.7, pixels="standard")
        text = self.says("reading")
        self.assertRegex(text, r"\n\| 8 mini-batches, \[-1, 1\] \| a pass, \[-1, 1\] \| 1 \| 1\.0\d "
                               r"\(.*\) \| 2\.00 \(.*\) \| 0\.5\d \(.*\) \| 1, 0 \|\n")
        self.assertRegex(text, r"\n\| a pass, \[-1, 1\] \| a pass, mean and deviation \| 1 \| 2\.00 "
                               r"\(.*\) \| 1\.00 \(.*\) \| 2\.00 \(.*\) \| 0, 1 \|\n")
        self.assertNotIn("8 mini-batches, [-1, 1] | a pass, mean", text)  # two choices apart

    def test_destroyed_models_guess(self):
        self.run_of("M-FedNova", 0.05, "inf")
        text = self.says("reading")
        self.assertRegex(text, r"\[0, 1\] \| 1 \| 2\.\d\d \(")
        self.assertNotIn("mnist, cnn, M-FedNova", text)  # nothing to compare it with

    def test_wrong_use(self):
        for words in (["summary"], ["summary", "7", "signed", "runs"], ["picture", "8", "signed", "runs"]):
            done = subprocess.run([sys.executable, "-B", self.folder / "compare.py", *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("compare.py summary|picture|reading FOLDER", done.stderr)


if __name__ == "__main__":
    Compare.source = pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
