#!/bin/bash
# grid.sh OSAFL SOURCE_DIR - grids: the same bytes however their cells are run, failures and crashes
# that stop nobody else, interruption, shares.
set -eu
osafl=$1
grid=$2/tests/cli/grid.cfg
saboteurs=$(dirname "$osafl")/tests/faults/plugins
run=("$osafl" run "$grid" --set rounds=10)   # in many ways
long=("$osafl" run "$grid" --set rounds=120) # to be interrupted
if [ -n "${OSAFL_INSTRUMENTED:-}" ]; then # every round and every sample take long
    run=("$osafl" run "$grid" --set rounds=4 --set clients.storage=40 --set training.minibatches=2
        --set evaluation.samples=30)
    long=("$osafl" run "$grid" --set rounds=40)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $1"
    exit 1
}

expect() { # TEXT FILE
    grep -qF -- "$1" "$2" || { cat "$2"; fail "\"$1\" is not there"; }
}

# same FOLDER: every result in it is that of the reference.
same() {
    (cd "$work/one" && find . -name rounds.csv -o -name clients.csv -o -name model.safetensors) |
        sort > "$work/files"
    [ "$(wc -l < "$work/files")" -eq 24 ] || fail "there are not 8 cells with 3 files"
    while read -r file; do
        cmp "$work/one/$file" "$1/$file" || fail "$file differs"
    done < "$work/files"
}

# One after the other, side by side, and in shares that meet in one folder.
"${run[@]}" --quiet --threads 2 --out "$work/one" > "$work/folders"
[ "$(sort -u "$work/folders" | wc -l)" -eq 8 ] || fail "8 cells do not have 8 folders"
expect "small" "$work/folders"
while read -r folder; do
    [ -f "$folder/model.safetensors" ] || fail "$folder is no finished run"
done < "$work/folders"
"${run[@]}" --threads 2 --jobs 3 --out "$work/three" > /dev/null 2> "$work/told"
same "$work/three"
expect "[8/8] " "$work/told"
expect "osafl report $work/three/small prints" "$work/told"
for shard in 1 2 3; do
    "${run[@]}" --shard $shard/3 --list >> "$work/list"
    "${run[@]}" --quiet --shard $shard/3 --out "$work/shards" > /dev/null
done
same "$work/shards"
[ "$(sort -u "$work/list" | wc -l)" -eq 8 ] || fail "the shares do not make the grid"
expect "small, M-FedAvg, levels 4, seed 2" "$work/list"

# A single cell of a grid lies where it lies among the others, in the folder of results.
"${run[@]}" --quiet --results "$work/single" --only case=OSA-FL --only quantizer.qsgd.levels=4 \
    --only seed=2 > "$work/folders"
[ "$(wc -l < "$work/folders")" -eq 1 ] || fail "the conditions leave another number of cells"
folder=$(cat "$work/folders")
cmp "$folder/rounds.csv" "$work/one/${folder#"$work/single/"}/rounds.csv" || fail "another place"
"${run[@]}" --quiet --results "$work/one//" --only case=OSA-FL --only seed=2 \
    --only quantizer.qsgd.levels=4 > "$work/told"
grep -qF "$work/one/small/" "$work/told" || fail "slashes at the end of a folder stay"
"${run[@]}" --quiet --shard 9/9 --results "$work/none" 2> "$work/told"
expect "this share has no cells" "$work/told"
status=0
"${run[@]}" --results "$folder" --only seed=1 > "$work/told" 2>&1 || status=$?
[ $status -ne 0 ] || fail "runs are put into the folder of a run"
expect "is the folder of a run, which cannot hold others" "$work/told"
status=0
"${run[@]}" --results "$work/a" --out "$work/b" 2> "$work/told" || status=$?
[ $status -eq 2 ] || fail "two folders for the results are taken"
expect "--out is the folder of one run" "$work/told"

# What `where` gives follows from the varied setting and is no further axis of a report.
"$osafl" report "$work/one" > "$work/told"
expect "levels = 4" "$work/told"
expect "deadline 70 s" "$work/told"
! grep -q "deadline_s" "$work/told" || fail "a report takes what follows for a choice"

# What is done is left alone, and what is asked for is taken.
"${run[@]}" --out "$work/one" --only case=OSA-FL --only seed=1 > "$work/folders" \
    2> "$work/told"
[ "$(wc -l < "$work/folders")" -eq 2 ] || fail "the conditions choose other cells"
[ "$(grep -c 'was complete' "$work/told")" -eq 2 ] || fail "complete cells ran again"
! grep -q "would differ" "$work/told" || fail "a program is taken for another"
cp "$osafl" "$work/osafl" # the same program in another file
printf 'x' >> "$work/osafl"
"$work/osafl" "${run[@]:1}" --plugin-dir "$(dirname "$osafl")/plugins" --out "$work/one" \
    --only case=OSA-FL --only seed=1 > "$work/folders" 2> "$work/told"
[ "$(grep -c 'was complete' "$work/told")" -eq 2 ] || fail "another program ran complete cells"
expect "2 of the cells that were complete would differ if run now; small, OSA-FL, " "$work/told"
expect ": the file of osafl was " "$work/told"
same "$work/one"

# A case whose data are missing, and one that crashes: the others are done, and the end says why.
cat > "$work/bad.cfg" <<END
@include "small.cfg"
cases = (
    { name = "lost"; dataset: { plugin = "idx"; idx: { path = "nowhere"; }; }; },
    { name = "crashes"; aggregator: { plugin = "saboteur"; }; },
    { name = "good"; }
);
END
cp "$2/tests/cli/small.cfg" "$work/small.cfg"
for jobs in 1 2; do
    status=0
    OSAFL_DEED=crash OSAFL_DEED_AT=aggregate OSAFL_DEED_ROUND=1 \
        "$osafl" run "$work/bad.cfg" --jobs $jobs --plugin-dir "$saboteurs" \
        --out "$work/bad$jobs" > "$work/folders" 2> "$work/told" || status=$?
    [ $status -eq 1 ] || fail "exit status $status after a crash"
    expect "good/seed-7" "$work/folders"
    expect "osafl: 2 of 3 cells failed:" "$work/told"
    expect "  small, lost, seed 7: dataset/idx: " "$work/told"
    expect "  small, crashes, seed 7: osafl: aggregator/saboteur, round 1: the plugin crashed" "$work/told"
done
status=0
"$osafl" run "$work/bad.cfg" --case lost --only seed=7 --quiet --out "$work/bad" 2> "$work/told" ||
    status=$?
[ $status -eq 2 ] || fail "exit status $status for missing data"

# Ctrl-C at the terminal reaches the whole process group; a job scheduler signals the program alone.
# Whatever was done stays, and the same command ends the grid.
interrupt() { # FOLDER KILL...
    local folder=$1 status=0
    shift
    setsid env --default-signal=INT "${long[@]}" --threads 2 --jobs 2 --out "$folder" \
        --set checkpoint_every=5 > /dev/null 2> "$work/told" &
    local pid=$!
    for _ in $(seq 3000); do # until it has cells in hand, and so listens for signals
        ! pgrep -P $pid > /dev/null || break
        sleep 0.02
    done
    sleep 0.1
    "$@" $pid
    wait $pid || status=$?
    [ $status -eq 3 ] || { cat "$work/told"; fail "exit status $status after $*"; }
    expect "of 8 cells are done" "$work/told"
    expect "run the same command again to resume" "$work/told"
    if pgrep -g $pid > /dev/null; then
        fail "processes go on after $*"
    fi
}
to_group() { # SIGNAL PID
    kill "-$1" -- "-$2"
}
interrupt "$work/group" to_group INT
interrupt "$work/group" kill -INT
interrupt "$work/group" kill -TERM
interrupt "$work/group" to_group TERM
status=0
"${long[@]}" --quiet --jobs 2 --out "$work/group" --max-time 0.3 \
    > /dev/null 2> "$work/told" || status=$?
[ $status -eq 3 ] || fail "exit status $status after --max-time"
expect "time limit reached" "$work/told"

# In the end it is as if nothing had been.
last=("${long[@]}" --quiet --only case=OSA-FL --only seed=1
    --only quantizer.qsgd.levels=2)
folder=$("${last[@]}" --set checkpoint_every=5 --out "$work/straight")
case=OSA-FL_quantizer.qsgd.levels_2
"${last[@]}" --set checkpoint_every=5 --out "$(echo "$work/group/small/$case"/seed-1-*)" > /dev/null
cmp "$folder/rounds.csv" "$work/group/small/$case"/seed-1-*/rounds.csv
cmp "$folder/model.safetensors" "$work/group/small/$case"/seed-1-*/model.safetensors
