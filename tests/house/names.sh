#!/usr/bin/env bash
# names.sh SOURCE: the pages that lead a reader through the code name only files and functions that
# exist.
set -euo pipefail
cd "$1"
fail=0
for page in docs/architecture.md docs/walk-through.md docs/design-*.md CONTRIBUTING.md; do
    for path in $(grep -oE '`(src|cli|include|modules|bindings|bench|tests|cmake|scripts)/[A-Za-z0-9_./*-]+`' "$page" | tr -d '`' | sort -u); do
        case $path in *NAME*) continue ;; esac
        compgen -G "$path" >/dev/null || { echo "$page: there is no $path"; fail=1; }
    done
    for name in $(grep -oE '`[a-z][a-z0-9_]{3,}\(\)`' "$page" | tr -d '`()' | sort -u); do
        grep -rqE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.hpp' --include='*.glsl' \
            --include='*.py' --include='*.js' "\\b$name\\b" src cli include bindings modules bench tests ||
            { echo "$page: there is no $name()"; fail=1; }
    done
done
grep -q 'fbp_run()' docs/walk-through.md || { echo "docs/walk-through.md does not name fbp_run()"; fail=1; }
exit $fail
