/* The mask of finished slices: before they are written, voxels outside the requested region, or
 * outside the field of view that all views see, get a fixed value. fbp_mask_apply() also computes
 * statistics of the voxels that are not masked.
 * Used by: plan_memory.c, plan_run.c, stage_write.c. */
#include "pipeline/run.h"

#include "backend/slab.h"
#include "base/base.h"
#include "geometry/kind.h"
#include "pipeline/job.h"

#include <math.h>

/* Slices [first, end) in which a voxel column (one x, y) is inside the field of view. */
struct column {
    uint32_t first, end;
};

struct fbp_mask {
    /* size (nx, ny) and first voxel (x0, y0) of the requested box within a slice */
    size_t nx, ny, x0, y0;
    bool in_double; /* values and `blank` are double, not float */
    double value;
    struct column *columns; /* [ny][nx] columns of the box; NULL: the field of view is not masked */
    const struct fbp_region *region;
    void *blank; /* slice of masked voxels, all of value `value`; NULL: there is no region */
};

/* Bound of the field of view: z >= (lower bound) or <= (upper bound) x[0] x + x[1] y + x[2]. It is
 * the plane of the rays to the outer edge of the first or last detector row of a view. */
struct bound {
    double x[3];
};

struct make {
    const struct fbp_job *job;
    fbp_mask *mask;
    struct bound *lower, *upper;
    size_t n_lower, n_upper;
};

/* Bound the field of view by an outer edge of the detector rows of a view with matrix P: its points
 * have side * (row - edge) >= 0 (side: 1 or -1), which is g . (x, y, z, 1) >= 0. */
static void add_bound(struct make *m, const double *P, double edge, double side)
{
    double g[4];

    for (int i = 0; i < 4; i++)
        g[i] = side * (P[4 + i] - edge * P[8 + i]);
    const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (!(fabs(g[2]) > 1e-9 * length)) /* the plane is parallel to z and crosses no voxel column */
        return;
    const struct bound b = {{-g[0] / g[2], -g[1] / g[2], -g[3] / g[2]}};
    if (g[2] > 0)
        m->lower[m->n_lower++] = b;
    else
        m->upper[m->n_upper++] = b;
}

/* Get the range of z [mm] in which points (x, y, z) lie within the radius of the field of view: the
 * squared distance from the rotation axis minus the squared radius is A z^2 - 2 B z + C <= 0. */
static void within_radius(const struct fbp_geometry_facts *f, double x, double y, double z[2])
{
    const double *a = f->axis, s = x * a[0] + y * a[1], r = f->fov_radius_mm;
    const double A = 1 - a[2] * a[2], B = a[2] * s, C = x * x + y * y - s * s - r * r;
    const double square = B * B - A * C;

    z[0] = -INFINITY;
    z[1] = INFINITY;
    if (A > 1e-12 && square >= 0) {
        z[0] = (B - sqrt(square)) / A;
        z[1] = (B + sqrt(square)) / A;
    } else if (C > 0) {
        z[1] = -INFINITY;
    }
}

/* Work item: find the slices in the field of view for all voxel columns of a row (y). */
static void find_row(void *user, size_t item, int worker)
{
    const struct make *m = user;
    const struct fbp_job *job = m->job;
    const struct fbp_grid *g = &job->grid;
    const double y = fbp_grid_coordinate(g, 1, (double)(fbp_box_first(job, 1) + item));
    const double z0 = fbp_grid_coordinate(g, 2, 0), dz = g->voxel_mm[2], nz = (double)g->n[2];

    (void)worker;
    for (size_t i = 0; i < m->mask->nx; i++) {
        const double x = fbp_grid_coordinate(g, 0, (double)(fbp_box_first(job, 0) + i));
        const double r = job->facts.fov_radius_mm, square = r * r - x * x - y * y;
        double z[2] = {INFINITY, -INFINITY};
        if (fbp_kind_of(job->kind)->integral == FBP_OVER_LINES) {
            within_radius(&job->facts, x, y, z);
        } else if (square >= 0) { /* a ball about the iso-centre */
            z[1] = sqrt(square);
            z[0] = -z[1];
        }
        for (size_t k = 0; k < m->n_lower && z[0] <= z[1]; k++)
            z[0] = fmax(z[0], m->lower[k].x[0] * x + m->lower[k].x[1] * y + m->lower[k].x[2]);
        for (size_t k = 0; k < m->n_upper && z[0] <= z[1]; k++)
            z[1] = fmin(z[1], m->upper[k].x[0] * x + m->upper[k].x[1] * y + m->upper[k].x[2]);
        const double first = fmin(fmax(ceil((z[0] - z0) / dz - 1e-6), 0), nz);
        const double end = fmin(fmax(floor((z[1] - z0) / dz + 1e-6) + 1, 0), nz);
        m->mask->columns[item * m->mask->nx + i] =
            (struct column){(uint32_t)first, (uint32_t)(end > first ? end : first)};
    }
}

size_t fbp_mask_bytes(const struct fbp_job *job, bool field)
{
    const size_t slice = fbp_box_slice(job);

    return (job->requested.region ? slice * fbp_value_size(job) : 0) +
           (field ? slice * sizeof(struct column) + 4 * job->n_views * sizeof(struct bound) : 0);
}

/* Find the slices in the field of view, for all voxel columns of the box. */
static fbp_status find_field(struct make *m)
{
    const struct fbp_job *job = m->job;
    const double last = (double)job->panel.n_rows - 0.5;
    fbp_pool *pool = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_calloc((void **)&m->mask->columns, m->mask->nx * m->mask->ny,
                            sizeof *m->mask->columns, "the mask"));
    FBP_TRY_GOTO(fbp_calloc((void **)&m->lower, 2 * job->n_views, sizeof *m->lower, "the mask"));
    FBP_TRY_GOTO(fbp_calloc((void **)&m->upper, 2 * job->n_views, sizeof *m->upper, "the mask"));
    for (size_t k = 0; k < job->n_views; k++) {
        add_bound(m, job->matrices[k], -0.5, 1);
        add_bound(m, job->matrices[k], last, -1);
    }
    FBP_TRY_GOTO(fbp_pool_create(&pool, job->n_threads));
    fbp_pool_for(pool, m->mask->ny, find_row, m);
    fbp_pool_destroy(&pool);
fail:
    free(m->lower);
    free(m->upper);
    return st;
}

/* Set elements begin to end - 1 of `values` to the value of masked voxels. */
static void fill(const fbp_mask *m, void *values, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (m->in_double)
            ((double *)values)[i] = m->value;
        else
            ((float *)values)[i] = (float)m->value;
}

fbp_status fbp_mask_create(fbp_mask **out, const struct fbp_job *job, bool field, double value)
{
    struct make m = {.job = job};
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&m.mask, 1, sizeof *m.mask, "the mask"));
    m.mask->nx = fbp_box_size(job, 0);
    m.mask->ny = fbp_box_size(job, 1);
    m.mask->x0 = fbp_box_first(job, 0);
    m.mask->y0 = fbp_box_first(job, 1);
    m.mask->region = job->requested.region;
    m.mask->in_double = fbp_in_double(job);
    m.mask->value = isnan(value) ? (double)NAN : value; /* NaN with the same bits in every run */
    if (field)
        st = find_field(&m);
    if (st == FBP_OK && job->requested.region) {
        st = fbp_calloc(&m.mask->blank, m.mask->nx * m.mask->ny, fbp_value_size(job), "the mask");
        if (st == FBP_OK)
            fill(m.mask, m.mask->blank, 0, m.mask->nx * m.mask->ny);
    }

    if (st == FBP_OK)
        *out = m.mask;
    else
        fbp_mask_destroy(&m.mask);
    return st;
}

void fbp_mask_destroy(fbp_mask **mask)
{
    if (!*mask)
        return;
    free((*mask)->columns);
    free((*mask)->blank);
    free(*mask);
    *mask = NULL;
}

/* Add the voxels of a row x in [begin, end) that are not masked to the statistics; returns their
 * number. */
static size_t add_run(const fbp_mask *m, const void *x, size_t begin, size_t end,
                      struct fbp_statistics *found)
{
    if (end <= begin)
        return 0;
    if (m->in_double)
        fbp_statistics_add_double(found, (const double *)x + begin, end - begin);
    else
        fbp_statistics_add(found, (const float *)x + begin, end - begin);
    return end - begin;
}

/* Mask the voxels [begin, end) of row y in slice z that are outside the field of view, and add the
 * others to the statistics. Returns the number of voxels that are not masked. */
static size_t apply_run(const fbp_mask *m, size_t z, size_t y, size_t begin, size_t end, void *x,
                        struct fbp_statistics *found)
{
    const struct column *columns = m->columns ? m->columns + y * m->nx : NULL;
    size_t inside = 0;

    for (size_t i = begin; columns && i < end; i++) {
        if (z >= columns[i].first && z < columns[i].end)
            continue;
        inside += add_run(m, x, begin, i, found);
        begin = i + 1;
        fill(m, x, i, i + 1);
    }
    return inside + add_run(m, x, begin, end, found);
}

size_t fbp_mask_apply(const fbp_mask *m, size_t z, size_t n, void *values,
                      struct fbp_statistics *found)
{
    const size_t size = m->in_double ? sizeof(double) : sizeof(float);
    const struct fbp_interval all = {(uint32_t)m->x0, (uint32_t)(m->x0 + m->nx)};
    size_t inside = 0;

    *found = FBP_NO_STATISTICS;
    for (size_t k = 0; k < n; k++)
        for (size_t y = 0; y < m->ny; y++) {
            void *x = (char *)values + (k * m->ny + y) * m->nx * size;
            const struct fbp_interval *runs = &all;
            size_t n_runs = 1, at = 0;
            if (m->region)
                runs = fbp_region_row(m->region, m->y0 + y, z + k, &n_runs);
            for (size_t i = 0; i < n_runs; i++) {
                const size_t begin = runs[i].first - m->x0, end = runs[i].end - m->x0;
                fill(m, x, at, begin);
                inside += apply_run(m, z + k, y, begin, end, x, found);
                at = end;
            }
            fill(m, x, at, m->nx);
        }
    return inside;
}

const void *fbp_mask_blank(const fbp_mask *mask)
{
    return mask->blank;
}
