#!/usr/bin/env bash
# bench links: table and JSON of pretended devices.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache

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
run 0 bench links --device mock:1,0 --json
empty err
[ "$(json bench)" = links ] && [ "$(json devices.0.name)" = mock:1 ] || say "$last: $(cat out)"
is "$(json devices.1.up) == 50e9 && $(json devices.1.down) == 40e9 && $(json devices.1.both) == 40e9"
is "$(json together.up) == 100e9 && $(json together.both) == 50e9 && $(json ring) == 600e9"
[ "$(json peers.0.from)" = mock:1 ] && [ "$(json peers.0.to)" = mock:0 ] || say "$last: $(cat out)"
is "$(json peers.1.one_way) == 300e9 && $(json devices.0.within) == 1e12"
run 0 bench links --device mock:all
has out '^mock:3 '

# One device has nobody beside it.
run 0 bench links --device mock
has out '^mock:0 +50\.0 +40\.0 +40\.0$'
if grep -qE 'together|from / to' out; then say "$last: $(cat out)"; fi

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
