#include "analysis/centre.h"

#include "array/array.h"
#include "base/mem.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "prep/bad_pixels.h"
#include "scan/file/images.h"
#include "scan/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The place of the iso-centre on the panel: [0] column, [1] row. */
static fbp_status middle_of(const struct fbp_scan *scan, double out[2])
{
    double P[12];

    out[0] = out[1] = 0;
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        out[0] += P[3] / P[11] / (double)scan->n_views;
        out[1] += P[7] / P[11] / (double)scan->n_views;
    }
    return FBP_OK;
}

struct order {
    double angle;
    size_t view;
};

static int by_angle(const void *a, const void *b)
{
    const double x = ((const struct order *)a)->angle, y = ((const struct order *)b)->angle;
    return (x > y) - (x < y);
}

/* Angles counter-clockwise about the axis, from the arc's first view on. */
static void order_views(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                        struct order *out)
{
    const double z[] = {0, 0, 1}, x[] = {1, 0, 0};
    double e1[3], e2[3];

    fbp_cross(fabs(f->axis[2]) > 0.5 ? x : z, f->axis, e2);
    fbp_normalise(e2);
    fbp_cross(e2, f->axis, e1);
    const double *s0 = scan->views[0].s;
    const double first = atan2(fbp_dot(s0, e2), fbp_dot(s0, e1));
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *s = scan->views[k].s;
        out[k].angle = fmod(atan2(fbp_dot(s, e2), fbp_dot(s, e1)) - first + 4 * FBP_PI, 2 * FBP_PI);
        out[k].view = k;
    }
    qsort(out, scan->n_views, sizeof *out, by_angle);
}

/* The arc begins behind the largest gap. */
static void begin_behind_gap(struct order *o, size_t n)
{
    double widest = o[0].angle + 2 * FBP_PI - o[n - 1].angle;
    size_t at = 0;

    for (size_t k = 1; k < n; k++)
        if (o[k].angle - o[k - 1].angle > widest + 1e-9) {
            widest = o[k].angle - o[k - 1].angle;
            at = k;
        }
    for (size_t k = 0; k < at; k++)
        o[k].angle += 2 * FBP_PI;
    qsort(o, n, sizeof *o, by_angle);
}

/* Which way columns run, and by how much the fan opens from one to the next. */
static void find_fan(struct fbp_sinogram *s, const struct fbp_scan *scan, const double axis[3])
{
    const struct fbp_view *v = &scan->views[0];
    double ahead[3], ray[3], n[3];

    fbp_cross(axis, v->s, ahead);
    s->along = fbp_dot(ahead, v->u) >= 0 ? 1 : -1;
    if (!s->has_source)
        return;
    fbp_cross(v->u, v->v, n);
    fbp_normalise(n);
    fbp_axpy(v->d, -1, v->s, ray);
    s->tangent = fbp_norm(v->u) / fabs(fbp_dot(ray, n));
}

struct reading {
    const struct fbp_scan *scan;
    struct fbp_reduction reduction;
    struct fbp_prep prep;
    fbp_source *given; /* the caller's; NULL: the scan's projections */
    fbp_source *stored, *views;
    bool top_down;
    size_t first, gap;         /* of the rows that are wanted */
    struct fbp_scan searched;  /* the scan, with the pixels that were found to be bad */
    struct fbp_images *images; /* their mask */
    float *rows;               /* one of a view, among those that bad pixels are bridged from */
};

static fbp_status open_views(struct reading *r)
{
    const struct fbp_scan *scan = r->scan;

    if (!r->given && !scan->projections)
        return fbp_fail(FBP_ERR_INVALID, "scan: no projections are named: add \"projections\"");
    r->stored = r->given;
    if (!r->given)
        FBP_TRY(fbp_source_open(&r->stored, scan->projections, &scan->raw));
    const struct fbp_array_info *info = fbp_source_info(r->stored);
    const enum fbp_row_order order =
        scan->row_order == FBP_ROWS_AUTO ? info->row_order : scan->row_order;
    r->top_down = order == FBP_ROWS_TOP_DOWN;
    r->views = r->stored;
    fbp_reduction_of(scan, &r->reduction);
    r->searched = *scan;
    FBP_TRY(fbp_bad_pixels_find(&r->searched, r->stored, r->top_down, &r->images));
    FBP_TRY(fbp_prep_create(&r->prep, &r->searched, r->top_down));
    if (fbp_reduces(&r->reduction))
        FBP_TRY(
            fbp_source_reduce(&r->views, r->stored, &r->reduction, r->top_down, r->prep.left_out));
    return FBP_OK;
}

static void close_views(struct reading *r)
{
    fbp_free(r->rows);
    if (r->views != r->stored)
        fbp_source_close(&r->views);
    if (!r->given)
        fbp_source_close(&r->stored);
    fbp_prep_clear(&r->prep);
    fbp_images_free(r->images);
}

/* Row `wanted` of view k, prepared, into out. */
static fbp_status read_row(struct reading *r, size_t k, size_t wanted, float *out)
{
    const size_t nc = r->scan->panel.n_columns, nr = r->scan->panel.n_rows;
    const size_t margin = r->prep.margin_rows, from = wanted > margin ? wanted - margin : 0;
    struct fbp_prep_counts ignored = {0};

    for (size_t row = from; row < nr && row <= wanted + margin; row++) {
        float *to = r->rows + (row - from) * nc;
        FBP_TRY(fbp_source_read(r->views, k, 1, r->top_down ? nr - 1 - row : row, 1, to));
        fbp_prep_row(&r->prep, row, to, &ignored);
    }
    if (r->prep.n_bridges)
        fbp_prep_bridge(&r->prep, from, wanted, wanted + 1, r->rows);
    memcpy(out, r->rows + (wanted - from) * nc, nc * sizeof *out);
    return FBP_OK;
}

static void choose_rows(struct reading *r, struct fbp_sinogram *s, double middle, size_t most)
{
    const size_t nr = r->scan->panel.n_rows, n = most < nr ? most : nr;
    const bool spread = !s->has_source;
    const double first = floor(middle - ((double)n - 1) / 2 + 0.5), last = (double)(nr - n);

    s->n_rows = n;
    r->gap = spread ? nr / n : 1;
    r->first = spread ? r->gap / 2 : (size_t)fmin(fmax(first, 0), last);
}

static fbp_status read_rows(struct reading *r, struct fbp_sinogram *s, const size_t *place,
                            double middle, size_t most)
{
    const size_t nc = s->n_columns;

    FBP_TRY(open_views(r));
    choose_rows(r, s, middle, most);
    FBP_TRY(
        fbp_alloc((void **)&s->values, s->n_rows * s->n_views * nc * sizeof(float), "a sinogram"));
    FBP_TRY(fbp_alloc((void **)&r->rows, (2 * r->prep.margin_rows + 1) * nc * sizeof(float),
                      "rows of a view"));
    for (size_t k = 0; k < s->n_views; k++) /* in the file's order, which may be a stream */
        for (size_t i = 0; i < s->n_rows; i++)
            FBP_TRY(read_row(r, k, r->first + i * r->gap,
                             s->values + (i * s->n_views + place[k]) * nc));
    return FBP_OK;
}

fbp_status fbp_sinogram_read(struct fbp_sinogram *s, const struct fbp_scan *scan,
                             fbp_source *source, size_t most_rows)
{
    struct reading r = {.scan = scan, .given = source};
    struct fbp_geometry_facts facts;
    struct order *order = NULL;
    size_t *place = NULL;
    double middle[2];
    fbp_status st;

    *s = (struct fbp_sinogram){.has_source = fbp_kind_has_source(scan->kind),
                               .n_views = scan->n_views,
                               .n_columns = scan->panel.n_columns};
    FBP_TRY_GOTO(fbp_facts_of(fbp_scan_views(scan), NULL, &facts));
    FBP_TRY_GOTO(middle_of(scan, middle));
    FBP_TRY_GOTO(fbp_calloc((void **)&order, s->n_views, sizeof *order, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&s->angles, s->n_views, sizeof *s->angles, "angles"));
    order_views(scan, &facts, order);
    begin_behind_gap(order, s->n_views);
    FBP_TRY_GOTO(fbp_calloc((void **)&place, s->n_views, sizeof *place, "angles"));
    for (size_t k = 0; k < s->n_views; k++) {
        s->angles[k] = order[k].angle;
        place[order[k].view] = k;
    }
    find_fan(s, scan, facts.axis);
    s->centre = middle[0];
    s->step = facts.step_rad[1];
    s->arc = s->angles[s->n_views - 1] - s->angles[0];
    s->closed = 2 * FBP_PI - s->arc < 1.75 * s->step;
    FBP_TRY_GOTO(read_rows(&r, s, place, middle[1], most_rows));
fail:
    close_views(&r);
    free(order);
    free(place);
    if (st != FBP_OK)
        fbp_sinogram_clear(s);
    return st;
}

fbp_status fbp_sinogram_join(struct fbp_sinogram *out, const struct fbp_sinogram *s, size_t bin)
{
    const size_t nc = s->n_columns, n = nc / bin;
    fbp_status st = FBP_OK;

    *out = *s;
    out->angles = NULL;
    out->values = NULL;
    out->n_columns = n;
    out->n_rows = 1;
    out->tangent *= (double)bin;
    FBP_TRY_GOTO(fbp_calloc((void **)&out->angles, s->n_views, sizeof *out->angles, "angles"));
    memcpy(out->angles, s->angles, s->n_views * sizeof *out->angles);
    FBP_TRY_GOTO(fbp_alloc((void **)&out->values, s->n_views * n * sizeof(float), "a sinogram"));
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < n; c++) {
            double sum = 0;
            for (size_t row = 0; row < s->n_rows; row++)
                for (size_t i = c * bin; i < (c + 1) * bin; i++)
                    sum += (double)s->values[(row * s->n_views + k) * nc + i];
            out->values[k * n + c] = (float)(sum / (double)(s->n_rows * bin));
        }
fail:
    if (st != FBP_OK)
        fbp_sinogram_clear(out);
    return st;
}

void fbp_sinogram_clear(struct fbp_sinogram *s)
{
    free(s->angles);
    fbp_free(s->values);
    *s = (struct fbp_sinogram){0};
}
