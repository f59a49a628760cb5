/* Minimum, maximum and sum of voxels, in float and double. */
#include "backend/statistics.h"

/* Define NAME() for voxels of type T.  LANES independent partial results let the compiler use
 * vector instructions; partial sums over RUN voxels, in T, are added up in double. */
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
            s->min = fmin(s->min, (double)least[k]);                                      \
            s->max = fmax(s->max, (double)most[k]);                                       \
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
