#!/usr/bin/env bash
# plot.sh OSAFL SOURCE-TREE - "osafl plot" and "osafl report --html" on result folders made by hand.
set -euo pipefail
osafl=$1
golden=$2/tests/golden/report
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN COMMAND...: the command's exit status, and a part of its whole output.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$@" >out 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qF -- "$pattern" out; then
        fail "$*: status $got, expected $status and \"$pattern\" in:"
        cat out
    fi
}

# Without gnuplot: the way to get it; a page without figures.
mkdir no-gnuplot
expect 1 "apt-get install gnuplot-nox" env PATH="$work/no-gnuplot" "$osafl" plot "$golden"
[ ! -e plots ] || fail "a folder was made although nothing can be drawn"
expect 0 plain.html env PATH="$work/no-gnuplot" "$osafl" report --html plain.html "$golden"
grep -qF "This page has no figures" plain.html || fail "the page hides that it has no figures"

expect 2 "name a folder with results" "$osafl" plot
expect 2 "--format gif: choose svg, pdf or png" "$osafl" plot --format gif "$golden"
expect 2 "--spread wide: choose std, range or none" "$osafl" plot --spread wide "$golden"
expect 2 "--against needs --figure" "$osafl" plot --against time "$golden"
expect 2 'did you mean "accuracy"' "$osafl" plot --figure accurcy "$golden"
expect 2 "--figure reason: no run here has values for it" "$osafl" plot --figure reason "$golden"
expect 2 "a curve can stand against" "$osafl" plot --figure loss --against bit "$golden"
expect 2 "no run here has a setting of that name" \
    "$osafl" plot --figure best --against deadlin "$golden"
expect 2 'did you mean "deadline_s"?' "$osafl" plot --figure best --against deadline "$golden"
expect 2 "--against plugin: is it " "$osafl" plot --figure best --against plugin "$golden"
expect 2 "--log z: choose x, y or xy" "$osafl" plot --log z "$golden"
for range in 2 2:1 a:b 1:1 0:inf; do
    expect 2 "a range is FROM:TO" "$osafl" plot --yrange $range "$golden"
done
expect 2 "--name A: write OLD=NEW" "$osafl" plot --name A "$golden"

if ! command -v gnuplot >/dev/null; then
    [ "$failures" = 0 ] || exit 1
    echo "skipped: the rest needs gnuplot (apt-get install gnuplot-nox)"
    exit 77
fi

# All figures.
expect 0 "plots/paper-table-accuracy-round.svg" "$osafl" plot "$golden"
for name in paper-table-{accuracy-{round,time,bits,joules},loss-round,ccdf,participation,score,drift} \
    levels-levels-16-ccdf best-accuracy-levels; do
    for suffix in svg gp dat; do
        [ -s "plots/$name.$suffix" ] || fail "no plots/$name.$suffix"
    done
done
if grep -liw -e nan -e inf plots/*.dat; then
    fail "data with values that do not exist"
fi

# The numbers that are drawn (tests/golden/report/README.md).
expect_data() { # FILE LINE
    grep -qxF -- "$2" "plots/$1.dat" || { fail "no \"$2\" in $1.dat:"; cat "plots/$1.dat"; }
}
expect_data paper-table-accuracy-round " 3 0.6 0.5 0.7"
expect_data paper-table-accuracy-round " 4 0.875 ? ?"
expect_data paper-table-accuracy-bits " 6 0.6 0.5 0.7"
expect_data paper-table-accuracy-joules " 18 0.6 0.5 0.7"
expect_data paper-table-accuracy-time " 180 0.6 0.5 0.7"
expect 0 "first/paper-table-accuracy-round.svg" "$osafl" plot --rounds 2 --out first "$golden" \
    --figure accuracy --figure participation
cut -d' ' -f2 first/paper-table-{accuracy-round,participation}.dat | grep -qx 2 || fail "too little"
if cut -d' ' -f2 first/paper-table-{accuracy-round,participation}.dat | grep -qx '[3-9]'; then
    fail "--rounds 2 draws a third round"
fi
# Runs that are kept without clients.csv are left out of figures about clients alone.
cp -r "$golden" kept
rm kept/paper-table/OSA-FL/seed-1*/clients.csv
expect 0 "without/paper-table-accuracy-round.svg" "$osafl" plot --out without kept
expect 0 "without/paper-table-participation.svg" "$osafl" plot --out without --figure participation kept
rm kept/*/*/*/clients.csv
expect 0 "without/paper-table-accuracy-round.svg" "$osafl" plot --out without kept
expect 2 "--figure score: no run here has values for it; there are" "$osafl" plot --figure score kept
expect_data paper-table-ccdf "# OSA-FL, M-FedAvg"
expect_data paper-table-ccdf " 0 0.875 ? ?"
expect_data paper-table-ccdf " 3 0.25 ? ?"
expect_data paper-table-participation " 4 1 0"
expect_data paper-table-score " 3 0 0.7"
expect_data paper-table-drift " 1 1 0.6 1.4"
expect_data best-accuracy-levels " 16 0.56 ? ?"
"$osafl" plot --spread range --figure accuracy --out plots "$golden/paper-table" >/dev/null
expect_data paper-table-accuracy-round " 3 0.5 0.4 0.6"
"$osafl" plot --figure best --against optimizer.sgd.learning_rate --only case=B \
    --only quantizer.qsgd.levels=2 --out plots "$golden" >/dev/null
expect_data best-accuracy-learning_rate " 0.5 0.2 ? ?"

"$osafl" plot --figure accuracy --together --out plots "$golden" >/dev/null
for label in Genie OSA-FL "A / levels = 2" "B / learning_rate = 0.5 / levels = 2"; do
    grep -qF "# $label" plots/accuracy-round.dat || fail "--together has no $label"
done

# Axes and names as they are asked for.
"$osafl" plot --figure best --against levels --name A=First --out axes "$golden/levels" >/dev/null
"$osafl" plot --figure accuracy --log xy --yrange :0.9 --xrange 1:3 --name OSA-FL=First --out axes \
    "$golden/paper-table" >/dev/null
for line in "set logscale x 10" "set logscale y" "set xrange [1:3]" "set yrange [*:0.9]" "'First'"; do
    grep -qF -- "$line" axes/paper-table-accuracy-round.gp || fail "no $line in the script"
done
grep -qx " 16 0.56 ? ?" axes/best-accuracy-levels.dat || fail "levels are not quantizer.qsgd.levels"
expect 2 "the ends of a logarithmic axis must be positive" \
    "$osafl" plot --figure accuracy --log y --yrange=-1: --out none "$golden"

# Long names are wrapped, and a loss that diverges hides no other.
python3 - "$golden" <<'EOF'
import pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from make import cell
name = "a-rather-long-experiment-name-for-my-journal-paper"
for case, last in (("a case with quite a long name or two of them", 3e14), ("another case of that kind", 1)):
    for key in ("0.1", "0.3"):
        cell(pathlib.Path("long"), name, f"{case},partition.concentration={key}", 1,
             [0.1, 0.2, 0.3 + float(key)], [2, 1.5, last], rounds=3,
             settings={"partition.concentration": key})
EOF
expect 0 long-plots/loss-round.svg "$osafl" plot --together --figure loss --out long-plots long
grep -q "^set logscale y" long-plots/loss-round.gp || fail "the axis is linear over 14 decades"
expect 0 long-plots/a-rather-long "$osafl" plot --figure loss --out long-plots long
expect 0 long-plots/best "$osafl" plot --figure best --against concentration --out long-plots long
python3 - <<'EOF' || failures=$((failures + 1))
import pathlib, re
scripts = list(pathlib.Path("long-plots").glob("*.gp"))
assert len(scripts) == 4, scripts
for script in scripts:
    titles = [line for line in script.read_text().splitlines() if "title " in line]
    for line in re.findall(r"'([^']*)'", "\n".join(l[l.index("title "):] for l in titles)):
        assert len(line) <= 64, (script, line)
    # Nothing of a name is lost.
    text = script.read_text()
    for case in ("a case with quite a long name or two of them", "another case of that kind"):
        assert text.count(case) >= 1, (script, case)
EOF

# What gnuplot makes is looked at: a full disk is no success.
mkdir fake
cat >fake/gnuplot <<'EOF'
#!/bin/sh
[ "$1" = --version ] && exit 0
for script in *.gp; do : >"${script%.gp}.svg"; done
EOF
chmod +x fake/gnuplot
expect 1 "is not complete although gnuplot reported no error; is the disk full?" \
    env PATH="$work/fake:$PATH" "$osafl" plot --figure ccdf --out full "$golden/paper-table"
printf '#!/bin/sh\nexit 0\n' >fake/gnuplot
expect 1 "is missing although gnuplot" \
    env PATH="$work/fake:$PATH" "$osafl" plot --figure ccdf --out plots "$golden/paper-table"

# What stays beside makes the figure again, in any format.
(cd plots && [ ! -e paper-table-ccdf.svg ] && gnuplot paper-table-ccdf.gp && [ -s paper-table-ccdf.svg ] &&
    gnuplot -e "format='png'" paper-table-ccdf.gp && [ -s paper-table-ccdf.png ]) ||
    fail "the script does not make its figure again"
expect 0 "few/paper-table-ccdf.pdf" \
    "$osafl" plot --figure ccdf --format pdf,png --out few "$golden/paper-table"
head -c 5 few/paper-table-ccdf.pdf | grep -q '%PDF-' || fail "no PDF"
: >file
expect 1 "cannot create the folder file: a file has that name" "$osafl" plot --figure ccdf --out file "$golden/paper-table"

# Names cannot break out of a page, a script or a table.
cp -r "$golden" hostile
python3 - <<'EOF'
import json, pathlib
for path in pathlib.Path("hostile/paper-table").rglob("manifest.json"):
    made = json.loads(path.read_text())
    run = made["experiment"]
    run["name"] = "../x' & <i>é \"q\" \\ id='y' $(touch broken) `touch broken`"
    run["case"] += "</title></svg><script>alert(1)</script>'\n; !touch broken\x1b[31m"
    path.write_text(json.dumps(made))
EOF
expect 0 page.html "$osafl" report --html page.html hostile
grep -qi '<script' page.html && fail "a name became a script"
grep -qF "&lt;/title&gt;&lt;/svg&gt;&lt;script&gt;alert(1)" page.html || fail "the name is lost"
grep -qiE '(src|href)="?(http|file|//)|@import' page.html && fail "the page loads something"
expect 0 plots/ "$osafl" plot hostile
cp -r "$golden/paper-table" quoted
find quoted -name manifest.json -exec sed -i "s/\"name\": \"paper-table\"/\"name\": \"'quoted'\"/" {} +
expect 0 quotes/ "$osafl" plot --figure ccdf --out quotes quoted
if [ -e broken ] || [ -e plots/broken ]; then
    fail "a name became a command"
fi
for format in text markdown csv latex; do
    "$osafl" report --format $format hostile >out
    grep -q $'\x1b' out && fail "--format $format sends a terminal escape"
done
python3 - <<'EOF' || failures=$((failures + 1))
import re, collections, html.parser
text = open("page.html", encoding="utf-8").read()
ids = collections.Counter(re.findall(r"""\sid=['"]([^'"]*)['"]""", re.sub(r">[^<]*<", "><", text)))
assert not [i for i, n in ids.items() if n > 1], "ids are not unique"
uses = set(re.findall(r"""<[^>]*href=['"]#([^'"]*)""", text))
assert uses <= set(ids), f"references to nothing: {sorted(uses - set(ids))[:3]}"
VOID = {"meta"}
class Balance(html.parser.HTMLParser):
    stack = []
    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, f"</{tag}> closes another element"
    def handle_startendtag(self, tag, attrs):
        pass
Balance().feed(text)
assert not Balance.stack, "elements are left open"
for word in (">nan<", ">-nan<", ">inf<", "(null)"):
    assert word not in text, word
EOF

[ "$failures" = 0 ] || exit 1
echo "plot: all checks passed"
