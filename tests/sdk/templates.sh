#!/bin/bash
# templates.sh BUILD_DIR SOURCE_DIR CMAKE - for each kind, the project that "osafl plugin new" writes
# configures, builds without a warning, keeps the rules and runs, with each compiler; what would
# overwrite or lead astray is refused.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

cd "$work"
for kind in dataset model channel resource optimizer quantizer deletion aggregator; do
    "$osafl" plugin new $kind my_$kind > told || fail "no project for a $kind"
    grep -qF -- "-DCMAKE_PREFIX_PATH=$prefix" told || fail "the prefix is not told: $(cat told)"
    if grep -rn '@[a-z]*@' my_$kind; then
        fail "a placeholder is left"
    fi
    quietly my_$kind/ci.sh -DCMAKE_PREFIX_PATH="$prefix"
    "$osafl" plugins $kind --plugin-dir my_$kind/build-"${compilers[0]}"/plugins |
        grep -q " my_$kind *0.1.0" || fail "the $kind is not listed"
done

refused 'did you mean "quantizer"' "$osafl" plugin new quantiser other
refused 'is no name of a plugin' "$osafl" plugin new quantizer ../other
refused 'is no name of a plugin' "$osafl" plugin new quantizer Other
refused 'exists; name another folder' "$osafl" plugin new quantizer my_quantizer
refused 'cannot be made' "$osafl" plugin new quantizer other no/such/folder
refused 'one argument too many' "$osafl" plugin new quantizer a b c
refused 'an argument is missing' "$osafl" plugin new quantizer
refused 'unknown command "plugin make"' "$osafl" plugin make
[ ! -e other ] || fail "a refused command left something behind"
