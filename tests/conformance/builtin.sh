#!/bin/bash
# builtin.sh PROGRAM PLUGIN_DIR SOURCE_DIR GROUP... - every built-in plugin passes these checks.
set -euo pipefail
program=$1
plugins=$2
source=$3
only=()
for group in "${@:4}"; do only+=(--only "$group"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$source/tests/conformance/make_data.py" "$work"

status=0
checked=0
check() { # FILE SETTINGS...
    local file=$1 settings=() setting
    shift
    for setting in "$@"; do settings+=(--set "$setting"); done
    settings+=("${samples[@]}")
    checked=$((checked + 1))
    # Long enough for an instrumented program on a busy machine.
    "$program" plugin check --quiet --time-limit 300 "${only[@]}" "${settings[@]}" "$file" \
        > "$work/log" 2>&1 || {
        cat "$work/log"
        status=1
    }
}

# The layers of resnet18 with an eighth of its channels, for model/network.
narrow() {
    sed -n '/layers = (/,/);/p' "$source/experiments/networks/resnet18.cfg" |
        sed -e '1s/.*(/(/; $s/).*/)/' -e 's/conv = 64;/conv = 8;/; s/conv = 128;/conv = 16;/' \
            -e 's/conv = 256;/conv = 32;/; s/conv = 512;/conv = 64;/'
}

# resnet18's 11 million parameters take an instrument minutes: it is watched where memory is asked
# for and where its gradient is made, and everywhere else its layers are narrow.
check_resnet18() { # FILE GROUP...
    local file=$1
    shift
    [ -z "${OSAFL_INSTRUMENTED:-}" ] || check "$plugins/model/network.so" layers="$(narrow)"
    case "${OSAFL_INSTRUMENTED:-} $* " in
    " "* | *" life "* | *" model "*) check "$file" ;;
    esac
}

for file in "$plugins"/*/*.so; do
    # An instrument makes large models slow: it watches them on small pictures.
    samples=()
    case ${OSAFL_INSTRUMENTED:-}$file in
    1*/model/cnn.so | 1*/model/mlp.so | 1*/model/resnet18.so)
        samples=(--shape 1x8x8 --target class:10)
        ;;
    esac
    case $file in
    */dataset/idx.so) check "$file" path="$work" ;;
    */dataset/cifar10*.so) check "$file" path="$work" ;;
    */dataset/csv.so)
        check "$file" path="$work/table.csv" label=kind client=who time=when
        check "$file" path="$work/mixed.csv" separator=semicolon decimal=comma categorical=town \
            missing=mean
        ;;
    */dataset/libsvm.so) check "$file" path="$work/sparse.txt" ;;
    */dataset/npy.so)
        check "$file" x="$work/x.npy" y="$work/y.npy" client="$work/client.npy" \
            time="$work/time.npy"
        check "$file" x="$work/x.npy" y="$work/y.npy"
        ;;
    */model/resnet18.so) check_resnet18 "$file" "${@:4}" ;;
    */model/network.so)
        check "$file" 'layers=({ conv = 4; kernel = 3; relu = true; }, { max_pool = 2; },
            { dropout = 0.5; }, { linear = "classes"; })'
        ;;
    */channel/tr38901.so | */channel/logdistance.so)
        check "$file"
        check "$file" fading=rician speed_m_per_s="[1.0, 30.0]" pause_s="[0.0, 20.0]" spatially_consistent=true
        ;;
    */channel/trace.so) check "$file" path="$work/gains.csv" ;;
    */arrival/trace.so) check "$file" path="$work/arrivals.csv" at_end=cycle ;;
    */partition/assigned.so) check "$file" path="$work/owners.csv" ;;
    *) check "$file" ;;
    esac
    # Nothing is left out for want of a setting.
    if grep -q "needs a value" "$work/log"; then
        cat "$work/log"
        status=1
    fi
done
echo "$checked plugins"
[ $checked -ge 43 ] || status=1
exit $status
