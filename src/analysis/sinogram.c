/* Reads corrected detector rows of all views, in the order of the views' angles
 * (fbp_sinogram_read()), for fbp_centre_find() and
 * fbp_calibrate() (centre.h); the reader of corrected views, fbp_view_reader_open(), and
 * fbp_views_sort() (calibrate.h).
 * Used by: cli/, analysis/. */
#include "analysis/calibrate.h"
#include "analysis/centre.h"

#include "array/array.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "pipeline/view_step.h"
#include "prep/prep.h"
#include "scan/file/scan.h"

#include <string.h>

struct order {
    double angle; /* first, for fbp_by_value() */
    size_t view;
};

fbp_status fbp_views_sort(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                          size_t *order, double *angles)
{
    const double z[] = {0, 0, 1}, x[] = {1, 0, 0};
    const size_t n = scan->n_views;
    double e1[3], e2[3];
    struct order *o;
    size_t at = 0;

    FBP_TRY(fbp_calloc((void **)&o, n, sizeof *o, "angles"));
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
    /* A full turn whose angles are a little wrong begins at the first view (clockwise: the last).
     */
    if (o[n - 1].view == n - 1 && 2 * FBP_PI - o[n - 1].angle > widest / 2)
        at = 0;
    else if (n > 1 && o[0].view == 0 && o[1].view == n - 1 && o[1].angle > widest / 2)
        at = 1;
    for (size_t k = 0; k < at; k++)
        o[k].angle += 2 * FBP_PI;
    qsort(o, n, sizeof *o, fbp_by_value);
    for (size_t k = 0; k < n; k++) {
        order[k] = o[k].view;
        angles[k] = o[k].angle;
    }
    free(o);
    return FBP_OK;
}

fbp_status fbp_views_angles(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                            double *angles, double *sorted)
{
    size_t *order;

    FBP_TRY(fbp_calloc((void **)&order, scan->n_views, sizeof *order, "angles"));
    const fbp_status st = fbp_views_sort(scan, f, order, sorted);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        angles[order[k]] = sorted[k];
    free(order);
    return st;
}

fbp_status fbp_view_reader_open(struct fbp_view_reader *r, const struct fbp_scan *scan,
                                fbp_source *source)
{
    struct fbp_scan searched = *scan; /* the scan, with the bad pixels that were found */
    struct fbp_reduction reduction;
    fbp_source *stored = source;
    char *missing = NULL;
    fbp_status st;

    *r = (struct fbp_view_reader){.panel = scan->panel};
    if (!source && !scan->projections)
        return fbp_fail(FBP_ERR_INVALID,
                        "scan: the scan names no projections; add the key \"projections\" to the "
                        "scan file, or give the views in memory (in C: .input.source)");
    if (!source) {
        FBP_TRY_GOTO(fbp_scan_open_views(&r->own, scan));
        stored = r->own;
    }
    const enum fbp_row_order row_order =
        scan->row_order == FBP_ROWS_AUTO ? fbp_source_info(stored)->row_order : scan->row_order;
    r->top_down = row_order == FBP_ROWS_TOP_DOWN;
    fbp_reduction_of(scan, &reduction);
    FBP_TRY_GOTO(fbp_bad_pixels_find(&searched, stored, r->top_down, &r->images));
    FBP_TRY_GOTO(fbp_prep_create(&r->prep, &searched, r->top_down));
    FBP_TRY_GOTO(fbp_beam_create(&r->beam, scan, &missing));
    if (r->beam)
        FBP_TRY_GOTO(fbp_source_steady(&r->reduced, stored, r->beam));
    const bool owned = r->reduced != NULL;
    r->views = owned ? r->reduced : stored;
    r->reduced = NULL; /* a failure closes it */
    FBP_TRY_GOTO(fbp_source_zingers(&r->views, scan, owned));
    r->reduced = r->views == stored ? NULL : r->views;
    if (fbp_reduces(&reduction))
        FBP_TRY_GOTO(fbp_source_reduce(&r->reduced, r->views, &reduction, r->top_down,
                                       r->prep.left_out, r->reduced != NULL));
    r->views = r->reduced ? r->reduced : stored;
    free(missing);
    return FBP_OK;
fail:
    free(missing);
    fbp_view_reader_close(r);
    return st;
}

void fbp_view_reader_close(struct fbp_view_reader *r)
{
    fbp_source_close(&r->reduced);
    fbp_source_close(&r->own);
    fbp_beam_free(r->beam);
    fbp_prep_clear(&r->prep);
    fbp_images_free(r->images);
    *r = (struct fbp_view_reader){0};
}

fbp_status fbp_view_reader_rows(struct fbp_view_reader *r, size_t view, size_t row, size_t n,
                                float *work, float *out)
{
    const size_t nc = r->panel.n_columns, nr = r->panel.n_rows, margin = r->prep.margin_rows;
    const size_t from = row > margin ? row - margin : 0;
    const size_t end = row + n + margin < nr ? row + n + margin : nr;
    struct fbp_prep_counts ignored = {0};

    const size_t first = r->top_down ? nr - end : from, count = end - from;
    FBP_TRY(fbp_source_read(r->views, view, 1, first, count, FBP_F32, work));
    if (r->top_down)
        fbp_turn_rows(work, count, nc);
    for (size_t k = from; k < end; k++)
        fbp_prep_row(&r->prep, k, work + (k - from) * nc, &ignored);
    if (r->prep.n_bridges)
        fbp_prep_bridge(&r->prep, from, row, row + n, work);
    memcpy(out, work + (row - from) * nc, n * nc * sizeof *out);
    return FBP_OK;
}

fbp_status fbp_sinogram_read(struct fbp_sinogram *s, const struct fbp_scan *scan,
                             fbp_source *source, size_t most_rows)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    const struct fbp_view *v = &scan->views[0];
    struct fbp_view_reader reader = {0};
    struct fbp_geometry_facts facts;
    size_t *order = NULL, *place = NULL; /* place: [view] row of the sinogram */
    float *work = NULL;
    double middle_row = 0, ahead[3], P[12], (*at)[2] = NULL;
    fbp_status st;

    *s = (struct fbp_sinogram){
        .has_source = fbp_kind_has_source(scan->kind), .n_views = scan->n_views, .n_columns = nc};
    FBP_TRY_GOTO(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    FBP_TRY_GOTO(fbp_calloc((void **)&at, s->n_views, sizeof *at, "views"));
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY_GOTO(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        at[k][0] = P[3] / P[11];
        at[k][1] = P[7] / P[11];
        s->centre += at[k][0] / (double)scan->n_views;
        middle_row += at[k][1] / (double)scan->n_views;
    }
    FBP_TRY_GOTO(fbp_calloc((void **)&order, s->n_views, sizeof *order, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&s->angles, s->n_views, sizeof *s->angles, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&place, s->n_views, sizeof *place, "angles"));
    FBP_TRY_GOTO(fbp_views_sort(scan, &facts, order, s->angles));
    for (size_t k = 0; k < s->n_views; k++)
        place[order[k]] = k;
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

    FBP_TRY_GOTO(fbp_view_reader_open(&reader, scan, source));
    const size_t n = most_rows < nr ? most_rows : nr, margin = reader.prep.margin_rows;
    const double centred = floor(middle_row - ((double)n - 1) / 2 + 0.5), last = (double)(nr - n);
    const size_t gap = s->has_source ? 1 : nr / n;
    const size_t first = s->has_source ? (size_t)fmin(fmax(centred, 0), last) : gap / 2;
    s->n_rows = n;
    s->first_row = first;
    s->gap = gap;
    FBP_TRY_GOTO(fbp_alloc((void **)&s->values, n * s->n_views * nc * sizeof(float), "a sinogram"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&work, (2 * margin + 4) * nc * sizeof(float), "rows of a view"));
    /* Read views in the order of the file, because the file may be a compressed stream. */
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t i = 0; i < n; i++) {
            float *out = s->values + (i * s->n_views + place[k]) * nc;
            const double bottom = (double)(nr - 1), across = at[k][0] - s->centre;
            const double row =
                fmin(fmax((double)(first + i * gap) + at[k][1] - middle_row, 0), bottom);
            if (fabs(across) < 1e-3 && fabs(at[k][1] - middle_row) < 1e-3) {
                FBP_TRY_GOTO(fbp_view_reader_rows(&reader, k, first + i * gap, 1, work, out));
                continue;
            }
            /* the panel of this view is shifted: interpolate */
            const size_t from = (size_t)row, rows = (double)from < bottom ? 2 : 1;
            float *pair = work + (2 * margin + 2) * nc, up = (float)(row - (double)from);
            FBP_TRY_GOTO(fbp_view_reader_rows(&reader, k, from, rows, work, pair));
            for (size_t c = 0; rows == 2 && c < nc; c++)
                pair[c] += up * (pair[nc + c] - pair[c]);
            for (size_t c = 0; c < nc; c++) {
                const double x = fmin(fmax((double)c + across, 0), (double)nc - 1.000001);
                const size_t j = (size_t)x;
                out[c] = pair[j] + (float)(x - (double)j) * (pair[j + 1] - pair[j]);
            }
        }
fail:
    free(at);
    fbp_free(work);
    fbp_view_reader_close(&reader);
    free(order);
    free(place);
    if (st != FBP_OK)
        fbp_sinogram_clear(s);
    return st;
}

fbp_status fbp_sinogram_join(struct fbp_sinogram *out, const struct fbp_sinogram *s, size_t views,
                             size_t columns, size_t rows)
{
    fbp_status st = FBP_OK;

    *out = *s;
    out->angles = NULL;
    out->values = NULL;
    out->n_views = s->n_views / views;
    out->n_columns = s->n_columns / columns;
    out->n_rows = s->n_rows / rows;
    out->tangent *= (double)columns;
    const size_t n = out->n_rows * out->n_views * out->n_columns;
    FBP_TRY_GOTO(fbp_calloc((void **)&out->angles, out->n_views, sizeof *out->angles, "angles"));
    FBP_TRY_GOTO(fbp_alloc((void **)&out->values, n * sizeof(float), "a sinogram"));
    for (size_t k = 0; k < out->n_views * views; k++)
        out->angles[k / views] += s->angles[k] / (double)views;
    for (size_t i = 0; i < n; i++) {
        const size_t c = i % out->n_columns * columns;
        const size_t k = i / out->n_columns % out->n_views * views;
        const size_t r = i / out->n_columns / out->n_views * rows;
        double sum = 0;
        for (size_t row = r; row < r + rows; row++)
            for (size_t view = k; view < k + views; view++)
                for (size_t x = c; x < c + columns; x++)
                    sum += (double)s->values[(row * s->n_views + view) * s->n_columns + x];
        out->values[i] = (float)(sum / (double)(rows * views * columns));
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
