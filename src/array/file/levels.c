#include "array/file/levels.h"

#include <math.h>
#include <string.h>

static bool is_small(const size_t n[3], size_t edge)
{
    const size_t least = 4 * edge < FBP_LEVELS_LEAST ? 4 * edge : FBP_LEVELS_LEAST;

    return n[0] <= least && n[1] <= least && n[2] <= least;
}

static void count_chunks(const struct fbp_levels *l, struct fbp_level *level)
{
    for (int i = 0; i < 3; i++)
        level->chunks[i] = (level->n[i] + l->chunk[i] - 1) / l->chunk[i];
}

void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out)
{
    struct fbp_level at = {.step = {1, 1, 1}};

    *out = (struct fbp_levels){0};
    memcpy(at.n, n, sizeof at.n);
    for (int i = 0; i < 3; i++)
        out->chunk[i] = n[i] < edge ? n[i] : edge;
    for (;;) {
        count_chunks(out, &at);
        out->level[out->n_levels++] = at;
        if (is_small(at.n, edge) || out->n_levels == FBP_LEVELS_MOST)
            return;
        for (int i = 0; i < 3; i++) {
            at.step[i] *= at.n[i] > 1 ? 2 : 1;
            at.n[i] = (at.n[i] + 1) / 2;
        }
    }
}

/* Of up to eight samples, in the order in which they lie. */
#define MEAN_OF_NUMBERS(T)                                \
    static T mean_##T(const T *v, size_t n)               \
    {                                                     \
        size_t count = 0;                                 \
        double sum = 0;                                   \
        for (size_t i = 0; i < n; i++)                    \
            if (!isnan(v[i])) {                           \
                sum += (double)v[i];                      \
                count++;                                  \
            }                                             \
        return count ? (T)(sum / (double)count) : (T)NAN; \
    }
#define MEAN_OF_INTEGERS(T)                  \
    static T mean_##T(const T *v, size_t n)  \
    {                                        \
        size_t sum = 0;                      \
        for (size_t i = 0; i < n; i++)       \
            sum += v[i];                     \
        return (T)((2 * sum + n) / (2 * n)); \
    }

MEAN_OF_NUMBERS(float)
MEAN_OF_NUMBERS(double)
MEAN_OF_INTEGERS(uint8_t)
MEAN_OF_INTEGERS(uint16_t)

/* A row of means, of n_rows rows of nx samples. */
#define MEAN_ROW(T)                                                                        \
    static void mean_row_##T(const void *const *rows, size_t n_rows, size_t nx, void *out) \
    {                                                                                      \
        for (size_t x = 0; x < nx; x += 2) {                                               \
            T v[8];                                                                        \
            size_t n = 0;                                                                  \
            for (size_t r = 0; r < n_rows; r++) {                                          \
                const T *row = rows[r];                                                    \
                v[n++] = row[x];                                                           \
                if (x + 1 < nx)                                                            \
                    v[n++] = row[x + 1];                                                   \
            }                                                                              \
            ((T *)out)[x / 2] = mean_##T(v, n);                                            \
        }                                                                                  \
    }

MEAN_ROW(float)
MEAN_ROW(double)
MEAN_ROW(uint8_t)
MEAN_ROW(uint16_t)

static void *row_of(const struct fbp_level_box *box, size_t size, size_t y, size_t z)
{
    return (char *)box->data + (z * box->step[1] + y * box->step[0]) * size;
}

void fbp_levels_mean(enum fbp_type type, const struct fbp_level_box *in,
                     const struct fbp_level_box *out)
{
    const size_t size = fbp_type_size(type);

    for (size_t z = 0; z < in->n[2]; z += 2)
        for (size_t y = 0; y < in->n[1]; y += 2) {
            const void *rows[4];
            size_t n = 0;
            for (size_t k = z; k < z + 2 && k < in->n[2]; k++)
                for (size_t j = y; j < y + 2 && j < in->n[1]; j++)
                    rows[n++] = row_of(in, size, j, k);
            (type == FBP_F64  ? mean_row_double
             : type == FBP_U8 ? mean_row_uint8_t
             : type == FBP_U16
                 ? mean_row_uint16_t
                 : mean_row_float)(rows, n, in->n[0], row_of(out, size, y / 2, z / 2));
        }
}
