/* Checks the ramp filter against numbers that other programs test: single pixels of RTK's
 * rtkrampfiltertest2 within 1e-6, and CIL's test_get_filter_array to 6 decimals. */
#include "geometry_util.h"

#include "filter/filter.h"
#include "test.h"

/* Column 3 of a row of 64 samples of 10 after the filter. */
static double rtk_pixel(enum fbp_filter filter, double cutoff)
{
    struct fbp_filter_design d;
    double sum = 0;

    OK(fbp_filter_design(&d, filter, cutoff, 64, 0));
    for (int i = 0; i < 64; i++)
        sum += 10 * d.kernel[abs(i - 3)];
    fbp_filter_design_clear(&d);
    return sum;
}

/* Row 21 of a column of 64 samples of 1 after the filter. */
static double rtk_row(double cutoff)
{
    struct fbp_column_filter f;
    double sum = 0;

    OK(fbp_column_filter_design(&f, cutoff, 64));
    for (int i = 0; i < 64; i++)
        sum += (size_t)abs(i - 21) <= f.half_width ? f.kernel[abs(i - 21)] : 0;
    fbp_column_filter_clear(&f);
    return sum;
}

/* RTK rounds the cut to whole frequencies: of 65, 0.8 is 52, which is 52/64 of Nyquist, and 0.1
 * is 7. */
TEST(rtk_single_pixels)
{
    const double ramp = rtk_pixel(FBP_FILTER_RAM_LAK, 1);
    const double hann = rtk_pixel(FBP_FILTER_HANN, 52.0 / 64);
    const double both = hann * rtk_row(7.0 / 64);

    print_message("rtkrampfiltertest2: ramp %.7f (0.132652), Hann 0.8 %.7f (0.149724), and 0.1 "
                  "along columns %.7f (0.150181)\n",
                  ramp, hann, both);
    check_near(ramp, 0.132652, 1e-6);
    check_near(hann, 0.149724, 1e-6);
    check_near(both, 0.150181, 1e-6);
}

enum { ORDER = 20, LENGTH = 1 << ORDER, SAMPLES = 12 };

/* Bins of the arrays of 2^20 factors of scikit-image 0.26.0,
 * skimage.transform.radon_transform._get_fourier_filter(2**20, name). */
static const int bins[SAMPLES] = {0,      1,      2,      3,      1000,   65536,
                                  131072, 262144, 393216, 500000, 524287, 524288};

static const struct {
    enum fbp_filter filter;
    double values[SAMPLES];
} skimage[] = {
    {FBP_FILTER_RAM_LAK,
     {0.000000387, 0.000001862, 0.000003831, 0.000005714, 0.001907349, 0.125000000, 0.250000000,
      0.500000000, 0.750000000, 0.953674316, 0.999998138, 0.999999613}},
    {FBP_FILTER_SHEPP_LOGAN,
     {0.000000387, 0.000001862, 0.000003831, 0.000005714, 0.001907346, 0.124198356, 0.243623840,
      0.450158158, 0.588159978, 0.634934997, 0.636619801, 0.636619526}},
    {FBP_FILTER_COSINE,
     {0.000000387, 0.000001862, 0.000003831, 0.000005714, 0.001907340, 0.122598160, 0.230969883,
      0.353553391, 0.287012574, 0.069335947, 0.000002996, 0.000000000}},
    {FBP_FILTER_HAMMING,
     {0.000000387, 0.000001862, 0.000003831, 0.000005714, 0.001907333, 0.120622999, 0.216316975,
      0.269998966, 0.161046881, 0.080931294, 0.079999851, 0.079999969}},
    {FBP_FILTER_HANN,
     {0.000000387, 0.000001862, 0.000003831, 0.000005714, 0.001907331, 0.120242390, 0.213388017,
      0.249998876, 0.109833567, 0.005040597, 0.000000000, 0.000000000}},
};

/* numpy.testing.assert_almost_equal(…, 6) asks for |difference| < 1.5e-6.  Their factors are those
 * of the ramp |f| in units of Nyquist, twice ours in cycles a pixel; CIL's own are |f| W(f). */
TEST(cil_filter_arrays)
{
    for (size_t i = 0; i < sizeof skimage / sizeof *skimage; i++) {
        struct fbp_filter_design d;
        double to_skimage = 0, to_cil = 0;
        OK(fbp_filter_design(&d, skimage[i].filter, 1, LENGTH / 2, 0));
        assert_int_equal(d.n_fft, LENGTH);
        for (int k = 0; k < SAMPLES; k++)
            to_skimage =
                fmax(to_skimage, fabs(2 * LENGTH * d.response[bins[k]] - skimage[i].values[k]));
        for (int k = 0; k <= LENGTH / 2; k++) {
            const double f = 2.0 * k / LENGTH;
            to_cil = fmax(to_cil, fabs(2 * LENGTH * d.response[k] -
                                       f * fbp_filter_window(skimage[i].filter, f)));
        }
        print_message("test_get_filter_array: %-11s from scikit-image %.1e, from CIL %.1e\n",
                      fbp_filter_name(skimage[i].filter), to_skimage, to_cil);
        assert_true(to_skimage < 1.5e-6 && to_cil < 1.5e-6);
        fbp_filter_design_clear(&d);
    }
}

TEST_MAIN(NULL, NULL)
