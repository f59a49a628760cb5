#!/usr/bin/env bash
# Exactly one JSON object from every command that is given --json, whatever happens; warnings, notes
# and the error are in it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# one STATUS ARGUMENTS…: one object on standard output.
one() {
    run "$@" --json
    "$json_get" <out >whole || say "$last: not one JSON object: $(cat out)"
    json notes >/dev/null
    json warnings >/dev/null
    if [ "$1" -eq 0 ]; then
        "$json_get" error <out >/dev/null 2>&1 && say "$last: an error in $(cat out)"
    else
        [ -n "$(json error)" ] || say "$last: no error in $(cat out)"
        has err '^fbp: '
    fi
}
fine() { one 0 "$@"; }

run 0 simulate --size 16 --views 24 --scale 0.02 -o plain.json -q
cat >badly.json <<'END'
{"fbp_scan": 1, "projections": "plain.mha", "detector": {"pitch_mm": 25}, "geometry": "lost.xml"}
END
run 0 recon plain.json -o a.mha -q
run 0 rabbitct make -o r.rctd --views 6 --detector 16x16 --references 1 --device cpu -q

cases() { # COMMAND: a run of it that works, and one that fails, as functions of its name
    case $1 in
    recon) fine recon plain.json -o null: -q && one 1 recon badly.json -o b.mha ;;
    plan) fine plan plain.json && one 1 plan badly.json ;;
    simulate) fine simulate --size 8 --views 4 -o s.json && one 1 simulate --size 8 --views 4 -o no/s.json ;;
    view) fine view a.mha -o a.png && one 1 view plain.json -o b.png ;;
    compare) fine compare a.mha a.mha && one 1 compare a.mha lost.mha ;;
    info) fine info a.mha && one 1 info lost.mha && fine info plain.json && fine info r.rctd ;;
    devices) fine devices ;;
    calibrate) fine simulate --size 32 --views 40 --sod 300 --sdd 500 -o calibrate.json && fine calibrate calibrate.json && one 1 calibrate badly.json ;;
    tune) one 1 tune badly.json ;; # with a scan, it serves until it is stopped
    "geometry show") fine geometry show plain.json -o s.svg && one 1 geometry show badly.json -o s.svg ;;
    "geometry check") fine geometry check plain.json && one 1 geometry check badly.json ;;
    "geometry convert") fine geometry convert plain.json -o g.xml && one 1 geometry convert badly.json -o g.xml ;;
    "rabbitct make") fine rabbitct make -o m.rctd --views 6 --detector 16x16 --references 0 && one 1 rabbitct make badly.json -o m.rctd ;;
    "rabbitct run") fine rabbitct run r.rctd --size 128 --device cpu && one 1 rabbitct run lost.rctd ;;
    "rabbitct compare") run 0 rabbitct run r.rctd --size 128 --device cpu --volume r.vol && fine rabbitct compare r.vol r.rctd && one 1 rabbitct compare lost.vol r.rctd ;;
    "rabbitct convert") fine rabbitct convert r.rctd -o r.rct && one 1 rabbitct convert lost.rctd -o l.rct ;;
    "rabbitct info") fine rabbitct info r.rctd && one 1 rabbitct info lost.rctd ;;
    init) mkdir -p none scan && cp plain.mha scan/ && one 1 init none && fine init scan && fine init scan -o i.json && exists i.json ;;
    "bench pipeline") fine bench pipeline --size 16 --views 12 && one 1 bench pipeline badly.json ;;
    "bench follow") fine bench follow --divide 16 --rate 5000 --runs 1 --device cpu && one 1 bench follow --dir no ;;
    "bench host") fine bench host --divide 32 --runs 1 --device cpu && one 1 bench host --device no ;;
    "bench kernel") fine bench kernel --divide 32 --device cpu && one 1 bench kernel --divide 32 --device cpu --kernel no ;;
    "bench links") XDG_CACHE_HOME=$work/cache fine bench links --device mock:0,1 && one 1 bench links --device cpu ;;
    "bench predict") fine bench predict plain.json --model gpus=2 && one 1 bench predict badly.json --model gpus=2 ;;
    "bench okitsu2008") fine bench okitsu2008 --size 16 --views 12 --device cpu && one 1 bench okitsu2008 --case ladder --size 16 --views 12 --device cpu ;;
    "bench zinsser2013") fine bench zinsser2013 --size 16 --views 12 --runs 1 --device cpu && one 1 bench zinsser2013 --device no ;;
    "bench ino2010") fine bench ino2010 --size 16 --views 12 --device cpu && fine bench ino2010 --size 16 --views 12 --device cpu --plan && one 1 bench ino2010 --size 16 --device cpu --count 2 ;;
    "bench ino2009") one 1 bench ino2009 --size 16 --views 8 --device cpu ;;
    "bench qiao2015") fine bench qiao2015 --size 8 --rings 4 --runs 1 && one 1 bench qiao2015 --size 8 --device no ;;
    "bench write") fine bench write --size 16 --threads 2 && one 1 bench write --dir no ;;
    *) say "no case for fbp $1: give it --json and add one here" ;;
    esac
}

{ "$fbp" help --commands && "$fbp-bench" help --commands; } >commands
[ "$(wc -l <commands)" -ge 23 ] || say "too few commands: $(cat commands)"
# mistake ARGUMENTS…: wrong usage, and that is the one object.
mistake() {
    run 2 "$@" --json
    [ "fbp: $("$json_get" error <out)" = "$(cat err)" ] || say "$last: not one object with the error: $(cat out)"
}

# Every option of a command with a value that is none, with none, and words too many.
wrong() { # COMMAND: its help is in file help
    local option
    sed -nE 's/^  (-[a-zA-Z], |    )--([a-z0-9-]+).*/\2/p' help | grep -vE '^(help|json)$' >options
    while read -r option; do
        # shellcheck disable=SC2086
        mistake $1 --$option=@@ lost1 lost2 lost3
    done <options
    # shellcheck disable=SC2086
    {
        mistake $1 --no-such-option
        mistake $1 -0
        mistake $1 lost1 lost2 lost3
        mistake $1 lost.json --json=1
        grep -qE '^  -o' help && mistake $1 --json -o
        case $1 in bench* | devices) ;; *) mistake $1 ;; esac # those need nothing more
    }
}

while IFS= read -r command; do
    # shellcheck disable=SC2086
    run 0 $command --help
    has out '--json'
    cp out help
    wrong "$command"
    cases "$command"
done <commands

# No command at all.
mistake
mistake recn
mistake a.mha
mistake geometry
mistake geometry draw
mistake bench
mistake bench S9
mistake help recn

# Other ways to end.
fine recon plain.json -o hash:
fine recon plain.json --plan
fine recon plain.json -o sheet.png --sweep centre=11:12:0.5
fine recon plain.json -o slice.png --slice 8
one 1 recon plain.json -o no/such/dir/v.mha
one 1 compare a.mha plain.mha
one 1 recon lost.json -o v.mha
one 2 recon plain.json -o v.mha --cutoff 7
[ "$(json error)" = "$(sed 's/^fbp: //' err)" ] || say "$last: error is not what was said"
one 2 recon plain.json -o v.txt
one 2 view a.mha -o p.jpg
run 0 recon --json --help
has out '^Usage: fbp recon'
one 1 compare a.mha r.vol --tolerance 0
run 0 recon plain.json -o b.mha --filter hann -q
one 1 compare a.mha b.mha --tolerance 1e-9
json rmse >/dev/null
json error | grep -q 'exceeds the tolerance' || say "$last: error"

# Interrupted, while it waits for views.
printf '%s' '{"fbp_scan": 1, "projections": "never.raw", "raw": {"type": "float32", "shape": [24, 16, 16]},' \
    '"detector": {"pitch_mm": 1}, "source_to_axis_mm": 500, "source_to_detector_mm": 800,' \
    '"angles_deg": {"start": 0, "step": 15}}' >never.json
interrupt 0.3 recon never.json -o v.mha --follow --json
json error | grep -q '^interrupted' || say "$last: $(cat out)"

# What is said beside a result is in it, and -q silences standard error alone.
run 0 recon plain.json -o null: --device cpu --precision fast --json
json notes.0 | grep -q 'precision exact is used: on device cpu' || say "$last: no note: $(cat out)"
has err 'precision exact is used: on device cpu'
run 0 recon plain.json -o null: --device cpu --precision fast --json -q
json notes.0 | grep -q 'precision exact is used: on device cpu' || say "$last: no note: $(cat out)"
empty err

# A name that is no UTF-8, and one with an escape: JSON all the same.
odd=$(printf 'odd\033[31m\233\177\303\251\377')
cp a.mha "$odd.mha" && fine info "$odd.mha"
LC_ALL=C grep -q "$(printf '[\177\200-\237]')" <(LC_ALL=C sed "s/$(printf '\303\251')//g" out) && say "$last: control bytes in $(cat -v out)"
finish
