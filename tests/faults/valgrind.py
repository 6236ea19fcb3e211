#!/usr/bin/env python3
"""A tiny run under valgrind: no invalid access, no use of uninitialised values, nothing lost.

Only in the full suite.  usage: valgrind.py PROGRAM SOURCE
"""
import shutil

from harness import Bench, FULL, OK, check, skip

FOUND = 99


def clean(bench):
    for case in ("control-variates", "server-moments"):
        # valgrind knows no AVX-512.
        done = bench.run(["valgrind", "--quiet", "--leak-check=full",
                          "--errors-for-leak-kinds=definite", f"--error-exitcode={FOUND}",
                          f"--suppressions={bench.args.source}/tests/faults/valgrind.supp",
                          *bench.command(case, bench.new_folder(), "--set", "rounds=2", threads=2)],
                         env={"OSAFL_ISA": "avx2", "OPENBLAS_CORETYPE": "Haswell"}, timeout=600)
        check(done.returncode == OK, f"{case}: {done.returncode}: {done.stderr[-3000:]}")
    return "valgrind finds nothing"


if __name__ == "__main__":
    BENCH = Bench(__doc__)
    if not FULL:
        skip("only in the full suite (OSAFL_TEST_FULL=1)")
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed")
    if BENCH.sanitized:
        skip("valgrind cannot run a sanitized program")
    BENCH.main(clean)
