#!/usr/bin/env bash
# Outputs in a folder that cannot be written to, from the start or from some moment on: one line with
# a remedy, nothing is changed, and the work goes on where it can be written again.  As root is not
# held by permissions, folders are mounted read-only in a namespace of their own.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

mkdir d
for space in "-m" "-rm"; do
    # shellcheck disable=SC2016
    inside=(unshare "$space" sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99; exec "$@"')
    "${inside[@]}" d true 2>/dev/null && break
done
if ! "${inside[@]}" d true 2>/dev/null; then
    echo "no folder can be mounted read-only here"
    exit 77
fi
# readonly_run FOLDER ARGUMENTS…: fails with one line
readonly_run() {
    local got=0 folder=$1
    shift
    last="fbp $*, $folder is read-only"
    "${inside[@]}" "$folder" "$fbp" "$@" -q >out 2>err || got=$?
    [ "$got" -eq 1 ] || say "$last: status $got: $(cat err)"
    one_line err
    has err '^fbp: d/.*: Read-only file system; make it writable, or choose another folder for the output'
}

run 0 simulate --size 16 --views 12 --scale 0.02 -o scan.json -q
outputs=("v.mha" "v.h5" "v.ome.zarr" "v.zarr --compress" "s_%02d.tif")
# shellcheck disable=SC2086
for output in "${outputs[@]}" "new/s_%02d.tif"; do
    for options in "" "--part 1/2" "--resume"; do
        readonly_run d recon scan.json -o d/$output $options
        [ -z "$(ls d)" ] || say "$last: left $(ls d)"
    done
done

state() { find d -type f -exec md5sum {} + | sort; }
# shellcheck disable=SC2086
for output in "${outputs[@]}"; do
    rm -r d
    mkdir d
    run 0 recon scan.json -o d/$output -q
    state >whole
    rm -r d
    mkdir d
    run 0 recon scan.json -o d/$output --part 1/2 -q
    state >before
    for options in "--part 2/2" "--part 1/2" "--resume" ""; do
        readonly_run d recon scan.json -o d/$output $options
        [ "$(state)" = "$(cat before)" ] || say "$last: files have changed"
    done
    inner=$(find d -mindepth 1 -maxdepth 1 -type d)
    if [ -n "$inner" ]; then # the folder of the samples alone
        readonly_run "$inner" recon scan.json -o d/$output --part 2/2
        readonly_run "$inner" recon scan.json -o d/$output --resume
        absent "d/${output%% *}"
    fi
    run 0 recon scan.json -o d/$output --part 2/2 -q
    state | grep -v 'part\.log' >after
    cmp -s whole after || say "$output: other files than at once: $(diff whole after)"
done
finish
