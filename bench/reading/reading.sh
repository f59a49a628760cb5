#!/usr/bin/env bash
# usage: reading.sh READING FOLDER [GIB]: measures how fast arrays are read (bench/results/cpu.md).
# READING is the program build/release/bin/reading.  It makes scans of GIB GiB (default 2) in FOLDER,
# unless they are there; compressed ones have a quarter of the size.  A scan must fit into free
# memory, so that it is read from the page cache.  ROUNDS (default 7): how often each is measured.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
reading=$1 folder=$2 mib=$(awk -v gib="${3:-2}" 'BEGIN { print int(1024 * gib) }')
cores=$(nproc) # those that this process may use
threads=1
[ "$cores" -ge 2 ] && threads=1,2
[ "$cores" -gt 2 ] && threads=1,2,$cores

# KIND FILE MIB: a file gets its final name when it is complete.
make() {
    [ -e "$folder/$2" ] && return
    echo "making $2" >&2
    rm -rf "$folder/part"
    "$reading" --make "$1" "$folder/part" "$3"
    mv "$folder/part" "$folder/$2"
}

mkdir -p "$folder"
grep -m1 'model name' /proc/cpuinfo || true
echo "cores: $cores, load: $(cut -d' ' -f1-3 /proc/loadavg), $(date -u +%F)"
while read -r kind file part; do
    size=$((mib / part))
    make "$kind" "${mib}M-$file" "$size"
    "$reading" --threads "$threads" --rounds "${ROUNDS:-7}" "$folder/${mib}M-$file"
    echo
done <<'KINDS'
tiff tiff 1
hdf5 uint16.h5 1
hdf5-deflate deflate.h5 4
tiff-deflate deflate.tif 4
tiff-lzw lzw.tif 4
tiff-big-endian tiff-big-endian 1
uint8 uint8.mha 1
int16 int16.mha 1
float32 float32.mha 1
KINDS
