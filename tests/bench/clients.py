"""Runs workloads/million.cfg with 100 to 1,000,000 clients, and prints a table in Markdown.

usage: clients.py OSAFL [--rounds R] [--threads N] [--most CLIENTS]

Seconds are medians of the rounds in timing.csv, by the wall, without results and checkpoints; CPU
seconds are those of the whole program, with the start, divided by the rounds.  Memory is the peak
of the program's resident pages.  Bytes are all files of the run's folder at its end, two
checkpoints among them.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile

MILLION = pathlib.Path(__file__).resolve().parent / "workloads" / "million.cfg"
PARTS = ("resource_s", "train_s", "aggregate_s", "evaluate_s", "world_s")


def measure(options, clients, folder):
    """One run: the medians of its rounds, the program's CPU seconds and peak memory, its bytes."""
    command = [options.osafl, "run", str(MILLION), "--quiet", "--out", folder, "--threads",
               str(options.threads), "--set", f"clients.count={clients}", "--set",
               f"rounds={options.rounds}", "--set", f"checkpoint_every={options.rounds // 2}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    with open(os.path.join(folder, "timing.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    medians = {part: statistics.median(float(row[part]) for row in rows) for part in PARTS}
    files = sum(entry.stat().st_size for entry in os.scandir(folder))
    return medians, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, files


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("osafl")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, default=1000000, help="clients of the last row")
    options = parser.parse_args()
    print("| clients | asked | s a round | training | world | the rest | CPU s a round | "
          "peak MiB | files, MB |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    clients = 100
    while clients <= options.most:
        with tempfile.TemporaryDirectory() as folder:
            s, cpu_s, peak, files = measure(options, clients, os.path.join(folder, "run"))
        whole = sum(s.values())
        print(f"| {clients:,} | {clients // 100:,} | {whole:.4f} | {s['train_s']:.4f} | "
              f"{s['world_s']:.4f} | {whole - s['train_s'] - s['world_s']:.4f} | "
              f"{cpu_s / options.rounds:.4f} | {peak:.0f} | {files / 1e6:.2f} |", flush=True)
        clients *= 10


if __name__ == "__main__":
    main()
