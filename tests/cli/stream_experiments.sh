#!/bin/bash
# stream_experiments.sh OSAFL SOURCE_DIR - the files of experiments/streams: all their cells resolve and
# pass `osafl check`, and one of them runs with the quick overlay, to a report and a figure; another one does so
# where its data are.
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

# The requests of MovieLens: each user's in order, the shares of the classes sum to 1.
try_requests() {
    Rscript get-movielens.R movielens.csv > told 2>&1 || { cat told; fail "get-movielens.R"; }
    grep -q ": 48605 requests of 79 users" told || { cat told; fail "other requests than expected"; }
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
             { sum = $at["all_1"] + $at["all_2"] + $at["all_3"] + $at["all_4"]
               if (sum < 0.999 || sum > 1.001 || ($1 == user && $2 < time)) { print NR ": " $0; exit 1 }
               user = $1; time = $2 }' movielens.csv || fail "movielens.csv"
    "$osafl" run requests.cfg --overlay ../include/stream-quick.cfg --results runs --threads 1 --jobs 2 --quiet \
        > told 2>&1 || { cat told; fail "the quick run of requests.cfg"; }
    "$osafl" report runs/streams-requests > page 2>&1 || { cat page; fail "the report of requests.cfg"; }
    grep -q "^reservoir .*0\.[0-9]* *0\.[0-9]*" page || { cat page; fail "requests.cfg lacks a case"; }
    # Samples come at the same times in every case.
    for run in runs/streams-requests/*/*; do
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["arrived_samples"] }' \
            "$run/rounds.csv" > arrivals
        [ -f first ] || cp arrivals first
        cmp arrivals first || fail "$run: other arrivals"
    done
}
has_package() {
    Rscript -e "if (!requireNamespace('$1', quietly = TRUE)) quit(status = 1)" > told 2>&1
}
if has_package dslabs; then
    try_requests
else
    echo "r-cran-dslabs is missing: requests.cfg is only read"
fi

# try_said PACKAGE SCRIPT TABLE ROWS CLIENTS STORAGE LEAST: a script's table, and what it says of its experiment
# over the rest of one; at least LEAST samples arrive in every round.
try_said() {
    has_package "$1" || { echo "r-cran-$1 is missing: $2 is not tried"; return 0; }
    mkdir "$1"
    Rscript "$2" "$1/$3" > told 2>&1 || { cat told; fail "$2"; }
    grep -q ": $4" told || { cat told; fail "$2: other rows than expected"; }
    sed '1,/^# .*An experiment/d; /^file/,$d; s/^#//; /what came before/d' "$2" > "$1/said.cfg"
    printf '%s\n' "name = \"$1\";" '@include "../../include/stream-common.cfg"' \
        "clients: { count = $5; storage = $6; activity = [1.0, 1.0]; };" > "$1/rest.cfg"
    "$osafl" run "$1/rest.cfg" --overlay "$1/said.cfg" --only seed=1 --set rounds=4 --set evaluation.mixes=false \
        --set evaluation.client_spread=false --results runs --quiet > told 2>&1 || { cat told; fail "the run of $3"; }
    awk -F, -v least="$7" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["arrived_samples"] < least { exit 1 }' runs/"$1"/*/*/rounds.csv || fail "$3: fewer samples a round than expected"
}
try_said spacetime get-air.R air.csv "140117 days of 70 stations" 60 60 150
try_said lme4 get-insteval.R insteval.csv "73421 ratings in 14 departments" 14 3000 5000

data=/usr/share/datasets/fashion-mnist
[ -d $data ] || { echo "$data is missing: only read, not run"; exit 77; }
for file in *.cfg; do
    [ "$file" != requests.cfg ] || [ -f movielens.csv ] || continue
    "$osafl" check "$file" --overlay ../include/stream-quick.cfg > told 2>&1 || { cat told; fail "$file fails the check"; }
done
few=() # samples, where an instrument makes each of them slow
[ -z "${OSAFL_INSTRUMENTED:-}" ] || few=(--set training.minibatches=2 --set evaluation.samples=60)
"$osafl" run tasks.cfg --overlay ../include/stream-quick.cfg "${few[@]}" --results runs --threads 1 --jobs 2 \
    --quiet > told 2>&1 ||
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
