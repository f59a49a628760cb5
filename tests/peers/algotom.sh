#!/usr/bin/env bash
# algotom.sh STRIPES VENV WORK_DIR: stripes of sinograms beside algotom's; algotom_stripes.py compares.
# STRIPES: test_unit_stripes.  Skipped without a Python that has algotom: FBP_ALGOTOM=PYTHON names one,
# else it is that of the environment that scripts/python-venv makes.
set -euo pipefail
stripes=$1 venv=$2 work=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${FBP_ALGOTOM:-$venv/bin/python}
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
"$python" -c 'import numpy, scipy, pywt, importlib.util as u; assert u.find_spec("algotom")' 2>/dev/null ||
    skip "$python has no module algotom: ./run test --all installs it, or FBP_ALGOTOM=PYTHON names one that has"
rm -rf "$work"
mkdir -p "$work"
"$python" "$here/algotom_stripes.py" "$stripes" "$work"
