#!/bin/bash
# stream_experiments.sh OSAFL SOURCE_DIR - the files of experiments/streams: all their cells resolve and
# pass `osafl check`, and one of them runs with the quick overlay, to a report and a figure.
set -eu
osafl=$(realpath "$1")
source_tree=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source_tree/experiments" "$work/experiments"
cd "$work/experiments/streams"

fail() {
    echo "FAIL: $1"
    exit 1
}

files=0
for file in *.cfg; do
    cells=$("$osafl" run "$file" --list | wc -l)
    quick=$("$osafl" run "$file" --overlay ../include/stream-quick.cfg --list | wc -l)
    [ "$cells" = $((5 * quick)) ] || fail "$file has $cells cells, and $quick with the overlay"
    grep -q "^# $cells cells" "$file" || fail "$file says another number of cells than $cells"
    files=$((files + 1))
done
[ $files -gt 0 ] || fail "there are no files"

data=/usr/share/datasets/fashion-mnist
[ -d $data ] || { echo "$data is missing: only read, not run"; exit 77; }
for file in *.cfg; do
    "$osafl" check "$file" --overlay ../include/stream-quick.cfg > told 2>&1 || { cat told; fail "$file fails the check"; }
done
"$osafl" run tasks.cfg --overlay ../include/stream-quick.cfg --results runs --threads 1 --jobs 2 --quiet > told 2>&1 ||
    { cat told; fail "the quick run"; }
"$osafl" report runs/streams-tasks > report 2>&1 || { cat report; fail "the report"; }
grep -q reservoir report || { cat report; fail "the report lacks a case"; }
python3 results.py runs/streams-tasks > table || fail "results.py"
grep -q "^| reservoir | 1 | 0\.[0-9]* | - |" table || { cat table; fail "the table lacks a case"; }
for run in runs/streams-tasks/*/*; do
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(mix_|mean_age_)/) column[i] }
             NR > 2 { for (i in column) if ($i == "") exit 1 }' "$run/rounds.csv" ||
        fail "$run: measures are missing"
done
