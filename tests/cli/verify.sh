#!/bin/bash
# "osafl verify" computes kept runs again and says what differs or lacks; "osafl pack" makes an
# archive on which it works.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# verify STATUS TEXT ARGUMENT...: exit status, and a text that is printed.
verify() {
    local wanted=$1 text=$2 status=0
    shift 2
    "$osafl" verify --quiet --threads 1 "$@" >"$work/out" 2>&1 || status=$?
    [ $status -eq "$wanted" ] || fail "verify $* ended with $status, not $wanted: $(cat "$work/out")"
    grep -qF -- "$text" "$work/out" || fail "verify $* does not say \"$text\": $(cat "$work/out")"
    [ -z "$(ls "$TMPDIR")" ] || fail "verify $* leaves files in TMPDIR"
}

small() { # FOLDER ARGUMENT...
    local folder=$1
    shift
    "$osafl" run "$source_tree/tests/cli/small.cfg" --quiet --out "$folder" --set rounds=6 \
        --set checkpoint_every=2 "$@" >/dev/null
}

small "$work/run"
before=$(cd "$work/run" && cksum ./* | sort)
verify 0 "the same: rounds 0 to 5, rounds.csv, clients.csv, data.json, model.safetensors" "$work/run"
[ "$before" = "$(cd "$work/run" && cksum ./* | sort)" ] || fail "verify changes the run"

# One round, drawn from those that the start and the checkpoint after round 3 reach: both come up in
# so many tries.
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    verify 0 "the same: rounds " "$work/run" --rounds 1
    grep -qE "rounds (0 to [01]|4 to [45]), rounds.csv" "$work/out" || fail "drawn: $(cat "$work/out")"
    cat "$work/out"
done | sort | uniq -c >"$work/drawn"
grep -q "rounds 0 to [01]," "$work/drawn" || fail "no draw begins with round 0: $(cat "$work/drawn")"
grep -q "rounds 4 to [45]," "$work/drawn" || fail "no draw begins at a checkpoint: $(cat "$work/drawn")"
verify 0 "the same: rounds 0 to " "$work/run" --rounds 5
grep -qE "rounds 0 to [23] and 4 to [45], rounds.csv, clients.csv$" "$work/out" || fail "five: $(cat "$work/out")"
verify 0 "the same: rounds 0 to 5, rounds.csv, clients.csv, data.json, model.safetensors" "$work/run" --rounds 6
cp -r "$work/run" "$work/bare"
rm "$work/bare"/checkpoint.?
verify 0 "the same: rounds 0 to 2, rounds.csv, clients.csv" "$work/bare" --rounds 3
grep -qF "only its first rounds: there is no checkpoint" "$work/out" || fail "no word of the checkpoints"
# A fault behind the checkpoint is found from there.
cp -r "$work/run" "$work/late"
sed -i '7s/,[^,]*$/,7/' "$work/late/rounds.csv"
for try in 1 2 3 4 5 6 7 8; do # round 5 is drawn in five of six
    "$osafl" verify --quiet "$work/late" --rounds 5 || true
done >"$work/drawn"
grep -q "differs: rounds.csv, round 5: " "$work/drawn" || fail "a late fault: $(cat "$work/drawn")"

# What differs is named.
spoilt() { # NAME SED-COMMAND FILE
    rm -rf "$work/$1"
    cp -r "$work/run" "$work/$1"
    sed -i "$2" "$work/$1/$3"
}
spoilt row '4s/^2,[^,]*,/2,7,/' rounds.csv
verify 1 'differs: rounds.csv, round 2: simulated_s was kept as "7" and is "' "$work/row"
spoilt client '3s/,1,,/,0,lost,/' clients.csv
verify 1 'differs: clients.csv, round 0, client 1: participates was kept as "0" and is "1"' \
    "$work/client"
spoilt short '$d' rounds.csv
verify 1 "differs: rounds.csv ends early" "$work/short"
rm "$work/short/model.safetensors" # now it looks like a run that was stopped
verify 0 "the same: rounds 0 to 4, rounds.csv, clients.csv" "$work/short"
spoilt hole '3d' rounds.csv
verify 1 "hole: damaged: $work/hole/rounds.csv:3: expected round 1; rounds are missing" "$work/hole"
spoilt junk '3s/.*/junk/' rounds.csv
verify 1 "junk: damaged: $work/junk/rounds.csv:3: 1 field where the header has" "$work/junk"
spoilt broken '5s/.*/junk/' clients.csv
verify 1 "differs: clients.csv:5: the row kept has 1 of " "$work/broken"
cp -r "$work/run" "$work/model"
printf 'x' | dd of="$work/model/model.safetensors" bs=1 seek=2000 conv=notrunc status=none
verify 1 "differs: model.safetensors, at byte 2000" "$work/model"

# Some columns, and some files, of a run that another version made.
mkdir "$work/thin"
cut -d, -f1-3 "$work/run/clients.csv" >"$work/thin/clients.csv"
cp "$work/run/rounds.csv" "$work/thin"
sed 's/"file_xxh3": "[0-9a-f]*"/"file_xxh3": "0"/' "$work/run/manifest.json" >"$work/thin/manifest.json"
verify 0 "rounds.csv, 3 of " "$work/thin"
grep -q "made otherwise: the file of osafl was 0 and is" "$work/out" || fail "no word of the program"
sed -i '1s/client,/customer,/' "$work/thin/clients.csv"
verify 1 "clients.csv has a column customer, which this program does not write" "$work/thin"

# What it lacks: a plugin, a setting, the data, rounds.
spoilt plugin 's/"\\"osafl\\""/"\\"gone\\""/' manifest.json
verify 2 "lacks something: " "$work/plugin"
grep -q 'gone' "$work/out" || fail "the plugin is not named"
spoilt setting 's/"uplink.loss_probability"/"uplink.wind"/; s/"origin": "default"/"origin": "a.cfg:1"/' \
    manifest.json
verify 2 "this version has no setting uplink.wind, which is 0.0" "$work/setting"
spoilt value '/"uplink.loss_probability"/{n;s/"0.0"/"2.0"/;}' manifest.json
verify 2 "manifest.json: uplink.loss_probability" "$work/value"
spoilt data 's/\("samples of dataset[^"]*": "\)[0-9a-f]*/\10000/' manifest.json
verify 2 "lacks something: the content of samples of dataset/" "$work/data"
spoilt empty '2,$d' rounds.csv
verify 2 "no round of it is kept" "$work/empty"
verify 2 "holds no results" "$TMPDIR"
verify 2 "must be a whole number" "$work/run" --rounds 0

# Several runs: one line for each, and a sum.
mkdir "$work/many"
cp -r "$work/run" "$work/row" "$work/plugin" "$work/junk" "$work/many"
verify 1 "4 runs: 1 the same, 2 different or damaged, 1 lacking something" "$work/many"

# An archive, and what it unpacks to.
cd "$work"
"$osafl" run "$source_tree/tests/cli/grid.cfg" --quiet --results base --set rounds=2 >/dev/null
grid=$(ls base)
"$osafl" pack "base/$grid" run --out kept.tar.xz >"$work/out" 2>&1
grep -q "kept.tar.xz: " "$work/out" || fail "pack: $(cat "$work/out")"
! grep -q "without a source" "$work/out" || fail "a source is missing: $(cat "$work/out")"
"$osafl" pack "base/$grid" run --out again.tar.gz >/dev/null
mkdir unpacked
tar -xJf kept.tar.xz -C unpacked
for file in README.txt plugins.json "experiments/grid.cfg" "results/run/model.safetensors" \
    sources/aggregator/osafl.c; do
    [ -s "unpacked/kept/$file" ] || fail "the archive has no $file"
done
ls "unpacked/kept/results/$grid"/grid-*.json >/dev/null || fail "no record of the grid"
! find unpacked -name 'checkpoint.*' | grep -q . || fail "checkpoints are packed"
python3 -m json.tool unpacked/kept/plugins.json >/dev/null || fail "plugins.json is no JSON"
diff -r "base/$grid" "unpacked/kept/results/$grid" | grep -v 'Only in base.*\(checkpoint\|lock\)' && fail "other files"
verify 0 " the same, 0 different or damaged, 0 lacking something" unpacked/kept/results
"$osafl" report unpacked/kept/results >/dev/null || fail "no report of what was packed"

# Plugins whose sources are nowhere are named.
sed -i 's/"name": "osafl",/"name": "elsewhere",/' unpacked/kept/results/run/manifest.json
"$osafl" pack unpacked/kept/results/run --out foreign.tar.gz 2>"$work/out" >/dev/null
grep -qF "without a source: aggregator/elsewhere; name folders that hold them with --sources" "$work/out" ||
    fail "no word of a missing source: $(cat "$work/out")"

packs() { # STATUS TEXT ARGUMENT...
    local wanted=$1 text=$2 status=0
    shift 2
    "$osafl" pack "$@" >"$work/out" 2>&1 || status=$?
    [ $status -eq "$wanted" ] || fail "pack $* ended with $status, not $wanted"
    grep -qF -- "$text" "$work/out" || fail "pack $* does not say \"$text\": $(cat "$work/out")"
}
packs 2 "kept.tar.xz is there already" run --out kept.tar.xz
packs 2 "ends in .tar.xz or .tar.gz" run --out kept.zip
packs 2 "--out is missing" run
packs 2 "--out nowhere/kept.tar.xz: there is no folder nowhere; create it first" run --out nowhere/kept.tar.xz
packs 1 "tar could not write" run --out /proc/kept.tar.xz

# A run of experiments/paper/results, where its data and a processor of its kind are at hand.  A
# sanitizer has the baseline's kernels alone, whose sums round otherwise.
data=/usr/share/datasets/fashion-mnist
if [ -d $data ] && grep -q avx512f /proc/cpuinfo && ! nm "$osafl" | grep -qE '__(a|t)san_init'; then
    tar -xJf "$source_tree/experiments/paper/results/algorithms.tar.xz" -C "$work" ./algorithms/OSAFL
    verify 0 "the same: rounds 0 to 0, rounds.csv, 4 of 18 columns of clients.csv" \
        "$work/algorithms" --rounds 1 --set dataset.idx.path=$data
    grep -q "the version of osafl was 0.9.0" "$work/out" || fail "no word of the version"
fi

[ $failures -eq 0 ]
