#!/bin/bash
# packages.sh BUILD_DIR SOURCE_DIR CMAKE - the tarball and the Debian package hold a program that
# works where they are unpacked.
# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"
cpack=$(dirname "$cmake")/cpack

if ! command -v dpkg-deb > /dev/null; then
    echo "no dpkg-deb here: skipped"
    exit 77
fi
quietly "$cpack" --config "$build/CPackConfig.cmake" -B "$work/packages"

list() { # OSAFL: its plugins, and whether it has a transport of its own
    "$1" plugins | sed "s|, ${1%/bin/osafl}/lib/osafl/transport/|, its own |"
}

check_tree() { # PREFIX
    [ "$("$1/bin/osafl" --version)" = "$("$osafl" --version)" ] || fail "$1: another version"
    list "$1/bin/osafl" > "$work/list" || fail "$1: no plugins"
    diff "$work/list" <(list "$osafl") || fail "$1: other plugins"
    (cd "$prefix" && find . -type f | sort) > "$work/wanted"
    (cd "$1" && find . -type f | sort) > "$work/got"
    diff "$work/wanted" "$work/got" || fail "$1: other files than an installation has"
}

mkdir "$work/tar" "$work/deb"
tar -xzf "$work/packages"/osafl-*.tar.gz -C "$work/tar" --strip-components=1
check_tree "$work/tar"

deb=$(find "$work/packages" -maxdepth 1 -name 'osafl_*.deb')
dpkg-deb -x "$deb" "$work/deb"
check_tree "$work/deb/usr"
for field in Depends Description Maintainer Version; do
    [ -n "$(dpkg-deb -f "$deb" $field)" ] || fail "the Debian package has no field $field"
done
dpkg-deb -f "$deb" Depends | grep -q libconfig || fail "the Debian package misses dependencies"
