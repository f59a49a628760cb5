#!/usr/bin/env bash
# pages.sh SOURCE BUILD WORK PAGE: run the commands and programs of a page in docs/ as they stand there,
# by the command and the libraries of a build.  What the gallery draws is looked at, too.
set -euo pipefail
source=$1 build=$2 work=$3 page=$4
rm -rf "$work"
mkdir -p "$work/home" "$work/run/build"
# As a reader has it: the build in the folder of the source, and programs installed in ~/fbp.
ln -s "$build" "$work/run/build/release"
export HOME=$work/home PATH=$build/bin:$PATH PYTHONDONTWRITEBYTECODE=1
python3 "$source/docs/site/blocks.py" "$source/docs/$page.md" "$work/run"
[ "$page" != gallery ] || python3 "$source/tests/site/pictures.py" "$work/run"
