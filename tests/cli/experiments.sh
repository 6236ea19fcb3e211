#!/usr/bin/env bash
# experiments.sh OSAFL SOURCE-TREE - experiment files through the whole program: values and their
# precedence, grids, the resolved file, errors with their place and exit status.
set -euo pipefail
osafl=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: the exit status, and a line of the whole output.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$osafl" "$@" >out 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qE -- "$pattern" out; then
        fail "osafl $*: status $got, expected $status and \"$pattern\" in:"
        cat out
    fi
}

identity() {
    "$osafl" resolve "$@" | sed -n '1s/.*identity //p'
}

mkdir -p sub/include
cat >sub/tiny.cfg <<'END'
name = "tiny"; rounds = 2; deadline_s = 60.0; seed = 4294967296;
@include "include/clients.cfg"
training: { batch = 4; minibatches = 2; max_local_rounds = 2; };
evaluation: { samples = 50; };
dataset: { plugin = "glyphs"; idx: { path = "data"; }; };
model: { plugin = "logistic"; };
channel: { plugin = "fixed"; };
resource: { plugin = "fixed"; };
optimizer: { sgd: { learning_rate = 0.1; }; };
quantizer: { plugin = "none"; };
deletion: { plugin = "fifo"; };
aggregator: { plugin = "fedavg"; };
END
echo 'clients: { count = 3; storage = 20; arrivals = 2; };' >sub/include/clients.cfg

# Values, origins, precedence.
expect 0 '^seed = 4294967296L; +# tiny.cfg:1$' resolve sub/tiny.cfg
expect 0 '^    count = 3; +# include/clients.cfg:1$' resolve sub/tiny.cfg
expect 0 '^    count = 5; +# --set$' resolve sub/tiny.cfg --set clients.count=4 --set clients.count=5
expect 0 '^seed = 9; +# --set$' resolve sub/tiny.cfg --seed 9
expect 0 '^    plugin = "osafl"; +# --set$' resolve sub/tiny.cfg --set aggregator.plugin=osafl
expect 0 '^aggregator: how do the updates' run sub/tiny.cfg --set aggregator.plugin=help

# The resolved file is the same run, from anywhere.
"$osafl" resolve sub/tiny.cfg --set dataset.plugin=idx >resolved.cfg
grep -qF "path = \"$work/sub/data\";" resolved.cfg || fail 'a path is not against its file'
[ "$(identity resolved.cfg)" = "$(identity sub/tiny.cfg --set dataset.plugin=idx)" ] ||
    fail 'the resolved file has another identity'
[ "$(cd sub && identity tiny.cfg)" = "$(identity "$work/sub/tiny.cfg")" ] ||
    fail 'the identity depends on the working directory'
[ "$(identity sub/tiny.cfg --set checkpoint_every=1)" = "$(identity sub/tiny.cfg)" ] ||
    fail 'checkpoint_every changes the identity'
"$osafl" resolve sub/tiny.cfg --set dataset.plugin=idx --set dataset.idx.path=here >here.cfg
grep -qF "path = \"$work/here\";" here.cfg || fail 'a path of --set is not against the working directory'

# A run writes its resolved file; it loads again and is the same run, aggregator's optimizer and all.
expect 0 '^results/tiny/main/seed-4294967296-' run sub/tiny.cfg --threads 1
cp results/tiny/main/seed-*/resolved.cfg ran.cfg
grep -q '# wanted by the aggregator' ran.cfg || fail 'the chosen optimizer is not in resolved.cfg'
[ "$(identity ran.cfg)" = "$(sed -n '1s/.*identity //p' ran.cfg)" ] ||
    fail 'resolved.cfg of a run has another identity'
[ "$(identity ran.cfg)" = "$(identity sub/tiny.cfg --set optimizer.plugin=sgd)" ] ||
    fail 'naming the optimizer that the aggregator wants is another run'

# Grids.
cat >sub/grid.cfg <<'END'
@include "tiny.cfg"
cases = ( { name = "a"; }, { name = "b"; aggregator: { plugin = "osafl"; }; } );
seeds = [1, 2];
END
expect 2 'sub/grid.cfg: is a grid of 4 cells; pick one with --case NAME and --seed N' resolve sub/grid.cfg
expect 0 '^    plugin = "osafl"; +# case "b", grid.cfg:2$' resolve sub/grid.cfg --case b --seed 2
expect 0 '^tiny, case b, seed 2$' check sub/grid.cfg
expect 2 'no case is called "c"; .* cells of the cases a, b' run sub/grid.cfg --case c
expect 0 'many/tiny/b/seed-2-' run sub/grid.cfg --out many --threads 1
[ "$(find many -name rounds.csv | wc -l)" = 4 ] || fail 'a grid of 4 cells does not give 4 results'

# Errors: all of them, with their places, before anything runs.
cat >bad.cfg <<'END'
name = "bad";
rounds = "ten";
clients: { cuont = 3; activity = [0.8, 0.3]; };
@include "sub/include/more.cfg"
aggregator: { plugin = "fedagv"; };
END
echo 'momentum = 0.9;' >sub/include/more.cfg
expect 2 '^bad.cfg:2: rounds: must be a whole number, but a text stands here' run bad.cfg
expect 2 '^bad.cfg:3: clients.cuont: unknown setting; did you mean "count"\?' run bad.cfg
expect 2 '^bad.cfg:3: clients.activity: the lower end stands first' run bad.cfg
expect 2 '^sub/include/more.cfg:1: momentum: unknown setting' run bad.cfg
expect 2 '^bad.cfg:5: no aggregator plugin is called "fedagv"; did you mean "fedavg"\?' run bad.cfg
expect 2 '^bad.cfg: dataset.plugin: missing; choose one of: ' run bad.cfg
rm -rf results
expect 2 '^bad.cfg:2: ' run sub/tiny.cfg bad.cfg
[ ! -e results ] || fail 'a file ran although another one is wrong'

# wrong TEXT PATTERN: what a file with this text is told.
wrong() {
    printf '%b' "$1" >wrong.cfg
    expect 2 "^wrong.cfg$2" check wrong.cfg
}
wrong 'seed = 99999999999999999999;' ':1: 99999999999999999999 does not fit 64 bits'
wrong '\ndeadline_s = 1e400;' ':2: 1e400 is too large'
wrong 'deadline_s = nan;' ':1: nan: numbers must be finite'
wrong 'rounds = 1; /* for ever' ':1: the comment that begins here is not closed'
wrong 'name = "x;\n' ':1: the text that begins here is not closed'
wrong '\0357\0273\0277rounds = 1;' ':1: the file begins with a byte order mark'
wrong 'rounds = 1;\n@include "none.cfg"\n' ':2: cannot include "none.cfg": No such file'
wrong '@include "wrong.cfg"\n' ':1: files are included more than 10 deep'
wrong 'rounds = 1;\nrounds = 2;\n' ':2: duplicate setting name: rounds = 2;'
wrong 'rounds 1;\n' ':1: '

expect 2 '^--set: "rounds" is not of the form key.path=value' run sub/tiny.cfg --set rounds
expect 2 '^--set: rounds: 0 is outside' run sub/tiny.cfg --set rounds=0
expect 2 '^--set: rounds: must be a whole number, but a text' run sub/tiny.cfg --set rounds=many
expect 2 '^--set: aggregator.fedavg.x: unknown setting' run sub/tiny.cfg --set aggregator.fedavg.x=1
expect 2 '^--set seed.* does not fit 64 bits' run sub/tiny.cfg --seed 99999999999999999999
expect 2 '^--set: seed: -1 is not >= 0' run sub/tiny.cfg --seed -1

exit "$((failures > 0))"
