#!/bin/bash
# includes.sh SOURCE_DIR - who may include what: plugins, templates and examples see the public
# headers and their own files (tests/house holds the rooms of the core and the conformance kit);
# file names are unique, so that a name in a message or a comment means one file.
set -u
cd "$1" || exit 1
status=0

complain() {
    echo "$1"
    status=1
}

# check ROOT - each quoted include of ROOT is osafl/*.h or a file below ROOT: beside the one that
# includes it, or anywhere, found through a target's include folders.
check() {
    local root=$1 file header
    [ -d "$root" ] || return 0
    while IFS=: read -r file header; do
        case $header in
        osafl/*) [ ! -f "include/$header" ] || continue ;;
        *)
            # A way up must not lead out of the root.
            [[ "$(realpath -m "$(dirname "$file")/$header")" != "$PWD/$root"/* ]] ||
                [ ! -f "$(dirname "$file")/$header" ] || continue
            [ -z "$(find "$root" -path "*/$header" -print -quit)" ] || continue
            ;;
        esac
        complain "$file includes \"$header\", which is not for $root/"
    done < <(grep -rHoE --include='*.[ch]' '^ *# *include "[^"]+"' "$root" |
        sed -E 's/^([^:]+): *# *include "([^"]+)"/\1:\2/')
}

for root in include plugins sdk/template sdk/examples; do
    check $root
done

names=$(git ls-files 2> /dev/null) || names=
[ -n "$names" ] || names=$(find CMakeLists.txt core include plugins sdk tests experiments -type f \
    2> /dev/null)
# Files of tests/abi/kept are those of another version.
names=$(grep -v '^tests/abi/kept/' <<< "$names")
twice=$(printf '%s\n' "$names" | grep -E '\.[ch]$' | sed 's|.*/||' | sort | uniq -d)
# plugins/KIND/NAME.c is named after the plugin, and tests may have one of the same name.
for name in $twice; do
    places=$(printf '%s\n' "$names" | grep -E "(^|/)$name\$" | grep -cvE '^plugins/[a-z]+/[a-z0-9_]+\.c$')
    [ "$places" -eq 0 ] || complain "several files are called $name:
$(printf '%s\n' "$names" | grep -E "(^|/)$name\$")"
done
exit $status
