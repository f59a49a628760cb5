#!/usr/bin/env bash
# usage: reading.sh READING ARRAY FILE…: reading an array beside `cat` of its files, three times.
set -euo pipefail
reading=$1 array=$2
shift 2

bytes=$(cat "$@" | wc -c) # and the page cache has them
for _ in 1 2 3; do
    start=$(date +%s%N)
    cat "$@" >/dev/null
    end=$(date +%s%N)
    awk -v b="$bytes" -v ns=$((end - start)) \
        'BEGIN { printf "cat               : %6.3f s, %5.2f GB/s\n", ns * 1e-9, b / ns }'
    "$reading" "$array"
done
