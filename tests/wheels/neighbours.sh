#!/usr/bin/env bash
# neighbours.sh SOURCE WORK: the wheel of libfbp in one process with h5py, tifffile, Pillow and imageio
# (and torch, where FBP_TORCH=1), loaded before and after it: each reads the other's files, and the
# loader binds no name of libfbp to another package's library, nor one of theirs to libfbp.
set -euo pipefail
source=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$source/tests/wheels/build.sh"
rm -rf "$work"
mkdir -p "$work"
"$system" -m venv "$work/venv"
python=$work/venv/bin/python
# shellcheck disable=SC2086
"$python" -m pip install -q --only-binary :all: h5py tifffile Pillow imageio ${FBP_TORCH:+torch} "$wheel" ||
    skip "the other packages cannot be had"
export PYTHONDONTWRITEBYTECODE=1
for order in first last; do
    mkdir "$work/$order"
    LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/$order/bound \
        "$python" "$source/tests/wheels/neighbours.py" $order "$work/$order" || fail "libfbp $order"
    # "binding file ASKS [0] to HAS [0]: normal symbol `NAME' [VERSION]"
    sed -nE "s/^.*binding file ([^ ]+) \[0\] to ([^ ]+) \[0\]: [a-z]+ symbol .([^']*)'.*/\1 \2 \3/p" \
        "$work/$order"/bound.* | sort -u >"$work/$order.bound"
    [ "$(grep -c 'site-packages/libfbp/' "$work/$order.bound")" -gt 100 ] || fail "no bindings were told"
    # The interpreter stands for the C library where it has taken the address of what is in there.
    libc=$(awk '$2 ~ /\/libc\.so\.6$/ { print $2; exit }' "$work/$order.bound")
    nm -D --defined-only "$libc" | sed -E 's/.* ([^@ ]+).*/\1/' >"$work/libc.names"
    ! awk 'NR == FNR { libc[$1]; next }
           $1 ~ /site-packages\/libfbp\// && $2 !~ /site-packages\/libfbp\// && !($3 in libc) &&
           $2 !~ /\/(lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)|ld-linux-[^\/]*)\.so\.[0-9]+$/ &&
           $3 !~ /^_?Py/' "$work/libc.names" "$work/$order.bound" | grep . ||
        fail "libfbp $order: bound to others"
    ! awk '$1 !~ /site-packages\/libfbp\// && $2 ~ /site-packages\/libfbp\//' "$work/$order.bound" |
        grep . || fail "libfbp $order: others are bound to it"
done
rm -rf "$work"
