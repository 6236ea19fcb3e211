#!/usr/bin/env python3
"""Folders of runs as users, crashes and other programs leave them: each file absent, cut, longer,
edited, damaged or of another run, of a run that stopped and of one that is complete.  A command
either refuses with a word and leaves every byte, or ends with what an undisturbed run gives.

usage: test_resume_folders.py PROGRAM SOURCE
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORK = tempfile.mkdtemp(prefix="osafl-resume-")
COMMAND = [PROGRAM, "run", f"{SOURCE}/tests/faults/tiny.cfg", "--case", "scores", "--threads", "1",
           "--set", "rounds=60"]
TABLES = ("rounds.csv", "clients.csv", "timing.csv")
RESULTS = ("rounds.csv", "clients.csv", "manifest.json", "model.safetensors", "resolved.cfg")
failures = 0


def run(folder, *options, **more):
    return subprocess.run([*COMMAND, "--out", folder, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, **more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def content(folder):
    return {name: read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if name != ".lock" and os.path.isfile(os.path.join(folder, name))}


def fail(text):
    global failures
    failures += 1
    print("FAILED", text)


def edit_row(data):
    lines = data.split(b"\n")
    lines[2] = lines[2][:-1] + (b"1" if lines[2][-1:] != b"1" else b"2")
    return b"\n".join(lines)


def remove(path):
    os.unlink(path)


def change(edit):
    return lambda path: write(path, edit(read(path)))


def make_folder(path):
    os.unlink(path)
    os.mkdir(path)


def make_fifo(path):
    os.unlink(path)
    os.mkfifo(path)


DAMAGES = {
    "absent": remove,
    "empty": change(lambda data: b""),
    "shorter": change(lambda data: data[:len(data) // 2]),
    "longer": change(lambda data: data + data[-20:]),
    "edited": change(edit_row),
    "garbage": change(lambda data: b"\xff" * len(data)),
    "a folder": make_folder,
    "a pipe": make_fifo,
}


def attempt(base, name, damage, expected, *options):
    """expected: a word of the refusal, or None: the run ends as an undisturbed one."""
    folder = tempfile.mkdtemp(dir=WORK) + "/run"
    shutil.copytree(base, folder)
    DAMAGES[damage](os.path.join(folder, name))
    what = f"{os.path.basename(base)}: {name} {damage} {' '.join(options)}"
    before = content(folder)
    done = run(folder, *options, timeout=120)
    if expected is None:
        if done.returncode != 0:
            fail(f"{what}: {done.returncode}: {done.stderr}")
            return
        for file in RESULTS:
            if read(os.path.join(folder, file)) != read(os.path.join(WHOLE, file)):
                fail(f"{what}: {file} differs")
    else:
        if done.returncode in (0, 3) or expected not in done.stderr or \
                not ("--force" in done.stderr or "remove" in done.stderr):
            fail(f"{what}: {done.returncode}, expected \"{expected}\": {done.stderr}")
        if content(folder) != before:
            fail(f"{what}: refused, and files were changed")
    shutil.rmtree(os.path.dirname(folder))


def stopped_folder():
    """A run that stopped with two checkpoints, and was killed some rounds behind the newest."""
    seconds = 0.2
    while True:
        folder = tempfile.mkdtemp(dir=WORK) + "/stopped"
        run(folder, "--quiet", "--max-time", str(seconds))
        if len(glob.glob(folder + "/checkpoint.?")) == 2:
            if not os.path.exists(folder + "/model.safetensors"):
                break
            seconds *= 0.7
        seconds *= 1.2
    return folder


WHOLE = os.path.join(WORK, "complete")
if run(WHOLE, "--quiet").returncode != 0:
    sys.exit("the undisturbed run fails")
STOPPED = stopped_folder()
DROPPED = os.path.join(WORK, "dropped")
if run(DROPPED, "--quiet", "--drop-checkpoints").returncode != 0:
    sys.exit("--drop-checkpoints fails")
if glob.glob(DROPPED + "/checkpoint.*"):
    fail("--drop-checkpoints leaves checkpoints")
KEPT = read(DROPPED + "/rounds.csv")
again = run(DROPPED)
if again.returncode != 0 or "this run is complete" not in again.stderr:
    fail(f"complete without checkpoints: {again.stderr}")

for table in TABLES:
    for damage, word in (("absent", "is missing"), ("empty", "was cut short"),
                         ("shorter", "was cut short"), ("edited", "was changed"),
                         ("garbage", "was changed"), ("a folder", "is not a readable file"),
                         ("a pipe", "is not a readable file")):
        attempt(STOPPED, table, damage, word)
    for base in (WHOLE, DROPPED):
        attempt(base, table, "absent", "is missing")
        attempt(base, table, "edited", "was changed")
    for base in (WHOLE, DROPPED):
        attempt(base, table, "longer", "has grown")
    attempt(STOPPED, table, "absent", None, "--force")
    attempt(DROPPED, table, "edited", None, "--force")
attempt(STOPPED, "rounds.csv", "longer", None)  # as a killed run leaves it
for damage in ("absent", "empty", "shorter", "longer", "garbage"):
    attempt(WHOLE, "model.safetensors", damage, None)
    attempt(DROPPED, "model.safetensors", damage, "model.safetensors")
for damage in ("absent", "empty", "garbage", "a pipe"):
    for base in (STOPPED, WHOLE, DROPPED):
        attempt(base, "environment.json", damage, None)
for damage in ("empty", "shorter", "garbage", "a pipe", "a folder"):
    attempt(STOPPED, "manifest.json", damage, "manifest.json")
for base in (STOPPED, WHOLE, DROPPED):
    attempt(base, "manifest.json", "absent", "without a manifest")
attempt(WHOLE, "checkpoint.0", "garbage", None)
attempt(WHOLE, "checkpoint.1", "garbage", None)

# Files of a run's names, of anybody.
for name in ("clients.csv", "changes.txt", "model.safetensors", "environment.json", "resolved.cfg"):
    folder = tempfile.mkdtemp(dir=WORK)
    write(os.path.join(folder, name), b"my own data\n")
    done = run(folder)
    if done.returncode != 2 or "--force" not in done.stderr:
        fail(f"somebody's {name}: {done.returncode}: {done.stderr}")
    if read(os.path.join(folder, name)) != b"my own data\n":
        fail(f"somebody's {name} was overwritten")

# Rows without a checkpoint: started anew, with a word.
folder = tempfile.mkdtemp(dir=WORK) + "/run"
shutil.copytree(STOPPED, folder)
for path in glob.glob(folder + "/checkpoint.*"):
    os.unlink(path)
done = run(folder)
if done.returncode != 0 or "starts at round 0 again" not in done.stderr:
    fail(f"lost checkpoints: {done.returncode}: {done.stderr}")

# --force that fails to start leaves what was there.
folder = tempfile.mkdtemp(dir=WORK) + "/run"
shutil.copytree(WHOLE, folder)
before = content(folder)
done = run(folder, "--force", "--set", "training.batch=1000000", "--set", "model.plugin=resnet18")
if done.returncode != 1 or "memory" not in done.stderr or content(folder) != before:
    fail(f"--force without memory: {done.returncode}: {done.stderr}")

# Links that lead elsewhere: nothing is written through them.
for name in ("clients.csv", ".lock", ".manifest.json.tmp", ".resolved.cfg.tmp", "rounds.csv",
             ".checkpoint.0.tmp"):
    folder = tempfile.mkdtemp(dir=WORK)
    victim = os.path.join(WORK, "victim")
    write(victim, b"precious")
    os.symlink(victim, os.path.join(folder, name))
    run(folder)
    run(folder, "--force")
    if read(victim) != b"precious":
        fail(f"{name} led to another file, which was overwritten")
    if os.path.islink(os.path.join(folder, "manifest.json")):
        fail(f"{name}: manifest.json is a link")

# Tables that vanish, are replaced or cut while the run writes them.
for name in TABLES:
    for deed in ("remove", "replace", "cut"):
        folder = tempfile.mkdtemp(dir=WORK) + "/run"
        process = subprocess.Popen(
            [*COMMAND, "--quiet", "--out", folder, "--set", "rounds=100000"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        path = os.path.join(folder, name)
        while not os.path.exists(folder + "/checkpoint.0"):
            if process.poll() is not None:
                break
        if deed == "cut":
            os.truncate(path, 100)
        else:
            os.unlink(path)
        if deed == "replace":
            write(path, b"other\n")
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            errors = "it went on"
        if process.returncode != 1 or name not in errors or "--force" not in errors:
            fail(f"{name} {deed}: {process.returncode}: {errors}")

# The lock is removed, as by those who clean up empty files: the run goes on.
folder = tempfile.mkdtemp(dir=WORK) + "/run"
process = subprocess.Popen([*COMMAND, "--quiet", "--out", folder, "--set", "rounds=600"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
while not os.path.exists(folder + "/checkpoint.0") and process.poll() is None:
    pass
if os.path.exists(folder + "/.lock"):
    if os.path.getsize(folder + "/.lock") == 0:
        fail("the lock is an empty file")
    os.unlink(folder + "/.lock")
if process.wait(timeout=120) != 0:
    fail(f"the lock was removed: {process.stderr.read()}")
elif not os.path.exists(folder + "/.lock"):
    fail("the lock was not made anew")

shutil.rmtree(WORK, ignore_errors=True)
sys.exit(1 if failures else 0)
