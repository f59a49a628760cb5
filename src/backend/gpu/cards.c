/* Rates of NVIDIA H200 and H100 cards (gpu_card_at(), gpu_rates(); kernels, filter, copies), most
 * of them measured on the H200, from which plans and `fbp-bench predict` predict durations;
 * bench/results/cuda.md describes the measurements.
 * Used by: bench/predict/model.c, bench/predict/model_gpu.c, backend/cuda/entry.c. */
#include "backend/gpu/gpu_known.h"

#include <string.h>

/* Rates of copies [bytes/s] and relative speed of kernels, measured on the H200 and assumed for the
 * H100, which has the same processors and bus, and less memory. */
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

/* Speed of each kernel, measured with three standard problems (bench/common/jobs.c): the columns of
 * the next tables are J3 (1024^3 voxels from 496 views of 1248 x 960 pixels), J1 (512^3 from 360
 * views of 512 x 512) and J2 (512^3 from 496 views of 1248 x 960), in this order. */
enum { JOBS = 3 };

/* Mean distance of projections of neighbouring voxels in the problems J3, J1, J2 (enum JOBS): row 0
 * in samples of plain views; row 1 in texels (J1: 2 texels per sample). */
static const double apart[2][JOBS] = {{1.25, 1.0, 2.5}, {1.25, 2.0, 2.5}};

/* Mean cost of a voxel in the problems J3, J1, J2, relative to one that projects onto the detector
 * in all views; others cost less (pipeline/division.h). */
static const double cost[JOBS] = {0.786, 0.928, 0.786};

/* Billions of updates of a voxel by a view per second (GUPS) in the standard problems J3, J1, J2
 * (enum JOBS); voxels that a view does not show count, too. */
static const double gups[GPU_N_KNOWN][JOBS] = {
    [GPU_PLANES_DOUBLE] = {600, 600, 600},   /* assumed; not measured yet */
    [GPU_PLANES_EXACT] = {1500, 1500, 1500}, /* not measured yet */
    [GPU_PARALLEL_HALF] = {15200, 15200, 14700},
    [GPU_PARALLEL_EXACT] = {4670, 4670, 4650},
    [GPU_ROT90_HALF] = {4603, 3430, 3209},
    [GPU_ROT90_EXACT] = {2118, 1894, 1531},
    [GPU_ROT180_HALF] = {2547, 2136, 2465},
    [GPU_ROT180_FAST] = {2466, 2013, 1651},
    [GPU_ROT180_EXACT] = {1549, 1328, 1205},
    [GPU_COLUMN_HALF] = {1304, 1044, 1280}, /* J3, J1: not measured; values of GPU_MATRIX_HALF */
    [GPU_COLUMN_EXACT] = {1442, 1204, 1037},
    [GPU_MATRIX_HALF] = {1304, 1044, 1278},
    [GPU_MATRIX_FAST] = {1268, 1034, 1221},
    [GPU_MATRIX_EXACT] = {1145, 928, 920},
};

/* Kernel "hierarchical" (bench/results/cuda.md).  per_node: seconds per voxel, view and node of a
 * group of views (gpu_nodes_of()); [0] with four symmetric views, measured with 1024^3 voxels from
 * 1440 views and 2048^3 from 720 and 2880; [1] with single views, measured with 1439 views and an
 * earlier state of the kernel.  more_slices: fixed cost of a call [slices], because images have
 * rows beyond those of their slices. */
static const double per_node[2] = {8.4e-15, 31e-15}, more_slices = 16;

void gpu_rates(const struct gpu_card *card, const struct fbp_job *job, struct fbp_rates *out)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const double x = gpu_texels_per_column(k, job) * gpu_columns_per_voxel(job);
    const size_t texel = (size_t)(k->channels * k->bits) / 8;
    const size_t bytes = gpu_row_texels(k, job) * job->padded.panel.n_rows * texel;
    const double *at = apart[k->bits > 0];
    enum gpu_id id = GPU_MATRIX_FAST; /* for kernels that the table lacks (bench/cuda) */
    size_t below = 0, above = 0;

    for (int i = GPU_N_KNOWN - 1; i >= 0; i--)
        if (strcmp(k->name, gpu_known[i].name) == 0 && k->precision == gpu_known[i].precision &&
            k->symmetric_views == gpu_known[i].symmetric_views)
            id = (enum gpu_id)i;
    /* known: speed [GUPS] for voxels that project onto the detector in all views.  The projections
     * of neighbouring voxels are x texels (or samples) apart; the speed is interpolated linearly
     * between the two measured problems with the nearest distances. */
    for (size_t i = 1; i < JOBS; i++) {
        below = at[i] <= x && (at[below] > x || at[i] > at[below]) ? i : below;
        above = at[i] >= x && (at[above] < x || at[i] < at[above]) ? i : above;
    }
    const double a = gups[id][below] * cost[below], b = gups[id][above] * cost[above];
    const double known = at[below] > x ? b
                         : at[above] < x || at[below] >= at[above]
                             ? a
                             : a + (b - a) * (x - at[below]) / (at[above] - at[below]);
    /* With textures of large views (33 MB), the speed was 0.87 of that in the measured problems (up
     * to 10 MB), unless several voxels shared a texel (x < 1): used above 16 MB. */
    const double speed = card->speed * ((double)bytes > 16e6 && x > 0.99 ? 0.87 : 1);
    *out = (struct fbp_rates){
        .upload = 1 / card->up,
        .fetch = 1 / card->down,
        .filter = 1 / 50e9,
        .update = k->decimates ? gpu_nodes_of(job) * per_node[k->symmetric_views == 1] / card->speed
                               : 1e-9 / (speed * known),
        .call = 150e-6,
        .voxel = k->slices ? 3e-12 / card->speed : 0,
        .share = 1 / 150e9, /* rate that is assumed for unknown links */
        .copy = 1 / card->copy,
        .slices = k->decimates ? more_slices : 0};
}
