#!/usr/bin/env bash
# wheel.sh PYTHON SOURCE WORK: `pip install .` into a fresh environment builds everything, and five
# lines give a right ball.  It takes minutes.  Skipped without scikit-build-core, nanobind or NumPy.
set -euo pipefail
python=$1 source=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -n "$python" ] && [ -x "$python" ] || skip "there is no environment to build with: ./run test --all makes one"
"$source/scripts/can-extend" "$python" >/dev/null 2>&1 || skip "$python lacks nanobind, or there is no compiler"
"$python" -c 'import scikit_build_core, numpy' 2>/dev/null || skip "$python lacks scikit-build-core or NumPy"
enter "$work"
PATH=$(dirname "$python"):$PATH # CMake as the build wants it
# Without a network: what the build needs is in PYTHON, and NumPy is lent from there.
"$python" -m pip wheel -q --no-build-isolation --no-deps --no-index -w dist -Cbuild-dir="$work/build" "$source"
ls -l dist
"$python" -m venv fresh
fresh/bin/python -m pip install -q --no-index --no-deps dist/libfbp-*.whl
"$python" -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))' >fresh/numpy.txt
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$(cat fresh/numpy.txt) fresh/bin/python "$source/tests/python/five_lines.py"
fresh/bin/fbp --version
"$python" -m zipfile -l dist/libfbp-*.whl | awk '{ print $1 }' | grep -E 'LICENSE|py.typed|_core.pyi' | wc -l | grep -qx 3
