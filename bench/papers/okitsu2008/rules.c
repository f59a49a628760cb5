/*
 * Rules of Table 3 of Okitsu, Ino and Hagihara (2008), inferred from its figures.  Called by
 * accounts.c; tests/unit/test_okitsu2008.c applies them to the published seconds.  They give its
 * digits from 0.6978 s of filtering and 4.276 s of backprojection, which round to the published .7
 * and 4.3 s, with one exception: the backprojection's 70.2 GB/s (published: 71.0) lack 40 bytes per
 * line of voxels and view.
 * Used by: accounts.c, tables.c.
 */
#include "bench/papers/okitsu2008/rules.h"

#include <math.h>

const struct s0_method s0_table1[S0_METHODS] = {
    {"CPU (Xeon 3.06 GHz)", 135.4, 2.8},        {"Cell", 9.6, 37.6},
    {"OpenGL (8800 GTX)", 8.9, 40.5},           {"prior CUDA (8800 GTX)", 7.9, 45.5},
    {"OpenGL, early fragment kill", 6.8, 52.9}, {"proposed (8800 GTX)", 5.6, 64.3},
};

/* Instructions are published in MIPS of one of 128 processors. */
const struct s0_account s0_table3[S0_ROWS] = {
    {"instruction issue [10^9/s]", "instructions", {1391 * .128, 980 * .128, 1350 * .128}},
    {"processing units [GFLOP/s]", "processing_gflops", {105.8, 38.3, 345.6}},
    {"texture units [GFLOP/s]", "texture_gflops", {NAN, 124.3, 172.8}},
    {"total [GFLOP/s]", "total_gflops", {105.8, 162.6, 518.4}},
    {"memory bandwidth [2^30 B/s]", "gibibytes_per_second", {130.5, 71.0, 86.4}},
};

/* A column of Table 3 from the costs per update or filtered sample, of which there are n. */
static void rates(double n, double seconds, double instructions, double flops, double texture_flops,
                  double bytes, double out[S0_ROWS])
{
    const double rate = 1e-9 * n / seconds;

    out[S0_INSTRUCTIONS] = instructions * rate;
    out[S0_PROCESSING] = flops * rate;
    out[S0_TEXTURE] = texture_flops > 0 ? texture_flops * rate : NAN;
    out[S0_TOTAL] = (flops + texture_flops) * rate;
    out[S0_MEMORY] = bytes * n / seconds / 0x1p30;
}

double s0_update_bytes(int i)
{
    return 4 + 8.0 / i;
}

static double per(const struct s0_code *code, int n)
{
    return n > 0 ? (double)code->instructions / n : NAN;
}

/* A tap takes 3 operations (adds two samples, multiplies, adds to the sum) and one multiply-add of
 * the loop; the weight W1 takes 11 operations. */
void s0_filter_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                     double out[S0_ROWS])
{
    const double n = (double)job->size, taps = (double)job->half_width + 1;

    rates(n * n * (double)job->views, seconds, taps * per(code, code->multiply_adds), 3 * taps + 11,
          0, 4 * taps + 8, out);
}

/* Operations: 3 per update (v, weight, sum), 1 per I updates (addition to the volume), 29 per view
 * and line of voxels. */
void s0_backprojection_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                             double out[S0_ROWS])
{
    const double n = (double)job->size;

    rates(n * n * n * (double)job->views, seconds, per(code, code->fetches),
          3 + 1.0 / job->i + 29 / n, S0_FETCH_FLOPS, s0_update_bytes(job->i), out);
}
