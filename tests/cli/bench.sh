#!/bin/bash
# osafl bench: prints a line for each model and for each layer, JSON that can be read, and refuses
# what makes no sense.
set -eu
osafl=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

"$osafl" bench --model logistic --model mlp --repeats 3 --clients 1 --threads 2 >out
grep -Eq '^logistic +30730 ' out || fail "no line for logistic: $(cat out)"
grep -Eq '^mlp +[0-9]+ ' out || fail "no line for mlp"

"$osafl" bench --model squeezenet --repeats 2 --clients 0 --layers >out
grep -q 'features.12.expand3x3' out || fail "no line for a layer"
grep -q 'max-pool' out || fail "no line for a pool"

"$osafl" bench --model mlp --repeats 2 --clients 1 --picture 1x28x28 --json >out
python3 -c '
import json
line = json.loads(open("out").read())
assert line["parameters"] == 199210, line
assert line["step_ms"] > 0 and line["round_s"] > 0 and line["round_samples"] == 1040, line
assert 0 < line["evaluate_cpu_s"] < line["round_cpu_s"], line
' || fail "JSON: $(cat out)"

cat >net.cfg <<'END'
model: { plugin = "network"; network: { layers = (
    { embedding = 20; size = 6; }, { gru = 5; last = true; }, { linear = "classes"; } ); }; };
END
"$osafl" bench --model ./net.cfg --tokens 20 --classes 3 --picture 1x1x9 --repeats 2 --clients 0 >out
grep -Eq '^net +333 ' out || fail "no line for a file: $(cat out)"
echo 'model: { };' >none.cfg
status=0
"$osafl" bench --model none.cfg --clients 0 >out 2>err || status=$?
[ "$status" = 2 ] || fail "a file without a plugin: exit status $status"
grep -q 'none.cfg: has no model.plugin' err || fail "the reason is not told: $(cat err)"

status=0
"$osafl" bench --model nonsense >out 2>err || status=$?
[ "$status" = 2 ] || fail "an unknown model: exit status $status"
grep -q 'nonsense' err || fail "an unknown model is not named"

status=0
"$osafl" bench --model squeezenet --picture 3x4x4 >out 2>err || status=$?
[ "$status" = 2 ] || fail "a picture that is too small: exit status $status"
grep -q 'too small' err || fail "the reason is not told: $(cat err)"

status=0
"$osafl" bench --threads 0 >out 2>err || status=$?
[ "$status" != 0 ] || fail "0 threads were accepted"
echo "osafl bench: ok"
