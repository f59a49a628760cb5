#!/bin/bash
# kill_resume.sh FBP DIR: 20 kills at random moments; each resumed run ends with the same file.
set -eu
fbp=$1 dir=$2/kill.$$
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
seed=${FBP_SEED:-$(date +%s)}
RANDOM=$seed
echo "seed $seed"

"$fbp" simulate --phantom shepp-logan --size 112 --views 96 -o "$dir/scan.json" -q
options=(--slab 6 --batch 16 --threads 2 -q)
start=$(date +%s%N)
"$fbp" recon "$dir/scan.json" -o "$dir/whole.mha" "${options[@]}"
lasts=$((($(date +%s%N) - start) / 1000000))

killed=0 resumed=0 tries=0
while [ $killed -lt 20 ] && [ $tries -lt 100 ]; do
    tries=$((tries + 1))
    rm -f "$dir"/volume.mha*
    "$fbp" recon "$dir/scan.json" -o "$dir/volume.mha" "${options[@]}" &
    pid=$!
    ms=$((RANDOM % (lasts + 1)))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    kill -9 $pid 2>/dev/null || true
    if wait $pid 2>/dev/null; then # it was faster: the machine is less busy than at the first run
        [ $ms -eq 0 ] || lasts=$((lasts < ms ? lasts : ms))
        continue
    fi
    if [ -e "$dir/volume.mha" ]; then # killed after the volume had got its name: it is whole
        cmp "$dir/whole.mha" "$dir/volume.mha" ||
            { echo "a kill after $ms ms left part of a file under the final name"; exit 1; }
        continue
    fi
    killed=$((killed + 1))
    "$fbp" recon "$dir/scan.json" -o "$dir/volume.mha" "${options[@]}" --resume --json >"$dir/report"
    grep -q '"slabs_resumed": *0' "$dir/report" || resumed=$((resumed + 1))
    cmp "$dir/whole.mha" "$dir/volume.mha"
    [ ! -e "$dir/volume.mha.part" ] || { echo "a finished run left its .part"; exit 1; }
done
echo "$killed kills within $lasts ms, $resumed of them with slabs to keep; all resumed to the same file"
[ $killed -eq 20 ]
[ $resumed -ge 1 ]
