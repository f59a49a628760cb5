#!/usr/bin/env bash
# freeze.sh: take the public headers as those of the release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf tests/interface/frozen/include
mkdir -p tests/interface/frozen/include/fbp
cp include/fbp/*.h tests/interface/frozen/include/fbp/
