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
for part in CMakeLists.txt cmake packaging src cli modules include bindings; do
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

# A program that holds libfbp.a finds a module among the libraries, also if it was found on PATH.
archive_finds_module() { # folder of the libraries
    local libs
    read -ra libs <<<"$(PKG_CONFIG_PATH=$work/prefix/$1/pkgconfig pkg-config --static --libs fbp)"
    mkdir -p module
    cat >module/made_up.c <<'TEXT'
#include "backend/module.h"
#include <stdio.h>
const struct fbp_backend *made_up(const struct fbp_module_host *host, char *why, size_t n);
const struct fbp_backend *made_up(const struct fbp_module_host *host, char *why, size_t n)
{
    (void)host;
    snprintf(why, n, "the made-up module says so");
    return NULL;
}
TEXT
    cat >module/finds.c <<'TEXT'
#include "backend/module.h"
#include <stdio.h>
static bool may_open(char *why, size_t n)
{
    (void)why;
    return n > 0;
}
int main(void)
{
    struct fbp_module m = {.file = "libmade_up.so", .symbol = "made_up", .may_open = may_open};
    char why[300] = "";
    return fbp_module_load(&m, why, sizeof why) || puts(why) < 0;
}
TEXT
    local flags=(-std=gnu11 -Itree/src -Itree/include)
    cc "${flags[@]}" -shared -fPIC module/made_up.c -o "prefix/$1/libmade_up.so"
    cc "${flags[@]}" module/finds.c "prefix/$1/libfbp.a" "${libs[@]}" -o prefix/bin/finds
    for finds in "$work/prefix/bin/finds" finds; do
        PATH=$work/prefix/bin:$PATH LD_LIBRARY_PATH='' "$finds" |
            grep -q '^the made-up module says so$' || fail "$finds: no module in $1"
    done
}

install_into lib/x86_64-linux-gnu
by_pkg_config "$work/prefix" "$source/examples"
by_cmake "$work/prefix" "$source/examples"
install_into lib64
archive_finds_module lib64
by_pkg_config "$work/prefix" "$source/examples"
by_cmake "$work/prefix" "$source/examples" -DSTATIC=ON
by_cmake "$work/prefix" "$source/examples"
by_frozen "$work/prefix" "$source/tests/interface/frozen"
