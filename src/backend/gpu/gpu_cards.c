#include "backend/gpu/gpu_cards.h"

#include <math.h>
#include <string.h>

/* Of the h200, as measured; the h100 has the same processors and bus, and less memory. */
#define HOPPER_RATES                                                                  \
    .up = 55.5e9, .down = 55.3e9, .up_all = 161e9, .down_all = 131e9, .both = 50.8e9, \
    .both_all = 78e9, .peer = 396e9, .speed = 1

static const struct gpu_card cards[] = {
    {.name = "h200", .memory_bytes = (uint64_t)139 << 30, .copy = 2.06e12, HOPPER_RATES},
    {.name = "h100", .memory_bytes = (uint64_t)79 << 30, .copy = 1.47e12, HOPPER_RATES},
};

const struct gpu_card *gpu_card_at(size_t i)
{
    return i < sizeof cards / sizeof *cards ? &cards[i] : NULL;
}

/* The jobs that kernels were measured with: J3, J1, J2. */
enum { JOBS = 3 };

/* Samples that neighbouring voxels are apart, of views in plain memory and in textures, of which J1
 * has two texels a column. */
static const double apart[2][JOBS] = {{1.25, 1.0, 2.5}, {1.25, 2.0, 2.5}};

/* Mean cost of their voxels, beside one that all views see (plan/cut.h). */
static const double cost[JOBS] = {0.786, 0.928, 0.786};

/* GUPS of all voxels. */
static const double gups[GPU_N_KNOWN][JOBS] = {
    [GPU_PLANES_DOUBLE] = {600, 600, 600},   /* as the next one */
    [GPU_PLANES_EXACT] = {1500, 1500, 1500}, /* not measured yet */
    [GPU_ROT90_HALF] = {4603, 3430, 3209},
    [GPU_ROT90_EXACT] = {2118, 1894, 1531},
    [GPU_ROT180_HALF] = {2547, 2136, 2465},
    [GPU_ROT180_FAST] = {2466, 2013, 1651},
    [GPU_ROT180_EXACT] = {1549, 1328, 1205},
    [GPU_COLUMN_HALF] = {1304, 1044, 1280}, /* of J3 and J1 it is not chosen: as matrix */
    [GPU_COLUMN_EXACT] = {1442, 1204, 1037},
    [GPU_MATRIX_HALF] = {1304, 1044, 1278},
    [GPU_MATRIX_FAST] = {1268, 1034, 1221},
    [GPU_MATRIX_EXACT] = {1145, 928, 920},
};

/* One that is only asked for by name is no faster than any matrix. */
static enum gpu_id id_of(const struct gpu_kernel *k)
{
    for (enum gpu_id id = 0; id < GPU_N_KNOWN; id++)
        if (strcmp(k->name, gpu_known[id].name) == 0 && k->precision == gpu_known[id].precision)
            return id;
    return GPU_MATRIX_FAST;
}

/* Of voxels that all views see, whose neighbours are x samples apart: between the two jobs that
 * are next to it. */
static double gups_at(enum gpu_id id, const double at[JOBS], double x)
{
    size_t below = 0, above = 0;

    for (size_t i = 1; i < JOBS; i++) {
        below = at[i] <= x && (at[below] > x || at[i] > at[below]) ? i : below;
        above = at[i] >= x && (at[above] < x || at[i] < at[above]) ? i : above;
    }
    const double a = gups[id][below] * cost[below], b = gups[id][above] * cost[above];
    if (at[below] > x)
        return b;
    if (at[above] < x || at[below] >= at[above])
        return a;
    return a + (b - a) * (x - at[below]) / (at[above] - at[below]);
}

/* Textures of J4's views (33 MB) are fetched from more slowly than those of J1 to J3 (up to 10 MB),
 * unless a texel serves several voxels. */
static double texture_factor(const struct gpu_kernel *k, const struct fbp_job *job, double x)
{
    const double large = 16e6, slower = 0.87, apart_by = 0.99;
    const size_t texel = (size_t)(k->channels * k->bits) / 8;
    const size_t bytes = gpu_row_texels(k, job) * job->wide.n_rows * texel;

    return (double)bytes > large && x > apart_by ? slower : 1;
}

void gpu_rates(const struct gpu_card *card, const struct fbp_job *job, struct fbp_rates *out)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const double x = gpu_texels_a_column(k, job) * gpu_columns_a_voxel(job);
    const double speed = card->speed * texture_factor(k, job, x);

    *out = (struct fbp_rates){.upload = 1 / card->up,
                              .fetch = 1 / card->down,
                              .filter = 1 / 50e9,
                              .update = 1e-9 / (speed * gups_at(id_of(k), apart[k->bits > 0], x)),
                              .call = 150e-6,
                              .share = 1 / 150e9, /* where it is not known better */
                              .copy = 1 / card->copy};
}
