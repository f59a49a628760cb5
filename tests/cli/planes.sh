#!/usr/bin/env bash
# Plane integrals (EPR imaging) on the command line: simulate, look, reconstruct, compare.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 simulate --kind planes --directions solid-angle:18 --order msps --phantom soft-ball \
    --size 64 --voxel 0.03125 --at-centres -o ball.json --truth truth.mha
has out '^ball.json: plane integrals along 208 directions, 112 samples of 0.03125 mm each'
run 0 info ball.json
has out '^scan +ball.json, plane integrals'
has out '^views +208 of 112 samples'
run 0 plan ball.json --device cpu --json
is "$(json weights | grep -c 'exact bands of 9 rings about z, sum 2 pi')"

# The soft ball's error is that of docs: 1.4 %; another order and another pole change little.
run 0 recon ball.json -o volume.mha --device cpu
has err 'weights exact bands of 9 rings about z, sum 2 pi'
run 0 compare volume.mha truth.mha --json
is "$(json nrmse) < 0.0145"
run 0 recon ball.json -o given.mha --device cpu --quadrature harmonics
has err 'weights exact for harmonics up to degree 16, sum 2 pi'
run 0 compare given.mha truth.mha --json
is "$(json nrmse) < 0.014"
run 0 recon ball.json -o cells.mha --device cpu --quadrature voronoi
has err 'weights areas of Voronoi cells, sum 2 pi'
run 0 compare cells.mha truth.mha --json
is "$(json nrmse) < 0.014"
run 0 recon ball.json -o over.mha --device cpu --oversampling 2
has err 'filter ram-lak, 2 filtered samples per measured one'
run 0 compare over.mha truth.mha --json
is "$(json nrmse) < 0.016"
run 0 recon ball.json -o spline.mha --device cpu --interpolation cubic
has err 'filter ram-lak, cubic interpolation'
run 0 compare spline.mha over.mha --json
is "$(json nrmse) < 0.003"
run 0 compare spline.mha volume.mha --json
is "$(json nrmse) > 0.003"
run 0 view volume.mha -o ball.png
exists ball.png

# The same directions from a file give the same volume.
awk '/^ *\[-?[0-9]/ { gsub(/[][]/, ""); gsub(/, *$/, ""); print }' ball.json >directions.csv
[ "$(wc -l <directions.csv)" -eq 208 ] || say "ball.json has no 208 lines of directions"
run 0 simulate --kind planes --directions directions.csv --phantom soft-ball --size 64 \
    --voxel 0.03125 --at-centres -o file.json -q
run 0 recon file.json -o same.mha --device cpu -q
run 0 compare same.mha volume.mha --tolerance 1e-6

# Too few directions, gaps, and the sum of the weights are said.
run 0 geometry check ball.json
has out '^directions  208 different ones'
has out '^weights     exact bands of 9 rings about z, sum 2 pi'
has out "^ +the volume's 2 mm need 6434 directions at cut-off 1; expect streaks"
run 0 geometry check ball.json --cutoff 0.15 --json
is "$(json directions_needed) < 208 && $(json weights_sum) > 0.999999 && $(json gap_deg) == 0"
grep -v ' 0\.[7-9]' directions.csv >few.csv
run 0 simulate --kind planes --directions few.csv --phantom soft-ball --size 8 -o few.json -q
run 0 geometry check few.json
has out '^warning     no direction lies in a circle of'
run 0 recon few.json -o null:
has err '^warning: no direction lies in a circle of'
run 0 plan few.json
has err '^warning: no direction lies in a circle of'
run 0 geometry show ball.json -o sphere.svg
[ "$(grep -c '<circle' sphere.svg)" -eq 626 ] || say "$last: $(grep -c '<circle' sphere.svg) circles"

# Two stages: for directions in meridian planes, and refused for others.
run 0 simulate --kind planes --directions linear-angle:18x18 --pole x --order flip --samples 112 \
    --phantom soft-ball --size 64 --voxel 0.03125 --at-centres -o grid.json -q
run 0 geometry check grid.json
has out '^meridians   18 planes through \(1, 0, 0\), of up to 18 directions'
run 0 geometry check ball.json --json
is "$(json meridians) == 0"
run 0 recon grid.json -o one.mha --device cpu --filter hann --cutoff 0.5 -q
run 0 recon grid.json -o two.mha --device cpu --filter hann --cutoff 0.5 --stages 2
has err 'two stages: 18 planes through x'
run 0 compare two.mha one.mha --json
is "$(json nrmse) < 0.001"
run 0 recon grid.json -o two.mha --device cpu --filter hann --cutoff 0.5 --stages 2 \
    --picture-oversampling 1 -q
run 0 compare two.mha one.mha --json
is "$(json nrmse) < 0.003 && $(json nrmse) > 0.001"
run 0 plan grid.json --device cpu --stages 2
has out '^views     filtered once, and summed into 18 images of 183 x 64 pixels: 0.003795 giga-updates'
has out '^work      0.004719 giga-updates .voxels x images. in the second stage'
run 0 plan grid.json --device cpu --stages 2 --json
is "$(json pictures) == 18 && $(json picture_updates) == 3794688"
run 1 recon ball.json -o no.mha --stages 2
has err 'ball.json: .*these 208 directions lie in 93 planes.*--angles 18'
run 0 recon ball.json -o two.mha --device cpu --angles 18 --stages 2
has err 'rings and their weights resampled to 18 angles .fft.; two stages: 18 planes through z'
run 0 compare two.mha truth.mha --json
is "$(json nrmse) < 0.0145"
run 0 recon ball.json -o spline.mha --device cpu --angles 18 --angular spline -q
run 0 compare spline.mha two.mha --json
is "$(json nrmse) < 0.003"
run 1 plan grid.json --stages 2 --scratch /nowhere
run 0 plan grid.json --device cpu --stages 2 --scratch .
has err 'scratch is not used: two stages filter each view only once'
run 1 recon grid.json -o no.mha --stages 2 --follow
has err 'two stages of the backprojection need all views at once, which excludes --follow'

# Series, and double precision, in two stages: the bits of a frame alone.
run 0 simulate --kind planes --directions linear-angle:18x18 --phantom ellipsoids --size 24 --frames 2 \
    --output-type float64 -o delays.json -q
run 0 plan delays.json --device cpu --stages 2
has out '^frames    2 volumes of that size'
has out 'summed into 36 images of .* x 24 pixels'
run 0 recon delays.json -o delays.nii --device cpu --stages 2 -q
run 0 info delays.nii
has out '^frames   2 of that size'
run 0 recon delays.json -o delays.npy --stages 2 --precision double
has err '^cpu, kernel column'
run 0 compare delays.npy delays.nii --json
is "$(json nrmse) < 1e-6 && $(json nrmse) > 1e-9"
run 2 recon grid.json -o no.mha --stages 3

# In double, from float64 to float64, as close to the volume in float as that is to itself.
run 0 simulate --kind planes --directions solid-angle:8 --size 16 --output-type float64 -o double.json -q
run 0 info double.mha
has out 'float64'
run 0 recon double.json -o double.npy --precision double
has err '^cpu, kernel planes'
run 0 info double.npy
has out 'float64'
run 0 recon double.json -o single.npy --device cpu -q
run 0 compare double.npy single.npy --json
is "$(json nrmse) < 0.00001 && $(json nrmse) > 0"
run 0 recon double.json -o ref.npy --device ref --precision double -q
run 0 compare double.npy ref.npy --json
is "$(json nrmse) < 0.0000000000001"
run 1 recon double.json -o no.npy --output-type float64
has err 'float64 needs a computation in double'
run 1 recon double.json -o no.npy --precision double --device mock
has err 'precision: device mock computes in float32'
absent no.npy

# What belongs to lines is refused.
run 1 recon ball.json -o no.mha --centre auto
has err 'needs line integrals, but scans of kind planes have none'
run 1 recon ball.json -o no.mha --reverse
has err 'neither rows nor a direction of rotation'
run 1 recon ball.json -o no.mha --pad ellipse
has err 'pad: rows of plane integrals'
run 1 recon ball.json -o no.mha --pitch 1
has err 'omit --pitch'
run 1 recon ball.json -o no.mha --quadrature bands --every 7
has err 'the method bands needs evenly spaced rings'
run 0 simulate --size 8 --views 8 -o cone.json -q
run 1 recon cone.json -o no.mha --quadrature voronoi
has err 'scans of kind cone have no directions'
run 1 recon cone.json -o no.mha --oversampling 2
has err 'applies to plane integrals'
run 1 recon cone.json -o no.mha --precision double
has err 'precision: double applies to plane integrals \(kind planes\), not to kind cone'
run 1 recon ball.json -o no.mha --precision double --device mock
has err 'precision: device mock computes in float32'
run 1 recon cone.json -o no.mha --interpolation nearest
has err 'interpolation: nearest applies to plane integrals'
run 1 recon ball.json -o no.mha --interpolation cubic --filter two-ramps-unpadded
has err 'two-ramps-unpadded has no cubic interpolation'
run 1 recon ball.json -o no.mha --interpolation cubic --device mock
has err 'interpolation: device mock interpolates linearly only; omit cubic'
run 1 recon cone.json -o no.mha --filter 5-point-derivative
has err '5-point-derivative is for plane integrals'
absent no.mha

# Rows of a view are delays: a series of volumes, in files of four dimensions.
run 0 simulate --kind planes --directions solid-angle:8 --phantom ellipsoids --size 24 --frames 3 \
    --decay 1.5 -o delays.json
has out ', at 3 delays, of ellipsoids'
run 0 info delays.json
has out '^views .* samples, 3 frames .delays. of each'
run 0 plan delays.json --device cpu
has out '^frames    3 volumes of that size, each from one row of the views'
run 0 recon delays.json -o delays.nii --device cpu -q
run 0 info delays.nii
has out '^size     24 x 24 x 24 float32'
has out '^frames   3 of that size'
run 0 recon delays.json -o by_ref.mha --device ref -q
run 0 compare delays.nii by_ref.mha --tolerance 1e-5
run 0 view delays.nii -o first.png -q
run 0 view delays.nii -o again.png --frame 0 -q
run 0 view delays.nii -o last.png --frame 2 -q
cmp first.png again.png || say "the first frame is not the one that is drawn"
cmp -s first.png last.png && say "--frame 2 is the same picture"
run 1 view delays.nii -o no.png --frame 3
has err '^fbp: delays.nii: frame 3 does not exist; the file has frames 0 to 2'
run 1 recon delays.json -o delays.tif
has err '^fbp: delays.tif: this format cannot store a series of 3 frames; write \.mha'
run 2 simulate --kind cone --views 8 --size 8 --frames 3 -o no.json
has err '--frames applies to plane integrals'
run 2 simulate --kind planes --directions fibonacci:9 --size 8 --decay 3 -o no.json
has err '--decay needs several frames'
sed 's/"frames": 3/"frames": 4/' delays.json >four.json
run 1 recon four.json -o no.mha
has err '^fbp: four.json: frames: found 4, but the views of .* have 3 rows; give one frame per row'
sed 's/"projections": "delays.mha"/"projections": "delays.nii"/' delays.json >nested.json
run 1 recon nested.json -o no.mha
has err 'projections: delays.nii has four dimensions \(3 volumes\), but views have three'
# A response of the caller's: Hann's window as a table is Hann's window.
awk 'BEGIN { print "fraction,factor"; for (i = 0; i <= 400; i++)
    printf "%.6f,%.9f\n", i / 400, .5 + .5 * cos(3.14159265358979 * i / 400) }' >hann.csv
run 0 recon ball.json -o hann.mha --device cpu --filter hann -q
run 0 recon ball.json -o table.mha --device cpu --response hann.csv
has err 'filter ram-lak, times the given response'
run 0 compare table.mha hann.mha --json
is "$(json nrmse) < 1e-5"
run 0 compare table.mha volume.mha --json
is "$(json nrmse) > 1e-3"
printf '0,1\n0.5\n' >broken.csv
run 1 recon ball.json -o no.mha --device cpu --response broken.csv
has err '^fbp: broken.csv: .*a fraction of the Nyquist frequency and a factor'
printf '0,1\n0.5,1\n0.4,0\n' >broken.csv
run 1 recon ball.json -o no.mha --device cpu --response broken.csv
has err '^fbp: broken.csv: filter: row 2 of the response begins with 0.4, but the fractions'
run 1 recon ball.json -o no.mha --device cpu --response hann.csv --filter two-ramps
has err 'two-ramps has no frequency response that could be multiplied'
run 1 recon ball.json -o no.mha --response none.csv
has err '^fbp: none.csv: '
run 1 recon cone.json -o no.mha --response hann.csv
has err 'response: applies to plane integrals'

# Rows that go round, for comparison.
run 0 recon ball.json -o round.mha --device cpu --cutoff 0.1 --periodic
has err 'filter ram-lak, cut-off 0.1, rows periodic'
run 0 recon ball.json -o straight.mha --device cpu --cutoff 0.1 -q
run 0 compare round.mha straight.mha --json
is "$(json nrmse) > 0.001 && $(json nrmse) < 0.1"
run 1 recon ball.json -o no.mha --periodic --device mock
has err 'periodic: device mock does not support periodic rows; omit periodic'
run 1 recon ball.json -o no.mha --periodic --device cpu --interpolation cubic
has err 'cannot be combined with cubic interpolation'
absent no.mha

# Spectra of a field sweep are divided by one without a gradient.
run 1 recon cone.json -o no.mha --reference directions.csv
has err '^fbp: --reference: cone.json: scans of kind cone have no spectra'
run 1 recon ball.json -o no.mha --reference directions.csv
has err 'the reference spectrum has 624 samples, but the views have 112'
run 1 recon ball.json -o no.mha --wiener 0.1
has err 'wiener: needs a reference spectrum'
absent no.mha

# What has no plane integrals, or no photons, is refused; Gaussian noise is not.
run 1 simulate --kind planes --directions fibonacci:20 --size 8 --noise 1000 -o no.json
has err 'have no photon counts; .*--noise-sd'
printf '%s\n' '[Cylinder] A=100 B=0 C=100 gray=2' >endless.txt
run 1 simulate --kind planes --directions fibonacci:20 --size 8 --phantom endless.txt -o no.json
has err 'shape 1 is infinitely long'
absent no.json
run 0 simulate --kind planes --directions fibonacci:20 --size 8 --noise-sd 0.1 --phantom bottle \
    -o noisy.json -q
finish
