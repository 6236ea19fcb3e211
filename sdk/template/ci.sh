#!/usr/bin/env bash
# ci.sh [CMAKE-ARGUMENT...] - builds the plugin with each compiler there is, and passes its tests.
set -euo pipefail
cd "$(dirname "$0")"

tried=0
for compilers in gcc,g++ clang,clang++; do
    compiler=${compilers%,*}
    command -v "$compiler" > /dev/null || continue
    tried=$((tried + 1))
    CC=$compiler CXX=${compilers#*,} CFLAGS=-Werror CXXFLAGS=-Werror \
        cmake -S . -B "build-$compiler" "$@"
    cmake --build "build-$compiler"
    (cd "build-$compiler" && ctest --output-on-failure)
done
[ $tried -gt 0 ] || { echo "no compiler found" >&2; exit 1; }
