#!/usr/bin/env bash
# minimal.sh SOURCE FBP WORK: a build without HDF5, libtiff, expat, MPI and EPR imaging simulates and
# reconstructs, prints what is not in it, and refuses such files and scans with a remedy.
set -euo pipefail
source=$1 full=$2 work=$3
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
enter "$work"

cmake -S "$source" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DFBP_HDF5=OFF -DFBP_TIFF=OFF -DFBP_EXPAT=OFF -DFBP_CUDA=OFF \
    -DFBP_GL=OFF -DFBP_MPI=OFF -DFBP_EPR=OFF >build.log 2>&1 || { tail build.log; fail "not configured"; }
grep -q 'Not in this build: HDF5, TIFF, XML of RTK, EPR imaging' build.log ||
    fail "the configuration does not say what is missing"
cmake --build build --target fbp_cli >>build.log 2>&1 || { tail -20 build.log; fail "not built"; }
fbp=$PWD/build/bin/fbp

says() { # words, command
    local words=$1
    shift
    "$@" >said 2>&1 && fail "$*: not refused"
    grep -qF -- "$words" said || { cat said; fail "$*: \"$words\" expected"; }
}

"$fbp" --version | grep -q 'without HDF5, TIFF, XML of RTK, EPR imaging' || fail "$("$fbp" --version)"
"$full" --version | grep -q 'with HDF5, TIFF, XML of RTK, EPR imaging' || fail "$("$full" --version)"
if command -v ldd >/dev/null; then
    ldd build/bin/fbp | grep -vE 'lib(z|png16|cjson|m|c|pthread|dl)\.so|linux-|ld-' && fail "these are linked"
fi

"$fbp" simulate -q --size 48 --views 60 -o scan.json
"$fbp" recon -q scan.json --device cpu -o mine.mha
"$full" recon -q scan.json --device cpu -o theirs.mha
"$fbp" compare mine.mha theirs.mha | grep -qE '^max +0$' || fail "another volume"

for name in h5 tif; do
    "$full" recon -q scan.json --device cpu -o "volume.$name"
done
"$full" geometry convert scan.json -o geometry.xml
hdf5="this build of fbp does not support HDF5 files; install libhdf5-dev and build fbp again (FBP_HDF5=ON)"
tiff="this build of fbp does not support TIFF files; install libtiff-dev and build fbp again (FBP_TIFF=ON)"
says "volume.h5: $hdf5" "$fbp" info volume.h5
says "volume.tif: $tiff" "$fbp" info volume.tif
says "new.h5: $hdf5" "$fbp" recon scan.json -o new.h5
says "$tiff" "$fbp" recon scan.json -o new.tif
says "$tiff" "$fbp" recon scan.json -o 'slices/%04d.tif'
says "this build of fbp does not support XML files of RTK; install libexpat1-dev" \
    "$fbp" geometry check geometry.xml
epr="plane integrals: this build does not support EPR imaging; build fbp again with -DFBP_EPR=ON"
"$full" simulate -q --kind planes --directions solid-angle:8 --size 16 -o planes.json
says "$epr" "$fbp" recon planes.json -o no.mha
says "$epr" "$fbp" plan planes.json
echo "a build without HDF5, TIFF, expat and EPR imaging reconstructs, and refuses their files with a remedy"
