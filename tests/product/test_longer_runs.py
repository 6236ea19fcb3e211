"""osafl run --rounds N: a run of more rounds goes on where a shorter one ended, and has the bytes of one
that began afresh; where the number of rounds matters, it says so."""
import glob
import os

import osafl_run
from osafl_run import SMALL, ProductTest, arguments

STEADY = {"aggregator.osafl.final_step": 1.0}  # no step depends on the number of rounds
FILES = ("rounds.csv", "clients.csv", "model.safetensors", "manifest.json", "resolved.cfg",
         "data.json")


class LongerRuns(ProductTest):
    def run_rounds(self, base, rounds, *settings, more=(), status=0):
        merged = {}
        for each in settings:
            merged.update(each)
        return self.osafl("run", SMALL, "--threads", "1", "--results", self.path(base), "--rounds",
                          str(rounds), *arguments(merged), *more, status=status)

    def folder(self, base, rounds):
        for name in glob.glob(self.path(base) + "/small/main/seed-7-*"):
            with open(name + "/resolved.cfg") as file:
                if "\nrounds = %d;" % rounds in file.read():
                    return osafl_run.Run(name)
        self.fail("no run of %d rounds" % rounds)

    def same_as_fresh(self, base, rounds, *settings):
        self.run_rounds("fresh", rounds, *settings)
        fresh, longer = self.folder("fresh", rounds), self.folder(base, rounds)
        for name in FILES:
            # The origin of a setting is the same, since the command is.
            self.assertEqual(fresh.bytes(name), longer.bytes(name), name)

    def test_a_longer_run_goes_on(self):
        self.run_rounds("grown", 7, STEADY)
        before = self.folder("grown", 7)
        kept = {name: before.bytes(name) for name in os.listdir(before.folder)}
        text = self.run_rounds("grown", 12, STEADY)
        self.assertIn("going on from the run of 7 rounds in ", text)
        self.assertNotIn(" round 6/12", text)  # it begins at the checkpoint after 6 rounds
        self.assertIn(" round 7/12", text)
        self.same_as_fresh("grown", 12, STEADY)
        self.assertEqual(kept, {name: before.bytes(name) for name in os.listdir(before.folder)})
        self.assertIn("going on from the run of 12 rounds in ", self.run_rounds("grown", 13, STEADY))
        self.assertIn("this run is complete", self.run_rounds("grown", 12, STEADY))

    def test_the_best_model_goes_along(self):
        best = {**STEADY, "results.keep": "both"}
        self.run_rounds("grown", 7, best)
        self.run_rounds("grown", 10, best)
        self.same_as_fresh("grown", 10, best)
        self.assertEqual(self.folder("grown", 10).bytes("best.safetensors"),
                         self.folder("fresh", 10).bytes("best.safetensors"))

    def test_what_depends_on_the_rounds(self):
        for name, settings in (("osafl", {}),
                               ("schedule", {**STEADY, "optimizer.sgd.schedule": "linear"}),
                               ("evaluation", {**STEADY, "evaluation.every": 4})):
            self.run_rounds(name, 7, settings)
            text = self.run_rounds(name, 12, settings, status=2)
            self.assertIn("does not begin a run of more", text)
            self.osafl("run", SMALL, "--quiet", "--results", self.path(name),
                       *arguments({**settings, "rounds": 12}))
            self.assertEqual(len(self.folder(name, 12).rows("rounds.csv")), 12)

    def test_other_settings_and_missing_checkpoints(self):
        self.run_rounds("other", 7, STEADY)
        self.assertNotIn("going on", self.run_rounds("other", 9, STEADY,
                                                     {"optimizer.sgd.learning_rate": 0.03}))
        self.run_rounds("bare", 7, STEADY, more=["--drop-checkpoints"])
        self.assertNotIn("going on", self.run_rounds("bare", 9, STEADY))

    def test_a_folder_that_holds_the_shorter_run(self):
        """A longer run has a folder of its own, also by --out."""
        hint = "choose another folder with --out or --results (a folder next to it, with --rounds, " \
            "to go on from its end), or overwrite it with --force"

        def run(name, rounds, status=0):
            return self.osafl("run", SMALL, "--threads", "1", "--out", self.path(name), "--rounds",
                              str(rounds), *arguments(STEADY), status=status)
        run("short", 7)
        self.assertIn(hint, run("short", 9, status=2))
        self.assertIn("going on from the run of 7 rounds in ", run("long", 9))
        self.assertIn("choose another folder with --out or --results, or overwrite",
                      run("long", 7, status=2))

    def test_an_interruption_before_the_beginning_is_proven(self):
        self.run_rounds("cut", 7, STEADY)
        self.run_rounds("cut", 3000, STEADY, more=["--max-time", "0.4"], status=3)
        text = self.run_rounds("cut", 40, STEADY)
        self.assertIn("going on from the run of 7 rounds", text)
        self.same_as_fresh("cut", 40, STEADY)


if __name__ == "__main__":
    osafl_run.main()
