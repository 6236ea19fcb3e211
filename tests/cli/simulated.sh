#!/bin/bash
# training.enabled = false: who takes part, with what and for how much is as with training, and
# nothing is learnt.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
    "$osafl" run "$source_tree/tests/cli/small.cfg" --quiet --set rounds=6 \
        --set uplink.loss_probability=0.2 "$@" >/dev/null
}

# columns FILE NAME...: these columns of a CSV file.
columns() {
    python3 - "$@" <<'PY'
import csv, sys
rows = csv.DictReader(open(sys.argv[1]))
names = sys.argv[2:]
print(names, *([r[n] for n in names] for r in rows), sep="\n")
PY
}

run --out "$work/trained"
run --out "$work/simulated" --set training.enabled=false
decided=(round client participates reason gain local_rounds clock_hz power_w compute_s upload_s
         compute_j upload_j samples label_entropy)
cmp <(columns "$work/trained/clients.csv" "${decided[@]}") \
    <(columns "$work/simulated/clients.csv" "${decided[@]}")
spent=(round simulated_s participants mean_local_rounds uplink_payload_bits compute_j upload_j)
cmp <(columns "$work/trained/rounds.csv" "${spent[@]}") \
    <(columns "$work/simulated/rounds.csv" "${spent[@]}")
[ "$(columns "$work/simulated/rounds.csv" participants | grep -c "[1-9]")" -ge 3 ]
learnt=$(columns "$work/simulated/rounds.csv" test_accuracy uplink_air_bits train_loss | tail -n +2)
if grep -q "[0-9]" <<<"$learnt"; then
    echo "a simulation reports what was learnt: $learnt"
    exit 1
fi

# Where there is no link, nothing is left to simulate.
if run --out "$work/genie" --set training.enabled=false --set aggregator.plugin=genie \
    2>"$work/refusal"; then
    echo "a simulation of nothing was accepted"
    exit 1
fi
grep -q "training.enabled = false" "$work/refusal"
