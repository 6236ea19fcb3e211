#!/usr/bin/env bash
# report.sh OSAFL SOURCE-TREE - "osafl report" on result folders made by hand.
set -euo pipefail
osafl=$1
golden=$2/tests/golden/report
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect STATUS PATTERN ARGUMENT...: the command's exit status, and a line of its whole output.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$osafl" report "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qF -- "$pattern" "$work/out"; then
        echo "FAILED: osafl report $*: status $got, expected $status and \"$pattern\" in:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

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
expect 2 "--format pdf: there are text, markdown, csv and latex" --format pdf "$golden"
expect 2 "--target high: not a number" --target high "$golden"
expect 2 '--measure los: the runs have no such measure; did you mean "loss"?' --measure los "$golden"
expect 2 "there are accuracy, loss" --measure foo "$golden"
expect 2 "--target 60: an accuracy lies between 0 and 1" --target 60 "$golden"
expect 0 "To loss 2" --measure loss --target 2 "$golden"
expect 0 "% needs" --format latex "$golden"
expect 2 "cannot open $work/none" "$work/none"
expect 2 "holds no results" "$work"
expect 2 'did you mean "seed"?' --only sed=1 "$golden"

# Damaged and unfinished folders: the rest is still reported.
cp -r "$golden" "$work/results"
osa=$(echo "$work"/results/paper-table/OSA-FL/seed-1-*)
sed -i '3s/,1.5,/,oops,/' "$osa/rounds.csv"
expect 1 "rounds.csv:3: test_loss is \"oops\", which is no number" "$work/results"
grep -qF "OSA-FL              2 of 3" "$work/out" || { echo "FAILED: no OSA-FL row"; failures=1; }
rm "$osa/rounds.csv"
expect 0 "OSA-FL: seed 1 has 0 of 4 rounds" "$work/results"
rm -r "$work"/results/paper-table/[GM]* "$work"/results/paper-table/OSA-FL/seed-[23]*
expect 0 "OSA-FL: seed 1 has 0 of 4 rounds" "$work/results/paper-table"

[ "$failures" = 0 ] || exit 1
echo "report: all checks passed"
