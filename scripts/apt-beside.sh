# shellcheck shell=bash
# apt_beside FOLDER TYPE [SUITE]: apt with lists and settings of its own in FOLDER, so that the
# system's stay as they are: the same mirrors and keys as the system's, for TYPE (deb or deb-src), of
# SUITE instead of the system's release, for the architecture FBP_ARCHITECTURE (such as arm64) instead
# of the system's.  Later calls of apt use it.
apt_beside() {
    local here=$1 type=$2 release
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    local suite=${3:-$release} architecture=${FBP_ARCHITECTURE:-$(dpkg --print-architecture)}
    command -v apt-get >/dev/null && [ -n "$release" ] || return 1
    mkdir -p "$here/parts" "$here/lists/partial" "$here/cache/archives/partial"
    : >"$here/installed" # nothing, for it
    sed "s/^Types:.*/Types: $type/; /^Suites:/s/\<$release\>/$suite/g" \
        /etc/apt/sources.list.d/{debian,ubuntu}.sources >"$here/parts/beside.sources" 2>/dev/null || true
    { grep -hE '^deb ' /etc/apt/sources.list || true; } 2>/dev/null |
        sed "s/^deb /$type /; s/\<$release\>/$suite/g" >"$here/parts/beside.list"
    cat >"$here/apt.conf" <<CONF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$here/parts";
Dir::State::Lists "$here/lists";
Dir::State::status "$here/installed";
Dir::Cache "$here/cache";
APT::Sandbox::User "root";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
CONF
    export APT_CONFIG=$here/apt.conf
    timeout 300 apt-get -q update
}
