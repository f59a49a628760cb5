/* fbp_drift_find(): determines how far the panel, or the object, moves between the views of a scan
 * (methods: calibrate.h).
 * Used by: calibrate.c. */
#include "analysis/calibrate.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = FBP_EPIPOLAR_GROUPS, /* parts of the lines, each left out once (jackknife) */
    ROUNDS = 8,
    COLUMNS = 512, /* greatest number of columns whose values are added */
    HARMONICS = 4, /* harmonics of the angle in the centre of mass of cone-beam views */
};

/* Least standard deviations of offsets [pixels] of [parallel, cone] beams along [rows, columns].
 * They were found on simulated scans (bench/calibration/drift.py). */
static const double least[2][2] = {{0.005, 0.007}, {0.01, 0.03}};

/* Sums over lines at right angles to the axis: [view][line][2], of the values, and of the values
 * times their distance from the axis [pixels]. */
struct sums {
    size_t n_views, n_lines, margin;
    float *values;
    bool truncated; /* the object is wider than the panel */
};

static fbp_status sums_read(struct sums *m, const struct fbp_scan *scan, fbp_source *source,
                            const double axis[3])
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    const struct fbp_view *v = &scan->views[0];
    const double slope = -fbp_dot(axis, v->u) / fbp_dot(axis, v->v); /* rows per column */
    struct fbp_view_reader reader = {0};
    float *work = NULL, *view = NULL;
    double *columns = NULL, P[12], height = 0, most = 0;
    fbp_status st;

    m->n_views = scan->n_views;
    m->n_lines = nr;
    m->margin = (size_t)fmin(2 + fabs(slope) * (double)nc / 2, (double)nr / 4);
    FBP_TRY_GOTO(fbp_view_reader_open(&reader, scan, source));
    FBP_TRY_GOTO(fbp_calloc((void **)&m->values, m->n_views * nr * 2, sizeof *m->values, "sums"));
    FBP_TRY_GOTO(fbp_calloc((void **)&columns, nc, sizeof *columns, "sums"));
    FBP_TRY_GOTO(fbp_alloc((void **)&work, (nr + 2 * reader.prep.margin_rows) * nc * sizeof *work,
                           "a view"));
    FBP_TRY_GOTO(fbp_alloc((void **)&view, nr * nc * sizeof *view, "a view"));
    for (size_t k = 0; k < scan->n_views; k++) {
        float *to = m->values + k * nr * 2;
        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        FBP_TRY_GOTO(fbp_view_reader_rows(&reader, k, 0, nr, work, view));
        height = k ? height : P[7] / P[11];
        for (size_t r = 0; r < nr; r++)
            for (size_t c = 0; c < nc; c++) {
                const double x = (double)c - P[3] / P[11];
                const double y = (double)r - slope * x + height - P[7] / P[11], f = y - floor(y);
                if (!(y >= 0 && y < (double)nr - 1))
                    continue;
                const double p = (double)view[r * nc + c];
                float *at = to + 2 * (size_t)y;
                at[0] += (float)(p * (1 - f));
                at[1] += (float)(p * (1 - f) * x);
                at[2] += (float)(p * f);
                at[3] += (float)(p * f * x);
                columns[c] += p;
            }
    }
    for (size_t c = 0; c < nc; c++)
        most = fmax(most, columns[c]);
    m->truncated = !(fmax(columns[1], columns[nc - 2]) < 0.03 * most);
fail:
    fbp_view_reader_close(&reader);
    fbp_free(work);
    fbp_free(view);
    free(columns);
    return st;
}

/* Get sum i of a view, interpolated at a line. */
static double at_line(const struct sums *m, size_t view, double line, int i)
{
    const double y = fmin(fmax(line, 0), (double)m->n_lines - 1.000001);
    const float *at = m->values + (view * m->n_lines + (size_t)y) * 2 + i;

    return (double)at[0] + (y - floor(y)) * (double)(at[2] - at[0]);
}

/* Find offsets x[PARTS + 1][view]: x[PARTS] from all lines, x[p] from all lines but part p.
 * Along columns, if rows is NULL: register the sums of each view with their mean.  Along rows:
 * minus the centre of mass of the lines, which move with the offsets rows[view] along columns. */
static fbp_status find_offsets(const struct sums *m, const double *rows, double *x)
{
    const size_t n = m->n_views, lines = m->n_lines, end = lines - m->margin;
    const double *shifts = rows ? rows : x + PARTS * n;
    double *mean;

    FBP_TRY(fbp_calloc((void **)&mean, lines, sizeof *mean, "sums"));
    for (int round = 0; round < (rows ? 1 : ROUNDS); round++) {
        memset(mean, 0, lines * sizeof *mean);
        for (size_t k = 0; k < n; k++)
            for (size_t line = 0; line < lines; line++)
                mean[line] += at_line(m, k, (double)line - shifts[k], 0) / (double)n;
        for (size_t k = 0; k < n; k++) {
            const double shift = shifts[k];
            double sums[PARTS + 1][2] = {{0}};
            for (size_t line = m->margin; line < end; line++) {
                const double at = (double)line - shift,
                             slope = (mean[line + 1] - mean[line - 1]) / 2;
                /* the weight is 0 at both ends: the object may be longer than the panel */
                const double w =
                    sin(FBP_PI * ((double)(line - m->margin) + 0.5) / (double)(end - m->margin));
                const double a =
                    rows ? -w * at_line(m, k, at, 1) : slope * (at_line(m, k, at, 0) - mean[line]);
                const double b = rows ? w * at_line(m, k, at, 0) : slope * slope;
                for (size_t p = 0; p <= PARTS; p++)
                    if (p != line * 2 * PARTS / lines % PARTS) {
                        sums[p][0] += a;
                        sums[p][1] += b;
                    }
            }
            for (size_t p = 0; p <= PARTS; p++)
                x[p * n + k] = (rows ? 0 : shift) + sums[p][0] / fmax(sums[p][1], 1e-30);
        }
    }
    free(mean);
    return FBP_OK;
}

/* Offset of a view at an angle from those of the compared views: linear interpolation. */
static double at_angle(const struct fbp_epipolar *e, const double *x, double angle)
{
    for (size_t k = 0; k + 1 < e->n_views; k++) {
        const double from = angle - e->angles[k], to = e->angles[k + 1] - angle;
        if (from * to >= 0)
            return x[k] + (x[k + 1] - x[k]) * from / (from + to);
    }
    return x[fabs(angle - e->angles[0]) < fabs(angle - e->angles[e->n_views - 1]) ? 0
                                                                                  : e->n_views - 1];
}

fbp_status fbp_drift_find(const struct fbp_scan *scan, fbp_source *source, struct fbp_epipolar *e,
                          struct fbp_epipolar_fit *fit, const double axis[3], const double *angles,
                          struct fbp_drift out[2], double (*offsets)[2])
{
    static const bool values[FBP_CALIBRATED_COUNT] = {
        [FBP_CALIBRATED_COLUMN] = true, [FBP_CALIBRATED_ROLL] = true};
    const size_t n = scan->n_views, size = (PARTS + 1) * n, waves = e ? HARMONICS : 1;
    const double middle = e ? (e->angles[0] + e->angles[e->n_views - 1]) / 2 : 0;
    struct fbp_scan reduced = {.struct_size = sizeof reduced};
    struct sums m = {0};
    size_t n_vectors = 0, bin;
    double *x = NULL, *basis = NULL; /* x: [direction][PARTS + 1][view] */
    fbp_status st;

    memset(out, 0, 2 * sizeof *out); /* also on failure */
    FBP_TRY_GOTO(fbp_calibrate_reduce(scan, COLUMNS, n, &reduced, &bin));
    FBP_TRY_GOTO(fbp_calloc((void **)&x, 3 * size, sizeof *x, "offsets"));
    FBP_TRY_GOTO(sums_read(&m, &reduced, source, axis));
    /* Harmonics of the angle that are not determined by centres of mass: of parallel beams, an
     * object moves like a sine. */
    FBP_TRY_GOTO(fbp_alloc((void **)&basis, (2 * waves + 1) * n * sizeof *basis, "harmonics"));
    for (size_t i = 0; i <= 2 * waves; i++) {
        double *v = basis + n_vectors * n;
        for (size_t k = 0; k < n; k++)
            v[k] = i % 2 ? sin((double)(i + 1) / 2 * (angles[k] - middle))
                         : cos((double)i / 2 * (angles[k] - middle));
        n_vectors += fbp_orthonormalise(basis, n_vectors, n);
    }
    if (!e)
        FBP_TRY_GOTO(find_offsets(&m, NULL, x + size));
    FBP_TRY_GOTO(find_offsets(&m, x + size + PARTS * n, x));
    for (size_t p = 0; p <= PARTS; p++)
        for (size_t i = 0; i < n_vectors; i++)
            fbp_remove_component(basis + i * n, x + p * n, n);
    for (size_t k = 0; k < 2 * size; k++)
        x[k] *= m.truncated && k < size ? 0 : (double)bin;
    if (e) {
        double *compared = x + 2 * size;
        for (size_t k = 0; k < e->n_views; k++)
            fbp_axpy(e->views[k].d, x[PARTS * n + e->order[k]] / (double)bin, e->views[k].u,
                     e->views[k].d);
        st = fbp_epipolar_fit(e, values, fit, compared);
        for (size_t k = 0; k < e->n_views; k++)
            fbp_axpy(e->views[k].d, -x[PARTS * n + e->order[k]] / (double)bin, e->views[k].u,
                     e->views[k].d);
        FBP_TRY_GOTO(st);
        for (size_t k = 0; k < size; k++)
            x[size + k] = (double)bin * at_angle(e, compared + k / n * e->n_views, angles[k % n]);
    }
    for (size_t i = 0; i < 2; i++) {
        double *to = x + i * size, *all = to + PARTS * n, squares = 0;
        double noise = pow(least[e != NULL][i] * (double)bin, 2);
        /* In less than a full turn, a wrong roll is not distinguished from the sine about the
         * middle of the arc. */
        const size_t n_removed = e && !e->closed ? 2 : 1;
        for (size_t p = 0; p <= PARTS; p++)
            for (size_t j = 0; j < n_removed; j++)
                fbp_remove_component(basis + j * n, to + p * n, n);
        for (size_t k = 0; k < n; k++) {
            double sums[2] = {0};
            for (size_t p = 0; p < PARTS; p++) {
                sums[0] += to[p * n + k] / PARTS;
                sums[1] += to[p * n + k] * to[p * n + k] / PARTS;
            }
            noise += fmax(0, sums[1] - sums[0] * sums[0]) * (PARTS - 1) / (double)n;
            squares += all[k] * all[k] / (double)n;
        }
        out[i] = (struct fbp_drift){.observable = i == 1 || !m.truncated,
                                    .slow = !e || (i == 1 && e->closed),
                                    .found = squares > 4 * noise,
                                    .uncertainty = 1.96 * sqrt(noise)};
        for (size_t k = 0; out[i].found && k < n; k++)
            offsets[k][i] = all[k];
    }
fail:
    fbp_scan_clear(&reduced);
    fbp_free(m.values);
    free(x);
    fbp_free(basis);
    return st;
}
