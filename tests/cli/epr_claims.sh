#!/usr/bin/env bash
# scripts/epr-claims: of the published method, two ramps on rows that are cut off and the second
# interpolation lose most, then linear resampling; Fourier series and splines lose next to nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

"$here/../../scripts/epr-claims" "$fbp" 32 >claims.txt || say "scripts/epr-claims failed"
awk '
    /^soft-ball.*0\.5$/ { on = 1 }
    /^bottle/ { on = 0 }
    !on { next }
    /^angles: rings/ { fft = $NF }
    /^angles: ... by splines/ { spline = $NF }
    /^angles: ... linearly/ { linear = $NF }
    /^second.*one column/ { one = $NF }
    /^second.*two columns/ { two = $NF }
    /^filter.*with zeros/ { padded = $NF }
    /^filter.*cut off/ { cut = $NF }
    /^the published/ { all = $NF }
    /^two stages/ { best = $NF }
    END {
        exit !(0 < fft && fft < 0.1 * linear && spline < 0.1 * linear && linear < one &&
            linear < cut && 0 < two && two < 0.5 * one && padded < 0.3 * cut && one < all && cut < all &&
            best < 0.5 * all)
    }' claims.txt || { cat claims.txt; say "the claims are others"; }
finish
