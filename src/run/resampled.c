#include "run/resampled.h"

#include "array/array.h"
#include "array/onto.h"
#include "base/mem.h"
#include "base/stop.h"
#include "filter/filter.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct resampled {
    const struct fbp_angles *angles;
    struct fbp_prep_counts *mended;
    pthread_mutex_t lock; /* of: */
    double *samples;      /* [view][row][column], once they are there */
};

/* All views below, and what a ring's weights take. */
struct work {
    double *views, *weights, *scratch;
};

static size_t view_samples(const fbp_source *src)
{
    return src->info.n[0] * src->info.n[1];
}

/* NaN between two numbers lies on the line through them. */
static size_t bridge(double *row, size_t n)
{
    size_t mended = 0, last = n; /* that is finite; n: none yet */

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(row[i]))
            continue;
        for (size_t k = last == n ? 0 : last + 1; k < i; k++, mended++)
            row[k] = last == n ? row[i]
                               : row[last] +
                                     (row[i] - row[last]) * (double)(k - last) / (double)(i - last);
        last = i;
    }
    for (size_t k = last == n ? 0 : last + 1; k < n; k++, mended++)
        row[k] = last == n ? 0 : row[last];
    return mended;
}

/* times a member's row, at its ring's places. */
static void add_row(const double *in, size_t n, ptrdiff_t shift, bool reversed, double times,
                    double *out)
{
    for (ptrdiff_t c = 0; c < (ptrdiff_t)n; c++) {
        const ptrdiff_t at = c + shift;
        if (at >= 0 && at < (ptrdiff_t)n)
            out[c] += times * in[reversed ? (ptrdiff_t)n - 1 - at : at];
    }
}

static void resample_ring(const fbp_source *src, const struct work *w, size_t r, double *samples)
{
    const struct fbp_angles *a = ((struct resampled *)src->state)->angles;
    const struct fbp_ring *ring = &a->rings.ring[r];
    const size_t nc = src->info.n[0], nr = src->info.n[1], n = nc * nr;

    fbp_cyclic_prepare(a->how, ring->n, w->scratch);
    for (size_t view = a->first[r]; view < a->first[r + 1]; view++) {
        fbp_angles_weights(a, r, view, w->scratch, w->weights);
        for (size_t i = 0; i < ring->n; i++) {
            const struct fbp_ring_member *m = &a->rings.member[ring->first + i];
            for (size_t row = 0; row < nr; row++)
                add_row(w->views + m->view * n + row * nc, nc, a->shift[ring->first + i],
                        m->reversed, w->weights[i], samples + view * n + row * nc);
        }
    }
}

static fbp_status resample(fbp_source *src, const struct work *w, double *samples)
{
    const struct resampled *s = src->state;
    const size_t nr = src->info.n[1], n_below = src->below->info.n[2];
    size_t mended = 0;

    FBP_TRY(fbp_source_read_double(src->below, 0, n_below, 0, nr, w->views));
    for (size_t row = 0; row < n_below * nr; row++)
        mended += bridge(w->views + row * src->info.n[0], src->info.n[0]);
    if (s->mended)
        s->mended->not_finite = mended;
    for (size_t r = 0; r < s->angles->rings.n; r++) {
        FBP_TRY(fbp_go_on());
        resample_ring(src, w, r, samples);
    }
    return FBP_OK;
}

static size_t most_members(const struct fbp_rings *rings)
{
    size_t most = 1;

    for (size_t r = 0; r < rings->n; r++)
        most = rings->ring[r].n > most ? rings->ring[r].n : most;
    return most;
}

static fbp_status make_samples(fbp_source *src, double **out)
{
    const size_t n = view_samples(src);
    const size_t most = most_members(&((struct resampled *)src->state)->angles->rings);
    struct work w = {0};
    double *samples = NULL;
    fbp_status st;

    FBP_TRY_GOTO(
        fbp_calloc((void **)&samples, src->info.n[2] * n, sizeof *samples, "resampled views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.views, src->below->info.n[2] * n, sizeof *w.views,
                            "views to be resampled"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.weights, most, sizeof *w.weights, "weights of a ring"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.scratch, most, sizeof *w.scratch, "weights of a ring"));
    FBP_TRY_GOTO(resample(src, &w, samples));
    *out = samples;
    samples = NULL;
fail:
    free(samples);
    free(w.views);
    free(w.weights);
    free(w.scratch);
    return st;
}

static fbp_status fill(fbp_source *src)
{
    struct resampled *s = src->state;

    pthread_mutex_lock(&s->lock);
    const fbp_status st = s->samples ? FBP_OK : make_samples(src, &s->samples);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static fbp_status read_resampled(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const struct resampled *s = src->state;
    const size_t count = n_rows * src->info.n[0];
    FBP_TRY(fill(src));
    for (size_t k = 0; k < n_slices; k++) {
        const double *in = s->samples + (slice0 + k) * view_samples(src) + row0 * src->info.n[0];
        if (!as_float)
            memcpy((double *)out + k * count, in, count * sizeof *in);
        for (size_t i = 0; as_float && i < count; i++)
            ((float *)out)[k * count + i] = (float)in[i];
    }
    return FBP_OK;
}

static void close_resampled(fbp_source *src)
{
    struct resampled *s = src->state;

    pthread_mutex_destroy(&s->lock);
    free(s->samples);
    free(s);
}

static void set_facts(fbp_source *src, const fbp_source *below, size_t n_views)
{
    const struct fbp_array_info *info = &below->info;

    src->info = *info;
    src->info.n[2] = n_views;
    src->info.type = FBP_F64; /* so that precision double loses nothing */
    src->info.scale = src->info.offset = 0;
    src->info.big_endian = false;
    src->held_bytes = fbp_source_bytes(below, 1) +
                      (uint64_t)(info->n[2] + n_views) * info->n[0] * info->n[1] * sizeof(double);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct resampled *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    *s = *(const struct resampled *)what;
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_resampled;
    src->read_block = read_resampled;
    set_facts(src, below, s->angles->scan.n_views);
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_resampled(fbp_source **out, const struct fbp_angles *angles,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended)
{
    const struct resampled what = {.angles = angles, .mended = mended};

    return fbp_source_over(out, set_up, &what, below, owned);
}
