# shellcheck shell=bash disable=SC2034 # variables are for the scripts that read this
# installed.sh - for the scripts of this folder: $work, a folder that goes when they end, and
# $prefix, a fresh installation below it that has been moved after it was made.
set -euo pipefail
build=$1
source=$2
cmake=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# Runs a command quietly; what it said is shown when it fails.
quietly() {
    "$@" > "$work/quiet.log" 2>&1 || { cat "$work/quiet.log"; fail "$*"; }
}

# refused WORDS COMMAND... - the command fails and says why.
refused() {
    local words=$1
    shift
    if "$@" > "$work/refused.log" 2>&1; then
        fail "not refused: $*"
    fi
    # cmake breaks the lines of its messages.
    tr -s ' \n' ' ' < "$work/refused.log" | grep -qF -- "$words" || {
        cat "$work/refused.log"
        fail "refused without the words \"$words\": $*"
    }
}

quietly "$cmake" --install "$build" --prefix "$work/first"
prefix=$work/moved/here
mkdir -p "$work/moved"
mv "$work/first" "$prefix"
osafl=$prefix/bin/osafl

compilers=()
for compiler in gcc clang; do
    if command -v $compiler > /dev/null; then
        compilers+=("$compiler")
    fi
done
