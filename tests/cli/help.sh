#!/usr/bin/env bash
# Pictures of the help, compared word for word, but for lists of formats.  FBP_UPDATE=1 draws them again.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

expected=$here/help.expected
# Lists of formats are the library's table, which unit/io_formats checks: a help that differs in
# them, and in how lines break behind them, is no other help.
words() { tr -s ' \n' ' ' <"$1"; }
without_lists() { words "$1" | sed -E 's/\.[a-z0-9.]+(, \.[a-z0-9.]+){3,}/LIST/g'; }
differs_in_lists() {
    [ "$(words "$1")" != "$(words "$2")" ] && [ "$(without_lists "$1")" = "$(without_lists "$2")" ]
}
picture() { # NAME ARGUMENTS…
    local name=$1
    shift
    run 0 "$@"
    empty err
    if [ -n "${FBP_UPDATE:-}" ]; then
        mkdir -p "$expected"
        cp out "$expected/$name.txt"
    fi
    differs_in_lists "$expected/$name.txt" out && return
    diff -u "$expected/$name.txt" out || say "$last: differs from help.expected/$name.txt"
}

picture fbp --help
for command in recon plan calibrate tune simulate init view compare info "geometry show" "geometry check" "geometry convert" \
    "bench follow" "bench host" "bench kernel" "bench links" "bench pipeline" "bench predict" "bench okitsu2008" "bench zinsser2013" "bench ino2010" "bench ino2009" "bench qiao2015" "bench write" \
    devices \
    "rabbitct make" "rabbitct run" "rabbitct compare" "rabbitct convert" "rabbitct info"; do
    # shellcheck disable=SC2086
    picture "${command/ /-}" $command --help
    cp out first
    # shellcheck disable=SC2086
    run 0 help $command
    cmp -s out first || say "fbp help $command differs from fbp $command --help"
done
run 0 help
diff -u "$expected/fbp.txt" out || say "fbp help differs from fbp --help"
finish
