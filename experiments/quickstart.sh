#!/usr/bin/env bash
# quickstart.sh [ARGUMENT...] - from a fresh Debian machine to the first result.
#
# Installs the packages that are missing, builds the program, and runs experiments/quickstart.cfg:
# OSAFL with SqueezeNet on Fashion-MNIST. Arguments go to "osafl run"; results lie in results/
# below the working directory. Run it again to resume where an interrupted run stopped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")

"$here/build.sh" dataset-fashion-mnist
exec "$top/build/osafl" run "$here/quickstart.cfg" "$@"
