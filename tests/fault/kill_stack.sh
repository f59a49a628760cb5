#!/bin/bash
# kill_stack.sh FBP DIR: a stack over an older stack, killed at random moments.  What is there is the older stack,
# whole, or the new one; where slices were getting their names the journal says so, and the next run, of
# whatever kind, makes it the new one.
set -eu
fbp=$1 dir=$2/stack.$$
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
seed=${FBP_SEED:-$(date +%s)}
RANDOM=$seed
echo "seed $seed"
fail() {
    echo "FAILED: $*"
    exit 1
}
sums() { (cd "$1" && cksum -- *.tif); }

"$fbp" simulate --size 16 --views 16 -o "$dir/scan.json" -q
options=(--size 24x24x200 --voxel 0.5 --threads 1 -q)
"$fbp" recon "$dir/scan.json" -o "$dir/new/%d.tif" "${options[@]}"
"$fbp" recon "$dir/scan.json" -o "$dir/old/%d.tif" "${options[@]}" --hu 0.02
new=$(sums "$dir/new") old=$(sums "$dir/old")
cp -a "$dir/old" "$dir/out"
start=$(date +%s%N)
"$fbp" recon "$dir/scan.json" -o "$dir/out/%d.tif" "${options[@]}"
lasts=$((($(date +%s%N) - start) / 1000000))

killed=0 between=0
for ((try = 0; try < 12; try++)); do
    rm -rf "$dir/out"
    cp -a "$dir/old" "$dir/out"
    "$fbp" recon "$dir/scan.json" -o "$dir/out/%d.tif" "${options[@]}" &
    pid=$!
    if ((try % 2)); then # as soon as the first slice has its name, or later
        until grep -q publish "$dir/out/%d.tif.part.log" 2>/dev/null || ! kill -0 $pid 2>/dev/null; do sleep 0.002; done
    else
        ms=$((RANDOM % (lasts + 1)))
        sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    fi
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null && continue
    killed=$((killed + 1))
    now=$(sums "$dir/out")
    if [ "$now" != "$old" ] && [ "$now" != "$new" ]; then
        between=$((between + 1))
        grep -q '^publish$' "$dir/out/%d.tif.part.log" || fail "slices of both stacks, and no journal says so"
    fi
    resume=()
    ((try % 4 < 2)) || resume=(--resume)
    "$fbp" recon "$dir/scan.json" -o "$dir/out/%d.tif" "${options[@]}" "${resume[@]}"
    [ "$(sums "$dir/out")" = "$new" ] || fail "the run after a kill wrote another stack"
    [ "$(find "$dir/out" -type f | wc -l)" -eq 200 ] || fail "left files: $(find "$dir/out" -name '*.part*')"
done
echo "$killed kills, $between of them between the first name and the last"
[ $killed -ge 3 ]
