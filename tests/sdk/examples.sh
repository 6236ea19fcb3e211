#!/bin/bash
# examples.sh BUILD_DIR SOURCE_DIR CMAKE - the examples are built out of tree with each compiler, keep
# the rules, withstand an attack that the mean does not, and keep exceptions inside.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"

cp -r "$source/sdk/examples" "$work/project"
torch=() # libtorch's headers take long: with the first compiler only
for compiler in "${compilers[@]}"; do
    cxx=${compiler/gcc/g++}
    cxx=${cxx/clang/clang++}
    command -v "$cxx" > /dev/null || continue
    built=$work/$compiler
    quietly "$cmake" -S "$work/project" -B "$built" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="$cxx" \
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" \
        "${torch[@]}"
    torch=(-DTORCH_HEADERS=OFF)
    quietly "$cmake" --build "$built"
    (cd "$built" && quietly ctest --output-on-failure)

    # Columns by name, from the last rounds of the three cases.
    accuracy() {
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_accuracy") column = i }
                 END { print $column }' "$built"/results/attacked/"$1"/*/rounds.csv
    }
    for rule in geometric_median centered_clipping; do
        awk -v mean="$(accuracy mean)" -v robust="$(accuracy $rule)" \
            'BEGIN { exit !(robust > mean + 0.2) }' ||
            fail "$rule has accuracy $(accuracy $rule), the mean $(accuracy mean)"
    done

    # A rule in Python: a run, and a mistake in the script.
    if [ -e "$built/plugins/aggregator/python_weights.so" ]; then
        by_python() { # SCRIPT FOLDER
            "$osafl" run "$source/tests/cli/small.cfg" --quiet --plugin-dir "$built/plugins" \
                --out "$2" --set rounds=3 --set aggregator.plugin=python_weights \
                --set aggregator.python_weights.script="$1"
        }
        sed 's/sum(raw)/sum(rwa)/' "$work/project/weights.py" > "$work/wrong.py"
        quietly by_python "$work/project/weights.py" "$built/by_python"
        refused "line 14, in weights total = sum(rwa) NameError: name 'rwa' is not defined" by_python "$work/wrong.py" "$built/wrong"
    else
        echo "python_weights is skipped: no python3-dev"
    fi

    # A module of TorchScript trains, with the same bytes on any number of threads.
    if [ -e "$built/plugins/model/torchscript.so" ]; then
        for threads in 1 3; do
            quietly "$osafl" run "$source/tests/cli/small.cfg" --quiet --threads $threads \
                --plugin-dir "$built/plugins" --out "$built/torch-$threads" --set rounds=6 \
                --set model.plugin=torchscript --set model.torchscript.file="$built/module.pt"
        done
        cmp "$built/torch-1/clients.csv" "$built/torch-3/clients.csv"
        cmp "$built/torch-1/rounds.csv" "$built/torch-3/rounds.csv"
    elif [ "$compiler" = "${compilers[0]}" ]; then
        echo "torchscript is skipped: no libtorch-dev"
    fi

    # What the C++ plugin throws is a message and exit status 1, not the end of the program.
    cp -r "$work/project" "$work/throwing-$compiler"
    sed -i 's/std::vector<double> weight(u.n);/&\n        if (u.round == 1)\n            throw std::runtime_error("thrown on purpose");/
            s/#include <vector>/#include <stdexcept>\n&/' "$work/throwing-$compiler/centered_clipping.cc"
    quietly "$cmake" -S "$work/throwing-$compiler" -B "$built-throwing" \
        -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="$cxx"
    quietly "$cmake" --build "$built-throwing" --target aggregator_centered_clipping
    status=0
    "$osafl" run "$source/tests/cli/small.cfg" --quiet --plugin-dir "$built-throwing/plugins" \
        --out "$built-throwing/results" --set rounds=3 \
        --set aggregator.plugin=centered_clipping > "$work/thrown" 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -q 'round 1.*thrown on purpose' "$work/thrown"; then
        cat "$work/thrown"
        fail "an exception ended the program with exit status $status"
    fi
done

# The one in Rust, by the commands that RECIPES.md shows, where there are the tools.
if command -v rustc > /dev/null && command -v bindgen > /dev/null; then
    # shellcheck disable=SC2016 # the pattern is meant as it stands
    sed -n '/^```sh$/,/^```$/{//!p}' "$source/sdk/RECIPES.md" > "$work/commands"
    (cd "$work/project" && PATH=$prefix/bin:$PATH quietly bash -e "$work/commands")
    awk -F, 'NR > 1 && $3 == 1 && ($1 + $2) % 2 { exit 1 } END { exit NR < 2 }' \
        "$work/project/by_turns/clients.csv" || fail "take_turns asked a client out of turn"
else
    echo "take_turns.rs is skipped: no rustc or no bindgen (Debian: apt-get install rustc bindgen)"
fi
