/* Which filters and interpolations there are, and what they are for. */
#include "filter/filter.h"

#include "base/status.h"

#include <stdio.h>

static const char *const names[] = {
    [FBP_FILTER_RAM_LAK] = "ram-lak",
    [FBP_FILTER_SHEPP_LOGAN] = "shepp-logan",
    [FBP_FILTER_COSINE] = "cosine",
    [FBP_FILTER_HAMMING] = "hamming",
    [FBP_FILTER_HANN] = "hann",
    [FBP_FILTER_SECOND_DIFFERENCE] = "second-difference",
    [FBP_FILTER_3_POINT_DERIVATIVE] = "3-point-derivative",
    [FBP_FILTER_5_POINT_DERIVATIVE] = "5-point-derivative",
    [FBP_FILTER_TWO_RAMPS] = "two-ramps",
    [FBP_FILTER_TWO_RAMPS_UNPADDED] = "two-ramps-unpadded",
};

const char *fbp_filter_name(enum fbp_filter filter)
{
    const size_t i = (size_t)filter;
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *fbp_interpolation_name(enum fbp_interpolation interpolation)
{
    static const char *const all[] = {[FBP_INTERPOLATION_LINEAR] = "linear",
                                      [FBP_INTERPOLATION_NEAREST] = "nearest",
                                      [FBP_INTERPOLATION_CUBIC] = "cubic"};
    const size_t i = (size_t)interpolation;
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

const char *fbp_ring_interpolation_name(enum fbp_ring_interpolation interpolation)
{
    static const char *const all[] = {
        [FBP_RINGS_FFT] = "fft", [FBP_RINGS_SPLINE] = "spline", [FBP_RINGS_LINEAR] = "linear"};
    const size_t i = (size_t)interpolation;
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

bool fbp_filter_is_window(enum fbp_filter filter)
{
    return filter <= FBP_FILTER_HANN;
}

fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns)
{
    if (!fbp_filter_name(filter))
        return fbp_fail(FBP_ERR_INVALID, "filter: number %d is unknown: %s … %s are 0 … %d",
                        (int)filter, names[0], names[FBP_FILTER_LAST], (int)FBP_FILTER_LAST);
    if (!(cutoff > 0 && cutoff <= 1))
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: cutoff %g: it is a fraction of the Nyquist frequency, above 0 and "
                        "at most 1",
                        cutoff);
    if (n_columns == 0 || n_columns > INT32_MAX / 4)
        return fbp_fail(FBP_ERR_INVALID, "filter: rows of %zu samples: 1 to %d can be filtered",
                        n_columns, INT32_MAX / 4);
    return FBP_OK;
}
