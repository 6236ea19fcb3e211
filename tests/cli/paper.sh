#!/bin/bash
# paper.sh OSAFL SOURCE_DIR - the paper's experiment files: all their cells resolve; where the data
# are, they pass `osafl check`, and a small table comes out; the scripts around them.
set -eu
osafl=$(realpath "$1")
source_tree=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source_tree/experiments" "$work/experiments"
rm -rf "$work/experiments/data"
cd "$work"

fail() {
    echo "FAIL: $1"
    exit 1
}

expect() { # TEXT FILE
    grep -qF -- "$1" "$2" || { cat "$2"; fail "\"$1\" is not there"; }
}

# Every cell of every file, and with the quick overlay.
cells() {
    case $1 in
    table-*) echo 63 21 ;;
    figure-ccdf) echo 90 30 ;;
    figure-quantization) echo 252 84 ;;
    figure-rounds) echo 189 63 ;;
    figure-wallclock) echo 27 9 ;;
    misprint) echo 12 4 ;;
    reading) echo 288 96 ;;
    esac
}
tables=0
for file in experiments/paper/*.cfg; do
    name=$(basename "$file" .cfg)
    "$osafl" run "$file" --list > list 2> told || { cat told; fail "$name does not resolve"; }
    "$osafl" run "$file" --overlay experiments/include/quick.cfg --list > quick
    [ "$(wc -l < list) $(wc -l < quick)" = "$(cells "$name")" ] || fail "$name has other cells"
    sed 's/^# //' "$file" | tr '\n' ' ' | grep -q "on 2 cores" || fail "$name does not say how long it takes"
    case $name in table-*) tables=$((tables + 1)) ;; esac
done
[ $tables -eq 12 ] || fail "there are $tables tables"

# A share of a cluster's array, with a scheduler that only starts what it is given.
mkdir bin
printf '#!/bin/sh\nexec "$@"\n' > bin/srun
chmod +x bin/srun
for task in 5 6 7; do
    PATH=$work/bin:$PATH OSAFL=$osafl SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_MIN=5 \
        SLURM_ARRAY_TASK_COUNT=3 bash experiments/slurm-array.sh \
        "$source_tree/tests/cli/grid.cfg" --list
done | sort -u > list
[ "$(wc -l < list)" -eq 8 ] || fail "the tasks of an array do not make the grid"

# Parts of an array: only with the number of the whole one's shares, and then the same cells.
part() {
    PATH=$work/bin:$PATH OSAFL=$osafl SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=1 \
        SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=2 bash experiments/slurm-array.sh \
        "$source_tree/tests/cli/grid.cfg" --list
}
status=0
part 3 2> told || status=$?
[ $status -eq 2 ] || fail "an array with gaps gives status $status"
expect "set SHARES" told
SHARES=3 part 3 > part
"$osafl" run "$source_tree/tests/cli/grid.cfg" --list --shard 3/3 | cmp - part ||
    fail "a part of an array runs other cells"

# Wrong words.
status=0
experiments/reproduce.sh table-nowhere 2> told || status=$?
[ $status -eq 2 ] || fail "an unknown table gives status $status"
mkdir wrong
echo "no image" > wrong/train-images-idx3-ubyte
status=0
experiments/fetch-data.sh --from wrong mnist 2> told || status=$?
[ $status -eq 1 ] || fail "wrong data give status $status"
expect "no right train-images-idx3-ubyte" told
[ ! -e experiments/data/mnist ] || fail "data that were refused left a folder"

# With data.
shared=$source_tree/../shared/data
if [ ! -d "$shared/mnist" ] || [ ! -d "$shared/cifar-10-batches-bin" ] ||
    [ ! -d /usr/share/datasets/fashion-mnist ]; then
    echo "skipped: the data sets are not all on this machine"
    exit 77
fi
mkdir -p experiments/data/mnist
ln -s "$(realpath "$shared")/cifar-10-batches-bin" experiments/data/cifar10
echo "no labels" > experiments/data/mnist/t10k-labels-idx1-ubyte
experiments/fetch-data.sh --from "$shared" 2> told || { cat told; fail "no data"; }
expect "mnist: " told
expect "fashion-mnist: " told
[ -L experiments/data/cifar10 ] || fail "data that were right were fetched again"
[ -L experiments/data/fashion-mnist ] || fail "the package's data are not linked"
[ ! -e experiments/data/mnist/t10k-labels-idx1-ubyte ] || fail "wrong data hide the right ones"
# Out of its own folder, whatever else lies there: nothing is lost.
echo "no labels" > experiments/data/mnist/t10k-labels-idx1-ubyte
rm experiments/data/fashion-mnist
mkdir experiments/data/fashion-mnist
echo "no labels" > experiments/data/fashion-mnist/t10k-labels-idx1-ubyte
experiments/fetch-data.sh --from experiments/data mnist 2> told || { cat told; fail "no own data"; }
experiments/fetch-data.sh fashion-mnist 2> told || { cat told; fail "a folder keeps the data out"; }
# From links, as content stores keep files, into a folder of links: what they lead to stays as it is.
mkdir store links linked
for file in experiments/data/mnist/*.gz; do
    cp "$file" "store/$(basename "$file" .gz).blob"
    ln -s "../store/$(basename "$file" .gz).blob" "links/$(basename "$file")"
done
echo "somebody's" > own
mkdir linked/mnist
ln -s ../../own linked/mnist/train-labels-idx1-ubyte.gz
OSAFL_DATA=$work/linked experiments/fetch-data.sh --from links mnist 2> told || { cat told; fail "no linked data"; }
[ "$(cat own)" = "somebody's" ] || fail "a file behind a link was overwritten"
[ "$(ls linked/mnist)" = "$(ls links)" ] || fail "data have other names: $(ls linked/mnist)"
# A disk that is full.
status=0
(ulimit -f 2000; trap '' XFSZ; OSAFL_DATA=$work/full experiments/fetch-data.sh --from links mnist) 2> told ||
    status=$?
if [ $status -ne 1 ] || [ -e full/mnist ]; then fail "a full disk gives status $status"; fi
rm -r store linked full

for file in experiments/paper/*.cfg; do
    name=$(basename "$file" .cfg)
    only=(--only seed=1 --only model.plugin=squeezenet)
    case $name in
    figure-ccdf) only+=(--only deadline_s=60 --only quantizer.qsgd.levels=2) ;;
    misprint) only=(--only seed=1 --only case=M-FedAvg-as-printed) ;;
    reading) only+=(--only case=M-FedDisco --only training.minibatches=8) ;; # all pixels
    figure-rounds) only+=(--only case=Genie --only name=mnist) ;;
    figure-quantization) only+=(--only case=M-FedProx --only quantizer.qsgd.levels=8) ;;
    table-fashion-mnist-s2-c0.3) ;; # all rows
    *) only+=(--only case=OSA-FL) ;;
    esac
    "$osafl" check "$file" "${only[@]}" > told 2>&1 || { cat told; fail "$name fails the check"; }
done

# A cell is what the paper says.
"$osafl" resolve experiments/paper/table-cifar10-s16-c0.3.cfg --only case=M-FedProx --only seed=2 \
    --only model.plugin=resnet18 > resolved
for setting in 'seed = 2;' 'rounds = 50;' 'deadline_s = 180.0;' 'levels = 16;' 'classes = 3;' \
    'concentration = 0.3;' 'plugin = "fedprox";' ' minibatches = 0;' 'pixels = "unit";'; do
    expect "$setting" resolved
done
expect "cifar10,resnet18,16,0.3,M-FedProx,0.4772," experiments/paper/published.csv

# Readings, laid over a table.
for reading in eight signed standard; do
    "$osafl" resolve experiments/paper/table-mnist-s2-c0.3.cfg --only case=OSA-FL --only seed=1 \
        --only model.plugin=cnn --overlay "experiments/include/reading-$reading.cfg" > resolved
    case $reading in eight) value=" minibatches = 8;" ;; *) value="pixels = \"$reading\";" ;; esac
    expect "$value" resolved
done

for pixels in signed unit standard; do
    "$osafl" resolve experiments/paper/reading.cfg --only case=M-FedDisco --only seed=1 --only name=mnist \
        --only model.plugin=cnn --only training.minibatches=8 --only "dataset.idx.pixels=$pixels" > resolved ||
        fail "reading.cfg has not one cell of $pixels"
    expect "pixels = \"$pixels\";" resolved
done

# A table of toy size: two clients, one round.
OSAFL=$osafl OSAFL_JOBS=2 experiments/reproduce.sh --quick table-fashion-mnist-s2-c0.3 -- \
    --only model.plugin=squeezenet --set rounds=1 --set clients.count=2 \
    --set training.max_local_rounds=1 --set evaluation.samples=100 > table 2> told ||
    { cat told; fail "no table"; }
for row in Genie OSA-FL "M-FedAvg " M-FedNova M-FedProx M-FedDisco M-FedAvg-tuned-step; do
    expect "$row" table
done
expect "0.8147" table # the paper's, of OSA-FL
