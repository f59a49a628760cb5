#!/usr/bin/env bash
# run.sh PYTHON PACKAGES FBP WORK FILE…: tests of the Python package libfbp, which lies in PACKAGES,
# by pytest.  Skipped where the package was not built, or PYTHON lacks what the tests need.
set -euo pipefail
python=$1 packages=$2 fbp=$3 work=$4
shift 4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -n "$python" ] && [ -x "$python" ] || skip "there is no environment with pytest: ./run test --all makes one"
ls "$packages"/libfbp/_core*.so >/dev/null 2>&1 || skip "the package was not built: -DFBP_PYTHON=ON, or ./run test --all"
"$python" -c 'import pytest, hypothesis, numpy' 2>/dev/null || skip "$python lacks pytest, hypothesis or numpy"
enter "$work"
# What PYTHON finds by PYTHONPATH, such as CuPy, it finds here, too.
export PYTHONPATH=$packages${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 FBP=$fbp HYPOTHESIS_STORAGE_DIRECTORY=$work/hypothesis
"$python" -m pytest -q -p no:cacheprovider --basetemp "$work/tmp" "${@/#test/$here/test}" || {
    code=$?
    [ $code = 5 ] && skip "nothing of it can run here"
    exit $code
}
