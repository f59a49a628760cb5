/** @file truth.h  Reference values in double precision for some voxels of a volume, and its
 * difference from them (internal). Called by bench kernel and by the commands of the papers. */
#ifndef FBP_BENCH_COMMON_TRUTH_H
#define FBP_BENCH_COMMON_TRUTH_H

#include "backend/backend.h"

#include <math.h>

/** Voxels with a reference value: some whole slices, evenly spread over the slices [z0, z0 + nz) of
 * the grid, and pseudo-random voxels of the other slices; sorted by slice. */
struct fbp_bench_truth {
    size_t z0, nz, n;
    size_t n_whole;  /**< slices */
    size_t n_random; /**< voxels of the others */
    size_t *first;   /**< [nz + 1]: samples of slice z0 + i begin at first[i] */
    uint32_t *voxel; /**< [n]: index in its slice */
    double *value;   /**< [n] */
};

/** Limits of a truth: whole slices, voxels in whole slices (or one slice), voxels of other slices.
 */
enum { FBP_BENCH_SLICES = 16, FBP_BENCH_WHOLE = 1 << 23, FBP_BENCH_VOXELS = 1 << 20 };

/**
 * Filter and backproject in double, as the backend `ref` does.
 *
 * job    views and slices one by one (turns 1)
 * views  line integrals, [n_views][n_rows][n_columns] of job->panel
 */
fbp_status fbp_bench_truth_make(struct fbp_bench_truth *out, const struct fbp_job *job,
                                const float *views, size_t z0, size_t nz, fbp_pool *pool,
                                int n_threads);
void fbp_bench_truth_clear(struct fbp_bench_truth *truth);

/** Copy the chosen voxels of slices [z, z + n) from `voxels` to their positions in out[truth->n].
 */
void fbp_bench_truth_pick(const struct fbp_bench_truth *truth, const struct fbp_grid *grid,
                          size_t z, size_t n, const float *voxels, float *out);

/** Root mean square and largest |a - b|, and 20 log10(max |b| / rmse), 999 if they are equal. */
struct fbp_bench_difference {
    double rmse, max, psnr_db;
};

/** Sums from which a difference is computed; start with {0}. */
struct fbp_bench_sum {
    size_t n;
    double squares, max, peak;
};

static inline void fbp_bench_sum_add(struct fbp_bench_sum *s, double a, double b)
{
    const double d = fabs(a - b);

    s->n++;
    s->squares += d * d;
    s->max = fmax(s->max, d);
    s->peak = fmax(s->peak, fabs(b));
}

struct fbp_bench_difference fbp_bench_sum_of(const struct fbp_bench_sum *sum);

struct fbp_bench_difference fbp_bench_truth_compare(const struct fbp_bench_truth *truth,
                                                    const float *samples);

#endif /* FBP_BENCH_COMMON_TRUTH_H */
