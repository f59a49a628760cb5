#!/bin/sh
# environment.sh SOURCE: the library reads the environment in src/base/system.c alone, and
# every variable of its table is in the users' one.
cd "$1" || exit 1
found=$(grep -rnwE --include='*.[ch]' --include='*.cu' 'getenv|secure_getenv|environ' src |
    grep -v '^src/base/system\.c:')
[ -z "$found" ] || { echo "$found"; echo "read it by fbp_environment() (src/base/system.h)"; exit 1; }
names=$(sed -nE 's/^ *\[FBP_ENV_[A-Z0-9_]+\] = "([A-Z0-9_]+)".*/\1/p' src/base/system.c)
[ "$(echo "$names" | wc -w)" -ge 10 ] || { echo "no table in src/base/system.c"; exit 1; }
for name in $names; do
    grep -q "^|.*\`$name\`" docs/recipes.md || { echo "docs/recipes.md does not name $name"; exit 1; }
done
