#!/usr/bin/env bash
# chroot.sh SOURCE WORK: on Debian 12 with nothing installed, build the packages as a container's first
# stage does, and by the commands of the recipes for conda and Spack; install the packages where there
# is no compiler as its second stage does; use all of them.  Takes some ten minutes, the network, and
# root; skipped without.
set -euo pipefail
source=$1 work=$2
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/bare.sh"
builder=$work/builder user=$work/user
finish() {
    umount "$builder/proc" "$user/proc" 2>/dev/null || true
}
trap finish EXIT
finish
rm -rf "$work"
mkdir -p "$work"

bare "$builder"
git -c safe.directory='*' clone -q "$source" "$builder/fbp"
inside "$builder" "apt-get update -q >/dev/null; cd /fbp; ./run package" >"$work/package.log" 2>&1 ||
    fail "./run package: $(tail -20 "$work/package.log")"
n=$(find "$builder/fbp/build/packages" -name '*.deb' | wc -l)
[ "$n" -ge 4 ] || fail "$n packages"

for recipe in conda spack; do
    python3 "$source/tests/packages/recipes.py" "$source" $recipe >"$builder/fbp/build.sh"
    inside "$builder" "cd /fbp; export PREFIX=/tmp/$recipe; . ./build.sh; \$PREFIX/bin/fbp --version" \
        >"$work/$recipe.log" 2>&1 || fail "$recipe: $(tail -20 "$work/$recipe.log")"
done
# By who may not write anywhere else.
inside "$builder" "cd /fbp; chown -R nobody build; mkdir /tmp/home; chown nobody /tmp/home
    setpriv --reuid=65534 --regid=65534 --clear-groups cmake --install build/conda --prefix /tmp/home/fbp >/dev/null
    setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/home/fbp/bin/fbp --version" ||
    fail "an install by a user"

bare "$user"
mkdir "$user/packages"
cp "$builder"/fbp/build/packages/*.deb "$user/packages/"
python3 "$source/tests/packages/recipes.py" "$source" docker-run >"$user/install.sh"
cp -a "$user/packages" "$work/debs"
inside "$user" ". /install.sh" >"$work/install.log" 2>&1 ||
    fail "packages do not install: $(tail -20 "$work/install.log")"
inside "$user" "! command -v cc; cd /tmp; fbp simulate --size 32 --views 40 -o scan.json -q
    fbp recon scan.json -o volume.mha -q; fbp info volume.mha; fbp devices; man -w fbp || true" ||
    fail "the installed command"

# Who compiles against it.
mkdir -p "$user/packages"
cp "$work"/debs/*.deb "$user/packages/"
cp -a "$source/examples" "$user/examples"
inside "$user" "apt-get update -q >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends gcc libc6-dev pkg-config \
        /packages/libfbp-dev_*.deb /packages/fbp_*.deb /packages/libfbp0_*.deb >/dev/null
    cd /tmp; cc -std=c11 /examples/recon.c \$(pkg-config --cflags --libs fbp) -o recon
    ./recon scan.json again.mha; fbp compare again.mha volume.mha
    apt-get purge -y -q libfbp0 >/dev/null
    [ -z \"\$(ls /usr/lib/*/libfbp.so* /usr/lib/*/libfbp_gl.so 2>/dev/null)\" ]" ||
    fail "the development package"
finish
rm -rf "$work"
