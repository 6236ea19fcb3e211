#!/usr/bin/env bash
# ci.sh [CMAKE-ARGUMENT...] - builds the plugin with each compiler there is, and passes its tests.
set -euo pipefail
cd "$(dirname "$0")"

tried=0
for compiler in gcc clang; do
    command -v $compiler > /dev/null || continue
    tried=$((tried + 1))
    cmake -S . -B build-$compiler -DCMAKE_C_COMPILER=$compiler -DCMAKE_C_FLAGS=-Werror "$@"
    cmake --build build-$compiler
    (cd build-$compiler && ctest --output-on-failure)
done
[ $tried -gt 0 ] || { echo "no compiler found" >&2; exit 1; }
