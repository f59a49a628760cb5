#include "array/hold.h"
#include "array/file/format.h"
#include "array/file/values.h"
#include "array/onto.h"

#include "base/system.h"
#include "base/base.h"
#include "base/text.h"

#include <pthread.h>
#include <string.h>

struct held {
    pthread_mutex_t lock; /* all below */
    size_t n;             /* views that are there, from the first on */
    char *samples;        /* [view][row][column] as they are stored, in this machine's byte order */
    size_t view_bytes;
};

static const double idle_s = 0.03;

uint64_t fbp_hold_bytes(const fbp_source *below)
{
    const size_t *n = below->info.n;

    return (uint64_t)n[0] * n[1] * n[2] * fbp_type_size(below->info.type);
}

/* One view more, if there are not n already; *has: how many there are. */
static fbp_status unpack_one(fbp_source *src, struct held *h, size_t n, size_t *has)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&h->lock);
    if (!h->samples)
        st = fbp_alloc((void **)&h->samples, fbp_hold_bytes(src->below), "unpacked views");
    if (st == FBP_OK && h->n < n) {
        st = fbp_source_read_as_is(src->below, h->n, 1, 0, src->info.n[1],
                                   h->samples + h->n * h->view_bytes);
        h->n += st == FBP_OK;
    }
    *has = h->n;
    pthread_mutex_unlock(&h->lock);
    return st;
}

static fbp_status read_held(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                            size_t n_rows, bool as_float, void *out);

fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user)
{
    double told = -1; /* so that it is asked once at least */

    if (src->read_block != read_held)
        return FBP_OK;
    for (size_t has = 0; has < n;) {
        FBP_TRY(unpack_one(src, src->state, n, &has));
        if (!idle || fbp_seconds() - told < idle_s)
            continue;
        if (idle(user, has))
            return fbp_fail(FBP_ERR_CANCELLED, "%s: cancelled", src->path);
        told = fbp_seconds();
    }
    return FBP_OK;
}

static fbp_status read_held(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                            size_t n_rows, bool as_float, void *out)
{
    const struct held *h = src->state;
    const size_t size = fbp_type_size(src->info.type), nx = src->info.n[0];
    const size_t count = n_rows * nx, to_size = as_float ? sizeof(float) : size;

    FBP_TRY(fbp_hold_fill(src, slice0 + n_slices, NULL, NULL));
    for (size_t k = 0; k < n_slices; k++) {
        const char *from = h->samples + (slice0 + k) * h->view_bytes + row0 * nx * size;
        char *to = (char *)out + k * count * to_size;
        if (as_float)
            fbp_to_values(&src->info, from, count, fbp_past_caches(n_slices * count),
                          (float *)(void *)to);
        else
            memcpy(to, from, count * size);
    }
    return FBP_OK;
}

static void close_held(fbp_source *src)
{
    struct held *h = src->state;

    pthread_mutex_destroy(&h->lock);
    fbp_free(h->samples);
    free(h);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct held *h;

    (void)what;
    src->info = below->info;
    src->path = fbp_strdup(below->path);
    if (!src->path)
        return fbp_fail_nomem(strlen(below->path), "a path");
    FBP_TRY(fbp_inputs_add_all(&src->inputs, &below->inputs, 0));
    FBP_TRY(fbp_calloc((void **)&h, 1, sizeof *h, "a source"));
    pthread_mutex_init(&h->lock, NULL);
    h->view_bytes = below->info.n[0] * below->info.n[1] * fbp_type_size(below->info.type);
    src->state = h;
    src->below = below;
    src->close = close_held;
    src->read_block = read_held;
    src->stored_type = below->below ? below->stored_type : below->info.type;
    src->stored_bytes = below->below ? below->stored_bytes : fbp_hold_bytes(below);
    src->held_bytes = fbp_source_bytes(below, 1) + fbp_hold_bytes(below);
    return FBP_OK;
}

fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned)
{
    return fbp_source_over(out, set_up, NULL, below, owned);
}
