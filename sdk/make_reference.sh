#!/usr/bin/env bash
# make_reference.sh PROGRAM - writes the reference of all kinds of plugins and all settings, made of
# the tables of the program and of its plugins. sdk/REFERENCE.md is its output:
#     sdk/make_reference.sh build/osafl > sdk/REFERENCE.md
set -euo pipefail
program=$1
unset OSAFL_PLUGIN_PATH

fenced() {
    printf '```\n'
    cat
    printf '```\n'
}

cat <<'END'
# Reference of settings

Made by `sdk/make_reference.sh` from the tables of the program and of its plugins; `osafl help` prints
the same. A setting of a plugin stands in a group of its name inside the group of its kind:
`aggregator: { plugin = "osafl"; osafl: { global_learning_rate = 4.0; }; };`.

## The experiment
END
overview=$("$program" help)
fenced <<< "$overview"

# section WORDS - the names in the list of the overview that begins with these words.
section() {
    sed -n "/^$1/,/^\$/s/^  \([a-z_]*\) .*/\1/p" <<< "$overview"
}

for topic in $({ section groups; section 'further topics'; } | awk '!seen[$1]++'); do # results: both
    printf '\n## %s\n\n' "$topic"
    "$program" help "$topic" | fenced
done
for kind in $(section kinds); do
    list=$("$program" help "$kind")
    printf '\n# %s\n\n%s\n' "$kind" "$(head -1 <<< "$list" | sed 's/^[a-z]*: *//')"
    settings=$(sed '1,/^$/d' <<< "$list") # of the kind itself
    [ -z "$settings" ] || { printf '\n'; fenced <<< "$settings"; }
    [ "$kind" != transport ] || continue # these have no settings, and are not in every build
    sed -n '/^$/q; s/^  \([a-z0-9_]*\) .*/\1/p' <<< "$list" | while read -r name; do
        printf '\n## %s/%s\n\n' "$kind" "$name"
        # Where the file lies and for which ABI it was built is no matter of settings.
        "$program" help "$kind/$name" | sed -E '/^file  /d; s/^(version +[^,]*), for ABI.*/\1/' | fenced
    done
done
