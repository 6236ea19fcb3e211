#!/usr/bin/env bash
# make_installed_readme.sh README.md - writes it as it is installed: without what only a source tree
# has, and with links to where things are below the prefix.
set -euo pipefail
sed -e '/^## Start$/,/^## Use$/{/^## Use$/!d}' \
    -e '/^## Layout$/,/^## Writing/{/^## Writing/!d}' \
    -e '/^    experiments\/reproduce.sh/d' \
    -e '/tests\/bench/d' -e '/ctest --test-dir build -R/d' \
    -e '/^!\[/d' -e '/^(Drawn by `osafl plot` from stored runs/,/RESULTS.md).)$/d' \
    -e 's#\[\(tests/product/reference.py\)\]([^)]*)#\1 of the source tree#' \
    -e 's/^## Use$/&\n\nPREFIX is the folder below which the program is installed, with `PREFIX\/bin` in the PATH./' \
    -e 's#build/osafl #osafl #' \
    -e 's#^\(    osafl [^#]*\) experiments/#\1 PREFIX/share/osafl/experiments/#' \
    -e 's#\[experiments/README.md\](experiments/README.md)#[experiments](../../osafl/experiments)#' \
    -e 's#](sdk/examples#](../../osafl/examples#' \
    -e 's#](sdk/#](#' \
    -e 's#](experiments/#](../../osafl/experiments/#' \
    -e 's#](plugins/#](../../osafl/plugins/#' \
    -e 's#](include/#](../../../include/#' \
    -e 's# (`cmake --install build --prefix ~/osafl`)##' "$1"
