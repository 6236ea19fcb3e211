"""What the tests of this folder share: runs of tiny.cfg, and the comparison of what they leave.

Every script takes the program and the source tree as arguments, prints one line a check and a
summary, and ends with 0 (all held), 1 (something did not) or 77 (cannot be tried here).
OSAFL_TEST_FULL=1 asks for the larger share of a test.
"""
import argparse
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 3  # core/cli.h
SKIPPED = 77

CASES = ("scores", "server-moments", "retained-updates", "control-variates", "error-feedback",
         "robust", "personal", "pooled")

# Byte-identical however often a run was interrupted, and for any number of threads.
RESULTS = ("rounds.csv", "clients.csv", "model.safetensors", "manifest.json", "resolved.cfg")

FULL = os.environ.get("OSAFL_TEST_FULL", "") not in ("", "0")


class Failure(Exception):
    """A check that did not hold."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def skip(text):
    print("skipped:", text)
    sys.exit(SKIPPED)


def each(items, function):
    """Calls function(*item) for every item; the failures are told together."""
    failures = []
    for item in items:
        try:
            function(*item)
        except Failure as failure:
            failures.append(str(failure))
    check(not failures, f"{len(failures)} of {len(items)}:\n" + "\n".join(failures[:200]))


# ---- records of a checkpoint (core/records.h) ----------------------------------------------------

def read_records(data):
    """{(section, key): elements}, and {(section, None): state version}."""
    def padded(n):
        return (n + 7) // 8 * 8

    check(data[:8] == b"\x8fOSAFL\r\n", "no checkpoint")
    n_sections, = struct.unpack_from("<I", data, 12)
    records, at = {}, 24
    for _ in range(n_sections):
        length, version, size = struct.unpack_from("<IIQ", data, at)
        section = data[at + 16:at + 16 + length].decode()
        at += 16 + padded(length)
        end = at + size
        records[section, None] = version
        while at < end:
            length, kind, n = struct.unpack_from("<IIQ", data, at)
            key = data[at + 16:at + 16 + length].decode()
            at += 16 + padded(length)
            size = n * {1: 8, 2: 8, 3: 4, 4: 1}[kind]
            records[section, key] = data[at:at + size]
            at += padded(size)
    check(at == len(data) - 8, "a checkpoint with a loose end")
    return records


def rounds_saved(folder):
    """Rounds of the newest checkpoint; 0: there is none."""
    found = checkpoints(folder)
    return max(found)[0] if found else 0


def newest_checkpoint(folder):
    """The records of the newest checkpoint without length and hash of timing.csv, which no two runs
    share."""
    found = checkpoints(folder)
    check(found, f"no checkpoint in {folder}")
    records = max(found)[2]
    for key in "lengths", "hashes":
        records["results", key] = records["results", key][:16]
    return records


def checkpoints(folder):
    """[(rounds, name, records)]"""
    found = []
    for name in ("checkpoint.0", "checkpoint.1"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                records = read_records(file.read())
            found.append((struct.unpack("<Q", records["checkpoint", "round"])[0], name, records))
    return found


# ---- runs ----------------------------------------------------------------------------------------

class Bench:
    """The program, a folder for everything that is made, and the uninterrupted runs."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("program")
        parser.add_argument("source")
        parser.add_argument("--build", help="build folder of the tests (default: that of program)")
        parser.add_argument("--count", type=int, help="how many faults, where a test takes it")
        parser.add_argument("--all", action="store_true", help="every fault that there is")
        parser.add_argument("--seed", type=int, default=int(time.time()), help="of random moments")
        self.args = parser.parse_args()
        # A shell starts what follows "&" with SIGINT ignored, and what it starts would inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.program = os.path.abspath(self.args.program)
        self.build = os.path.abspath(self.args.build or os.path.dirname(self.program))
        self.rounds = 12  # of the experiment
        self.experiment = os.path.join(self.args.source, "tests", "faults", "tiny.cfg")
        self.random = random.Random(self.args.seed)
        with open(self.program, "rb") as file:
            data = file.read()
        self.folder = tempfile.mkdtemp(prefix="osafl-faults-")
        self.sanitized = b"__asan_report_load" in data or b"__tsan_init" in data
        self.races = b"__tsan_init" in data  # looked for by the thread sanitizer
        self.references = {}
        self.states = {}    # of interrupted()
        self.duration = {}  # seconds of the uninterrupted run of a case
        self.n_folders = 0

    def command(self, case, out, *options, threads=1):
        return [self.program, "run", self.experiment, "--case", case, "--out", out, "--threads",
                str(threads), *options]

    def new_folder(self):
        self.n_folders += 1
        return os.path.join(self.folder, f"run-{self.n_folders}")

    def run(self, command, env=None, timeout=120, **more):
        """Runs to the end; the result has returncode, stdout, stderr."""
        return subprocess.run(command, env=None if env is None else {**os.environ, **env},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=timeout, check=False, **more)

    def finish(self, command, note=""):
        """The same command again without a fault, which must complete the run."""
        done = self.run(command)
        check(done.returncode == OK,
              f"{note}: going on ended with {done.returncode}: {done.stderr}")
        return done

    def reference(self, case, *options):
        """Folder of an uninterrupted run."""
        key = (case, options)
        if key not in self.references:
            folder = self.new_folder()
            start = time.monotonic()
            self.finish(self.command(case, folder, *options), case)
            self.duration[case] = time.monotonic() - start
            self.references[key] = folder
        return self.references[key]

    def interrupted(self, case):
        """A new folder as kill -9 left it, with checkpoints and with rounds to go."""
        if case not in self.states:
            self.reference(case)
            rounds = 0
            while not 0 < rounds < self.rounds:
                folder = self.new_folder()
                process = subprocess.Popen(self.command(case, folder), stderr=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL)
                time.sleep(self.random.uniform(0.0, self.duration[case]))
                process.kill()
                process.wait()
                rounds = rounds_saved(folder)
            self.states[case] = folder
        folder = self.new_folder()
        shutil.copytree(self.states[case], folder)
        return folder

    def compare(self, case, folder, *options, note=""):
        """The folder must hold what an uninterrupted run leaves."""
        self.compare_folders(self.reference(case, *options), folder, f"{note}: {case}")

    @staticmethod
    def compare_folders(expected, folder, note):
        for name in RESULTS:
            with open(os.path.join(expected, name), "rb") as one:
                with open(os.path.join(folder, name), "rb") as other:
                    check(one.read() == other.read(),
                          f"{note}: {name} differs from an uninterrupted run's; see {expected} and "
                          f"{folder}")
        one, other = newest_checkpoint(expected), newest_checkpoint(folder)
        differ = [key for key in {**one, **other} if one.get(key) != other.get(key)]
        check(not differ,
              f"{note}: the checkpoints differ in {differ}; see {expected} and {folder}")
        left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
        check(not left, f"{note}: {left} was left behind in {folder}")

    def sample(self, items, plain, full):
        """So many of the items, in order; all of them with --all."""
        n = full if FULL else plain
        if self.args.all or len(items) <= n:
            return items
        return [items[k] for k in sorted(self.random.sample(range(len(items)), n))]

    def main(self, *tests):
        """Runs the tests, each a function of this bench that returns a line to print."""
        status = 0
        for test in tests:
            start = time.monotonic()
            try:
                print(f"ok      {test(self)} ({time.monotonic() - start:.1f} s)", flush=True)
            except (Failure, OSError, subprocess.SubprocessError) as failure:
                print(f"FAILED  {test.__name__}, --seed {self.args.seed}: {failure}", flush=True)
                status = 1
        if status == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print("everything is kept in", self.folder)
        sys.exit(status)


def died_of(done, signal_number):
    return done.returncode in (-signal_number, 128 + signal_number)


__all__ = ["Bench", "CASES", "FAILED", "FULL", "Failure", "INTERRUPTED", "OK", "RESULTS", "USAGE",
           "check", "died_of", "each", "newest_checkpoint", "read_records",
           "rounds_saved", "signal", "skip"]
