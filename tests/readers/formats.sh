#!/usr/bin/env bash
# formats.sh FBP SPARSE_TIFF VENV WORK_DIR: every output format, opened with the reader that users
# have; formats.py compares.  Skipped without the environment that scripts/python-venv makes.
set -euo pipefail
fbp=$1 sparse_tiff=$2 venv=$3 work=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ ! -e "$venv/made-from.txt" ]; then
    echo "skipped: $venv is not there: ./run test --all makes it, where there is a network"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$venv/bin/python" "$here/formats.py" "$fbp" "$sparse_tiff"
