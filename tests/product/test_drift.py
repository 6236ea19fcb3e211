"""A drift keeps the distribution from which label mixes are drawn: clients do not become alike."""
import math

import osafl_run
from osafl_run import ProductTest


class Drift(ProductTest):
    # A store is what came in the last round or two, so that its labels are the mix in force.
    SETTINGS = {"clients.count": 80, "clients.storage": 80, "clients.arrivals": 80,
                "clients.activity": [1.0, 1.0], "deletion.plugin": "fifo",
                "training.enabled": False, "partition.plugin": "dirichlet",
                "partition.dirichlet.concentration": 0.1}

    def entropies(self, *settings, rounds=16):
        run = self.run_small(self.SETTINGS, *settings, rounds=rounds)
        total = [0.0] * rounds
        for row in run.rows("clients.csv"):
            total[int(row["round"])] += float(row["label_entropy"]) / 80
        return run, total

    def test_redraw(self):
        """With 80 clients the mean entropy has a standard deviation of about 0.05."""
        _, still = self.entropies()
        for probability in (0.1, 1.0):
            drift = {"drift.plugin": "redraw", "drift.redraw.probability": probability}
            run, moved = self.entropies(drift)
            for each in moved:
                self.assertLess(abs(each - still[0]), 0.25, (probability, moved))
            first = [row for row in run.clients("round", "label_entropy") if row[0] == "0"]
            last = [row for row in run.clients("round", "label_entropy") if row[0] == "15"]
            changed = sum(a[1] != b[1] for a, b in zip(first, last))
            self.assertGreater(changed, 40)

    def test_sudden(self):
        """Mixes change once, at the end of the round that is named."""
        def labels(rounds, *settings):
            return self.run_small(self.SETTINGS, *settings, rounds=rounds).clients("label_entropy")
        drift = {"drift.plugin": "sudden", "drift.sudden.round": 2}
        still, moved = labels(5), labels(5, drift)
        self.assertEqual(still[:3 * 80], moved[:3 * 80])
        changed = sum(a != b for a, b in zip(still[3 * 80:4 * 80], moved[3 * 80:4 * 80]))
        self.assertGreater(changed, 40)

    def test_tasks(self):
        """Two labels at a time: ln 2, were both as frequent."""
        tasks = {**self.SETTINGS, "partition.plugin": "tasks", "drift.plugin": "recurrent",
                 "drift.recurrent.period": 3, "drift.recurrent.mixes": 5}
        entropy = self.run_small(tasks, {"clients.count": 1}, rounds=7).clients("label_entropy")
        self.assertTrue(all(0.6 < float(e) <= math.log(2) for (e,) in entropy), entropy)


if __name__ == "__main__":
    osafl_run.main()
