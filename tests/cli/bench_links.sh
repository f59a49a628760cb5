#!/usr/bin/env bash
# bench links: table, JSON and the file that is kept, of pretended devices.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache
kept=$XDG_CACHE_HOME/fbp/links

run 0 bench links --device mock:0,1
empty err
has out '^mock:0 +simulated device in host memory, number 0'
has out '^GB/s +up +down +both$'
has out '^mock:0 +50\.0 +40\.0 +40\.0$'
has out '^mock:1 +50\.0 +40\.0 +40\.0$'
has out '^together +100\.0 +80\.0 +50\.0$'
has out '^mock:0 +\(1000\) +300\.0, 300\.0 #0$'
has out '^mock:1 +300\.0, 300\.0 #0 +\(1000\)$'
has out '^each to the next, all at once: 600\.0$'
exists "$kept"
head -n 1 "$kept" | grep -q '^fbp: rates of links' || say "$kept: $(cat "$kept")"
[ "$(wc -l <"$kept")" -eq 2 ] || say "$kept: $(cat "$kept")"

# The other order is the same set; another set is a line more, and so is not lost with the next one.
run 0 bench links --device mock:1,0 --json
empty err
[ "$(wc -l <"$kept")" -eq 2 ] || say "$kept: $(cat "$kept")"
[ "$(json bench)" = links ] && [ "$(json devices.0.name)" = mock:1 ] || say "$last: $(cat out)"
is "$(json devices.1.up) == 50e9 && $(json devices.1.down) == 40e9 && $(json devices.1.both) == 40e9"
is "$(json together.up) == 100e9 && $(json together.both) == 50e9 && $(json ring) == 600e9"
[ "$(json peers.0.from)" = mock:1 ] && [ "$(json peers.0.to)" = mock:0 ] || say "$last: $(cat out)"
is "$(json peers.1.one_way) == 300e9 && $(json devices.0.within) == 1e12"
run 0 bench links --device mock:all
has out '^mock:3 '
[ "$(wc -l <"$kept")" -eq 3 ] || say "$kept: $(cat "$kept")"

# One device has nobody beside it.
run 0 bench links --device mock
has out '^mock:0 +50\.0 +40\.0 +40\.0$'
if grep -qE 'together|from / to' out; then say "$last: $(cat out)"; fi

# A damaged file is written anew, a folder that cannot be written to is no error.
echo nonsense >"$kept"
run 0 bench links --device mock:0,1
[ "$(wc -l <"$kept")" -eq 2 ] || say "$kept: $(cat "$kept")"
XDG_CACHE_HOME=/dev/null run 0 bench links --device mock:0,1
empty err

run 1 bench links --device cpu
has err 'links: device cpu has no transfer rates to measure'
one_line err
run 1 bench links --device mock:0,4
has err 'expected indices 0 … 3'
one_line err
run 1 bench links --device mock:2,1,2
has err 'device 2 is named twice'
one_line err
run 1 bench links --device gpu --json
[ "$(json error)" != "" ] || say "$last: $(cat out)"
has err 'is unknown, or not part of this build'

finish
