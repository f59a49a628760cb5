#include "run/load.h"

#include "array/array.h"
#include "backend/rows.h"
#include "base/mem.h"

#include <string.h>

enum { BAND_BYTES = 1 << 16, COMPUTED_ROWS = 16 };

struct load {
    fbp_source *source;
    bool top_down;
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    size_t at_once; /* views of an item */
    size_t bands;   /* of a view's rows, an item each */
    fbp_look *look; /* NULL: none */
    char *out;
};

/* Rows from `row0` of the panel on, of a series the batch's. */
static fbp_status read_rows(const struct load *l, size_t view0, size_t n_views, size_t row0,
                            size_t n, void *out)
{
    row0 += l->batch->frame * l->job->panel.n_rows;
    if (l->job->raw == FBP_U16)
        return fbp_source_read_as_is(l->source, view0, n_views, row0, n, out);
    if (l->job->raw == FBP_F64)
        return fbp_source_read_double(l->source, view0, n_views, row0, n, out);
    return fbp_source_read(l->source, view0, n_views, row0, n, out);
}

static void turn_over(char *rows, size_t n, size_t row)
{
    char some[4096];

    for (char *low = rows, *high = rows + (n - 1) * row; low < high; low += row, high -= row)
        for (size_t at = 0; at < row; at += sizeof some) {
            const size_t bytes = row - at < sizeof some ? row - at : sizeof some;
            memcpy(some, low + at, bytes);
            memcpy(low + at, high + at, bytes);
            memcpy(high + at, some, bytes);
        }
}

/* Rows of one view, the last one first: by bands that the second cache holds. */
static fbp_status read_by_bands(const struct load *l, size_t view, size_t row0, size_t n,
                                size_t row, char *out)
{
    const size_t at_once = row <= BAND_BYTES / 2 ? BAND_BYTES / row : 1;
    fbp_status st = FBP_OK;
    char *band = NULL;

    FBP_TRY(fbp_alloc((void **)&band, BAND_BYTES, "rows of a view"));
    for (size_t r = 0; r < n && st == FBP_OK; r += at_once) {
        const size_t some = n - r < at_once ? n - r : at_once;
        char *to = out + (n - r) * row; /* behind row r's place */
        st = read_rows(l, view, 1, row0 + r, some, some == 1 ? to - row : band);
        for (size_t k = 0; some > 1 && k < some && st == FBP_OK; k++)
            memcpy(to - (k + 1) * row, band + k * row, row);
    }
    fbp_free(band);
    return st;
}

/* What unpacks a view is asked for it once: others may want theirs between two bands. */
static fbp_status read_upside_down(const struct load *l, size_t view, size_t row0, size_t n,
                                   size_t row, char *out)
{
    if (!l->job->unpacks)
        return read_by_bands(l, view, row0, n, row, out);
    FBP_TRY(read_rows(l, view, 1, row0, n, out));
    turn_over(out, n, row);
    return FBP_OK;
}

/* n views from `view0` of the scan on, rows [first, first + n), into out. */
static fbp_status load_views(const struct load *l, size_t view0, size_t n_views, size_t first,
                             size_t n, char *out)
{
    const struct fbp_job *job = l->job;
    const size_t row = job->panel.n_columns * fbp_raw_size(job);

    if (!l->top_down)
        return read_rows(l, view0, n_views, first, n, out);
    for (size_t k = 0; k < n_views; k++)
        FBP_TRY(read_upside_down(l, view0 + k, job->panel.n_rows - first - n, n, row,
                                 out + k * n * row));
    return FBP_OK;
}

/* Some views of a part, or a band of one. */
static fbp_status load_item(void *user, size_t item, int worker)
{
    const struct load *l = user;
    const struct fbp_batch *b = l->batch;
    const size_t k0 = item / l->bands * l->at_once, n = b->load_rows;
    const size_t r0 = item % l->bands * n / l->bands, r1 = (item % l->bands + 1) * n / l->bands;
    const size_t row = l->job->panel.n_columns * fbp_raw_size(l->job);

    (void)worker;
    FBP_TRY(load_views(l, fbp_batch_view(l->job, b, k0), l->at_once, b->load_row0 + r0, r1 - r0,
                       l->out + (k0 * n + r0) * row));
    for (size_t k = k0; l->look && k < k0 + l->at_once; k++)
        fbp_look_at(l->look, b, k, l->out, false);
    return FBP_OK;
}

/* Rows of pictures are computed as they are read, and the views of a batch may be fewer than the
 * threads. */
static size_t count_bands(const struct load *l)
{
    const size_t threads = (size_t)l->job->n_threads, some = l->batch->load_rows / COMPUTED_ROWS;
    const size_t wanted = (2 * threads + l->batch->n_views - 1) / l->batch->n_views;

    if (!l->job->second || l->look || l->top_down || l->at_once > 1 || some == 0)
        return 1;
    return wanted < some ? wanted : some;
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_look *look, void *out)
{
    /* One thread reads a part in one piece; several read a view each, or less. */
    const size_t at_once = pool ? 1 : batch->n_views / job->turns;
    struct load l = {source, top_down, job, batch, at_once, 1, look, out};

    if (pool)
        l.bands = count_bands(&l);
    return batch->load_rows > 0
               ? fbp_pool_try(pool, batch->n_views / at_once * l.bands, load_item, &l)
               : FBP_OK;
}
