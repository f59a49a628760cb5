/* Backprojection of plane integrals (EPR) in two stages: the first stage is a view step
 * (fbp_two_stages_step_create(); a correction that wraps the source of the views, view_step.h),
 * which a plan has if params->epr.stages is 2; the plan's run is the second stage.
 *
 * Stage one filters the views and adds the views of each meridian plane (a plane through the axis)
 * to one sinogram image (s, z) per plane (backend/backend.h).  With s across the axis, z along the
 * axis, and f the angle of the plane, stage two is
 *
 *     volume(x) = sum over planes  image(x . across(f), x . axis),
 *
 * the backprojection of parallel views that are weighted and filtered already.  All views are read
 * and filtered before the first image; rows of images are computed when they are read.
 * Used by: plan.c. */
#include "pipeline/view_step.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/math.h"
#include "base/system.h"
#include "base/threads.h"
#include "geometry/directions.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "geometry/view.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default number of columns of a sinogram image per voxel (docs/epr.md). */
enum { USUAL_FINE = 2 };

struct two_stages {
    /* view step (view_step.h); step.scan describes the sinogram images as parallel views */
    struct fbp_view_step step;
    /* Tables of the job of stage one; its kernel belongs to `backend`. */
    struct fbp_job_tables first;
    const struct fbp_backend *backend;
    struct fbp_meridian_planes planes;
    struct fbp_meridian_images images;
    size_t *order; /* [n_views] views sorted by planes */
    /* The members below are device and memory of stage one, which are kept from run to run. */
    fbp_device *dev;
    void *raw, *filtered, *sorted; /* all views as read; filtered; filtered and sorted */
    /* numbers of samples that earlier runs repaired, which the device's counts include */
    struct fbp_prep_counts before;
};

/* ---- Geometry of the images ---- */

/* Sort the views by their meridian planes (planes through the axis). */
static fbp_status sort_views(struct two_stages *s, size_t n_views)
{
    struct fbp_meridian_images *m = &s->images;
    size_t *next = NULL;

    m->n_planes = s->planes.n;
    m->n_views = n_views;
    FBP_TRY(fbp_calloc((void **)&m->first, m->n_planes + 1, sizeof *m->first, "pictures"));
    FBP_TRY(fbp_calloc((void **)&m->at, n_views, sizeof *m->at, "pictures"));
    FBP_TRY(fbp_calloc((void **)&s->order, n_views, sizeof *s->order, "pictures"));
    FBP_TRY(fbp_calloc((void **)&next, m->n_planes, sizeof *next, "pictures"));
    for (size_t k = 0; k < n_views; k++)
        m->first[s->planes.plane[k] + 1]++;
    for (size_t p = 0; p < m->n_planes; p++) {
        m->first[p + 1] += m->first[p];
        next[p] = m->first[p];
    }
    for (size_t k = 0; k < n_views; k++)
        s->order[next[s->planes.plane[k]]++] = k;
    free(next);
    return FBP_OK;
}

/* Choose the size of the sinogram images, which cover the whole grid, describe them as parallel
 * views of the grid, and compute the positions of image pixels in the rows of the measured views.
 * fine: columns per voxel.  If the rotation axis is an axis of the grid, image rows are slices of
 * the grid, and nothing is interpolated along the axis.  If the grid is also centred on the axis,
 * columns of a plane along x or y lie in voxel centres. */
static fbp_status make_scan(struct two_stages *s, const struct fbp_scan *scan,
                            const struct fbp_grid *g, size_t fine)
{
    struct fbp_meridian_images *m = &s->images;
    const double *v = g->voxel_mm, least = fmin(v[0], fmin(v[1], v[2]));
    const int pole = s->planes.pole, a = (pole + 1) % 3, b = (pole + 2) % 3;
    double lo = INFINITY, hi = -INFINITY, radius = 0, x[3];
    struct fbp_scan *out = &s->step.scan;

    for (int i = 0; i < 8; i++) {
        fbp_grid_corner(g, i, x);
        const double height = fbp_dot(x, s->planes.axis);
        lo = fmin(lo, height);
        hi = fmax(hi, height);
        radius =
            fmax(radius, hypot(fbp_dot(x, s->planes.across[0]), fbp_dot(x, s->planes.across[1])));
    }
    /* distances of columns (width) and rows (along), position of the middle row [mm] */
    const double width = (pole >= 0 ? fmin(v[a], v[b]) : least) / (double)fine;
    const double along = pole >= 0 ? v[pole] : least / (double)fine;
    const double middle = pole >= 0 ? g->centre_mm[pole] : (lo + hi) / 2;
    const bool even = fine == 1 && pole >= 0 && g->n[a] % 2 == 0;
    const size_t half = (size_t)ceil(radius / width - (even ? 0.5 : 0)) + 1;
    m->n_columns = 2 * half + (even ? 2 : 1);
    m->n_rows = pole >= 0 ? g->n[pole] : (size_t)ceil((hi - lo) / along) + 3;
    const double c0 = -((double)m->n_columns - 1) / 2 * width;
    const double r0 = middle - ((double)m->n_rows - 1) / 2 * along;

    *out = (struct fbp_scan){.struct_size = sizeof *out,
                             .kind = FBP_PARALLEL,
                             .n_views = s->planes.n,
                             .panel = {m->n_columns, m->n_rows},
                             .row_order = FBP_ROWS_BOTTOM_UP,
                             .path = scan->path,
                             .filtered = true,
                             .volume = *g};
    FBP_TRY(fbp_calloc((void **)&out->views, m->n_planes, sizeof *out->views, "views"));
    for (size_t p = 0; p < m->n_planes; p++) {
        struct fbp_view *view = &out->views[p];
        const double angle = s->planes.angle[p];
        double across[3]; /* unit vector in the plane, perpendicular to the axis */
        for (int i = 0; i < 3; i++)
            across[i] = cos(angle) * s->planes.across[0][i] + sin(angle) * s->planes.across[1][i];

        fbp_cross(across, s->planes.axis, view->s); /* u, v, s are right-handed */
        for (int i = 0; i < 3; i++) {
            view->u[i] = width * across[i];
            view->v[i] = along * s->planes.axis[i];
            view->d[i] = middle * s->planes.axis[i];
        }
        for (size_t i = m->first[p]; i < m->first[p + 1]; i++) {
            const double *row = s->first.job.matrices[s->order[i]];
            const double c = fbp_dot(row, across), r = fbp_dot(row, s->planes.axis);
            m->at[i][0] = row[3] + c0 * c + r0 * r;
            m->at[i][1] = width * c;
            m->at[i][2] = along * r;
        }
    }
    return FBP_OK;
}

/* ---- Device of stage one ---- */

/* All views as one batch. */
static struct fbp_batch all_views(const struct fbp_job *job)
{
    return (struct fbp_batch){
        .n_views = job->n_views, .n_rows = job->panel.n_rows, .load_rows = job->panel.n_rows};
}

static size_t raw_bytes(const struct two_stages *s)
{
    const struct fbp_batch all = all_views(&s->first.job);

    return fbp_raw_device_bytes(&s->first.job, fbp_raw_samples(&s->first.job, &all));
}

static size_t filtered_bytes(const struct two_stages *s)
{
    const struct fbp_job *job = &s->first.job;

    return s->backend->filtered_bytes(job, job->n_views, job->panel.n_rows);
}

static void close_device(struct two_stages *s)
{
    if (s->dev)
        s->backend->close(&s->dev);
    fbp_free(s->raw);
    fbp_free(s->filtered);
    fbp_free(s->sorted);
    s->raw = s->filtered = s->sorted = NULL;
}

static fbp_status open_device(struct fbp_view_step *step)
{
    struct two_stages *s = (struct two_stages *)step;
    fbp_status st = FBP_OK;

    if (s->dev)
        return FBP_OK;
    FBP_TRY_GOTO(s->backend->open(&s->dev, 0, &s->first.job));
    FBP_TRY_GOTO(fbp_alloc(&s->raw, raw_bytes(s), "all views"));
    FBP_TRY_GOTO(fbp_alloc(&s->filtered, filtered_bytes(s), "filtered views"));
    FBP_TRY_GOTO(fbp_alloc(&s->sorted, filtered_bytes(s), "filtered views by planes"));
    s->before = (struct fbp_prep_counts){0};
    return FBP_OK;
fail:
    close_device(s);
    return st;
}

/* Filter all views from s->raw, and copy them to s->sorted, sorted by their meridian planes. */
static fbp_status filter_views(struct two_stages *s)
{
    const struct fbp_batch all = all_views(&s->first.job);
    const size_t n = s->first.job.n_views, bytes = filtered_bytes(s) / n;

    FBP_TRY(s->backend->filter(s->dev, &all, s->raw, s->filtered));
    FBP_TRY(fbp_device_settle(s->backend, s->dev, FBP_STAGE_FILTER));
    for (size_t k = 0; k < n; k++)
        memcpy((char *)s->sorted + k * bytes, (char *)s->filtered + s->order[k] * bytes, bytes);
    return FBP_OK;
}

/* Compute rows of the sinogram image of a meridian plane. Row numbers run through all channels
 * (time points): the rows of the first channel are followed by those of the second one. */
static fbp_status draw(const struct two_stages *s, size_t plane, size_t row0, size_t n_rows,
                       void *out)
{
    const struct fbp_meridian_images *m = &s->images;
    const size_t row = m->n_columns * fbp_value_size(&s->first.job);
    char *to = out;

    for (size_t r = row0, n; r < row0 + n_rows; r += n, to += n * row) {
        const size_t at = r % m->n_rows, left = row0 + n_rows - r;
        n = m->n_rows - at < left ? m->n_rows - at : left;
        FBP_TRY(s->backend->meridian(
            s->dev, s->sorted,
            &(struct fbp_image_rows){
                .plane = plane, .channel = r / m->n_rows, .row0 = at, .n_rows = n},
            to));
    }
    return FBP_OK;
}

/* ---- The source ---- */

struct drawn {
    struct two_stages *stages;
    pthread_mutex_t lock; /* protects: */
    bool filled;
};

/* Read and filter all views. */
static fbp_status fill(const fbp_source *src)
{
    struct two_stages *s = ((const struct drawn *)src->state)->stages;
    const struct fbp_job *job = &s->first.job;
    const struct fbp_batch all = all_views(job);

    FBP_TRY(fbp_source_read(src->below, 0, job->n_views, 0, job->panel.n_rows, fbp_value_type(job),
                            s->raw));
    for (size_t k = 0; s->step.check && k < job->n_views; k++)
        fbp_data_check_view(s->step.check, &all, k, s->raw);
    FBP_TRY(s->backend->repair.counts(s->dev, &s->before));
    return filter_views(s);
}

static fbp_status read_images(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    struct drawn *d = src->state;
    const size_t image = n_rows * src->info.n[0] * fbp_type_size(src->info.type);

    if (as_float && src->info.type != FBP_F32)
        return FBP_UNSUPPORTED(
            "stages: the sinogram images between the two stages are in double "
            "precision, but float32 values were requested; omit precision double");
    pthread_mutex_lock(&d->lock);
    const fbp_status st = d->filled ? FBP_OK : fill(src);
    d->filled = st == FBP_OK;
    pthread_mutex_unlock(&d->lock);
    FBP_TRY(st);
    for (size_t k = 0; k < n_slices; k++) {
        FBP_TRY(fbp_check_cancelled());
        FBP_TRY(draw(d->stages, slice0 + k, row0, n_rows, (char *)out + k * image));
    }
    return FBP_OK;
}

static void close_drawn(fbp_source *src)
{
    struct drawn *d = src->state;

    pthread_mutex_destroy(&d->lock);
    free(d);
}

static fbp_status set_up(fbp_source *src, const void *step, fbp_source *below)
{
    struct two_stages *s = *(struct two_stages *const *)step;
    const struct fbp_job *first = &s->first.job;
    struct drawn *d;

    src->info = (struct fbp_array_info){
        .struct_size = sizeof src->info,
        .n = {s->images.n_columns, fbp_channels(first) * s->images.n_rows, s->images.n_planes},
        .type = fbp_value_type(first),
        .row_order = FBP_ROWS_BOTTOM_UP};
    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "a source"));
    d->stages = s;
    pthread_mutex_init(&d->lock, NULL);
    src->state = d;
    src->close = close_drawn;
    src->read_block = read_images;
    src->unpacks = true;
    src->held_bytes = fbp_source_bytes(below, 1) + (uint64_t)raw_bytes(s) +
                      2 * (uint64_t)filtered_bytes(s) + s->backend->fixed_bytes(first);
    return fbp_source_wrap_set_up(src, below);
}

/* ---- The step ---- */

static void destroy(struct fbp_view_step *step)
{
    struct two_stages *s = (struct two_stages *)step;

    close_device(s);
    fbp_job_clear(&s->first);
    fbp_meridians_clear(&s->planes);
    free(s->images.first);
    free(s->images.at);
    free(s->order);
    free(step->scan.views);
    free(s);
}

/* Number of updates (image pixels x views of the plane) in stage one, in all channels. */
static uint64_t updates(const struct two_stages *s)
{
    return (uint64_t)s->images.n_views * s->images.n_columns * s->images.n_rows *
           fbp_channels(&s->first.job);
}

static void describe(const struct fbp_view_step *step, struct fbp_plan_summary *info)
{
    static const char *const names[] = {"x", "y", "z"};
    const struct two_stages *s = (const struct two_stages *)step;
    const double *a = s->planes.axis;
    const size_t used = strlen(info->weights);
    char axis[80];

    if (s->planes.pole >= 0)
        snprintf(axis, sizeof axis, "%s", names[s->planes.pole]);
    else
        snprintf(axis, sizeof axis, "(%.4g, %.4g, %.4g)", a[0], a[1], a[2]);
    snprintf(info->weights + used, sizeof info->weights - used,
             "; two stages: %zu planes through %s", s->planes.n, axis);
    info->n_pictures = s->images.n_planes * fbp_channels(&s->first.job);
    info->picture[0] = s->images.n_columns;
    info->picture[1] = s->images.n_rows;
    info->picture_updates = updates(s);
}

static uint64_t hash(const struct fbp_view_step *step, uint64_t h)
{
    const struct two_stages *s = (const struct two_stages *)step;
    const uint64_t first = fbp_job_fingerprint(&s->first, s->backend);

    return fbp_hash(h, &first, sizeof first);
}

/* Predict the time of stage one [s], from the measured times of filtering all views (of zeros) and
 * of computing some rows of a sinogram image. */
static fbp_status estimate(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds)
{
    struct two_stages *s = (struct two_stages *)(uintptr_t)step;
    const struct fbp_meridian_images *m = &s->images;
    const size_t n = m->n_rows < 16 ? m->n_rows : 16, views = m->first[1];
    const bool was_open = s->dev != NULL;
    void *rows = NULL;
    fbp_status st;

    (void)reads;
    *seconds = 0;
    FBP_TRY_GOTO(open_device(&s->step));
    FBP_TRY_GOTO(
        fbp_alloc(&rows, n * m->n_columns * fbp_value_size(&s->first.job), "a sample of the work"));
    const double start = fbp_seconds();
    memset(s->raw, 0, raw_bytes(s));
    FBP_TRY_GOTO(filter_views(s));
    const double filter = fbp_seconds() - start;
    FBP_TRY_GOTO(draw(s, 0, 0, n, rows));
    const double drawing = fbp_seconds() - start - filter;
    *seconds = filter + drawing / (double)(views * n * m->n_columns) * (double)updates(s) /
                            (double)s->first.job.n_threads;
fail:
    fbp_free(rows);
    if (!was_open)
        close_device(s);
    return st;
}

static fbp_status make_job(const struct fbp_view_step *step, const struct fbp_recon_params *params,
                           struct fbp_job_tables *out)
{
    const struct two_stages *s = (const struct two_stages *)step;
    struct fbp_recon_params second = *params;

    second.volume = (struct fbp_grid){0}; /* use the volume of the scan of sinogram images */
    second.epr.interpolation = FBP_INTERPOLATION_LINEAR;
    second.epr.periodic = false;
    second.output.unit = FBP_UNIT_MM; /* the first stage has applied the unit */
    FBP_TRY(fbp_job_create(out, &step->scan, &second, false));
    out->job.scale = s->first.job.scale;
    out->job.epr.second_stage = true;
    out->job.time_points = fbp_channels(&s->first.job);
    out->job.epr.rows_are_slices = s->planes.pole == 2;
    return FBP_OK;
}

static fbp_status count(struct fbp_view_step *step)
{
    struct two_stages *s = (struct two_stages *)step;

    if (!s->dev)
        return FBP_OK;
    FBP_TRY(s->backend->repair.counts(s->dev, &step->repaired));
    step->repaired.not_finite -= s->before.not_finite;
    step->repaired.clipped -= s->before.clipped;
    return FBP_OK;
}

/* Find the meridian planes in which the directions of the views lie. Fails if there are none; if
 * the directions form rings of equal steps, the message suggests to resample the rings. */
static fbp_status find_planes(struct two_stages *s, const struct fbp_scan *scan)
{
    double(*direction)[3] = NULL;
    char line[300];

    FBP_TRY(fbp_planes_directions(scan->views, scan->n_views, &direction));
    fbp_status st = fbp_meridians_of((const double(*)[3])direction, scan->n_views, &s->planes);
    free(direction);
    if (st == FBP_ERR_UNSUPPORTED) {
        snprintf(line, sizeof line, "%s", fbp_message());
        const size_t n = fbp_rings_usual_angles(scan);
        st = n == 0
                 ? fbp_fail(st, "%s; use one stage", line)
                 : fbp_fail(st, "%s; use one stage, or resample the rings (--angles %zu)", line, n);
    }
    return scan->path ? fbp_error_context(scan->path, st) : st;
}

fbp_status fbp_two_stages_step_create(struct fbp_view_step **out,
                                      struct fbp_view_step_request *request)
{
    const struct fbp_scan *scan = request->scan;
    struct fbp_recon_params p = *request->params;
    const size_t fine = p.epr.image_oversampling ? p.epr.image_oversampling : USUAL_FINE;
    struct two_stages *s = NULL;

    struct fbp_grid grid;
    fbp_status st;

    *out = NULL;
    if (request->params->epr.stages < 2)
        return FBP_OK;
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_PLANES)
        return FBP_UNSUPPORTED(
            "stages: two stages need plane integrals (kind planes), but this scan is "
            "of kind %s; omit stages",
            fbp_kind_of(scan->kind)->name);
    if (scan->filtered)
        return FBP_UNSUPPORTED("stages: two stages need unfiltered views, but these "
                               "views are already filtered; omit stages");
    if (request->params->input.follow)
        return FBP_UNSUPPORTED("stages: two stages of the backprojection need all "
                               "views at once, which excludes --follow; "
                               "omit --stages or --follow");
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "stage one"));
    s->step = (struct fbp_view_step){.measured = &s->first,
                                     .repaired_once = true,
                                     .set_up = set_up,
                                     .destroy = destroy,
                                     .describe = describe,
                                     .hash = hash,
                                     .estimate = estimate,
                                     .make_job = make_job,
                                     .open = open_device,
                                     .checks = true,
                                     .count = count};
    s->backend = request->backend->can.meridian_images ? request->backend : fbp_backend_find("cpu");
    FBP_TRY_GOTO(fbp_grid_resolve(&p.volume, scan, &grid));
    FBP_TRY_GOTO(fbp_check_grid(&grid));
    FBP_TRY_GOTO(find_planes(s, scan));
    FBP_TRY_GOTO(sort_views(s, scan->n_views));
    /* Stage one covers the whole volume: box, region and kernel apply to stage two. */
    p.volume = grid;
    p.tuning.kernel = p.region.shape = NULL;
    p.region.mask = NULL;
    memset(p.box, 0, sizeof p.box);
    FBP_TRY_GOTO(fbp_job_create(&s->first, scan, &p, request->top_down));
    s->first.job.epr.images = &s->images;
    s->first.job.input.type = fbp_value_type(&s->first.job);
    FBP_TRY_GOTO(fbp_job_arrange(&s->first.job, s->backend));
    FBP_TRY_GOTO(make_scan(s, scan, &grid, fine));
    *out = &s->step;
    return FBP_OK;
fail:
    destroy(&s->step);
    return st;
}
