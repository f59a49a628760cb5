#include "plan/stages.h"

#include "base/mem.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "plan/angles.h"

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
