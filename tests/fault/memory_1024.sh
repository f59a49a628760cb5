#!/bin/bash
# memory_1024.sh FBP PEAK JSON_GET DIR: 1024^3 from a scan of 1.6 GB: the same volume with all of it in memory,
# in an eighth of that, and with filtered views in a scratch file; never more memory than the plan predicts.
set -eu
fbp=$1 peak=$2 json_get=$3 dir=$4/memory-1024.$$
mkdir -p "$dir/scratch"
trap 'rm -rf "$dir"' EXIT
free_kib=$(df --output=avail -k "$dir" | tail -n 1)
[ "$free_kib" -ge $((5 << 20)) ] || { echo "5 GiB of disk are needed, $free_kib KiB are free"; exit 77; }
"$fbp" simulate --size 1024 --views 384 --detector 1024x1024 -o "$dir/scan.json" -q
[ "$(stat -c %s "$dir/scan.mha")" -ge 1500000000 ]

number() { "$json_get" "$1" <"$dir/plan"; }
fail() {
    echo "FAILED: $*"
    cat "$dir/plan"
    exit 1
}

whole=
check() { # LIMIT_MIB options …: the volume, within what the plan predicts, which is within the limit
    local limit=$1 bytes got started=$SECONDS
    shift
    "$fbp" plan "$dir/scan.json" --json -q --memory "${limit}M" "$@" >"$dir/plan"
    bytes=$(number memory_bytes)
    [ "$bytes" -le $((limit << 20)) ] || fail "$limit MiB $*: $bytes bytes are predicted"
    got=$("$peak" $((bytes >> 20)) "$fbp" recon "$dir/scan.json" -o hash: -q --memory "${limit}M" "$@") ||
        fail "$limit MiB $*: failed, or took more than the $bytes bytes predicted"
    whole=${whole:-$got}
    [ "$got" = "$whole" ] || fail "$limit MiB $*: $got, not $whole"
    [ -z "$(ls -A "$dir/scratch")" ] || fail "$limit MiB $*: left $(ls -A "$dir/scratch")"
    echo "$limit MiB $*: $got, $((bytes >> 20)) MiB predicted, $((SECONDS - started)) s"
}

check 8192
[ "$(number slabs)" -eq 1 ] || fail "8192 MiB: more than one slab"
check 1024
[ "$(number slabs)" -gt 1 ] || fail "1024 MiB: one slab"
check 768 --scratch "$dir/scratch" --threads 2 # with many, to filter again takes less time
[ "$(number scratch_bytes)" -gt 0 ] || fail "the scratch file was not used"
