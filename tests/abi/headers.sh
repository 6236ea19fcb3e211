#!/bin/bash
# headers.sh SOURCE_DIR - each public header compiles by itself, as C11 and as C++17, with each
# compiler there is, without a warning and without padding.
set -u
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

c_flags=(-Wstrict-prototypes -Wmissing-prototypes)
common_flags=(-fsyntax-only "-I$source/include" -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wcast-qual -Wundef -Wpadded -Werror)
status=0
compilations=0

try() { # COMPILER LANGUAGE STANDARD HEADER FLAGS...
    local compiler=$1 language=$2 standard=$3 header=$4
    shift 4
    command -v "$compiler" > /dev/null || return 0
    compilations=$((compilations + 1))
    # Twice: the guard must hold.
    printf '#include "osafl/%s"\n#include "osafl/%s"\n' "$header" "$header" > "$work/alone.in"
    if ! "$compiler" -x "$language" -std="$standard" "${common_flags[@]}" "$@" "$work/alone.in"; then
        echo "$header does not compile alone: $compiler -std=$standard"
        status=1
    fi
}

for path in "$source"/include/osafl/*.h "$source"/include/osafl/*.hpp; do
    header=$(basename "$path")
    for compiler in gcc clang; do
        [[ $header != *.hpp ]] || continue
        try $compiler c c11 "$header" "${c_flags[@]}"
    done
    for compiler in g++ clang++; do
        try $compiler c++ c++17 "$header"
    done
done

# A C++ plugin can be written: the entry point is declared with C linkage.
printf '%s\n' '#include "osafl/deletion.h"' \
    'static osafl_plugin p;' \
    'const osafl_plugin *osafl_plugin_entry_v0(void) { return &p; }' > "$work/entry.cc"
if command -v g++ > /dev/null; then
    g++ -std=c++17 "-I$source/include" -c "$work/entry.cc" -o "$work/entry.o" &&
        nm "$work/entry.o" | grep -q ' T osafl_plugin_entry_v0$' || {
        echo "osafl_plugin_entry_v0 has no C linkage in C++"
        status=1
    }
fi

if [ $compilations -eq 0 ]; then
    echo "no compiler found: skipped"
    exit 77
fi
echo "$compilations compilations"
exit $status
