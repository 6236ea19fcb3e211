#!/bin/bash
# What a run does with its folder: a complete run, another run, another process, damaged
# checkpoints, a full disk, a program or machine that has changed.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results="rounds.csv clients.csv manifest.json model.safetensors resolved.cfg"
failures=0

# expect STATUS PATTERN COMMAND...: exit status, and a text in the command's whole output.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qF -- "$pattern" "$work/out"; then
        echo "FAILED: $*: status $got, expected $status and \"$pattern\" in:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
}

compare() {
    for file in $results; do
        cmp "$work/whole/$file" "$1/$file" || failures=$((failures + 1))
    done
}

run=("$osafl" run "$source_tree/tests/cli/small.cfg" --quiet --threads 2 --out)
"${run[@]}" "$work/whole" >/dev/null

# A run that stopped with two checkpoints, at least; an instrumented program takes longer for that.
stopped() {
    local hundredths=15
    rm -rf "$1"
    until [ -e "$1/checkpoint.1" ]; do
        "${run[@]}" "$1" --max-time "$(printf 0.%02d $hundredths)" >/dev/null 2>&1 || true
        hundredths=$((hundredths < 80 ? hundredths + 5 : 80))
    done
    [ ! -e "$1/model.safetensors" ] || stopped "$1"
}

echo "a complete run is left alone"
before=$(cd "$work/whole" && stat -c '%n %y %s' ./*)
expect 0 "this run is complete" "${run[@]}" "$work/whole"
[ "$before" = "$(cd "$work/whole" && stat -c '%n %y %s' ./*)" ] || {
    echo "FAILED: a complete run was touched"
    failures=$((failures + 1))
}

echo "another run's folder is refused, and overwritten with --force"
expect 2 "--force" "${run[@]}" "$work/whole" --set seed=8
compare "$work/whole"
cp -r "$work/whole" "$work/forced"
expect 0 "" "${run[@]}" "$work/forced" --set seed=8 --force
cmp -s "$work/whole/rounds.csv" "$work/forced/rounds.csv" && {
    echo "FAILED: --force left the other run's results"
    failures=$((failures + 1))
}
mkdir "$work/foreign"
echo "round,value" >"$work/foreign/rounds.csv"
expect 2 "without a manifest" "${run[@]}" "$work/foreign"
grep -q "round,value" "$work/foreign/rounds.csv"

echo "two processes never share a folder"
"${run[@]}" "$work/shared" --set rounds=100000 >/dev/null 2>&1 &
process=$!
until [ -e "$work/shared/rounds.csv" ]; do sleep 0.02; done
expect 1 "another process is working in" "${run[@]}" "$work/shared" --set rounds=100000
kill -9 $process
wait $process 2>/dev/null || true

echo "a damaged newest checkpoint leaves the one before"
for damage in truncated empty flipped; do
    stopped "$work/damaged"
    newest=$(ls -t "$work"/damaged/checkpoint.? | head -n 1)
    case $damage in
    truncated) truncate -s 1000 "$newest" ;;
    empty) : >"$newest" ;;
    flipped) printf 'x' | dd of="$newest" bs=1 seek=5000 conv=notrunc status=none ;;
    esac
    expect 0 "the previous one is used" "${run[@]}" "$work/damaged"
    compare "$work/damaged"
done
stopped "$work/damaged"
truncate -s 1000 "$work"/damaged/checkpoint.?
expect 1 "nor can the other checkpoint" "${run[@]}" "$work/damaged"
expect 0 "" "${run[@]}" "$work/damaged" --force
compare "$work/damaged"

if grep -q __tsan_init "$osafl"; then # its shadow memory is a file, which the limit cuts off
    echo "skipped under the thread sanitizer: a full disk"
    sizes=
else
    echo "a full disk is an error with a remedy, and the run goes on later"
    sizes="2 8 24 50" # of 1 KiB; the limit on a file's size stands for a full disk
fi
for blocks in $sizes; do
    rm -rf "$work/full"
    status=0
    (
        trap '' XFSZ
        ulimit -f $blocks
        exec "${run[@]}" "$work/full"
    ) >"$work/out" 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -q "cannot write $work/full/.*; .*" "$work/out"; then
        echo "FAILED: a full disk ends in status $status:"
        cat "$work/out"
        failures=$((failures + 1))
    fi
    expect 0 "" "${run[@]}" "$work/full"
    compare "$work/full"
done

echo "a folder that cannot be made is named, with the reason"
touch "$work/file"
ln -s nowhere "$work/broken"
expect 1 "cannot create the folder /dev/null: a file has that name" "${run[@]}" /dev/null/folder
expect 1 "cannot create the folder $work/file: a file has that name" "${run[@]}" "$work/file"
expect 1 "cannot create the folder $work/broken: a file has that name" "${run[@]}" "$work/broken"
expect 1 "cannot create the folder /proc/none: " "${run[@]}" /proc/none/folder

echo "a folder that goes away is an error"
"${run[@]}" "$work/gone" --set rounds=100000 >"$work/log" 2>&1 &
process=$!
until [ -e "$work/gone/checkpoint.0" ]; do sleep 0.02; done
mv "$work/gone" "$work/moved"
status=0
wait $process || status=$?
[ $status -eq 1 ] && grep -q "cannot write $work/gone/" "$work/log" || {
    echo "FAILED: a folder that went away gave status $status:"
    cat "$work/log"
    failures=$((failures + 1))
}

echo "a program that has changed is refused unless the user accepts it"
stopped "$work/changed"
plugins=$(dirname "$osafl")/plugins
mkdir -p "$work/plugins/aggregator"
cp "$plugins/aggregator/osafl.so" "$work/plugins/aggregator"
printf 'x' >>"$work/plugins/aggregator/osafl.so" # the same code under another hash
expect 2 "--accept-changes" "${run[@]}" "$work/changed" --plugin-dir "$work/plugins"
expect 0 "" "${run[@]}" "$work/changed" --plugin-dir "$work/plugins" --accept-changes
cmp "$work/whole/rounds.csv" "$work/changed/rounds.csv"
grep -q "aggregator" "$work/changed/changes.txt"

# A program built anew has another file; this one runs as before, with a byte behind its end.
cp "$osafl" "$work/osafl"
printf 'x' >>"$work/osafl"
anew=("$work/osafl" run "$source_tree/tests/cli/small.cfg" --quiet --threads 2
      --plugin-dir "$plugins" --out)
stopped "$work/anew"
expect 2 "the file of osafl was " "${anew[@]}" "$work/anew"
expect 2 " and is " "${anew[@]}" "$work/anew"
expect 2 "; --accept-changes resumes anyway, --force starts over" "${anew[@]}" "$work/anew"
expect 0 "" "${anew[@]}" "$work/anew" --accept-changes
cmp "$work/whole/rounds.csv" "$work/anew/rounds.csv"
grep -q "the file of osafl was " "$work/anew/changes.txt"
grep -q "\"program_file\": \"$work/osafl\"" "$work/anew/environment.json"

echo "a complete run is left alone by a changed program, with a word"
before=$(cd "$work/whole" && stat -c '%n %y %s' ./*)
expect 0 "is complete, but since it began the file of osafl was " "${anew[@]}" "$work/whole"
expect 0 "--force runs it again" "${anew[@]}" "$work/whole" --accept-changes
[ "$before" = "$(cd "$work/whole" && stat -c '%n %y %s' ./*)" ] || {
    echo "FAILED: a changed program touched a complete run"
    failures=$((failures + 1))
}

[ $failures -eq 0 ] || exit 1
