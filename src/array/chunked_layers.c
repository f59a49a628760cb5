/* Layers of chunks that are complete: the means of the next level, and compression. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/joint.h"

#include "base/base.h"
#include "base/threads.h"

#include <stdio.h>
#include <string.h>

/* A layer at work, by several threads: an item is a column of chunks, of the level above where it
 * is raised. */
struct work {
    const struct fbp_sink *sink;
    size_t level, layer;
    size_t room; /* bytes of a thread's buffers */
    void **buffers;
};

static const struct fbp_level *level_of(const struct work *w)
{
    return &w->sink->chunked->levels.level[w->level];
}

/* How many of `chunk` voxels from k * chunk on there are of n. */
static size_t voxels(size_t n, size_t chunk, size_t k)
{
    const size_t left = n - k * chunk;

    return left < chunk ? left : chunk;
}

/* Means of one chunk, at their place in half a chunk of the next level. */
static void take_means(const struct work *w, const size_t k[3], void *chunk, char *half)
{
    const struct fbp_chunked *c = w->sink->chunked;
    const size_t *edge = c->levels.chunk, size = fbp_type_size(w->sink->info.type);
    struct fbp_level_box in = {.data = chunk, .step = {edge[0], edge[0] * edge[1]}};
    struct fbp_level_box out = {.step = {edge[0], edge[0] * edge[1]}};

    for (int i = 0; i < 3; i++) {
        in.n[i] = voxels(level_of(w)->n[i], edge[i], k[i]);
        out.n[i] = (in.n[i] + 1) / 2;
    }
    out.data = half + (k[1] % 2 * (edge[1] / 2) * edge[0] + k[0] % 2 * (edge[0] / 2)) * size;
    fbp_levels_mean(w->sink->info.type, &in, &out);
}

/* Half a chunk of the next level, of up to 2 x 2 chunks of this layer. */
static fbp_status raise_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    const struct fbp_chunked *c = w->sink->chunked;
    const struct fbp_level *below = level_of(w), *above = below + 1;
    const size_t slice = c->chunk_bytes / c->levels.chunk[2];
    const size_t up[3] = {item % above->chunks[0], item / above->chunks[0], w->layer / 2};
    const size_t nz = (voxels(below->n[2], c->levels.chunk[2], w->layer) + 1) / 2;
    char *chunk = w->buffers[worker], *half = chunk + c->chunk_bytes;

    memset(half, 0, nz * slice);
    for (size_t j = 0; j < 4; j++) {
        const size_t k[3] = {2 * up[0] + j % 2, 2 * up[1] + j / 2, w->layer};
        if (k[0] >= below->chunks[0] || k[1] >= below->chunks[1])
            continue;
        FBP_TRY(fbp_chunk_read(w->sink, w->level, k, chunk));
        take_means(w, k, chunk, half);
    }
    return fbp_chunk_put(w->sink, w->level + 1, up, w->layer % 2 * (c->levels.chunk[2] / 2) * slice,
                         half, nz * slice);
}

static fbp_status pack_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    const size_t nx = level_of(w)->chunks[0], k[3] = {item % nx, item / nx, w->layer};
    char *chunk = w->buffers[worker];

    FBP_TRY(fbp_chunk_read(w->sink, w->level, k, chunk));
    return fbp_chunk_pack(w->sink, w->level, k, chunk, chunk + w->sink->chunked->chunk_bytes);
}

static fbp_status for_columns(struct work *w, const struct fbp_level *level, fbp_pool_try_fn *fn)
{
    const size_t n = level->chunks[0] * level->chunks[1], cores = (size_t)fbp_core_count();
    const size_t may = w->sink->chunked->threads, most = cores < may ? cores : may;
    const size_t threads = n < most ? n : most;
    void *buffers[FBP_CHUNK_THREADS] = {0};
    fbp_pool *pool = NULL;
    fbp_status st;

    w->buffers = buffers;
    for (size_t i = 0; i < threads; i++)
        FBP_TRY_GOTO(fbp_alloc(&buffers[i], w->room, "chunks"));
    if (threads > 1)
        FBP_TRY_GOTO(fbp_pool_create(&pool, (int)threads));
    st = fbp_pool_try(pool, n, fn, w);
fail:
    fbp_pool_destroy(&pool);
    for (size_t i = 0; i < threads; i++)
        fbp_free(buffers[i]);
    w->buffers = NULL;
    return st;
}

/* Only when all of a layer are packed, so that a kill leaves it plain or packed. */
static void drop_layer(const struct work *w)
{
    const struct fbp_level *level = level_of(w);
    size_t k[3] = {0, 0, w->layer};

    for (k[1] = 0; k[1] < level->chunks[1]; k[1]++)
        for (k[0] = 0; k[0] < level->chunks[0]; k[0]++)
            fbp_chunk_drop(w->sink, w->level, k);
}

/* What others need to know: it counts when "synced" follows. */
static fbp_status note(struct fbp_sink *s, size_t level, size_t layer, unsigned char what)
{
    char line[80];

    pthread_mutex_lock(&s->lock);
    s->chunked->done[level][layer] |= what;
    pthread_mutex_unlock(&s->lock);
    if (!s->joint)
        return FBP_OK;
    snprintf(line, sizeof line, "layer %zu %zu %d\n", level, layer, what);
    return fbp_append(s->log_fd, s->log, line);
}

static fbp_status raise_layer(struct fbp_sink *s, size_t level, size_t layer)
{
    const struct fbp_chunked *c = s->chunked;
    struct work w = {
        .sink = s, .level = level, .layer = layer, .room = c->chunk_bytes + c->chunk_bytes};

    FBP_TRY(for_columns(&w, level_of(&w) + 1, raise_column));
    return note(s, level, layer, FBP_LAYER_RAISED);
}

static fbp_status pack_layer(struct fbp_sink *s, size_t level, size_t layer)
{
    const struct fbp_chunked *c = s->chunked;
    struct work w = {.sink = s,
                     .level = level,
                     .layer = layer,
                     .room = c->chunk_bytes + fbp_chunk_packed_bytes(c)};

    FBP_TRY(for_columns(&w, level_of(&w), pack_column));
    drop_layer(&w);
    return note(s, level, layer, FBP_LAYER_PACKED);
}

/* Slices of level 0 that a layer is made of. */
static void slices_of(const struct fbp_sink *s, size_t level, size_t layer, size_t *z0, size_t *z1)
{
    const struct fbp_levels *l = &s->chunked->levels;
    const size_t n = s->info.n[2], deep = l->chunk[2] * l->level[level].step[2];

    *z0 = layer * deep;
    *z1 = n - *z0 < deep ? n : *z0 + deep;
}

/* Does this process write all of a layer? */
static bool is_own(const struct fbp_sink *s, size_t level, size_t layer)
{
    size_t z0, z1;

    slices_of(s, level, layer, &z0, &z1);
    for (size_t z = z0; s->joint && z < z1; z++)
        if (!s->joint->mine[z])
            return false;
    return true;
}

static bool is_raised(const struct fbp_sink *s, size_t level)
{
    return level + 1 < s->chunked->levels.n_levels;
}

/* A layer whose chunks are complete; *above: so is the one that it was raised to. */
static fbp_status settle(struct fbp_sink *s, size_t level, size_t layer, bool *above)
{
    struct fbp_chunked *c = s->chunked;

    *above = false;
    if (is_raised(s, level) && is_own(s, level + 1, layer / 2)) {
        const size_t n = c->levels.level[level].chunks[2];
        const unsigned char halves = layer / 2 * 2 + 1 < n ? 2 : 1;
        FBP_TRY(raise_layer(s, level, layer));
        *above = ++c->halves[level + 1][layer / 2] == halves;
    }
    return c->compression ? pack_layer(s, level, layer) : FBP_OK;
}

static fbp_status settle_up(struct fbp_sink *s, size_t layer)
{
    bool above = true;
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&s->chunked->turn);
    for (size_t level = 0; above && st == FBP_OK; level++, layer /= 2)
        st = settle(s, level, layer, &above);
    pthread_mutex_unlock(&s->chunked->turn);
    return st;
}

/* *full: slice z was the last of its layer. */
static void count_slice(struct fbp_sink *s, size_t z, bool *full)
{
    const size_t layer = z / s->chunked->levels.chunk[2];
    size_t z0, z1;

    slices_of(s, 0, layer, &z0, &z1);
    pthread_mutex_lock(&s->lock);
    *full = ++s->chunked->put[layer] == z1 - z0;
    pthread_mutex_unlock(&s->lock);
}

fbp_status fbp_chunked_count(struct fbp_sink *s, size_t z0, size_t nz)
{
    for (size_t z = z0; z < z0 + nz; z++) {
        const size_t layer = z / s->chunked->levels.chunk[2];
        bool full = false;
        count_slice(s, z, &full);
        if (full && is_own(s, 0, layer))
            FBP_TRY(settle_up(s, layer));
    }
    return FBP_OK;
}

void fbp_chunked_take_line(const struct fbp_sink *s, const char *line)
{
    const struct fbp_levels *l = &s->chunked->levels;
    size_t level, layer;
    unsigned what;

    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large fails the tests that follow */
    if (sscanf(line, "layer %zu %zu %u", &level, &layer, &what) == 3 && level < l->n_levels &&
        layer < l->level[level].chunks[2])
        s->chunked->done[level][layer] |= (unsigned char)what;
}

fbp_status fbp_chunked_check_layer(const struct fbp_sink *s, size_t level, size_t layer,
                                   const char *remedy)
{
    const size_t *n = s->chunked->levels.level[level].chunks;
    size_t k[3] = {0, 0, layer};

    for (k[1] = 0; k[1] < n[1]; k[1]++)
        for (k[0] = 0; k[0] < n[0]; k[0]++)
            FBP_TRY(fbp_chunk_check(s, level, k, remedy));
    return FBP_OK;
}

fbp_status fbp_chunked_complete(struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;

    for (size_t level = 0; level < c->levels.n_levels; level++)
        for (size_t k = 0; k < c->levels.level[level].chunks[2]; k++) {
            if (is_raised(s, level) && !(c->done[level][k] & FBP_LAYER_RAISED))
                FBP_TRY(raise_layer(s, level, k));
            if (c->compression && !(c->done[level][k] & FBP_LAYER_PACKED))
                FBP_TRY(pack_layer(s, level, k));
        }
    for (size_t level = 0; level < c->levels.n_levels; level++)
        for (size_t k = 0; k < c->levels.level[level].chunks[2]; k++)
            FBP_TRY(fbp_chunked_check_layer(s, level, k, NULL));
    return FBP_OK;
}
