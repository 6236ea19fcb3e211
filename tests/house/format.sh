#!/bin/bash
# format.sh SOURCE-TREE: every C file is as clang-format 14 leaves it (.clang-format).  Other
# releases break lines elsewhere, so that without this one the test is skipped.  What clang-format
# does not see of the dialect (CONTRIBUTING.md) is looked for here: `i++` where the value is
# unused, and no `T *const` for a local.
set -u
cd "$1" || exit 1
dialect='(^ +|; )(\+\+|--)[A-Za-z_][^;=]*(;$|\) )'
dialect+='|^ +(const )?(struct )?[a-z_0-9]+ \*const [a-z_0-9]+ ='
if other=$(grep -rnE --include='*.[ch]' "$dialect" include core plugins sdk tests); then
    echo "not in the dialect of CONTRIBUTING.md:"
    echo "$other"
    exit 1
fi
for tool in clang-format-14 clang-format; do
    if command -v "$tool" >/dev/null && "$tool" --version | grep -q "version 14\."; then
        find include core plugins sdk tests \( -name '*.c' -o -name '*.h' \) -print0 |
            xargs -0 -n 20 -P 2 "$tool" --dry-run --Werror
        exit
    fi
done
echo "skipped: clang-format 14 is not installed (apt install clang-format-14)"
exit 77
