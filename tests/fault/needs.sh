#!/bin/bash
# needs.sh FBP DIR: what a message says that memory must be at least is enough, and a little less is refused.
set -eu
fbp=$1 dir=$2/needs.$$
mkdir -p "$dir/team"
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$fbp" simulate --size 96 --views 90 -o s.json -q

# recon MEMORY OPTIONS…: by $ranks processes; what the first one says in err.0.
ranks=1
recon() {
    local memory=$1 r status=0 pids=()
    shift
    rm -rf team/*
    for ((r = 1; r < ranks; r++)); do
        FBP_TEAM=$r/$ranks:$dir/team "$fbp" recon s.json "$@" --memory "$memory" -q 2>"err.$r" &
        pids+=($!)
    done
    if [ "$ranks" -gt 1 ]; then
        FBP_TEAM=0/$ranks:$dir/team "$fbp" recon s.json "$@" --memory "$memory" -q 2>err.0 || status=1
        for r in "${pids[@]}"; do wait "$r" || status=1; done
    else
        "$fbp" recon s.json "$@" --memory "$memory" -q 2>err.0 || status=1
    fi
    return $status
}

check() { # OPTIONS…
    local needs less
    ! recon 3M "$@" || { echo "$*: not refused"; exit 1; }
    needs=$(sed -n 's/.*memory: this reconstruction needs at least \([0-9.]*\) MiB, .*/\1/p' err.0)
    [ -n "$needs" ] || { echo "$*: no number"; cat err.0; exit 1; }
    recon "${needs}M" "$@" || { echo "$*: not in ${needs} MiB"; cat err.0; exit 1; }
    less=$(awk "BEGIN { print $needs - 3 }")
    ! recon "${less}M" "$@" || { echo "$*: $needs MiB are not the least: $less MiB are enough"; exit 1; }
    grep -q 'needs at least' err.0 || { cat err.0; exit 1; }
    echo "$ranks processes, $*: $needs MiB"
}

check -o m.mha
check -o m.mha --threads 1
check -o m.mha --device ref
check -o m.mha --device mock
check -o m.mha --device mock:0,1
check -o m.mha --device mock --batch 64 --size 200
check -o m.tif --output-type uint16 --output-range 0,1
check -o m.ome.zarr --size 200 --compress
check -o m.mha --size 1x1x1000000 --voxel 1x1x1e-6
check -o m.mha --rings sorting
check -o m.mha --rings sorting --paganin 1000,20
ranks=3
check -o m.mha
check -o m.mha --view-ranks 3
check -o m.mha --rings sorting
