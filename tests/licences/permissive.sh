#!/usr/bin/env bash
# permissive.sh SOURCE FBP WORK: a permissive build as docs/licences.md tells to make it: it holds and
# loads nothing under the GPL, brings the notices of what it holds, and computes what others compute.
set -euo pipefail
source=$1 fbp=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
command -v ldd >/dev/null || skip "there is no ldd"
enter "$work"

"$source/scripts/permissive-libs" "$PWD/libs" >libs.log 2>&1 || {
    tail -1 libs.log
    echo "skipped: libtiff's sources cannot be had or built"
    exit 77
}
cmake -S "$source" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DFBP_PERMISSIVE=ON -DFBP_TESTS=OFF \
    -DFBP_CUDA=OFF -DCMAKE_PREFIX_PATH="$PWD/libs" >build.log 2>&1 || { cat build.log; fail "not configured"; }
cmake --build build --target product >>build.log 2>&1 || { tail -20 build.log; fail "not built"; }
cmake --install build --prefix "$PWD/installed" >>build.log 2>&1 || { tail -5 build.log; fail "not installed"; }

mapfile -t files < <(find installed -type f \( -name '*.so' -o -name '*.so.*' -o -path '*/bin/*' \))
[ "${#files[@]}" -ge 4 ] || fail "only ${files[*]} were installed"
"$source/scripts/licences" "${files[@]}" >said 2>&1 || { cat said; fail "the permissive build is not"; }
grep -q 'copyleft' said && fail "$(grep copyleft said)"
for notice in LICENSE licences.md libtiff.txt; do
    [ -s "installed/share/doc/fbp/licences/$notice" ] || fail "$notice is not installed"
done

mine=$PWD/installed/bin/fbp
"$fbp" simulate -q --size 48 --views 60 -o scan.json
"$fbp" recon -q scan.json --device cpu -o theirs.mha
"$mine" recon -q scan.json --device cpu -o mine.mha
"$fbp" compare theirs.mha mine.mha | awk '/^psnr_db/ { exit !($2 > 120) }' || fail "another volume"
"$mine" recon -q scan.json --device cpu -o mine.tif
"$mine" compare mine.mha mine.tif | grep -qE '^max +0$' || fail "it cannot read its own TIFF"
echo "a permissive build holds and loads nothing under the GPL"
