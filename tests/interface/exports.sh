#!/usr/bin/env bash
# exports.sh LIBFBP LIBFBP_LAB ROOT: are the names that the libraries export those that the headers
# declare, and is what libfbp exports for libfbp_lab (cmake/libfbp.map) what that needs?
set -euo pipefail
library=$1 lab=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

exported() { # library version
    nm -D --defined-only --with-symbol-versions "$1" | awk -v v="@@$2" '
        { at = index($3, v); if (at && substr($3, at) == v && $2 != "A") print substr($3, 1, at - 1) }' |
        sort -u
}

declared() { # headers: names that they declare as FBP_API
    cat "$@" | grep -v '^#' | tr '\n' ' ' | grep -oE 'FBP_API [^;{]*;' | sed 's/(.*//; s/;//; s/.*[ *]//' | sort -u
}

# shellcheck disable=SC2059
differ() { # file, file, sentence about what only the first has
    while read -r name; do
        printf "$3\n" "$name"
        fail=1
    done < <(comm -23 "$1" "$2")
}

exported "$library" FBP_0 >"$work/stable"
exported "$library" FBP_PRIVATE >"$work/private"
exported "$lab" FBP_LAB >"$work/lab"
declared "$root"/include/fbp/*.h >"$work/public"
declared "$root"/include/fbp-lab/*.h >"$work/lab_public"
sed -n '/^FBP_PRIVATE/,/^}/s/^ *\([a-z_0-9]*\);$/\1/p' "$root/cmake/libfbp.map" | sort >"$work/listed"
# Calls that leave the lab: without a version where libfbp did not export them when it was linked.
nm -D --undefined-only --with-symbol-versions "$lab" | awk '$1 == "U" { print $2 }' >"$work/calls"
sed -n 's/@FBP_.*//p' "$work/calls" | sort -u >"$work/needed"
grep -vE '@|^__' "$work/calls" | sort -u >"$work/missing" || true
sort -u "$work/needed" "$work/lab_public" >"$work/wanted"

differ "$work/stable" "$work/public" "%s is exported as interface, but include/fbp does not declare it"
differ "$work/public" "$work/stable" "%s is declared in include/fbp, but not exported"
differ "$work/missing" /dev/null "%s is missing in FBP_PRIVATE of cmake/libfbp.map (or is not FBP_PRIVATE_API): libfbp_lab needs it"
differ "$work/listed" "$work/private" "%s is listed in cmake/libfbp.map, but not there, or not FBP_PRIVATE_API"
differ "$work/listed" "$work/wanted" "%s is superfluous in FBP_PRIVATE of cmake/libfbp.map: libfbp_lab does not need it"
sort -u "$work/lab" "$work/private" >"$work/lab_all"
differ "$work/lab_public" "$work/lab_all" "%s is declared in include/fbp-lab, but no library exports it"
differ "$work/lab" "$work/lab_public" "%s is exported by libfbp_lab, but include/fbp-lab does not declare it"

nm --defined-only -P "$lab" | awk '$2 ~ /[TDBR]/ { print $1 }' | sort -u >"$work/lab_own"
comm -12 "$work/lab_own" "$work/stable" >"$work/twice"
differ "$work/twice" /dev/null "%s is in libfbp_lab as well as in libfbp"

count() { wc -l <"$work/$1"; }
echo "libfbp exports $(count stable) names of the interface and $(count private) for libfbp_lab," \
    "which exports $(count lab)"
exit "$fail"
