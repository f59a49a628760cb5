#!/usr/bin/env bash
# recon by several processes (FBP_TEAM, FBP_TEAM_MODULE: tests/mpi/sockets.c): the bits of one, whatever the output;
# what is wrong with one of them is said once, and nothing is left half-written.
# $4: the program peak.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
peak=$4
folder=$(mktemp -d) # paths of sockets are short
trap 'rm -rf "$folder"' EXIT

# team SIZE STATUS ARGUMENTS…: run fbp as so many processes; output of rank 0 in out and err, that of
# all others, who say nothing, in others.  Each must end with the status.
before=() # a command before each fbp
with=()   # more arguments of the last one
team() {
    local size=$1 want=$2 at r got pids=()
    shift 2
    last="$size processes: fbp $*"
    at=$(mktemp -d "$folder/XXXXXX")
    : >others
    for ((r = 1; r < size; r++)); do
        local more=()
        [ $r -lt $((size - 1)) ] || more=("${with[@]}")
        FBP_TEAM=$r/$size:$at "${before[@]}" "$fbp" "$@" "${more[@]}" >>others 2>&1 &
        pids+=($!)
    done
    got=0
    FBP_TEAM=0/$size:$at "${before[@]}" "$fbp" "$@" >out 2>err || got=$?
    [ "$got" -eq "$want" ] || { say "$last: status $got instead of $want"; cat err; }
    for r in "${pids[@]}"; do
        got=0
        wait "$r" || got=$?
        [ "$got" -eq "$want" ] || say "$last: another process ends with status $got"
    done
}
# How many runs of slices the journals of an output name.
line_of_slices='^[0-9]+ [0-9]+ [0-9a-f]{16}$'
slices_of() { cat "$1".part.log* 2>/dev/null | grep -acE "$line_of_slices"; }
same() { cmp -s "$1" "$2" || say "$last: $2 is not $1"; }
# The last command failed with one line that matches, and left nothing of its output.
said_once() {
    has err "$1"
    one_line err
    empty others
    ls "$2"* 2>/dev/null >files
    empty files
}

run 0 simulate --size 40 --views 48 -o scan.json -q
for options in "--device cpu" "--device cpu --kernel matrix" "--device cpu --kernel column --slab 5" \
    "--device mock" "--device ref --size 20" "--device cpu --roi 3:30,5:40,9:33 --hu 0.02 --mask -1000" \
    "--device cpu --region ball:5,0,9,40 --cutoff-v 0.8"; do
    # shellcheck disable=SC2086
    run 0 recon scan.json -o one.mha -q $options
    for size in 2 3 4 6; do
        # shellcheck disable=SC2086
        team $size 0 recon scan.json -o team.mha -q $options --view-ranks 1
        same one.mha team.mha
        empty others
    done
done

# More processes than slices.
for volume in 16x16x1 16x16x2 32x32x14; do
    run 0 recon scan.json -o one.mha -q --size $volume --device cpu
    team 6 0 recon scan.json -o team.mha -q --size $volume --device cpu --view-ranks 1
    same one.mha team.mha
done
team 6 0 recon scan.json -o team.mha --size 16x16x2
has err '^6 processes: . slabs? of slices, each with its views shared by [36] processes \('
team 6 0 recon scan.json -o team.mha --size 16x16x2 --view-ranks 1
has err '^6 processes: 2 slabs of slices; 4 have no work \('

# Views that processes share: the same values, and the same bits whoever is faster.
run 0 simulate --kind planes --size 24 --directions solid-angle:10 -o planes.json -q
shared() { # scan, size, arguments: as one process, but for roundings
    local scan=$1 size=$2
    shift 2
    run 0 recon "$scan" -o one.mha -q "$@"
    team "$size" 0 recon "$scan" -o team.mha -q "$@" --view-ranks $views
    empty others
    last="$last --view-ranks $views"
    run 0 compare team.mha one.mha --json
    is "$(json psnr_db) >= 120" # 1e-6 of the peak
    cp team.mha first.mha
    team "$size" 0 recon "$scan" -o team.mha -q "$@" --view-ranks $views
    same first.mha team.mha
}
for views in 2 3; do
    for size in 3 4 6; do shared scan.json $size --device cpu; done
    shared scan.json 6 --device mock --slab 7
    shared scan.json 4 --device ref --size 20 --roi 2:17,:,3:15
    shared scan.json 4 --device cpu --kernel matrix --slab 3 --batch 8
    shared scan.json 6 --device cpu --hu 0.02 --mask -1000
    shared planes.json 3 --device cpu
    shared planes.json 6 --device mock
    shared scan.json 6 --device cpu --size 16x16x2
done
views=4
shared scan.json 4 --device cpu --size 16x16x3
shared scan.json 4 --device cpu --region ball:5,0,9,40 --hu 0.02
team 5 0 recon scan.json -o team.mha --view-ranks 2
has err '^5 processes: 2 slabs of slices, each with its views shared by 2 processes; 1 has no work'

# The grid is what the model with the same rates calls quickest.
for disk in 1MB/s 100GB/s; do
    for volume in 48x48x4 48x48x48; do
        rates=gups=1,filter=0.1,net=10GB/s,disk=$disk
        run 0 bench predict scan.json --size $volume --kernel matrix --json --model nodes=4,gpus=0,cores=1,$rates
        slabs=$(json cluster.0.slabs) parts=$(json cluster.0.view_ranks)
        export FBP_RATES=$rates
        team 4 0 recon scan.json -o null: --size $volume --kernel matrix --device cpu --threads 1
        unset FBP_RATES
        has err "^4 processes: $slabs slabs? of slices(, each with its views shared by $parts processes)? \\("
    done
done
for words in disk=fast disk=1 disk=nanGB/s disk=1GB/sec gups=1GB/s gups=-1 nodes=4 up=50GB/s net=1GB/s, ,net=1GB/s net=1GB/s,,disk=1GB/s =5GB/s; do
    FBP_RATES=$words team 2 1 recon scan.json -o rates.mha -q
    said_once '^fbp: FBP_RATES: ".*": expected KEY=VALUE,KEY=VALUE' rates.mha
done
FBP_RATES='' team 2 0 recon scan.json -o null: -q
unset FBP_RATES

# Whoever is rank 0: the least memory, and the slowest that any rank is told of, choose the grid.
run 0 simulate --size 128 --views 64 -o large.json -q
export FBP_RATES=gups=1,filter=0.1,net=10GB/s,disk=20MB/s
for limits in "400M 400M" "400M 36M" "36M 400M"; do
    with=(--memory "${limits#* }")
    team 4 0 recon large.json -o team.mha --device cpu --kernel matrix --threads 1 --memory "${limits% *}"
    if [ "$limits" = "400M 400M" ]; then
        has err '^4 processes: 4 slabs of slices \('
    else
        has err '^4 processes: 1 slab of slices, each with its views shared by 4 processes \('
        [ "$limits" = "400M 36M" ] || same first.mha team.mha
        cp team.mha first.mha
    fi
done
with=()
unset FBP_RATES
for told in 0 3; do
    # shellcheck disable=SC2016
    before=(sh -c 'case $FBP_TEAM in "$0"/*) export FBP_RATES=filter=0.1,net=10GB/s,disk=20MB/s ;; esac; exec "$@"' $told)
    team 4 0 recon large.json -o null: --kernel matrix --device cpu --threads 1 --memory 36M
    has err '^4 processes: 1 slab of slices, each with its views shared by 4 processes \('
done
before=()

# Every sink.
for output in v.mha v.mhd v.tif v.npy v.nrrd v.h5 v.mat v.nii v.raw; do
    run 0 recon scan.json -o "one-$output" -q --device cpu
    team 3 0 recon scan.json -o "team-$output" -q --device cpu
    case $output in
    v.mhd) same one-v.raw team-v.raw ;;
    *) same "one-$output" "team-$output" ;;
    esac
done
for options in "--output-type uint16 --output-range 0,2" "--output-type uint8 --output-range auto" "--compress"; do
    # shellcheck disable=SC2086
    run 0 recon scan.json -o one.mha -q $options
    # shellcheck disable=SC2086
    team 3 0 recon scan.json -o team.mha -q $options
    same one.mha team.mha
done
mkdir one team
run 0 recon scan.json -o one/%03d.tif -q
team 3 0 recon scan.json -o team/%03d.tif -q
diff -r one team >/dev/null || say "$last: another stack"
run 0 recon scan.json -o hash: -q
cp out one.hash
team 4 0 recon scan.json -o hash: -q
same one.hash out
team 2 0 recon scan.json -o null: -q
run 0 recon scan.json -o one.png --slice 20 -q
team 3 0 recon scan.json -o team.png --slice 20 -q
same one.png team.png
for file in preview.png timeline.svg report.html; do
    for views in 1 2; do
        rm -f "$file"
        team 2 0 recon scan.json -o team.mha -q "--${file%.*}" "$file" --view-ranks $views
        exists "$file"
    done
done

# Each writes its own slices; what it clips counts.
run 0 recon scan.json -o one.mha -q --json --output-type uint8 --output-range 0,0.5
count=$(json output_clipped)
is "$count > 10"
team 4 0 recon scan.json -o team.mha -q --json --output-type uint8 --output-range 0,0.5 --view-ranks 1
is "$(json output_clipped) == $count"
same one.mha team.mha
ls team.mha* >files
[ "$(cat files)" = team.mha ] || say "$last: left: $(cat files)"

# So do those that share views, whatever the output; and where rank 0 writes, it gets them.
run 0 recon scan.json -o one.mha -q --json --device cpu
cp out one.json
team 3 0 recon scan.json -o first.mha -q --json --device cpu --view-ranks 3
for member in min max mean; do
    is "($(json $member) - $("$json_get" $member <one.json)) ^ 2 < 1e-12"
done
for output in v.tif v.npy v.h5 v.mat v.ome.zarr; do
    team 3 0 recon scan.json -o "team-$output" -q --device cpu --view-ranks 3
    run 0 compare "team-$output" first.mha --json
    is "$(json max) == 0"
done
team 3 0 recon scan.json -o team.mha -q --device cpu --view-ranks 3 --compress
run 0 compare team.mha first.mha --json
is "$(json max) == 0"
for options in "--output-range auto --output-type uint16" "--output-range 0,0.5 --output-type uint8"; do
    # shellcheck disable=SC2086
    run 0 recon scan.json -o one.mha -q --json --device cpu $options
    count=$(json output_clipped)
    # shellcheck disable=SC2086
    team 3 0 recon scan.json -o team.mha -q --json --device cpu --view-ranks 3 $options
    is "($(json output_clipped) - $count) ^ 2 <= 4" # of values at the very edge
    run 0 compare team.mha one.mha --json
    is "$(json psnr_db) >= 90"
done

# A file system that is not shared: rank 0 writes all, and says so.  One that cannot be written ends the run.
if unshare -m true 2>/dev/null; then
    mkdir apart
    run 0 recon scan.json -o one.mha -q
    # shellcheck disable=SC2016
    mounted=(unshare -m sh -c 'case $FBP_TEAM in 0/*) ;; *) eval "$0" ;; esac; exec "$@"')
    before=("${mounted[@]}" 'mount -t tmpfs none apart')
    for options in "" "--resume"; do
        # shellcheck disable=SC2086
        team 3 0 recon scan.json -o apart/team.mha $options
        has err '^rank 1 on .* and 1 more do not see the temporary file of apart/team.mha, which rank 0 on .* has created'
        same one.mha apart/team.mha
        empty others
        ls apart >files
        [ "$(cat files)" = team.mha ] || say "$last: left: $(cat files)"
    done
    rm apart/team.mha
    before=("${mounted[@]}" 'mount --bind apart apart && mount -o remount,ro,bind apart')
    team 2 1 recon scan.json -o apart/team.mha -q
    said_once '^fbp: rank 1 on .*: apart/team.mha: cannot open its temporary file apart/team.mha.part.log: Read-only file system; make it writable, or choose another folder' apart/team.mha
    before=()
fi

# Chunks of OME-Zarr.
run 0 recon scan.json -o one.ome.zarr -q --device cpu
team 3 0 recon scan.json -o team.ome.zarr -q --device cpu
diff -r one.ome.zarr team.ome.zarr >/dev/null || say "$last: other chunks"

# One object, with the figures of all.
run 0 recon scan.json -o null: --json -q
cp out one.json
team 3 0 recon scan.json -o null: --json -q
for member in min max; do
    [ "$(json $member)" = "$("$json_get" $member <one.json)" ] || say "$last: another $member"
done
is "($(json mean) - $("$json_get" mean <one.json)) ^ 2 < 1e-18"

# --memory is each one's.
run 0 recon large.json -o one.mha -q --device cpu
before=("$peak" 40)
team 3 0 recon large.json -o team.mha -q --device cpu --threads 1 --memory 40M
before=()
same one.mha team.mha
[ "$(grep -c 'peak resident set' others)" -eq 2 ] || say "$last: $(cat others)"

before=("$peak" 48)
team 3 0 recon large.json -o team.mha -q --device cpu --threads 1 --memory 48M --view-ranks 3
before=()
[ "$(grep -c 'peak resident set' others)" -eq 2 ] || say "$last: $(cat others)"

# A scan that is still being written is followed by all.
at=$(($(stat -c %s scan.mha) - 48 * 60 * 60 * 4))
sed -e 's|scan.mha|live.raw|' -e 's|"kind"|"raw": {"type": "float32", "shape": [48, 60, 60]}, "kind"|' \
    scan.json >live.json
run 0 recon scan.json -o one.mha -q --device cpu --kernel column
grow() {
    rm -f live.raw
    for ((k = 0; k < 48; k++)); do
        tail -c +$((at + 1 + k * 14400)) scan.mha | head -c 14400 >>live.raw
        sleep 0.01
    done
}
grow &
team 3 0 recon live.json -o team.mha -q --device cpu --follow
wait
same one.mha team.mha
grow &
team 3 0 recon live.json -o team.h5 -q --device cpu --follow
wait
run 0 compare team.h5 one.mha --tolerance 0
[ "$(find . -maxdepth 1 -name 'team.h5*' | wc -l)" -eq 1 ] || say "$last: left: $(ls -d team.h5*)"
rm team.h5
head -c $((30 * 14400)) live.raw >short.raw
sed 's/live.raw/short.raw/' live.json >short.json
team 3 1 recon short.json -o team.h5 -q --device cpu --follow --follow-timeout 0.3
left=$(find . -name 'team.h5*')
[ -z "$left" ] || say "$last: left: $left"

# What is repaired counts once, whoever reads it.
for ((k = 3; k < 48; k += 5)); do
    for row in 3 19 29 30 40 57; do
        printf '\377\377\377\177' |
            dd of=live.raw bs=4 seek=$((k * 3600 + row * 60 + k)) conv=notrunc status=none
    done
done
for options in "--device cpu" "--device mock --kernel column" "--device ref --cutoff-v 0.5"; do
    # shellcheck disable=SC2086
    run 0 recon live.json -o one.mha -q --json $options
    count=$(json not_finite)
    is "$count > 10"
    for views in 1 2; do
        # shellcheck disable=SC2086
        team 4 0 recon live.json -o team.mha -q --json $options --view-ranks $views
        is "$(json not_finite) == $count"
    done
done

# So does what is repaired in a pass ahead, which each does for itself.
run 0 simulate --kind parallel --size 32 --views 40 -o level.json -q
at=$(($(stat -c %s level.mha) - 40 * 48 * 48 * 4))
for ((k = 3; k < 39; k += 6)); do
    printf '\377\377\377\177' |
        dd of=level.mha bs=1 seek=$((at + 4 * ((k * 48 + 15 + k / 2) * 48 + 10))) conv=notrunc status=none
done
for options in "--rings sorting" "--rings sorting --paganin 1000,20,100" "--paganin 1000,20,100" \
    "--paganin 1000,20,100 --slab 5"; do
    for views in 1 3; do
        # shellcheck disable=SC2086
        team 3 0 recon level.json -o null: --json --device cpu $options --view-ranks $views
        is "$(json not_finite) == 6"
        has err 'not numbers \(NaN or infinite\): 6: they were interpolated along the row, or set to 0'
    done
done
# And in the first of two stages, which each computes for itself; and where rows are kept in a file.
run 0 simulate --kind planes --size 32 --directions linear-angle:16x16 -o staged.json -q
at=$(($(stat -c %s staged.mha) - 20000))
for k in 0 1 2; do
    printf '\377\377\377\177' | dd of=staged.mha bs=1 seek=$((at + 4 * 997 * k)) conv=notrunc status=none
done
run 0 recon live.json -o null: --json --device cpu --threads 1
count=$(json not_finite)
for size in 1 2 3; do
    team $size 0 recon staged.json -o null: --json --device cpu --stages 2
    is "$(json not_finite) == 3"
    team $size 0 recon live.json -o null: --json --device cpu --threads 1 --scratch . --slab 5 --view-ranks 1
    is "$(json not_finite) == $count"
done
# Also where the slab of one of them is there already.
for done in 1 3; do
    rm -f left.mha*
    run 0 recon level.json -o left.mha -q --device cpu --rings sorting --part $done/3
    team 3 0 recon level.json -o left.mha --json --device cpu --rings sorting --view-ranks 1 --resume
    is "$(json not_finite) == 6 && $(json slabs_resumed) > 0"
    empty others
done
rm left.mha
run 0 recon level.json -o null:
has err 'not numbers \(NaN or infinite\): 6, 0.0065 % of 40 views of 48 x 48: they were'
run 0 recon level.json -o null: --roi :,:,5:27
has err 'not numbers \(NaN or infinite\): [1-6]: they were'

# Processes of other memory take the same way: views are kept beside the volume, in a file, or read again.
run 0 simulate --kind parallel --size 96 --views 200 -o rows.json -q
for options in "--paganin 1000,20,100" "--paganin 1000,20,100 --scratch ." "--rings sorting --scratch ."; do
    # shellcheck disable=SC2086
    run 0 recon rows.json -o one.mha -q --device cpu $options
    low=(32M 28M) # rank 0 takes more than others
    [ "${options#--rings}" = "$options" ] || low=(39M 32M)
    for limits in "${low[0]} 100M" "100M ${low[1]}"; do
        with=(--memory "${limits#* }")
        # shellcheck disable=SC2086
        team 2 0 recon rows.json -o team.mha -q --device cpu --threads 1 --memory "${limits% *}" $options --view-ranks 1
        same one.mha team.mha
        # shellcheck disable=SC2086
        team 2 0 recon rows.json -o team.mha -q --device cpu --threads 1 --memory "${limits% *}" $options --view-ranks 2
        run 0 compare team.mha one.mha --json
        is "$(json psnr_db) >= 120"
    done
done
rm team.mha
with=(--memory 28M)
team 3 1 recon rows.json -o team.mha -q --device cpu --threads 1 --memory 100M --rings sorting
said_once '^fbp: rank 2 on .*: memory: this reconstruction needs at least .* for views after ring removal .* but the limit is 28.0 MiB; raise --memory, or name a folder' team.mha
with=(--memory 16M)
team 3 1 recon rows.json -o team.mha -q --device cpu --threads 1 --memory 100M --paganin 1000,20,100
said_once '^fbp: rank 2 on .*: memory: this reconstruction needs at least .* the limit is 16.0 MiB' team.mha
with=()

# A compressed scan is unpacked into the memory of all, or of none.
run 0 simulate --size 96 --views 120 -o plain.json -q
run 0 recon plain.json -o packed.mha -q --size 144x144x120 --compress # as if it were views
sed 's/plain.mha/packed.mha/' plain.json >packed.json
run 0 recon packed.json -o one.mha -q --device cpu --threads 1 --memory 30M
for limits in "400M 30M" "30M 400M"; do
    for views in 1 2; do
        with=(--memory "${limits#* }")
        team 2 0 recon packed.json -o team.mha --device cpu --threads 1 --memory "${limits% *}" --view-ranks $views
        has err 'its decompressed views do not fit into memory, so kernel column'
        run 0 compare team.mha one.mha --json
        is "$(json psnr_db) >= 120"
    done
done
with=()

# killed_when SLICES RANKS ARGUMENTS…: three processes, of which one or two are killed when so many
# slices are there, before these can say a word.  Their pids in pids, what they say in out.RANK and err.RANK.
killed_when() {
    local slices=$1 ranks=$2 at r i how
    shift 2
    at=$(mktemp -d "$folder/XXXXXX")
    pids=()
    for r in 0 1 2; do
        FBP_TEAM=$r/3:$at "$fbp" recon large.json -o left.mha -q --device cpu --size 160 "$@" >"out.$r" 2>"err.$r" &
        pids+=($!)
    done
    for ((i = 0; i < 2000; i++)); do
        [ "$(slices_of left.mha)" -lt "$slices" ] || break
        sleep 0.01
    done
    for how in STOP KILL; do
        for r in $ranks; do kill -$how "${pids[r]}"; done
    done
}

# A killed process ends all of them, and leaves what any number of others goes on with.
killed_when 6 2 --slab 2
last="a process is killed"
for r in 0 1; do
    got=0
    wait "${pids[r]}" || got=$?
    [ "$got" -eq 1 ] || say "$last: rank $r ends with status $got"
done
wait "${pids[2]}"
cp err.0 err
one_line err
has err '^fbp: rank 2 on .* is lost, because its process has ended or its machine is unreachable'
empty err.1
absent left.mha
[ "$(slices_of left.mha)" -gt 0 ] || say "$last: nothing to go on with"
team 4 0 recon large.json -o left.mha -q --device cpu --slab 2 --size 160 --resume --json
is "$(json slabs_resumed) > 0"
run 0 recon large.json -o one.mha -q --device cpu --size 160
same one.mha left.mha

# Where rank 0 is killed, the lowest that is left says so, and prints the object.
for alive in 1 2; do
    rm -f left.mha*
    killed_when 6 "$(seq -s ' ' 0 $((alive - 1)))" --slab 2 --json
    last="rank 0 is killed, and $alive speaks"
    for ((r = 1; r < 3; r++)); do
        got=0
        wait "${pids[r]}" || got=$?
        [ "$r" -lt "$alive" ] || [ "$got" -eq 1 ] || say "$last: rank $r ends with status $got"
    done
    cat err.[012] >err
    cat out.[012] >out
    cp err.$alive said
    same said err
    one_line err
    has err '^fbp: rank 0 on .* is lost, because its process has ended or its machine is unreachable'
    [ "$(json error)" = "$(sed 's/^fbp: //' err)" ] || say "$last: $(cat out)"
    absent left.mha
    [ "$(slices_of left.mha)" -gt 0 ] || say "$last: nothing to go on with"
done

# So it is with shared views: each has written its part of the slices.
killed_while_sharing() {
    local r n all=0
    rm -f left.mha*
    killed_when 60 1 --view-ranks 3 --slab 16
    last="a process that shares views is killed"
    for r in "${pids[@]}"; do wait "$r" || :; done
    cp err.0 err
    has err '^fbp: rank 1 on .* is lost'
    absent left.mha
    for r in 1 2 3; do
        n=$(sed -n 's/^slices [0-9]* \([0-9]*\)$/\1/p' left.mha.part.log."$r"of3.???????? | awk '{ n += $1 } END { print n }')
        all=$((all + n))
        is "$n <= 54 && $n >= 52" # of 160
        grep -aqE "$line_of_slices" left.mha.part.log."$r"of3.???????? || say "$last: rank $((r - 1)) has written nothing"
    done
    is "$all == 160"
}
team 3 0 recon large.json -o first.mha -q --device cpu --size 160 --view-ranks 3 --slab 16
killed_while_sharing
team 3 0 recon large.json -o left.mha -q --device cpu --size 160 --view-ranks 3 --slab 16 --resume --json
is "$(json slabs_resumed) > 0"
same first.mha left.mha
killed_while_sharing
team 4 0 recon large.json -o left.mha -q --device cpu --size 160 --slab 16 --resume
run 0 compare left.mha one.mha --json
is "$(json psnr_db) >= 120"

# What is wrong is said once.
rm -f team.mha team.png
team 3 1 recon nothing.json -o team.mha -q
said_once '^fbp: nothing.json: cannot open: No such file' team.mha
team 3 2 recon scan.json -o team.mha --frobnicate
said_once 'unknown option --frobnicate' team.mha
team 2 1 recon scan.json -o no/folder.mha -q
said_once '^fbp: rank 0 on .*no/folder.mha: cannot create its temporary file: .*create its folder' no/folder.mha
team 2 1 recon scan.json -o team.mha -q --memory 5M
said_once '^fbp: rank 0 on .*: memory: ' team.mha
team 3 1 recon scan.json -o team.png --sweep centre=30:32:1
said_once 'one process computes all values' team.png
team 2 1 recon scan.json -o team.mha -q --view-ranks 3
said_once '^fbp: view_ranks: only 2 processes were started, but 3 are requested' team.mha
team 2 1 recon scan.json -o team.mha -q --part 1/2
said_once '^fbp: part: processes that were started by mpirun or srun divide the volume themselves' team.mha
with=(--filter hann)
team 3 1 recon scan.json -o team.mha -q
said_once '^fbp: rank 2 on .* has another scan or other options than rank 0 on' team.mha
with=(--follow) # which chooses another kernel
team 2 1 recon scan.json -o team.mha -q
said_once '^fbp: rank 1 on .* has another scan or other options than rank 0 on' team.mha
with=(--memory 5M)
team 3 1 recon scan.json -o team.mha -q
said_once '^fbp: rank 2 on .*: memory: ' team.mha
with=(-o other.mha)
team 2 1 recon scan.json -o team.mha -q
said_once '^fbp: rank 1 on .* has another output than rank 0' team.mha
with=(--plan)
team 2 1 recon scan.json -o team.mha -q
said_once 'is at another step .*start all processes with the same command' team.mha
with=()

if make_other_build other; then
    # shellcheck disable=SC2016
    before=(sh -c 'case $FBP_TEAM in 0/*) ;; *) export LD_LIBRARY_PATH="$0" ;; esac; exec "$@"' "$PWD/other")
    team 2 1 recon scan.json -o team.mha -q
    has err '^fbp: rank 1 on .* has fbp .*, but rank 0 on .*; install the same release on both'
    one_line err
    empty others
    ls team.mha* 2>/dev/null >files
    empty files
    before=()
fi

# Interrupted, it says what is left.
at=$(mktemp -d "$folder/XXXXXX")
rm -f err others
FBP_TEAM=1/2:$at "$fbp" recon large.json -o team.mha -q --device cpu --slab 2 --size 200 >others 2>&1 &
pid=$!
FBP_TEAM=0/2:$at "$fbp" recon large.json -o team.mha -q --device cpu --slab 2 --size 200 2>err &
first=$!
for ((i = 0; i < 2000; i++)); do
    [ "$(slices_of team.mha)" -lt 6 ] || break
    sleep 0.01
done
kill -TERM $first
last="interrupted"
got=0
wait $first || got=$?
[ "$got" -eq 143 ] || say "$last: status $got"
wait $pid
has err 'interrupted: team.mha is incomplete, but .* slices are stored; continue with --resume'
one_line err
absent team.mha

finish
