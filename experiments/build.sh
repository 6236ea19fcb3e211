#!/usr/bin/env bash
# build.sh - installs the packages that are missing and builds the program in build/.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")

"$here/need-packages.sh" build-essential cmake ninja-build pkg-config libconfig-dev \
    libopenblas-dev libjansson-dev zlib1g-dev librandom123-dev libxxhash-dev "$@"

build="$top/build"
[ -f "$build/CMakeCache.txt" ] || cmake -S "$top" -B "$build" -G Ninja -DOSAFL_TESTS=OFF >/dev/null
echo "Building ..." >&2
cmake --build "$build" -- -j "$(nproc)" --quiet
