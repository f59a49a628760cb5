#!/usr/bin/env bash
# asan.sh PYTHON SOURCE WORK: library and package with the address sanitizer, under their tests.  It
# takes minutes.  Skipped where the package cannot be built, or tested.
set -euo pipefail
python=$1 source=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -n "$python" ] && [ -x "$python" ] || skip "there is no environment to build with: ./run test --all makes one"
"$source/scripts/can-extend" "$python" >/dev/null 2>&1 || skip "$python lacks nanobind, or there is no compiler"
"$python" -c 'import pytest, hypothesis, numpy' 2>/dev/null || skip "$python lacks pytest, hypothesis or numpy"
asan=$(cc -print-file-name=libasan.so)
stdcxx=$(c++ -print-file-name=libstdc++.so)
[ -e "$asan" ] || skip "the compiler has no libasan.so"
mkdir -p "$work"
cmake -S "$source" --preset asan -B "$work/build" -DFBP_TESTS=OFF -DFBP_CUDA=OFF -DFBP_GL=OFF -DFBP_PYTHON=ON \
    -DPython_EXECUTABLE="$python" >"$work/configure.log"
cmake --build "$work/build" --target fbp_python fbp_cli >"$work/build.log"
# Python keeps memory until it ends, which is no leak of ours; libstdc++ must be there when the
# sanitizer looks for what throws.
export LD_PRELOAD="$asan:$stdcxx" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
export PYTHONMALLOC=malloc
# shellcheck disable=SC2046
exec "$source/tests/python/run.sh" "$python" "$work/build/python" "$work/build/bin/fbp" "$work/run" \
    $(cd "$source/tests/python" && ls test_*.py | grep -v -e test_device -e test_counts) # these need a library with test functions
