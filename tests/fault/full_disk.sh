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
for name in volume.mha volume.npy volume.mhd volume.raw volume.ome.zarr volume.h5; do
    if "$fbp" recon "$dir/scan.json" -o "$dir/small/$name" -q 2>"$dir/message"; then
        echo "$name: 1 MiB on a disk of 600 KiB succeeded"
        exit 1
    fi
    cat "$dir/message"
    grep -q "$name" "$dir/message" && grep -qi "free" "$dir/message"
    [ -z "$(ls "$dir/small")" ] || { echo "left behind: $(ls "$dir/small")"; exit 1; }
done
# A page that is lost in the middle of a run, and whose room another program took: the run ends with a
# message, its slices stay, and with room the output is completed.
mount -o remount,size=1300k "$dir/small"
"$fbp" recon "$dir/scan.json" -o "$dir/whole.npy" -q
"$fbp" recon "$dir/scan.json" -o "$dir/small/v.npy" --part 1/2 -q
fallocate --punch-hole --offset 700000 --length 200000 "$dir/small/v.npy.part"
head -c 1300000 /dev/zero >"$dir/small/fill" 2>/dev/null || true
if "$fbp" recon "$dir/scan.json" -o "$dir/small/v.npy" --part 2/2 -q 2>"$dir/message"; then
    echo "v.npy: the second part succeeded on a full disk"
    exit 1
fi
cat "$dir/message"
grep -q 'v.npy.*No space left on device; free some space, or write to another disk' "$dir/message"
[ ! -e "$dir/small/v.npy" ]
rm "$dir/small/fill"
"$fbp" recon "$dir/scan.json" -o "$dir/small/v.npy" --part 2/2 -q
cmp "$dir/whole.npy" "$dir/small/v.npy"
rm "$dir/small/v.npy"
mount -o remount,size=600k "$dir/small"

# How large compressed chunks will be is not known before: the disk is full in the middle.  What is there
# has not the output's name, and with more room the run goes on, or the part.
room() { mount -o "remount,size=$1" "$dir/small"; }
chunks() { FBP_CHUNK=16 "$fbp" recon "$dir/scan.json" -o "$dir/small/v.ome.zarr" --compress -q "$@"; }
no_chunks() {
    if chunks "$@" 2>"$dir/message"; then
        echo "v.ome.zarr $*: succeeded on a full disk"
        exit 1
    fi
    cat "$dir/message"
    [ "$(wc -l <"$dir/message")" -eq 1 ]
    grep -q 'v.ome.zarr.*No space left on device; free some space, or write to another disk' "$dir/message"
    [ ! -e "$dir/small/v.ome.zarr" ] || { echo "v.ome.zarr $*: has its name on a full disk"; exit 1; }
}
whole_chunks() {
    "$fbp" compare "$dir/whole.npy" "$dir/small/v.ome.zarr" --tolerance 0 >"$dir/message"
    [ "$(ls "$dir/small")" = v.ome.zarr ] || { echo "left behind: $(ls "$dir/small")"; exit 1; }
    rm -r "$dir/small/v.ome.zarr"
}
for size in 200k 500k 800k 900k; do
    room $size
    no_chunks
    room 4m
    chunks --resume
    whole_chunks
done
room 200k
no_chunks --part 2/2
room 4m
chunks --part 2/2
chunks --part 1/2
whole_chunks
room 600k
# A volume that fits still works on the same disk.
"$fbp" recon "$dir/scan.json" -o "$dir/small/volume.mha" --size 32 -q
[ "$(ls "$dir/small")" = volume.mha ]

# Small files, and a stack, over older ones: those stay as they are.
"$fbp" recon "$dir/scan.json" -o "$dir/whole.mha" -q
mkdir "$dir/small/stack"
rm "$dir/small/volume.mha"
"$fbp" recon "$dir/scan.json" -o "$dir/small/stack/%d.tif" --size 32 -q
"$fbp" view "$dir/whole.mha" -o "$dir/small/p.png" -q
"$fbp" geometry convert "$dir/scan.json" -o "$dir/small/g.json" -q
"$fbp" geometry show "$dir/scan.json" -o "$dir/small/s.svg" -q
head -c 1000000 /dev/zero >"$dir/small/fill" 2>/dev/null || true
sums() { (cd "$dir/small" && find . -type f ! -name fill -exec cksum {} + | sort); }
before=$(sums)
refused() {
    if "$fbp" "$@" 2>"$dir/message"; then
        echo "$*: succeeded on a full disk"
        exit 1
    fi
    cat "$dir/message"
    grep -qi "free some space" "$dir/message"
    [ "$(sums)" = "$before" ] || { echo "$*: an older file has changed, or a new one was left"; exit 1; }
}
refused view "$dir/whole.mha" -o "$dir/small/p.png" -q --mip
refused geometry convert "$dir/scan.json" -o "$dir/small/g.json" -q --flip-u
refused geometry convert "$dir/scan.json" -o "$dir/small/new.json" -q
refused geometry show "$dir/scan.json" -o "$dir/small/s.svg" -q --flip-u
refused simulate --size 16 --views 8 -o "$dir/small/new.json" -q
refused recon "$dir/scan.json" -o "$dir/small/stack/%d.tif" --size 32 --hu 0.02 -q

# A scanner that cannot write ends the run that waits for its views, which else waits for a minute:
# a disk for the simulated scan, but not for that scan once more.
mkdir "$dir/scanner"
mount -t tmpfs -o size=1m tmpfs "$dir/scanner"
for form in raw mha files; do
    got=0
    timeout 50 "$fbp" bench follow --divide 8 --rate 2000 --runs 1 --form $form --device cpu \
        --dir "$dir/scanner" -q 2>"$dir/message" || got=$?
    cat "$dir/message"
    [ $got -eq 1 ] || { echo "bench follow --form $form: status $got on a full disk"; exit 1; }
    [ "$(wc -l <"$dir/message")" -eq 1 ]
    grep -q 'live.*: cannot write the views: .*: free some space or choose another --dir' "$dir/message"
    [ -z "$(ls -A "$dir/scanner")" ] || { echo "left behind: $(ls -A "$dir/scanner")"; exit 1; }
done

# A limit of the size of files is no signal, and has a sentence of its own.
for arguments in "recon $dir/scan.json -o $dir/limited.mha" "recon $dir/scan.json -o $dir/limited.mhd" \
    "recon $dir/scan.json -o $dir/limited.h5" "simulate --size 64 --views 32 -o $dir/limited.json" \
    "view $dir/whole.mha -o $dir/limited.png"; do
    got=0
    # shellcheck disable=SC2086
    (ulimit -f 4 && exec "$fbp" $arguments -q) 2>"$dir/message" || got=$?
    cat "$dir/message"
    [ $got -eq 1 ] || { echo "$arguments: status $got under ulimit -f"; exit 1; }
    grep -q 'too large for this file system (FAT allows 4 GiB per file) or for the limit' "$dir/message"
    [ -z "$(find "$dir" -maxdepth 1 \( -name 'limited*' -o -name '.fbp*' \))" ] ||
        { echo "$arguments: left $(ls -A "$dir")"; exit 1; }
done
