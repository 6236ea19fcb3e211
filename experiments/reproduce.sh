#!/usr/bin/env bash
# reproduce.sh [--quick] TARGET... [-- ARGUMENT...] - a table or figure of the paper, computed.
#
# TARGET is the name of a file in experiments/paper/ without .cfg: table-mnist-s2-c0.3,
# figure-ccdf, ...; "list" lists them.  Builds the program where it is missing, gets the data, runs
# what has not run yet (again: goes on where it stopped), and prints the table, or draws the figure
# below plots/.  --quick: a small and short run of minutes, in results-quick/.  Arguments after --
# go to "osafl run", such as --only model.plugin=squeezenet.  OSAFL: the program, OSAFL_JOBS: cells
# that run side by side (default: one for each CPU).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
out=results
plots="plots"
quick=()
targets=()

while [ $# -gt 0 ]; do
    case $1 in
    --quick)
        out=results-quick
        plots="plots-quick"
        quick=(--overlay "$here/include/quick.cfg")
        ;;
    --)
        shift
        break
        ;;
    list)
        for file in "$here"/paper/*.cfg; do basename "$file" .cfg; done
        exit 0
        ;;
    -*)
        echo "reproduce.sh: $1 is unknown; arguments of osafl run follow after --" >&2
        exit 2
        ;;
    *)
        if [ ! -f "$here/paper/$1.cfg" ]; then
            echo "reproduce.sh: there is no $1; \"reproduce.sh list\" lists what there is" >&2
            exit 2
        fi
        targets+=("$1")
        ;;
    esac
    shift
done
if [ ${#targets[@]} -eq 0 ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi

osafl=${OSAFL:-$top/build/osafl}
[ -x "$osafl" ] || "$here/build.sh"

# data_of TARGET: the data sets that it needs.
data_of() {
    case $1 in
    *-fashion-mnist-*) echo fashion-mnist ;;
    *-mnist-* | misprint) echo mnist ;;
    *-cifar10-* | figure-ccdf | figure-quantization) echo cifar10 ;;
    reading) echo fashion-mnist mnist ;;
    *) echo cifar10 fashion-mnist mnist ;;
    esac
}

status=0

# try COMMAND...: where a part of the cells was run, only a part can be shown.
try() {
    "$@" || status=1
}

# show TARGET: its table or figure, from the results.
show() {
    local slice=(--only quantizer.qsgd.levels=2 --only partition.dirichlet.concentration=0.3)
    local into="$plots/$1"
    [[ $1 != figure-* ]] || mkdir -p "$into"
    local name model levels
    case $1 in
    table-*)
        [[ $1 =~ ^table-(.+)-s([0-9]+)-c([0-9.]+)$ ]]
        "$osafl" report --published "$here/paper/published.csv" "$out/${BASH_REMATCH[1]}" \
            --only "quantizer.qsgd.levels=${BASH_REMATCH[2]}" \
            --only "partition.dirichlet.concentration=${BASH_REMATCH[3]}"
        ;;
    figure-rounds)
        for name in cifar10 fashion-mnist mnist; do
            try "$osafl" plot --out "$into" "$out/$name" "${slice[@]}" --figure accuracy
        done
        ;;
    figure-wallclock)
        for name in cifar10 fashion-mnist mnist; do
            try "$osafl" plot --out "$into" "$out/$name" "${slice[@]}" --only case=OSA-FL \
                --figure accuracy --against time
        done
        ;;
    figure-quantization)
        for model in squeezenet cnn resnet18; do
            try "$osafl" plot --out "$into/$model" "$out/cifar10" --only partition.dirichlet.concentration=0.3 \
                --only "model.plugin=$model" --figure quantization
        done
        ;;
    figure-ccdf)
        for model in squeezenet cnn resnet18; do
            for levels in 2 16; do
                try "$osafl" plot --out "$into/$model-s$levels" "$out/ccdf" --figure ccdf \
                    --only "model.plugin=$model" --only "quantizer.qsgd.levels=$levels"
            done
        done
        ;;
    reading)
        python3 "$here/paper/compare.py" reading "$out"
        ;;
    *)
        for name in $(data_of "$1"); do
            try "$osafl" report --published "$here/paper/published.csv" "$out/$name" "${slice[@]}"
        done
        ;;
    esac
}

for target in "${targets[@]}"; do
    # shellcheck disable=SC2046 # names without blanks
    "$here/fetch-data.sh" $(data_of "$target")
    run=0
    "$osafl" run "$here/paper/$target.cfg" "${quick[@]}" --results "$out" \
        --jobs "${OSAFL_JOBS:-$(nproc)}" "$@" > /dev/null || run=$?
    # A cell that failed leaves a gap in the table; nothing to show is another matter.
    [ $run -ne 2 ] && [ $run -ne 3 ] || exit $run
    [ $run -eq 0 ] || status=$run
    show "$target"
done
exit $status
