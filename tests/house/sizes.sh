#!/bin/sh
# sizes.sh SOURCE: no function of the program is longer than 50 lines, and no file than 500.  What is
# longer does more than one thing: take it apart.  (Of include/ most is explanation.)
sizes() { # in a tree
    (cd "$1" && find src cli modules bindings bench -name '*.c' -o -name '*.h' -o -name '*.cu' -o \
        -name '*.cuh' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.glsl' | sort | xargs awk '
        FNR == 1 { begin = 0 }
        FNR == 501 { print FILENAME ": more than 500 lines" }
        /^\{/ && before !~ /^(class|struct|namespace)/ { begin = FNR }
        /^\}/ {
            if (begin && FNR - begin > 50)
                print FILENAME ":" begin ": a function of " FNR - begin " lines"
            begin = 0
        }
        { before = $0 }')
}

# Both are found where they are planted, and what is just short enough is not.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
lines() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "    x++;" }'; }
for folder in src/deep cli modules bindings bench; do mkdir -p "$tree/$folder"; done
{ echo 'void f(void)'; echo '{'; lines 49; echo '}'; lines 448; } >"$tree/src/deep/short.c"
[ -z "$(sizes "$tree")" ] || { echo "sizes.sh takes offence at:"; sizes "$tree"; exit 1; }
{ echo 'void f(void)'; echo '{'; lines 50; echo '}'; } >"$tree/cli/function.c"
lines 501 >"$tree/src/deep/file.h"
[ "$(sizes "$tree" | wc -l)" = 2 ] || { echo "sizes.sh does not see:"; sizes "$tree"; exit 1; }

found=$(sizes "$1") || exit 1
[ -z "$found" ] || { echo "$found"; exit 1; }
