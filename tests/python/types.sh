#!/usr/bin/env bash
# types.sh PYTHON PACKAGES WORK: mypy checks the package, its stubs, and a program of a user's; and it
# finds each mistake in another one.  Skipped where the package was not built, or there is no mypy.
set -euo pipefail
python=$1 packages=$2 work=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -n "$python" ] && [ -x "$python" ] || skip "there is no environment with mypy: ./run test --all makes one"
[ -e "$packages/libfbp/_core.pyi" ] || skip "the package was not built: -DFBP_PYTHON=ON, or ./run test --all"
"$python" -c 'import mypy, numpy' 2>/dev/null || skip "$python has no mypy"
rm -rf "$work"
mkdir -p "$work"
cp "$here"/typed_*.py "$work"
cd "$packages"
[ -e libfbp/py.typed ]
# nanobind's stubs say list and dict without what is in them.
check=("$python" -m mypy --strict --allow-any-generics --cache-dir "$work/cache")
"${check[@]}" -p libfbp
cd "$work"
export MYPYPATH=$packages
"${check[@]}" --follow-imports silent typed_good.py
# Each line with the word WRONG, and no other, is refused.
"${check[@]}" --follow-imports silent typed_wrong.py >found.txt && { echo "mypy finds nothing in typed_wrong.py"; exit 1; }
grep -n WRONG typed_wrong.py | cut -d: -f1 >want.txt
grep error: found.txt | cut -d: -f2 | sort -nu >lines.txt
diff want.txt lines.txt || { cat found.txt; exit 1; }
