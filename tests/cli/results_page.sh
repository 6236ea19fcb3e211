#!/bin/bash
# results_page.sh OSAFL SOURCE-TREE - the tables of experiments/paper/RESULTS.md are what "osafl report"
# says of the runs that are kept beside it, and results.sh keeps runs as it says.
set -euo pipefail
export OSAFL=$1
paper=$2/experiments/paper
golden=$2/tests/golden/report
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $1"
    exit 1
}

"$paper/results.sh" page --check

# Runs that are kept, and laid out again, give the same report.
mkdir "$work/paper"
cp "$paper/results.sh" "$work/paper"
results() { "$work/paper/results.sh" "$@"; }
cp -r "$golden" "$work/runs"
results pack golden "$work/runs" 1 > "$work/told"
results unpack "$work/unpacked"
diff <("$OSAFL" report "$golden") <("$OSAFL" report "$work/unpacked") || fail "the report is another one"
diff <("$OSAFL" report --compute "$golden") <("$OSAFL" report --compute "$work/unpacked") ||
    fail "what the runs took is lost"
! grep -rq '"host"\|_folder"\|_file"' "$work/unpacked" --include=environment.json ||
    fail "names of machines or folders are kept"
(cd "$work/unpacked" && find . -name environment.json) | grep -q M-FedNova || fail "no failure is kept"

# Without ROUNDS, finished runs alone; what is kept longer stays; a run without clients is one.
results pack finished "$work/runs" > "$work/told"
tar -tJf "$work/paper/results/finished.tar.xz" > "$work/list"
! grep -q M-FedNova "$work/list" || fail "an unfinished run is packed"
osa=$(echo "$work"/runs/paper-table/OSA-FL/seed-1-*)
sed -i '$d' "$osa/rounds.csv"
rm "$work"/runs/paper-table/OSA-FL/seed-2-*/clients.csv
results pack golden "$work/runs" 1 > /dev/null 2> "$work/told"
grep -q "is kept with more rounds" "$work/told" || fail "no word of the shorter run"
results unpack "$work/again"
[ "$(wc -l < "$work/again/${osa#"$work/runs/"}/rounds.csv")" -eq 5 ] || fail "a longer run is lost"

# What cannot be is refused, and leaves everything as it was.
sum=$(cat "$work"/paper/results/* | cksum)
refused() {
    local status=0
    results "$@" > "$work/told" 2>&1 || status=$?
    [ $status -ne 0 ] || fail "results.sh $* is taken"
}
refused pack golden "$work/nowhere"
refused pack golden "$work/paper"
refused pack golden "$work/runs" 1000
refused pack golden "$work/runs" many
refused pack golden "$work/runs" 0
refused pack ../golden "$work/runs"
refused page --chek
refused page --check --check
refused unpack
refused nothing
[ "$sum" = "$(cat "$work"/paper/results/* | cksum)" ] || fail "a refusal changed what is kept"
