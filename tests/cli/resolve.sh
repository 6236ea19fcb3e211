#!/bin/bash
# What "osafl resolve" prints is an experiment of its own, with the same identity and results; and
# data that are not there are a wrong experiment for every command.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cd "$work"
mkdir -p elsewhere

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# resolved NAME SETTINGS...: resolved and run elsewhere, it goes to the same folder's name.
resolved() {
    local name=$1 folder
    shift
    "$osafl" resolve experiment.cfg "$@" >elsewhere/resolved.cfg || fail "$name: resolve"
    folder=$("$osafl" run experiment.cfg --quiet "$@" | cat)
    (cd elsewhere && "$osafl" run resolved.cfg --quiet >/dev/null) || fail "$name: run"
    for file in rounds.csv clients.csv model.safetensors; do
        cmp "$folder/$file" "elsewhere/$folder/$file" || fail "$name: $file"
    done
    grep -q "identity $(sed -n '1s/.*identity //p' "$folder/resolved.cfg")" \
        elsewhere/resolved.cfg || fail "$name: identity"
}

cp "$source_tree/tests/cli/small.cfg" experiment.cfg
sed -i 's/^rounds = .*/rounds = 3;/' experiment.cfg
resolved "the aggregator's optimizer"
resolved "another aggregator's optimizer" --set aggregator.plugin=scaffold
resolved "a centralised one" --set aggregator.plugin=genie
resolved "a named optimizer" --set optimizer.plugin=sgd --set quantizer.plugin=none
resolved "lists and choices" --set model.plugin=mlp --set 'model.mlp.hidden=[5, 4]' \
    --set 'clients.energy_budget_j=[0.1, 1e300]' --set resource.plugin=optimal

echo "an experiment from a pipe"
"$osafl" resolve experiment.cfg | grep -v '^ *#' | sed 's/ *#.*//' >from_file
"$osafl" resolve <(cat experiment.cfg) | grep -v '^ *#' | sed 's/ *#.*//' >from_pipe
cmp from_file from_pipe || fail "a process substitution"
sed 's/^rounds = 3;/rounds = x;/' experiment.cfg | "$osafl" check /dev/stdin >out 2>&1 && fail "x passes"
grep -q '^(pipe):[0-9]*: text must be in double quotes: "x"' out || fail "a pipe: $(cat out)"
printf '' | "$osafl" check /dev/stdin >out 2>&1 && fail "nothing passes"
mkfifo named
timeout 20 "$osafl" check named >out 2>&1 && fail "a pipe that nobody writes to passes"
head -c 2000000 /dev/zero | "$osafl" check /dev/stdin >out 2>&1 && fail "2 MB pass"
grep -q "larger than 1 MiB" out || fail "2 MB: $(cat out)"
(cd elsewhere && sed 's/^seed = .*/@include "more.cfg"/' ../experiment.cfg >with_more.cfg &&
    echo 'seed = 7;' >more.cfg && "$osafl" resolve <(cat with_more.cfg)) | grep -q '^seed = 7' ||
    fail "a file that a pipe includes"

echo "data that are not there"
for command in check run resolve; do
    got=0
    "$osafl" $command experiment.cfg --set dataset.plugin=idx --set dataset.idx.path=nowhere \
        >out 2>&1 || got=$?
    [ $got -eq 2 ] || fail "$command without data: status $got"
    grep -q "$work/nowhere/train-images.*no such file.*dataset.idx.path must be" out ||
        fail "$command without data says: $(cat out)"
done

[ $failures -eq 0 ] || exit 1
