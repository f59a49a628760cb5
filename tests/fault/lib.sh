# shellcheck shell=bash disable=SC2034
# For scripts that are called with FBP INJECT WORK_DIR: an empty folder, and how they fail.
set -u
fbp=$1 inject=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
fail() {
    echo "FAILED: $*"
    [ ! -e out ] || cat out
    exit 1
}
