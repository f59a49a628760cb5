#!/bin/sh
# fftw.sh SOURCE: FFTW is one of the libraries that can compute transforms, so that everything but
# src/fft/fftw* asks src/fft/fft.h.  Comments may speak of it.
pattern='fftw3\.h|\<fftw[fl]?_(plan|execute|destroy|complex|malloc|free|init|make)|\<FFTW_[A-Z]'

for line in '#include <fftw3.h>' 'fftwf_plan plan;' 'p = fftw_plan_dft_1d(n, a, b, FFTW_FORWARD, 0);'; do
    echo "$line" | grep -qE "$pattern" || { echo "fftw.sh does not see: $line"; exit 1; }
done
echo '/* as FFTW does */ fbp_fftw_alone(destroy, f);' | grep -qE "$pattern" &&
    { echo "fftw.sh takes offence at a comment"; exit 1; }

cd "$1" || exit 1
grep -qE "$pattern" src/fft/fftw.c || { echo "src/fft/fftw.c does not call FFTW"; exit 1; }
found=$(grep -rnE --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.cpp' \
    "$pattern" src cli include modules bindings tests bench | grep -v '^src/fft/fftw[_.]')
[ -z "$found" ] && exit 0
echo "$found"
echo "FFTW is called here: take transforms from src/fft/fft.h"
exit 1
