#!/bin/bash
# memory.sh FBP PEAK REPACK DIR [slow]: --memory is a hard limit on the peak resident set, and changes no bit.
set -eu
fbp=$1 peak=$2 repack=$3 dir=$4/memory.$$ slow=${5:-}
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

check() { # NAME LIMIT_MIB "recon options" simulate options …
    local name=$1 limit=$2
    read -ra volume <<<"$3"
    shift 3
    "$fbp" simulate --phantom shepp-logan "$@" -o "$dir/scan.json" -q
    local whole
    whole=$("$fbp" recon "$dir/scan.json" "${volume[@]}" -o hash: -q)
    for threads in 1 2 5; do
        local got
        got=$("$peak" "$limit" "$fbp" recon "$dir/scan.json" "${volume[@]}" -o hash: --memory "${limit}M" \
            --threads $threads -q)
        [ "$got" = "$whole" ] || { echo "$name: $threads threads in $limit MiB: $got, not $whole"; exit 1; }
        [ -z "$slow" ] || break
    done
    "$peak" "$limit" "$fbp" recon "$dir/scan.json" "${volume[@]}" -o "$dir/volume.mha" --memory "${limit}M" -q
    "$peak" "$limit" "$fbp" recon "$dir/scan.json" "${volume[@]}" -o "$dir/volume.mha" --memory "${limit}M" -q \
        --report "$dir/report.html"
    echo "$name: the same volume, $whole, in $limit MiB"
    [ -n "$slow" ] || check_packed
    rm -rf "${dir:?}"/*
}

# What readers hold counts, too: decoded chunks, the handles of files.
check_packed() {
    local packed got
    "$repack" "$dir/scan.mha" "$dir/views.h5"
    "$repack" "$dir/scan.mha" "$dir/views"
    for packed in views.h5:/views views; do
        sed "s|scan.mha|$packed|" "$dir/scan.json" >"$dir/packed.json"
        got=$("$peak" "$limit" "$fbp" recon "$dir/packed.json" "${volume[@]}" -o hash: \
            --memory "${limit}M" -q)
        [ "$got" = "$whole" ] || { echo "$name: $packed in $limit MiB: $got, not $whole"; exit 1; }
    done
}

if [ -n "$slow" ]; then
    check "1024x1024x512 from 180 views of 512x512" 600 \
        "--size 1024x1024x512 --voxel 0.25x0.25x0.5" --size 512 --views 180 --detector 512x512
else
    check "256^3 from 360 views of 384x384" 150 "--size 256" \
        --size 256 --views 360 --detector 384x384
    # Chunks are raised to levels, and packed, by as many threads as memory has room for.
    "$fbp" simulate --size 320 --views 60 --detector 400x400 -o "$dir/scan.json" -q
    for options in "" --compress "--device mock --compress"; do
        read -ra how <<<"$options"
        FBP_CHUNK=128 "$peak" 100 "$fbp" recon "$dir/scan.json" --size 320 -o "$dir/v.ome.zarr" "${how[@]}" \
            --memory 100M -q
    done
    # Pretended devices lie in the host's memory, several of them several times.
    "$fbp" simulate --size 128 --views 60 -o "$dir/scan.json" -q
    for device in mock mock:0,1 mock:3,0,1; do
        "$peak" 45 "$fbp" recon "$dir/scan.json" --device $device -o null: --memory 45M -q
    done
    # A slice has its line in tables: tall volumes keep to the limit, or are refused.
    for slices in 1000000 2000000 30000000; do
        echo "{\"fbp_scan\": 1, \"geometry\": \"scan.json\", \"projections\": \"scan.mha\"}" >"$dir/tall.json"
        "$peak" 100 "$fbp" recon "$dir/tall.json" --size 1x1x$slices --voxel 1x1x1e-7 -o hash: --memory 100M -q \
            2>"$dir/err" || grep -q '^fbp: memory: this reconstruction needs at least' "$dir/err" ||
            { cat "$dir/err"; exit 1; }
    done
    # Nor does a TIFF's directory of every slice take any.
    "$peak" 60 "$fbp" recon "$dir/tall.json" --size 1x1x500000 --voxel 1x1x1e-6 -o "$dir/tall.tif" --memory 60M -q
    rm "$dir/tall.tif"
    # A sweep's pictures and sheet count, too: it says so before the work, or keeps to it.
    "$fbp" simulate --size 64 --views 30 -o "$dir/scan.json" -q
    sweep=(recon "$dir/scan.json" --size 384x384x3 --voxel 0.6 --sweep centre=44:48:0.04 -o "$dir/sheet.png" -q)
    if "$fbp" "${sweep[@]}" --memory 100M 2>"$dir/err"; then
        echo "a sweep of 101 pictures in 100 MiB: not refused"
        exit 1
    fi
    grep -q '^fbp: --sweep: 101 images and the contact sheet need 1[0-9.]* MiB, more than --memory' "$dir/err" ||
        { cat "$dir/err"; exit 1; }
    "$peak" 150 "$fbp" "${sweep[@]}" --memory 150M
    echo "a sweep of 101 pictures in 150 MiB"
fi
