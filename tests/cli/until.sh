#!/bin/bash
# "osafl run --until" adds seeds until the interval of a paired difference is narrow enough, goes on
# where it was interrupted, and holds to its plan.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

# run STATUS TEXT ARGUMENT...: exit status, and a text that is printed.
run() {
    local wanted=$1 text=$2 status=0
    shift 2
    "$osafl" run grid.cfg --quiet --jobs 2 --threads 2 --set rounds=2 "$@" >out 2>&1 || status=$?
    if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" out; then
        echo "FAILED: run $* ended with $status, not $wanted and \"$text\":"
        cat out
        failures=$((failures + 1))
    fi
}
cp "$source_tree/tests/cli/small.cfg" .
grep -v '^vary\|^where' "$source_tree/tests/cli/grid.cfg" >grid.cfg
pair='OSA-FL - M-FedAvg'

# Wide enough for the first look, after 5 seeds.
run 0 "narrow enough after 5 seeds" --out wide --until "width(accuracy, $pair) < 9" --max-seeds 9
[ "$(find wide -name rounds.csv | wc -l)" -eq 10 ] || { echo "FAILED: not 5 seeds of 2 cases"; failures=1; }
grep -q "5 seeds: accuracy, OSA-FL - M-FedAvg: mean .* 98.33 % interval" out || { cat out; failures=1; }
python3 - wide/small/until-grid.cfg.json <<'END' || failures=1
import json, sys
plan = json.load(open(sys.argv[1]))
assert plan["looks"] == [5, 7, 9] and plan["max_seeds"] == 9 and plan["first_seed"] == 1, plan
assert abs(plan["probability_of_each_interval"] - (1 - 0.05 / 3)) < 1e-12, plan
END

# Never narrow enough: all looks, the same lines after an interruption, and no further run.  So many
# rounds that the interruption comes before the end on a fast machine too.
long="--set rounds=60"
[ -z "${OSAFL_INSTRUMENTED:-}" ] || long="--set rounds=15" # each takes as long as several
run 1 "after all 8 seeds of the plan the width is " --out all $long \
    --until "width(accuracy, $pair) < 1e-9" --max-seeds 8
grep 'seeds: ' out >whole
[ "$(cut -d' ' -f1 whole | tr '\n' ' ')" = "5 7 8 " ] || { cat whole; failures=1; }
run 3 "run the same command again to resume" --out parts $long --max-time 0.3 \
    --until "width(accuracy, $pair) < 1e-9" --max-seeds 8
run 1 "after all 8 seeds" --out parts $long --until "width(accuracy, $pair) < 1e-9" --max-seeds 8
grep 'seeds: ' out | diff whole - || failures=1

run 3 "run the same command again to resume" --out none \
    --until "width(accuracy, $pair) < 1e-9" --max-seeds 8 --max-time 0.000001

# A limit of time is one of all looks together: none starts a run after it.  At most the two runs that
# were being started (--jobs 2) have a later stamp, which is of whole seconds.
run 3 "run the same command again to resume" --out slow --until "width(accuracy, $pair) < 1e-9" \
    --max-seeds 1000 --max-time 2
python3 - slow 2 2 <<'END' || failures=1
import datetime, glob, json, sys
limit, jobs = float(sys.argv[2]), int(sys.argv[3])
paths = glob.glob(sys.argv[1] + "/small/*/seed-*/environment.json")
stamp = [json.load(open(path))["started"] for path in paths]
started = [datetime.datetime.strptime(s, "%Y-%m-%dT%H:%M:%SZ") for s in stamp]
after = [(s - min(started)).total_seconds() for s in started]
late = [s for s in after if s > limit + 1]
assert len(late) <= jobs, "of %d runs %d started after the limit, up to %g s after the first" % (
    len(after), len(late), max(late))
END

# The interval is Student's, of the differences in the tables.
python3 - all whole <<'END' || failures=1
import csv, glob, math, re, sys
def last(case, seed):
    (path,) = glob.glob("%s/small/%s/seed-%d-*/rounds.csv" % (sys.argv[1], case, seed))
    return float(list(csv.DictReader(open(path)))[-1]["test_accuracy"])
d = [last("OSA-FL", seed) - last("M-FedAvg", seed) for seed in range(1, 6)]
mean = sum(d) / 5
s = math.sqrt(sum((x - mean) ** 2 for x in d) / 4)
t = 3.9607915  # 98.33 % within, 4 degrees of freedom
line = open(sys.argv[2]).readline()
found = float(re.search(r"width (\S+)", line).group(1))
assert abs(found - 2 * t * s / math.sqrt(5)) < 2e-3 * found + 1e-12, (found, 2 * t * s / math.sqrt(5))
END

# A plan is not changed; nonsense is refused.
run 2 "is another plan" --out all --until "width(accuracy, $pair) < 0.1" --max-seeds 8
run 2 "must be as in" --until "accuracy < 1" --max-seeds 8
run 2 "has no case \"nobody\"" --until "width(accuracy, OSA-FL - nobody) < 1" --max-seeds 8
run 2 "is 0" --until "width(accuracy, OSA-FL - OSA-FL) < 1" --max-seeds 8
run 2 "belong together" --until "width(accuracy, $pair) < 1"
run 2 "from 5 to 1000" --until "width(accuracy, $pair) < 1" --max-seeds 4
run 2 "chooses the seeds" --until "width(accuracy, $pair) < 1" --max-seeds 8 --seed 3
run 2 "leave out --only seed=3" --until "width(accuracy, $pair) < 1" --max-seeds 8 --only seed=3
[ ! -e results ] || { echo "FAILED: a refused plan leaves results"; failures=1; }

# What is wrong is found before the first run, and records no plan.
refused() {
    run 2 "$@" --out refused --max-seeds 5
    [ ! -e refused ] || { echo "FAILED: run $* leaves $(find refused)"; failures=1; }
}
refused "model/logistic has no measure accurcy; it has accuracy, loss" \
    --until "width(accurcy, $pair) < 1"
refused "has no case \"M-FedAvg\", which --until names, among those of --only; it has OSA-FL" \
    --until "width(accuracy, $pair) < 1" --only case=OSA-FL
refused "training.enabled = false measures none" --until "width(accuracy, $pair) < 1" \
    --set training.enabled=false
cat >unequal.cfg <<'END'
@include "grid.cfg"
where = ( { only = "case=OSA-FL"; rounds = 3; } );
END
sed -i 's/^rounds/# rounds/' small.cfg
if "$osafl" run unequal.cfg --out refused --until "width(accuracy, $pair) < 1" --max-seeds 5 \
    >out 2>&1 || ! grep -q "OSA-FL and M-FedAvg run for 3 and [0-9]* rounds" out || [ -e refused ]; then
    echo "FAILED: unequal rounds: $(cat out)"
    failures=1
fi
cp "$source_tree/tests/cli/small.cfg" .

# Any measure of the model; a loss that diverged is none, and ties have no interval.
run 0 "5 seeds: loss, OSA-FL - M-FedAvg: mean" --out loss --until "width(loss, $pair) < 900" --max-seeds 5
python3 - loss out <<'END' || failures=1
import csv, glob, re, sys
def last(case, seed):
    (path,) = glob.glob("%s/small/%s/seed-%d-*/rounds.csv" % (sys.argv[1], case, seed))
    return float(list(csv.DictReader(open(path)))[-1]["test_loss"])
mean = sum(last("OSA-FL", seed) - last("M-FedAvg", seed) for seed in range(1, 6)) / 5
found = float(re.search(r"mean (\S+),", open(sys.argv[2]).read()).group(1))
assert abs(found - mean) < 1e-5 * abs(mean), (found, mean)
END
run 2 "diverged: its last loss is not finite, or a loss above 1000" --out wild \
    --until "width(accuracy, $pair) < 1" --max-seeds 5 --set optimizer.sgd.learning_rate=1e5
run 1 "OSA-FL - M-FedAvg: no interval: every pair is a tie" --out ties \
    --until "width(accuracy, $pair) < 1" --max-seeds 6 --set aggregator.plugin=fedavg
grep -q "a pair has no interval: are its cases the same" out || { cat out; failures=1; }

# With varied settings every pair counts.
cp "$source_tree/tests/cli/grid.cfg" .
run 0 "OSA-FL - M-FedAvg,quantizer.qsgd.levels=4: mean" --out varied \
    --until "width(accuracy, $pair) < 9" --max-seeds 5
[ "$(grep -c '5 seeds: ' out)" -eq 2 ] || { cat out; failures=1; }
[ $failures -eq 0 ]
