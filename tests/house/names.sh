#!/usr/bin/env bash
# names.sh SOURCE: the pages that lead a reader through the code name only files and functions that
# exist; the pages for users, and the comments of the public headers, name only public functions.
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

# The code, or the comments, of C files.
part_of() { # code|comments, files
    local part=$1
    shift
    awk -v part="$part" '{
        line = $0
        while (line != "") {
            at = index(line, inside ? "*/" : "/*")
            text = at ? substr(line, 1, inside ? at + 1 : at - 1) : line
            if ((part == "comments") == (inside == 1)) print text
            line = at ? substr(line, length(text) + 1) : ""
            if (at) inside = 1 - inside
        }
    }' "$@"
}

names_of() { grep -oE '\bfbp_[a-zA-Z0-9_]+\(' | tr -d '(' | sort -u || true; }

headers=(include/fbp/*.h include/fbp/fbp.hpp)
public=$(part_of code "${headers[@]}" | names_of)
public_only() { # file, names on standard input
    local name
    while read -r name; do
        case $name in fbp_X_*) continue ;; esac # stands for several functions
        # the entry point of an MPI module
        [ "$1 $name" != "docs/cluster.md fbp_mpi_team" ] || continue
        grep -qx "$name" <<<"$public" || { echo "$1: there is no public function $name()"; fail=1; }
    done
}
for header in "${headers[@]}"; do
    public_only "$header" < <(part_of comments "$header" | names_of)
done
for page in README.md docs/*.md; do
    case $page in # pages for developers; functions of MATLAB
        docs/architecture.md | docs/walk-through.md | docs/design-*.md | docs/robustness.md | docs/matlab.md) continue ;;
    esac
    public_only "$page" < <(names_of <"$page")
done
[ "$(wc -w <<<"$public")" -gt 60 ] || { echo "too few functions were found in the public headers"; fail=1; }
grep -q 'fbp_run()' docs/walk-through.md || { echo "docs/walk-through.md does not name fbp_run()"; fail=1; }
exit $fail
