/* Statistics of voxels: minimum, maximum and sum (fbp_statistics_join()).
 * Used by: analysis/, backend/cpu/, pipeline/. */
#include "backend/slab.h"

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
