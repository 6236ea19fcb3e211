#!/usr/bin/env python3
"""Writes the result folders of this directory: small, made by hand, with answers that can be
computed in the head (README.md has them).  The files have the layout of core/results.h and
core/manifest.h.  Usage: make.py [FOLDER]"""
import json
import pathlib
import shutil
import sys

ROUNDS = ("round,simulated_s,test_accuracy,test_loss,train_loss,participants,mean_local_rounds,"
          "uplink_payload_bits,uplink_air_bits,compute_j,upload_j,energy_j")
CLIENTS = ("round,client,participates,reason,gain,local_rounds,clock_hz,power_w,compute_s,upload_s,"
           "compute_j,upload_j,samples,train_loss,label_entropy")

SETTINGS = {
    "name": '"paper-table"', "seed": "1", "rounds": "4", "deadline_s": "60.0",
    "checkpoint_every": "10", "clients.count": "2", "partition.concentration": "0.3",
    "dataset.plugin": '"idx"', "model.plugin": '"cnn"', "channel.plugin": '"tr38901"',
    "resource.plugin": '"iterative"', "optimizer.plugin": '"sgd"',
    "optimizer.sgd.learning_rate": "0.02", "quantizer.plugin": '"qsgd"',
    "quantizer.qsgd.levels": "2", "deletion.plugin": '"topk"', "aggregator.plugin": '"fedavg"',
}
PLUGINS = ["dataset", "model", "channel", "resource", "optimizer", "quantizer", "deletion",
           "aggregator"]


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def manifest(experiment, case, seed, settings, place):
    values = dict(SETTINGS, name=f'"{experiment}"', seed=str(seed), **settings)
    run = {"name": experiment, "case": case, "seed": seed}
    if place is not None:
        run["case_index"] = place
    digest = 0x9e3779b97f4a7c15
    for letter in json.dumps([experiment, case, seed, settings]):
        digest = (digest ^ ord(letter)) * 0x100000001b3 % 2**64
    return {
        "manifest": 1, "identity": f"{digest:016x}" * 2,
        "program": {"name": "osafl", "version": "0.9.0"}, "experiment": run,
        "machine": {"cpu_features": "avx2", "blas_kernel": "Haswell"},
        "plugins": [{"kind": k, "name": values[k + ".plugin"].strip('"'), "version": "1.0.0",
                     "file_xxh3": "0" * 32} for k in PLUGINS],
        "settings": {k: {"value": v, "origin": "default"} for k, v in values.items()},
    }


def client_rows(t, link, scores):
    """Client 0 does 4 local rounds, or 2 in odd rounds; client 1 does 2 and sits out in the last
    round."""
    rows = []
    for u in range(2):
        kappa = (2 if t % 2 else 4) if u == 0 else (0 if t == 3 else 2)
        reason = "" if kappa else "deadline"
        if not link:
            row = f"{t},{u},1,,,,,,,,,,10,1.5,{0.5 + u}"
        elif kappa:
            row = f"{t},{u},1,,1e-12,{kappa},1e9,0.1,50,5,1,0.5,10,1.5,{0.5 + u + t / 8}"
        else:
            row = f"{t},{u},0,{reason},1e-14,0,,,,,,,10,,{0.5 + u + t / 8}"
        if scores:
            row += f",{0.5 * (u + 1) + t / 10:g}" if kappa else ","
        rows.append(row)
    return rows


def cell(root, experiment, case, seed, accuracy, loss, settings=None, place=None, rounds=4,
         link=True, scores=False, tail="", failure=None):
    """accuracy, loss: one value a round, None: not evaluated."""
    made = manifest(experiment, case, seed, dict(settings or {}, rounds=str(rounds)), place)
    folder = root / experiment / case.translate(str.maketrans(",=", "__")) / f"seed-{seed}-{made['identity'][:8]}"
    folder.mkdir(parents=True)
    write_json(folder / "manifest.json", made)
    ended = "2026-01-01T00:01:00Z" if len(accuracy) == rounds else None
    environment = {"host": "bench", "system": "Linux 6.1 x86_64", "cpu": "Some CPU", "threads": 2,
                   "started": "2026-01-01T00:00:00Z", "ended": ended, "seconds": 60.0,
                   "resumed_at_round": 0}
    if failure is not None:
        environment["failure"] = failure
    write_json(folder / "environment.json", environment)
    table, clients = [ROUNDS], [CLIENTS + (",score" if scores else "")]
    for t, (a, l) in enumerate(zip(accuracy, loss)):
        here = client_rows(t, link, scores)
        clients += here
        local = [int(r.split(",")[5]) for r in here if link and int(r.split(",")[5])]
        n = len(local) if link else 2
        mean = sum(local) / n if link else 5
        bits = f"{1000 * n},{100 * n},{2 * n},{n},{3 * n}" if link else "0,0,0,0,0"
        a, l = ("" if v is None else f"{v:g}" for v in (a, l))
        table.append(f"{t},{60 * (t + 1)},{a},{l},1.5,{n},{mean:g},{bits}")
    (folder / "rounds.csv").write_text("\n".join(table) + "\n" + tail)
    (folder / "clients.csv").write_text("\n".join(clients) + "\n" + tail)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    name = "paper-table"
    for made in (name, "levels"):
        shutil.rmtree(root / made, ignore_errors=True)
    loss = [2, 1.5, 1, 1.25]
    cell(root, name, "Genie", 1, [0.25, 0.5, 0.75, 0.875], [2, 1, 0.5, 0.25], place=0, link=False,
         settings={"aggregator.plugin": '"genie"'})
    osafl = {"aggregator.plugin": '"osafl"', "aggregator.osafl.global_learning_rate": "15.0",
             "paper.accuracy_mean": "0.58", "paper.accuracy_std": "0.01",
             "paper.loss_mean": "1.25", "paper.loss_std": "0.25"}
    # Earlier versions kept what stands in published.csv as settings; such manifests are still read.
    (root / name / "published.csv").write_text(
        "# of a publication\ncase,model.plugin,accuracy_mean,accuracy_std,loss_mean,loss_std\n"
        "OSA-FL,cnn,0.58,0.01,1.25,0.25\nOSA-FL,mlp,0.1,,0.1,\n")
    for seed, best in ((1, 0.5), (2, 0.6), (3, 0.7)):
        cell(root, name, "OSA-FL", seed, [0.1, 0.2, best, best - 0.1], loss, osafl, place=1,
             scores=True)
    for seed, best, there in ((1, 0.4, 0.7499), (2, 0.6, 0.7501)):
        cell(root, name, "M-FedAvg", seed, [0.1, None, best, best], [2, None, there, 1], place=2)
    cell(root, name, "M-FedAvg", 3, [0.9, 0.9], [2, 1.5], place=2, tail="2,180,0.")
    cell(root, name, "M-FedNova", 1, [0.125], [2.25], place=3,
         settings={"aggregator.plugin": '"fednova"'},
         failure="quantizer qsgd met a value that is not finite")
    # A sweep: two cases, each with two numbers of levels; a case with a setting changed in between.
    for case, gain in (("A", 0.0), ("B", 0.1)):
        for levels in (2, 16):
            best = 0.3 + gain + levels / 100
            cell(root, "levels", f"{case},quantizer.qsgd.levels={levels}", 1, [0.1, best], [2, 1],
                 rounds=2, settings={"quantizer.qsgd.levels": str(levels)})
    cell(root, "levels", "B,quantizer.qsgd.levels=2", 1, [0.1, 0.2], [2, 1.5], rounds=2,
         settings={"quantizer.qsgd.levels": "2", "optimizer.sgd.learning_rate": "0.5"})


if __name__ == "__main__":
    main()
