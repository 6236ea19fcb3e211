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
    sed -i 's/plugin = "idx"; idx.*/plugin = "glyphs"; };/' "$work/tools/commands.sh"
fi
cd "$work/user"
PATH=$prefix/bin:$PATH quietly bash "$work/tools/commands.sh"
for case in mine FedAvg; do
    for rounds in results/compare/"$case"/seed-{1,2}-*/rounds.csv; do
        [ "$(wc -l < "$rounds")" -eq 21 ] || fail "$rounds has not 20 rounds"
    done
done
accuracies() {
    cut -d, -f3 results/compare/"$1"/seed-1-*/rounds.csv
}
grep -q step_norm results/compare/mine/seed-1-*/rounds.csv || fail "the metric is no column"
diff -q <(accuracies mine) <(accuracies FedAvg) > /dev/null && fail "both rules are the same"
exit 0
