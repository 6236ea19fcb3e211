#!/usr/bin/env python3
"""Every allocation may fail: the run then says so and ends, or makes do, and goes on later to the
same bytes.

usage: allocation.py PROGRAM SOURCE [--all]
"""
import os
import re

from harness import Bench, FAILED, INTERRUPTED, OK, check, each, skip


def preloaded(bench, **env):
    return {"LD_PRELOAD": os.path.join(bench.build, "tests/faults/fail_allocation.so"),
            **{key: str(value) for key, value in env.items()}}


def count_sites(bench, command):
    counted = os.path.join(bench.folder, "sites")
    done = bench.run(command, env=preloaded(bench, OSAFL_SITES=counted))
    check(done.returncode == OK, f"with counted allocations: {done.returncode}: {done.stderr}")
    with open(counted, encoding="ascii") as file:
        return int(file.read())


def fail_sites(bench, case, prepare, env, plain, full, options=(), ends=(FAILED,)):
    """Fails one site at a time.  prepare() makes the folder in which the run starts; ends: with
    which statuses it may end."""
    ended = 0

    def fail(site):
        nonlocal ended
        note = f"{case}: allocation site {site} {env}"
        folder = prepare()
        command = bench.command(case, folder, *options)
        done = bench.run(command, env=preloaded(bench, OSAFL_FAIL_SITE=site, **env))
        check(done.returncode in (OK, *ends), f"{note}: {done.returncode}: {done.stderr}")
        if done.returncode != OK:
            ended += 1
            check(re.search(r"[Mm]emory", done.stderr), f"{note}: said {done.stderr!r}")
            bench.finish(command, note)
        bench.compare(case, folder, note=note)

    sites = count_sites(bench, bench.command(case, prepare(), *options))
    check(sites > 200, f"only {sites} allocation sites were found")
    chosen = bench.sample([(site,) for site in range(1, sites + 1)], plain, full)
    each(chosen, fail)
    return f"{len(chosen)} of {sites} allocation sites failed, {ended} ended their run"


def fresh(bench):
    return "a fresh run: " + fail_sites(bench, "control-variates", bench.new_folder, {}, 20, 120)


def fresh_and_ever_after(bench):
    return ("a fresh run that gets nothing more: " +
            fail_sites(bench, "scores", bench.new_folder, {"OSAFL_FAIL_ON": 1}, 10, 60))


def going_on(bench):
    def prepare():
        return bench.interrupted("retained-updates")

    return "a run that goes on: " + fail_sites(bench, "retained-updates", prepare, {}, 10, 60)


def over_ranks(bench):
    """Both ranks fail; the transport ends the run as interrupted if it has no memory itself."""
    options = ("--transport", "forked", "--ranks", "2", "--plugin-dir",
               os.path.join(bench.build, "tests/faults/plugins"))
    return "a run over two ranks: " + fail_sites(bench, "control-variates", bench.new_folder, {}, 6,
                                                 30, options, (FAILED, INTERRUPTED))


if __name__ == "__main__":
    BENCH = Bench(__doc__)
    if BENCH.sanitized:
        skip("a sanitizer has its own allocator")
    BENCH.main(fresh, fresh_and_ever_after, going_on, over_ranks)
