#!/bin/bash
# caught.sh PROGRAM BAD_DIR SOURCE_DIR - each bad plugin is caught by the check that its first line
# names, each check catches one, and the verdicts come out right as text and in TAP.
set -euo pipefail
program=$1
bad=$2
source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

complain() {
    echo "$*"
    status=1
}

expect_caught() { # CHECK FILE
    if "$program" plugin check --only "$1" "$2" > "$work/log" 2>&1; then
        complain "$2 is not caught by $1:"
        cat "$work/log"
    elif ! grep -q "^  FAIL  $1 " "$work/log"; then
        complain "$2 fails, but not by $1:"
        cat "$work/log"
    fi
    echo "$1" >> "$work/covered"
}

for text in "$source"/tests/conformance/bad/*/*.c; do
    # The comment may be broken anywhere.
    check=$(head -4 "$text" | tr '\n' ' ' | sed -nE 's/ +\* +/ /g; s/.*Caught by ([a-z_.]+)\. *\*\/.*/\1/p')
    [ -n "$check" ] || { complain "$text names no check"; continue; }
    kind=$(basename "$(dirname "$text")")
    expect_caught "$check" "$bad/$kind/$(basename "$text" .c).so"
done
# Those that the loader meets.
expect_caught load.entry "$bad/deletion/no_entry.so"
expect_caught load.process "$bad/deletion/rounding_on_load.so"
for name in other_minor other_name lacks_operation null_entry; do
    expect_caught describe.tables "$bad/deletion/$name.so"
done
expect_caught life.defaults "$bad/deletion/rounding_in_create.so"
expect_caught life.defaults "$bad/deletion/locale_in_create.so"
echo "no shared object" > "$work/text.so"
expect_caught file.format "$work/text.so"

# A check that is left out is named, and does not fail.
"$program" plugin check --skip model.gradient "$bad/model/forgets_bias.so" > "$work/log" ||
    complain "--skip does not leave a check out: $(cat "$work/log")"
grep -q "skip  model.gradient  *left out by --skip" "$work/log" || complain "--skip is not told"

# Crashes and ends of the program are verdicts, and not the end of the kit.
"$program" plugin check "$bad/deletion/crash_on_load.so" > "$work/log" && complain "a crash passes"
grep -q 'signal 11' "$work/log" || complain "a crash is not told: $(cat "$work/log")"
"$program" plugin check "$bad/deletion/exit_on_load.so" > "$work/log" && complain "an exit passes"
grep -q 'exit status 3' "$work/log" || complain "an exit is not told: $(cat "$work/log")"
"$program" plugin check --time-limit 0.3 --only load.entry "$bad/deletion/hang_on_load.so" \
    > "$work/log" && complain "a hang passes"
grep -q 'within 0.3 s' "$work/log" || complain "a hang is not told: $(cat "$work/log")"

# A reason is told once, with its remedy; what hangs does not hang for the full time in every check.
told() { # WORDS FILE
    "$program" plugin check --quiet --time-limit 20 "$2" > "$work/log" 2>&1 && complain "$2 passes"
    grep -qF -- "$1" "$work/log" || complain "$2 is not told \"$1\": $(cat "$work/log")"
}
told 'FAIL  file.exports             for the reason that file.format gives' "$work/text.so"
told 'did you mean "scale_free"?; there are: sole_update, mean' "$bad/aggregator/misspells_feature.so"
told 'rand (draw by host->random_fill())' "$bad/deletion/calls_rand.so"
told 'leaves out the feature "sole_update"' "$bad/aggregator/halves_sole.so"
told 'set optimizer to' "$bad/aggregator/declares_nothing.so"
told 'fails in' "$bad/channel/fails_wordlessly.so"
begun=$SECONDS
"$program" plugin check --time-limit 5 "$bad/deletion/hang_on_load.so" > "$work/log" &&
    complain "a hang passes"
[ $((SECONDS - begun)) -le 15 ] || complain "a hang lasts $((SECONDS - begun)) s: $(cat "$work/log")"

# Models are tried on the samples that are asked for.
models=$(dirname "$(dirname "$bad")")/plugins/model
check_model() { "$program" plugin check --only model "$@" "$models/logistic.so" > "$work/log" 2>&1; }
check_model --shape 2x3x4 --target class:7 || complain "--shape is refused: $(cat "$work/log")"
check_model --target real:3 && complain "a classifier learns real numbers"
grep -q 'again: .* --shape 1x28x28 --target real:3 ' "$work/log" ||
    complain "the samples are not told: $(cat "$work/log")"

# Every check is there for something.
"$program" plugin check --list | awk '{print $1}' | sort > "$work/all"
sort -u "$work/covered" > "$work/caught"
diff "$work/all" "$work/caught" || complain "checks (<) that catch no bad plugin"

# TAP: a plan, a line for each check, and what failed why.
"$program" plugin check --tap --only deletion --seed 5 "$bad/deletion/chooses_twice.so" \
    > "$work/tap" && complain "a failure has exit status 0"
for line in 'TAP version 13' '1..1' 'not ok 1 - deletion.positions' '  rule: R18' '  seed: 5'; do
    grep -qxF -- "$line" "$work/tap" || complain "TAP lacks \"$line\": $(cat "$work/tap")"
done
refused() { # WORDS ARGUMENTS...
    "$program" plugin check "${@:2}" > "$work/log" 2>&1 && complain "not refused: ${*:2}"
    grep -qF -- "$1" "$work/log" || complain "refused without \"$1\": $(cat "$work/log")"
}
refused "no such check or group" --only nonsense "$bad/deletion/leaks.so"
refused "a file is missing" --only file
for shape in 0 3x 3y4 1x2x3x4x5 x 99999999; do
    refused "must be 1 to 4 sizes" --shape "$shape" "$bad/deletion/leaks.so"
done
for target in 5 class: real:0 class:2x yes; do
    refused "must be class:N or real:N" --target "$target" "$bad/deletion/leaks.so"
done
refused "needs --shape" --integers "$bad/deletion/leaks.so"
refused "must be KEY=VALUE" --set x "$bad/deletion/leaks.so"
refused "unknown setting" --only life.defaults --set bandwith=1 "$bad/channel/negative_gain.so"
refused "No such file" "$work/nothing.so"
exit $status
