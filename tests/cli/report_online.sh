#!/usr/bin/env bash
# report_online.sh OSAFL SOURCE-TREE - online measures and recovery in "osafl report", on result folders
# made by hand.
# shellcheck source=../support/report_test.sh
source "$2/tests/support/report_test.sh"

# Before round 3 the mean of two rounds is 0.7.  With a margin of 0.05, falls begins in round 4 and is
# back in round 6 with its first seed and never with its second; steady never falls.
python3 - <<'PYTHON'
import pathlib
from make import cell
root = pathlib.Path("results")
series = {("falls", 1): [.5, .7, .7, .68, .4, .6, .66, .7], ("falls", 2): [.5, .6, .8, .9, .2, .3, .4, .5],
          ("steady", 1): [.5, .7, .7, .65, .7, .7, .7, .8], ("steady", 2): [.5, .7, .7, .7, .7, .7, .7, .7]}
for place, ((case, seed), accuracy) in enumerate(series.items()):
    cell(root, "online", case, seed, accuracy, [1.0] * 8, rounds=8, place=place,
         settings={"aggregator.plugin": f'"{case}"'})
for table in sorted(root.glob("online/*/*/rounds.csv")):
    lines = table.read_text().splitlines()
    seed = 1 if "seed-1-" in str(table) else 2
    first = 0.25 if "steady" in str(table) else 0.5
    lines[0] += ",prequential_accuracy,mix_forgetting"
    for t in range(8):  # the first round has no forgetting
        lines[1 + t] += ",%g,%s" % (first + 0.25 * (seed - 1) * (t == 7), "" if t == 0 else 0.01 * t)
    table.write_text("\n".join(lines) + "\n")
cell(pathlib.Path("plain"), "offline", "A", 1, [0.5] * 4, [1.0] * 4)
PYTHON

all=(results --recover 3 --before 2 --margin 0.05)
expect_line 0 '^falls +1 of 2 +3\.0$' "${all[@]}"
expect_line 0 '^steady +2 of 2 +0\.0 . 0\.0$' "${all[@]}"
expect_line 0 'back within 0.05 of the mean over up to 2 rounds before' "${all[@]}"
# What comes from the next change on does not count.
expect_line 0 '^falls +0 of 2 +- +2 of 2 +0\.0 . 0\.0$' results --recover 3,6 --before 2 --margin 0.05
# The mean over 7 rounds: in the last one seed 1 is better at once, seed 2 worse.
expect_line 0 '^\| falls +\| 1 of 2 +\| +0\.0 \|' results --recover 7 --before 7 --margin 0 --format markdown
expect_line 0 'falls *& *1 of 2 *& *3\.0' "${all[@]}" --format latex
# By a measure of which less is better: it rises by 0.01 a round and does not come back.
expect_line 0 'Rounds to recover: mix_forgetting' results --recover 3 --measure mix_forgetting --margin 0.015
expect_line 0 '^falls +0 of 2 +-$' results --recover 3 --measure mix_forgetting --margin 0.015
expect_line 2 '^osafl report: --recover 8: the runs have rounds 0 to 7' results --recover 8
expect_line 2 'must be whole numbers from 1 on that ascend' results --recover 5,5
expect_line 2 'must be whole numbers from 1 on' results --recover 0
expect_line 2 'must be a number from 0 on' results --recover 3 --margin -1
expect_line 2 '^osafl report: --margin needs --recover' results --margin 0.1
expect_line 2 '^osafl report: --before needs --recover' results --before 5
expect_line 2 '--recover makes a table of the report' results --recover 3 --format csv

# Online measures: the mean over the rounds, and the last one, over seeds.
expect_line 0 '^Online measures, mean over the rounds' results
expect_line 0 '^falls +0\.5156 . 0\.0221 +0\.0400 . 0\.0000$' results
expect_line 0 '^falls +0\.6250 . 0\.1768 +0\.0700 . 0\.0000$' results
expect_line 0 '^steady +37\.50 . 17\.68 +7\.00 . 0\.00$' results --percent
expect_line 0 'mix\\_forgetting' results --format latex
expect_line 0 '^Online measures, last round' results
expect_line 0 'Best prequential_accuracy over the rounds' results --measure prequential_accuracy
expect_line 0 '^falls +2 +0\.6250 .* \+0\.2500 +none: all equal ' results \
    --measure prequential_accuracy --against steady
expect_line 0 ',prequential_accuracy,0\.625,' results --measure prequential_accuracy --format csv
expect_line 2 'no such measure; did you mean "mix_forgetting"' results --measure mix_forgeting
expect_line 0 'accuracy' plain
if grep -q Online out; then
    echo "FAILED: a table of online measures that the runs lack"
    failures=$((failures + 1))
fi
[ $failures -eq 0 ]
