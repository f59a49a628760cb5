#!/usr/bin/env bash
# fbp plan --model: a machine that is not there, in text and JSON; nonsense is one sentence.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 32 --views 48 --scale 0.02 -o scan.json -q

run 0 plan scan.json --size 512 --precision half --model gpus=4,gpu=h200
has out '^device    model, kernel rot90, half, 4 devices'
has out '^time      .* predicted, .* GUPS; opening takes .* before that$'
has out '^parts     upload .*, filter .*, backproject .*, fetch .* \(they overlap\)$'
has out '^on device '
empty err

json_of() { # KEYS of a model, MEMBER
    run 0 plan scan.json --size 512 --precision half --model "$1" --json
    json "$2"
}
one=$(json_of gpus=1 predicted.total)
four=$(json_of gpus=4 predicted.total)
is "$four < $one && $one < 4.2 * $four"
is "$(json_of gpus=4 expected_seconds) == $four"
is "$(json_of gpus=1,gups=1000 predicted.total) > $one"
is "$(json_of gpus=4,write=1GB/s predicted.write) > 0.5"
is "$(json_of gpus=4,write=1GB/s predicted.total) > 0.53"
is "$(json_of gpus=1,memory=300M slabs) > $(json_of gpus=1 slabs)"
is "$(json_of gpus=1,cores=7 threads) == 7"
is "$(json_of gpus=1,host=2G memory_limit) == 2147483648"
is "$(json_of gpus=3 devices) == 3"

for nonsense in gpus "," gpus=0 gpus=100000 gpus=nan gpus=2,gpus=2 gpux=2 gpu=a100 up=55 up=1e30GB/s \
    memory=0 host=1 read=2G both=-1GB/s; do
    run 1 plan scan.json --model "$nonsense"
    empty out
    one_line err
    has err '^fbp: model: '
    run 1 plan scan.json --model "$nonsense" --json
    [ -n "$(json error)" ] || say "$last: no error"
done
run 1 plan scan.json --model gpus=2 --device cpu
has err '^fbp: device: a model has its own cards'
run 1 plan scan.json --size 2048 --model gpus=1,memory=64M
one_line err
has err 'device memory'
run 1 plan scan.json --size 2048 --model gpus=1,host=64M
one_line err
has err 'this reconstruction needs at least .*, the limit is 64\.0 MiB'
run 2 plan scan.json --model
run 2 plan scan.json --model ''
run 2 recon scan.json -o null: --model gpus=1
run 1 recon scan.json -o null: --device model
has err 'model cannot be used'
finish
