#!/usr/bin/env bash
# Projections of turned volumes: bad input, and a renderer's pictures against the host's, byte for
# byte.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 32 --views 40 -o s.json -q
run 0 recon s.json -o v.mha --device cpu -q

# A turn of 0 changes nothing, another one does; bad ones are refused.
run 0 view v.mha -o plain.png --mip -q
run 0 view v.mha -o turned.png --mip --turn 0 -q
cmp plain.png turned.png || say "--turn 0 is another picture"
run 0 view v.mha -o turned.png --mip --turn 30 --device cpu -q
cmp -s plain.png turned.png && say "--turn 30 is the same picture"
for bad in nan inf text 361 1,2; do
    run 2 view v.mha -o bad.png --mip --turn $bad
    has err '--turn'
done
run 2 view v.mha -o bad.png --turn 30
has err '^fbp: view: --turn: only projections can be turned, not slices; give --mip, too'
run 2 view v.mha -o bad.png --device gl
has err '^fbp: view: --device gl: slices are always drawn by the CPU; give --mip, too, or omit --device'
run 1 view v.mha -o bad.png --mip --device ref
has err '^fbp: view: device ref cannot draw projections; use gl or cpu'
one_line err
run 1 view v.mha -o bad.png --mip --device nothing
has err '^fbp: device: "nothing" is unknown, or not part of this build; use one of '
absent bad.png
mkdir no-egl
: >no-egl/libEGL.so.1
if ! "$fbp" devices | grep -q '^gl .*this build has no'; then
    LD_LIBRARY_PATH=no-egl run 1 view v.mha -o bad.png --mip --device gl
    has err '^fbp: device: gl cannot be used: libEGL.so.1 is missing'
    absent bad.png
fi

if "$fbp" devices | grep -q '^gl.*not usable'; then
    [ ! -s "$failed" ] || exit 1
    echo "skipped: $("$fbp" devices | grep '^gl')"
    exit 77
fi
run 1 view v.mha -o bad.png --mip --device gl:7
has err 'device: "gl:7": '
absent bad.png
mkdir texts
echo 'void main() { no_such_function(); }' >texts/mip.glsl
FBP_GL_SHADERS=texts run 1 view v.mha -o bad.png --mip --device gl
has err '^fbp: gl: the driver of .* cannot compile the shader mip: .*no_such_function.*--device cpu'
one_line err
absent bad.png

# same VOLUME TURNS…: the same bytes from both, and the same window.
same() {
    local volume=$1 turn
    shift
    for turn; do
        run 0 view "$volume" -o cpu.png --mip --turn "$turn" --device cpu --json
        json window.0 >cpu.window && json window.1 >>cpu.window
        run 0 view "$volume" -o gl.png --mip --turn "$turn" --device gl --json
        json window.0 >gl.window && json window.1 >>gl.window
        cmp cpu.png gl.png || say "$last: another picture than with --device cpu"
        cmp cpu.window gl.window || say "$last: another window than with --device cpu"
    done
}
run 0 simulate --size 64 --views 60 -o head.json -q
run 0 recon head.json -o volume.mha --device cpu -q
same volume.mha 0 30 90 -33.3 180 270 211.7
# Blocks of one slice, and of some of its rows.
for bytes in 40000 8192; do
    FBP_GL_BLOCK=$bytes same volume.mha 0 57.3
done
run 0 recon s.json -o wide.mha --size 200x200x1 --device cpu -q
FBP_GL_BLOCK=4096 run 1 view wide.mha -o bad.png --mip --turn 45 --device gl
has err '^fbp: gl: a storage block of [0-9]+ bytes is needed by the shader mip, .*; use --device cpu'
absent bad.png

# Values at the ends of fp32, and what is no number: 0, 1, 0.1, the greatest and least, infinities,
# NaN, the smallest above 0, -0, 2^-80 and the number below it.
values=('\x00\x00\x00\x00' '\x00\x00\x80\x3f' '\xcd\xcc\xcc\x3d' '\xff\xff\x7f\x7f' '\xff\xff\x7f\xff'
    '\x00\x00\x80\x7f' '\x00\x00\x80\xff' '\x00\x00\xc0\x7f' '\x01\x00\x00\x00' '\x00\x00\x00\x80'
    '\x00\x00\x80\x17' '\xff\xff\x7f\x17')
# ends NAME MOST: a volume of the first so many of them.
ends() {
    local seed=1 i
    {
        printf 'ObjectType = Image\nNDims = 3\nDimSize = 12 10 4\nElementType = MET_FLOAT\n'
        printf 'ElementByteOrderMSB = False\nElementDataFile = LOCAL\n'
        for ((i = 0; i < 480; i++)); do
            seed=$(((seed * 1103515245 + 12345) % 2147483648))
            printf '%b' "${values[seed / 65536 % $2]}"
        done
    } >"$1"
}
ends ends.mha 12
ends finite.mha 5
same ends.mha 0 20 90
same finite.mha 0 20 90
# Small ones alone: where these count as 0, the window tells.
values=("${values[@]:8}")
ends small.mha 4
same small.mha 0 20 90

# Odd sizes, voxels that are no cubes, values that are not finite, a single slice.
run 0 recon s.json -o odd.mha --size 31x47x19 --voxel 6x4x9 --mask nan --device cpu -q
same odd.mha 0 90 12 -101
run 0 recon s.json -o one.mha --size 40x33x1 --device cpu -q
same one.mha 0 45
run 0 recon s.json -o integers.tif --output-type uint8 --output-range 0,0.05 --device cpu -q
same integers.tif 0 200
finish
