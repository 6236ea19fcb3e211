#!/bin/bash
# What a run, a check and a grid tell: nobody took part, a run goes on, cells by their names.
set -eu
osafl=$1
source_tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cp "$source_tree/tests/cli/small.cfg" "$work/one.cfg"
cd "$work"
{
    cat one.cfg
    echo 'seeds = [1, 2];'
    echo 'vary: ( { key = "training.batch"; values = [2, 4]; } );'
} >grid.cfg

# tells STATUS TEXT ARGUMENT...: the exit status, and a text on stdout or stderr.
tells() {
    local status=$1 text=$2 got=0
    shift 2
    "$osafl" "$@" >told 2>&1 || got=$?
    if [ "$got" != "$status" ] || ! grep -qF -- "$text" told; then
        echo "FAILED: osafl $*: status $got, expected $status and \"$text\" in:"
        cat told
        failures=$((failures + 1))
    fi
}

# tells_not TEXT: of the last command.
tells_not() {
    if grep -qF -- "$1" told; then
        echo "FAILED: \"$1\" in:"
        cat told
        failures=$((failures + 1))
    fi
}

nobody="no update arrived in any round"
tells 0 "$nobody" run one.cfg --set rounds=2 --set deadline_s=1e-6 --out nobody
tells 0 "osafl: warning: small, batch 4, seed 1: $nobody" \
    run grid.cfg --set rounds=2 --set deadline_s=1e-6 --only training.batch=4 --out nobodies
tells 0 "warning: no client can take part" check one.cfg --set deadline_s=1e-6
tells 0 "results: somebody" run one.cfg --set rounds=2 --out somebody
tells_not "$nobody"
tells 0 "results: central" run one.cfg --set rounds=2 --set aggregator.plugin=genie --out central
tells_not "$nobody"

# Without its model a run is not complete: it goes on from its last checkpoint.
rm somebody/model.safetensors
tells 0 "resuming after round 2" run one.cfg --set rounds=2 --out somebody
rm somebody/model.safetensors
tells 0 "" run one.cfg --set rounds=2 --out somebody --quiet
tells_not "going on"

tells 0 "==== small, batch 4, seed 2" check grid.cfg
tells 2 "of: small, batch 2, seed 1; small" resolve grid.cfg
tells 2 "there are training.batch=2, training.batch=4" run grid.cfg --case batch --list
tells 2 "the only case is main" run one.cfg --case foo --list

export HOME=$work/home
tells 2 "$work/home/data" check one.cfg --set dataset.plugin=idx --set 'dataset.idx.path=~/data'
sed 's|plugin = "glyphs";|plugin = "idx"; idx: { path = "~/data"; };|' one.cfg >home.cfg
tells 2 "$work/home/data" check home.cfg

[ "$failures" -eq 0 ]
