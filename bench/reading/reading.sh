#!/usr/bin/env bash
# usage: reading.sh READING ARRAY FILE…: reading an array beside `cat` of its files, three times.
set -euo pipefail
reading=$1 array=$2
shift 2

bytes=$(cat "$@" | wc -c) # and the page cache has them
for _ in 1 2 3; do
    TIMEFORMAT='%R %U %S'
    { time cat "$@" >/dev/null; } 2>&1 | awk -v b="$bytes" '{
        printf "cat               : %6.3f s, %5.2f GB/s, %6.3f s of CPU\n", $1, b * 1e-9 / $1, $2 + $3 }'
    "$reading" "$array"
done
