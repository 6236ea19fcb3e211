#!/usr/bin/env bash
# report_against.sh OSAFL SOURCE-TREE - "osafl report --against" on result folders made by hand, its
# numbers against SciPy where that is installed.
# shellcheck source=../support/report_test.sh
source "$2/tests/support/report_test.sh"
absent() { # PATTERN: not in the last output
    if grep -qF -- "$1" out; then
        echo "FAILED: \"$1\" is in:"
        cat out
        failures=$((failures + 1))
    fi
}

python3 - <<'PYTHON'
import pathlib
from make import cell
root = pathlib.Path("results")
best = {"control": [0.700, 0.729, 0.705, 0.731, 0.722, 0.720, 0.733],
        "better": [0.710, 0.735, 0.712, 0.744, 0.728, 0.729, 0.751],
        "alike": [0.701, 0.728, 0.707, 0.729, 0.722, 0.721, 0.732],
        "few": [0.71, 0.73]}
place = 0
def runs(case, values, first=1, rounds=20, name="pairs", **more):
    global place
    place += 1
    for seed, v in enumerate(values, first):
        accuracy = [0.1] * (rounds - 3) + [v, v - 0.02, v - 0.01]
        cell(root, name, case, seed, accuracy, more.get("loss") or [2.0] * (rounds - 3) + [0.5, 0.6, 0.7],
             rounds=rounds, place=place, settings={"aggregator.plugin": f'"{case}"'})
for case, values in best.items():
    runs(case, values)
runs("one", [0.74])
runs("elsewhere", [0.7, 0.8], first=20)
runs("short", [0.71, 0.72, 0.73], rounds=10)
runs("lost", [0.70, 0.71], loss=[2.0] * 17 + [3e10, 3e10, 3e10])
runs("same", best["control"])
runs("A", [0.5, 0.7], name="clear")
runs("B", [0.4, 0.65], name="clear")
runs("A", [0.5], name="single")
runs("B", [0.4], name="single")
root = pathlib.Path("shifted")
runs("A", [0.5, 0.7])
runs("B", [0.4, 0.6])
root = pathlib.Path("hardly")
runs("A", [0.5, 0.7])
runs("B", [0.499999, 0.699998])
PYTHON

# Words in place of numbers.
expect 2 '--against contrl: no table here has such a row; did you mean "control"?' --against contrl results
expect 2 "--interval wide: choose student or bootstrap" --interval wide results
expect 0 "+0.0000" --against A hardly
absent "-0.0000"
# Equal differences do not show how far they scatter: no interval, and nothing in bold.
expect 0 "none: all equal" --against A shifted
absent "*"
expect 0 "Against control: best test accuracy over the rounds (optimistic" --against control results/pairs
for part in "one: one common seed, which shows nothing." "elsewhere: no common seeds." \
    "short: unequal rounds (10 and 20)." "2 seeds cannot give a p below 0.5: fewer than 5 prove nothing." \
    "Against control: last test accuracy" "Against control: mean test accuracy of the last tenth of the rounds"; do
    grep -qF -- "$part" out || { echo "FAILED: no \"$part\" in:"; cat out; failures=$((failures + 1)); }
done
grep -qE '^one +1 +0\.7400 +- +- +- +- +-$' out || { echo "FAILED: numbers from one seed"; failures=$((failures + 1)); }
grep -qE '^same +7 .* - +- +- +- +-$' out && grep -qF "same: every pair is a tie." out ||
    { echo "FAILED: ties"; cat out; failures=$((failures + 1)); }
grep -qE '^better +7 .* 0\.016 +0\.078 +100 %$' out ||
    { echo "FAILED: a row of ties is none of the five for which Holm adjusts"; failures=$((failures + 1)); }
grep -qE '^lost .* diverged$' out || { echo "FAILED: a loss of 3e10 has not diverged"; failures=$((failures + 1)); }
absent "e+10"

# Whether a run diverged is told by its own rows: alone it is told the same.  A loss of another
# scale, of a model without accuracy, is held against the run's first one.
expect 0 "diverged: accuracy or loss not finite, or a loss above 1000." --only case=lost results/pairs
grep -qE '^lost .* 0\.1000 ± 0\.0000 .* 2\.0000 ± 0\.0000 +diverged$' out || { echo "FAILED: lost, alone"; cat out; failures=$((failures + 1)); }
expect 0 "lost: best of the rounds that have not diverged." --only case=lost results/pairs
python3 - <<'PYTHON'
import pathlib
from make import cell
root = pathlib.Path("scales")
for case, last in (("large", 8e5), ("wild", 1e6), ("none", float("nan"))):
    cell(root, "scales", case, 1, [3.0, 2.0], [900.0, last], rounds=2,
         settings={"aggregator.plugin": f'"{case}"'})
for table in root.rglob("rounds.csv"):
    table.write_text(table.read_text().replace("test_accuracy", "test_error"))
PYTHON
expect 0 "diverged: error or loss not finite, or a loss above 1000 times the larger of 1 and the run's first one." scales
for line in '^large +1 +2\.0000 +2 +8e\+05 +2\.0000$' '^wild +1 +3\.0000 +1 +900\.0000 +diverged$' \
    '^none +1 +3\.0000 +1 +900\.0000 +diverged$'; do
    grep -qE "$line" out || { echo "FAILED: no $line"; cat out; failures=$((failures + 1)); }
done
expect 0 "This table has no row control." --against control results
[ "$(grep -c "has no row control" out)" -eq 2 ] || { echo "FAILED: said more than once"; failures=$((failures + 1)); }
expect 0 "B: one common seed, which shows nothing." --against A results/single
# By the loss, a run that diverged is in no pair.
expect 0 "lost: a run of seed 1 diverged." --measure loss --against control results/pairs

# Bold only by an interval against every other row that leaves out 0.
expect 0 "| A | 2 | 0.6000 ± 0.1414 |" --format markdown results/clear
absent "**"
python3 - <<'PYTHON'
import pathlib
from make import cell
for n in (4, 5):
    for place, (case, shift, slope) in enumerate((("A", 0.1, 0.0), ("B", 0.0, 1e-4))):
        for seed in range(1, n + 1):
            best = 0.5 + shift + seed * seed / 1000 + seed * slope # no two differences are equal
            cell(pathlib.Path("number"), "of-%d" % n, case, seed, [best], [1.0],
                 rounds=1, place=place, settings={"aggregator.plugin": f'"{case}"'})
PYTHON
expect 0 "4 seeds cannot give a p below 0.125" --format markdown --interval bootstrap --against B number/of-4
absent "**"
expect 0 "| A | 5 | **0.6110 ± 0.0097** |" --format markdown --interval bootstrap number/of-5
expect 2 "leave out one of them" --by aggregator.plugin --against B number/of-5
expect 0 "| A | 1 | 0.5000 |" --format markdown results/single
absent "**"
expect 0 "better" --only case=better results/pairs
absent " *"
rm -r results/pairs/{few,one,elsewhere,short,lost,same,alike}
for format in text:'0.7299 ± 0.0152 *' markdown:'**0.7299 ± 0.0152**' latex:'\textbf{0.7299 $\pm$ 0.0152}'; do
    expect 0 "${format#*:}" --format "${format%%:*}" --against control results/pairs
done
expect 0 page.html --html page.html --against control results/pairs
grep -qF '<strong>0.7299' page.html || { echo "FAILED: no bold on the page"; failures=$((failures + 1)); }
expect 0 "72.99 ± 1.52 *" --percent results/pairs
expect 0 "+0.99  +0.58 to +1.39" --percent --against control results/pairs

# The numbers.
python3 - "$osafl" <<'PYTHON' || failures=$((failures + 1))
import csv, io, subprocess, sys
def rows(*options):
    out = subprocess.run([sys.argv[1], "report", "--format", "csv", "--against", "control", *options,
                          "results/pairs"], check=True, capture_output=True, text=True).stdout
    return {r["row"]: r for r in csv.DictReader(io.StringIO(out))}
row = rows()["better"]
control = [0.700, 0.729, 0.705, 0.731, 0.722, 0.720, 0.733]
better = [0.710, 0.735, 0.712, 0.744, 0.728, 0.729, 0.751]
d = [b - c for b, c in zip(better, control)]
def close(name, value, most=1e-10):
    assert abs(float(row[name]) - value) <= most, (name, row[name], value)
for by in ("best", "last", "tail"):
    assert row[by + "_pairs"] == "7"
    close(by + "_difference", sum(d) / 7)
    close(by + "_p", 2 / 2**7)
    close(by + "_p_holm", 2 / 2**7)
    close(by + "_outperforms", 1)
    close(by + "_low", 0.005810706788983235)
    close(by + "_high", 0.013903578925302498)
close("tail_mean", sum(better) / 7 - 0.015)
assert rows()["control"]["best_difference"] == ""
boot = rows("--interval", "bootstrap")["better"]
assert boot["best_low"] != row["best_low"] and float(boot["best_low"]) > 0.005
try:
    import numpy, scipy.stats as st
except ImportError:
    print("without SciPy, against kept values alone")
    raise SystemExit(0)
at = st.t.interval(0.95, 6, numpy.mean(d), st.sem(d))
close("best_low", at[0])
close("best_high", at[1])
close("best_p", st.permutation_test((numpy.array(d),), lambda x, axis=-1: x.sum(axis=axis),
                                    permutation_type="samples", n_resamples=numpy.inf).pvalue)
found = st.bootstrap((numpy.array(d),), numpy.mean, method="percentile", n_resamples=100000,
                     random_state=numpy.random.default_rng(1)).confidence_interval
assert abs(found.low - float(boot["best_low"])) < 2e-4, (found, boot["best_low"])
assert abs(found.high - float(boot["best_high"])) < 2e-4, (found, boot["best_high"])
PYTHON

[ "$failures" = 0 ] || exit 1
echo "report --against: all checks passed"
