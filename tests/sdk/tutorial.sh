#!/bin/bash
# tutorial.sh BUILD_DIR SOURCE_DIR CMAKE - "your first aggregator in 15 minutes" works as it is
# written, from an empty folder, and its code is that of the template.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

document=$(find "$prefix" -name FIRST_AGGREGATOR.md)
mkdir "$work/tools" "$work/user"
python3 "$source/tests/sdk/tutorial.py" "$document" "$source/sdk/template/aggregator.c" \
    "$work/tools" || fail "the document and the template differ"
if [ ! -d /usr/share/datasets/fashion-mnist ]; then
    sed -i '/--set dataset.plugin=idx/d' "$work/tools/commands.sh"
fi
cd "$work/user"
PATH=$prefix/bin:$PATH quietly bash "$work/tools/commands.sh"
for rule in my_rule fedavg; do
    [ "$(wc -l < "results/$rule/rounds.csv")" -eq 21 ] || fail "$rule did not run 20 rounds"
done
grep -q step_norm results/my_rule/rounds.csv || fail "the metric is no column"
cmp -s results/my_rule/rounds.csv results/fedavg/rounds.csv && fail "both rules are the same"
exit 0
