/* Reads corrected detector rows of all views, in the order of the views' angles, for
 * fbp_centre_find(), the search for the rotation axis (centre.h).
 * Used by: centre.c. */
#include "analysis/centre.h"

#include "array/array.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "prep/prep.h"
#include "scan/file/scan.h"

#include <string.h>

struct order {
    double angle; /* first, for fbp_by_value() */
    size_t view;
};

/* Sort the views by angle, counter-clockwise about the axis, starting after the largest gap. */
static void order_views(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                        struct order *o)
{
    const double z[] = {0, 0, 1}, x[] = {1, 0, 0};
    const size_t n = scan->n_views;
    double e1[3], e2[3];
    size_t at = 0;

    fbp_cross(fabs(f->axis[2]) > 0.5 ? x : z, f->axis, e2);
    fbp_normalise(e2);
    fbp_cross(e2, f->axis, e1);
    const double *s0 = scan->views[0].s;
    const double first = atan2(fbp_dot(s0, e2), fbp_dot(s0, e1));
    for (size_t k = 0; k < n; k++) {
        const double *s = scan->views[k].s;
        o[k].angle = fmod(atan2(fbp_dot(s, e2), fbp_dot(s, e1)) - first + 4 * FBP_PI, 2 * FBP_PI);
        o[k].view = k;
    }
    qsort(o, n, sizeof *o, fbp_by_value);
    double widest = o[0].angle + 2 * FBP_PI - o[n - 1].angle;
    for (size_t k = 1; k < n; k++)
        if (o[k].angle - o[k - 1].angle > widest + 1e-9) {
            widest = o[k].angle - o[k - 1].angle;
            at = k;
        }
    for (size_t k = 0; k < at; k++)
        o[k].angle += 2 * FBP_PI;
    qsort(o, n, sizeof *o, fbp_by_value);
}

fbp_status fbp_sinogram_read(struct fbp_sinogram *s, const struct fbp_scan *scan,
                             fbp_source *source, size_t most_rows)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    const struct fbp_view *v = &scan->views[0];
    struct fbp_scan searched = *scan; /* the scan, with the bad pixels that were found */
    struct fbp_images *images = NULL; /* mask of these pixels */
    fbp_source *stored = source, *views = source;
    struct fbp_prep prep = {0};
    struct fbp_prep_counts ignored = {0};
    struct fbp_geometry_facts facts;
    struct fbp_reduction reduction;
    struct order *order = NULL;
    size_t *place = NULL; /* [view] row of the sinogram */
    /* a detector row and its neighbours, from which bad pixels are interpolated */
    float *rows = NULL;
    double middle_row = 0, ahead[3], P[12];
    fbp_status st;

    *s = (struct fbp_sinogram){
        .has_source = fbp_kind_has_source(scan->kind), .n_views = scan->n_views, .n_columns = nc};
    FBP_TRY_GOTO(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY_GOTO(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        s->centre += P[3] / P[11] / (double)scan->n_views;
        middle_row += P[7] / P[11] / (double)scan->n_views;
    }
    FBP_TRY_GOTO(fbp_calloc((void **)&order, s->n_views, sizeof *order, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&s->angles, s->n_views, sizeof *s->angles, "angles"));
    order_views(scan, &facts, order);
    FBP_TRY_GOTO(fbp_calloc((void **)&place, s->n_views, sizeof *place, "angles"));
    for (size_t k = 0; k < s->n_views; k++) {
        s->angles[k] = order[k].angle;
        place[order[k].view] = k;
    }
    fbp_cross(facts.axis, v->s, ahead);
    s->along = fbp_dot(ahead, v->u) >= 0 ? 1 : -1;
    if (s->has_source) {
        double ray[3], n[3];
        fbp_cross(v->u, v->v, n);
        fbp_normalise(n);
        fbp_axpy(v->d, -1, v->s, ray);
        s->tangent = fbp_norm(v->u) / fabs(fbp_dot(ray, n));
    }
    s->step = facts.step_rad[1];
    s->arc = s->angles[s->n_views - 1] - s->angles[0];
    s->closed = 2 * FBP_PI - s->arc < 1.75 * s->step;

    if (!source && !scan->projections)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "scan: the scan names no projections; add the key \"projections\" to "
                              "the scan file, or give the views in memory (in C: .input.source)"));
    if (!source)
        FBP_TRY_GOTO(fbp_source_open(&stored, scan->projections, &scan->raw));
    const enum fbp_row_order row_order =
        scan->row_order == FBP_ROWS_AUTO ? fbp_source_info(stored)->row_order : scan->row_order;
    const bool top_down = row_order == FBP_ROWS_TOP_DOWN;
    views = stored;
    fbp_reduction_of(scan, &reduction);
    FBP_TRY_GOTO(fbp_bad_pixels_find(&searched, stored, top_down, &images));
    FBP_TRY_GOTO(fbp_prep_create(&prep, &searched, top_down));
    if (fbp_reduces(&reduction))
        FBP_TRY_GOTO(fbp_source_reduce(&views, stored, &reduction, top_down, prep.left_out));

    const size_t n = most_rows < nr ? most_rows : nr, margin = prep.margin_rows;
    const double centred = floor(middle_row - ((double)n - 1) / 2 + 0.5), last = (double)(nr - n);
    const size_t gap = s->has_source ? 1 : nr / n;
    const size_t first = s->has_source ? (size_t)fmin(fmax(centred, 0), last) : gap / 2;
    s->n_rows = n;
    FBP_TRY_GOTO(fbp_alloc((void **)&s->values, n * s->n_views * nc * sizeof(float), "a sinogram"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&rows, (2 * margin + 1) * nc * sizeof(float), "rows of a view"));
    /* Read views in the order of the file, because the file may be a compressed stream. */
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t i = 0; i < n; i++) {
            const size_t wanted = first + i * gap, from = wanted > margin ? wanted - margin : 0;
            for (size_t row = from; row < nr && row <= wanted + margin; row++) {
                float *to = rows + (row - from) * nc;
                FBP_TRY_GOTO(
                    fbp_source_read(views, k, 1, top_down ? nr - 1 - row : row, 1, FBP_F32, to));
                fbp_prep_row(&prep, row, to, &ignored);
            }
            if (prep.n_bridges)
                fbp_prep_bridge(&prep, from, wanted, wanted + 1, rows);
            memcpy(s->values + (i * s->n_views + place[k]) * nc, rows + (wanted - from) * nc,
                   nc * sizeof(float));
        }
fail:
    fbp_free(rows);
    if (views != stored)
        fbp_source_close(&views);
    if (!source)
        fbp_source_close(&stored);
    fbp_prep_clear(&prep);
    fbp_images_free(images);
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
