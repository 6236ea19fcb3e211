#!/usr/bin/env bash
# need-packages.sh PACKAGE... - makes sure that Debian packages are installed.
#
# Installs what is missing with apt-get when that is possible without a question (as root, or with
# sudo that asks for no password or sits at a terminal); otherwise prints the one line to run and
# ends with status 1.
set -euo pipefail

missing=()
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
        as_root=(sudo)
    else
        echo "These packages are missing. Please run, as root:" >&2
        echo "    apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi

echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -q &&
       "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
       >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "apt-get failed; the packages needed are: ${missing[*]}" >&2
    exit 1
fi
