#!/bin/bash
# tune.sh OSAFL SOURCE_DIR - `osafl tune` finds the best setting, ends hopeless ones early, goes on
# after an interruption, and prints a block that can be pasted.
set -eu
osafl=$1
small=$2/tests/cli/small.cfg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAIL: $1"
    exit 1
}

expect() { # TEXT FILE
    grep -qF -- "$1" "$2" || { cat "$2"; fail "\"$1\" is not there"; }
}

cat > grid.cfg <<END
@include "small.cfg"
cases = ( { name = "OSA-FL"; }, { name = "M-FedAvg"; aggregator: { plugin = "fedavg"; }; } );
END
cp "$small" small.cfg
tune=("$osafl" tune grid.cfg --jobs 2 --threads 2 --set rounds=12 --set dataset.glyphs.validation=200
    --over optimizer.sgd.learning_rate=0.0001..0.05/4 --over training.batch=4,8)

# 8 settings for each case: a quarter of the rounds, then 4 to half of them, then 2 to the end.
"${tune[@]}" --out whole > told 2> progress
expect "small, OSA-FL: 8 settings, 1 seed, 12 rounds" told
expect "small, M-FedAvg: after 3 rounds 4 of 8 settings continue" progress
expect "small, M-FedAvg: after 6 rounds 2 of 8 settings continue" progress
[ "$(grep -cE '^ +[0-9.e-]+ +[48] +12  ' told)" -eq 4 ] || fail "not 2 settings came to the end"
[ "$(grep -cE '^ +[0-9.e-]+ +[48] +3  ' told)" -eq 8 ] || fail "not 4 settings ended at once"
expect "optimizer.sgd.learning_rate = 0.05 is the greatest value that was tried; try greater" told
expect '{ name = "M-FedAvg";' told
expect 'sgd: { learning_rate = 0.05; };' told
expect 'aggregator: { plugin = "fedavg"; };' told

# The block loads, and gives the settings.
{
    sed 's/^cases.*//' grid.cfg
    echo "cases = ("
    grep -A 1 'name = "M-FedAvg"' told | sed '$s/},$/}/'
    echo ");"
} > pasted.cfg
"$osafl" resolve pasted.cfg --case M-FedAvg --set optimizer.plugin=sgd > resolved
grep -qE "learning_rate = 0\.05; .*case \"M-FedAvg\"" resolved || { cat pasted.cfg resolved; fail "the block gives nothing"; }

# Interrupted at any time, it comes to the same end.  Ever later, so that a busy machine gets there.
for attempt in $(seq 60); do
    status=0
    "${tune[@]}" --out parts --quiet --max-time "$(awk "BEGIN { print 0.3 * $attempt }")" \
        > again 2> progress || status=$?
    [ $status -ne 0 ] || break
    [ $status -eq 3 ] || { cat progress; fail "exit status $status after an interruption"; }
    [ "$attempt" -gt 1 ] || expect "run the same command again to resume" progress
done
diff told again || fail "interruptions changed the answer"

# Settings are compared after evaluations alone: here after the fourth round, for a quarter and for
# half of the rounds, and after the eighth.
"$osafl" tune grid.cfg --threads 2 --set rounds=8 --set dataset.glyphs.validation=200 \
    --set evaluation.every=4 --only case=M-FedAvg \
    --over optimizer.sgd.learning_rate=0.0001..0.05/4 --out seldom > told 2> progress
expect "small, M-FedAvg: after 4 rounds 2 of 4 settings continue" progress
[ "$(grep -c 'settings continue' progress)" -eq 1 ] || fail "one evaluation is judged twice"
[ "$(grep -cE '^ +[0-9.e-]+ +8  ' told)" -eq 2 ] || fail "not 2 settings came to the end"

# The time is that of the command, not of each of its parts: three quarters of what all take stop
# it, though the first part takes little more than half.  Again where the machine has become faster.
status=0
for attempt in 1 2 3 4 5; do
    rm -rf fresh limited
    start=$(date +%s%N)
    "${tune[@]}" --results fresh --quiet > again 2> progress
    limit=$(awk "BEGIN { print 0.75e-9 * ($(date +%s%N) - $start) }")
    status=0
    "${tune[@]}" --results limited --quiet --max-time "$limit" > again 2> progress || status=$?
    [ $status -eq 0 ] || break
done
[ $status -eq 3 ] || { cat progress; fail "exit status $status in attempt $attempt with $limit s"; }

# A range for each case, in files that vary something too; no early end.
cat > varied.cfg <<END
@include "small.cfg"
vary = ( { key = "quantizer.qsgd.levels"; values = [2, 4]; } );
where = ( { only = "quantizer.qsgd.levels=4"; aggregator: { osafl: { global_learning_rate = 1.0; }; }; } );
END
"$osafl" tune varied.cfg --quiet --keep 1 --only quantizer.qsgd.levels=4 --set rounds=2 \
    --set dataset.glyphs.validation=200 --over aggregator.osafl.global_learning_rate=2,4 > told
expect '{ only = ["quantizer.qsgd.levels=4"];' told
[ "$(grep -cE '^ +[24] +2  ' told)" -eq 2 ] || fail "a setting ended early"

# Where every setting fails, each says why.
status=0
OSAFL_DEED=crash OSAFL_DEED_AT=aggregate "$osafl" tune small.cfg --quiet --set rounds=4 \
    --set dataset.glyphs.validation=200 --set aggregator.plugin=saboteur \
    --plugin-dir "$(dirname "$osafl")/tests/faults/plugins" \
    --over optimizer.sgd.learning_rate=0.01,0.02 --out crashed > told 2> progress || status=$?
[ $status -eq 1 ] || { cat told progress; fail "exit status $status where every setting fails"; }
expect "best validation value" told
expect "every setting failed" told
[ "$(grep -c ' failed: ' told)" -eq 2 ] || fail "a failed setting has no reason"

# What cannot be.
refused() { # TEXT ARGUMENT...
    local text=$1 status=0
    shift
    "$osafl" tune "$@" > told 2>&1 || status=$?
    [ $status -eq 2 ] || { cat told; fail "exit status $status for $*"; }
    expect "$text" told
}
refused "--over is missing" grid.cfg
refused "--over rounds: all settings need the same rounds and the same evaluation" grid.cfg --over rounds=4,8
refused "--over evaluation.every: all settings need" grid.cfg --over evaluation.every=1,2
refused "0 < LO < HI" grid.cfg --over optimizer.sgd.learning_rate=0.1..0.01
refused "a value is missing" grid.cfg --over optimizer.sgd.learning_rate=0.1,
refused "did you mean" grid.cfg --over optimizer.sgd.learning_rat=0.1,0.2
refused "--set or --overlay fixes it" grid.cfg --set training.batch=4 --over training.batch=4,8
status=0
"$osafl" tune small.cfg --over training.batch=4,8 > told 2>&1 || status=$?
[ $status -ne 0 ] || fail "it tuned without a validation split"
expect "validation" told
