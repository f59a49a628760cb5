#!/usr/bin/env bash
# No command writes over what it reads, or beside it where it would be read next time, unless --force says
# so; walks every command that writes files.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Every option that takes a file to write, by the words of the help: a command that has one has --force.
writers=()
while read -r command; do
    # shellcheck disable=SC2086
    run 0 help $command
    if grep -qE '(to write|also write|write RabbitInput)' out; then
        writers+=("$command")
        has out '--force'
    fi
done < <("$fbp" help --commands && "$fbp-bench" help --commands)
echo "commands that write: ${writers[*]}"
for command in recon simulate init view 'geometry show' 'geometry convert' 'rabbitct make' 'rabbitct run' 'rabbitct convert'; do
    [[ " ${writers[*]} " == *" $command "* ]] || say "$command is not found to write"
done

run 0 simulate --size 16 --views 24 --scale 0.02 -o scan.json -q
run 0 recon scan.json -o volume.mha -q
mkdir views
run 0 recon scan.json -o 'views/%03d.png' --output-type uint8 --output-range=-1,1 -q
cat >png.json <<'JSON'
{"fbp_scan": 1, "kind": "parallel", "projections": "views", "detector": {"pitch_mm": 1, "row_order": "bottom-up"},
 "angles_deg": {"start": 0, "step": 11.25}, "volume": {"size": [12, 12, 4], "voxel_mm": 1}}
JSON
sed 's|"views"|"views/%03d.png 0 15"|' png.json >pattern.json
printf '0 0 0 50 50 50 0 0.02\n' >phantom.txt
cp phantom.txt phantom.json
run 0 rabbitct make scan.json -o set.rctd --references 1 -q
run 0 rabbitct convert set.rctd --split .
ln views/004.png hard.png
ln -s views/005.png soft.png
: >before; : >after; : >sums

# kept FILE ARGUMENTS…: refused with a line that offers --force; nothing has changed and nothing is new.
kept() {
    local file=$1
    shift
    find . -type f ! -name out ! -name err ! -name before ! -name after -exec cksum {} + | sort >before
    run 1 "$@"
    one_line err
    empty out
    has err "would overwrite the input .*; choose another (name|folder), or give --force"
    find . -type f ! -name out ! -name err ! -name before ! -name after -exec cksum {} + | sort >after
    cmp -s before after || say "$last: $file or others changed: $(diff before after)"
}
kept scan.mha recon scan.json -o scan.mha -q
kept scan.mha recon scan.json -o ./views/../scan.mha -q
kept views/000.png recon png.json -o 'views/%03d.png' --output-type uint8 --output-range 0,1 -q
kept views/000.png recon png.json -o 'views/new%03d.png' --output-type uint8 --output-range 0,1 -q
kept views/000.png recon pattern.json -o 'views/%d.png' --size 8 --output-type uint8 --output-range 0,1 -q
kept views/000.png recon png.json -o views/000.png --slice 0 -q
kept views/000.png recon png.json -o volume2.mha --preview views/000.png -q
kept hard.png recon png.json -o volume2.mha --preview hard.png -q
kept soft.png recon png.json -o volume2.mha --preview soft.png -q
kept views/100.png recon pattern.json -o volume2.mha --preview views/100.png -q
kept views/000.png recon png.json -o views/000.png --sweep offset=0:1:1 -q
kept views/000.png view views/000.png -o views/000.png -q
kept views/000.png view views -o views/000.png -q
kept views/new.png view views -o views/new.png -q
kept views/016.png view 'views/%03d.png 0 15' -o views/016.png -q
kept hard.png view views -o hard.png -q
kept soft.png view views -o soft.png -q
kept scan.json geometry convert scan.json -o scan.json -q
kept scan.json geometry convert scan.json -o ./scan.json --to-format leap -q
kept scan.mha geometry convert scan.json -o scan.mha --to-format rtk -q
kept volume.mha geometry convert scan.json -o volume.mha --to-format rtk --projections volume.mha -q
ln -s scan.json scan.svg
kept scan.json geometry show scan.json -o scan.svg -q
kept phantom.json simulate --size 8 --views 4 --phantom phantom.json -o phantom.json -q
cp phantom.txt p.mha
kept p.mha simulate --size 8 --views 4 --phantom p.mha -o p.json -q
kept set.rctd rabbitct convert set.rctd -o set.rctd
kept RabbitInput.rct rabbitct convert RabbitInput.rct --split .
kept set.rctd rabbitct run set.rctd --size 128 -o set.rctd
kept Reference128.vol rabbitct run set.rctd --size 128 --reference Reference128.vol --volume Reference128.vol
cp scan.json scan.rct
kept scan.rct rabbitct make scan.rct -o scan.rct -q

# Headerless files make a folder whose every file is a view.
mkdir raw
for k in 0 1 2 3 4 5 6 7 8 9; do head -c 46 /dev/zero >raw/$k.x; done
cat >raw.json <<'JSON'
{"fbp_scan": 1, "kind": "parallel", "projections": "raw", "raw": {"type": "uint8", "shape": [10, 4, 4], "header_bytes": 30},
 "detector": {"pitch_mm": 1, "row_order": "bottom-up"}, "angles_deg": {"start": 0, "step": 18}}
JSON
kept raw/0.x recon raw.json -o raw/volume.mha -q

# A pattern may name more files than there can be.
run 1 view 'views/%d.tif 1 999999999999999' -o endless.png -q
has err 'views/1.tif'

# Two outputs of one name.
run 1 recon scan.json -o 'out/%03d.png' --output-type uint8 --output-range 0,1 --preview out/003.png -q
has err 'out/003.png: (two outputs have this name|the output folder is missing)'
run 1 simulate --size 8 --views 4 -o new.json --truth new.mha -q
has err 'two outputs have this name'
run 1 rabbitct run set.rctd --size 128 -o same.vol --volume ./same.vol
has err 'two outputs have this name'
absent same.vol

# With --force they are written, whole.
run 0 recon png.json -o volume2.mha --preview views/new.png --size 8 --force -q
exists views/new.png
run 0 view views/000.png -o views/000.png --force -q
run 0 geometry convert scan.json -o scan.json --force -q
has scan.json 'fbp_scan'
run 0 recon scan.json -o scan.mha --size 16 --force -q
run 0 info scan.mha
has out '16 x 16 x 16'
run 0 simulate --size 8 --views 4 --phantom phantom.json -o phantom.json --force -q
has phantom.json 'fbp_scan'
run 0 rabbitct convert set.rctd -o set.rctd --force
mkdir found
run 0 simulate --size 16 --views 24 -o found/x.json -q
rm found/x.json
run 0 init found -o scan.json --pitch 1 --force
run 1 init found -o scan.json --pitch 1
has err 'already exists; choose another name, or give --force'
finish
