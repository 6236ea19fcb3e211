#!/usr/bin/env bash
# commands.sh OSAFL SOURCE-TREE - words of the command line: help, lists, wrong usage.
set -euo pipefail
osafl=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect STATUS PATTERN ARGUMENT...: the exit status, and a line of the whole output.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$osafl" "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qE -- "$pattern" "$work/out"; then
        echo "FAILED: osafl $*: status $got, expected $status and \"$pattern\" in:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

expect 2 'Usage: osafl COMMAND'
expect 0 'Usage: osafl COMMAND' --help
expect 0 '^osafl [0-9]+\.[0-9]+\.[0-9]+ \(plugin interface [0-9]+\.[0-9]+\)' --version
expect 2 'unknown command "rnu"; did you mean "run"\?' rnu
expect 2 'unknown command "--frob"; see osafl --help' --frob
for command in run check resolve plugins help; do
    expect 0 "Usage: osafl $command" $command --help
    expect 2 "osafl $command: unrecognized option '--frob'" $command --frob
done

expect 2 'osafl run: an argument is missing' run
expect 2 'osafl resolve: "b" is one argument too many' resolve a b
for threads in 0 -1 x 2x 99999 ''; do
    expect 2 "--threads $threads: must be a whole number" run --threads="$threads" a.cfg
done
for time in 0 -5 x 5d 1e99 nan ''; do
    expect 2 "--max-time $time: must be a time" run --max-time="$time" a.cfg
done
expect 2 '--out: a folder is missing' run --out= a.cfg
expect 2 'a.cfg: cannot be read: No such file' run --threads 3 --max-time 2h "$work/a.cfg"
expect 2 'a.cfg: cannot be read: No such file' resolve "$work/a.cfg"
expect 2 "$work: cannot be read: not a regular file" check "$work"
expect 2 '--plugin-dir /does/not/exist: No such file' plugins --plugin-dir /does/not/exist

expect 0 '^aggregator: how do the updates' plugins
expect 0 '^  fedavg +[0-9]+\.[0-9]+\.[0-9]+ ' plugins aggregator
expect 2 '"agregator" is no kind of plugin; did you mean "aggregator"\?' plugins agregator
expect 2 '"what" is no kind of plugin' plugins what

expect 0 '^  rounds  +int ' help
expect 0 '^  storage +int \[1, 2147483647\] = 400 ' help clients
expect 0 '^  osafl ' help aggregator
expect 0 '^  global_learning_rate  real .* = ' help aggregator/osafl
expect 0 '^settings, in the group aggregator.osafl' help aggregator.osafl
expect 0 '^  score +per client' help aggregator/osafl
expect 0 '^version +[0-9.]+, for ABI' help aggregator/osafl
expect 0 '^file +/.*/aggregator/osafl.so' help aggregator/osafl
expect 0 '^no settings' help quantizer/none
expect 0 ', required ' help dataset/idx
expect 2 'no aggregator plugin is called "oasfl"; did you mean "osafl"\?' help aggregator/oasfl
expect 2 'there is no help on "clinets"; did you mean "clients"\?' help clinets
expect 2 'there is no help on "agregator/osafl"; did you mean "aggregator"\?' help agregator/osafl

# Help fits a terminal, and nothing trails.
for topic in '' clients dataset/idx channel/tr38901 optimizer/sgd; do
    "$osafl" help ${topic:+"$topic"} >"$work/out"
    sed -n '/^settings/,/^$/p' "$work/out" | grep -E '.{101}' && failures=$((failures + 1))
    grep -nE ' $' "$work/out" && failures=$((failures + 1))
done

# Output that cannot be written is a failure.
if [ -e /dev/full ]; then
    status=0
    "$osafl" plugins >/dev/full 2>"$work/out" || status=$?
    [ "$status" = 1 ] || { echo "FAILED: a full disk gives status $status"; failures=1; }
fi

exit "$((failures > 0))"
