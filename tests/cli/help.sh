#!/usr/bin/env bash
# Pictures of the help, compared word for word.  FBP_UPDATE=1 draws them again.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

expected=$here/help.expected
picture() { # NAME ARGUMENTS…
    local name=$1
    shift
    run 0 "$@"
    empty err
    if [ -n "${FBP_UPDATE:-}" ]; then
        mkdir -p "$expected"
        cp out "$expected/$name.txt"
    fi
    diff -u "$expected/$name.txt" out || say "$last: differs from help.expected/$name.txt"
}

picture fbp --help
for command in recon plan simulate init view compare info "geometry show" "geometry check" "geometry convert" \
    "bench follow" "bench host" "bench kernel" "bench pipeline" "bench S0" "bench S1" devices \
    "rabbitct make" "rabbitct run" "rabbitct compare" "rabbitct convert"; do
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
