#!/bin/bash
# install.sh BUILD_DIR SOURCE_DIR CMAKE - an installed program that was moved finds its plugins; a
# plugin is built against it with each compiler, by CMake and by hand, and runs in it.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

# The program takes the plugins of its own prefix, and not those of the build tree.
found=$("$osafl" help aggregator/fedavg | sed -n 's/^file *//p')
[ "$found" = "$(find "$prefix" -path '*/osafl/aggregator/fedavg.so')" ] ||
    fail "the installed program found $found"
"$osafl" plugins > "$work/list"
if grep -q BROKEN "$work/list"; then
    fail "an installed plugin is broken"
fi

# No installed text knows where it was built or first installed.
if grep -rlIF -e "$work/first" -e "$build" -e "$source" "$prefix"; then
    fail "these files name a folder of the build"
fi

# pkg-config follows the move.
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name osafl.pc)")
plugin_dir=$(realpath "$(pkg-config --variable=plugindir osafl)")
[ -f "$plugin_dir/aggregator/fedavg.so" ] || fail "plugindir is $plugin_dir"

# The DESTDIR of a packager is put before the prefix.
quietly env DESTDIR="$work/dest" "$cmake" --install "$build" --prefix /usr
[ -x "$work/dest/usr/bin/osafl" ] || fail "DESTDIR is not respected"

# ---- a plugin, out of tree ----
project=$work/project
mkdir "$project"
cp "$source/tests/conformance/bad/deletion_base.h" "$project"
sed 's/keeps_rules/oldest/' "$source/tests/conformance/bad/keeps_rules.c" > "$project/oldest.c"
cat > "$project/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.18)
project(oldest C)
find_package(osafl 0.10 REQUIRED)
enable_testing()
osafl_add_plugin(NAME oldest KIND deletion SOURCES oldest.c CHECK_ARGUMENTS --skip life --seed 3)
END

exports_only_its_entry() {
    local exported
    exported=$(nm -D --defined-only "$1" | awk '{print $3}' | tr '\n' ' ')
    [ "$exported" = "osafl_plugin_entry_v0 " ] || fail "$1 exports $exported"
}

configure() { # BUILD_FOLDER ARGUMENTS...
    local folder=$1
    shift
    "$cmake" -S "$project" -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" -Wno-dev "$@"
}

run_with() { # PLUGIN_DIR
    quietly "$osafl" run "$source/tests/cli/small.cfg" --quiet --plugin-dir "$1" --out "$1/results" \
        --force --set rounds=2 --set deletion.plugin=oldest
}

for compiler in "${compilers[@]}"; do
    built=$work/build-$compiler
    quietly configure "$built" -DCMAKE_C_COMPILER="$compiler"
    quietly "$cmake" --build "$built"
    exports_only_its_entry "$built/plugins/deletion/oldest.so"
    grep -q 'plugin" *"check" *"--skip" "life" "--seed" "3"' "$built/CTestTestfile.cmake" ||
        fail "CHECK_ARGUMENTS do not reach the check: $(cat "$built/CTestTestfile.cmake")"
    run_with "$built/plugins"

    by_hand=$work/by-hand-$compiler
    mkdir -p "$by_hand/deletion"
    # shellcheck disable=SC2046 # words are wanted
    quietly "$compiler" "$project/oldest.c" -o "$by_hand/deletion/oldest.so" \
        $(pkg-config --variable=plugin_cflags osafl) \
        $(pkg-config --cflags osafl) $(pkg-config --variable=plugin_ldflags osafl)
    exports_only_its_entry "$by_hand/deletion/oldest.so"
    run_with "$by_hand"
done

# Installed below the program's prefix, it needs no option.
quietly "$cmake" --install "$work/build-${compilers[0]}" --prefix "$prefix"
"$osafl" plugins deletion > "$work/list"
grep -q oldest "$work/list" || fail "an installed plugin is not found"

# ---- what is refused ----
refused "-Ofast changes the results" configure "$work/fast" -DCMAKE_C_FLAGS=-Ofast
refused "-ffast-math changes the results" configure "$work/fast-link" \
    -DCMAKE_MODULE_LINKER_FLAGS=-ffast-math
refused "compiled without -ffast-math" gcc -ffast-math -fsyntax-only "-I$prefix/include" \
    "$project/oldest.c"
for version in 0.9 0.11 1.0; do
    sed -i "s/find_package(osafl [0-9.]*/find_package(osafl $version/" "$project/CMakeLists.txt"
    refused "compatible with requested version \"$version\"" configure "$work/version-$version"
done
sed -i 's/osafl 1.0/osafl 0.10/; s/KIND deletion/KIND deleter/' "$project/CMakeLists.txt"
refused '"deleter" is no kind' configure "$work/kind"
