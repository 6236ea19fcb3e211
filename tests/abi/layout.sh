#!/bin/bash
# layout.sh PROGRAM SOURCE_DIR - the layout of the public structs is the recorded one.
set -eu
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" > "$work/layout.txt" || { cat "$work/layout.txt"; exit 1; }

status=0
if ! diff -u "$source/tests/abi/layout.txt" "$work/layout.txt"; then
    echo "The layout of the public structs has changed.  If that is meant, raise OSAFL_ABI_MINOR in"
    echo "include/osafl/base.h, tell it in sdk/CHANGES.md, and record it:"
    echo "$program > tests/abi/layout.txt"
    status=1
fi
# Every struct and union of the headers is in the record.
sed -nE 's/^(typedef )?(struct|union) (osafl_[a-z0-9_]+) \{.*/\3/p' "$source"/include/osafl/*.h |
    sort > "$work/declared"
sed -nE 's/^(osafl_[a-z0-9_]+) .*/\1/p' "$work/layout.txt" | sort > "$work/printed"
if ! diff "$work/declared" "$work/printed"; then
    echo "tests/abi/layout.c does not list the public structs (<: only in the headers)"
    status=1
fi
exit $status
