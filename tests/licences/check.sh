#!/usr/bin/env bash
# check.sh SOURCE LIBFBP WORK: scripts/licences finds what it is for, however it is linked or opened;
# it knows all that libfbp loads; and FBP_PERMISSIVE refuses what it finds.
set -euo pipefail
source=$1 libfbp=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
command -v ldd >/dev/null || skip "there is no ldd"
enter "$work"

# make NAME TEXT FLAGS...: a library that holds a text, linked with more.
make() {
    local name=$1 text=$2
    shift 2
    echo "const char *fbp_test_text(void); const char *fbp_test_text(void) { return \"$text\"; }" >text.c
    cc -shared -fPIC -o "$name" text.c "$@"
}
accepts() { "$source/scripts/licences" "$@" >said 2>&1 || { cat said; fail "$* was refused"; }; }
refuses() { # words, arguments
    local words=$1
    shift
    "$source/scripts/licences" "$@" >said 2>&1 && fail "$* was not refused"
    grep -q -- "$words" said || { cat said; fail "$*: nothing of \"$words\""; }
}

make libfbp.so.1 "nothing"
accepts libfbp.so.1
accepts --contained libfbp.so.1
make _core.cpython-311-x86_64-linux-gnu.so "nothing"
accepts _core.cpython-311-x86_64-linux-gnu.so
make libfbp.so.2 "JBIG-KIT"
refuses "libfbp.so.2: holds libjbig" libfbp.so.2
make libfbp.so.3 "libjbig.so.0"
refuses "libfbp.so.3: names libjbig.so.0" libfbp.so.3
make libjbig.so.9 "nothing" -Wl,-soname,libjbig.so.9
make libfbp.so.4 "nothing" -Wl,--no-as-needed,-rpath,"$PWD" "$PWD/libjbig.so.9"
refuses "libfbp.so.4: loads libjbig.so.9" libfbp.so.4
make libtiff.so.9 "nothing" -Wl,-soname,libtiff.so.9,--no-as-needed,-rpath,"$PWD" "$PWD/libjbig.so.9"
make libfbp.so.5 "nothing" -Wl,--no-as-needed,-rpath,"$PWD" "$PWD/libtiff.so.9"
refuses "libfbp.so.5: loads libjbig.so.9" libfbp.so.5
make libnobody.so.1 "nothing" -Wl,-soname,libnobody.so.1
make libfbp.so.6 "nothing" -Wl,--no-as-needed,-rpath,"$PWD" "$PWD/libnobody.so.1"
refuses "libnobody.so.1, which docs/licences.md does not have" libfbp.so.6
make libfbp.so.7 "libgmp.so.10"
accepts libfbp.so.7
refuses "libgmp.so.10, which is under a weak" --contained libfbp.so.7
refuses "absent.so: cannot be read" absent.so

# A package that says something else than the table.
if command -v dpkg >/dev/null && dpkg -S "$(ldconfig -p | sed -nE 's/.*libz\.so\.1 .*=> //p' | head -1 |
    xargs -r readlink -f | sed 's,^/lib,/usr/lib,;s,^/usr/usr,/usr,')" >/dev/null 2>&1; then
    make libfbp.so.8 "nothing" -Wl,--no-as-needed -l:libz.so.1
    accepts libfbp.so.8
    sed 's/| Zlib |/| Foo-9 |/' "$source/docs/licences.md" >other.md
    FBP_LICENCES=$PWD/other.md refuses 'docs/licences.md has "Foo-9" for libz' libfbp.so.8
fi

# The table has all libraries of libfbp; the only copyleft one is JBIG-KIT, which docs/licences.md names.
"$source/scripts/licences" "$libfbp" >said 2>&1 || true
grep -E 'does not have|does not say|not there' said && fail "$libfbp: docs/licences.md is not up to date"
grep -E 'is under a copyleft' said | grep -vE '(loads|calls) libjbig' &&
    fail "$libfbp: more copyleft than docs/licences.md tells"

# A permissive build refuses a libtiff with JBIG.
configure() { cmake -S "$source" -B build -G Ninja -DFBP_TESTS=OFF -DFBP_CUDA=OFF -DFBP_GL=OFF "$@" >said 2>&1; }
configure -DFBP_PERMISSIVE=ON || {
    grep -q 'loads libjbig' said && grep -q 'scripts/permissive-libs' said ||
        { cat said; fail "a permissive build is refused without a word of JBIG and of the remedy"; }
}
echo "licences are found out, and permissive builds refuse copyleft"
