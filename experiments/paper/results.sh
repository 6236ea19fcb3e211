#!/usr/bin/env bash
# results.sh pack NAME FOLDER [ROUNDS]
#                               - keeps the finished runs below FOLDER in results/NAME.tar.xz, beside
#                                 those that it holds already: rounds.csv, manifest.json, of
#                                 clients.csv who took part with how many local rounds, and of
#                                 environment.json what the run took to compute. With ROUNDS,
#                                 unfinished runs too that came so far
# results.sh unpack FOLDER      - puts all kept runs into FOLDER, where "osafl report" reads them
# results.sh page [--check]     - computes the tables of RESULTS.md and summary.svg anew from the kept
#                                 runs; --check: only says whether they are current
#
# A table of RESULTS.md stands between lines "<!-- report ARGUMENTS -->" and "<!-- end -->", ARGUMENTS
# being those of "osafl report", with folders relative to the unpacked runs; "accuracy" in place of
# "report": of the tables of each block the first alone; or, for the table of local rounds, "<!-- ccdf
# FOLDER... -->"; or "<!-- compare COMMAND -->", a command of compare.py; or "<!-- compute FOLDER...
# -->", the paragraph with which "osafl report --compute" ends.
# OSAFL: the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kept=$here/results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "results.sh: $1" >&2
    exit "${2:-1}"
}

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

unpack() {
    local archive
    mkdir -p "$1"
    for archive in "$kept"/*.tar.xz; do
        [ -e "$archive" ] || fail "nothing is kept in $kept"
        tar -xJf "$archive" -C "$1"
    done
}

# far_enough RUN [ROUNDS]: whether rounds.csv tells of all rounds of the manifest, or of so many.
far_enough() {
    local rounds has
    rounds=$(sed -n '/"rounds": {/ { n; s/[^0-9]//gp; q }' "$1/manifest.json")
    has=$(($(wc -l <"$1/rounds.csv") - 1))
    [ -n "$rounds" ] && [ "$has" -ge "${2:-$rounds}" ]
}

# thin: of a clients.csv, the columns that "osafl report" and the figure of local rounds read.
thin() {
    awk -F, -v OFS=, '
        NR == 1 {
            for (i = 1; i <= NF; i++) column[$i] = i
            if (!("round" in column && "client" in column && "reason" in column &&
                  "local_rounds" in column))
                exit 1
        }
        { print $column["round"], $column["client"], $column["reason"], $column["local_rounds"] }'
}

# cost: of an environment.json, what "osafl report" reads: no names of machines and folders.
cost() {
    python3 -c 'import json, sys
kept = ("cpu", "cores", "threads", "started", "ended", "failure", "seconds", "cpu_s", "peak_bytes",
        "energy_j", "earlier_seconds", "earlier_cpu_s", "earlier_energy_j")
print(json.dumps({key: value for key, value in json.load(sys.stdin).items() if key in kept}))'
}

pack() {
    local name=$1 from=$2 rounds=${3:-} run into packed=0
    local kind=${rounds:+run of $rounds rounds}
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || fail "\"$name\" is no name of an archive" 2
    [ -d "$from" ] || fail "$from is no folder" 2
    [[ $rounds =~ ^([1-9][0-9]*)?$ ]] || fail "\"$rounds\" is not a number of rounds" 2
    mkdir -p "$kept" "$work/$name"
    [ ! -f "$kept/$name.tar.xz" ] || tar -xJf "$kept/$name.tar.xz" -C "$work/$name"
    while IFS= read -r run; do
        run=${run%/manifest.json}
        into=$work/$name/$run
        if [ ! -f "$from/$run/rounds.csv" ] || ! far_enough "$from/$run" "$rounds"; then continue; fi
        if [ -f "$into/rounds.csv" ] &&
            [ "$(wc -l <"$into/rounds.csv")" -gt "$(wc -l <"$from/$run/rounds.csv")" ]; then
            echo "results.sh: $run is kept with more rounds than it has here; left as it is" >&2
            continue
        fi
        mkdir -p "$into"
        cp "$from/$run/rounds.csv" "$into/"
        # Where the data lay matters to nobody.
        sed -e 's#"\\"/[^"]*/\([^/"]*\)\\""#"\\"\1\\""#' \
            -e 's#"origin": "/[^"]*/\([^/"]*\)"#"origin": "\1"#' \
            "$from/$run/manifest.json" >"$into/manifest.json"
        if [ -f "$from/$run/clients.csv" ]; then
            thin <"$from/$run/clients.csv" >"$into/clients.csv" ||
                fail "$from/$run/clients.csv is not that of a run"
        fi
        rm -f "$into/environment.json"
        if [ -f "$from/$run/environment.json" ]; then
            cost <"$from/$run/environment.json" >"$into/environment.json"
        fi
        packed=$((packed + 1))
    done < <(cd "$from" && find -L . -name manifest.json | sed 's#^\./##' | LC_ALL=C sort)
    [ $packed -gt 0 ] || fail "$from has no ${kind:-finished run}"
    tar -cJf "$kept/$name.tar.xz" -C "$work/$name" --sort=name --mtime=@0 --owner=0 --group=0 \
        --numeric-owner --mode=u=rwX,go=rX .
    echo "$packed runs of $from in $kept/$name.tar.xz"
}

# ccdf FOLDER: the shares of client-rounds with more than 4 local rounds, at the deadlines for which
# the paper prints them.
ccdf() {
    local model levels
    printf '| %s |' "$1"
    for model in squeezenet cnn resnet18; do
        for levels in 2 16; do
            cat "$1/ccdf/model.plugin_${model}_quantizer.qsgd.levels_${levels}_deadline_s_$(
                [ $model = resnet18 ] && echo 180.0 || echo 60.0)"/seed-*/clients.csv |
                awk -F, '$1 != "round" { all++; many += $4 > 4 } END { printf " %.4f |", many / all }'
        done
    done
    printf '\n'
}

# page: RESULTS.md with every table computed.
page() {
    local line arguments folder
    while IFS= read -r line; do
        printf '%s\n' "$line"
        [[ $line =~ ^'<!-- '(report|accuracy|ccdf|compare|compute)' '(.*)' -->'$ ]] || continue
        read -r -a arguments <<<"${BASH_REMATCH[2]}"
        printf '\n'
        case ${BASH_REMATCH[1]} in
        report | accuracy) # headings below the page's
            (cd "$work/runs" && "$osafl" report --published "$here/published.csv" --format markdown \
                "${arguments[@]}" |
                sed 's/^##* /##&/' |
                awk -v directive="${BASH_REMATCH[1]}" '
                    BEGIN { on = 1 }
                    /^#/ || /^Missing/ { on = 1 }
                    directive == "accuracy" && /^Participation/ { on = 0 }
                    on')
            ;;
        ccdf)
            echo "| Channel | SqueezeNet, s = 2 | s = 16 | CNN, s = 2 | s = 16 | ResNet-18, s = 2 | s = 16 |"
            echo "| :-- | --: | --: | --: | --: | --: | --: |"
            echo "| the paper | 0.6709 | 0.5525 | 0.6048 | 0.4816 | 0.8771 | 0.5653 |"
            for folder in "${arguments[@]}"; do (cd "$work/runs" && ccdf "$folder"); done
            printf '\n'
            ;;
        compare)
            python3 "$here/compare.py" "${arguments[@]}" "$work/runs"
            ;;
        compute)
            (cd "$work/runs" && "$osafl" report --compute "${arguments[@]}" | tail -n 1)
            printf '\n'
            ;;
        esac
        while [ "$line" != '<!-- end -->' ]; do
            IFS= read -r line || fail "a table without an end"
        done
        printf '%s\n' "$line"
    done <"$here/RESULTS.md"
}

case "${1:-} $#" in
"pack 3" | "pack 4")
    pack "$2" "$3" "${4:-}"
    ;;
"unpack 2")
    unpack "$2"
    ;;
"page 1" | "page 2")
    [ "${2:---check}" = --check ] || usage
    osafl=$(realpath "${OSAFL:-$here/../../build/osafl}")
    unpack "$work/runs"
    page >"$work/page"
    python3 "$here/compare.py" picture "$work/runs" >"$work/summary.svg"
    if [ $# -eq 1 ]; then
        cp "$work/page" "$here/RESULTS.md"
        cp "$work/summary.svg" "$here/"
    elif ! diff -u "$here/RESULTS.md" "$work/page" || ! cmp "$here/summary.svg" "$work/summary.svg"; then
        fail "RESULTS.md is not current: experiments/paper/results.sh page"
    fi
    ;;
*)
    usage
    ;;
esac
