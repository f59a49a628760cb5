#!/usr/bin/env bash
# pyepri.sh FBP DATA WORK_DIR: the volume of a published EPR measurement beside PyEPRI's own;
# pyepri.py compares.  Skipped without the measurement, or without a Python that has PyEPRI:
# FBP_PYEPRI=PYTHON names one (pip install pyepri), else python3 is asked.
set -euo pipefail
fbp=$1 data=$2 work=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${FBP_PYEPRI:-python3}

skip() {
    echo "skipped: $1"
    exit 77
}
[ -e "$data/fusillo-20091002-proj.DSC" ] || skip "$data has no fusillo-20091002-proj.DSC"
"$python" -c 'import pyepri' 2>/dev/null || skip "$python has no module pyepri: FBP_PYEPRI=PYTHON names one that has"
rm -rf "$work"
mkdir -p "$work"
"$python" "$here/pyepri_volume.py" "$fbp" "$data" "$work"
