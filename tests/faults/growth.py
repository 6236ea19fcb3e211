#!/usr/bin/env python3
"""Long runs do not grow: memory and descriptors of a run on glyphs stay what they were after the
first rounds.

usage: growth.py PROGRAM SOURCE [--count ROUNDS]; with --all the curve is printed, a line for every
hundred rounds.
"""
import os
import subprocess
import time

from harness import Bench, FULL, OK, check, skip

WARM_UP = 0.25          # of the rounds
GROWTH_KIB = 512        # that the allocator may take for itself
CASES = ("retained-updates", "server-moments", "robust")


def look(pid):
    """(resident KiB, descriptors) of a process; None when it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            resident = [int(line.split()[1]) for line in status if line.startswith("VmRSS")]
        return (resident[0], len(os.listdir(f"/proc/{pid}/fd"))) if resident else None
    except (FileNotFoundError, ProcessLookupError):
        return None


def rounds_done(folder):
    """Rows of timing.csv, counted from its last line."""
    try:
        with open(os.path.join(folder, "timing.csv"), "rb") as table:
            table.seek(max(0, os.path.getsize(table.name) - 400))
            line = table.read().splitlines()[-1]
        return int(line.split(b",")[0]) + 1
    except (OSError, IndexError, ValueError):
        return 0


def curve(bench, case, rounds):
    """{hundreds of rounds: (KiB, descriptors)}"""
    folder = bench.new_folder()
    command = bench.command(case, folder, "--quiet", "--set", f"rounds={rounds}", "--set",
                            "evaluation.every=50", "--set", "checkpoint_every=25",
                            threads=2)
    with open(os.path.join(bench.folder, "errors"), "w", encoding="utf-8") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    found, step = {}, max(rounds // 20, 1)
    while process.poll() is None:
        seen, at = look(process.pid), rounds_done(folder) // step * step
        # After the last round files are closed and memory is freed, which says nothing.
        if seen is not None and 0 < at < rounds and at not in found:
            found[at] = seen
        time.sleep(0.005)
    check(process.returncode == OK, f"{case}: exit status {process.returncode}, see {errors.name}")
    return found


def growth(bench):
    rounds = bench.args.count or (2000 if FULL else 300)
    told = []
    for case in CASES if FULL or bench.args.all else CASES[:1]:
        found = curve(bench, case, rounds)
        if bench.args.all:
            for at, (resident, descriptors) in sorted(found.items()):
                print(f"{case}: round {at}: {resident} KiB, {descriptors} descriptors")
        settled = [seen for at, seen in sorted(found.items()) if at >= WARM_UP * rounds]
        check(len(settled) >= 3, f"{case}: only {len(settled)} looks")
        grown = settled[-1][0] - settled[0][0]
        check(grown <= GROWTH_KIB, f"{case}: {grown} KiB more: {sorted(found.items())}")
        # A checkpoint in hand opens two files for a moment.
        opened = [descriptors for _, descriptors in settled]
        check(max(opened) - min(opened) <= 2, f"{case}: descriptors {opened}")
        told.append(f"{settled[0][0]} to {settled[-1][0]} KiB")
    return f"{rounds} rounds after the warm-up: " + ", ".join(told)


if __name__ == "__main__":
    BENCH = Bench(__doc__)
    if BENCH.sanitized:
        skip("a sanitizer keeps freed memory")
    if not os.path.exists("/proc/self/status"):
        skip("there is no /proc here")
    BENCH.main(growth)
