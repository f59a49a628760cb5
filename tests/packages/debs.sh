#!/usr/bin/env bash
# debs.sh BUILD WORK: packages of a build: every installed file lies in one of them, they need what
# their libraries need, and what is in them works where it is unpacked.
set -euo pipefail
build=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps file; do
    command -v $tool >/dev/null || { echo "$tool is not installed" && exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
(cd "$build" && cpack -B "$work/debs") >"$work/cpack.log" 2>&1 || fail "cpack: $(tail "$work/cpack.log")"

DESTDIR=$work/whole cmake --install "$build" --prefix /usr >"$work/install.log"
(cd "$work/whole" && find . -type f -o -type l) | sort >"$work/installed"
for deb in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar tf - | grep -v '/$'
    dpkg-deb -x "$deb" "$work/root"
done | grep -v '^./usr/share/doc/' | sort >"$work/packed"
grep -v '^./usr/share/doc/' "$work/installed" | diff - "$work/packed" >"$work/differ" ||
    fail "installed (<), and in packages (>): $(cat "$work/differ")"

field() { dpkg-deb -f "$work/debs/$1"_*.deb "$2"; }
for name in libfbp0 fbp fbp-bench libfbp-dev; do
    [ "$(field $name Version)" = "$("$build/bin/fbp" --version | cut -d' ' -f2)-1" ] ||
        fail "$name is of version $(field $name Version)"
    [ -s "$work/root/usr/share/doc/$name/copyright" ] || fail "$name has no copyright file"
done
field libfbp0 Depends | grep -q 'libc6.*libhdf5.*zlib1g' || fail "libfbp0 needs: $(field libfbp0 Depends)"
field fbp Depends | grep -q 'libc6.*libhdf5.*zlib1g' || fail "fbp needs: $(field fbp Depends)"
field fbp-bench Depends | grep -q 'fbp (= ' || fail "fbp-bench needs: $(field fbp-bench Depends)"
field libfbp-dev Depends | grep -q 'libfbp0 (= ' || fail "libfbp-dev needs: $(field libfbp-dev Depends)"

cd "$work"
"$work/root/usr/bin/fbp" simulate --size 16 --views 20 -o scan.json -q
"$work/root/usr/bin/fbp" recon scan.json -o volume.mha -q
ldd "$work/root/usr/bin/fbp" >linked
grep libfbp linked && fail "the command needs libfbp.so, although it contains the library"
rm -rf "$work"
