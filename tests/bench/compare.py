"""Runs osafl's models and the same networks in PyTorch in turn, and prints the ratios.

usage: compare.py OSAFL [--model M]... [--rounds R] [--repeats N] [--clients C] [--python PYTHON]
                  [--plain-malloc]

OSAFL is the program.  Each round times both sides, one directly after the other, so that what
else the machine does meets both; of each side the least and the median of all steps are compared.
Times are CPU time of one thread.

With --clients C, whole rounds are timed instead, by the wall and on all processors: C clients make
40 steps each, and 400 samples for each of them are evaluated (25 clients: 10,000).  osafl trains
clients on threads; PyTorch does it in the faster of two ways, in one process for each processor
or in one process whose operations use all of them.  Nothing else should run meanwhile; where
something does, the ratio of CPU times, of all threads and processes, tells more than the clock.

PyTorch keeps the memory that it frees.  By default the C library gives it back to the system and
takes it anew in every step or in none, as the heap happens to lie, and a step with it takes up to
a quarter longer (--plain-malloc leaves it to chance).

PyTorch gets OpenBLAS's best kernels for this processor: set
OPENBLAS_CORETYPE to try others (Debian's OpenBLAS 0.3.21 knows SkylakeX, Haswell and Zen, and
falls back to kernels of 2004 on processors that are newer than itself).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def environment():
    """One thread for BLAS; its kernels by the processor's flags unless the caller has chosen."""
    result = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if "OPENBLAS_CORETYPE" not in result:
        with open("/proc/cpuinfo") as cpuinfo:
            flags = cpuinfo.read()
        if "avx512dq" in flags:
            result["OPENBLAS_CORETYPE"] = "SkylakeX"
        elif "avx2" in flags:
            result["OPENBLAS_CORETYPE"] = "Haswell"
    return result


def run(command, **more):
    """The JSON that a command prints; more: variables of its environment."""
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          env=dict(environment(), **more)).stdout
    return json.loads(text)


def run_torch(options, model, *arguments):
    kept = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
    return run([options.python, str(HERE / "torch_models.py"), model, *arguments],
               **({} if options.plain_malloc else kept))


def compare_rounds(options, model):
    processors = os.cpu_count()
    ways = {"processes": ["--processes", str(processors), "--threads", "1"],
            "threads": ["--processes", "1", "--threads", str(processors)]}
    ours = []
    theirs = {way: [] for way in ways}
    for _ in range(options.rounds):
        ours.append(run([options.osafl, "bench", "--model", model, "--repeats", "1", "--json",
                         "--clients", str(options.clients), "--threads", str(processors)]))
        for way, arguments in ways.items():
            theirs[way].append(run_torch(options, model, "--clients", str(options.clients),
                                         *arguments))
    best = min(ways, key=lambda way: statistics.median(r["round_s"] for r in theirs[way]))
    columns = []
    for name, pick in (("round_s", min), ("round_s", statistics.median), ("round_cpu_s", min),
                       ("evaluate_cpu_s", min)):
        mine = pick(r[name] for r in ours)
        other = pick(r[name] for r in theirs[best])
        columns.append(f"{mine:7.2f} {other:8.2f} {other / mine:6.2f}x")
    print(f"{model:12} {'  '.join(columns)}  {best}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("osafl")
    parser.add_argument("--model", action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--plain-malloc", action="store_true")
    options = parser.parse_args()
    models = options.model or ["cnn", "squeezenet", "resnet18"]
    if options.clients > 0:
        print(f"rounds of {options.clients} clients on {os.cpu_count()} processors, in seconds")
        print(f"{'':12} {'clock, least':^24}  {'clock, median':^24}  {'CPU time, least':^24}  "
              f"{'its evaluation':^24}")
        print(f"{'model':12} " + "  ".join([f"{'osafl':>7} {'PyTorch':>8} {'ratio':>7}"] * 4) +
              "  PyTorch's way")
        for model in models:
            compare_rounds(options, model)
        return
    print(f"{'model':12} {'osafl ms':>18} {'PyTorch ms':>18} {'step':>14} {'evaluation':>11}")
    print(f"{'':12} {'least':>9} {'median':>8} {'least':>9} {'median':>8} "
          f"{'least':>7} {'median':>6} {'least':>11}")
    for model in models:
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(run([options.osafl, "bench", "--model", model, "--clients", "0", "--json",
                             "--repeats", str(2 * options.repeats)]))
            theirs.append(run_torch(options, model, "--repeats", str(options.repeats)))
        least = min(r["step_ms"] for r in ours)
        median = statistics.median(r["step_median_ms"] for r in ours)
        steps = [t for r in theirs for t in r["step_ms"]]
        evaluation = (min(t for r in theirs for t in r["evaluate_ms"]) /
                      min(r["evaluate_ms"] for r in ours))
        print(f"{model:12} {least:9.2f} {median:8.2f} {min(steps):9.2f} "
              f"{statistics.median(steps):8.2f} {min(steps) / least:6.2f}x "
              f"{statistics.median(steps) / median:5.2f}x {evaluation:10.2f}x", flush=True)


if __name__ == "__main__":
    main()
