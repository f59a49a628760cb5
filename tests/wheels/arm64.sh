#!/usr/bin/env bash
# arm64.sh SOURCE WORK: the wheel of libfbp for AArch64, made on this system by scripts/wheels --arm64,
# is installed in Debian's Python for AArch64, which qemu runs, and reconstructs a small scan with NEON.
# Takes minutes and the network; skipped without qemu and the compiler.
set -euo pipefail
source=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "this system is no x86-64"
command -v qemu-aarch64-static >/dev/null || skip "qemu is not installed (Debian: qemu-user-static)"
command -v aarch64-linux-gnu-g++ >/dev/null || skip "the compiler is not installed (Debian: g++-aarch64-linux-gnu)"
[ -e /usr/include/EGL/egl.h ] || skip "the headers of EGL are not installed (Debian: libegl-dev)"
enter "$work"
mkdir -p "$source/build/wheels"
made=$(FBP_UPSTREAM=1 "$source/scripts/wheels" --arm64 --libc bullseye 2>&1) || {
    echo "$made" | tail -15
    why=$(echo "$made" | grep -E 'cannot be had|could not install' | tail -1) && skip "$why"
    exit 1
}
wheel=$(echo "$made" | sed -nE 's/^(libfbp-.*_aarch64\.whl): [0-9]+ bytes$/\1/p')
[ -n "$wheel" ] || { echo "$made"; fail "no wheel"; }
python=$source/build/wheels/arm64/bin/python3
"$python" -m pip install -q --only-binary :all: --target "$work/site" "$source/build/wheels/dist/$wheel" ||
    skip "NumPy for AArch64 cannot be had"
PYTHONPATH=$work/site "$python" "$source/tests/python/five_lines.py"
"$source/build/wheels/arm64/bin/run" "$work/site/libfbp/bin/fbp" devices | grep -E '^cpu .*\bneon\b'
cd /
rm -rf "$work"
