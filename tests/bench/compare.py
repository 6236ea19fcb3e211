"""Runs osafl's models and the same networks in PyTorch in turn, and prints the ratios.

usage: compare.py OSAFL [--model M]... [--rounds R] [--repeats N] [--python PYTHON]

OSAFL is the program.  Each round times both sides, one directly after the other, so that what
else the machine does meets both; of each side the least and the median of all steps are compared.
Times are CPU time of one thread.  PyTorch gets OpenBLAS's best kernels for this processor: set
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


def run(command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment()).stdout
    return json.loads(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("osafl")
    parser.add_argument("--model", action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--python", default="/usr/bin/python3")
    options = parser.parse_args()
    print(f"{'model':12} {'osafl ms':>18} {'PyTorch ms':>18} {'step':>14} {'evaluation':>11}")
    print(f"{'':12} {'least':>9} {'median':>8} {'least':>9} {'median':>8} "
          f"{'least':>7} {'median':>6} {'least':>11}")
    for model in options.model or ["cnn", "squeezenet", "resnet18"]:
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(run([options.osafl, "bench", "--model", model, "--clients", "0", "--json",
                             "--repeats", str(2 * options.repeats)]))
            theirs.append(run([options.python, str(HERE / "torch_models.py"), model, "--repeats",
                               str(options.repeats)]))
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
