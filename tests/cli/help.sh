#!/bin/bash
# What "osafl help" and wrong names answer: topics beside groups and plugins, and the way onward.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# says TEXT COMMAND...: the text is in what the command prints, right or wrong.
says() {
    local text=$1 printed
    shift
    printed=$("$@" 2>&1) || true
    if ! grep -qF -- "$text" <<<"$printed"; then
        echo "FAILED: $*: not \"$text\" but"
        echo "$printed"
        failures=$((failures + 1))
    fi
}

for topic in grid seeds cases vary where; do
    says "seeds = [1, 2];" "$osafl" help "$topic"
    says 'key = "quantizer.qsgd.levels"; values = [2, 4];' "$osafl" help "$topic"
done
says "grid " "$osafl" help
says "results " "$osafl" help
says "Global rounds T" "$osafl" help rounds
says "Clients U" "$osafl" help clients.count
says 'did you mean "aggregator/fedavg"?' "$osafl" help fedavg
says 'did you mean "seeds"?' "$osafl" help sedds

small=$source_tree/tests/cli/small.cfg
says 'several: seeds = [1, 2]' "$osafl" check "$small" --set 'seed=[1,2]'
says 'see osafl help grid' "$osafl" check "$small" --set sweep=3
says 'published numbers are no settings any more; remove the group' "$osafl" check "$small" \
    --set paper.accuracy_mean=0.5
says 'cases, vary, seeds, where, clients' "$osafl" check "$small" --set foobarbaz=3
says 'did you mean model.plugin = "mlp"?' "$osafl" check "$small" --set model=mlp
says 'did you mean "mlp"?' "$osafl" check "$small" --set model.plugin=Mlp

# Every column that a run writes is explained.
"$osafl" run "$small" --quiet --set rounds=1 --out "$work/run" >"$work/log" 2>&1
"$osafl" help results >"$work/results.txt"
for table in rounds clients timing; do
    for column in $(head -1 "$work/run/$table.csv" | tr , ' '); do
        case $column in test_* | validation_*) continue ;; esac
        grep -q "^  $column " "$work/results.txt" || echo "$column"
    done
done >"$work/missing"
for kind in aggregator quantizer resource channel deletion optimizer model dataset; do
    for name in $("$osafl" plugins "$kind" | sed -n 's/^  \([a-z0-9_]*\).*/\1/p'); do
        "$osafl" help "$kind/$name"
    done
done | sed -n 's/^  \([a-z0-9_]*\)  *per \(client\|round\) .*/\1/p' | sort -u >"$work/metrics"
while read -r column; do
    grep -qx "$column" "$work/metrics" || {
        echo "FAILED: nothing explains the column $column"
        failures=$((failures + 1))
    }
done <"$work/missing"

[ "$failures" -eq 0 ]
