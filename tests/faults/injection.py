#!/usr/bin/env python3
"""Runs that are killed at a system call, or whose system call fails, tell what is wrong and go on
later to the same bytes.

strace finds every call that touches the folder of the results, in a fresh run and in one that goes
on from a checkpoint, and then injects one fault into one call of one run at a time: SIGKILL, or an
error that the call can have.  usage: injection.py PROGRAM SOURCE [--all]
"""
import os
import re
import shutil
import subprocess

from harness import (Bench, FAILED, OK, check, died_of, each, signal, skip)

# Errors that a call can have; a call not listed here is killed at and left alone otherwise.
ERRORS = {
    "openat": ("EACCES", "EMFILE", "ENOSPC", "EIO"),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "fsync": ("EIO", "ENOSPC"),
    "renameat": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO",),
    "read": ("EIO",),
    "pread64": ("EIO",),
    "mkdir": ("ENOSPC", "EROFS"),
    "flock": ("ENOLCK",),
    "close": ("EIO",),
}
REMEDIES = re.compile(r"free space|--out|ulimit|the same command|--force|on a sound one")


def strace(*options):
    return ["strace", "-f", "-qq", "-y", "-o", *options]


def require_strace(bench):
    if shutil.which("strace") is None:
        skip("strace is not installed")
    if bench.sanitized:
        skip("leak checks of a sanitizer do not work under ptrace")
    probe = subprocess.run(strace("/dev/null", "-e", "trace=fsync", "true"), check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if probe.returncode != 0:
        skip("tracing is barred here")


def list_calls(bench, case, prepare):
    """[(call, its number among its kind)] of those that touch the folder of the results."""
    folder = prepare()
    log = os.path.join(bench.folder, "calls")
    done = bench.run(strace(log, "-e", "trace=" + ",".join(ERRORS)) + bench.command(case, folder))
    check(done.returncode == OK, f"{case} under strace: {done.stderr}")
    calls, count, main = [], {}, None
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = re.match(r"(\d+) +(\w+)\(", line)
            main = main or (match and match[1])
            if match is None or match[1] != main:
                continue
            count[match[2]] = count.get(match[2], 0) + 1
            if folder in line:
                calls.append((match[2], count[match[2]]))
    check(len(calls) > 60, f"strace saw only {len(calls)} calls")
    return calls


def scenarios(bench):
    """(name, case, function that makes the folder in which it starts)"""
    return (("a fresh run", "control-variates", bench.new_folder),
            ("a run that goes on", "retained-updates",
             lambda: bench.interrupted("retained-updates")))


def inject(bench, case, prepare, call, number, fault):
    folder = prepare()
    command = strace("/dev/null", "-e", f"trace={call}", "-e",
                     f"inject={call}:{fault}:when={number}")
    return folder, bench.run(command + bench.command(case, folder))


def kills(bench):
    n = 0
    for name, case, prepare in scenarios(bench):
        def kill(call, number):
            note = f"{name} killed at {call} number {number}"
            folder, done = inject(bench, case, prepare, call, number, "signal=KILL")
            check(died_of(done, signal.SIGKILL), f"{note}: exit status {done.returncode}")
            bench.finish(bench.command(case, folder), note)
            bench.compare(case, folder, note=note)

        calls = bench.sample(list_calls(bench, case, prepare), 8, 60)
        each(calls, kill)
        n += len(calls)
    return f"kills at system calls survived: {n}"


def errors(bench):
    n, ended = 0, 0
    for name, case, prepare in scenarios(bench):
        def fail(call, number, error):
            nonlocal ended
            note = f"{name} with {error} in {call} number {number}"
            folder, done = inject(bench, case, prepare, call, number, f"error={error}")
            check(done.returncode in (OK, FAILED),
                  f"{note}: exit status {done.returncode}: {done.stderr}")
            if done.returncode == FAILED:
                ended += 1
                check(folder in done.stderr and REMEDIES.search(done.stderr),
                      f"{note}: no path or no remedy in {done.stderr!r}")
                bench.finish(bench.command(case, folder), note)
            bench.compare(case, folder, note=note)

        faults = [(call, number, error) for call, number in list_calls(bench, case, prepare)
                  for error in ERRORS[call]]
        faults = bench.sample(faults, 8, 60)
        each(faults, fail)
        n += len(faults)
    return f"errors of system calls injected: {n}, of which {ended} ended their run"


if __name__ == "__main__":
    BENCH = Bench(__doc__)
    require_strace(BENCH)
    BENCH.main(kills, errors)
