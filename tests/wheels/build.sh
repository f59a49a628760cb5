# shellcheck shell=bash disable=SC2154
# The wheel of libfbp for Debian's Python, made by scripts/wheels: $wheel.  For tests with a folder
# $source and a function skip.
system=/usr/bin/python3
"$system" -c 'import ensurepip, os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skip "$system lacks venv or its headers (Debian: python3-venv, python3-dev)"
command -v dpkg-source >/dev/null || skip "dpkg-source is not installed (Debian: dpkg-dev)"
[ -e /usr/include/EGL/egl.h ] || skip "the headers of EGL are not installed (Debian: libegl-dev)"
mkdir -p "$source/build/wheels"
# Debian's pip would need a whole environment of its own for each wheel.
[ -x "$source/build/wheels/python/bin/python" ] || "$system" -m venv "$source/build/wheels/python"
# For a test, libraries without Debian's patches will do where those cannot be had.
made=$(FBP_UPSTREAM=1 "$source/scripts/wheels" --libc bullseye "$source/build/wheels/python/bin/python" 2>&1) || {
    echo "$made" | tail -15
    why=$(echo "$made" | grep -E 'cannot be had|could not install|No matching distribution' | tail -1) &&
        skip "$why"
    exit 1
}
wheel=$source/build/wheels/dist/$(echo "$made" | sed -nE 's/^(libfbp-.*\.whl): [0-9]+ bytes$/\1/p')
[ -e "$wheel" ] || { echo "$made"; exit 1; }
