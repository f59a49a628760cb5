#!/usr/bin/env bash
# install.sh PYTHON SOURCE BUILD WORK: the package as `cmake --install --component python` puts it into
# an environment of its own: all in one folder, found from anywhere, with the command; five lines to a
# right ball.  Skipped where the package was not built.
set -euo pipefail
python=$1 source=$2 build=$3 work=$4
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
[ -n "$python" ] && [ -x "$python" ] || skip "there is no environment with NumPy: ./run test --all makes one"
ls "$build"/python/libfbp/_core*.so >/dev/null 2>&1 || skip "the package was not built: -DFBP_PYTHON=ON, or ./run test --all"
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --component python --prefix "$work/site" >"$work/install.log"

# One folder, without links, and everything that it needs of this project lies in it.
[ "$(ls "$work/site")" = libfbp ]
[ -z "$(find "$work/site" -type l)" ]
for file in __init__.py _core.pyi py.typed lib/libfbp.so.0 bin/fbp; do
    [ -e "$work/site/libfbp/$file" ] || { echo "missing: $file"; exit 1; }
done
mv "$work/site" "$work/moved site"
site="$work/moved site"
for binary in "$site"/libfbp/_core*.so "$site"/libfbp/bin/fbp; do # the command contains the library
    ldd "$binary" | grep libfbp >>"$work/found.txt" || [ "${binary##*/}" = fbp ]
done
if grep -vE "$site/libfbp/(bin/../)?lib/" "$work/found.txt"; then
    echo "another library is found"
    exit 1
fi
# Nothing is looked for in the build folder, nor, by an empty entry, where a program is started.
while read -r binary; do
    readelf -d "$binary" | sed -nE 's/.*\(RUNPATH\).*\[(.*)\]/:\1:/p' | grep -E "::|$build" &&
        { echo "$binary looks for libraries there"; exit 1; }
done < <(find "$site" -name '*.so*' -o -name fbp -type f)
cd /
export PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1
"$python" "$source/tests/python/five_lines.py"
[ "$("$python" -m libfbp --version)" = "$("$build"/bin/fbp --version)" ]
"$python" -m libfbp devices | grep cpu >/dev/null
"$python" -c 'import libfbp; help(libfbp.recon)' | grep 'filter: .str' >/dev/null
