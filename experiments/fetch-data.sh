#!/usr/bin/env bash
# fetch-data.sh [--from FOLDER] [mnist | cifar10 | fashion-mnist]... - puts data sets into
# experiments/data/, where the files of experiments/paper/ look for them.
#
# MNIST and CIFAR-10 come from their official sources or these sources' mirrors; Fashion-MNIST is
# the Debian package dataset-fashion-mnist.  --from takes files that lie below FOLDER already
# (Fashion-MNIST still from its package where FOLDER has none).
# Every file is checked against the published one (MD5 of what is in it, so that it does not matter
# how it was compressed).  What is there and right is left alone.  Default: all three.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data=${OSAFL_DATA:-$here/data}
from=
sets=()

mnist_sources=(https://yann.lecun.com/exdb/mnist
    https://ossci-datasets.s3.amazonaws.com/mnist
    https://storage.googleapis.com/cvdf-datasets/mnist)
cifar10_source=https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz
fashion_folder=/usr/share/datasets/fashion-mnist

mnist_files="6bbc9ace898e44ae57da46a324031adb train-images-idx3-ubyte
a25bea736e30d166cdddb491f175f624 train-labels-idx1-ubyte
2646ac647ad5339dbf082846283269ea t10k-images-idx3-ubyte
27ae3e4e09519cfbb04c329615203637 t10k-labels-idx1-ubyte"
fashion_files="f4a8712d7a061bf5bd6d2ca38dc4d50a train-images-idx3-ubyte
9018921c3c673c538a1fc5bad174d6f9 train-labels-idx1-ubyte
8181f5470baa50b63fa0f6fddb340f0a t10k-images-idx3-ubyte
15d484375f8d13e6eb1aabb0c3f46965 t10k-labels-idx1-ubyte"
cifar10_files="5dd7e06a14cb22eb9f671a540d1b7c25 data_batch_1.bin
5ea93a67294ea407fff1d09f752e9692 data_batch_2.bin
942cd6a4bcdd0dd3c604fbe906cb4421 data_batch_3.bin
ae636b3ba5c66a11e91e8cb52e771fcb data_batch_4.bin
53f37980c15c3d472c316c40844f3f0d data_batch_5.bin
803d5f7f4d78ea53de84dbe85f74fb6d test_batch.bin"

while [ $# -gt 0 ]; do
    case $1 in
    --from)
        from=${2:?--from needs a folder}
        shift
        ;;
    mnist | cifar10 | fashion-mnist) sets+=("$1") ;;
    *)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
[ ${#sets[@]} -gt 0 ] || sets=(mnist cifar10 fashion-mnist)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# md5_of FILE: of what is in it.
md5_of() {
    case $1 in
    *.gz) gzip -dc -- "$1" 2>/dev/null || true ;;
    *) cat -- "$1" ;;
    esac | md5sum | cut -d' ' -f1
}

# holds FOLDER LIST: every file is there, plain or .gz, and right.
holds() {
    local sum name file
    while read -r sum name; do
        file=$1/$name
        [ -f "$file" ] || file=$file.gz
        [ -f "$file" ] && [ "$(md5_of "$file")" = "$sum" ] || return 1
    done <<< "$2"
}

# take FOLDER LIST SET: copies right files that lie below FOLDER, in whatever subfolder; all of the
# list or none.  What is a link here leads to somebody's own: the link alone is replaced.
take() {
    local sum name file from into=$data/$3 aside=$data/.$3.new right=()
    from=$(realpath -- "$1") || return 1
    while read -r sum name; do
        while IFS= read -r -d '' file; do
            [ "$(md5_of "$file")" = "$sum" ] || continue
            right+=("$file")
            continue 2
        done < <(find -L "$from" -type f \( -name "$name" -o -name "$name.gz" \) -print0)
        echo "fetch-data.sh: no right $name (MD5 $sum) lies below $1" >&2
        return 1
    done <<< "$2"
    # Copied aside first: what is right may lie in the folder itself, or behind a link in it.
    rm -rf -- "$aside"
    if ! { mkdir -p "$aside" && cp -L -- "${right[@]}" "$aside/"; }; then
        rm -rf -- "$aside"
        return 1
    fi
    if [ -L "$into" ]; then rm -- "$into" || return 1; fi
    mkdir -p "$into" || return 1
    for file in "$aside"/*; do
        mv -f -- "$file" "$into/" || return 1
        # Of the two forms, the plain one is read.
        name=$(basename "$file" .gz)
        [[ $file != *.gz ]] || rm -f -- "$into/$name" || return 1
    done
    rmdir "$aside"
}

download() { # URL FILE
    if command -v curl > /dev/null; then
        curl -fsSL --retry 2 --connect-timeout 20 -o "$2" "$1"
    elif command -v wget > /dev/null; then
        wget -q --tries=3 --timeout=20 -O "$2" "$1"
    else
        echo "fetch-data.sh: neither curl nor wget is installed" >&2
        return 1
    fi
}

download_mnist() {
    local source sum name
    for source in "${mnist_sources[@]}"; do
        echo "Getting MNIST from $source ..." >&2
        while read -r sum name; do
            download "$source/$name.gz" "$work/$name.gz" || continue 2
        done <<< "$mnist_files"
        take "$work" "$mnist_files" mnist && return 0
    done
    return 1
}

download_cifar10() {
    echo "Getting CIFAR-10 from $cifar10_source ..." >&2
    download "$cifar10_source" "$work/cifar10.tar.gz" &&
        tar -xzf "$work/cifar10.tar.gz" -C "$work" &&
        take "$work" "$cifar10_files" cifar10
}

# No internet is needed for it where the machine has a mirror of Debian.
link_fashion() {
    [ -d "$fashion_folder" ] || "$here/need-packages.sh" dataset-fashion-mnist || return 1
    mkdir -p "$data"
    if [ -d "$data/fashion-mnist" ] && [ ! -L "$data/fashion-mnist" ]; then
        take "$fashion_folder" "$fashion_files" fashion-mnist
    else
        ln -sfn "$fashion_folder" "$data/fashion-mnist"
    fi
}

give_up() { # SET LIST
    cat >&2 <<END
fetch-data.sh: $1 could not be fetched.  On a machine with internet access, get
$(cut -d' ' -f2 <<< "$2" | sed 's/^/    /')
(each plain or as .gz), copy them here, and run
    experiments/fetch-data.sh --from FOLDER $1
END
    exit 1
}

for set in "${sets[@]}"; do
    case $set in
    mnist) files=$mnist_files fetch=download_mnist ;;
    cifar10) files=$cifar10_files fetch=download_cifar10 ;;
    fashion-mnist) files=$fashion_files fetch=link_fashion ;;
    esac
    if holds "$data/$set" "$files"; then
        continue
    elif [ -n "$from" ] && [ "$set" != fashion-mnist ]; then
        take "$from" "$files" "$set" || exit 1
    elif [ -z "$from" ] || ! take "$from" "$files" "$set" 2> "$work/told"; then
        $fetch || give_up "$set" "$files"
    fi
    if ! holds "$data/$set" "$files"; then
        cat "$work/told" 2> /dev/null || true
        give_up "$set" "$files"
    fi >&2
    echo "$set: $data/$set" >&2
done
