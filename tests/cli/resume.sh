#!/bin/bash
# A run that was killed, interrupted or cut short by --max-time, and started again with the same
# command, ends with the same bytes as one that nothing disturbed.  OSAFL_KILLS: how often each
# kind of run is killed (default 3).
set -eu
osafl=$1
source_tree=$2
kills=${OSAFL_KILLS:-3}
settings=(--set rounds=40)
# With an instrument every round takes as long as several; it sees the same with few samples.
[ -z "${OSAFL_INSTRUMENTED:-}" ] || settings=(--set rounds=16 --set clients.storage=40
    --set training.minibatches=1 --set evaluation.samples=30)
ms=250 # of the runs that are cut short
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results="rounds.csv clients.csv manifest.json model.safetensors resolved.cfg"
RANDOM=1

# With the settings that make a run last long enough to be disturbed; the folder follows.  A plain
# command and no function, so that in the background $! is the program itself.
run=("$osafl" run "$source_tree/tests/cli/small.cfg" --threads 2 "${settings[@]}" --out)

compare() {
    for file in $results; do
        cmp "$work/whole/$file" "$1/$file"
    done
}

fail() {
    echo "FAILED: $1"
    [ -e "$work/log" ] && tail -n 3 "$work/log"
    exit 1
}

# Kills the run at random moments until it has been killed `kills` times, then lets it end.
kill_at_random() {
    local killed=0 tries=0 process status
    while [ $killed -lt "$kills" ] && [ $tries -lt $((20 * kills)) ]; do
        "${run[@]}" "$work/killed" "$@" >/dev/null 2>"$work/log" &
        process=$!
        sleep "0.$(printf %03d $((RANDOM % 350)))"
        kill -9 $process 2>/dev/null || true
        status=0
        wait $process 2>/dev/null || status=$?
        if [ $status -eq 137 ]; then
            killed=$((killed + 1))
        elif [ $status -eq 0 ]; then
            rm -rf "$work/killed" # it ended first: once more from the start
        else
            fail "a killed run does not go on: status $status"
        fi
        tries=$((tries + 1))
    done
    "${run[@]}" "$work/killed" "$@" >/dev/null 2>&1 ||
        fail "the run does not end after $killed kills"
    compare "$work/killed"
    echo "  killed $killed times"
}

# Starts a run and sends the signal after its first round; returns its exit status.  A shell starts
# what follows "&" with SIGINT ignored, as whoever started the shell may have done: env undoes it.
signal_run() { # SIGNAL FOLDER SETTINGS...
    local signal=$1 folder=$2 process
    shift 2
    env --default-signal=INT "${run[@]}" "$folder" "$@" >/dev/null 2>"$work/log" &
    process=$!
    while [ ! -s "$folder/clients.csv" ] && kill -0 $process 2>/dev/null; do
        sleep 0.01
    done
    kill -"$signal" $process 2>/dev/null || true
    wait $process
}

# A signal that asks to stop: status 3, and the next run goes on.  On a busy machine the run may be
# done before the signal comes: then once more.
stop_by() {
    local signal=$1 folder=$work/stopped-$1 status=0 tries=0
    shift
    while [ $status -eq 0 ] && [ $tries -lt 20 ]; do
        rm -rf "$folder"
        signal_run "$signal" "$folder" "$@" || status=$?
        tries=$((tries + 1))
    done
    [ $status -eq 3 ] || fail "SIG$signal ends the run with status $status"
    grep -q "run the same command again to resume" "$work/log" || fail "no word after SIG$signal"
    "${run[@]}" "$folder" "$@" >/dev/null 2>&1
    compare "$folder"
    echo "  stopped by SIG$signal"
}

# Bits of 0.25 s until the run is complete, and longer ones where that is too short to get on; the
# next kind of run begins with half of what this one needed.
cut_short() {
    local cuts=0 status rows before=0
    ms=$((ms < 500 ? 250 : ms / 2))
    while :; do
        status=0
        "${run[@]}" "$work/cut" --max-time "$((ms / 1000)).$(printf %03d $((ms % 1000)))" "$@" \
            >/dev/null 2>&1 || status=$?
        [ $status -eq 0 ] && break
        rows=0
        [ ! -e "$work/cut/rounds.csv" ] || rows=$(wc -l <"$work/cut/rounds.csv")
        [ "$rows" -gt "$before" ] || ms=$((ms * 2))
        before=$rows
        [ $status -eq 3 ] || fail "--max-time ends the run with status $status"
        cuts=$((cuts + 1))
        [ $cuts -lt 200 ] || fail "--max-time lets the run never end"
    done
    compare "$work/cut"
    echo "  cut short $cuts times"
}

# disturb NAME SETTINGS...
disturb() {
    echo "$1"
    shift
    rm -rf "$work"/*
    "${run[@]}" "$work/whole" "$@" >/dev/null 2>&1 || fail "the undisturbed run fails"
    kill_at_random "$@"
    stop_by INT "$@"
    stop_by TERM "$@"
    cut_short "$@"
}

# Each of these keeps state of another kind: scores and d^{t-1}; control variates of server and
# clients; personal layers; moments; updates beyond their round; residuals of the quantizer and
# drifting labels in stores that grow.
disturb osafl
disturb scaffold --set aggregator.plugin=scaffold --set optimizer.plugin=scaffold
disturb fedper --set model.plugin=mlp --set optimizer.plugin=fedper \
    --set optimizer.fedper.learning_rate=0.02 --set evaluation.per_client=true \
    --set evaluation.client_spread=true
disturb fedadam --set aggregator.plugin=fedadam
disturb afa_cs --set aggregator.plugin=afa_cs
disturb topk_sparse --set aggregator.plugin=fedavgm --set quantizer.plugin=topk_sparse \
    --set arrival.plugin=binomial --set arrival.binomial.fill=0.5 --set deletion.plugin=reservoir \
    --set drift.plugin=redraw --set drift.redraw.probability=0.2
# Updates under way are part of a checkpoint.
late="--set uplink.late=carry --set resource.plugin=fixed --set deadline_s=2.0"
disturb fedbuff $late --set aggregator.plugin=fedbuff
disturb fedasync $late --set aggregator.plugin=fedasync
