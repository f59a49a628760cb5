#!/usr/bin/env bash
# Renderers by OpenGL: what is said of each that cannot be used, texts that the driver refuses, and
# the same bits with storage blocks of any size.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# gl_line PATTERN: what `fbp devices` says of gl.
gl_line() {
    last="fbp devices"
    "$fbp" devices >out 2>err || say "$last: failed"
    grep '^gl' out >line
    has line "$1"
}

# Libraries that are not what they should be, in front of the system's.
mkdir no-egl no-epoxy
: >no-egl/libEGL.so.1
: >no-epoxy/libepoxy.so.0
if "$fbp" devices | grep -q '^gl .*this build has no'; then
    echo "skipped: this build has no module for OpenGL"
    exit 77
fi
LD_LIBRARY_PATH=no-egl gl_line 'not usable: libEGL.so.1 is missing on this machine; install '
"$fbp" devices | grep '^gl' | grep -q 'not usable' || LD_LIBRARY_PATH=no-epoxy \
    gl_line 'not usable: libepoxy.so.0 is missing on this machine; install '
run 0 simulate --size 12 --views 9 -o s.json -q
LD_LIBRARY_PATH=no-egl run 1 recon s.json -o v.mha --device gl
has err '^fbp: device: gl cannot be used: libEGL.so.1 is missing'
absent v.mha

if "$fbp" devices | grep -q '^gl.*not usable'; then
    echo "skipped: $("$fbp" devices | grep '^gl')"
    exit 77
fi

# Software is named as such, and nobody gets it unasked.
if "$fbp" devices | grep -q '^gl.*llvmpipe'; then
    gl_line 'llvmpipe.*, software, OpenGL 4\.[4-6], textures of [0-9]+ x [0-9]+, layers [0-9]+, storage blocks of [0-9]+ MiB'
    LIBGL_DRIVERS_PATH=/nonexistent gl_line 'not usable: a software renderer: its EGL display fails .*install libgl1-mesa-dri'
    MESA_GL_VERSION_OVERRIDE=2.1 gl_line 'not usable: .*OpenGL 4\.4 with compute shaders is needed, but this driver creates no context'
    # OpenGL 3.3 has no compute shaders.
    export MESA_GL_VERSION_OVERRIDE=3.3 MESA_GLSL_VERSION_OVERRIDE=330
    old='OpenGL 4\.4 with compute shaders is needed, but this driver supports 3\.3; update the driver, or use --device cpu'
    gl_line "not usable: llvmpipe.*: $old"
    for device in gl gl:0 gl:all; do
        run 1 recon s.json -o v.mha --device $device
        has err "^fbp: device: gl cannot be used: llvmpipe.*: $old"
        absent v.mha
    done
    run 1 bench S3 --size 16 --views 8 --runs 1 --brief
    has err "$old"
    run 0 recon s.json -o hash: --device auto
    has err '^(cpu|cuda)[, ]'
    unset MESA_GL_VERSION_OVERRIDE MESA_GLSL_VERSION_OVERRIDE
    __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent gl_line "not usable: EGL lists no device; install the graphics part of the GPU's driver, or libegl-mesa0, and "
fi
run 0 recon s.json -o hash: --device auto
if "$fbp" devices | grep '^gl' | grep -qv software; then
    has err '^(cpu|cuda|gl)[, ]'
else
    has err '^(cpu|cuda)[, ]'
fi

run 1 recon s.json -o v.mha --device gl:7
has err 'device: "gl:7": '
absent v.mha

# A text that does not compile: the driver's log, and nothing is written.
mkdir texts
echo 'void main() { no_such_function(); }' >texts/views.glsl
FBP_GL_SHADERS=texts run 1 recon s.json -o v.mha --device gl --kernel matrix-plain -q
has err '^fbp: gl: the driver of .* cannot compile the shader (matrix|column)[a-z ]*: .*no_such_function.*--device cpu'
one_line err
absent v.mha
absent v.mha.part

# Storage blocks as small as a view, and smaller.
run 0 recon s.json -o hash: --device gl -q
whole=$(cat out)
for bytes in 9000 20000 100000; do
    FBP_GL_BLOCK=$bytes run 0 recon s.json -o hash: --device gl -q
    [ "$(cat out)" = "$whole" ] || say "$last: other bits with storage blocks of $bytes bytes"
done
# One that does not hold an image of the detector is refused, before anything is done.
run 0 simulate --size 12 --views 9 --detector 64x64 -o wide.json -q
FBP_GL_BLOCK=4096 run 1 recon wide.json -o v.mha --device gl -q
has err "^fbp: device: a storage block of .* holds .*, too few for an image of the detector \(.* bytes\); use --device cpu"
absent v.mha
finish
