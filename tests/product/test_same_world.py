"""All algorithms of a comparison meet the same world: the same clients, samples, channel, limits
and batches, whatever else an experiment changes."""
import osafl_run
from osafl_run import FROZEN, LOSSLESS, ProductTest, plugins

# What the world decides.  With a payload of the same size that includes who takes part.
WORLD = ("round", "client", "gain", "samples", "label_entropy")
PARTICIPATION = WORLD + ("participates", "reason", "local_rounds", "clock_hz", "power_w")
# A weak link and slow clocks, so that some clients sit out and others do fewer local rounds.
SCARCE = {"channel.tr38901.radius_m": 2500.0, "deadline_s": 2.0, "clients.storage": 60,
          "clients.arrivals": 10}

FEDERATED = [name for name in plugins("aggregator") if name != "genie"]
# The only built-in aggregator that sends a second vector, and with it twice the payload.
SINGLE_VECTOR = [name for name in FEDERATED if name != "scaffold"]


def aggregator(name):
    return {"aggregator.plugin": name}


class SameWorld(ProductTest):
    def test_every_aggregator(self):
        runs = {name: self.run_small(SCARCE, LOSSLESS, aggregator(name)) for name in FEDERATED}
        expected = runs["fedavg"]
        participants = expected.clients("participates")
        self.assertIn(("0",), participants, "nobody sits out: the setting shows too little")
        self.assertIn(("1",), participants)
        self.assertGreater(len(set(expected.clients("local_rounds"))), 2)
        for name, run in runs.items():
            with self.subTest(aggregator=name):
                columns = PARTICIPATION if name in SINGLE_VECTOR else WORLD
                self.assertEqual(run.clients(*columns), expected.clients(*columns))

    def test_genie_trains_on_the_same_stores(self):
        columns = ("round", "client", "samples", "label_entropy")
        self.assertEqual(self.run_small(aggregator("genie")).clients(*columns),
                         self.run_small(aggregator("fedavg")).clients(*columns))

    def test_genie_meets_no_link(self):
        """Nothing of channel, resources, quantizer, uplink or attackers reaches pooled training."""
        expected = self.run_small(LOSSLESS, aggregator("genie"))
        for settings in ({"quantizer.plugin": "qsgd", "quantizer.qsgd.levels": 1},
                         {"quantizer.plugin": "topk_sparse"}, {"deadline_s": 1e-6},
                         {"channel.plugin": "fixed", "channel.fixed.gain_db": -300.0},
                         {"resource.plugin": "fixed"}, {"selection.plugin": "uniform"},
                         {"uplink.loss_probability": 1.0},
                         {"filter.plugin": "label_flip", "filter.label_flip.share": 1.0},
                         {"filter.plugin": "gaussian"}):
            with self.subTest(settings=settings):
                run = self.run_small(LOSSLESS, aggregator("genie"), settings)
                self.assertEqual(run.tensors(), expected.tensors())
                self.assertEqual(run.rounds("participants"), [1] * 4)
                self.assertEqual(run.rounds("energy_j"), [None] * 4)

    def test_every_quantizer(self):
        runs = [self.run_small({"quantizer.plugin": name}) for name in plugins("quantizer")]
        for run in runs[1:]:
            self.assertEqual(run.clients(*WORLD), runs[0].clients(*WORLD))

    def test_every_model(self):
        small = {"clients.count": 3, "rounds": 2, "training.minibatches": 1,
                 "training.max_local_rounds": 1, "evaluation.samples": 10}
        layers = {"network": {"model.network.layers":
                              '({ flatten = true; }, { linear = "classes"; })'}}
        runs = [self.run_small(small, {"model.plugin": name}, layers.get(name, {}))
                for name in plugins("model") if name != "resnet18"]
        for run in runs[1:]:
            self.assertEqual(run.clients(*WORLD), runs[0].clients(*WORLD))

    def test_training_settings(self):
        expected = self.run_small().clients(*WORLD)
        for settings in ({"training.batch": 3}, {"training.minibatches": 0},
                         {"training.max_local_rounds": 1}, {"optimizer.sgd.momentum": 0.9},
                         {"optimizer.plugin": "proximal"}, {"deadline_s": 5.0},
                         {"filter.plugin": "noise", "filter.noise.share": 0.3},
                         {"uplink.loss_probability": 0.5}, {"resource.plugin": "optimal"}):
            with self.subTest(settings=settings):
                self.assertEqual(self.run_small(settings).clients(*WORLD), expected)

    def test_evaluation_changes_nothing(self):
        """Frequency, split, size and detail of the evaluation: the same model, to the byte."""
        columns = PARTICIPATION + ("train_loss", "score")
        expected = self.run_small(rounds=6)
        for settings in ({"evaluation.every": 4}, {"evaluation.samples": 7},
                         {"evaluation.per_class": True, "evaluation.per_client": True},
                         {"dataset.glyphs.validation": 40, "evaluation.split": "validation"}):
            with self.subTest(settings=settings):
                run = self.run_small(settings, rounds=6)
                self.assertEqual(run.tensors(), expected.tensors())
                self.assertEqual(run.clients(*columns), expected.clients(*columns))

    def test_threads_change_nothing(self):
        one = self.run_small({"uplink.loss_probability": 0.2})
        three = self.run_small({"uplink.loss_probability": 0.2}, threads=3)
        for name in ("rounds.csv", "clients.csv", "model.safetensors", "manifest.json"):
            self.assertEqual(one.bytes(name), three.bytes(name), name)

    def test_training_batches(self):
        """With a model that does not change, a client's training loss tells on which samples it
        trained: they are the same for every aggregator, optimizer and quantizer."""
        expected = self.run_small(FROZEN, LOSSLESS, aggregator("fedavg"))
        losses = expected.clients("train_loss")
        # Equal batches would give equal losses: the clients' and the rounds' all differ.
        self.assertEqual(len(set(losses)), len(losses))
        for settings in [aggregator(name) for name in FEDERATED] + \
                [{"quantizer.plugin": name} for name in plugins("quantizer")] + \
                [{"optimizer.plugin": "proximal"}, {"evaluation.every": 3}]:
            with self.subTest(settings=settings):
                run = self.run_small(FROZEN, LOSSLESS, settings)
                self.assertEqual(run.clients("train_loss"), losses)

    def test_lost_updates(self):
        """The same updates are lost for every aggregator."""
        lossy = {"uplink.loss_probability": 0.4}
        expected = self.run_small(lossy, aggregator("fedavg")).clients("participates", "reason")
        self.assertIn(("0", "lost"), expected)
        for name in ("osafl", "fednova", "scaffold"):
            self.assertEqual(self.run_small(lossy, aggregator(name)).clients("participates",
                                                                             "reason"), expected)

    def test_initial_model(self):
        """The same seed starts every algorithm from the same parameters, another one from others."""
        expected = self.run_small(FROZEN, LOSSLESS, rounds=1)
        for name in plugins("aggregator"):
            with self.subTest(aggregator=name):
                run = self.run_small(FROZEN, LOSSLESS, aggregator(name), rounds=1)
                self.assertEqual(run.tensors(), expected.tensors())
        other = self.run_small(FROZEN, LOSSLESS, {"seed": 8}, rounds=1)
        self.assertNotEqual(other.tensors(), expected.tensors())

    def test_another_seed_is_another_world(self):
        expected = self.run_small()
        other = self.run_small({"seed": 8})
        for column in ("gain", "samples", "label_entropy", "train_loss"):
            self.assertNotEqual(other.clients(column), expected.clients(column), column)


if __name__ == "__main__":
    osafl_run.main()
