# shellcheck shell=bash disable=SC2154
# Debian 12 with nothing installed, in folders, for tests that have a folder $work and a function skip.
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
mirror=$(sed -nE 's/^(URIs:|deb) +(\[[^]]*\] +)?([a-z]+:[^ ]+).*/\3/p' /etc/apt/sources.list \
    /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | grep -v security | head -1 || true)
[ -n "$mirror" ] || skip "it is not known where Debian's packages come from"

# As little as Debian can be: a base, and who answers for names.
bare() { # folder
    [ -e "$work/base" ] || debootstrap --variant=minbase bookworm "$work/base" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || skip "debootstrap: $(tail -1 "$work/debootstrap.log")"
    cp -a "$work/base" "$1"
    cp /etc/resolv.conf "$1/etc/"
    cp /etc/hosts "$1/etc/"
    mkdir -p "$1/etc/apt/apt.conf.d"
    rm -f "$1/etc/apt/sources.list"
    cp -a /etc/apt/sources.list* "$1/etc/apt/" 2>/dev/null || true
    cp -a /etc/apt/apt.conf.d/. "$1/etc/apt/apt.conf.d/"
    cp -a /usr/share/keyrings/. "$1/usr/share/keyrings/"
    mount -t proc proc "$1/proc" 2>/dev/null || skip "/proc cannot be mounted"
}
inside() { # folder command
    chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" bash -euc "$2"
}
