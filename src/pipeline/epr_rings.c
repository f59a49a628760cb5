#include "array/array.h"
#include "array/onto.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"
#include "filter/filter.h"
#include "geometry/kind.h"
#include "pipeline/view_sources.h"
#include "weight/quadrature.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What samples may lie off their places, as part of the distance of two. */
static const double OFF = 1e-6;

static fbp_status check_scan(const struct fbp_scan *scan)
{
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_PLANES)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "angles: rings of directions are those of plane integrals (kind planes), "
                        "this scan is of kind %s: leave it out",
                        fbp_kind_of(scan->kind)->name);
    if (fbp_scan_is_intensity(scan))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "angles: only integrals are resampled, not intensities: leave it out, or "
                        "i0, dark and flat");
    if (scan->filtered)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "angles: the views are filtered and weighted already: leave it out");
    return FBP_OK;
}

/* Distance of samples, and t of the first one along the ring's direction. */
static void samples_of(const struct fbp_scan *scan, const struct fbp_ring_member *m, double *tau,
                       double *start)
{
    const struct fbp_view *v = &scan->views[m->view];
    const double half = ((double)scan->panel.n_columns - 1) / 2;

    *tau = fbp_norm(v->u);
    *start = (m->reversed ? -1 : 1) * fbp_dot(v->d, v->u) / *tau - half * *tau;
}

/* Samples of a ring lie at the same t, but for whole steps. */
static fbp_status set_shifts(struct fbp_angles *a, const struct fbp_scan *scan,
                             const struct fbp_ring *ring)
{
    double tau0, start0, tau, start;

    samples_of(scan, &a->rings.member[ring->first], &tau0, &start0);
    for (size_t i = ring->first; i < ring->first + ring->n; i++) {
        const struct fbp_ring_member *m = &a->rings.member[i];
        samples_of(scan, m, &tau, &start);
        const double shift = (start0 - start) / tau0, whole = round(shift);
        if (!(fabs(tau / tau0 - 1) <= OFF && fabs(shift - whole) <= OFF))
            return fbp_fail(
                FBP_ERR_UNSUPPORTED,
                "angles: view %zu has samples at %.7g + i %.7g mm, view %zu of the same "
                "ring at %.7g + i %.7g mm: directions of a ring need the same samples: "
                "leave it out",
                m->view, start, tau, a->rings.member[ring->first].view, start0, tau0);
        if (m->reversed && scan->reference)
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "angles: view %zu lies on the other side of its ring, where a field "
                            "sweep runs backwards: leave it out",
                            m->view);
        a->shift[i] = (ptrdiff_t)whole;
    }
    return FBP_OK;
}

/* On the equator half a turn is all; at the pole there is one direction. */
static size_t views_of(const struct fbp_angles *a, const struct fbp_ring *ring)
{
    return ring->at_pole ? 1 : ring->at_equator ? a->n : 2 * a->n;
}

/* The angle of a ring's view i. */
static double phi_of(const struct fbp_angles *a, size_t i)
{
    return ((double)i + 0.5) * FBP_PI / (double)a->n - FBP_PI / 2;
}

/* Solid angles of a ring stay what they are together; w: [n_views of the scan]. */
static double weight_of(const struct fbp_angles *a, const struct fbp_ring *ring, const double *w)
{
    double sum = 0;

    for (size_t i = ring->first; i < ring->first + ring->n; i++)
        sum += w[a->rings.member[i].view];
    return sum / (ring->at_equator ? 2 : 1) / (double)views_of(a, ring);
}

static void set_ring(struct fbp_angles *a, const struct fbp_scan *scan, size_t r, const double *w)
{
    const struct fbp_ring *ring = &a->rings.ring[r];
    double tau, start, n[3];

    samples_of(scan, &a->rings.member[ring->first], &tau, &start);
    for (size_t i = 0; i < views_of(a, ring); i++) {
        fbp_ring_direction(&a->rings, ring->at_pole ? 0 : ring->theta, phi_of(a, i), n);
        fbp_plane_view(n, tau, start, scan->panel.n_columns, &a->scan.views[a->first[r] + i]);
        a->scan.plane_weights[a->first[r] + i] = weight_of(a, ring, w);
    }
}

static fbp_status weigh(const struct fbp_scan *scan, const double (*direction)[3], double **out)
{
    struct fbp_quadrature_facts facts;

    FBP_TRY(fbp_calloc((void **)out, scan->n_views, sizeof **out, "weights"));
    return fbp_quadrature_of(direction, scan->n_views, scan->quadrature, scan->plane_weights, *out,
                             &facts);
}

static fbp_status make_scan(struct fbp_angles *a, const struct fbp_scan *scan, const double *w)
{
    const size_t n = a->rings.n;

    FBP_TRY(fbp_calloc((void **)&a->first, n + 1, sizeof *a->first, "rings"));
    FBP_TRY(fbp_calloc((void **)&a->shift, a->rings.n_members, sizeof *a->shift, "rings"));
    for (size_t r = 0; r < n; r++) {
        a->first[r + 1] = a->first[r] + views_of(a, &a->rings.ring[r]);
        FBP_TRY(set_shifts(a, scan, &a->rings.ring[r]));
    }
    a->scan = *scan;
    a->scan.n_views = a->first[n];
    a->scan.views = NULL;
    a->scan.plane_weights = NULL;
    a->scan.quadrature = FBP_QUADRATURE_GIVEN;
    FBP_TRY(fbp_calloc((void **)&a->scan.views, a->first[n], sizeof *a->scan.views, "views"));
    FBP_TRY(fbp_calloc((void **)&a->scan.plane_weights, a->first[n], sizeof *a->scan.plane_weights,
                       "weights"));
    for (size_t r = 0; r < n; r++)
        set_ring(a, scan, r, w);
    return FBP_OK;
}

fbp_status fbp_angles_create(struct fbp_angles *out, const struct fbp_scan *scan, size_t n,
                             enum fbp_ring_interpolation how)
{
    double(*direction)[3] = NULL, *w = NULL;
    fbp_status st = FBP_OK;

    *out = (struct fbp_angles){.how = how, .n = n};
    FBP_TRY(check_scan(scan));
    FBP_TRY_GOTO(fbp_planes_directions(scan->views, scan->n_views, &direction));
    FBP_TRY_GOTO(fbp_rings_of((const double(*)[3])direction, scan->n_views, &out->rings));
    FBP_TRY_GOTO(weigh(scan, (const double(*)[3])direction, &w));
    FBP_TRY_GOTO(make_scan(out, scan, w));
    out->used = true;
fail:
    free(direction);
    free(w);
    if (st != FBP_OK)
        fbp_angles_clear(out);
    return scan->path ? fbp_because(scan->path, st) : st;
}

void fbp_angles_clear(struct fbp_angles *a)
{
    fbp_rings_clear(&a->rings);
    free(a->shift);
    free(a->first);
    free(a->scan.views);
    free(a->scan.plane_weights);
    *a = (struct fbp_angles){0};
}

void fbp_angles_weights(const struct fbp_angles *a, size_t r, size_t view, const double *scratch,
                        double *weights)
{
    const struct fbp_ring *ring = &a->rings.ring[r];
    const double step = 2 * FBP_PI / (double)ring->n;

    if (!ring->at_pole) {
        fbp_cyclic_weights(a->how, ring->n, (phi_of(a, view - a->first[r]) - ring->phi) / step,
                           scratch, weights);
        return;
    }
    for (size_t i = 0; i < ring->n; i++)
        weights[i] = 1 / (double)ring->n;
}

size_t fbp_angles_usual(const struct fbp_scan *scan)
{
    double(*direction)[3] = NULL;
    struct fbp_rings rings = {0};
    fbp_status st = fbp_planes_directions(scan->views, scan->n_views, &direction);

    if (st == FBP_OK)
        st = fbp_rings_of((const double(*)[3])direction, scan->n_views, &rings);
    const size_t most = st == FBP_OK ? rings.most : 0;
    fbp_message_clear();
    fbp_rings_clear(&rings);
    free(direction);
    return (most + 1) / 2;
}

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
