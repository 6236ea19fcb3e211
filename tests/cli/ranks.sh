#!/bin/bash
# A run over the ranks of MPI has the bytes of a run in one process: for any number of ranks, after a
# resume with another number of them, when it goes on where a shorter one has ended, and after a rank
# was killed.  OSAFL_TEST_FULL: more ranks, all models, 50 kills.  An instrumented program takes few
# runs.
set -eu
osafl=$1
source_tree=$2
transport=$(dirname "$osafl")/plugins/transport/mpi.so
if [ ! -e "$transport" ] || ! command -v mpirun >/dev/null; then
    echo "no transport mpi in this build, or no mpirun: skipped"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
counts="1 2 3"
kills=3
if [ -n "${OSAFL_TEST_FULL:-}" ]; then
    counts="1 2 3 5"
    kills=50
fi
rounds=8
RANDOM=1
# Whatever launcher started this test.
unset "${!OMPI_@}" "${!PMI@}" "${!SLURM@}" 2>/dev/null || true

fail() {
    echo "FAILED: $1"
    [ -e log ] && tail -n 5 log
    exit 1
}

file=$source_tree/tests/cli/small.cfg
alone() { # FOLDER SETTINGS...
    local folder=$1
    shift
    "$osafl" run "$file" --quiet --set "rounds=$rounds" --out "$folder" "$@" >/dev/null
}

oversubscribe=() # words that Open MPI alone knows
! mpirun --version | grep -q "Open MPI" || oversubscribe=(--allow-run-as-root --oversubscribe)

# The program looks for its own leaks, and tells them from those of MPI's libraries by their stacks
# (ranks.supp): these need whole frames, and libraries that stay in memory.
watched=()
if [ -n "${OSAFL_INSTRUMENTED:-}" ]; then
    echo 'int dlclose(void *library); int dlclose(void *library) { return library == 0; }' |
        gcc -shared -fPIC -x c - -o stay.so
    runtime=$(ldd "$osafl" | sed -n 's/.*=> \(.*libasan[^ ]*\) .*/\1/p')
    watched=(env "LD_PRELOAD=$runtime $work/stay.so"
        "ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}:fast_unwind_on_malloc=0"
        "LSAN_OPTIONS=suppressions=$source_tree/tests/cli/ranks.supp:print_suppressions=0")
fi

# A command's words, so that in the background $! is mpirun.
ranks() { # N FOLDER: fills the arrays
    program=("${watched[@]}" "$osafl" run "$file" --transport mpi --threads 1
        --set "rounds=$rounds" --out "$2")
    words=(mpirun "${oversubscribe[@]}" -n "$1" "${program[@]}")
}

over() { # N FOLDER SETTINGS...
    ranks "$1" "$2"
    shift 2
    timeout 300 "${words[@]}" "$@" >log 2>&1
}

compare() { # FOLDER: every result file but those of the wall clock is that of whole/
    (cd whole && find . -type f ! -name 'checkpoint*' ! -name timing.csv ! -name environment.json \
        ! -name .lock -exec sha256sum {} +) >sums
    [ "$(wc -l <sums)" -ge 6 ] || fail "the run in one process has too few files"
    (cd "$1" && sha256sum --check --quiet ../sums) || fail "$1 has other bytes"
}

same() { # NAME SETTINGS...
    local name=$1 n
    shift
    rm -rf whole ranks-*
    alone whole "$@" || fail "$name: the run in one process"
    for n in $counts; do
        over "$n" "ranks-$n" "$@" || fail "$name over $n ranks"
        compare "ranks-$n"
    done
    echo "$name"
}

# lengthen N ROUNDS: over N ranks, to that many rounds, among all runs of the experiment.
lengthen() {
    ranks "$1" all
    timeout 300 "${words[@]:0:${#words[@]}-2}" --results all --rounds "$2" \
        --set aggregator.plugin=scaffold >log 2>&1 || fail "$2 rounds over $1 ranks"
}

# goes_on SHORT LONG: a run of LONG rounds that begins with a complete one of SHORT.
goes_on() {
    local shorter run
    rounds=$2
    rm -rf whole longer all
    alone whole --set aggregator.plugin=scaffold
    lengthen 2 "$1"
    shorter=$(echo all/small/main/*)
    lengthen 3 "$2"
    grep -q "going on from the run of $1 rounds" log || fail "the run has begun anew"
    for run in all/small/main/*; do [ "$run" = "$shorter" ] || mv "$run" longer; done
    compare longer
    [ "$(wc -l <"$shorter/rounds.csv")" = $(($1 + 1)) ] || fail "the shorter run was changed"
    echo "gone on from $1 to $2 rounds"
}

fedper=(--set model.plugin=mlp --set optimizer.plugin=fedper --set aggregator.plugin=fedavg
    --set optimizer.fedper.learning_rate=0.02 --set evaluation.per_client=true
    --set evaluation.client_spread=true)
if [ -n "${OSAFL_INSTRUMENTED:-}" ]; then
    counts=2
    rounds=2
    same scaffold --set aggregator.plugin=scaffold
    same fedper "${fedper[@]}"
    goes_on 4 6
    exit
fi

# State of clients, of quantizers and of personal models; late updates; metrics of clients; an
# evaluation of every sort.
same scaffold --set aggregator.plugin=scaffold
counts="3${OSAFL_TEST_FULL:+ 5}"
same error_feedback --set quantizer.plugin=signsgd --set quantizer.signsgd.error_feedback=true \
    --set filter.plugin=gaussian --set uplink.loss_probability=0.2
same fedbuff --set aggregator.plugin=fedbuff --set uplink.late=carry --set resource.plugin=fixed \
    --set deadline_s=2.0
same fedper "${fedper[@]}"
same evaluation --set evaluation.per_class=true --set evaluation.prequential=true \
    --set results.confusion=true --set results.keep=both --set deletion.plugin=by_loss \
    --set quantizer.plugin=adaptive_qsgd
same folded --set aggregator.plugin=fedavg --set clients.count=60 # in several windows
same pooled --set aggregator.plugin=genie
if [ -n "${OSAFL_TEST_FULL:-}" ]; then
    rounds=1
    counts=3
    for model in cnn squeezenet resnet18; do
        same $model --set model.plugin=$model --set training.minibatches=1 --set clients.count=4 \
            --set evaluation.samples=64
    done
    rounds=8
fi

# Bits of a run on changing numbers of ranks.
rounds=60
settings=(--set aggregator.plugin=scaffold)
rm -rf whole
alone whole "${settings[@]}"
pause() { # N: 0 without MPI
    local status=0
    if [ "$1" = 0 ]; then
        alone cut "${settings[@]}" --max-time 0.2s 2>log || status=$?
    else
        over "$1" cut "${settings[@]}" --max-time 0.2s || status=$?
    fi
    [ $status = 0 ] || [ $status = 3 ] || fail "--max-time over $1 ranks: status $status"
}
for n in 3 0 2; do pause $n; done
over 3 cut "${settings[@]}" || fail "the resumed run"
compare cut
echo "resumed with other numbers of ranks"
goes_on 5 9

# The processes of the run in a folder, by rank or not, without mpirun.
processes() {
    local process
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe" 2>/dev/null)" = "$(readlink -f "$osafl")" ] || continue
        tr '\0' '\n' <"$process/cmdline" 2>/dev/null | grep -qxF "$1" && echo "${process#/proc/}"
    done || true
}

# disturb SIGNAL: starts three ranks, sends it to one of them after the first round, and leaves
# mpirun's status in $status.
disturb() {
    local launcher list
    ranks 3 disturbed
    "${words[@]}" "${settings[@]}" --rank-limit 2s >log 2>&1 &
    launcher=$!
    while [ ! -s disturbed/clients.csv ] && kill -0 $launcher 2>/dev/null; do sleep 0.01; done
    sleep "0.$(printf %03d $((RANDOM % 100)))"
    read -r -a list <<<"$(processes disturbed | tr '\n' ' ')"
    [ ${#list[@]} = 0 ] || kill -"$1" "${list[$((RANDOM % ${#list[@]}))]}" 2>/dev/null || true
    status=0
    wait $launcher || status=$?
}

rounds=200
rm -rf whole
alone whole "${settings[@]}"
killed=0
for try in $(seq $((3 * kills))); do
    [ $killed -lt $kills ] || break
    disturb KILL
    if [ $status != 0 ]; then
        killed=$((killed + 1))
    else
        rm -rf disturbed # it was done before
    fi
done
over 2 disturbed "${settings[@]}" || fail "the run does not end after $killed kills"
compare disturbed
echo "killed $killed times, in $try tries"

# A rank that hangs ends all with status 3 and its name; one that is asked to stop stops all.
for signal in STOP TERM; do
    for try in $(seq 20); do
        rm -rf disturbed
        disturb $signal
        [ $status = 0 ] || break
    done
    [ "$status" = 3 ] || fail "SIG$signal: status $status"
    case $signal in
    STOP) grep -q "rank [0-2] on .* has given no sign of life for 2 seconds" log ;;
    TERM) grep -q "terminated; [0-9]* of 200 rounds are saved" log ;;
    esac || fail "SIG$signal: not the right words"
    over 3 disturbed "${settings[@]}" || fail "the run does not end after SIG$signal"
    compare disturbed
    echo "SIG$signal"
done

refuse() { # STATUS WORDS COMMAND...
    local status=0
    "${@:3}" >log 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "status $status instead of $1: ${*:3}"
    grep -qF -- "$2" log || fail "not told \"$2\""
}
rounds=2
tasks="says that 4 processes were started together"
refuse 2 "$tasks" env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 "$osafl" run "$file" --out no
refuse 2 "$tasks" env SLURM_NTASKS=4 SLURM_STEP_ID=0 "$osafl" run "$file" --out no
env SLURM_STEP_NUM_TASKS=4 "$osafl" run "$file" --transport none --list >/dev/null
ranks 2 no
refuse 2 "cannot be combined" "${words[@]}" --jobs 2
refuse 2 "cannot be combined" "${words[@]}" --shard 1/2
refuse 2 "cannot be combined" "${words[@]}" --set 'seeds=[1,2]'
refuse 2 "no transport plugin is called \"pigeon\"" "$osafl" run "$file" --out no --transport pigeon
refuse 1 "differs from rank 0 in the experiment" "${words[@]}" : -n 1 "${program[@]}" \
    --set training.batch=9
[ ! -e no ] || fail "a run that was refused has left a folder"
echo "refused what cannot be"
