/* Grids of voxels: the default grid of a scan; regions of interest as voxels of a grid. */
#include "geometry/volume.h"

#include "geometry/kind.h"

#include "base/cache.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/stop.h"

#include <string.h>

double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i)
{
    FBP_GIVEN_ELSE(NAN, g);
    return g->centre_mm[axis] + (i - ((double)g->n[axis] - 1) / 2) * g->voxel_mm[axis];
}

/* What the views see of the iso-centre's surroundings, averaged; lengths at the iso-centre. */
struct seen {
    double voxel;      /* column pitch */
    double columns;    /* from the axis to the farther edge of the panel, in pixels */
    double z_lo, z_hi; /* part of the z axis that falls on the rows */
};

static bool seen_by(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k,
                    struct seen *out)
{
    const struct fbp_view *view = &views->view[k];
    const struct fbp_panel *panel = &views->panel;
    double P[12];

    if (!kind->matrix(view, panel, P) || !(P[11] > 0))
        return false;
    const double column = P[3] / P[11];
    const double left = column + 0.5, right = (double)panel->n_columns - 0.5 - column;
    out->voxel = kind->pitch(view, P);
    out->columns = fmax(left, right);
    const double lo = -0.5, hi = (double)panel->n_rows - 0.5;
    const double a = (lo * P[11] - P[7]) / (P[6] - lo * P[10]);
    const double b = (hi * P[11] - P[7]) / (P[6] - hi * P[10]);
    out->z_lo = fmin(a, b);
    out->z_hi = fmax(a, b);
    return isfinite(a) && isfinite(b);
}

static struct seen seen_on_average(const struct fbp_kind_table *kind, const struct fbp_views *views)
{
    struct seen mean = {0}, one;
    size_t n = 0;

    for (size_t k = 0; k < views->n; k++) {
        if (!seen_by(kind, views, k, &one))
            continue;
        mean.voxel += one.voxel;
        mean.columns += one.columns;
        mean.z_lo += one.z_lo;
        mean.z_hi += one.z_hi;
        n++;
    }
    const double scale = n ? 1 / (double)n : 0;
    return (struct seen){mean.voxel * scale, mean.columns * scale, mean.z_lo * scale,
                         mean.z_hi * scale};
}

void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out)
{
    const struct seen seen = seen_on_average(kind, views);
    const double voxel = seen.voxel > 0 ? seen.voxel : 1;
    const double slack = 1e-6; /* a whole number of pixels stays that number after rounding */
    const double across = fmin(fmax(ceil(2 * seen.columns - slack), 1), 1e9);
    const double along = fmin(fmax(floor((seen.z_hi - seen.z_lo) / voxel + slack), 1), 1e9);
    const double middle = (seen.z_lo + seen.z_hi) / 2;

    *out = (struct fbp_grid){.n = {(size_t)across, (size_t)across, 1},
                             .voxel_mm = {voxel, voxel, voxel}};
    if (views->panel.n_rows > 1)
        out->n[2] = (size_t)(kind->has_source ? fmin(along, across) : along);
    out->centre_mm[2] = fabs(middle) > slack * voxel ? middle : 0;
}

static const char WHAT[] = "the region";

/* A region on its way. */
struct make {
    struct fbp_region *region;
    const size_t (*box)[2];
    fbp_region_fn *row;
    void *user;
    struct fbp_interval *found; /* of a row */
};

/* Room for `more` elements beyond n. */
static fbp_status reserve(void **list, size_t size, size_t n, size_t more, size_t *room)
{
    const size_t wanted = n + more > 2 * *room ? n + more : 2 * *room;

    if (n + more <= *room)
        return FBP_OK;
    void *grown = realloc(*list, wanted * size);
    if (!grown)
        return fbp_fail_nomem(wanted * size, WHAT);
    *list = grown;
    *room = wanted;
    return FBP_OK;
}

/* The part of a run that lies in the box, behind the last one. */
static void add_run(struct make *m, struct fbp_interval run)
{
    struct fbp_region *r = m->region;
    const uint32_t lo = (uint32_t)m->box[0][0], hi = (uint32_t)m->box[0][1];
    const struct fbp_interval inside = {run.first > lo ? run.first : lo,
                                        run.end < hi ? run.end : hi};

    if (inside.first < inside.end)
        r->runs[r->n_runs++] = inside;
}

static fbp_status add_row(struct make *m, size_t y, size_t z)
{
    struct fbp_region *r = m->region;
    size_t n = 0;

    if (y >= m->box[1][0] && y < m->box[1][1] && z >= m->box[2][0] && z < m->box[2][1])
        FBP_TRY(m->row(m->user, y, z, m->found, &n));
    FBP_TRY(reserve((void **)&r->runs, sizeof *r->runs, r->n_runs, n, &r->runs_room));
    for (size_t i = 0; i < n; i++)
        add_run(m, m->found[i]);
    r->rows[r->n_rows++] = (uint32_t)(r->n_runs - r->slices[z].runs);
    return FBP_OK;
}

/* Is a slice, the last one so far, equal to the one below? */
static bool is_same(const struct fbp_region *r, size_t z)
{
    if (z == 0)
        return false;
    const struct fbp_region_slice *a = &r->slices[z - 1], *b = &r->slices[z];
    const size_t rows = r->n[1] + 1;
    const size_t n = r->rows[a->rows + r->n[1]];

    return memcmp(r->rows + a->rows, r->rows + b->rows, rows * sizeof *r->rows) == 0 &&
           (n == 0 || memcmp(r->runs + a->runs, r->runs + b->runs, n * sizeof *r->runs) == 0);
}

static uint64_t count(const struct fbp_region *r, size_t z)
{
    uint64_t voxels = 0;

    for (size_t y = 0; y < r->n[1]; y++) {
        size_t n;
        const struct fbp_interval *runs = fbp_region_row(r, y, z, &n);
        for (size_t i = 0; i < n; i++)
            voxels += runs[i].end - runs[i].first;
    }
    return voxels;
}

/* Columns of the voxels that are in the runs b and not in a: they begin at slice z, or end there.
 */
static void change_columns(const struct fbp_interval *a, size_t na, const struct fbp_interval *b,
                           size_t nb, struct fbp_interval *columns, uint32_t z, bool begin)
{
    for (size_t i = 0, j = 0; i < nb; i++)
        for (uint32_t x = b[i].first; x < b[i].end;) {
            while (j < na && a[j].end <= x)
                j++;
            if (j < na && a[j].first <= x) {
                x = a[j].end;
                continue;
            }
            const uint32_t next = j < na && a[j].first < b[i].end ? a[j].first : b[i].end;
            for (; x < next; x++)
                if (!begin)
                    columns[x].end = z;
                else if (columns[x].end == 0) /* else it had begun before */
                    columns[x].first = z;
        }
}

/* From slice z - 1 to z; from and to none at both ends of the grid. */
static void change_slice(struct fbp_region *r, size_t z)
{
    for (size_t y = 0; y < r->n[1]; y++) {
        struct fbp_interval *columns = r->columns + y * r->n[0];
        const struct fbp_interval *before = NULL, *now = NULL;
        size_t n_before = 0, n_now = 0;
        if (z > 0)
            before = fbp_region_row(r, y, z - 1, &n_before);
        if (z < r->n[2])
            now = fbp_region_row(r, y, z, &n_now);
        change_columns(before, n_before, now, n_now, columns, (uint32_t)z, true);
        change_columns(now, n_now, before, n_before, columns, (uint32_t)z, false);
    }
}

static fbp_status add_slice(struct make *m, size_t z)
{
    struct fbp_region *r = m->region;
    struct fbp_region_slice *s = &r->slices[z];

    *s = (struct fbp_region_slice){r->n_rows, r->n_runs};
    FBP_TRY(reserve((void **)&r->rows, sizeof *r->rows, r->n_rows, r->n[1] + 1, &r->rows_room));
    r->rows[r->n_rows++] = 0;
    for (size_t y = 0; y < r->n[1]; y++)
        FBP_TRY(add_row(m, y, z));
    if (is_same(r, z)) {
        r->n_rows = s->rows;
        r->n_runs = s->runs;
        *s = r->slices[z - 1];
        r->before[z + 1] = r->before[z] + fbp_region_count(r, z - 1, z);
        return FBP_OK;
    }
    change_slice(r, z);
    r->before[z + 1] = r->before[z] + count(r, z);
    return FBP_OK;
}

static void find_ends(struct fbp_region *r)
{
    size_t z0 = 0, z1 = r->n[2];

    while (z0 < z1 && r->before[z0 + 1] == 0)
        z0++;
    while (z1 > z0 && r->before[z1 - 1] == r->before[z1])
        z1--;
    r->z0 = z0 < z1 ? z0 : 0;
    r->z1 = z0 < z1 ? z1 : 0;
}

static fbp_status fill(struct make *m)
{
    struct fbp_region *r = m->region;

    FBP_TRY(fbp_calloc((void **)&r->slices, r->n[2], sizeof *r->slices, WHAT));
    FBP_TRY(fbp_calloc((void **)&r->before, r->n[2] + 1, sizeof *r->before, WHAT));
    FBP_TRY(fbp_calloc((void **)&r->columns, r->n[0] * r->n[1], sizeof *r->columns, WHAT));
    FBP_TRY(fbp_calloc((void **)&m->found, r->n[0] / 2 + 1, sizeof *m->found, WHAT));
    for (size_t z = 0; z < r->n[2]; z++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(add_slice(m, z));
    }
    change_slice(r, r->n[2]);
    find_ends(r);
    return FBP_OK;
}

fbp_status fbp_region_create(struct fbp_region **out, const size_t n[3], const size_t box[3][2],
                             fbp_region_fn *row, void *user)
{
    struct make m = {.box = box, .row = row, .user = user};

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&m.region, 1, sizeof *m.region, WHAT));
    memcpy(m.region->n, n, sizeof m.region->n);
    const fbp_status st = fill(&m);
    free(m.found);
    if (st == FBP_OK)
        *out = m.region;
    else
        fbp_region_destroy(&m.region);
    return st;
}

void fbp_region_destroy(struct fbp_region **region)
{
    struct fbp_region *r = *region;

    if (!r)
        return;
    free(r->slices);
    free(r->rows);
    free(r->runs);
    free(r->columns);
    free(r->before);
    free(r);
    *region = NULL;
}

uint64_t fbp_region_hash(uint64_t seed, const struct fbp_region *r)
{
    uint64_t h = fbp_hash(seed, r->n, sizeof r->n);

    for (size_t z = 0; z < r->n[2]; z++) {
        const struct fbp_region_slice *s = &r->slices[z];
        const uint32_t *rows = r->rows + s->rows;
        if (z > 0 && s->rows == r->slices[z - 1].rows)
            continue;
        h = fbp_hash(h, &z, sizeof z);
        h = fbp_hash(h, rows, (r->n[1] + 1) * sizeof *rows);
        h = fbp_hash(h, r->runs + s->runs, rows[r->n[1]] * sizeof *r->runs);
    }
    return h;
}
