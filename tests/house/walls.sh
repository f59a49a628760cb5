#!/usr/bin/env bash
# walls.sh ROOT OBJECTS: do includes and calls run one way, down the layers (tests/house/layers)?
# OBJECTS is the folder with the object files, named after their sources.
set -euo pipefail
root=$1 objects=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

say() { # file of sentences
    [ -s "$1" ] || return 0
    sort -u "$1" | head -40
    fail=1
}

cd "$root"
grep -v '^#' "$here/layers" >"$work/layers"

# The functions that every awk program here starts with.
read -r -d '' common <<'AWK' || true
function place(file,    i, best, most) {
    most = 0
    for (i = 1; i <= n_layers; i++)
        if (index(file, layer[i] "/") == 1 && length(layer[i]) > most) {
            most = length(layer[i])
            best = i
        }
    return most ? best : 0
}
function is_above(a, b) { return place(a) && place(b) && place(a) < place(b) }
FILENAME == layers { layer[++n_layers] = $1; next }
AWK

find src cli -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort >"$work/files"

# 1. Every file has its layer.
awk -v layers="$work/layers" "$common"'{ if (!place($1)) print $1 " lies in no layer" }' \
    "$work/layers" "$work/files" >"$work/homeless"
say "$work/homeless"

# 2. Includes.  The command includes its own headers and those of the library.
xargs grep -H '^#include "' <"$work/files" | sed 's/:#include "/ /; s/".*//' | awk '
    NR == FNR { is_there[$1] = 1; next }
    { print $1, ($2 ~ /^fbp\// ? "include/" : $1 ~ /^cli\// && ("cli/" $2) in is_there ? "cli/" : "src/") $2 }
    ' "$work/files" - >"$work/includes"
awk -v layers="$work/layers" "$common"'
    is_above($2, $1) { print $1 " includes " $2 ", which lies above it" }
    ' "$work/layers" "$work/includes" >"$work/upward"
say "$work/upward"

# 3. Calls, by the symbols of the objects: "file letter symbol".
find "$objects" -name '*.o' | grep -E '\.dir/(src|cli)/' | xargs nm -A -P 2>/dev/null |
    sed 's/.*\.dir\///; s/\.o: / /' |
    awk 'NR == FNR { is_there[$1] = 1; next } $1 in is_there { print $1, $3, $2 }' \
        "$work/files" - | sort -u >"$work/symbols" # objects of sources that are gone may be left
[ "$(wc -l <"$work/symbols")" -gt 1000 ] || {
    echo "$objects: these are not the objects of the library"
    exit 1
}
awk -v layers="$work/layers" "$common"'
    $2 ~ /^[TDBRVWC]$/ { home[$3] = $1 }
    $2 == "U" { wants[$1 " " $3] }
    END {
        for (want in wants) {
            split(want, w, " ")
            if (!(w[2] in home) || home[w[2]] == w[1]) continue
            if (is_above(home[w[2]], w[1]))
                print w[1] " calls " home[w[2]] " (" w[2] "), which lies above it"
            else
                print w[1], home[w[2]] >pairs
        }
    }' pairs="$work/pairs" "$work/layers" "$work/symbols" >"$work/calls"
say "$work/calls"

# 4. Headers that include each other.
circles() { # of what, file of pairs
    tsort "$2" 2>&1 >/dev/null | sed 's/^tsort: //' | grep -v 'contains a loop' |
        awk -v what="$1" '{ print $1 " is part of a circle of " what }' || true
}

awk '$1 ~ /\.(h|cuh)$/' "$work/includes" >"$work/headers"
circles includes "$work/headers" >"$work/header_circles"
say "$work/header_circles"

# 5. The modules of GPUs are often not built, so that there are no objects to ask: a header and the
# sources of its name are one there, and what includes whose header must have no circle.
awk '$1 ~ /^src\/backend\/(cuda|gl|gpu)\// && $2 ~ /^src\/backend\/(cuda|gl|gpu)\// {
         from = $1; to = $2
         sub(/\.[a-z]+$/, "", from)
         sub(/\.[a-z]+$/, "", to)
         if (from != to)
             print from, to
     }' "$work/includes" | sort -u >"$work/units"
[ -s "$work/units" ] || { echo "no includes in src/backend/gpu"; exit 1; }
circles "headers and their sources" "$work/units" >"$work/unit_circles"
say "$work/unit_circles"

# 6. Backends do not know each other; what they share is in src/backend, and of GPUs in gpu.
{
    awk '{ print $1, "includes", $2 }' "$work/includes"
    awk '{ print $1, "calls", $2 }' "$work/pairs"
} | awk '{ split($1, a, "/"); split($3, b, "/") }
         a[2] == "backend" && b[2] == "backend" && a[4] != "" && b[4] != "" && a[3] != b[3] &&
             b[3] != "gpu" { print $1 " " $2 " " $3 ", which is of another backend" }' >"$work/others"
say "$work/others"

[ "$fail" = 0 ] && echo "includes and calls run one way: $(wc -l <"$work/files") files, $(wc -l <"$work/pairs") calls"
exit "$fail"
