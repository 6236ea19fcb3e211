#!/bin/bash
# clients.csv of a run is a trace for channel/trace: the same gains, and so the same run again; and clients
# that move stand where they would after an interruption.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
    "$osafl" run "$source_tree/tests/cli/small.cfg" --quiet --set rounds=4 "$@" >/dev/null
}

run --out "$work/drawn" --set channel.plugin=tr38901
run --out "$work/replayed" --set channel.plugin=trace --set channel.trace.layout=long \
    --set channel.trace.path="$work/drawn/clients.csv"
for file in rounds.csv clients.csv; do
    cmp "$work/drawn/$file" "$work/replayed/$file"
done

# One round more than the trace has: refused, unless the setting says what follows.
if run --out "$work/longer" --set rounds=5 --set channel.plugin=trace \
    --set channel.trace.layout=long --set channel.trace.path="$work/drawn/clients.csv" \
    2>"$work/refusal"; then
    echo "a trace that is too short was accepted"
    exit 1
fi
grep -q "holds 4 rounds, the experiment needs 5" "$work/refusal"
run --out "$work/longer" --set rounds=5 --set channel.plugin=trace --set channel.trace.at_end=hold \
    --set channel.trace.layout=long --set channel.trace.path="$work/drawn/clients.csv"

# The overlays of experiments, in one go and in two: 8 rounds go on from the 5 of another run.
mobile() {
    cat "$source_tree"/experiments/include/{channel-mobile,link-costs}.cfg >"$work/both.cfg"
    "$osafl" run "$source_tree/tests/cli/small.cfg" --set aggregator.osafl.final_step=1.0 \
        --overlay "$work/both.cfg" "$@" >"$work/told" 2>&1
}
mobile --out "$work/moved" --rounds 8
mobile --results "$work/parts" --rounds 5
mobile --results "$work/parts" --rounds 8 --threads 3
grep -q "going on from the run of 5 rounds" "$work/told"
for file in rounds.csv clients.csv; do
    resumed=$(find "$work/parts" -name $file -size "$(stat -c %s "$work/moved/$file")c")
    cmp "$work/moved/$file" "$resumed"
done
if cmp -s <(cut -d, -f5 "$work/moved/clients.csv" | head -20) <(cut -d, -f5 "$work/drawn/clients.csv" | head -20); then
    echo "the overlays change nothing"
    exit 1
fi
