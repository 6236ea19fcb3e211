#!/usr/bin/env bash
# run.sh TARGET|all [INPUTS] - builds the fuzzers with clang and gives each target so many new
# inputs (default 20000), on OSAFL_JOBS cores (default 2).
#
# The tree is build-fuzz below the source tree, or OSAFL_FUZZ_TREE; inputs that reached something
# new stay in its folder inputs/TARGET, a fault's input lands in faults/, and inputs.log adds up
# what was run. Exit status 1: a fault was found. To keep its input as a test:
#     fuzz_TARGET -minimize_crash=1 -runs=100000 -exact_artifact_path=SMALL FAULT
#     cp SMALL tests/fuzz/corpus/TARGET/fault-WHAT
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -9; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
tree=${OSAFL_FUZZ_TREE:-$top/build-fuzz}
wanted=$1
inputs=${2:-20000}
jobs=${OSAFL_JOBS:-2}

targets=()
for source in "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    [ "$name" = fuzz_support ] || targets+=("${name#fuzz_}")
done
if [ "$wanted" != all ]; then
    [ -f "$here/fuzz_$wanted.c" ] || { echo "targets: ${targets[*]}" >&2; exit 2; }
    targets=("$wanted")
fi

cmake -S "$top" -B "$tree" -G Ninja -DCMAKE_C_COMPILER=clang -DOSAFL_FUZZ=ON \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
cmake --build "$tree" --target "${targets[@]/#/fuzz_}" -- -j "$jobs" --quiet

export OPENBLAS_NUM_THREADS=1
export ASAN_OPTIONS=quarantine_size_mb=8:allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$here/leaks.txt:print_suppressions=0
mkdir -p "$tree/faults"

# One target; exit status 1: a fault was found.
fuzz() {
    local target=$1 options=() log=$tree/faults/$1.log result=passed run
    mkdir -p "$tree/inputs/$target"
    case $target in
    experiment) options=("-dict=$here/dictionaries/experiment" -max_len=1000) ;;
    set) options=("-dict=$here/dictionaries/experiment" -max_len=500) ;;
    results) options=("-dict=$here/dictionaries/json" -max_len=4000) ;;
    manifest) options=("-dict=$here/dictionaries/json" -max_len=2000) ;;
    network) options=("-dict=$here/dictionaries/network" -max_len=700) ;;
    engine | instance | kept | world) options=(-max_len=300) ;;
    quantizer | records | trace | whole_table | table | csv_table | npy | idx | libsvm | zip) options=(-max_len=1000) ;;
    esac
    "$tree/tests/fuzz/fuzz_$target" -runs="$inputs" -timeout=30 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$tree/faults/$target-" "${options[@]}" \
        "$tree/inputs/$target" "$here/corpus/$target" >"$log" 2>&1 || result=FAULT
    run=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$(date -u +%FT%TZ) $target ${run:-0} $result" | tee -a "$tree/inputs.log"
    [ $result = passed ] || { grep -v '^#' "$log" | tail -40; return 1; }
}

# As many targets at once as there are jobs.
export -f fuzz
export tree here inputs
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz {}' || exit 1
