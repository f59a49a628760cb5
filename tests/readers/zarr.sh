#!/usr/bin/env bash
# zarr.sh FBP WORK_DIR VENV…: OME-Zarr, opened with zarr-python of each environment, and with napari
# where that is; zarr_levels.py compares.  And theirs, read by fbp: zarr_others.py.  Skipped without an environment that scripts/python-venv
# makes.
set -euo pipefail
fbp=$1 work=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tried=0

export FBP_CHUNK=8 # three levels of a small volume
for venv in "$@"; do
    "$venv/bin/python" -c 'import zarr' 2>/dev/null || continue
    rm -rf "$work"
    mkdir -p "$work"
    (cd "$work" && "$venv/bin/python" "$here/zarr_levels.py" "$fbp")
    (cd "$work" && "$venv/bin/python" "$here/zarr_others.py" "$fbp")
    tried=$((tried + 1))
done
[ "$tried" -gt 0 ] && exit 0
echo "skipped: no environment has zarr: ./run test --all makes them, where there is a network"
exit 77
