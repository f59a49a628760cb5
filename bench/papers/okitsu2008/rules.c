/*
 * Rules of Table 3 of Okitsu, Ino and Hagihara (2008).  The paper prints no formulas.  These give
 * its digits from 0.6978 s of filtering and 4.276 s of backprojection, which round to the published
 * .7 and 4.3 s, with one exception: the backprojection's 70.2 GB/s (published: 71.0) lack 40 bytes
 * per line of voxels and view.
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
    {"processing units [GFLOPS]", "processing_gflops", {105.8, 38.3, 345.6}},
    {"texture units [GFLOPS]", "texture_gflops", {NAN, 124.3, 172.8}},
    {"total [GFLOPS]", "total_gflops", {105.8, 162.6, 518.4}},
    {"memory bandwidth [2^30 B/s]", "gibibytes_per_second", {130.5, 71.0, 86.4}},
};

/* Operations and bytes of one update or of one filtered sample. */
struct cost {
    double instructions, flops, texture_flops, bytes;
};

static void rates(const struct cost *c, double n, double seconds, double out[S0_ROWS])
{
    const double rate = 1e-9 * n / seconds;

    out[S0_INSTRUCTIONS] = c->instructions * rate;
    out[S0_PROCESSING] = c->flops * rate;
    out[S0_TEXTURE] = c->texture_flops > 0 ? c->texture_flops * rate : NAN;
    out[S0_TOTAL] = (c->flops + c->texture_flops) * rate;
    out[S0_MEMORY] = c->bytes * n / seconds / 0x1p30;
}

double s0_update_bytes(int i)
{
    return 4 + 8.0 / i;
}

/* A tap adds two samples, multiplies and adds; W1 and its product take 11 operations.  The loop has
 * one multiply-add per tap and sample. */
void s0_filter_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                     double out[S0_ROWS])
{
    const double n = (double)job->size, taps = (double)job->half_width + 1;
    const struct cost c = {.instructions = code && code->multiply_adds > 0
                                               ? taps * code->instructions / code->multiply_adds
                                               : NAN,
                           .flops = 3 * taps + 11,
                           .bytes = 4 * taps + 8};

    rates(&c, n * n * (double)job->views, seconds, out);
}

/* v, the weight and the sum of an update; the addition to the volume of I updates; 29 of a line of
 * voxels per view. */
void s0_backprojection_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                             double out[S0_ROWS])
{
    const double n = (double)job->size;
    const struct cost c = {.instructions = code && code->fetches > 0
                                               ? (double)code->instructions / code->fetches
                                               : NAN,
                           .flops = 3 + 1.0 / job->i + 29 / n,
                           .texture_flops = S0_FETCH_FLOPS,
                           .bytes = s0_update_bytes(job->i)};

    rates(&c, n * n * n * (double)job->views, seconds, out);
}
