"""The runs of tests/golden/runs/runs.cfg give the bytes whose hashes are in hashes.json beside it.

hashes.json holds for each run and table the columns that are compared, each with the start of its
own SHA-256, and the SHA-256 of all of them; columns that it does not name are free.  Of a model it
holds the SHA-256 of the tensors' names, types, shapes and data.

The hashes are those of a build by gcc for x86-64, on any such processor: kernels and C library are
held to what every one of them has.  A change that means to change results calls this program with
--write, which replaces hashes.json by what the given osafl computes; `git diff` shows what changed.
"""
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

import osafl_run
from osafl_run import OSAFL, SOURCE_TREE, ProductTest, Run

RUNS = os.path.join(SOURCE_TREE, "tests", "golden", "runs", "runs.cfg")
HASHES = os.path.join(SOURCE_TREE, "tests", "golden", "runs", "hashes.json")
TABLES = ("rounds.csv", "clients.csv")
WRITE = "--write" in sys.argv
MODEL = "model.safetensors"
BUILD = "GNU x86_64"  # of the hashes; CMake names the build under test

# Processors differ in the kernels of models, of OpenBLAS and of the C library's mathematics.
os.environ["OSAFL_ISA"] = "baseline"
os.environ["OPENBLAS_CORETYPE"] = "Nehalem"
os.environ["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"

THREE_THREADS = ("scaffold", "diverging", "fedavg-resnet18")
IN_PIECES = ("resumed", "resumed-scores")


def cases():
    """Names of the runs in runs.cfg."""
    with open(RUNS) as file:
        return re.findall(r'{ name = "([^"]+)"', file.read())


def column_text(rows, column):
    return "\n".join([column] + [row[column] for row in rows]) + "\n"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def table_hashes(rows, columns):
    texts = [column_text(rows, column) for column in columns]
    return {"sha256": sha256("".join(texts)),
            "columns": {column: sha256(text)[:8] for column, text in zip(columns, texts)}}


def model_hash(data):
    """Of a safetensors file without its metadata, which name the run."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = sorted((entry["data_offsets"], name, entry["dtype"], entry["shape"])
                     for name, entry in header.items())
    digest = hashlib.sha256(json.dumps(tensors).encode())
    digest.update(data[8 + length:])
    return digest.hexdigest()


def run_hashes(run):
    hashes = {}
    for name in TABLES:
        rows = run.rows(name)
        hashes[name] = table_hashes(rows, list(rows[0]))
    hashes[MODEL] = {"sha256": model_hash(run.bytes(MODEL))}
    return hashes


def difference(rows, expected):
    """How a table departs from its hashes; None: it does not."""
    for column, start in expected["columns"].items():
        if column not in rows[0]:
            return 'column "%s" is missing' % column
        if not sha256(column_text(rows, column)).startswith(start):
            return 'column "%s" is the first that differs' % column
    same = table_hashes(rows, expected["columns"])["sha256"] == expected["sha256"]
    return None if same else "its columns are as expected, but their SHA-256 is not"


def differences(run, expected):
    found = []
    for name in TABLES:
        found.append((name, difference(run.rows(name), expected[name])))
    if model_hash(run.bytes(MODEL)) != expected[MODEL]["sha256"]:
        found.append((MODEL, "a tensor differs"))
    return ["%s: %s" % (name, what) for name, what in found if what is not None]


def write(hashes):
    """One line a file, so that differences of two versions can be read."""
    runs = []
    for case, files in hashes.items():
        lines = ["  %s: %s" % (json.dumps(name), json.dumps(each)) for name, each in files.items()]
        runs.append(" %s: {\n%s\n }" % (json.dumps(case), ",\n".join(lines)))
    with open(HASHES, "w") as file:
        file.write("{\n%s\n}\n" % ",\n".join(runs))


class GoldenRuns(ProductTest):
    def command(self, case, folder):
        threads = 3 if case in THREE_THREADS else 1
        return ["run", RUNS, "--only", "case=" + case, "--quiet", "--threads", str(threads),
                "--out", folder]

    def stops(self, case, folder):
        """Runs a case in pieces that get longer until one ends a round; how many did so and were
        stopped."""
        table = os.path.join(folder, "rounds.csv")
        seconds, stops, rounds = 0.01, 0, 0
        while True:
            done = subprocess.run([OSAFL, *self.command(case, folder), "--max-time", str(seconds)],
                                  text=True, timeout=300, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode == 0:
                return stops
            self.assertEqual(done.returncode, 3, done.stdout)
            before = rounds
            rounds = len(Run(folder).rows("rounds.csv")) if os.path.exists(table) else 0
            if rounds > before:
                stops += 1
            else:
                seconds *= 1.2

    def run_case(self, case):
        folder = self.path(case)
        if case not in IN_PIECES:
            self.osafl(*self.command(case, folder))
            return Run(folder)
        for attempt in range(10):  # on a busy machine, all rounds may be in one piece
            folder = self.path("%s-%d" % (case, attempt))
            if self.stops(case, folder) > 0:
                return Run(folder)
        self.fail("run %s always ended before it was stopped" % case)

    def check(self, expected):
        self.assertEqual(list(expected), cases(), "the runs of hashes.json and of runs.cfg")
        for case in expected:
            with self.subTest(run=case):
                found = differences(self.run_case(case), expected[case])
                if found:
                    self.fail("run %s: %s" % (case, "; ".join(found)))

    def test_hashes(self):
        build = os.environ.get("OSAFL_TEST_BUILD", BUILD).strip()
        if build != BUILD:
            self.skipTest("the hashes are those of %s, this build is %s" % (BUILD, build))
        if WRITE:
            write({case: run_hashes(self.run_case(case)) for case in cases()})
            return
        with open(HASHES) as file:
            self.check(json.load(file))


if __name__ == "__main__":
    if WRITE:
        sys.argv.remove("--write")
    osafl_run.main()
