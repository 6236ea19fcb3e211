#!/usr/bin/env bash
# report.sh OSAFL SOURCE-TREE - "osafl report" on result folders made by hand.
# shellcheck source=../support/report_test.sh
source "$2/tests/support/report_test.sh"

# The numbers of these tables are checked by test_report_tables.c; here their look.
"$osafl" report --target 0.6 "$golden/paper-table" >"$work/report.txt"
if ! diff -u "$golden/report.txt" "$work/report.txt"; then
    echo "FAILED: the text report differs from tests/golden/report/report.txt"
    failures=$((failures + 1))
fi
for format in text markdown csv latex; do
    expect 0 OSA-FL --format $format "$golden"
    if grep -qiw -e nan -e inf -e '(null)' "$work/out"; then
        echo "FAILED: --format $format prints a value that does not exist"
        failures=$((failures + 1))
    fi
done

expect 0 "M-FedAvg            2 of 3" "$golden/paper-table"
expect 0 "seed 3 has 2 of 4 rounds" "$golden/paper-table/M-FedAvg"
# In the first two rounds all three seeds are whole.
expect 0 "M-FedAvg                 3  0.3667" --rounds 2 "$golden/paper-table"
expect 0 "the first 2 rounds alone, 2 clients, 4 rounds" --rounds 2 "$golden/paper-table"
if grep -qE "M-FedAvg.*seed|has 2 of" "$work/out"; then
    echo "FAILED: --rounds 2 misses a round of M-FedAvg"
    failures=$((failures + 1))
fi
"$osafl" report --rounds 4 --target 0.6 "$golden/paper-table" |
    sed 's/the first 4 rounds alone, //' | diff - "$work/report.txt" || failures=$((failures + 1))
# With more than there are, every run is short of some.
expect 0 "OSA-FL: seed 1 has 4 of 6 rounds" --rounds 6 "$golden/paper-table"
expect 0 page.html --rounds 1 --html "$work/page.html" "$golden/paper-table"
grep -qF "4 of 4" "$work/page.html" || { echo "FAILED: the page says not how far runs are"; failures=1; }
# The paper's values are accuracies and the losses there.
expect 0 "Best test loss" --measure loss "$golden/paper-table"
if grep -qw difference "$work/out"; then
    echo "FAILED: empty columns beside a loss"
    failures=$((failures + 1))
fi
expect 2 "--rounds 0: must be a whole number from 1 on" --rounds 0 "$golden"
expect 2 "--rounds 2.5: must be a whole number" --rounds 2.5 "$golden"
expect 0 "levels = 16" "$golden"
expect 0 "OSA-FL      3" --only case=OSA-FL "$golden"
expect 0 "Best test loss" --measure loss "$golden/levels"
expect 2 "name a folder with results"
expect 2 "--format pdf: choose text, markdown, latex, csv or runs" --format pdf "$golden"
expect 2 "--target high: not a number" --target high "$golden"
expect 2 '--measure los: the runs have no such measure; did you mean "loss"?' --measure los "$golden"
expect 2 "there are accuracy, loss" --measure foo "$golden"
expect 2 "--target 60: an accuracy lies between 0 and 1" --target 60 "$golden"
expect 0 "To loss 2" --measure loss --target 2 "$golden"
expect 0 "% needs" --format latex "$golden"
expect 2 "cannot open $work/none" "$work/none"
expect 2 "the name of a folder is empty; name one with results" ""
expect 2 "holds no results" "$work"
expect 2 'did you mean "seed"?' --only sed=1 "$golden"

# Tables for a paper: rows by a setting, percent, other names, fewer columns.
failed() {
    echo "FAILED: $1 in:"
    cat "$work/out"
    failures=$((failures + 1))
}
expect 0 "Best test accuracy over the rounds by levels" --by levels "$golden/levels"
grep -qx "A  *0.3200  *0.4600" "$work/out" || failed "no values by levels"
grep -qx "B / learning_rate = 0.5  *0.2000  *-" "$work/out" || failed "no value that is missing"
expect 0 'Last test accuracy, \% by s ' --by quantizer.qsgd.levels --percent --value last --format latex \
    --name levels=s --name A=First "$golden/levels"
grep -qxF 'First & 32.00 & 46.00 \\' "$work/out" || failed "no percent"
grep -qF 'resizebox{\ifdim\width>\linewidth' "$work/out" || failed "a table may be too wide"
expect 0 "M-FedAvg, 2: 2 of 3 seeds" --by levels "$golden/paper-table"
expect 0 "fedavg  fednova" --by aggregator.plugin "$golden/paper-table"
expect 2 '--by level: no run here has a setting of that name; did you mean "levels"?' --by level "$golden"
expect 2 "--by makes one table" --by levels --format csv "$golden"
expect 2 "--value most: choose best, last, tail or loss" --value most --by levels "$golden"
expect 2 "--name A: write OLD=NEW" --name A "$golden"
expect 0 "best accuracy  last tenth's accuracy" --columns best,tail "$golden/levels"
expect 2 "--columns bets: there are seeds, best" --columns bets "$golden"
expect 0 "Ours " --name OSA-FL=Ours "$golden/paper-table"

# What the runs took, as far as it is recorded.
expect 0 "The 8 reported runs, 2 of which did not finish, took 8 min one after the other (of 8 no CPU time is recorded)" \
    --compute "$golden/paper-table"
grep -qE "^M-FedAvg +3 +1 +- +0.050 +- +- +0 +0 +-$" "$work/out" || failed "no line of M-FedAvg"
cp -r "$golden/levels" "$work/levels"
find "$work/levels" -name environment.json -delete
expect 0 "The 5 reported runs have no record of what they took. No runs for tuning" --compute "$work/levels"
grep -qE "^all +2 +0 +- +- +- +- +- +0 +-$" "$work/out" || failed "hours that nobody recorded"
grep -qF "energy: the runs have no record of it." "$work/out" || failed "no word of energy"
cp -r "$golden/levels" "$work/metered"
find "$work/metered" -name environment.json -exec sed -i 's/^{/{"energy_j": null, "earlier_energy_j": 0.0,/' {} +
expect 0 "energy: not measured, since RAPL could not be read." --compute "$work/metered"
sed -i 's/"energy_j": null/"energy_j": 9000.0/; s/_energy_j": 0.0/_energy_j": 1800.0/' \
    "$work"/metered/A_*2/seed-1*/environment.json
expect 0 "energy: of the processors while a run went on (RAPL), known of " --compute "$work/metered"
grep -qE "^A .* 3 +0 +0 +-$" "$work/out" || failed "no energy of 10800 J: $(cat "$work/out")"
expect 2 "--tuning needs --compute" --tuning "$golden" "$golden"
expect 2 "--compute makes tables of its own" --compute --format csv "$golden"

# The same on a page.
expect 0 "$work/page.html" --html "$work/page.html" --compute "$golden/paper-table"
for text in "What the runs took to compute" "The 8 reported runs, 2 of which" "Best test accuracy"; do
    grep -qF "$text" "$work/page.html" || failed "the page has no \"$text\""
done
expect 0 "$work/page.html" --html "$work/page.html" --by levels "$golden/levels"
grep -qF "Best test accuracy over the rounds by levels" "$work/page.html" || failed "no table by levels"
! grep -q "<svg" "$work/page.html" || failed "the page of --by has figures"

# A line for every run, all that differs in columns of their own.
expect 0 "experiment,case,optimizer.sgd.learning_rate,quantizer.qsgd.levels,seed,state,rounds,measure" \
    --format runs --target 0.6 "$golden"
for line in levels,B,0.02,16,1,complete,2,accuracy,0.56,2, levels,B,0.5,2,1,complete,2,accuracy,0.2,2, \
    paper-table,M-FedAvg,0.02,2,3,unfinished,2,accuracy,0.9,1, \
    paper-table,OSA-FL,0.02,2,2,complete,4,accuracy,0.6,3,1,0.5,0.5,0.875,; do
    grep -q "^$line" "$work/out" || failed "no $line"
done
[ "$(wc -l <"$work/out")" -eq 14 ] || failed "not a line for each of 13 runs"

# Of two copies of a run the one that has come farthest counts; copies that differ are reported.
mkdir "$work/copies"
cp -r "$golden"/levels/A_quantizer.qsgd.levels_2/seed-1-* "$work/copies/a"
cp -r "$work/copies/a" "$work/copies/b"
sed -i '$d' "$work/copies/a/rounds.csv"
expect 0 "copies/a is the same run as $work/copies/b; it is left out" "$work/copies"
grep -qE "^A +1 +0.3200|^A / levels = 2 +1 +0.3200" "$work/out" || failed "an unfinished copy counts"
sed -i 's/,0.1,2,/,0.2,2,/' "$work/copies/a/rounds.csv"
expect 0 "but their rounds.csv differ in round 0" "$work/copies"

# What is no file is not waited for, and nothing reaches the terminal but text.
mkdir -p "$work/odd/pipe" "$work/odd/rounds"
mkfifo "$work/odd/pipe/manifest.json"
cp "$work"/copies/b/*.json "$work/odd/rounds"
mkfifo "$work/odd/rounds/rounds.csv"
timeout 20 "$osafl" report "$work/odd" >"$work/out" 2>&1 || [ $? -eq 1 ] || failed "a pipe hangs"
[ "$(grep -c "not a regular file" "$work/out")" -eq 2 ] || failed "pipes are not refused"
rm -r "$work/odd"
odd=$work/odd/$'x\e[31m\e]0;title\a\xc2\x9b31m\x9b'
mkdir -p "$odd"
echo "{" >"$odd/manifest.json"
expect 1 "x?[31m?]0;title???31m?/manifest.json" "$work/odd"
if LC_ALL=C grep -q $'[\x01-\x08\x0e-\x1f\x9b]' "$work/out"; then
    failed "terminal escapes"
fi
# A spreadsheet takes no name for a formula.
mkdir "$work/sheet"
cp "$work"/copies/b/* "$work/sheet"
sed -i 's/"case": "A,/"case": "@SUM(1),/' "$work/sheet/manifest.json"
expect 0 "'@SUM(1)" --format csv "$work/sheet"
# A record of more seeds than a grid can have.
python3 -c 'import json
print(json.dumps({"grid": 1, "experiment": "levels", "cells": {"A": list(range(1001))}}))' >"$work/grid-many.json"
expect 1 "is not a record of a grid" "$golden/levels" "$work/grid-many.json"

# A folder that cannot be searched is named, and the rest is reported.
cp -r "$golden/levels" "$work/partly"
mkdir "$work/partly/looped"
ln -s manifest.json "$work/partly/looped/manifest.json"
expect 0 "osafl: warning: $work/partly/looped cannot be searched for runs: Too many levels of symbolic links; \
runs in it are left out" "$work/partly"
"$osafl" report "$golden/levels" | diff - <(grep -v "^osafl: warning" out) || failed "the rest is another"
rm "$work/partly/looped/manifest.json"
ln -s nothing "$work/partly/looped/manifest.json"
expect 0 "osafl: warning: $work/partly/looped cannot be searched for runs: its manifest.json is a link to nothing; \
runs in it are left out" "$work/partly"
"$osafl" report "$golden/levels" | diff - <(grep -v "^osafl: warning" out) || failed "the rest is another"
rm -r "$work/partly/looped"
long=$(printf '%0200d' 0)
(
    cd "$work/partly" || exit
    for _ in $(seq 21); do
        mkdir "$long"
        cd "$long" || exit
    done
)
expect 0 " cannot be searched for runs: File name too long; runs in it are left out" "$work/partly"
"$osafl" report "$golden/levels" | diff - <(grep -v "^osafl: warning" out) || failed "the rest is another"
rm -r "$work/partly/$long"
mkdir "$work/partly/closed"
chmod 0 "$work/partly/closed"
chmod a+rx "$work"
other_user=()
[ "$(id -u)" != 0 ] || other_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${other_user[@]}" "$osafl" --version >out 2>&1; then
    "${other_user[@]}" "$osafl" report "$work/partly" >out 2>&1 || failed "a closed folder ends the report"
    grep -qF "warning: $work/partly/closed cannot be searched for runs: Permission denied" out ||
        failed "no word of a closed folder: $(cat out)"
else
    echo "no other user can start the program: a folder without permission is not tried"
fi
chmod u+rwx "$work/partly/closed"

# Damaged and unfinished folders: the rest is still reported.
cp -r "$golden" "$work/results"
osa=$(echo "$work"/results/paper-table/OSA-FL/seed-1-*)
sed -i '3s/,1.5,/,oops,/' "$osa/rounds.csv"
expect 1 "rounds.csv:3: test_loss is \"oops\", which is not a number" "$work/results"
grep -qF "OSA-FL              2 of 3" "$work/out" || { echo "FAILED: no OSA-FL row"; failures=1; }
rm "$osa/rounds.csv"
expect 0 "OSA-FL: seed 1 has 0 of 4 rounds" "$work/results"
rm -r "$work"/results/paper-table/[GM]* "$work"/results/paper-table/OSA-FL/seed-[23]*
expect 0 "OSA-FL: seed 1 has 0 of 4 rounds" "$work/results/paper-table"

[ "$failures" = 0 ] || exit 1
echo "report: all checks passed"
