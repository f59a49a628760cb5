# shellcheck shell=bash disable=SC2015
# Sourced: the examples against an installed fbp.  programs PREFIX EXAMPLES WORK [static]: build them
# by pkg-config and by CMake, run them.
set -euo pipefail
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

libdir_of() { # prefix
    dirname "$(find "$1" -name 'libfbp.so' | head -1)"
}

run_examples() { # folder with the programs, prefix
    "$2/bin/fbp" simulate --size 24 --views 30 -o scan.json -q
    "$1/first" | grep -q '^values from ' || fail "$1/first does not say what it did"
    [ -s volume.mha ] || fail "$1/first left no volume"
    rm volume.mha
    "$1/recon" scan.json volume.mha 2>/dev/null | grep -q '^volume.mha: values .* with libfbp ' ||
        fail "$1/recon does not say what it did"
    [ -s volume.mha ] || fail "$1/recon left no volume"
    "$1/recon" none.json volume.mha 2>err && fail "$1/recon takes a scan that is not there"
    grep -q '^recon: none.json: ' err || fail "$1/recon does not name the file: $(cat err)"
    "$1/memory" | grep -q '^water in the middle: 0.0[12]' || fail "$1/memory: another value"
}

by_pkg_config() { # prefix examples
    local libdir flags libs compiler
    libdir=$(libdir_of "$1")
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    # The library itself needs no other package's headers, nor their .pc files.
    [ -e "$libdir/libfbp.a" ] || PKG_CONFIG_LIBDIR=$libdir/pkgconfig pkg-config --cflags --libs fbp >alone.log ||
        fail "fbp.pc cannot be used where it stands alone"
    read -ra flags <<<"$(pkg-config --cflags fbp)"
    read -ra libs <<<"$(pkg-config --libs fbp)"
    [ "$(pkg-config --modversion fbp)" = "$("$1/bin/fbp" --version | cut -d' ' -f2)" ] ||
        fail "fbp.pc and fbp --version differ"
    mkdir -p pkg-config
    cc -std=c11 "${warnings[@]}" "${flags[@]}" "$2/recon.c" "${libs[@]}" -o pkg-config/recon
    # The program in fbp.h is examples/first.c.
    sed -n '/^ \*     #include <fbp/,/^ \*     }/p' "$1/include/fbp/fbp.h" | sed 's/^ \*     //; s/^ \*$//' >first.c
    sed -n '/^#include <fbp/,$p' "$2/first.c" | diff - first.c || fail "fbp.h and examples/first.c differ"
    cc -std=c11 "${warnings[@]}" "${flags[@]}" first.c "${libs[@]}" -o pkg-config/first
    for compiler in c++ clang++; do
        command -v "$compiler" >/dev/null || continue
        "$compiler" -std=c++17 "${warnings[@]}" "${flags[@]}" "$2/memory.cpp" "${libs[@]}" \
            -o pkg-config/memory
        (export LD_LIBRARY_PATH=$libdir && run_examples pkg-config "$1")
    done
}

by_cmake() { # prefix examples [more options]
    local options=("${@:3}")
    cmake -S "$2" -B cmake -G Ninja -DCMAKE_PREFIX_PATH="$1" "${options[@]}" >cmake.log 2>&1 &&
        cmake --build cmake >>cmake.log 2>&1 || fail "cmake: $(tail -20 cmake.log)"
    run_examples cmake "$1"
    rm -rf cmake
}

# All of fbp.hpp.
handles() { # prefix source of the program
    local libdir flags libs
    libdir=$(libdir_of "$1")
    read -ra flags <<<"$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags fbp)"
    read -ra libs <<<"$(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --libs fbp)"
    c++ -std=c++17 "${warnings[@]}" "${flags[@]}" "$2" "${libs[@]}" -o handles
    LD_LIBRARY_PATH=$libdir ./handles || fail "handles"
}
