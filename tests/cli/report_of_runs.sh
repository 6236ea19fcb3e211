#!/usr/bin/env bash
# report_of_runs.sh OSAFL SOURCE-TREE - what "osafl run" writes is what "osafl report" and "osafl plot"
# read: a small grid with a failed, an interrupted and a missing run.
set -euo pipefail
osafl=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

cat >grid.cfg <<'EOF'
name = "small";
rounds = 3;
clients:   { count = 4; storage = 40; arrivals = 4; };
dataset:   { plugin = "glyphs"; };
model:     { plugin = "logistic"; };
channel:   { plugin = "fixed"; };
resource:  { plugin = "fixed"; };
optimizer: { plugin = "sgd"; sgd: { learning_rate = 0.05; }; };
quantizer: { plugin = "qsgd"; };
deletion:  { plugin = "fifo"; };
evaluation: { samples = 200; };
cases = ( { name = "Z-first"; aggregator: { plugin = "osafl"; }; },
          { name = "A-second"; aggregator: { plugin = "fedavg"; }; } );
vary  = ( { key = "quantizer.qsgd.levels"; values = [2, 16]; } );
seeds = [1, 2];
EOF
"$osafl" run grid.cfg --quiet >/dev/null

expect() { # PATTERN: an extended regular expression for a line of the report
    grep -qE -- "$1" out || { echo "FAILED: no line \"$1\" in:"; cat out; failures=$((failures + 1)); }
}
cat >results/published.csv <<'PUBLISHED'
# of a publication
case,quantizer.qsgd.levels,accuracy_mean,accuracy_std
Z-first,16,0.4,
Z-first,,0.5,0.01
PUBLISHED
"$osafl" report results >out
expect '^levels = 2$'
expect '^levels = 16$'
expect '^Z-first +2 +0\.[0-9]{4} ± 0\.[0-9]{4} .* 0\.5000 ± 0\.0100 +[+-]0\.[0-9]{4}$'
expect '^4 clients, 3 rounds, deadline 60 s, .* quantizer qsgd'
expect '^Z-first +2 .* 0\.4000 +[+-]0\.[0-9]{4}$'
"$osafl" report results --published results/published.csv | diff out - || failures=$((failures + 1))
# The file's order of cases, not the alphabet's.
[ "$(grep -oE '^(Z-first|A-second)' out | head -1)" = Z-first ] ||
    { echo "FAILED: the order of the cases is lost"; failures=$((failures + 1)); }

# What it took to compute, with runs that tuned.
"$osafl" tune grid.cfg --quiet --results tuned --only case=A-second --only seed=1 \
    --set quantizer.qsgd.levels=2 --set dataset.glyphs.validation=100 \
    --over optimizer.sgd.learning_rate=0.01,0.02,0.04 >/dev/null
"$osafl" report --compute results --tuning tuned >out
expect '^Z-first +2 +0 +[0-9.e-]+ +[0-9.e-]+ +[0-9]+[0-9.]* +[0-9.e-]+ +0 +0 +-$'
expect '^A-second +2 +0 +[0-9.e-]+ +[0-9.e-]+ +[0-9]+[0-9.]* +[0-9.e-]+ +3 +3 +[0-9.e-]+$'
expect '^The rows were not tuned with equal effort: over 0 to 3 settings\.$'
expect '^The 8 reported runs took [0-9.]+ (s|min) of CPU time and [0-9.]+ (s|min) one after the other\. The 3 runs for tuning, 2 of which did not finish, took '
expect 'They ran on .* \([0-9]+ cores\), from 20.*Z to 20.*Z, with at most [0-9]+ MB of memory\. (Energy was not measured, since|While [0-9]+ of the 11 runs went on, the processors took)'

# The best value of the table is the largest of rounds.csv.
one=$(echo results/small/A-second*levels_16/seed-1-*)
best=$(cut -d, -f3 "$one/rounds.csv" | tail -n +2 | sort -g | tail -1)
"$osafl" report "$one" >out
expect "^A-second / levels = 16 +1 +$(printf %.4f "$best") "

# A run that fails says why, and an interrupted one how far it came.
if "$osafl" run grid.cfg --quiet --case A-second --set filter.plugin=scale --set filter.scale.share=1 --set filter.scale.strength=1e60 \
    --set quantizer.qsgd.levels=2 --set seed=1 --set name=broken >out 2>&1; then
    echo "FAILED: updates of 1e60 do no harm"
    failures=$((failures + 1))
fi
"$osafl" report results/broken >out
expect '^  A-second: seed 1 failed after [0-2] of 3 rounds: .*finite'

# Runs that are kept as rounds.csv and manifest.json: all but why clients sat out.
mkdir -p kept
cp "$one/rounds.csv" "$one/manifest.json" kept/
"$osafl" report kept >out
expect "^A-second / levels = 16 +1 +$(printf %.4f "$best") "
if grep -q 'clients.csv\|did not take part' out; then
    echo "FAILED: a report asks for what was left out"
    failures=$((failures + 1))
fi

# A grid of which a part was run: what is missing is what the file asks for, cells that `where` omits
# aside, whether other runs have it or not.
sed -e 's/"small"/"part"/' -e 's/seeds = .*/seeds = [1, 2, 3];/' grid.cfg >part.cfg
echo 'where = ( { only = ["case=A-second", "seed=3"]; omit = true; },
          { only = ["case=Z-first", "quantizer.qsgd.levels=16", "seed=2"]; omit = true; } );' >>part.cfg
"$osafl" run part.cfg --quiet --only case=Z-first --only quantizer.qsgd.levels=2 --only seed=1 >/dev/null
"$osafl" report results/part >out
expect '^Z-first / levels = 2 +1 of 3 '
expect '^  Z-first / levels = 2: seed 2 has no results; seed 3 has no results$'
expect '^  A-second has no results$'
expect '^Not begun:$'
expect '^  quantizer\.qsgd\.levels=16: 4 runs$'
"$osafl" report --only case=Z-first --only seed=1 results/part >out
if grep -q 'Missing' out; then
    echo "FAILED: a run is missing that was not asked for"
    failures=$((failures + 1))
fi
expect '^  quantizer\.qsgd\.levels=16: 1 run$'
"$osafl" report --html page.html results/part >/dev/null
grep -q 'Not begun' page.html || { echo "FAILED: the page does not say it"; failures=$((failures + 1)); }
"$osafl" run part.cfg --quiet --jobs 2 >/dev/null
"$osafl" report results/part >out
if grep -qE 'Missing|Not begun|has no results' out; then
    echo "FAILED: something is missing of a grid that is complete"
    cat out
    failures=$((failures + 1))
fi
# The file now says less; and an experiment of which nothing has begun.
sed -e 's/seeds = .*/seeds = [1];/' -e '/^where/,$d' part.cfg >less && mv less part.cfg
echo 'where = ( { only = "case=A-second"; name = "other"; } );' >>part.cfg
rm -r results/part/A-second* results/part/Z-first*/seed-[23]*
"$osafl" run part.cfg --quiet --only case=Z-first >/dev/null
"$osafl" report results >out
if grep -q '^Missing\|^Not begun\|^  other' <(sed -n '/^part$/,/^small$/p' out); then
    echo "FAILED: what the file no longer asks for is missing"
    failures=$((failures + 1))
fi
expect '^Without results:$'
expect '^  other: 2 runs$'
# What an omitted cell would be is not counted.
sed -e 's/"small"/"omits"/' -e '/^vary/d' grid.cfg >omits.cfg
echo 'where = ( { only = ["case=A-second", "seed=2"]; omit = true; } );' >>omits.cfg
"$osafl" run omits.cfg --quiet >/dev/null
"$osafl" report results/omits >out
expect '^Z-first +2 '
expect '^A-second +1 '
# A seed beside the plan changes no plan; settings that were edited make a row of their own, which is
# incomplete.
rm -r results/omits/Z-first/seed-2-*
"$osafl" run omits.cfg --quiet --only case=Z-first --set seed=9 >/dev/null
"$osafl" run omits.cfg --quiet --only case=Z-first --only seed=1 --set clients.count=5 >/dev/null
"$osafl" report results/omits >out
expect '^  Z-first / count = 4: seed 2 has no results$'
expect '^  Z-first / count = 5: seed 2 has no results$'
"$osafl" report results/omits --only clients.count=5 >out
expect '^  Z-first: seed 2 has no results$'
# Seeds that are varied, and a setting that changes nothing.
sed -e 's/"small"/"twice"/' -e '/^seeds/d' grid.cfg >twice.cfg
echo 'vary = ( { key = "seed"; values = [1, 2]; }, { key = "checkpoint_every"; values = [1, 2]; } );' >vary.cfg
sed -i -e '/^vary/r vary.cfg' -e '/^vary  /d' twice.cfg
"$osafl" run twice.cfg --quiet --only case=Z-first >/dev/null
"$osafl" run twice.cfg --quiet --only case=A-second --only seed=1 >/dev/null
"$osafl" report results/twice >out 2>/dev/null
expect '^Z-first +2 '
expect '^  A-second: seed 2 has no results$'
[ "$(grep -c 'no results\|runs$' out)" = 1 ] ||
    { echo "FAILED: more is missing than one run"; cat out; failures=$((failures + 1)); }
refuse() { # PATTERN: no line of the report
    if grep -qE -- "$1" out; then
        echo "FAILED: a line \"$1\" in:"
        cat out
        failures=$((failures + 1))
    fi
}
# All that a shell's * finds; conditions in any order; a case that has not what the file varies.
"$osafl" report results/omits/* >out
expect '^  Z-first / count = 4: seed 2 has no results$'
"$osafl" report results/twice --only aggregator.plugin=fedavg --only seed=2 >out 2>told && refuse .
"$osafl" report results/twice --only aggregator.plugin=osafl --only seed=2 >one 2>/dev/null
"$osafl" report results/twice --only seed=2 --only aggregator.plugin=osafl >out 2>/dev/null
cmp -s one out || { echo "FAILED: the order of conditions matters"; failures=$((failures + 1)); }
sed -e 's/"small"/"plain"/' -e 's/"fedavg"; }/&; quantizer: { plugin = "none"; }/' grid.cfg >plain.cfg
"$osafl" run plain.cfg --quiet --jobs 2 >/dev/null
"$osafl" report results/plain --only quantizer.qsgd.levels=2 >out 2>/dev/null
refuse 'has no results|^Not begun'
# A setting edited between two cases: the table of the new one has a gap.
sed -e 's/"small"/"edited"/' grid.cfg >edited.cfg
"$osafl" run edited.cfg --quiet --jobs 2 >/dev/null
sed -i 's/count = 4/count = 5/' edited.cfg
"$osafl" run edited.cfg --quiet --only case=Z-first --jobs 2 >/dev/null
"$osafl" run edited.cfg --quiet --only case=A-second --only quantizer.qsgd.levels=2 --only seed=1 >/dev/null
"$osafl" report results/edited >out
expect '^  A-second: seed 2 has no results$'
expect '^  A-second has no results$'
[ "$(grep -c 'no results$' out)" = 2 ] || { echo "FAILED: gaps"; cat out; failures=$((failures + 1)); }
# What --set fixes has begun; runs of another file have no part in the seeds of this one.
sed -e 's/"small"/"fixed"/' grid.cfg >fixed.cfg
"$osafl" run fixed.cfg --quiet --jobs 2 --set quantizer.qsgd.levels=2 >/dev/null
sed -e '/^cases/,/^seeds/d' fixed.cfg >single.cfg
echo 'aggregator: { plugin = "fedavg"; }; seed = 7;' >>single.cfg
"$osafl" run single.cfg --quiet >/dev/null
"$osafl" report results/fixed >out
expect '^  quantizer\.qsgd\.levels=16: 4 runs$'
refuse 'levels=2: |^  main: '
"$osafl" report results --only name=fixed >out
refuse '^Without results'
# A name that is too long for a file's, and a pipe where the record should be.
long=$(printf 'x%.0s' $(seq 246)).cfg
cp grid.cfg "$long"
sed -i 's/"small"/"long"/' "$long"
"$osafl" run "$long" --quiet --only seed=1 --only case=Z-first >/dev/null
[ -f "results/long/grid-$(printf 'x%.0s' $(seq 200)).json" ] || { echo "FAILED: no record"; failures=$((failures + 1)); }
rm results/long/grid-*
mkfifo "results/long/grid-$(printf 'x%.0s' $(seq 200)).json"
timeout 20 "$osafl" run "$long" --quiet --only seed=1 --only case=Z-first >/dev/null
"$osafl" report results/long >out
expect '^  A-second has no results$'
# A damaged record is told; the tables are there all the same.
echo '{"grid": 1, "experiment": "part", "cells": {"a": 1}}' >results/part/grid-part.json
status=0
"$osafl" report results/part >out 2>told || status=$?
expect '^Z-first / levels = 2 +1 '
if [ $status != 1 ] || ! grep -q 'results/part/grid-part.json is not a record of a grid' told; then
    echo "FAILED: a damaged record gives status $status"
    cat told
    failures=$((failures + 1))
fi

# Runs of two machines, whose data lie elsewhere, are one row; where the data differ, two.
mkdir here there
seq 0 199 | awk 'BEGIN { print "a,b,label" } { print $1 % 7 "," $1 % 5 "," $1 % 2 }' >here/points.csv
cp here/points.csv there/
sed -e 's/"small"/"moved"/' -e 's/"glyphs"/"csv"; csv: { path = "here\/points.csv"; }/' \
    -e '/^vary/d' grid.cfg >moved.cfg
"$osafl" run moved.cfg --quiet --only seed=1 >/dev/null
"$osafl" run moved.cfg --quiet --only seed=2 --set "dataset.csv.path=$PWD/there/points.csv" >/dev/null
"$osafl" report results/moved >out
expect '^Z-first +2 '
expect '^A-second +2 '
"$osafl" run moved.cfg --quiet --only seed=1 --set "dataset.csv.path=$PWD/there/points.csv" >/dev/null
"$osafl" report results/moved >out 2>told
expect '^Z-first +2 '
[ "$(grep -c 'is the same run as' told)" = 2 ] || { echo "FAILED: a run done twice is not told"; failures=$((failures + 1)); }
sed -i '2s/.*/9,9,1/' there/points.csv
"$osafl" run moved.cfg --quiet --only seed=2 --force \
    --set "dataset.csv.path=$PWD/there/points.csv" >/dev/null
"$osafl" report results/moved >out 2>/dev/null
expect '^Z-first +1 of 2 '
expect '^Z-first \[[0-9a-f]{8}\] +1 of 2 '
# The same where other cases have other data.
sed -e 's/"small"/"mixed"/' -e 's/"fedavg"; }/&; dataset: { plugin = "csv"; csv: { path = "here\/points.csv"; }; }/' \
    -e '/^vary/d' grid.cfg >mixed.cfg
"$osafl" run mixed.cfg --quiet --only seed=1 >/dev/null
"$osafl" run mixed.cfg --quiet --only case=A-second --only seed=2 \
    --set "dataset.csv.path=$PWD/there/points.csv" >/dev/null
"$osafl" report results/mixed >out
expect '^A-second \[[0-9a-f]{8}\] +1 of 2 '

if command -v gnuplot >/dev/null; then
    "$osafl" plot results/small >out
    expect '^plots/small-levels-2-accuracy-round\.svg$'
    expect '^plots/small-levels-2-score\.svg$'
    expect '^plots/best-accuracy-levels\.svg$'
    "$osafl" plot --out deep/er --figure step_control --figure similarity results/small >out
    expect '^deep/er/small-levels-16-step_control-round\.svg$'
    expect '^deep/er/small-levels-16-similarity\.svg$'
fi

[ "$failures" = 0 ] || exit 1
echo "report_of_runs: all checks passed"
