#!/usr/bin/env bash
# build.sh SOURCE WORK: library and command are compiled and linked for macOS on Apple's processors, by
# Clang with the headers and the list of symbols of macOS's C library in the Python package ziglang.
# zlib, libpng and cJSON are stubs with the symbols of this system's; HDF5, libtiff and expat are left
# out.  Nothing is run.  Skipped without the network.
set -euo pipefail
source=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
"$source/scripts/python-venv" "$source/tests/macos/requirements.txt" "$source/build/macos-venv" ||
    skip "ziglang cannot be had"
zig=$(echo "$source"/build/macos-venv/lib/python3*/site-packages/ziglang/zig)
enter "$work"
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
mkdir -p include/cjson lib
for tool in ar ranlib; do
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$zig" $tool >$tool
done
printf '#!/bin/sh\nexec %s cc -target aarch64-macos -isystem %s "$@"\n' "$zig" "$source/tests/macos/include" >cc
chmod +x ar ranlib cc
machine=$(gcc -print-multiarch)
for header in zlib.h zconf.h png.h pngconf.h pnglibconf.h; do
    cp -L "$(find /usr/include/$header "/usr/include/$machine/$header" -print -quit 2>/dev/null)" include/ ||
        skip "$header is missing"
done
cp -L /usr/include/cjson/*.h include/cjson/
for library in z png16 cjson; do
    nm -D --defined-only "/usr/lib/$machine/lib$library.so"
done | sed -nE 's/^.* T ([a-zA-Z][a-zA-Z0-9_]*).*/void \1(void) {}/p' | sort -u >stub.c
./cc -w -c stub.c -o stub.o
./ar rcs lib/libstub.a stub.o
printf '%s\n' 'Name: cJSON' 'Description: cJSON' 'Version: 1' "Cflags: -I$work/include/cjson -I$work/include" \
    "Libs: $work/lib/libstub.a" >lib/libcjson.pc

# A call that Linux alone has is found.
echo 'int main(void) { return epoll_create1(0); }' >linux.c
! ./cc -include "$source/src/base/macos.h" -I "$source/src" linux.c -o linux 2>/dev/null || fail "epoll_create1() was linked"

unset CMAKE_C_COMPILER_LAUNCHER CFLAGS CC
PKG_CONFIG_LIBDIR=$work/lib cmake -G Ninja -B build -S "$source" -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 \
    -DCMAKE_C_COMPILER="$work/cc" -DCMAKE_AR="$work/ar" -DCMAKE_RANLIB="$work/ranlib" -DCMAKE_INSTALL_NAME_TOOL=/bin/true \
    -DCMAKE_BUILD_TYPE=Release -DFBP_TESTS=OFF -DFBP_BENCH=OFF -DFBP_CUDA=OFF -DFBP_GL=OFF -DFBP_MPI=OFF -DFBP_HDF5=OFF \
    -DFBP_TIFF=OFF -DFBP_EXPAT=OFF -DZLIB_LIBRARY="$work/lib/libstub.a" -DZLIB_INCLUDE_DIR="$work/include" \
    -DPNG_LIBRARY="$work/lib/libstub.a" -DPNG_PNG_INCLUDE_DIR="$work/include" >configure.log
cmake --build build --target product >build.log 2>&1 || {
    grep -E 'error|undefined' build.log | head -20
    fail "the build for macOS"
}
file build/bin/fbp build/lib/libfbp.*.*.dylib | tee kinds
[ "$(grep -c 'Mach-O 64-bit arm64' kinds)" = 2 ] || fail "not programs for macOS"
# Symbols of the interface are exported, and no others: the loader's table lists names with their paths.
grep -qa _fbp_plan_create build/lib/libfbp.*.*.dylib || fail "fbp_plan_create() is not exported"
cd /
rm -rf "$work"
