#!/usr/bin/env python3
"""A plugin that crashes, hangs, writes NaN or changes what belongs to the whole program is named,
and the run goes on from its last checkpoint once the plugin behaves.

usage: misbehaviour.py PROGRAM SOURCE
"""
import os
import re
import subprocess
import time

from harness import Bench, FAILED, FULL, INTERRUPTED, OK, USAGE, check, each, signal

HARD = {"crash": "segmentation fault", "abort": "abort", "overflow": "stack overflow",
        "trap": "illegal instruction"}

# (deed, place, round, client) and what the message names; a None is left out.
CRASHES = [
    ("crash", "aggregate", 3, None, "aggregator/saboteur, round 3"),
    ("abort", "block", 3, None, "aggregator/saboteur, round 3"),
    ("overflow", "aggregate", 3, None, "aggregator/saboteur, round 3"),
    ("overflow", "gradient", 3, 2, "model/saboteur, round 3, client 2"),
    ("crash", "gradient", 4, 1, "model/saboteur, round 4, client 1"),
    ("trap", "step", 3, 3, "optimizer/saboteur, round 3, client 3"),
    ("crash", "received", 3, 0, "optimizer/saboteur, round 3, client 0"),
    ("abort", "rate", 3, None, "optimizer/saboteur"),
    ("overflow", "encode", 5, 1, "quantizer/saboteur, round 5, client 1"),
    ("crash", "decode", None, None, "quantizer/saboteur, round 0"),
    ("crash", "read", None, None, "dataset/saboteur, round 0"),
    ("crash", "sample_of", None, None, "dataset/saboteur"),
    ("crash", "evaluate", None, None, "model/saboteur, round 0"),
    ("trap", "select", 3, 2, "deletion/saboteur, round 3, client 2"),
    ("crash", "solve", 3, None, "resource/saboteur, round 3"),
    ("crash", "gains", 3, None, "channel/saboteur, round 3"),
    ("crash", "create", None, None, "channel/saboteur"),
    ("crash", "save", None, None, "aggregator/saboteur"),
    ("crash", "destroy", None, None, "aggregator/saboteur"),
]

HANGS = [
    ("hang", "aggregate", 3, None, "aggregator/saboteur, round 3"),
    ("spin", "gradient", 3, 2, "model/saboteur, round 3, client 2"),
    ("hang", "decode", None, None, "quantizer/saboteur, round 0"),
    ("spin", "create", None, None, "channel/saboteur"),
    ("deaf", "step", 3, None, "a plugin that blocks signals"),
]

# Answers that are wrong, and breaches of rule R9: no state of the whole program is touched.
NAMED = [
    ("nan", "aggregate", 3, None, "aggregator/saboteur, round 3.*(nan|finite)"),
    ("nan", "gains", 3, None, "channel/saboteur, round 3.*nan"),
    ("nan", "solve", 3, None, "resource/saboteur, round 3.*not finite"),
    ("nan", "gradient", 3, 2, "round 3, client 2.*model/saboteur.*on_divergence"),
    ("nan", "step", 3, 2, "round 3, client 2.*optimizer/saboteur.*on_divergence"),
    ("nan", "read", None, None, "dataset/saboteur, round 0.*not finite"),
    ("nan", "encode", 3, 2, "quantizer/saboteur, round 3, client 2.*not finite"),
    ("nan", "remember", 3, 2, "quantizer/saboteur, round 3, client 2.*not finite"),
    ("nan", "decode", None, None, "quantizer/saboteur, round 0, client 0: .* decodes .* not finite"),
    ("nan", "received", 3, 2, "optimizer/saboteur, round 3, client 2.*not finite"),
    ("nan", "rate", 3, None, "optimizer/saboteur.*round 3.*nan"),
    ("nan", "select", 3, 2, "deletion/saboteur, round 3, client 2.*select"),
    ("rounding", "aggregate", 3, None, "aggregator/saboteur, round 3.*floating-point"),
    ("rounding", "gradient", 3, 2, "model/saboteur, round 3, client 2.*floating-point"),
    ("flush", "step", 3, 2, "optimizer/saboteur, round 3, client 2.*floating-point"),
    ("flush", "block", 3, None, "aggregator/saboteur, round 3.*floating-point"),
    ("flush", "decode", None, None, "quantizer/saboteur.*floating-point"),
    ("rounding", "sample_of", None, None, "dataset/saboteur.*floating-point"),
    ("locale", "encode", 3, 2, "quantizer/saboteur, round 3, client 2.*locale"),
    ("locale", "solve", 3, None, "resource/saboteur, round 3.*locale"),
    ("exit", "aggregate", 3, None, r"aggregator/saboteur, round 3 called exit\(\)"),
    ("exit", "gradient", 3, 2, r"model/saboteur, round 3, client 2 called exit\(\)"),
    ("exit", "create", None, None, r"channel/saboteur called exit\(\)"),
    ("chdir", "create", None, None, "channel/saboteur.*the working folder.*R9"),
    ("umask", "create", None, None, "channel/saboteur.*the umask.*R9"),
    ("block", "create", None, None, "channel/saboteur.*what signals do.*R9"),
    ("handler", "create", None, None, "channel/saboteur.*what signals do.*R9"),
    ("alarm", "create", None, None, "channel/saboteur.*the interval timer.*R9"),
    ("close", "create", None, None, "channel/saboteur.*the standard streams.*R9"),
    ("redirect", "create", None, None, "channel/saboteur.*the standard streams.*R9"),
    ("fork", "create", None, None, "channel/saboteur.*by starting another one.*R9"),
    ("exit", "decode", None, None, r"quantizer/saboteur.* called exit\(\)"),
]

# What a transport does to a piece, and what the message says of it.
LIES = [
    ("damaged", "a piece with other bytes than it was given"),
    ("shortened", "a piece of another length"),
    ("lengthened", "a piece of another length"),
    ("missing", "no whole piece"),
    ("swapped", "the piece of another rank"),
]


def command(bench, folder, threads, *options):
    return [bench.program, "run", os.path.join(bench.args.source, "tests/faults/sabotage.cfg"),
            "--plugin-dir", os.path.join(bench.build, "tests/faults/plugins"), "--out", folder,
            "--threads", str(threads), *options]


def deed(what, place, in_round, client):
    wanted = {"OSAFL_DEED": what, "OSAFL_DEED_AT": place}
    if in_round is not None:
        wanted["OSAFL_DEED_ROUND"] = str(in_round)
    if client is not None:
        wanted["OSAFL_DEED_CLIENT"] = str(client)
    return wanted


def try_deed(bench, what, place, in_round, client, named, threads, *options):
    """One deed; then the run goes on without it.  Returns the messages of the failure."""
    note = f"{what} in {place} on {threads} threads"
    folder = bench.new_folder()
    done = bench.run(command(bench, folder, threads, *options),
                     env=deed(what, place, in_round, client), timeout=60)
    wanted = USAGE if place == "read" and what == "nan" else FAILED  # bad data are the user's
    check(done.returncode == wanted or (bench.sanitized and done.returncode != OK),
          f"{note}: exit status {done.returncode}: {done.stderr}")
    check(re.search(named, done.stderr), f"{note}: {named!r} is not in {done.stderr!r}")
    honest = command(bench, folder, threads, *options)
    bench.finish(honest, note)
    compare(bench, folder, note, *options)
    return done.stderr


def compare(bench, folder, note, *options):
    """As Bench.compare(), with this experiment."""
    key = ("sabotage", options)
    if key not in bench.references:
        bench.references[key] = bench.new_folder()
        bench.finish(command(bench, bench.references[key], 2, *options), "without a deed")
    bench.compare_folders(bench.references[key], folder, note)


def crashes(bench):
    for threads in (1, 3) if FULL else (2,):
        for what, place, in_round, client, named in CRASHES:
            if bench.races and what == "overflow":
                continue  # the thread sanitizer does not survive it
            errors = try_deed(bench, what, place, in_round, client, named, threads)
            check(f"the plugin crashed ({HARD[what]})" in errors,
                  f"{what} in {place}: {errors!r}")
    return f"{len(CRASHES)} crashes are attributed to the plugin"


def hangs(bench):
    for what, place, in_round, client, named in HANGS:
        if bench.races and what == "spin":
            named = "a plugin that blocks signals"  # which the thread sanitizer does
        errors = try_deed(bench, what, place, in_round, client, named, 2,
                          "--set", "call_limit_s=0.5")
        check("call_limit_s" in errors, f"{what} in {place}: {errors!r}")
    return f"{len(HANGS)} calls that never return are ended and named"


def start_hanging(bench, place, in_round):
    """A run that hangs in this place, as soon as it does."""
    folder = bench.new_folder()
    process = subprocess.Popen(command(bench, folder, 2, "--set", "call_limit_s=0"),
                               env={**os.environ, **deed("hang", place, in_round, None),
                                    "OSAFL_DEED_FILE": folder + "-hangs"},
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not os.path.exists(folder + "-hangs"):
        check(process.poll() is None and time.monotonic() < end, "it does not hang")
        time.sleep(0.01)
    return process


def expect_end(process, name):
    """It ends at once with the word how to go on; a signal that it waits for kills it."""
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    check(process.returncode == INTERRUPTED and f"{name} before any further round; run the same"
          " command again to resume" in errors, f"{process.returncode}: {errors!r}")


def setup_signal(bench):
    """Before the first round nothing is lost: one signal ends a run that is being set up."""
    stops = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
    for place in "create", "read":
        for number, name in stops.items():
            process = start_hanging(bench, place, None)
            process.send_signal(number)
            expect_end(process, name)
    return "a signal ends a run that is being set up at once, with the word how to go on"


def second_signal(bench):
    """The first stops the run after the round, which does not end here; the second does not wait."""
    process = start_hanging(bench, "aggregate", 3)
    end = time.monotonic() + 60
    signals = 0
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGINT)
        signals += 1
        time.sleep(0.1)
    expect_end(process, "interrupted")
    check(signals > 1, "the first signal ended it")
    return "a second signal ends a run at once, with the word how to go on"


def breaches(bench):
    for threads in (1, 3) if FULL else (2,):
        each(NAMED, lambda *one, n=threads: try_deed(bench, *one, n))
    return f"{len(NAMED)} wrong answers and breaches are named"


def transports(bench):
    """Whatever a transport does to the pieces is found out in the exchange that it does it in."""
    def lie(place, exchange, rank, named):
        folder = bench.new_folder()
        over = ("--transport", "saboteur", "--ranks", "3")
        done = bench.run(command(bench, folder, 1, *over), env=deed("nan", place, exchange, rank),
                         timeout=60)
        note = f"{place}, exchange {exchange}"
        # Another rank than the first ends the first by its absence.
        check(done.returncode in (FAILED, INTERRUPTED, USAGE), f"{note}: {done.returncode}")
        check(re.search(named, done.stderr), f"{note}: {named!r} is not in {done.stderr!r}")
        bench.finish(command(bench, folder, 1, *over), note)
        compare(bench, folder, note)

    tries = [(8, 0)] if bench.sanitized else [(n, rank) for n in (1, 8, 12) for rank in (0, 1)]
    for exchange, rank in tries:
        for place, what in LIES:
            lie(place, exchange, rank, f"saboteur is at fault: exchange {exchange} brought "
                f"rank {rank} {what} as that of rank 2")
    lie("beyond", None, None, r"saboteur breaks the interface in start\(\): rank 3 of 3")
    lie("nobody", None, None, r"saboteur breaks the interface in start\(\): rank 0 of 0")
    lie("twice", None, None, "exchange 1 brought rank 0 the piece of another rank as that of rank 1")
    return f"{len(LIES)} lies of a transport are found out, and 3 at its start"


def loading(bench):
    """While a file is mapped there is no instance yet: the file is named."""
    done = bench.run(command(bench, bench.new_folder(), 1, "--set", "deletion.plugin=loading"),
                     env=deed("crash", "mapping", None, None))
    check("deletion/loading.so: the plugin crashed (segmentation fault)" in done.stderr,
          done.stderr)
    listed = bench.run([bench.program, "plugins", "deletion", "--plugin-dir",
                        os.path.join(bench.build, "tests/faults/plugins")],
                       env=deed("crash", "mapping", None, None))
    check(listed.returncode == OK and re.search(r"loading +BROKEN", listed.stdout), listed.stdout)
    ended = bench.run(command(bench, bench.new_folder(), 1, "--set", "deletion.plugin=loading"),
                      env=deed("exit", "mapping", None, None))
    check(ended.returncode == FAILED and "deletion/loading.so called exit()" in ended.stderr,
          f"{ended.returncode}: {ended.stderr}")
    if not bench.sanitized:  # whose reports need the end of main()
        for what in "crash", "hang":
            left = bench.run(command(bench, bench.new_folder(), 1, "--set",
                                     "deletion.plugin=loading"),
                             env=deed(what, "leaving", None, None), timeout=60)
            check(left.returncode == OK, f"{what} in a destructor: {left.returncode}: "
                                         f"{left.stderr}")
    return "a crash or an exit while a plugin is loaded is named; destructors do not run"


def dropped(bench):
    """on_divergence = "drop": the update is left out, with a warning and a reason in the table."""
    folder = bench.new_folder()
    done = bench.run(command(bench, folder, 2, "--set", "on_divergence=drop"),
                     env=deed("nan", "gradient", 3, 2))
    check(done.returncode == OK and "client 2" in done.stderr and "dropped" in done.stderr,
          done.stderr)
    with open(os.path.join(folder, "clients.csv"), encoding="ascii") as table:
        rows = [line.split(",") for line in table][1:]
    diverged = [(int(row[0]), int(row[1])) for row in rows if row[3] == "diverged"]
    check(diverged == [(3, 2)], f"diverged: {diverged}")
    check("1 update was not finite and dropped, in 1 of 6 rounds" in done.stderr, done.stderr)
    # All four clients in all six rounds: told once, and counted at the end, over a stop too.
    folder = bench.new_folder()
    every = command(bench, folder, 2, "--set", "on_divergence=drop", "--set", "checkpoint_every=1")
    spoil = deed("nan", "gradient", None, None)
    stopped = bench.run([*every, "--max-time", "0.001"], env=spoil)
    done = bench.run(every, env=spoil)
    check(stopped.returncode in (OK, INTERRUPTED) and done.returncode == OK, done.stderr)
    check(done.stderr.count("is dropped, as are 3 others of this round") == 1
          and done.stderr.count("not finite") == 2
          and "24 updates were not finite and dropped, in 6 of 6 rounds" in done.stderr,
          done.stderr)
    return "a client that diverges can be dropped"


def no_number(bench):
    """A measure that is not a number is reported, and shown as such."""
    folder = bench.new_folder()
    done = bench.run(command(bench, folder, 2), env=deed("nan", "evaluate", None, None))
    check(done.returncode == OK and
          "model/saboteur, round 5: accuracy of the global model is not a number" in done.stderr,
          done.stderr)
    with open(os.path.join(folder, "rounds.csv"), encoding="ascii") as table:
        check(table.read().splitlines()[-1].split(",")[2] == "nan", "no nan in rounds.csv")
    return "a measure that is not a number is reported"


if __name__ == "__main__":
    Bench(__doc__).main(crashes, hangs, setup_signal, second_signal, breaches, transports, loading,
                        dropped, no_number)
