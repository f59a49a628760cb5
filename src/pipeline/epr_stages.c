#include "array/array.h"
#include "array/onto.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/view_sources.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Columns of a picture a voxel, unless asked for otherwise: see docs/epr.md. */
enum { USUAL_FINE = 2 };

static fbp_status check_asked(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    const struct fbp_kind_table *kind = fbp_kind_of(scan->kind);

    if (kind->integral != FBP_OVER_PLANES)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "stages: two stages are for plane integrals (kind planes), this scan is of "
                        "kind %s: leave it out",
                        kind->name);
    if (scan->filtered)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "stages: the views are filtered already, but two "
                                             "stages filter them: leave it out");
    if (p->follow)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "stages: two stages need all views at once, and do not follow a scan: "
                        "leave one of the two out");
    return FBP_OK;
}

/* What helps where there are no planes: even rings can be resampled. */
static fbp_status advise(const struct fbp_scan *scan, fbp_status st)
{
    char line[300];

    if (st != FBP_ERR_UNSUPPORTED)
        return st;
    snprintf(line, sizeof line, "%s", fbp_message());
    const size_t n = fbp_angles_usual(scan);
    if (n == 0)
        return fbp_fail(st, "%s: use one stage", line);
    return fbp_fail(st, "%s: use one stage, or resample their rings (--angles %zu)", line, n);
}

static fbp_status find_planes(struct fbp_stages *s, const struct fbp_scan *scan)
{
    double(*direction)[3] = NULL;

    FBP_TRY(fbp_planes_directions(scan->views, scan->n_views, &direction));
    const fbp_status st =
        fbp_meridians_of((const double(*)[3])direction, scan->n_views, &s->planes);
    free(direction);
    return scan->path ? fbp_because(scan->path, advise(scan, st)) : advise(scan, st);
}

/* The first view of each plane, and which they are. */
static fbp_status sort_views(struct fbp_stages *s, size_t n_views)
{
    struct fbp_meridian_pictures *m = &s->pictures;
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

/* How pictures lie: middle of the rows along the axis, distances of columns and rows. */
struct layout {
    double middle, across, along;
};

/* The grid's corner i in the axes of the planes. */
static void corner_of(const struct fbp_stages *s, const struct fbp_grid *g, int i, double *along,
                      double *far)
{
    double x[3];

    for (int a = 0; a < 3; a++)
        x[a] = fbp_grid_coordinate(g, a, i >> a & 1 ? (double)g->n[a] - 1 : 0);
    *along = fbp_dot(x, s->planes.axis);
    *far = hypot(fbp_dot(x, s->planes.across[0]), fbp_dot(x, s->planes.across[1]));
}

/* Over the whole grid.  Where rows are slices of it, nothing is interpolated along the axis; and
 * columns are such that a plane along x or y of a grid about the axis has them in its voxels. */
static void lay_out(struct fbp_stages *s, const struct fbp_grid *g, size_t fine, struct layout *l)
{
    const double *v = g->voxel_mm, least = fmin(v[0], fmin(v[1], v[2]));
    const int pole = s->planes.pole, a = (pole + 1) % 3, b = (pole + 2) % 3;
    double lo = INFINITY, hi = -INFINITY, radius = 0;

    for (int i = 0; i < 8; i++) {
        double along, far;
        corner_of(s, g, i, &along, &far);
        lo = fmin(lo, along);
        hi = fmax(hi, along);
        radius = fmax(radius, far);
    }
    l->across = (pole >= 0 ? fmin(v[a], v[b]) : least) / (double)fine;
    l->along = pole >= 0 ? v[pole] : least / (double)fine;
    l->middle = pole >= 0 ? g->centre_mm[pole] : (lo + hi) / 2;
    const bool even = fine == 1 && pole >= 0 && g->n[a] % 2 == 0;
    const size_t half = (size_t)ceil(radius / l->across - (even ? 0.5 : 0)) + 1;
    s->pictures.n_columns = 2 * half + (even ? 2 : 1);
    s->pictures.n_rows = pole >= 0 ? g->n[pole] : (size_t)ceil((hi - lo) / l->along) + 3;
}

/* A unit vector across the axis, at the angle of a plane. */
static void across_of(const struct fbp_stages *s, size_t plane, double out[3])
{
    const double angle = s->planes.angle[plane];

    for (int i = 0; i < 3; i++)
        out[i] = cos(angle) * s->planes.across[0][i] + sin(angle) * s->planes.across[1][i];
}

/* Where pixels of the pictures lie in the views, from whose matrices u follows. */
static void place_views(struct fbp_stages *s, const struct layout *l)
{
    const struct fbp_meridian_pictures *m = &s->pictures;
    const double c0 = -((double)m->n_columns - 1) / 2 * l->across;
    const double r0 = l->middle - ((double)m->n_rows - 1) / 2 * l->along;

    for (size_t p = 0; p < m->n_planes; p++) {
        double across[3];
        across_of(s, p, across);
        for (size_t i = m->first[p]; i < m->first[p + 1]; i++) {
            const double *row = s->first.job.matrices[s->order[i]];
            const double c = fbp_dot(row, across), r = fbp_dot(row, s->planes.axis);
            m->at[i][0] = row[3] + c0 * c + r0 * r;
            m->at[i][1] = l->across * c;
            m->at[i][2] = l->along * r;
        }
    }
}

/* Pictures as parallel views; s looks at them from the front, as u and v are right-handed. */
static fbp_status make_scan(struct fbp_stages *s, const struct fbp_scan *scan,
                            const struct fbp_grid *grid, const struct layout *l)
{
    s->scan = (struct fbp_scan){.struct_size = sizeof s->scan,
                                .kind = FBP_PARALLEL,
                                .n_views = s->planes.n,
                                .panel = {s->pictures.n_columns, s->pictures.n_rows},
                                .row_order = FBP_ROWS_BOTTOM_UP,
                                .path = scan->path,
                                .filtered = true,
                                .volume = *grid};
    FBP_TRY(fbp_calloc((void **)&s->scan.views, s->planes.n, sizeof *s->scan.views, "views"));
    for (size_t p = 0; p < s->planes.n; p++) {
        struct fbp_view *view = &s->scan.views[p];
        double across[3];
        across_of(s, p, across);
        fbp_cross(across, s->planes.axis, view->s);
        for (int i = 0; i < 3; i++) {
            view->u[i] = l->across * across[i];
            view->v[i] = l->along * s->planes.axis[i];
            view->d[i] = l->middle * s->planes.axis[i];
        }
    }
    return FBP_OK;
}

/* All that stage one has to do with the volume is in the pictures. */
static fbp_status make_first(struct fbp_stages *s, const struct fbp_scan *scan,
                             const struct fbp_recon_params *given, const struct fbp_grid *grid,
                             bool top_down)
{
    struct fbp_recon_params p = *given;

    p.volume = *grid;
    p.kernel = p.region = NULL;
    p.region_mask = NULL;
    memset(p.roi, 0, sizeof p.roi);
    FBP_TRY(fbp_job_create(&s->first, scan, &p, top_down));
    s->first.job.pictures = &s->pictures;
    s->first.job.raw = fbp_in_double(&s->first.job) ? FBP_F64 : FBP_F32;
    return fbp_job_arrange(&s->first.job, s->backend);
}

static fbp_status create(struct fbp_stages *s, const struct fbp_scan *scan,
                         const struct fbp_recon_params *p, bool top_down)
{
    struct fbp_grid grid;
    struct layout layout;

    FBP_TRY(check_asked(scan, p));
    FBP_TRY(fbp_grid_resolve(&p->volume, scan, &grid));
    FBP_TRY(fbp_check_grid(&grid));
    FBP_TRY(find_planes(s, scan));
    FBP_TRY(sort_views(s, scan->n_views));
    FBP_TRY(make_first(s, scan, p, &grid, top_down));
    lay_out(s, &grid, p->picture_oversampling ? p->picture_oversampling : USUAL_FINE, &layout);
    place_views(s, &layout);
    return make_scan(s, scan, &grid, &layout);
}

fbp_status fbp_stages_create(struct fbp_stages *out, const struct fbp_scan *scan,
                             const struct fbp_recon_params *params,
                             const struct fbp_backend *wanted, bool top_down)
{
    *out =
        (struct fbp_stages){.backend = wanted->draws_meridians ? wanted : fbp_backend_find("cpu")};
    const fbp_status st = create(out, scan, params, top_down);
    out->used = st == FBP_OK;
    if (st != FBP_OK)
        fbp_stages_clear(out);
    return st;
}

void fbp_stages_clear(struct fbp_stages *s)
{
    fbp_job_clear(&s->first);
    fbp_meridians_clear(&s->planes);
    free(s->pictures.first);
    free(s->pictures.at);
    free(s->order);
    free(s->scan.views);
    *s = (struct fbp_stages){0};
}

uint64_t fbp_stages_updates(const struct fbp_stages *s)
{
    const struct fbp_meridian_pictures *m = &s->pictures;

    return (uint64_t)m->n_views * m->n_columns * m->n_rows * fbp_frames(&s->first.job);
}

void fbp_stages_describe(const struct fbp_stages *s, char *buf, size_t n)
{
    static const char *const names[] = {"x", "y", "z"};
    const double *a = s->planes.axis;
    char axis[80];

    if (s->planes.pole >= 0)
        snprintf(axis, sizeof axis, "%s", names[s->planes.pole]);
    else
        snprintf(axis, sizeof axis, "(%.4g, %.4g, %.4g)", a[0], a[1], a[2]);
    snprintf(buf, n, "; two stages: %zu planes through %s", s->planes.n, axis);
}

struct fbp_pictures {
    const struct fbp_stages *stages;
    fbp_device *dev;
    void *raw, *filtered, *sorted; /* all views; the last by planes */
    struct fbp_prep_counts before; /* mended in earlier runs: the device adds them up */
    fbp_look *look;
};

/* All views as one batch. */
static struct fbp_batch all_views(const struct fbp_job *job)
{
    return (struct fbp_batch){
        .n_views = job->n_views, .n_rows = job->panel.n_rows, .load_rows = job->panel.n_rows};
}

static size_t raw_bytes(const struct fbp_stages *s)
{
    const struct fbp_batch all = all_views(&s->first.job);

    return fbp_raw_device_bytes(&s->first.job, fbp_raw_samples(&s->first.job, &all));
}

static size_t filtered_bytes(const struct fbp_stages *s)
{
    const struct fbp_job *job = &s->first.job;

    return s->backend->filtered_bytes(job, job->n_views, job->panel.n_rows);
}

uint64_t fbp_pictures_bytes(const struct fbp_stages *s)
{
    return (uint64_t)raw_bytes(s) + 2 * (uint64_t)filtered_bytes(s) +
           s->backend->fixed_bytes(&s->first.job);
}

static fbp_status open_parts(fbp_pictures *p)
{
    const struct fbp_stages *s = p->stages;

    FBP_TRY(s->backend->open(&p->dev, 0, &s->first.job));
    FBP_TRY(fbp_alloc(&p->raw, raw_bytes(s), "all views"));
    FBP_TRY(fbp_alloc(&p->filtered, filtered_bytes(s), "filtered views"));
    return fbp_alloc(&p->sorted, filtered_bytes(s), "filtered views by planes");
}

fbp_status fbp_pictures_open(fbp_pictures **out, const struct fbp_stages *stages)
{
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)out, 1, sizeof **out, "stage one"));
    (*out)->stages = stages;
    const fbp_status st = open_parts(*out);
    if (st != FBP_OK)
        fbp_pictures_close(out);
    return st;
}

void fbp_pictures_close(fbp_pictures **pictures)
{
    fbp_pictures *p = *pictures;

    if (!p)
        return;
    if (p->dev)
        p->stages->backend->close(&p->dev);
    fbp_free(p->raw);
    fbp_free(p->filtered);
    fbp_free(p->sorted);
    free(p);
    *pictures = NULL;
}

/* A source of pictures, which waits for the first who reads. */
struct drawn {
    fbp_pictures *pictures;
    const struct fbp_stages *stages;
    pthread_mutex_t lock; /* of: */
    bool filled;
};

static fbp_status filter_all(fbp_pictures *p, fbp_source *below)
{
    const struct fbp_backend *b = p->stages->backend;
    const struct fbp_job *job = &p->stages->first.job;
    const struct fbp_batch all = all_views(job);

    if (fbp_in_double(job))
        FBP_TRY(fbp_source_read_double(below, 0, job->n_views, 0, job->panel.n_rows, p->raw));
    else
        FBP_TRY(fbp_source_read(below, 0, job->n_views, 0, job->panel.n_rows, p->raw));
    for (size_t k = 0; p->look && k < job->n_views; k++)
        fbp_look_at(p->look, &all, k, p->raw, false);
    FBP_TRY(b->counts(p->dev, &p->before));
    FBP_TRY(b->filter(p->dev, &all, p->raw, p->filtered));
    return fbp_device_settle(b, p->dev, FBP_STAGE_FILTER);
}

/* Views of a plane lie side by side in what pictures are drawn from. */
static void sort(fbp_pictures *p)
{
    const size_t n = p->stages->first.job.n_views, bytes = filtered_bytes(p->stages) / n;

    for (size_t k = 0; k < n; k++)
        memcpy((char *)p->sorted + k * bytes, (char *)p->filtered + p->stages->order[k] * bytes,
               bytes);
}

static fbp_status fill(fbp_source *src, struct drawn *d)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&d->lock);
    if (!d->filled) {
        st = filter_all(d->pictures, src->below);
        if (st == FBP_OK)
            sort(d->pictures);
        d->filled = st == FBP_OK;
    }
    pthread_mutex_unlock(&d->lock);
    return st;
}

/* Rows of a picture of all frames, one behind the other. */
static fbp_status draw(const fbp_pictures *p, size_t plane, size_t row0, size_t n_rows, void *out)
{
    const struct fbp_meridian_pictures *m = &p->stages->pictures;
    const size_t row = m->n_columns * fbp_value_size(&p->stages->first.job);
    char *to = out;

    for (size_t r = row0, n; r < row0 + n_rows; r += n, to += n * row) {
        const size_t at = r % m->n_rows, left = row0 + n_rows - r;
        n = m->n_rows - at < left ? m->n_rows - at : left;
        FBP_TRY(p->stages->backend->meridian(
            p->dev, p->sorted,
            &(struct fbp_picture){.plane = plane, .frame = r / m->n_rows, .row0 = at, .n_rows = n},
            to));
    }
    return FBP_OK;
}

/* Pictures of doubles are read as such. */
static fbp_status read_pictures(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                size_t n_rows, bool as_float, void *out)
{
    struct drawn *d = src->state;
    const size_t picture = n_rows * src->info.n[0] * fbp_type_size(src->info.type);

    if (as_float && src->info.type != FBP_F32)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "stages: pictures in double are not read as floats");
    FBP_TRY(fill(src, d));
    for (size_t k = 0; k < n_slices; k++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(draw(d->pictures, slice0 + k, row0, n_rows, (char *)out + k * picture));
    }
    return FBP_OK;
}

static void close_drawn(fbp_source *src)
{
    struct drawn *d = src->state;

    pthread_mutex_destroy(&d->lock);
    free(d);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    const struct fbp_stages *stages = ((const struct drawn *)what)->stages;
    const struct fbp_meridian_pictures *m = &stages->pictures;
    const struct fbp_job *first = &stages->first.job;
    struct drawn *d;

    src->info =
        (struct fbp_array_info){.struct_size = sizeof src->info,
                                .n = {m->n_columns, fbp_frames(first) * m->n_rows, m->n_planes},
                                .type = fbp_in_double(first) ? FBP_F64 : FBP_F32,
                                .row_order = FBP_ROWS_BOTTOM_UP};
    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "a source"));
    *d = *(const struct drawn *)what;
    pthread_mutex_init(&d->lock, NULL);
    src->state = d;
    src->close = close_drawn;
    src->read_block = read_pictures;
    src->unpacks = true;
    src->held_bytes = fbp_source_bytes(below, 1) + fbp_pictures_bytes(stages);
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_pictures(fbp_source **out, fbp_pictures *pictures,
                               const struct fbp_stages *stages, fbp_source *below, bool owned)
{
    const struct drawn what = {.pictures = pictures, .stages = stages};

    return fbp_source_over(out, set_up, &what, below, owned);
}

void fbp_pictures_look(fbp_pictures *pictures, fbp_look *look)
{
    pictures->look = look;
}

fbp_status fbp_pictures_counts(const fbp_pictures *p, struct fbp_prep_counts *out)
{
    FBP_TRY(p->stages->backend->counts(p->dev, out));
    out->not_finite -= p->before.not_finite;
    out->clipped -= p->before.clipped;
    return FBP_OK;
}

/* The views filtered, and some rows of one picture; in the seconds of one thread. */
static fbp_status time_sample(fbp_pictures *p, size_t n_rows, void *rows, double *filter,
                              double *drawing)
{
    const struct fbp_batch all = all_views(&p->stages->first.job);
    const double start = fbp_seconds();

    memset(p->raw, 0, raw_bytes(p->stages));
    FBP_TRY(p->stages->backend->filter(p->dev, &all, p->raw, p->filtered));
    sort(p);
    *filter = fbp_seconds() - start;
    FBP_TRY(draw(p, 0, 0, n_rows, rows));
    *drawing = fbp_seconds() - start - *filter;
    return FBP_OK;
}

fbp_status fbp_pictures_estimate(const struct fbp_stages *stages, double *seconds)
{
    const struct fbp_meridian_pictures *m = &stages->pictures;
    const size_t n = m->n_rows < 16 ? m->n_rows : 16, views = m->first[1];
    double filter = 0, drawing = 0;
    fbp_pictures *p = NULL;
    void *rows = NULL;
    fbp_status st;

    *seconds = 0;
    FBP_TRY_GOTO(fbp_pictures_open(&p, stages));
    FBP_TRY_GOTO(fbp_alloc(&rows, n * m->n_columns * fbp_value_size(&stages->first.job),
                           "a sample of the work"));
    FBP_TRY_GOTO(time_sample(p, n, rows, &filter, &drawing));
    const double sampled = (double)(views * n * m->n_columns);
    *seconds = filter + drawing / sampled * (double)fbp_stages_updates(stages) /
                            (double)stages->first.job.n_threads;
fail:
    fbp_free(rows);
    fbp_pictures_close(&p);
    return st;
}
