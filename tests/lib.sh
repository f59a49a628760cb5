# shellcheck shell=bash
# How scripts of tests end, and where they begin.
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; exit 1; }
# An empty folder, which becomes the current one.
enter() { rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1; }
