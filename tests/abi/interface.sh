#!/bin/bash
# interface.sh SOURCE_DIR [record] - the types of the interface, down to the arguments of every
# operation, are the recorded ones (interface.abi). With "record", records them.
set -eu
source=$1
record=$source/tests/abi/interface.abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ "$(uname -m)" = x86_64 ] || { echo "recorded on another machine: skipped"; exit 77; }
for tool in gcc abidw abidiff; do
    command -v $tool > /dev/null || { echo "no $tool here: skipped"; exit 77; }
done
gcc -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden "-I$source/include" \
    "$source/tests/abi/interface.c" -o "$work/libinterface.so"

if [ "${2:-}" = record ]; then
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path "$work/libinterface.so" > "$record"
    exit 0
fi
if ! abidiff --no-show-locs "$record" "$work/libinterface.so"; then
    echo "The plugin interface has changed.  If that is meant, raise OSAFL_ABI_MINOR in"
    echo "include/osafl/base.h, tell it in sdk/CHANGES.md, and record it:"
    echo "tests/abi/interface.sh . record"
    exit 1
fi

# The guard can fail: a member more is told.
cp -r "$source/include" "$work/include"
sed -i 's/    double deadline_s; .*t_th.*/&\n    double something_new;/' "$work/include/osafl/plugin.h"
gcc -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden "-I$work/include" \
    "$source/tests/abi/interface.c" -o "$work/libchanged.so"
if abidiff --no-show-locs "$record" "$work/libchanged.so" > /dev/null; then
    echo "a new member of osafl_facts goes unnoticed"
    exit 1
fi
