/* Helpers for arrays that are stored in chunks: a cache of decoded chunks (fbp_cache_…()), for the
 * readers of Zarr and HDF5, and sizes and voxel means of the coarser resolution levels of an
 * OME-Zarr image (fbp_levels_…()), for its writer.
 * Used by: array/format/hdf5_chunks.c, array/format/zarr.c, array/sink_chunks.c. */
#include "array/file/format.h"

#include <math.h>
#include <string.h>

struct fbp_cached {
    size_t chunk;  /* number of the chunk in this slot; SIZE_MAX: the slot is empty */
    bool loading;  /* a thread decodes the chunk into the slot */
    size_t users;  /* number of threads that decode into the slot or copy from it; it is not reused
                      meanwhile */
    uint64_t used; /* value of the cache's counter of uses at the last use of this slot */
    void *data;
};

void fbp_cache_open(struct fbp_cache *c)
{
    *c = (struct fbp_cache){0};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
}

fbp_status fbp_cache_make(struct fbp_cache *c, size_t n_slots, size_t chunk_bytes)
{
    c->chunk_bytes = chunk_bytes;
    FBP_TRY(fbp_calloc((void **)&c->slots, n_slots, sizeof *c->slots, "a cache of chunks"));
    c->n_slots = n_slots;
    for (size_t i = 0; i < n_slots; i++)
        c->slots[i].chunk = SIZE_MAX;
    return FBP_OK;
}

void fbp_cache_close(struct fbp_cache *c)
{
    for (size_t i = 0; i < c->n_slots; i++)
        fbp_free(c->slots[i].data);
    free(c->slots);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}

void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s)
{
    pthread_mutex_lock(&c->lock);
    s->users--;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

fbp_status fbp_cache_take(struct fbp_cache *c, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out)
{
    struct fbp_cached *s;
    fbp_status st = FBP_OK;
    bool mine;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        /* Take the slot that has chunk k, and wait while another thread decodes this chunk. If no
         * slot has it, take the least recently used slot without users; if all have users, wait. */
        s = NULL;
        for (size_t i = 0; i < c->n_slots; i++) {
            struct fbp_cached *slot = &c->slots[i];
            if (slot->chunk == k) {
                s = slot;
                break;
            }
            if (slot->users == 0 && (!s || slot->used < s->used))
                s = slot;
        }
        if (s && s->chunk != k) {
            s->chunk = k;
            s->loading = true;
        }
        mine = s && s->loading && s->users == 0;
        if (s && (mine || !s->loading))
            break;
        pthread_cond_wait(&c->changed, &c->lock);
    }
    s->users++;
    s->used = ++c->clock;
    pthread_mutex_unlock(&c->lock);
    *out = s;
    if (!mine)
        return FBP_OK;

    if (!s->data)
        st = fbp_alloc(&s->data, c->chunk_bytes, "a chunk of samples");
    if (st == FBP_OK)
        st = load(user, k, s->data);
    pthread_mutex_lock(&c->lock);
    s->loading = false;
    if (st != FBP_OK) {
        s->chunk = SIZE_MAX;
        s->users--;
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return st;
}

const void *fbp_cache_data(const struct fbp_cached *s)
{
    return s->data;
}

void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out)
{
    const size_t least = 4 * edge < FBP_LEVELS_LEAST ? 4 * edge : FBP_LEVELS_LEAST;
    struct fbp_level at = {.step = {1, 1, 1}};

    *out = (struct fbp_levels){0};
    memcpy(at.n, n, sizeof at.n);
    for (int i = 0; i < 3; i++)
        out->chunk[i] = n[i] < edge ? n[i] : edge;
    for (;;) {
        for (int i = 0; i < 3; i++)
            at.chunks[i] = (at.n[i] + out->chunk[i] - 1) / out->chunk[i];
        out->level[out->n_levels++] = at;
        if ((at.n[0] <= least && at.n[1] <= least && at.n[2] <= least) ||
            out->n_levels == FBP_LEVELS_MOST)
            return;
        for (int i = 0; i < 3; i++) {
            at.step[i] *= at.n[i] > 1 ? 2 : 1;
            at.n[i] = (at.n[i] + 1) / 2;
        }
    }
}

/* Mean of n samples (at most eight), added in the order in which they are in memory. Floats: NaN
 * are left out; NaN if all are NaN. Integers: rounded to nearest, halves up. */
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

static int16_t mean_int16_t(const int16_t *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return (int16_t)floor(sum / (double)n + 0.5);
}

MEAN_OF_NUMBERS(float)
MEAN_OF_NUMBERS(double)
MEAN_OF_INTEGERS(uint8_t)
MEAN_OF_INTEGERS(uint16_t)

/* Compute a row of means: each is the mean of two neighbouring samples (one at the end of a row of
 * odd length) in each of n_rows rows, at most four. nx: samples per row. */
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
MEAN_ROW(int16_t)

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
            (type == FBP_F64   ? mean_row_double
             : type == FBP_U8  ? mean_row_uint8_t
             : type == FBP_U16 ? mean_row_uint16_t
             : type == FBP_I16
                 ? mean_row_int16_t
                 : mean_row_float)(rows, n, in->n[0], row_of(out, size, y / 2, z / 2));
        }
}
