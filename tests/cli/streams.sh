#!/bin/bash
# Terminals, pipes and standard streams: a bar on a terminal, lines elsewhere; streams that are
# closed, full or whose reader has gone harm no result; the locale changes none.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results="rounds.csv clients.csv manifest.json model.safetensors resolved.cfg"
failures=0
cd "$work"
run=("$osafl" run "$source_tree/tests/cli/small.cfg" --threads 2 --set rounds=6 --out)

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# status EXPECTED GOT WHAT
status() {
    [ "$1" = "$2" ] || fail "$3: status $2, expected $1"
}

same() {
    for file in $results; do
        cmp "whole/$file" "$1/$file" || failures=$((failures + 1))
    done
}

"${run[@]}" whole --quiet >out
[ "$(cat out)" = whole ] || fail "standard output is not the folder: $(cat out)"

echo "closed streams"
"${run[@]}" closed_err >/dev/null 2>&- || fail "no standard error: status $?"
same closed_err
[ "$(wc -l <closed_err/.lock)" -le 1 ] && ! grep -qv 'process [0-9]*$' closed_err/.lock ||
    fail "messages end in a file of the run: $(cat closed_err/.lock)"
got=0
"${run[@]}" closed_all <&- >&- 2>&- || got=$?
status 1 $got "all streams closed"
same closed_all
got=0
"$osafl" plugins >&- 2>err || got=$?
status 1 $got "plugins without standard output"
grep -q "cannot write to standard output" err || fail "no word about standard output"

echo "full streams"
for command in plugins help --help --version "resolve $source_tree/tests/cli/small.cfg" \
    "run $source_tree/tests/cli/small.cfg --quiet --set rounds=6 --out whole"; do
    got=0
    # shellcheck disable=SC2086 # the words of a command
    "$osafl" $command >/dev/full 2>err || got=$?
    status 1 $got "$command with a full standard output"
    grep -q "cannot write to standard output" err ||
        fail "$command: no word about a full standard output"
done
"${run[@]}" full_err >/dev/null 2>/dev/full || fail "a full standard error: status $?"
same full_err

echo "a reader that goes away"
"${run[@]}" gone 2>&1 | head -n 1 >/dev/null
"${run[@]}" gone --quiet >/dev/null 2>err
grep -q "this run is complete" err || fail "a reader that went away ended the run"
same gone

echo "a bar on a terminal, lines elsewhere"
terminal() { # TERM: what a terminal of this kind is shown
    rm -rf terminal
    TERM=$1 script -qec "$(printf '%q ' "${run[@]}") terminal" /dev/null </dev/null
}
terminal xterm >out
grep -q '\[##*-*\]  [0-9]*/6' out || fail "a terminal is shown no bar"
same terminal
terminal dumb >out
if grep -q '\[#' out; then fail "a dumb terminal is shown a bar"; fi
grep -q 'round 6/6  accuracy' out || fail "a dumb terminal is shown no lines"

echo "a locale with a decimal comma"
export LOCPATH=$work/locales
mkdir "$LOCPATH"
if localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" 2>/dev/null; then
    LC_ALL=de_DE.UTF-8 "${run[@]}" comma --quiet >/dev/null
    same comma
fi

[ $failures -eq 0 ] || exit 1
