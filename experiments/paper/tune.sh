#!/usr/bin/env bash
# tune.sh [DATA [MODEL]] [-- ARGUMENT...] - searches what the paper does not print: learning rate and
# server step of OSA-FL and of the control (M-FedAvg-tuned-step), and the learning rate of Genie, at
# s = 2 and concentration 0.3.  DATA: fashion-mnist, mnist or cifar10; MODEL: squeezenet, cnn or
# resnet18; default: Fashion-MNIST and MNIST with SqueezeNet and the CNN.
#
# Everything is judged on 10000 samples held out of the training split, with seed 1; the test set
# takes no part.  The blocks that are printed belong at the end of ../include/rates-DATA.cfg, where
# they win over what stands before; without their conditions on levels and concentration they hold
# for all tables.  About an hour on 2 cores for SqueezeNet and the CNN on one data set; again: goes
# on.  Arguments after -- go to "osafl tune", such as --max-time 2h.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
osafl=${OSAFL:-$here/../../build/osafl}
data=(fashion-mnist mnist)
models=(squeezenet cnn)
if [ $# -gt 0 ] && [ "$1" != -- ]; then data=("$1"); shift; fi
if [ $# -gt 0 ] && [ "$1" != -- ]; then models=("$1"); shift; fi
[ $# -eq 0 ] || shift

# tune FILE CASE ARGUMENT...
tune() {
    local file=$1 row=$2
    shift 2
    "$osafl" tune "$file" --only "case=$row" --only seed=1 --only "name=$name" \
        --only "model.plugin=$model" \
        --set "dataset.$plugin.validation=10000" --set evaluation.every=5 --keep 0.33 \
        --jobs "${OSAFL_JOBS:-$(nproc)}" "$@"
}

"$here/../fetch-data.sh" "${data[@]}"
for name in "${data[@]}"; do
    plugin=idx
    [ "$name" != cifar10 ] || plugin=cifar10
    for model in "${models[@]}"; do
        table=$here/table-$name-s2-c0.3.cfg
        # The same number of trials for OSA-FL and the control.  The CNN and ResNet-18, whose runs take
        # ten times as long: fewer rounds.
        rates=0.005,0.01,0.02 steps=5,10,15 shorter=()
        if [ "$model" != squeezenet ]; then
            rates=0.01,0.02,0.04 shorter=(--set rounds=15)
        fi
        tune "$table" OSA-FL --over "optimizer.sgd.learning_rate=$rates" \
            --over "aggregator.osafl.global_learning_rate=$steps" "${shorter[@]}" "$@"
        tune "$table" M-FedAvg-tuned-step --over "optimizer.sgd.learning_rate=$rates" \
            --over "aggregator.fedavg.server_learning_rate=1,1.5,2.5" "${shorter[@]}" "$@"
        tune "$table" Genie --over "optimizer.sgd.learning_rate=$rates" "${shorter[@]}" "$@"
    done
done
