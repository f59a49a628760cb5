/* The slab for a given box of voxels (fbp_slab_box()), and statistics of voxels: minimum, maximum
 * and sum (fbp_statistics_join()).
 * Used by: bench/papers/ino2010/, analysis/, backend/cpu/, pipeline/. */
#include "backend/slab.h"

#include "base/base.h"

fbp_status fbp_slab_box(const struct fbp_job *job, const size_t box[3][2], struct fbp_slab *out)
{
    const size_t *most = job->grid.n;
    static const char axes[] = "xyz";

    for (int i = 0; i < 3; i++)
        if (box[i][0] >= box[i][1] || box[i][1] > most[i])
            return FBP_INVALID(
                "box: voxels %zu:%zu along %c are no range of the volume, which has 0:%zu (the end "
                "is excluded); give a first voxel below the end, and an end inside the volume",
                box[i][0], box[i][1], axes[i], most[i]);
    *out = (struct fbp_slab){.x0 = box[0][0],
                             .nx = box[0][1] - box[0][0],
                             .y0 = box[1][0],
                             .ny = box[1][1] - box[1][0],
                             .z0 = box[2][0],
                             .nz = box[2][1] - box[2][0]};
    if (job->selection.boxes || (out->nx == most[0] && out->ny == most[1]))
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "box: kernel %s computes only whole slices of %zu x %zu voxels, not %zu x %zu "
        "voxels; use kernel \"matrix\", or whole slices",
        job->selection.name, most[0], most[1], out->nx, out->ny);
}

/* Defines NAME(), which adds n voxels of type T to statistics.  LANES independent partial results
 * let the compiler use vector instructions.  Sums are computed in T over RUN voxels, and these
 * partial sums are added up in double. */
#define ADD(NAME, T)                                                                      \
    void NAME(struct fbp_statistics *s, const T *x, size_t n)                             \
    {                                                                                     \
        enum { LANES = 16, RUN = 4096 };                                                  \
        T least[LANES], most[LANES];                                                      \
                                                                                          \
        for (int k = 0; k < LANES; k++) {                                                 \
            least[k] = INFINITY;                                                          \
            most[k] = -INFINITY;                                                          \
        }                                                                                 \
        for (size_t at = 0; at < n; at += RUN) {                                          \
            const size_t end = at + RUN < n ? at + RUN : n;                               \
            T part[LANES] = {0};                                                          \
            size_t i = at;                                                                \
            for (; i + LANES <= end; i += LANES)                                          \
                for (int k = 0; k < LANES; k++) {                                         \
                    part[k] += x[i + (size_t)k];                                          \
                    least[k] = x[i + (size_t)k] < least[k] ? x[i + (size_t)k] : least[k]; \
                    most[k] = x[i + (size_t)k] > most[k] ? x[i + (size_t)k] : most[k];    \
                }                                                                         \
            for (; i < end; i++) {                                                        \
                part[0] += x[i];                                                          \
                least[0] = x[i] < least[0] ? x[i] : least[0];                             \
                most[0] = x[i] > most[0] ? x[i] : most[0];                                \
            }                                                                             \
            for (int k = 0; k < LANES; k++)                                               \
                s->sum += (double)part[k];                                                \
        }                                                                                 \
        for (int k = 0; k < LANES; k++) {                                                 \
            /* no fmin(): GCC 12 for AArch64 stops with an internal error */              \
            s->min = (double)least[k] < s->min ? (double)least[k] : s->min;               \
            s->max = (double)most[k] > s->max ? (double)most[k] : s->max;                 \
        }                                                                                 \
    }

ADD(fbp_statistics_add, float)
ADD(fbp_statistics_add_double, double)

void fbp_statistics_join(struct fbp_statistics *s, const struct fbp_statistics *other)
{
    s->min = fmin(s->min, other->min);
    s->max = fmax(s->max, other->max);
    s->sum += other->sum;
}
