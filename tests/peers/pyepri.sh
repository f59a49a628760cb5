#!/usr/bin/env bash
# pyepri.sh FBP DATA VENV WORK_DIR: the volume of a published EPR measurement beside PyEPRI's own;
# pyepri_volume.py compares.  Skipped without the measurement, or without a Python that has PyEPRI:
# FBP_PYEPRI=PYTHON names one, else it is that of the environment that scripts/python-venv makes.
set -euo pipefail
fbp=$1 data=$2 venv=$3 work=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${FBP_PYEPRI:-$venv/bin/python}
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -e "$data/fusillo-20091002-proj.DSC" ] || skip "$data has no fusillo-20091002-proj.DSC"
"$python" -c 'import pyepri, scipy' 2>/dev/null ||
    skip "$python has no module pyepri: ./run test --all installs it, or FBP_PYEPRI=PYTHON names one that has"
rm -rf "$work"
mkdir -p "$work"
"$python" "$here/pyepri_volume.py" "$fbp" "$data" "$work"
