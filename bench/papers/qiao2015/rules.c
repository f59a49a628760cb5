/* Rules of Qiao et al. (2015) that derive figures of the tables, and the figures that it published.
 * Called by tables.c, json.c, pictures.c and measure.c.
 * tests/cli/test_s4.c applies the rules to the published seconds.
 * Used by: bench/papers/qiao2015/. */
#include "bench/papers/qiao2015/text.h"

#include <math.h>

const struct s4_table1 s4_published[S4_SIZES] = {
    {64, {.011, .049, .060, .203, 13, 18.4, 3.4, 1181, 216}},
    {100, {.016, .229, .245, .624, 44, 39, 2.55, 2750, 180}},
    {128, {.022, .378, .400, 1.108, 83, 50.4, 2.7, 3772, 207}},
    {150, {.029, .605, .634, 1.910, 142, 65.8, 3.01, 4897, 223}},
    {200, {.065, 1.442, 1.507, 8.050, 326, 123, 5.34, 5015, 216}},
};

/* 1152 units of fp32 are the paper's; memory and the limits of blocks and grids are NVIDIA's data
 * of the card and of compute capability 3.0. */
const struct fbp_s4_gpu s4_published_gpu = {.name = "GTX 760",
                                            .capability = 30,
                                            .processors = 6,
                                            .cores = 192,
                                            .threads = 2048,
                                            .blocks = 16,
                                            .registers = 65536,
                                            .shared_bytes = 49152,
                                            .block_threads = 1024,
                                            .warp = 32,
                                            .memory_bytes = 2147483648.,
                                            .block_sides = {1024, 1024, 64},
                                            .grid_sides = {2147483647, 65535, 65535}};
const double s4_published_operations = 85983440;

struct s4_table1 s4_derive(size_t size, double compute, double gather, double cm, double cs)
{
    const double gs = compute + gather;

    return (struct s4_table1){
        size, {compute, gather, gs, cm, cs, cm / compute, cm / gs, cs / compute, cs / gs}};
}

struct s4_table1 s4_measured(const struct s4_row *row)
{
    const struct s4_cell *gs = &row->way[S4_GS], *cm = &row->way[S4_CM], *cs = &row->way[S4_CS];

    return s4_derive(row->size, gs->compute, gs->gather, cm->compute + cm->gather,
                     cs->compute + cs->gather);
}

double s4_two_stages(const struct s4_row *row)
{
    const float *cm = row->way[S4_CM].slice, *cs = row->way[S4_CS_RESAMPLED].slice;
    const size_t n = row->size * row->size;
    double sum = 0, peak = 0;

    for (size_t i = 0; cm && cs && i < n; i++) {
        sum += pow((double)cm[i] - (double)cs[i], 2);
        peak = fmax(peak, fabs((double)cs[i]));
    }
    return cm && cs ? sqrt(sum / (double)n) / peak : (double)NAN;
}

double s4_gups(size_t size, size_t views, double seconds)
{
    return 1e-9 * pow((double)size, 3) * (double)views / seconds;
}

size_t fbp_s4_paper_threads(const struct fbp_s4_gpu *gpu, unsigned block)
{
    const size_t fit = gpu->threads / block;

    return block * (fit < gpu->blocks ? fit : gpu->blocks);
}

double fbp_s4_operations(size_t size, size_t views)
{
    const double n = (double)size;

    return (15 + 26 * (double)views) * n * n * n;
}

double fbp_s4_operations_printed(size_t size, size_t views)
{
    const double n = (double)size;

    return (15 + 26) * n * n * n + (double)views;
}
