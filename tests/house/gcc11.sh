#!/bin/sh
# gcc11.sh SOURCE INCLUDES: GCC 11, the oldest compiler that docs/install.md names, reads all that the
# library is made of.  INCLUDES: folders of headers, with colons between.  Status 77: there is none.
command -v gcc-11 >/dev/null || { echo "gcc-11 is not installed"; exit 77; }
cd "$1/src" || exit 1
export C_INCLUDE_PATH="$2"

fails=0
reads() { # flags and names
    gcc-11 -std=c11 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Werror "$@"
}
sources() {
    find . -name '*.c' ! -path './backend/cuda/*' ! -path './backend/gl/*'
}

[ "$(sources | wc -l)" -gt 100 ] || { echo "no sources in $1/src"; exit 1; }
echo 'int f(void); int f(void) { return __builtin_of_gcc_99(1); }' | reads -x c - 2>/dev/null &&
    { echo "gcc-11 takes what it does not know"; exit 1; }

# shellcheck disable=SC2046 # names of sources have no spaces
reads $(sources | grep -vE '_(avx[0-9]*|neon)[.]c$') || fails=1
if [ "$(uname -m)" = x86_64 ]; then
    # shellcheck disable=SC2046
    reads -mavx2 -mfma $(sources | grep '_avx2[.]c$') || fails=1
    # shellcheck disable=SC2046
    reads -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma $(sources | grep '_avx512[.]c$') || fails=1
fi
exit $fails
