#!/usr/bin/env python3
"""Checkpoints that are cut, flipped, foreign or of another run are refused with a clear word, and
the one before serves.

Every length and every byte of a checkpoint is tried by the unit tests of the records; here a sample
goes through the program.  usage: checkpoints.py PROGRAM SOURCE [--all]
"""
import os
import subprocess

from harness import (Bench, CASES, FAILED, FULL, OK, check, checkpoints, each)


def pair(bench, case):
    """A new interrupted folder, and its checkpoints' paths: the newest first."""
    folder = bench.interrupted(case)
    found = sorted(checkpoints(folder), reverse=True)
    return folder, [os.path.join(folder, name) for _, name, _ in found]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def with_previous(bench, case, damage):
    """Damages the newest of two: the run goes on from the other one, and says so."""
    folder, paths = pair(bench, case)
    while len(paths) < 2:
        bench.states.clear()
        folder, paths = pair(bench, case)
    data = damage(read(paths[0]))
    write(paths[0], data)
    done = bench.run(bench.command(case, folder))
    note = f"{case}: {len(data)} bytes, {data[:12]}"
    check(done.returncode == OK, f"{note}: {done.returncode}: {done.stderr}")
    check(f"warning: {paths[0]} cannot be used" in done.stderr, f"{note}: {done.stderr}")
    bench.compare(case, folder, note=note)


def alone(bench, case, damage):
    """Damages both: the run is refused with the remedy, which works."""
    folder, paths = pair(bench, case)
    for path in paths:
        write(path, damage(read(path)))
    done = bench.run(bench.command(case, folder))
    check(done.returncode == FAILED and "cannot be used" in done.stderr and "--force" in done.stderr
          and any(path in done.stderr for path in paths), f"{done.returncode}: {done.stderr}")
    return folder


def truncated(bench):
    size = len(read(pair(bench, "scores")[1][0]))
    lengths = sorted({0, 1, 7, 8, 23, 24, 31, 32, size - 9, size - 8, size - 1} |
                     set(bench.random.sample(range(size), 60 if FULL else 4)))
    each([(length,) for length in lengths],
         lambda length: with_previous(bench, "scores", lambda data: data[:length]))
    return f"{len(lengths)} truncated checkpoints are refused, and the one before serves"


def flip(data, at, bit):
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1:]


def flipped(bench):
    size = len(read(pair(bench, "retained-updates")[1][0]))
    n = 100 if FULL else 6
    places = list(range(0, 32, 1 if FULL else 8)) + bench.random.sample(range(32, size), n)
    each([(at,) for at in places],
         lambda at: with_previous(bench, "retained-updates",
                                  lambda data: flip(data, at % len(data), at % 8)))
    return f"{len(places)} checkpoints with one flipped bit are refused, and the one before serves"


def foreign(bench):
    """Files of other programs, of other runs, and no files at all."""
    other = read(pair(bench, "pooled")[1][0])
    damages = (lambda data: b"", lambda data: b"PK\x03\x04" + bytes(1000), lambda data: other,
               lambda data: data + b"\0", lambda data: data[::-1])
    for damage in damages:
        with_previous(bench, "scores", damage)
    folder = alone(bench, "scores", damages[2])
    bench.finish(bench.command("scores", folder, "--force"))
    bench.compare("scores", folder, note="--force")
    folder, paths = pair(bench, "scores")
    os.unlink(paths[0])
    os.mkdir(paths[0])
    done = bench.run(bench.command("scores", folder))
    check(done.returncode == FAILED and paths[0] in done.stderr,
          f"{done.returncode}: {done.stderr}")
    return "foreign files in a checkpoint's place are refused"


def resealed(bench):
    """Values that no run can have reached, under a checksum that fits: refused without a crash."""
    n = 0
    for case in CASES if FULL else CASES[:2]:
        folder, paths = pair(bench, case)
        data = read(paths[0])
        for at in bench.random.sample(range(24, len(data) - 8), 60 if FULL else 5):
            for path in paths:
                write(path, flip(data, at, bench.random.randrange(8)))
                subprocess.run([os.path.join(bench.build, "tests/faults/reseal"), path],
                               check=True)
            done = bench.run(bench.command(case, folder))
            check(done.returncode in (OK, FAILED), f"{case}: byte {at}: {done.returncode}: "
                                                   f"{done.stderr}")
            check(done.returncode == OK or done.stderr.strip(), f"{case}: byte {at}: no word")
            folder, paths = pair(bench, case)
            n += 1
    return f"{n} checkpoints with a wrong value and a right checksum do no harm"


if __name__ == "__main__":
    Bench(__doc__).main(truncated, flipped, foreign, resealed)
