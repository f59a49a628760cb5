#!/usr/bin/env bash
# install.sh BUILD SOURCE WORK: install a build, move the prefix, and use it from outside: the C and
# the C++ example by pkg-config and by CMake, and all of fbp.hpp.
set -euo pipefail
build=$1 source=$2 work=$3
. "$source/tests/interface/programs.sh"
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/first" >install.log || fail "cmake --install"
mv first prefix
by_pkg_config "$work/prefix" "$source/examples"
by_cmake "$work/prefix" "$source/examples"
[ ! -e "$(libdir_of prefix)/libfbp.a" ] || by_cmake "$work/prefix" "$source/examples" -DSTATIC=ON
handles "$work/prefix" "$source/tests/interface/handles.cpp"
