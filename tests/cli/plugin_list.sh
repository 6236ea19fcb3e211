#!/bin/bash
# plugin_list.sh OSAFL SOURCE_DIR - `osafl plugins` lists what there is, outlives broken plugins,
# finds a file that was put into a folder, and is not for set-user-id use.  Without transport/mpi.so
# it, `check` and a run over ranks say what is missing.
set -u
osafl=$1
file=$2/tests/cli/small.cfg
bad=$(dirname "$osafl")/tests/bad
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

fail() {
    echo "FAIL: $1"
    status=1
}

expect() { # TEXT FILE
    grep -qF -- "$1" "$2" || { fail "\"$1\" is not in:"; cat "$2"; }
}

# Every kind, and plugins of it.
"$osafl" plugins > "$work/all" 2>&1 || fail "plugins ended with status $?"
for kind in dataset model channel resource optimizer quantizer deletion aggregator partition drift \
    arrival selection filter transport; do
    expect "$kind: " "$work/all"
done
expect "  osafl " "$work/all"

# A copied file is found by its name; broken ones are told and harm nobody.
mkdir -p "$work/mine/deletion"
for name in keeps_rules crash_on_load exit_on_load; do
    cp "$bad/deletion/$name.so" "$work/mine/deletion/"
done
echo 'not ELF' > "$work/mine/deletion/text.so"
cp "$bad/deletion/keeps_rules.so" "$work/mine/deletion/Not-A-Name.so"
chmod -R go-w "$work/mine"
"$osafl" plugins deletion --plugin-dir "$work/mine" > "$work/list" 2>&1 ||
    fail "plugins ended with status $?"
expect "Removes the first samples" "$work/list"
expect "BROKEN (signal 11)" "$work/list"
expect "BROKEN (ended the program, status 3)" "$work/list"
expect "is not a shared object (no ELF header)" "$work/list"
expect "topk" "$work/list"
! grep -q "Not-A-Name" "$work/list" || fail "a file whose name is no plugin's is listed"

# A program with all plugins but the transport; then with a file that is none.
mkdir -p "$work/bare/plugins/transport"
cp "$osafl" "$work/bare/osafl"
for folder in "$(dirname "$osafl")"/plugins/*/; do
    [ "$(basename "$folder")" = transport ] || ln -s "$folder" "$work/bare/plugins/"
done
chmod -R go-w "$work/bare"
"$work/bare/osafl" plugins > "$work/list" 2>&1
if grep -q "by transport mpi" "$work/list"; then
    echo "a missing transport was not tried: one is installed"
else
    "$work/bare/osafl" check "$file" > "$work/check" 2>&1 || fail "check ended with status $?"
    "$work/bare/osafl" run "$file" --transport mpi --out "$work/none" > "$work/run" 2>&1
    [ $? -eq 2 ] || fail "a run without its transport did not end with status 2"
    expect "ranks of MPI           none, as no folder of plugins has transport/mpi.so" "$work/check"
    expect "there is no transport \"mpi\"" "$work/run"
    for each in list check run; do
        expect "CMake builds transport/mpi.so where it finds MPI" "$work/$each"
        expect "libopenmpi-dev" "$work/$each"
    done
fi
echo 'not ELF' > "$work/bare/plugins/transport/mpi.so"
chmod go-w "$work/bare/plugins/transport/mpi.so"
"$work/bare/osafl" plugins > "$work/list" 2>&1
expect "ranks of MPI: none: " "$work/list"
expect "transport/mpi.so is not a shared object (no ELF header)" "$work/list"
mpi=$(dirname "$osafl")/plugins/transport/mpi.so
[ ! -e "$mpi" ] || expect "ranks of MPI: by transport mpi, $(readlink -f "$mpi")" "$work/all"

# Another user's privileges and code by name do not go together.  The leak checker needs to trace
# its own process, which such a program may not.
if ldd "$osafl" | grep -q libasan; then
    echo "set-user-id use was not tried: the address sanitizer cannot run so"
elif [ "$(id -u)" -eq 0 ] && cp "$osafl" "$work/osafl" && chown 1 "$work/osafl" &&
    chmod 4755 "$work/osafl" && ! findmnt -no OPTIONS -T "$work" 2> /dev/null | grep -qw nosuid; then
    "$work/osafl" plugins > "$work/suid" 2>&1
    [ $? -eq 2 ] || fail "a set-user-id program did not end with status 2"
    expect "must not run with privileges of another user" "$work/suid"
else
    echo "set-user-id use was not tried: only root can"
fi
exit $status
