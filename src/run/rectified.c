/* Upright views, as they are read: rows of line integrals, and the resampling of these. */
#include "run/rectified.h"

#include "array/onto.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/integrals.h"

#include <pthread.h>
#include <stdlib.h>

struct rectified {
    const struct fbp_rectify *rectify;
    struct fbp_prep_counts *mended;
    pthread_mutex_t lock;   /* protects *mended and: */
    unsigned char *counted; /* [view][measured row] */
};

/* Floats of a reader: rows and what reading them takes; behind that the work of resampling. */
static size_t rows_floats(const struct fbp_rectify *r)
{
    return 2 * fbp_ahead_read_floats(&r->measured, r->measured.scan.panel.n_rows);
}

static size_t reader_bytes(const struct fbp_rectify *r)
{
    return (rows_floats(r) + fbp_rectify_floats(r)) * sizeof(float);
}

/* Measured rows [first, first + n), upwards; runs of them that were read before are not counted. */
static fbp_status read_rows(fbp_source *src, size_t view, size_t first, size_t n, float *work,
                            float *out)
{
    struct rectified *s = src->state;
    const struct fbp_ahead *a = &s->rectify->measured;
    unsigned char *counted = s->counted + view * a->scan.panel.n_rows;

    for (size_t r = first, end; r < first + n; r = end) {
        struct fbp_prep_counts counts = {0};
        pthread_mutex_lock(&s->lock);
        const bool before = counted[r] != 0;
        for (end = r; end < first + n && (counted[end] != 0) == before; end++)
            counted[end] = 1;
        pthread_mutex_unlock(&s->lock);
        FBP_TRY(fbp_integrals_read(a, src->below, view, r, end - r, work,
                                   out + (r - first) * a->scan.panel.n_columns, &counts));
        if (before || !s->mended)
            continue;
        pthread_mutex_lock(&s->lock);
        s->mended->not_finite += counts.not_finite;
        s->mended->clipped += counts.clipped;
        pthread_mutex_unlock(&s->lock);
    }
    return FBP_OK;
}

static fbp_status read_rectified(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const struct fbp_rectify *r = ((const struct rectified *)src->state)->rectify;
    const size_t from = r->measured.top_down ? src->info.n[1] - row0 - n_rows : row0;
    float *to = out, *memory = NULL;
    fbp_status st;

    (void)as_float; /* it is one */
    FBP_TRY(fbp_alloc((void **)&memory, reader_bytes(r), "a view to be resampled"));
    for (size_t k = 0; k < n_slices; k++, to += n_rows * src->info.n[0]) {
        size_t first, n;
        FBP_TRY_GOTO(fbp_go_on());
        fbp_rectify_rows(r, slice0 + k, from, n_rows, &first, &n);
        FBP_TRY_GOTO(read_rows(src, slice0 + k, first, n, memory + rows_floats(r) / 2, memory));
        fbp_rectify_view(r, slice0 + k, from, n_rows, memory, memory + rows_floats(r), to);
        if (r->measured.top_down)
            fbp_turn_rows(to, n_rows, src->info.n[0]);
    }
    st = FBP_OK;
fail:
    fbp_free(memory);
    return st;
}

static void close_rectified(fbp_source *src)
{
    struct rectified *s = src->state;

    pthread_mutex_destroy(&s->lock);
    free(s->counted);
    free(s);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct rectified *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    *s = *(const struct rectified *)what;
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_rectified;
    src->read_block = read_rectified;
    const size_t rows = s->rectify->scan.n_views * s->rectify->measured.scan.panel.n_rows;
    FBP_TRY(fbp_calloc((void **)&s->counted, rows, 1, "counters"));
    fbp_integrals_facts(src, below);
    src->info.n[0] = s->rectify->scan.panel.n_columns;
    src->info.n[1] = s->rectify->scan.panel.n_rows;
    src->unpacks = true;
    src->in_order = below->in_order;
    src->growing = below->growing;
    src->held_bytes = fbp_source_bytes(below, 0) + rows;
    src->reader_bytes =
        fbp_source_bytes(below, 1) - fbp_source_bytes(below, 0) + reader_bytes(s->rectify);
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_rectified(fbp_source **out, const struct fbp_rectify *rectify,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended)
{
    const struct rectified what = {.rectify = rectify, .mended = mended};

    return fbp_source_over(out, set_up, &what, below, owned);
}
