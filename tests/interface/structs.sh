#!/usr/bin/env bash
# structs.sh ROOT: does every struct of the public headers either begin with its size, or stand in
# the list of plain data in types.h?
set -euo pipefail
root=$1
plain=$(tr '\n' ' ' <"$root/include/fbp/types.h" | grep -oE 'Plain data without a size:[^.]*' | grep -oE 'fbp_[a-z_]+')
fail=0
while read -r name first; do
    if [ "$first" = "size_t struct_size;" ]; then
        grep -qx "$name" <<<"$plain" && echo "$name has a size, and types.h says it is plain data" && fail=1
    elif ! grep -qx "$name" <<<"$plain"; then
        echo "$name has no struct_size as its first field, and is not in the list of plain data in types.h"
        fail=1
    fi
done < <(cat "$root"/include/fbp/*.h | awk '
    /^struct fbp_[a-z_]+ \{$/ { name = $2; next }
    name { sub(/^ +/, ""); sub(/ *\/\*.*/, ""); print name, $0; name = "" }')
exit "$fail"
