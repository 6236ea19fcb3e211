#!/bin/bash
# compatibility.sh PROGRAM SOURCE_DIR SANITIZERS - plugins and program of different minors work together (the
# rule is in sdk/RULES.md, Versions): plugins that were built with the kept headers in a program
# whose structs have one more member each, and plugins with one more member in this program.  One
# plugin of every kind takes part, and the results have the same bytes.  What cannot work together
# is refused with both sides and the remedy.
#
# compatibility.sh record SOURCE_DIR - keeps the present headers, and plugins made from the templates.
set -eu
program=$1
source=$2
kept=$source/tests/abi/kept
if [ -n "${3:-}" ]; then
    echo "sanitizers add symbols of their own: skipped"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    exit 1
}

if [ "$program" = record ]; then
    rm -rf "$kept"
    mkdir -p "$kept/include" "$kept/plugins"
    cp -r "$source/include/osafl" "$kept/include"
    for file in "$source"/sdk/template/*.c; do
        sed "s/@name@/kept/g; s/@kind@/$(basename "$file" .c)/g" "$file" \
            > "$kept/plugins/$(basename "$file")"
    done
    sed -e '/^#/d' -e 's/ sgd: {[^}]*};//' -e 's/@[a-z]*@/kept/g' \
        "$source/sdk/template/experiment.cfg" > "$kept/experiment.cfg"
    exit 0
fi

# Until the next minor, what is kept is what there is.
minor() {
    sed -n 's/^#define OSAFL_ABI_MINOR //p' "$1/include/osafl/base.h"
}
if [ "$(minor "$source")" = "$(minor "$kept")" ] &&
    ! diff -r "$source/include" "$kept/include" > /dev/null; then
    fail "the headers are not those that are kept; run tests/abi/compatibility.sh record ."
fi

# grow FOLDER - one more member at the end of each struct that can grow, and the next minor.
grow() {
    local header
    for header in "$1"/osafl/*.h; do
        awk '/^(typedef )?struct osafl_[a-z_]+ \{$/ {
                 name = $(NF - 1)
                 grows = name ~ /^osafl_(param|metric|tensor)$/
                 first = NR + 1
             }
             NR == first && name != "osafl_lifecycle" &&
                 /^    (uint32_t struct_size|osafl_lifecycle life);/ { grows = 1 }
             /^\}/ {
                 if (grows)
                     print "    uint64_t one_more;"
                 grows = 0
             }
             { print }' "$header" > "$work/grown.h"
        cp "$work/grown.h" "$header"
    done
    sed -i 's/^\(#define OSAFL_ABI_MINOR\) 2$/\1 3/' "$1/osafl/base.h"
    grep -q '^#define OSAFL_ABI_MINOR 3$' "$1/osafl/base.h" || fail "the minor was not raised"
}

# compile INCLUDE_DIR OUTPUT_DIR [SED] - the kept plugins, one of every kind, after an edit.
compile() {
    local file kind
    for file in "$kept"/plugins/*.c; do
        kind=$(basename "$file" .c)
        mkdir -p "$2/$kind"
        sed "${3:-}" "$file" > "$work/plugin.c"
        gcc -std=c11 -O2 -ffp-contract=off -fvisibility=hidden -shared -fPIC "-I$1" \
            "$work/plugin.c" -o "$2/$kind/kept.so" -lm
    done
}

# run PROGRAM PLUGIN_DIR NAME
run() {
    "$1" run "$kept/experiment.cfg" --quiet --plugin-dir "$2" --out "$work/run/$3" --threads 1 \
        --transport kept --ranks 2 ||
        fail "the run \"$3\" failed"
}

# refused PLUGIN_DIR WORDS... - this program refuses the plugins, in these words.
refused() {
    local dir=$1 words
    shift
    ! "$program" check "$kept/experiment.cfg" --plugin-dir "$dir" > "$work/out" 2>&1 ||
        fail "the plugins in $dir are not refused"
    for words in "$@"; do
        grep -qF -- "$words" "$work/out" || { cat "$work/out"; fail "it does not say \"$words\""; }
    done
}

mkdir -p "$work/grown" "$work/run"
cp -r "$source"/{CMakeLists.txt,core,include,plugins,sdk,LICENSE,README.md,CONTRIBUTING.md} \
    "$work/grown"
grow "$work/grown/include"
grown=$(grep -h one_more "$work"/grown/include/osafl/*.h | wc -l)
can_grow=$(grep -hE '^    (uint32_t struct_size|osafl_lifecycle life);' "$source"/include/osafl/*.h |
    wc -l)
# Of these osafl_lifecycle, which stands by value in other structs, cannot; rows of tables can.
[ "$grown" -eq $((can_grow - 1 + 3)) ] || fail "$grown structs have grown, and $can_grow can"
cmake -S "$work/grown" -B "$work/build" -DOSAFL_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug > "$work/log" &&
    cmake --build "$work/build" --target osafl -j2 >> "$work/log" 2>&1 ||
    { tail -40 "$work/log"; fail "the program with grown structs cannot be built"; }

compile "$kept/include" "$work/old"
compile "$work/grown/include" "$work/new" 's/OSAFL_PLUGIN_HEAD,/& .abi_minor_needed = 2,/'
run "$program" "$work/old" same
run "$work/build/osafl" "$work/old" old-in-new
run "$program" "$work/new" new-in-old
for pair in old-in-new new-in-old; do
    for file in rounds.csv clients.csv model.safetensors; do
        cmp "$work/run/same/$file" "$work/run/$pair/$file" || fail "$pair: other results"
    done
done

# A plugin of another minor keeps the rules as tried by this program.
for pair in "$work/build/osafl $work/old" "$program $work/new"; do
    read -r checker plugins <<< "$pair"
    for kind in model resource arrival transport; do
        "$checker" plugin check "$plugins/$kind/kept.so" > "$work/out" ||
            { cat "$work/out"; fail "$kind, $pair: the check fails"; }
    done
done

# Built for a newer minor, and not able to do without it.
compile "$work/grown/include" "$work/newer"
refused "$work/newer" "was built for ABI 0.3 and needs a program with ABI 0.3" \
    "this program has ABI 0.2" "install a newer osafl, or rebuild it with the headers of osafl"
# Built for another major.
cp -r "$kept/include" "$work/major"
sed -i 's/osafl_plugin_entry_v0/osafl_plugin_entry_v1/; s/^\(#define OSAFL_ABI_MAJOR\) 0$/\1 1/' \
    "$work"/major/osafl/*.h
compile "$work/major" "$work/other"
refused "$work/other" "was built for ABI 1 (it exports osafl_plugin_entry_v1)" \
    "this program has ABI 0.2" "rebuild it with the headers of osafl"
# Of another kind than its folder.
mkdir -p "$work/swapped"
cp -r "$work"/old/* "$work/swapped"
cp "$work/old/model/kept.so" "$work/swapped/dataset/kept.so"
refused "$work/swapped" "is of kind model but lies in the folder of kind dataset" \
    "move it to model/, or fix .kind"
echo "$grown structs with one more member"
