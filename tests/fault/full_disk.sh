#!/bin/bash
# full_disk.sh FBP DIR: a disk too small for the volume fails at once, with a remedy, leaving nothing.
set -eu
fbp=$1 dir=$2/disk.$$
if [ "${3:-}" != inside ]; then
    mkdir -p "$dir"
    trap 'rm -rf "$dir"' EXIT
    "$fbp" simulate --phantom shepp-logan --size 64 --views 32 -o "$dir/scan.json" -q
    # Not in a chroot: there a namespace cannot be made private.
    if unshare -m true 2>/dev/null && unshare -m mount -t tmpfs tmpfs "$dir" 2>/dev/null; then
        unshare -m bash "$0" "$fbp" "$dir" inside
    elif unshare -rm true 2>/dev/null; then
        unshare -rm bash "$0" "$fbp" "$dir" inside
    else
        echo "no tmpfs can be mounted here"
        exit 77
    fi
    exit
fi
dir=$2
mkdir -p "$dir/small"
mount -t tmpfs -o size=600k tmpfs "$dir/small"
for name in volume.mha volume.npy volume.mhd volume.raw; do
    if "$fbp" recon "$dir/scan.json" -o "$dir/small/$name" -q 2>"$dir/message"; then
        echo "$name: 1 MiB on a disk of 600 KiB succeeded"
        exit 1
    fi
    cat "$dir/message"
    grep -q "$name" "$dir/message" && grep -qi "free" "$dir/message"
    [ -z "$(ls "$dir/small")" ] || { echo "left behind: $(ls "$dir/small")"; exit 1; }
done
# A volume that fits still works on the same disk.
"$fbp" recon "$dir/scan.json" -o "$dir/small/volume.mha" --size 32 -q
[ "$(ls "$dir/small")" = volume.mha ]
