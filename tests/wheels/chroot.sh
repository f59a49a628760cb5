#!/usr/bin/env bash
# chroot.sh SOURCE WORK: the wheel of libfbp on Debian 12 with Python and nothing else, no library of
# those that it bundles: installed by pip, five lines to a right ball, the command, formats, notices.
# Times are printed.  Takes minutes, the network, and root; skipped without.
set -euo pipefail
source=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$source/tests/packages/bare.sh"
. "$source/tests/wheels/build.sh"
user=$work/user
finish() {
    umount "$user/proc" 2>/dev/null || true
}
trap finish EXIT
finish
rm -rf "$work"
mkdir -p "$work/wheels"
cp "$wheel" "$work/wheels/"
"$source/build/wheels/python/bin/python" -m pip download -q --only-binary :all: -d "$work/wheels" 'numpy >= 1.23' ||
    skip "NumPy cannot be had"

bare "$user"
inside "$user" "apt-get update -q; DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends python3 python3-venv" >"$work/apt.log" 2>&1 || skip "$(tail -1 "$work/apt.log")"
cp -a "$work/wheels" "$user/wheels"
cp "$source/tests/python/five_lines.py" "$user/"
if inside "$user" "ls /usr/lib/*/lib{tiff,hdf5,cjson,png,epoxy,stdc++}*" >"$work/more" 2>/dev/null; then
    grep -v 'libstdc++' "$work/more" && fail "more is installed than Python"
fi
# Real time, with what is read for the first time.
inside "$user" "python3 -m venv /venv
    TIMEFORMAT='pip install: %R s, %U s + %S s of a core'; time /venv/bin/pip install -q --no-index -f /wheels libfbp
    TIMEFORMAT='import, first: %R s'; time /venv/bin/python -c 'import libfbp'
    TIMEFORMAT='import of NumPy: %R s'; time /venv/bin/python -c 'import numpy'
    TIMEFORMAT='import: %R s'; time /venv/bin/python -c 'import libfbp'
    /venv/bin/python -c 'import time, numpy; t = time.time(); import libfbp
print(f\"import, NumPy being there: {time.time() - t:.3f} s\")'
    /venv/bin/python /five_lines.py" || fail "five lines"
inside "$user" "cd /tmp; PATH=/venv/bin:\$PATH; fbp devices; fbp simulate --size 32 --views 40 -o scan.json -q
    for format in mha tif h5 nii mat nrrd npy; do
        fbp recon scan.json -o volume.\$format -q; fbp compare volume.\$format volume.mha | grep -E '^max +0$' >/dev/null ||
            { echo \"\$format: another volume\"; exit 1; }
    done
    fbp view volume.mha -o volume.png -q" || fail "the command"
for name in libz libpng16 libexpat libcjson libtiff libhdf5 libepoxy nanobind robin_map; do
    grep -qiE 'copyright|public domain' "$user"/venv/lib/python3*/site-packages/libfbp/licences/$name.txt ||
        fail "no notice of $name"
done
finish
rm -rf "$work"
