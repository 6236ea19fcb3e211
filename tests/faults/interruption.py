#!/usr/bin/env python3
"""Runs that are killed, interrupted and stopped at random moments end as if nothing had been.

Every attempt goes on with another number of threads.  usage: interruption.py PROGRAM SOURCE
[--count KILLS]
"""
import collections
import os
import subprocess
import time

from harness import (Bench, CASES, FULL, INTERRUPTED, OK, check, signal)

THREADS = (1, 2, 3, 7)
STOPS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}


def attempt(bench, case, folder, way, delay):
    """One attempt at a run, ended after a delay.  Returns its exit status."""
    options = ["--max-time", f"{delay:.4f}"] if way == "--max-time" else []
    command = bench.command(case, folder, *options, threads=bench.random.choice(THREADS))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    if way != "--max-time":
        time.sleep(delay)
        process.send_signal(STOPS.get(way, signal.SIGKILL))
        if way == "SIGINT" and bench.random.random() < 0.2:
            process.send_signal(signal.SIGINT)  # an impatient user
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        check(False, f"{case}: {way} after {delay:.4f} s did not end the run")
    # A signal may come before the program listens for it or when it has done everything.
    allowed = {OK, INTERRUPTED, -STOPS.get(way, signal.SIGKILL)}
    check(process.returncode in allowed,
          f"{case}: {way} after {delay:.4f} s: exit status {process.returncode}: {errors}")
    if process.returncode == INTERRUPTED and errors:
        check("run the same command again to resume" in errors, f"{case}: {way}: said {errors!r}")
    return process.returncode


def interrupt(bench, ways, least):
    """Interrupts runs until it has happened `least` times; returns how often by which way."""
    count = collections.Counter()
    runs = 0
    while sum(count.values()) < least:
        case = CASES[runs % len(CASES)]
        bench.reference(case)
        folder = bench.new_folder()
        runs += 1
        status = None
        for _ in range(12):
            way = bench.random.choice(ways)
            delay = bench.random.uniform(0.0, bench.duration[case])
            status = attempt(bench, case, folder, way, delay)
            if status == OK:
                break
            count[way] += 1
        if status != OK:
            bench.finish(bench.command(case, folder, threads=bench.random.choice(THREADS)), case)
        bench.compare(case, folder, note="interrupted")
    return ", ".join(f"{n} {way}" for way, n in sorted(count.items())), runs


def kills(bench):
    ways, runs = interrupt(bench, ["kill -9"], bench.args.count or (200 if FULL else 12))
    return f"kills survived: {ways} in {runs} runs of {len(CASES)} cases"


def stops(bench):
    ways, runs = interrupt(bench, ["SIGINT", "SIGTERM", "SIGHUP", "--max-time", "kill -9"],
                           60 if FULL else 8)
    return f"interruptions survived: {ways} in {runs} runs"


def contents(folder):
    """{name: (time of the last change, bytes)}"""
    found = {}
    for entry in os.scandir(folder):
        with open(entry.path, "rb") as file:
            found[entry.name] = (entry.stat().st_mtime_ns, file.read())
    return found


def complete_run_is_left_alone(bench):
    folder = bench.reference("scores")
    before = contents(folder)
    done = bench.run(bench.command("scores", folder))
    check(done.returncode == OK and "this run is complete" in done.stderr, done.stderr)
    check(contents(folder) == before, "a complete run was touched")
    return "a complete run is left alone"


if __name__ == "__main__":
    Bench(__doc__).main(kills, stops, complete_run_is_left_alone)
