#!/bin/bash
# Limits of the system on files, their size and CPU time: a grid waits for room, a run ends with a
# word and goes on later.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tiny=$source_tree/tests/faults/tiny.cfg

fail() {
    echo "FAILED: $1"
    cat "$work/out"
    exit 1
}

if grep -q __tsan_init "$osafl" || grep -q __asan_report_load "$osafl"; then
    echo "skipped: a sanitizer needs files and time of its own"
    exit 77
fi

echo "more jobs than open files allow: every cell ends"
(
    ulimit -n 16
    timeout -s KILL 120 "$osafl" run "$tiny" --results "$work/files" -q -j 7 -t 2
) >"$work/out" 2>&1 || fail "16 files, 7 jobs: status $?"
cells=$("$osafl" run "$tiny" --list | wc -l)
[ "$(find "$work/files" -name model.safetensors | wc -l)" -eq "$cells" ] || fail "cells are missing"

echo "the soft limit of open files is raised"
(
    ulimit -Sn 16
    timeout -s KILL 120 "$osafl" run "$tiny" --results "$work/soft" -q -j 7 -t 2
) >"$work/out" 2>&1 || fail "a soft limit of 16 files: status $?"

echo "a limit on the size of files is an error, in a run and in a grid"
status=0
(
    ulimit -f 20
    exec "$osafl" run "$tiny" -c scores --out "$work/size" -q -t 1
) >"$work/out" 2>&1 || status=$?
[ $status -eq 1 ] || fail "a limit on size: status $status"
grep -q "cannot write $work/size/.*File too large" "$work/out" || fail "no word on the limit"
status=0
(
    ulimit -f 20
    exec "$osafl" run "$tiny" --results "$work/sizes" -q -t 1
) >"$work/out" 2>&1 || status=$?
[ $status -eq 1 ] && grep -q "File too large" "$work/out" || fail "a grid: status $status"
"$osafl" run "$tiny" -c scores --out "$work/size" -q -t 1 >"$work/out" 2>&1 || fail "going on"

echo "a stack that is too small is an error"
status=0
(
    ulimit -s 48
    exec "$osafl" run "$tiny" -c scores --out "$work/stack" -q -t 1
) >"$work/out" 2>&1 || status=$?
[ $status -eq 1 ] && grep -q "the stack may have 48 KiB, and 128 are needed" "$work/out" ||
    fail "a small stack: status $status"

echo "a limit on CPU time is a request to stop"
status=0
(
    ulimit -St 1
    exec "$osafl" run "$tiny" -c scores --out "$work/time" -t 1 --set rounds=100000
) >"$work/out" 2>&1 || status=$?
[ $status -eq 3 ] || fail "a limit on CPU time: status $status"
grep -q "limit of CPU time reached" "$work/out" || fail "no word on CPU time"
[ -e "$work/time/checkpoint.0" ] || fail "nothing was saved"
grep -q '"cpu_s": ' "$work/time/environment.json" || fail "no CPU time is recorded"
grep -q '"peak_bytes": ' "$work/time/environment.json" || fail "no memory is recorded"
