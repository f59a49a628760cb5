#!/usr/bin/env bash
# fbp bench predict: a machine that is not there, in text and JSON; nonsense is one sentence.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --size 32 --views 48 --scale 0.02 -o scan.json -q

run 0 bench predict scan.json --size 512 --precision half --model gpus=4,gpu=h200
has out '^device    model, kernel rot90, half, 4 devices'
has out '^time      .* predicted, .* GUPS; opening takes .* before that$'
has out '^parts     upload .*, filter .*, backproject .*, fetch .* \(they overlap\)$'
has out '^on device '
[ -z "$(grep -v 'FDK is exact' err)" ] || say "$last: $(cat err)"

json_of() { # KEYS of a model, MEMBER
    run 0 bench predict scan.json --size 512 --precision half --model "$1" --json
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

# Nodes of a cluster.
is "$(json_of nodes=2,gpus=4,net=1GB/s,host=8G memory_limit) == 2147483648"
cluster() { # MODEL, MEMBER, options
    run 0 bench predict scan.json --size 512 --precision half --model "$1" --json "${@:3}"
    json "cluster.0.$2"
}
is "$(cluster nodes=1,gpus=1 total) == $one && $(json cluster.0.ranks) == 1 && $(json cluster.0.sum) == 0"
is "$(cluster nodes=2,gpus=4,net=1GB/s ranks) == 8 && $(json cluster.0.slabs) * $(json cluster.0.view_ranks) == 8"
is "$(cluster nodes=8,gpus=1,net=1GB/s total --view-ranks 1) < $one && $(json cluster.0.slabs) == 8"
# A quarter of the volume from each of three others; by a tenth of the network ten times as long.
sum=$(cluster nodes=4,gpus=1,net=10GB/s sum --view-ranks 4)
is "$sum > 0.0402 && $sum < 0.0403" # 3/4 x 512^3 x 4 bytes
is "$(cluster nodes=4,gpus=1,net=1GB/s sum --view-ranks 4) > 9.99 * $sum && $(json cluster.0.total) > 0.4"
[ "$(json cluster.0.binds)" = sum ] || say "$last: not the sums"
# Bytes that are read by all, and a volume that is written once.
is "$(cluster nodes=8,gpus=1,net=1GB/s,disk=1GB/s write --view-ranks 1) > 0.53 && $(json cluster.0.total) > 0.53"
is "$(cluster nodes=4,gpus=0,gups=1,net=1GB/s backproject --view-ranks 1) * 3.9 < $(cluster nodes=1,gpus=0,gups=1 backproject)"
is "$(cluster nodes=1,gpus=0,gups=1,filter=0.1 filter) > 0"
run 0 bench predict scan.json --size 512 --model nodes=4,gpus=2,net=25GB/s
has out '^cluster   8 ranks of 4 nodes, '
has out '^ +8 +16 +[0-9]+ x [0-9]+ '
has out '^Quickest of these grids: '
run 1 bench predict scan.json --size 512 --model nodes=2,net=1GB/s --view-ranks 3
has err 'view_ranks: only 2 processes were started, but 3 are requested'

for nonsense in nodes=2 nodes=0 gpus "," gpus=0 gpus=100000 gpus=nan gpus=2,gpus=2 gpux=2 gpu=a100 up=55 up=1e30GB/s \
    memory=0 host=1 read=2G both=-1GB/s; do
    run 1 bench predict scan.json --model "$nonsense"
    empty out
    one_line err
    has err '^fbp: model: '
    run 1 bench predict scan.json --model "$nonsense" --json
    [ -n "$(json error)" ] || say "$last: no error"
done
run 1 bench predict scan.json --model gpus=2 --device cpu
has err '^fbp: device: a model describes its own cards'
run 1 bench predict scan.json --size 2048 --model gpus=1,memory=64M
one_line err
has err 'device memory'
run 1 bench predict scan.json --size 2048 --model gpus=1,host=64M
one_line err
has err 'this reconstruction needs at least .*, but the limit is 64\.0 MiB'
run 2 bench predict scan.json --model
run 2 bench predict scan.json --model ''
# Nodes without cards have no links and no memory of a device.
run 0 bench predict scan.json --model nodes=3,gpus=0,gups=1,filter=0.1,net=1GB/s,disk=1GB/s --json
is "$(json cluster.0.upload) == 0 && $(json cluster.0.fetch) == 0 && $(json other_nodes.0.upload) == 0"
run 0 bench predict scan.json --model nodes=3,gpus=0,gups=1,filter=0.1,net=1GB/s,disk=1GB/s
grep -q 'on device' out && say "$last: memory of a device"

# What is of a cluster needs one.
run 1 bench predict scan.json --model net=5GB/s
has err '^fbp: model: net belongs to a cluster: also give nodes'
run 1 bench predict scan.json --model gpus=1,gpu=h200,disk=5GB/s
has err '^fbp: model: disk belongs to a cluster: also give nodes'
run 2 bench predict scan.json --model gpus=2 --view-ranks 2
has err '^fbp: bench predict: --view-ranks: the plan has one process'
empty out
run 2 bench predict scan.json
has err 'bench predict'

# Of several that Open MPI has started together the first one prints the plan, or says what is wrong.
PMIX_RANK=0 run 0 plan scan.json
has out '^work'
PMIX_RANK=1 run 0 plan scan.json
empty out
empty err
PMIX_RANK=1 run 0 plan scan.json --part 2/3
has out '^part'

finish
