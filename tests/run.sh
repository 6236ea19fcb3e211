#!/usr/bin/env bash
# run.sh [--full] - builds osafl and passes its tests.
#
# Plain: a release build with gcc and the whole suite (under 10 minutes on 2 cores).
# --full: before that, a clang build, the address/undefined and thread sanitizers, and the checks
#         that need more tools (within 30 minutes). The plain suite comes last, and so does its
#         summary.
# Build trees are build-tests/NAME below the source tree. OSAFL_JOBS sets the number of jobs.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
jobs=${OSAFL_JOBS:-$(nproc)}
full=0
for argument in "$@"; do
    case $argument in
    --full) full=1 ;;
    *) echo "usage: $0 [--full]" >&2; exit 2 ;;
    esac
done

packages=(build-essential cmake ninja-build pkg-config libconfig-dev libopenblas-dev
          libjansson-dev zlib1g-dev librandom123-dev libxxhash-dev libcmocka-dev python3 file
          dataset-fashion-mnist gnuplot-nox xz-utils)
[ $full = 0 ] || packages+=(clang strace valgrind abigail-tools shellcheck libopenmpi-dev openmpi-bin)
"$top/experiments/need-packages.sh" "${packages[@]}"

# suite NAME CTEST-ARGUMENTS -- CMAKE-ARGUMENTS: builds into build-tests/NAME and runs ctest there.
# What is built is in $targets.
targets=(all)
suite() {
    local name=$1 tree="$top/build-tests/$1" ctest_arguments=()
    shift
    while [ "$1" != -- ]; do ctest_arguments+=("$1"); shift; done
    shift
    echo "== $name"
    cmake -S "$top" -B "$tree" -G Ninja -DOSAFL_TESTS=ON -DOSAFL_WERROR=ON "$@" >/dev/null
    cmake --build "$tree" --target "${targets[@]}" -- -j "$jobs" --quiet
    (cd "$tree" && ctest -j "$jobs" --output-on-failure "${ctest_arguments[@]}")
}

if [ $full = 1 ]; then
    # The tests that another compiler can change; those of the SDK put plugins built by gcc into a
    # program built by clang. The conformance kit tries the same plugins below, under sanitizers and
    # in the release build.
    suite clang \
        -R '^(unit|abi|fuzz)|cli.(determinism|resume)|sdk.(examples|templates)' -- \
        -DCMAKE_C_COMPILER=clang
    traced=(-DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O1 -g1" "-DCMAKE_CXX_FLAGS=-O1 -g1")
    export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1
    # All that can run with an instrument, which is what CMake adds then; symbols, limits of memory
    # and failing allocations are skipped there. Warnings about values are no errors, because gcc
    # takes instrumented code for suspicious. Left out for their time: cli.paper, which reads many
    # files in one and the same way, and product.networks, which trains what unit.network tries.
    # The ranks of MPI take few runs, and what its libraries leave behind is no leak of ours
    # (tests/cli/ranks.supp).
    export OSAFL_KILLS=1 # what a kill leaves behind does not depend on the instrument
    suite address -E '^(cli.paper|product.networks)$' -- \
        -DOSAFL_WERROR=OFF -DOSAFL_SANITIZE=address,undefined "${traced[@]}"
    # Under the thread sanitizer run the tests in which several threads are at work, and only they
    # are built; one thread has no race.
    threaded=(pool plugin_host engine train updates saved_state aggregator_laws quantizer_adaptive
              quantizer_codes quantizer_qsgd model_plugins results progress)
    targets=(osafl plugins/all tests/faults/all "${threaded[@]/#/test_}")
    commands='determinism|resume|grid|run_folder|streams|simulated'
    suite thread \
        -R "^(faults|conformance.threads|unit.($(IFS='|'; echo "${threaded[*]}"))\$|cli.($commands)\$)" -- \
        -DOSAFL_WERROR=OFF -DOSAFL_SANITIZE=thread "${traced[@]}"
    targets=(all)
    unset OSAFL_KILLS
    echo "== fuzz"
    OSAFL_FUZZ_TREE="$top/build-tests/fuzz" "$top/tests/fuzz/run.sh" all 20000
fi
[ $full = 0 ] || export OSAFL_TEST_FULL=1 # more kills and faults, and valgrind
suite release -- -DCMAKE_BUILD_TYPE=Release
