#!/usr/bin/env bash
# kernels.sh SOURCE FBP WORK: cross-compiles fbp for AArch64 and runs it in qemu.  The tests of kernels
# and filters must pass with NEON.  More than a third of the instructions in simd_neon.c must be vector
# instructions.  The volume of a small scan must agree with that of device ref to 2e-6 (nrmse).  Plain C
# must give the same bits on AArch64 as on this computer.
set -euo pipefail
source=$1 fbp=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
command -v aarch64-linux-gnu-g++ >/dev/null || skip "the compiler is not installed (Debian: g++-aarch64-linux-gnu)"
enter "$work"
"$source/scripts/arm64-root" "$work/arm64" libc6-dev libpng-dev libcjson-dev libhdf5-dev libtiff-dev libexpat1-dev \
    libcmocka-dev || skip "libraries for AArch64 cannot be had"
cmake -G Ninja -B build -S "$source" --toolchain "$source/cmake/arm64.cmake" -DFBP_ARM64="$work/arm64" \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DFBP_CUDA=OFF -DFBP_GL=OFF -DFBP_MPI=OFF \
    -DFBP_TEST_PYTHON=/nonexistent >configure.log
cmake --build build --target fbp_cli test_check test_unit >build.log 2>&1 || {
    grep -E 'error|undefined' build.log | head -20
    fail "the build for AArch64"
}
run=$work/arm64/bin/run
for test in check_{bp,column_double,line,orbit,planes,planes_double} unit_{convolve,fft}; do
    "$run" build/bin/test_$test >$test.log 2>&1 || {
        tail -20 $test.log
        fail "$test"
    }
done
[ "$(grep -l '^neon .*ok$' check_*.log | wc -l)" = 6 ] || fail "NEON was not tested"

aarch64-linux-gnu-objdump -d build/CMakeFiles/fbp_objects.dir/src/backend/cpu/simd_neon.c.o >neon.s
all=$(grep -cE '^ +[0-9a-f]+:' neon.s) vectors=$(grep -cE '[.](4s|2d|16b|2s)\b' neon.s) fused=$(grep -cE '\bfml[as]\b' neon.s)
echo "NEON: $all instructions, $vectors on vectors, $fused fused"
[ $((3 * vectors)) -gt "$all" ] && [ "$fused" -gt 100 ] || fail "the compiler made no vectors"

arm() {
    "$run" build/bin/fbp "$@"
}
arm devices | grep -E '^cpu .*\bneon\b'
"$fbp" simulate --size 48 --views 60 -o scan.json -q
"$fbp" recon scan.json --device ref -o ref.npy -q
for kernel in matrix column rot180 rot90; do
    FBP_CPU=c "$fbp" recon scan.json --device cpu --kernel $kernel -o c.npy -q
    FBP_CPU=c arm recon scan.json --device cpu --kernel $kernel -o arm-c.npy -q
    cmp c.npy arm-c.npy || fail "$kernel: plain C has other bits on AArch64"
    arm recon scan.json --device cpu --kernel $kernel -o neon.npy -q
    ! cmp -s neon.npy c.npy || fail "$kernel: NEON was not used"
    for loops in c neon; do
        "$fbp" compare $loops.npy ref.npy | awk -v loops=$loops '/^nrmse/ { print loops, $2 }'
    done >errors
    echo "$kernel: nrmse against ref:" $(cat errors)
    awk '{ error[$1] = $2 } END { exit !(error["neon"] < 2e-6 && error["neon"] < 1.2 * error["c"]) }' errors ||
        fail "$kernel: NEON differs from the reference"
done
cd /
rm -rf "$work"
