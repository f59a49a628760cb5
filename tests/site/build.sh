#!/usr/bin/env bash
# build.sh SOURCE BUILD WORK: make the site as ./run site does, and look at it.  Skipped where ./run test
# --all has not installed what makes it, or the Python package was not built.
set -euo pipefail
source=$1 build=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
venv=$source/build/site-venv
[ -e "$venv/made-from.txt" ] || skip "$venv is not there: ./run test --all makes it, where there is a network"
[ -e "$build/python/libfbp/_core.pyi" ] || skip "the Python package was not built: -DFBP_PYTHON=ON, or ./run test --all"
PYTHONPATH=$build/python "$venv/bin/python" -c 'import libfbp' || skip "$venv cannot load the Python package"
rm -rf "$work"
"$source/scripts/site" "$build" "$work"
PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$source/tests/site/built.py" "$source" "$work"
