#!/bin/bash
# The same experiment gives the same bytes in every result file for 1, 2, 3 and 7 threads.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
settings=(--set rounds=5)
# With an instrument every sample takes long; it sees the same with few of them.
[ -z "${OSAFL_INSTRUMENTED:-}" ] || settings=(--set rounds=2 --set clients.storage=40
    --set training.minibatches=2 --set evaluation.samples=30)
results="rounds.csv clients.csv manifest.json model.safetensors resolved.cfg"

# run_with THREADS FOLDER SETTINGS...
run_with() {
    local threads=$1 folder=$2
    shift 2
    "$osafl" run "$source_tree/tests/cli/small.cfg" --quiet --threads "$threads" --out "$folder" \
        "${settings[@]}" "$@" >/dev/null
}

# same NAME SETTINGS...
same() {
    local name=$1 threads file
    shift
    for threads in 1 2 3 7; do
        run_with "$threads" "$work/$name-$threads" "$@"
        for file in $results; do
            cmp "$work/$name-1/$file" "$work/$name-$threads/$file"
        done
    done
    echo "same bytes for all numbers of threads: $name"
}

same osafl
same fedavg --set aggregator.plugin=fedavg --set model.plugin=mlp
same scaffold --set aggregator.plugin=scaffold --set optimizer.plugin=scaffold
same fedper --set aggregator.plugin=fedavg --set model.plugin=mlp --set optimizer.plugin=fedper \
    --set optimizer.fedper.learning_rate=0.02 --set evaluation.per_client=true \
    --set evaluation.client_spread=true
same krum --set aggregator.plugin=krum --set quantizer.plugin=none
same median --set aggregator.plugin=median --set quantizer.plugin=topk_sparse
same genie --set aggregator.plugin=genie
same lossy --set uplink.loss_probability=0.3 --set selection.plugin=power_of_choice --set selection.power_of_choice.share=0.5 \
    --set evaluation.per_class=true --set evaluation.per_client=true \
    --set filter.plugin=noise --set filter.noise.share=0.2
same many --set clients.count=20000 --set clients.storage=6 --set clients.arrivals=2 \
    --set selection.plugin=uniform --set selection.uniform.share=0.001 --set drift.plugin=redraw \
    --set resource.plugin=fixed

# Evaluating seldom changes no training: the same parameters behind a header that names the run.
run_with 2 "$work/seldom" --set evaluation.every=100
parameters=$((7850 * 4))
cmp <(tail -c $parameters "$work/osafl-1/model.safetensors") \
    <(tail -c $parameters "$work/seldom/model.safetensors")
