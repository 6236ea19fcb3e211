#!/usr/bin/env bash
# quickstart.sh [ARGUMENT...] - from a fresh Debian machine to the first result.
#
# Installs the packages that are missing, builds the program, and runs experiments/quickstart.cfg:
# OSAFL with SqueezeNet on Fashion-MNIST. Arguments go to "osafl run"; results lie in results/
# below the working directory. Run it again to go on where an interrupted run stopped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")

"$here/need-packages.sh" build-essential cmake ninja-build pkg-config libconfig-dev \
    libopenblas-dev libjansson-dev zlib1g-dev librandom123-dev libxxhash-dev \
    dataset-fashion-mnist

build="$top/build"
[ -f "$build/build.ninja" ] || cmake -S "$top" -B "$build" -G Ninja -DOSAFL_TESTS=OFF >/dev/null
echo "Building ..." >&2
cmake --build "$build" -- -j "$(nproc)" --quiet
exec "$build/osafl" run "$here/quickstart.cfg" "$@"
