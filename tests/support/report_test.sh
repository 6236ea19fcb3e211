# report_test.sh - for tests of "osafl report" whose arguments are OSAFL SOURCE-TREE: source it first.  It
# works in a folder of the test's own, where tests/golden/report/make.py can be imported; the last output
# is in the file out, and failures counts what went wrong.
# shellcheck shell=bash
set -euo pipefail
osafl=$1
golden=$2/tests/golden/report
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$golden PYTHONDONTWRITEBYTECODE=1
cd "$work"
failures=0

expect_match() { # GREP-OPTION STATUS PATTERN ARGUMENT...
    local option=$1 status=$2 pattern=$3 got=0
    shift 3
    "$osafl" report "$@" >out 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -q"$option" -- "$pattern" out; then
        echo "FAILED: osafl report $*: status $got, expected $status and \"$pattern\" in:"
        cat out
        failures=$((failures + 1))
    fi
}
# expect STATUS TEXT ARGUMENT...: the command's exit status, and what is in its whole output;
# expect_line the same, with an extended regular expression.
expect() { expect_match F "$@"; }
expect_line() { expect_match E "$@"; }
