#!/usr/bin/env bash
# grown.sh SOURCE WORK: this library as a later release might be, in which every
# struct that has a size has one field more.  It is built without optimisation, with archives, and
# installed into lib64 and into the folder of a multi-arch system; the examples are built against it,
# and a program of the frozen header, whose structs are smaller, runs with it.
# shellcheck disable=SC2015
set -euo pipefail
source=$1 work=$2
. "$source/tests/interface/programs.sh"
mkdir -p "$work/tree"
cd "$work"
# Times stay, so that a second run builds what has changed.
for part in CMakeLists.txt cmake src cli modules include; do
    cp -rpu "$source/$part" tree/
done
# What has left the source leaves the copy, too.
(cd tree && find . -type f) | while read -r file; do
    [ -e "$source/$file" ] || rm "tree/$file"
done
for header in "$source"/include/fbp/*.h; do
    awk '/^struct fbp_[a-z_]+ \{$/ { open = 1; sized = 0 }
         open && /^    size_t struct_size;/ { sized = 1 }
         open && /^};/ { if (sized) print "    double grown; /* by a later release */"; open = 0 }
         { print }' "$header" >grown.h
    cmp -s grown.h "tree/include/fbp/${header##*/}" || cp grown.h "tree/include/fbp/${header##*/}"
done
grep -q 'double grown;' tree/include/fbp/recon.h || fail "no struct has grown"

install_into() { # folder of the libraries
    cmake -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
        -DFBP_TESTS=OFF -DFBP_CUDA=OFF -DFBP_STATIC=ON -DCMAKE_INSTALL_LIBDIR="$1" \
        >build.log 2>&1 && cmake --build build -j 2 >>build.log 2>&1 ||
        fail "the library that has grown: $(tail -20 build.log)"
    rm -rf prefix
    cmake --install build --prefix "$work/prefix" >install.log || fail "cmake --install"
    [ -e "prefix/$1/libfbp.so" ] || fail "CMAKE_INSTALL_LIBDIR: no $1/libfbp.so"
}

install_into lib/x86_64-linux-gnu
by_pkg_config "$work/prefix" "$source/examples"
by_cmake "$work/prefix" "$source/examples"
install_into lib64
by_pkg_config "$work/prefix" "$source/examples"
by_cmake "$work/prefix" "$source/examples" -DSTATIC=ON
by_cmake "$work/prefix" "$source/examples"
by_frozen "$work/prefix" "$source/tests/interface/frozen"
