# shellcheck shell=bash disable=SC2034
# What the shell tests share.  Called as: SCRIPT FBP JSON_GET WORK_DIR
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fbp=$1 json_get=$2 work=$3
failed=$(realpath -m "$work").failed # has a line per failure, also of subshells
: >"$failed"

rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
exec </dev/null

say() {
    echo "FAILED: $*"
    echo "$*" >>"$failed"
}

# run STATUS ARGUMENTS…: run fbp, output in files out and err, check the exit status.
run() {
    local want=$1 got=0
    shift
    last="fbp $*"
    "$fbp" "$@" >out 2>err || got=$?
    if [ "$got" -ne "$want" ]; then
        say "$last: status $got instead of $want"
        cat err
    fi
}

# interrupt SECONDS ARGUMENTS…: run fbp and stop it after so long, as Ctrl-C would: exit status 143.
interrupt() {
    local after=$1 pid got=0
    shift
    last="fbp $*, interrupted"
    "$fbp" "$@" >out 2>err &
    pid=$!
    sleep "$after"
    kill -TERM $pid # a shell's background commands ignore SIGINT until they take it over
    wait $pid || got=$?
    [ "$got" -eq 143 ] || say "$last: status $got"
}

# The last command's file out or err has a line that matches an extended regular expression.
has() { grep -qE -- "$2" "$1" || say "$last: $1 lacks /$2/: $(cat "$1")"; }
empty() { [ ! -s "$1" ] || say "$last: $1 is not empty: $(cat "$1")"; }
one_line() { [ "$(wc -l <"$1")" -eq 1 ] || say "$last: $1 is not one line: $(cat "$1")"; }
exists() { [ -s "$1" ] || say "$last: $1 is missing or empty"; }
absent() { [ ! -e "$1" ] || say "$last: $1 exists"; }

# A member of the JSON object in file out.
json() { "$json_get" "$1" <out || say "$last: no JSON member $1"; }
# The measurements of a benchmark's object in file out, each as an object on a line.
measurements() {
    local i=0
    while "$json_get" measurements.$i <out 2>/dev/null; do i=$((i + 1)); done
}
# is EXPRESSION: arithmetic with decimals, true or a failure
is() { awk "BEGIN { exit !($1) }" || say "$last: not true: $1"; }

finish() {
    [ ! -s "$failed" ] || exit 1
    echo "passed"
}
# The library of this command in a folder, with a commit of another name; fails where it has none.
make_other_build() {
    local library commit
    library=$(ldd "$fbp" | sed -nE 's/.*libfbp\.so[^ ]* => ([^ ]*) .*/\1/p')
    commit=$(strings -n 8 "${library:-/dev/null}" 2>/dev/null |
        sed -nE 's/^0\.[0-9]+\.[0-9]+ ([0-9a-f]{12}\+?)$/\1/p' | head -1)
    [ -n "$commit" ] || return 1
    mkdir -p "$1"
    LC_ALL=C sed "s/$commit/$(echo "$commit" | tr 0-9a-f 1-9a-f0)/" "$library" >"$1/$(basename "$library")"
}
