#!/usr/bin/env bash
# adapters.sh NAME VENV PACKAGES: libfbp.adapters.NAME beside the package that it is for;
# adapters_NAME.py compares.  PACKAGES: the folder with libfbp.  Skipped without libfbp or the package:
# FBP_PEER_NAME=PYTHON (FBP_PEER_CIL …) names a Python that has it, else it is that of the environment
# VENV that scripts/python-venv makes.
set -euo pipefail
name=$1 venv=$2 packages=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
variable=FBP_PEER_${name^^}
python=${!variable:-$venv/bin/python}
declare -A needs=([astra]='import astra' [rtk]='from itk import RTK' [cil]='import cil')
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
ls "$packages"/libfbp/_core*.so >/dev/null 2>&1 || skip "libfbp was not built: -DFBP_PYTHON=ON, or ./run test --all"
export PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1
"$python" -c "import numpy; ${needs[$name]}" 2>/dev/null ||
    skip "${needs[$name]} does not work in $python: $variable=PYTHON names one where it does"
"$python" -c 'import libfbp' 2>/dev/null || skip "$python cannot load libfbp, which was built for another Python"
"$python" "$here/adapters_$name.py"
