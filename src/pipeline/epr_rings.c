/* Resamples views of EPR imaging whose directions lie on rings to the same angles phi in each
 * ring: a view step (fbp_rings_step_create(); a correction that wraps the source of the views,
 * view_step.h), which a plan has if params->epr.angles > 0.
 *
 * A ring has the directions of one polar angle theta; if all views have equal solid angles, rings
 * near the pole have fewer views. The samples of a ring at the same position t are a periodic
 * function of phi, known at evenly spaced phi, and are interpolated at the 2 n angles (i + 1/2) pi
 * / n - pi / 2. These are the same for all rings, so the resampled directions lie in planes through
 * the axis. All resampled views are in memory from the first read on.
 * Used by: epr_two_stages.c, plan.c. */
#include "pipeline/view_step.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/math.h"
#include "base/threads.h"
#include "filter/filter.h"
#include "geometry/directions.h"
#include "geometry/kind.h"
#include "weight/weight.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Greatest deviation of the sample positions of a view from those of the first view of its ring,
 * apart from a shift by whole samples, relative to the distance of two samples. */
static const double OFF = 1e-6;

struct rings_step {
    struct fbp_view_step step; /* `scan` describes the resampled views */
    enum fbp_ring_interpolation how;
    size_t n; /* angles per half turn */
    struct fbp_rings rings;
    /* [measured view] sample c of a resampled view is interpolated from samples c + shift of the
     * measured views of its ring; in reversed views, samples are counted from the end */
    ptrdiff_t *shift;
    size_t *first; /* [rings + 1] ring r consists of the resampled views [first[r], first[r + 1]) */
};

/* Get the positions of a view's samples along its direction, reversed if only the opposite
 * direction lies on the ring: distance *tau, first position *start [mm]. */
static void samples_of(const struct fbp_scan *scan, const struct fbp_ring_member *m, double *tau,
                       double *start)
{
    const struct fbp_view *v = &scan->views[m->view];
    const double half = ((double)scan->panel.n_columns - 1) / 2;

    *tau = fbp_norm(v->u);
    *start = (m->reversed ? -1 : 1) * fbp_dot(v->d, v->u) / *tau - half * *tau;
}

/* Angle phi of resampled view i of a ring. */
static double phi_of(const struct rings_step *a, size_t i)
{
    return ((double)i + 0.5) * FBP_PI / (double)a->n - FBP_PI / 2;
}

/* Make the geometry and weights of the resampled views.  w: [n_views of the scan] weights of the
 * measured views; resampling does not change the sum of the weights of a ring. */
static fbp_status make_views(struct rings_step *a, const struct fbp_scan *scan, const double *w)
{
    struct fbp_scan *out = &a->step.scan;
    const size_t n = a->rings.n;

    FBP_TRY(fbp_calloc((void **)&a->first, n + 1, sizeof *a->first, "rings"));
    FBP_TRY(fbp_calloc((void **)&a->shift, a->rings.n_members, sizeof *a->shift, "rings"));
    for (size_t r = 0; r < n; r++) {
        /* the equator needs resampled views over half a turn only, the pole has one direction */
        const struct fbp_ring *ring = &a->rings.ring[r];
        a->first[r + 1] = a->first[r] + (ring->at_pole ? 1 : ring->at_equator ? a->n : 2 * a->n);

        /* Views of a ring must have equal sample positions, up to a shift by whole samples. */
        const struct fbp_ring_member *first = &a->rings.member[ring->first];
        double tau0, start0, tau, start;
        samples_of(scan, first, &tau0, &start0);
        for (size_t i = ring->first; i < ring->first + ring->n; i++) {
            const struct fbp_ring_member *m = &a->rings.member[i];
            samples_of(scan, m, &tau, &start);
            const double shift = (start0 - start) / tau0, whole = round(shift);
            if (!(fabs(tau / tau0 - 1) <= OFF && fabs(shift - whole) <= OFF))
                return FBP_UNSUPPORTED(
                    "angles: a ring (polar angle) needs one sample raster, but view %zu begins at "
                    "%.7g mm, step %.7g mm, and view %zu at %.7g mm, step %.7g mm; omit angles",
                    m->view, start, tau, first->view, start0, tau0);
            if (m->reversed && scan->reference)
                return FBP_UNSUPPORTED(
                    "angles: with a reference spectrum, the field sweep must have the "
                    "same direction in all views of a ring, but view %zu has measured "
                    "the opposite direction; omit angles, or the reference spectrum",
                    m->view);
            a->shift[i] = (ptrdiff_t)whole;
        }
    }
    out->n_views = a->first[n];
    out->quadrature = FBP_QUADRATURE_GIVEN;
    FBP_TRY(fbp_calloc((void **)&out->views, out->n_views, sizeof *out->views, "views"));
    FBP_TRY(fbp_calloc((void **)&out->plane_weights, out->n_views, sizeof *out->plane_weights,
                       "weights"));
    for (size_t r = 0; r < n; r++) {
        const struct fbp_ring *ring = &a->rings.ring[r];
        const size_t n_views = a->first[r + 1] - a->first[r];
        double tau, start, direction[3], sum = 0;
        for (size_t i = ring->first; i < ring->first + ring->n; i++)
            sum += w[a->rings.member[i].view];
        samples_of(scan, &a->rings.member[ring->first], &tau, &start);
        for (size_t i = 0; i < n_views; i++) {
            fbp_ring_direction(&a->rings, ring->at_pole ? 0 : ring->theta, phi_of(a, i), direction);
            fbp_plane_view(direction, tau, start, scan->panel.n_columns,
                           &out->views[a->first[r] + i]);
            out->plane_weights[a->first[r] + i] =
                sum / (ring->at_equator ? 2 : 1) / (double)n_views;
        }
    }
    return FBP_OK;
}

/* ---- The source ---- */

struct resampled {
    struct rings_step *rings;
    pthread_mutex_t lock; /* protects: */
    double *samples;      /* resampled views, [view][row][column]; NULL: not resampled yet */
};

/* Add a row of a measured view to a row of a resampled view: multiplied by `times`, shifted by
 * `shift` samples, and reversed if `reversed` is set. */
static void add_row(const double *in, size_t n, ptrdiff_t shift, bool reversed, double times,
                    double *out)
{
    for (ptrdiff_t c = 0; c < (ptrdiff_t)n; c++) {
        const ptrdiff_t at = c + shift;
        if (at >= 0 && at < (ptrdiff_t)n)
            out[c] += times * in[reversed ? (ptrdiff_t)n - 1 - at : at];
    }
}

/* Compute the resampled views of ring r. views: all measured views; samples: all resampled views;
 * weights, scratch: memory, [number of measured views of the largest ring] */
static void resample_ring(const fbp_source *src, size_t r, const double *views, double *weights,
                          double *scratch, double *samples)
{
    const struct rings_step *a = ((const struct resampled *)src->state)->rings;
    const struct fbp_ring *ring = &a->rings.ring[r];
    const size_t nc = src->info.n[0], nr = src->info.n[1], n = nc * nr;
    const double step = 2 * FBP_PI / (double)ring->n;

    fbp_cyclic_prepare(a->how, ring->n, scratch);
    for (size_t view = a->first[r]; view < a->first[r + 1]; view++) {
        if (!ring->at_pole)
            fbp_cyclic_weights(a->how, ring->n, (phi_of(a, view - a->first[r]) - ring->phi) / step,
                               scratch, weights);
        for (size_t i = 0; ring->at_pole && i < ring->n; i++)
            weights[i] = 1 / (double)ring->n;
        for (size_t i = 0; i < ring->n; i++) {
            const struct fbp_ring_member *m = &a->rings.member[ring->first + i];
            for (size_t row = 0; row < nr; row++)
                add_row(views + m->view * n + row * nc, nc, a->shift[ring->first + i], m->reversed,
                        weights[i], samples + view * n + row * nc);
        }
    }
}

static fbp_status resample(fbp_source *src, double **out)
{
    struct rings_step *a = ((struct resampled *)src->state)->rings;
    const size_t nc = src->info.n[0], nr = src->info.n[1], n = nc * nr;
    const size_t n_below = src->below->info.n[2];
    double *samples = NULL, *views = NULL, *weights = NULL, *scratch = NULL;
    const struct fbp_prep line = {.panel = {.n_columns = nc}}; /* no preparation */
    size_t most = 1;
    fbp_status st;

    for (size_t r = 0; r < a->rings.n; r++)
        most = a->rings.ring[r].n > most ? a->rings.ring[r].n : most;
    FBP_TRY_GOTO(
        fbp_calloc((void **)&samples, src->info.n[2] * n, sizeof *samples, "resampled views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&views, n_below * n, sizeof *views, "views to be resampled"));
    FBP_TRY_GOTO(fbp_calloc((void **)&weights, most, sizeof *weights, "weights of a ring"));
    FBP_TRY_GOTO(fbp_calloc((void **)&scratch, most, sizeof *scratch, "weights of a ring"));
    FBP_TRY_GOTO(fbp_source_read(src->below, 0, n_below, 0, nr, FBP_F64, views));
    a->step.repaired = (struct fbp_prep_counts){0};
    for (size_t row = 0; row < n_below * nr; row++)
        fbp_prep_row_double(&line, views + row * nc, &a->step.repaired);
    for (size_t r = 0; r < a->rings.n; r++) {
        FBP_TRY_GOTO(fbp_check_cancelled());
        resample_ring(src, r, views, weights, scratch, samples);
    }
    *out = samples;
    samples = NULL;
fail:
    free(samples);
    free(views);
    free(weights);
    free(scratch);
    return st;
}

static fbp_status read_resampled(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    struct resampled *s = src->state;
    const size_t nc = src->info.n[0], count = n_rows * nc;

    pthread_mutex_lock(&s->lock);
    const fbp_status st = s->samples ? FBP_OK : resample(src, &s->samples);
    pthread_mutex_unlock(&s->lock);
    FBP_TRY(st);
    for (size_t k = 0; k < n_slices; k++) {
        const double *in = s->samples + ((slice0 + k) * src->info.n[1] + row0) * nc;
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

static fbp_status set_up(fbp_source *src, const void *step, fbp_source *below)
{
    struct rings_step *a = *(struct rings_step *const *)step;
    const struct fbp_array_info *info = &below->info;
    struct resampled *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    s->rings = a;
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_resampled;
    src->read_block = read_resampled;
    fbp_source_like(src, below);
    src->info.n[2] = a->step.scan.n_views;
    src->info.type = FBP_F64; /* for precision double */
    src->held_bytes = fbp_source_bytes(below, 1) + (uint64_t)(info->n[2] + src->info.n[2]) *
                                                       info->n[0] * info->n[1] * sizeof(double);
    return fbp_source_wrap_set_up(src, below);
}

/* ---- The step ---- */

static void destroy(struct fbp_view_step *step)
{
    struct rings_step *a = (struct rings_step *)step;

    fbp_rings_clear(&a->rings);
    free(a->shift);
    free(a->first);
    free(step->scan.views);
    free(step->scan.plane_weights);
    free(a);
}

static void describe(const struct fbp_view_step *step, struct fbp_plan_summary *info)
{
    const struct rings_step *a = (const struct rings_step *)step;
    const size_t used = strlen(info->weights);

    snprintf(info->weights + used, sizeof info->weights - used,
             "; rings and their weights resampled to %zu angles (%s)", a->n,
             fbp_ring_interpolation_name(a->how));
}

static uint64_t hash(const struct fbp_view_step *step, uint64_t h)
{
    const struct rings_step *a = (const struct rings_step *)step;

    return fbp_hash(h, &a->how, sizeof a->how);
}

fbp_status fbp_rings_step_create(struct fbp_view_step **out, struct fbp_view_step_request *request)
{
    const struct fbp_scan *scan = request->scan;
    double(*direction)[3] = NULL, *w = NULL;
    struct fbp_quadrature_facts facts;
    struct rings_step *a = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    if (request->params->epr.angles == 0)
        return FBP_OK;
    if (request->params->input.follow)
        return FBP_UNSUPPORTED("angles: resampling needs all views at once, so it "
                               "excludes --follow; omit one of the two");
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_PLANES)
        return FBP_UNSUPPORTED(
            "angles: only plane integrals (kind planes) have rings of directions, but "
            "this scan is of kind %s; omit angles",
            fbp_kind_of(scan->kind)->name);
    if (fbp_scan_is_intensity(scan))
        return FBP_UNSUPPORTED("angles: intensities cannot be resampled, only "
                               "integrals; omit angles, or remove i0, dark and flat");
    if (scan->filtered)
        return FBP_UNSUPPORTED("angles: the views are already filtered and weighted; omit angles");
    FBP_TRY(fbp_calloc((void **)&a, 1, sizeof *a, "rings"));
    a->step = (struct fbp_view_step){.scan = *scan,
                                     .repaired_once = true,
                                     .set_up = set_up,
                                     .destroy = destroy,
                                     .describe = describe,
                                     .hash = hash};
    a->step.scan.views = NULL;
    a->step.scan.plane_weights = NULL;
    a->how = request->params->epr.ring_interpolation;
    a->n = request->params->epr.angles;
    FBP_TRY_GOTO(fbp_planes_directions(scan->views, scan->n_views, &direction));
    FBP_TRY_GOTO(fbp_rings_of((const double(*)[3])direction, scan->n_views, &a->rings));
    FBP_TRY_GOTO(fbp_calloc((void **)&w, scan->n_views, sizeof *w, "weights"));
    FBP_TRY_GOTO(fbp_quadrature_of((const double(*)[3])direction, scan->n_views, scan->quadrature,
                                   scan->plane_weights, w, &facts));
    FBP_TRY_GOTO(make_views(a, scan, w));
    *out = &a->step;
fail:
    free(direction);
    free(w);
    if (st != FBP_OK)
        destroy(&a->step);
    return scan->path ? fbp_error_context(scan->path, st) : st;
}

size_t fbp_rings_usual_angles(const struct fbp_scan *scan)
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
