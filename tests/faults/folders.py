#!/usr/bin/env python3
"""Folders that are taken, barred, full, damaged or gone, and a clock that steps back.

usage: folders.py PROGRAM SOURCE
"""
import os
import shutil
import signal
import subprocess
import time

from harness import Bench, CASES, FAILED, INTERRUPTED, OK, USAGE, check, rounds_saved

LONG = ("--set", "rounds=100000", "--set", "checkpoint_every=5")  # until it is told to stop


def start(bench, folder, *options):
    """A long run that has written a checkpoint."""
    before = rounds_saved(folder)
    process = subprocess.Popen(bench.command("scores", folder, *LONG, "--quiet", *options),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while rounds_saved(folder) <= before:
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            check(False, f"no checkpoint: {process.communicate()[1]}")
        time.sleep(0.01)
    return process


def stop(process, number=signal.SIGTERM):
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def two_processes(bench):
    folder = bench.new_folder()
    first = start(bench, folder)
    second = bench.run(bench.command("scores", folder, *LONG))
    forced = bench.run(bench.command("scores", folder, *LONG, "--force"))
    status, errors = stop(first)
    for done in (second, forced):
        check(done.returncode == FAILED and "another process" in done.stderr
              and folder in done.stderr and "--out" in done.stderr, done.stderr)
    check(status == INTERRUPTED, f"the first process: {status}: {errors}")
    return "the second process on a folder is told"


def lock_outlives_nobody(bench):
    folder = bench.new_folder()
    first = start(bench, folder)
    stop(first, signal.SIGKILL)
    second = start(bench, folder)
    status, errors = stop(second)
    check(status == INTERRUPTED, f"{status}: {errors}")
    return "a killed process holds no lock"


def read_only(bench):
    """A mode bars nobody who is root, a mount does."""
    folder = bench.new_folder()
    os.mkdir(folder)
    if os.geteuid() != 0:
        os.chmod(folder, 0o500)
    elif subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder], check=False,
                        stderr=subprocess.DEVNULL).returncode != 0:
        return "read-only folder: not tried, mount is not available"
    done = bench.run(bench.command("scores", os.path.join(folder, "run")))
    beside = bench.run(bench.command("scores", folder))
    if os.geteuid() == 0:
        subprocess.run(["umount", folder], check=True)
    for one in (done, beside):
        check(one.returncode == FAILED and folder in one.stderr and "--out" in one.stderr,
              f"{one.returncode}: {one.stderr}")
    return "a read-only folder is refused"


def no_folder(bench):
    """What stands in the way is no folder, or its name is too long."""
    file = bench.new_folder()
    with open(file, "w", encoding="ascii") as stream:
        stream.write("mine\n")
    for path in (file, os.path.join(file, "run"), os.path.join(bench.folder, "x" * 300)):
        done = bench.run(bench.command("scores", path))
        check(done.returncode == FAILED and (file in done.stderr or path in done.stderr),
              f"{done.returncode}: {done.stderr}")
    with open(file, encoding="ascii") as stream:
        check(stream.read() == "mine\n", "the file was touched")
    return "a file in the folder's place is left alone"


def full_disk(bench):
    """Full at the start, then full in the middle, then with room again."""
    disk = bench.new_folder()
    os.mkdir(disk)
    if os.geteuid() != 0 or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=288k", "tmpfs", disk], check=False,
            stderr=subprocess.DEVNULL).returncode != 0:
        return "full disk: not tried, mount is not available"
    ballast, folder = os.path.join(disk, "ballast"), os.path.join(disk, "run")
    try:
        told = 0
        for free in (0, 4096, 16384, 65536, 98304):
            with open(ballast, "wb", buffering=0) as stream:
                while True:
                    try:
                        stream.write(b"x" * 4096)
                    except OSError:
                        break
                stream.truncate(max(0, stream.tell() - free))
            done = bench.run(bench.command("scores", folder))
            check(done.returncode in (OK, FAILED),
                  f"{free} bytes: {done.returncode}: {done.stderr}")
            if done.returncode == FAILED:
                told += 1
                check("No space left" in done.stderr and "free space" in done.stderr, done.stderr)
            os.unlink(ballast)
        check(told >= 3, f"the disk was full {told} times only")
        bench.finish(bench.command("scores", folder), "a full disk")
        bench.compare("scores", folder, note="a full disk")
    finally:
        subprocess.run(["umount", disk], check=True)
    return f"a full disk is told, {told} times, and the run goes on with room"


def removed(bench):
    """The folder goes away; another process may even have made it anew."""
    folder = bench.new_folder()
    first = start(bench, folder)
    while os.path.exists(folder):  # the run may put files there meanwhile
        shutil.rmtree(folder, ignore_errors=True)
    _, errors = first.communicate(timeout=60)
    check(first.returncode == FAILED and folder in errors, f"{first.returncode}: {errors}")

    first = start(bench, folder)
    first.send_signal(signal.SIGSTOP)
    os.rename(folder, folder + "-moved")
    second = bench.run(bench.command("scores", folder))
    first.send_signal(signal.SIGCONT)
    _, errors = first.communicate(timeout=60)
    check(first.returncode == FAILED and "removed or replaced" in errors, errors)
    check(second.returncode == OK, second.stderr)
    bench.compare("scores", folder, note="a folder made anew")
    return "a folder that is removed or replaced is told"


def foreign_folder(bench):
    """Results of another run, with and without --force; files without a manifest."""
    folder = bench.new_folder()
    bench.finish(bench.command("pooled", folder))
    done = bench.run(bench.command("scores", folder))
    check(done.returncode == USAGE and "another run" in done.stderr and "--force" in done.stderr
          and "aggregator.plugin" in done.stderr, done.stderr)
    bench.compare("pooled", folder, note="refused")
    bench.finish(bench.command("scores", folder, "--force"))
    bench.compare("scores", folder, note="forced")
    os.unlink(os.path.join(folder, "manifest.json"))
    done = bench.run(bench.command("scores", folder))
    check(done.returncode == USAGE and "--force" in done.stderr, done.stderr)
    return "results of another run are left alone without --force"


def manifest_changes(bench):
    """Another program, plugin or CPU: refused with both sides, or recorded."""
    changes = (('"version": "', '"version": "0.0.1-', "0.0.1-"),
               ('"file_xxh3": "', '"file_xxh3": "abc', "the file of osafl was abc"),
               ('"kind": "aggregator",', '"kind": "none",', "file of aggregator/osafl was (none)"),
               ('"cpu_features": "', '"cpu_features": "other-', "instruction set was other-"),
               ('"mathematics": "', '"mathematics": "glibc 2.0 ',
                "the mathematics of the C library was glibc 2.0"),
               ('"libopenblas.so.0": "', '"libopenblas.so.0": "abc',
                "the file of libopenblas.so.0 was abc"),
               ('"blas_kernel": "', '"blas_kernel": "Old', "BLAS kernel was Old"))
    for before, after, told in changes:
        folder = bench.interrupted("scores")
        path = os.path.join(folder, "manifest.json")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        check(before in text, f"no {before} in the manifest")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace(before, after, 1))
        done = bench.run(bench.command("scores", folder))
        check(done.returncode == USAGE and told in done.stderr and " and is " in done.stderr
              and "--accept-changes" in done.stderr, f"{told}: {done.returncode}: {done.stderr}")
        bench.finish(bench.command("scores", folder, "--accept-changes"))
        bench.compare("scores", folder, note="accepted")
        with open(os.path.join(folder, "changes.txt"), encoding="utf-8") as stream:
            check(told in stream.read(), "changes.txt does not say so")
    return f"{len(changes)} changes of program, plugin and machine are refused or recorded"


def damaged_manifest(bench):
    folder = bench.interrupted("scores")
    path = os.path.join(folder, "manifest.json")
    with open(path, "rb") as stream:
        data = stream.read()
    for damage in (b"", data[:len(data) // 2], b"{}", b"[1]", b"\xff" * 100, data + b"x",
                   data.replace(b'"manifest": 1', b'"manifest": 99', 1)):
        with open(path, "wb") as stream:
            stream.write(damage)
        done = bench.run(bench.command("scores", folder))
        check(done.returncode == USAGE and "manifest.json" in done.stderr
              and "--force" in done.stderr, f"{damage[:20]}: {done.returncode}: {done.stderr}")
    with open(path, "wb") as stream:
        stream.write(data)
    bench.finish(bench.command("scores", folder))
    bench.compare("scores", folder, note="mended")
    return "a damaged manifest is refused"


def changed_tables(bench):
    """Rows beyond the checkpoint are cut; a table that is too short was not ours."""
    folder = bench.interrupted("scores")
    path = os.path.join(folder, "rounds.csv")
    with open(path, "ab") as stream:
        stream.write(b"99,rows of the time after the checkpoint\n" * 500)
    bench.finish(bench.command("scores", folder))
    bench.compare("scores", folder, note="longer table")
    folder = bench.interrupted("scores")
    os.truncate(os.path.join(folder, "rounds.csv"), 10)
    done = bench.run(bench.command("scores", folder))
    check(done.returncode == FAILED and "rounds.csv" in done.stderr and "--force" in done.stderr,
          done.stderr)
    return "tables are cut to the checkpoint, and a shortened one is told"


def clock(bench):
    """The clock of the day steps back an hour each time it is read; results do not depend on it."""
    env = {"LD_PRELOAD": os.path.join(bench.build, "tests/faults/step_clock.so")}
    if bench.sanitized:
        return "clock: not tried, a sanitizer wants to be loaded first"
    for case in CASES[:2]:
        folder = bench.new_folder()
        first = bench.run(bench.command(case, folder, "--max-time", "0.05"), env=env)
        check(first.returncode in (OK, INTERRUPTED), first.stderr)
        done = bench.run(bench.command(case, folder), env=env)
        check(done.returncode == OK, done.stderr)
        bench.compare(case, folder, note="a clock that steps back")
        with open(os.path.join(folder, "timing.csv"), encoding="ascii") as table:
            check("-" not in table.read().replace("e-", ""), "a negative time in timing.csv")
    return "a clock that steps back changes nothing"


if __name__ == "__main__":
    Bench(__doc__).main(two_processes, lock_outlives_nobody, read_only, no_folder, full_disk,
                        removed, foreign_folder, manifest_changes, damaged_manifest,
                        changed_tables, clock)
