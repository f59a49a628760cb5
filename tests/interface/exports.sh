#!/usr/bin/env bash
# exports.sh LIBFBP ROOT: does the library export the functions that include/fbp declares, and no
# other names?
set -euo pipefail
library=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0

nm -D --defined-only --with-symbol-versions "$library" | awk '
    $2 != "A" { sub(/@@FBP_0$/, "", $3); print $3 }' | sort -u >"$work/exported"
cat "$root"/include/fbp/*.h | grep -v '^#' | tr '\n' ' ' | grep -oE 'FBP_API [^;{]*;' |
    sed 's/(.*//; s/;//; s/.*[ *]//' | sort -u >"$work/declared"

while read -r name; do
    echo "$name is exported, but include/fbp does not declare it"
    fail=1
done < <(comm -23 "$work/exported" "$work/declared")
while read -r name; do
    echo "$name is declared in include/fbp, but not exported"
    fail=1
done < <(comm -13 "$work/exported" "$work/declared")
echo "libfbp exports $(wc -l <"$work/exported") names"
exit "$fail"
