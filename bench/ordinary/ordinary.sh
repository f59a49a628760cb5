#!/usr/bin/env bash
# usage: bench/ordinary/ordinary.sh OLD_FBP NEW_FBP [DEVICE [RUNS [SIZE]]]
# Ten ordinary reconstructions by two builds of fbp, in turns.  Prints whether the volumes have the
# same bits, and the median seconds of both builds, from the first view to the last slice, as the
# program measures them.  Exit status 1 if bits differ.  OLD_FBP simulates the scans for both.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2") device=${3:-cpu} runs=${4:-3} size=${5:-192}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
differ=0

median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

recon() { # program options...: "hash seconds"
    "$1" recon "${@:2}" --device "$device" -o hash: --json -q 2>/dev/null | tr -d '\n\t ' |
        sed -E 's/.*"hash":"?([0-9a-fx]+).*/\1 &/; s/^([^ ]+) .*"seconds":\{"total":([0-9.e+-]+).*/\1 \2/'
}

one() { # name "simulate options" "recon options"
    local a b i first="" other=""
    # shellcheck disable=SC2086
    "$old" simulate --size "$size" $2 -o "$dir/scan.json" -q
    : >"$dir/a"
    : >"$dir/b"
    for ((i = 0; i < runs; i++)); do
        # shellcheck disable=SC2086
        a=$(recon "$old" "$dir/scan.json" $3)
        # shellcheck disable=SC2086
        b=$(recon "$new" "$dir/scan.json" $3)
        first=${a% *} other=${b% *}
        echo "${a#* }" >>"$dir/a"
        echo "${b#* }" >>"$dir/b"
    done
    a=$(median <"$dir/a") b=$(median <"$dir/b")
    if [ -n "$first" ] && [ "$first" = "$other" ]; then same="same bits"; else
        same="OTHER BITS"
        differ=1
    fi
    printf '| %-28s | %-10s | %7.3f | %7.3f | %5.2f |\n' "$1" "$same" "$a" "$b" \
        "$(awk -v a="$a" -v b="$b" 'BEGIN {print b / a}')"
}

echo "| reconstruction, $device, $size^3 | volumes    | old [s] | new [s] | ratio |"
echo "|---|---|---|---|---|"
k=$size
one "cone, full circle" "--views $((k / 4 * 4))" ""
one "cone, two-fold symmetry" "--views $((k / 4 * 4 + 2))" ""
one "cone, short scan" "--views $k --arc 220" ""
one "C-arm, matrices" "--views $k --trajectory c-arm" ""
one "cone, offset panel" "--views $((k + 1)) --offset 60,0" ""
one "cone, tilted panel" "--views $((k + 1)) --tilt 1,2,0.5" ""
one "parallel, 180 degrees" "--views $k --kind parallel --arc 180" ""
one "parallel, 360 degrees" "--views $k --kind parallel" ""
one "noise, Hann, flat voxels" "--views $k --noise 1e5" "--filter hann --cutoff 0.8 --voxel 1.5x1.5x3"
one "cone, small memory" "--views $((k / 4 * 4))" "--memory 110M"
exit $differ
