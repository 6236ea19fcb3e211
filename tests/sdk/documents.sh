#!/bin/bash
# documents.sh BUILD_DIR SOURCE_DIR CMAKE - the reference is that of today's tables, rules and checks
# agree, links lead somewhere, the man page is in order, versions are the same everywhere.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

"$source/sdk/make_reference.sh" "$build/osafl" > "$work/reference.md"
diff -u "$source/sdk/REFERENCE.md" "$work/reference.md" > "$work/difference" || {
    head -40 "$work/difference"
    fail "sdk/REFERENCE.md is not current; make it again: sdk/make_reference.sh $build/osafl > sdk/REFERENCE.md"
}

# Each rule that a check names is one of RULES.md, which numbers them without a gap.
grep -oE '^\*\*R[0-9]+' "$source/sdk/RULES.md" | tr -d '*' > "$work/rules"
[ "$(sort -u "$work/rules" | wc -l)" -eq "$(wc -l < "$work/rules")" ] || fail "a rule is there twice"
diff "$work/rules" <(seq -f 'R%g' "$(wc -l < "$work/rules")") || fail "rules are not numbered in order"
"$osafl" plugin check --list | awk '{print $2}' | sort -u | while read -r rule; do
    grep -qx "$rule" "$work/rules" || fail "a check names $rule, which RULES.md lacks"
done

# Links between documents, from where they are installed and from the source tree.
for document in "$source"/sdk/*.md "$source/README.md"; do
    { grep -oE '\]\([^):#]+' "$document" || true; } | sed -n 's/^](//; /^http/!p' | while read -r target; do
        [ -e "$(dirname "$document")/$target" ] || fail "$document links to $target"
    done
done

# The README of an installation mentions nothing that only a source tree has.
installed=$(dirname "$(find "$prefix" -name FIRST_AGGREGATOR.md)")
for document in "$installed"/*.md; do
    { grep -oE '\]\([^):#]+' "$document" || true; } | sed -n 's/^](//; /^http/!p' | while read -r target; do
        [ -e "$installed/$target" ] || fail "the installed $document links to $target"
    done
done
if grep -nE 'build/osafl|\.sh|^## (Start|Layout)' "$installed/README.md"; then
    fail "the installed README mentions the source tree"
fi
for text in ../../osafl/plugins/aggregator/fedavgm.c ../../osafl/experiments/quickstart.cfg; do
    [ -f "$installed/$text" ] || fail "$text is not installed"
done

man_page=$(find "$prefix" -name osafl.1)
[ -n "$man_page" ] || fail "no man page is installed"
for word in 'osafl run' 'osafl plugin check' 'plugin\\-dir' OSAFL_PLUGIN_PATH; do
    grep -q "$word" "$man_page" || fail "the man page does not name $word"
done
if command -v groff > /dev/null; then
    complaints=$(groff -man -Tutf8 -ww "$man_page" 2>&1 > /dev/null)
    [ -z "$complaints" ] || fail "groff reports: $complaints"
fi

version=$("$osafl" --version | cut -d' ' -f2)
grep -q "^## $version" "$source/sdk/CHANGES.md" || fail "CHANGES.md does not know version $version"
grep -q "^version: $version$" "$source/sdk/CITATION.cff" || fail "CITATION.cff has another version"
interface=$("$osafl" --version | sed -E 's/.*interface ([0-9.]+).*/\1/')
grep -q "^Plugin interface $interface" "$source/sdk/CHANGES.md" ||
    fail "CHANGES.md does not know plugin interface $interface"
