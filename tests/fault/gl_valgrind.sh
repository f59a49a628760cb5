#!/usr/bin/env bash
# gl_valgrind.sh TEST FOLDER: a renderer that is opened and closed, with contexts that are lost, leaves
# no memory that valgrind calls lost, and nobody reads or writes what is not theirs.  Mesa compiles its
# own programs meanwhile: minutes.
set -u
test=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v valgrind >/dev/null; then
    echo "skipped: there is no valgrind"
    exit 77
fi
mkdir -p "$folder" && cd "$folder" || exit 1
"$test" software_only >/dev/null 2>&1
[ $? = 77 ] && { echo "skipped: no renderer"; exit 77; }
FBP_TEST_TIMES=10 valgrind --quiet --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --error-exitcode=9 --keep-debuginfo=yes --num-callers=15 \
    --suppressions="$here/gl.supp" "$test" contexts_that_are_lost >out 2>&1
status=$?
tail -n 60 out
exit "$status"
