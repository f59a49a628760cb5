#include "array/chunked.h"

#include "base/cache.h"
#include "base/base.h"

static fbp_status make_tables(struct fbp_chunked *c)
{
    FBP_TRY(fbp_calloc((void **)&c->put, c->levels.level[0].chunks[2], sizeof *c->put,
                       "a table of layers"));
    for (size_t l = 0; l < c->levels.n_levels; l++) {
        const size_t n = c->levels.level[l].chunks[2];
        FBP_TRY(fbp_calloc((void **)&c->done[l], n, 1, "a table of layers"));
        FBP_TRY(fbp_calloc((void **)&c->halves[l], n, 1, "a table of layers"));
    }
    return FBP_OK;
}

/* Chunks of another size, or packed ones, are another output. */
static void note(struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;

    if (!s->fingerprint)
        return;
    s->fingerprint = fbp_hash(s->fingerprint, c->levels.chunk, sizeof c->levels.chunk);
    s->fingerprint = fbp_hash(s->fingerprint, &c->compression, sizeof c->compression);
}

fbp_status fbp_chunked_create(struct fbp_sink *s, const struct fbp_chunk_format *format,
                              uint64_t level_bytes)
{
    enum { FASTEST = 1 }; /* noise shrinks little at any level */
    struct fbp_chunked *c;

    FBP_TRY(fbp_calloc((void **)&s->chunked, 1, sizeof *s->chunked, "chunks"));
    c = s->chunked;
    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->unpacking, NULL);
    c->format = format;
    c->compression = s->compress ? FASTEST : 0;
    fbp_levels_make(s->info.n, fbp_chunk_edge(), &c->levels);
    c->chunk_bytes = fbp_chunk_bytes(&c->levels, s->info.type);
    c->threads =
        fbp_chunk_threads(c->chunk_bytes, s->compress, level_bytes ? level_bytes : UINT64_MAX);
    note(s);
    return make_tables(c);
}

void fbp_chunked_destroy(struct fbp_chunked **chunked)
{
    struct fbp_chunked *c = *chunked;

    if (!c)
        return;
    for (size_t l = 0; l < c->levels.n_levels; l++) {
        free(c->done[l]);
        free(c->halves[l]);
    }
    pthread_mutex_destroy(&c->turn);
    pthread_mutex_destroy(&c->unpacking);
    free(c->put);
    free(c);
    *chunked = NULL;
}
