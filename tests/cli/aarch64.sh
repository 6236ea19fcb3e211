#!/usr/bin/env bash
# The sources compile for 64-bit Arm: everything is checked, the kernels of the models are compiled
# with full optimisation. Libraries' headers are the host's, which differ by nothing that matters
# here.
set -euo pipefail
tree=$2
gcc=aarch64-linux-gnu-gcc
if ! command -v $gcc >/dev/null; then
    echo "skipped: no $gcc (Debian: apt-get install gcc-aarch64-linux-gnu)"
    exit 77
fi
cd "$tree"
openblas=$(pkg-config --cflags openblas)
# shellcheck disable=SC2206 # options, separated by blanks
options=(-std=c11 -D_GNU_SOURCE -DOSAFL_VERSION=\"0\" -DOSAFL_INSTALLED_PLUGIN_DIR=\"/\"
         -DOSAFL_PACKAGE_SUBDIR=\"\" -DOSAFL_PLUGIN_SUBDIR=\"\" -Wall -Wextra -Wconversion -Werror
         -Iinclude -Icore -Iplugins ${openblas//-I/-idirafter } -idirafter /usr/include
         -idirafter "/usr/include/$(cc -print-multiarch)")
while read -r folder; do options+=("-I$folder"); done \
    < <(find core plugins -name '*.h' -printf '%h\n' | sort -u)
check() {
    printf '%s\0' "$@" | xargs -0 -n 8 -P 2 $gcc "${options[@]}" -fsyntax-only
}
mapfile -t sources < <(find core plugins -name '*.c' ! -path '*/nn/compute/*' | sort)
check "${sources[@]}"
kernels=(plugins/model/nn/compute/*.c)
printf '%s\0' "${kernels[@]}" | xargs -0 -I{} -P 2 $gcc "${options[@]}" -DNN_ISA=baseline -O3 \
    -ffp-contract=fast -fno-trapping-math -c {} -o /dev/null
echo "${#sources[@]} sources checked, ${#kernels[@]} compiled"
