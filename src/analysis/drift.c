/* fbp_drift_find(): determines how far the panel, or the object, moves between the views of a scan
 * (methods: calibrate.h).
 * Used by: calibrate.c. */
#include "analysis/calibrate.h"
#include "analysis/centre.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = FBP_EPIPOLAR_GROUPS, /* of the lines and slices, each left out once (jackknife) */
    ROUNDS = 8,
    COLUMNS = 512,       /* greatest number of columns whose values are added */
    SLICE_COLUMNS = 256, /* greatest numbers of columns and views of reconstructed slices */
    SLICE_VIEWS = 240,
    HARMONICS = 4, /* of the centre of mass of cone-beam views, as a function of the angle */
};

/* Least standard deviations of offsets [pixels]: of parallel and of cone beams, along rows and
 * columns, and along rows of slow movement.  They were found on simulated scans
 * (bench/calibration/drift.py). */
static const double least[2][2] = {{0.005, 0.007}, {0.01, 0.03}}, LEAST_SLOW = 0.12;

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

/* Find offsets x[PARTS + 1][view], the last of all lines, the others without one part of them.
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

/* Find the slow offsets along rows for which slices are sharpest, and add them to
 * x[PARTS + 1][view]: multiples of the vectors of a basis except sine and cosine of the angle,
 * which move the object. */
static fbp_status sharpen(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                          const double *basis, size_t n_vectors, double *x)
{
    const size_t n = scan->n_views, every = (n + SLICE_VIEWS - 1) / SLICE_VIEWS;
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .n_threads = params->n_threads,
                                       .input.source = params->input.source};
    struct fbp_scan few = {.struct_size = sizeof few};
    struct fbp_grid *g = &few.volume;
    struct fbp_view *views = NULL;
    float *slices = NULL;
    double(*found)[PARTS + 1] = NULL; /* of the single slices, and of all */
    bool moves = true;
    size_t bin;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calibrate_reduce(scan, SLICE_COLUMNS, SLICE_VIEWS, &few, &bin));
    FBP_TRY_GOTO(fbp_calloc((void **)&views, few.n_views, sizeof *views, "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&found, n_vectors, sizeof *found, "offsets"));
    memcpy(views, few.views, few.n_views * sizeof *views);
    memset(g, 0, sizeof *g);
    FBP_TRY_GOTO(fbp_grid_resolve(NULL, &few, g));
    g->voxel_mm[2] *= fmax(1, 0.3 * (double)g->n[2] / PARTS); /* near the plane of the sources */
    g->n[2] = PARTS;
    FBP_TRY_GOTO(fbp_alloc((void **)&slices, PARTS * g->n[0] * g->n[1] * sizeof *slices, "slices"));
    for (int round = 0; round < ROUNDS && moves; round++) {
        moves = false;
        for (size_t i = 0; i < n_vectors; i++) {
            const double step = 0.4 * sqrt((double)n), at = found[i][PARTS];
            double y[3][PARTS], sum[3] = {0}, squares = 0;
            for (int t = 0; t < 3 && i != 1 && i != 2; t++) {
                found[i][PARTS] = at + (t - 1) * step;
                for (size_t k = 0; k < few.n_views; k++) {
                    double offset = x[PARTS * n + k * every] / (double)bin;
                    for (size_t j = 0; j < n_vectors; j++)
                        offset += found[j][PARTS] * basis[j * n + k * every];
                    fbp_axpy(views[k].d, offset, views[k].u, few.views[k].d);
                }
                FBP_TRY_GOTO(fbp_slices_score(&few, &p, slices, y[t]));
                for (size_t z = 0; z < PARTS; z++)
                    sum[t] -= y[t][z];
            }
            if (i == 1 || i == 2)
                continue;
            found[i][PARTS] = fbp_vertex(at, step, sum[0], sum[1], sum[2]);
            for (size_t z = 0; z < PARTS; z++) {
                found[i][z] = fbp_vertex(at, step, -y[0][z], -y[1][z], -y[2][z]);
                squares += pow(found[i][z] - found[i][PARTS], 2) / (PARTS * (PARTS - 1));
            }
            moves |= fabs(found[i][PARTS] - at) > fmax(4 * sqrt(squares), step / 8);
        }
        if (round == 0 && !moves)
            memset(found, 0, n_vectors * sizeof *found);
    }
    for (size_t i = 0; i < n_vectors; i++)
        for (size_t q = 0; q <= PARTS; q++) {
            const double a = found[i][PARTS] + (found[i][PARTS] - found[i][q]) / (PARTS - 1);
            for (size_t k = 0; k < n; k++)
                x[q * n + k] += a * basis[i * n + k] * (double)bin;
        }
fail:
    fbp_scan_clear(&few);
    free(views);
    free(found);
    fbp_free(slices);
    return st;
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

fbp_status fbp_drift_find(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                          struct fbp_epipolar *e, struct fbp_epipolar_fit *fit, bool by_slices,
                          const double axis[3], const double *angles, struct fbp_drift out[2],
                          double (*offsets)[2])
{
    static const bool values[2][FBP_CALIBRATED_COUNT] = {
        {[FBP_CALIBRATED_COLUMN] = true, [FBP_CALIBRATED_ROLL] = true},
        {[FBP_CALIBRATED_ROLL] = true}};
    const size_t n = scan->n_views, size = (PARTS + 1) * n, waves = e ? HARMONICS : 1;
    struct fbp_scan reduced = {.struct_size = sizeof reduced};
    struct sums m = {0};
    size_t n_vectors = 0, bin;
    double *x = NULL, *basis = NULL; /* x: [direction][PARTS + 1][view] */
    fbp_status st;

    memset(out, 0, 2 * sizeof *out); /* also on failure */
    FBP_TRY_GOTO(fbp_calibrate_reduce(scan, COLUMNS, n, &reduced, &bin));
    FBP_TRY_GOTO(fbp_calloc((void **)&x, 3 * size, sizeof *x, "offsets"));
    FBP_TRY_GOTO(sums_read(&m, &reduced, params->input.source, axis));
    /* Harmonics of the angle that are not determined by centres of mass: of parallel beams, an
     * object moves like a sine. */
    FBP_TRY_GOTO(fbp_alloc((void **)&basis, (2 * waves + 1) * n * sizeof *basis, "harmonics"));
    for (size_t i = 0; i <= 2 * waves; i++) {
        double *v = basis + n_vectors * n;
        for (size_t k = 0; k < n; k++)
            v[k] = i % 2 ? sin((double)(i + 1) / 2 * angles[k]) : cos((double)i / 2 * angles[k]);
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
    if (by_slices)
        FBP_TRY_GOTO(sharpen(scan, params, basis, n_vectors, x));
    if (e) {
        double *compared = x + 2 * size;
        for (size_t k = 0; k < e->n_views; k++)
            fbp_axpy(e->views[k].d, x[PARTS * n + e->order[k]] / (double)bin, e->views[k].u,
                     e->views[k].d);
        st = fbp_epipolar_fit(e, values[by_slices], fit, compared);
        for (size_t k = 0; k < e->n_views; k++)
            fbp_axpy(e->views[k].d, -x[PARTS * n + e->order[k]] / (double)bin, e->views[k].u,
                     e->views[k].d);
        FBP_TRY_GOTO(st);
        for (size_t k = 0; k < size; k++)
            x[size + k] = (double)bin * at_angle(e, compared + k / n * e->n_views, angles[k % n]);
    }
    for (size_t i = 0; i < 2; i++) {
        double *to = x + i * size, *all = to + PARTS * n, constant = 0, squares = 0;
        const double floor = by_slices && i == 0 ? LEAST_SLOW : least[e != NULL][i] * (double)bin;
        double noise = floor * floor;
        for (size_t k = 0; k < n; k++)
            constant += i == 0 ? all[k] / (double)n : 0;
        for (size_t p = 0; p <= PARTS; p++)
            fbp_remove_component(basis, to + p * n, n);
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
                                    .slow = !e || by_slices,
                                    .found = squares > 4 * noise,
                                    .uncertainty = 1.96 * sqrt(noise)};
        for (size_t k = 0; out[i].found && k < n; k++)
            offsets[k][i] = all[k] + constant;
    }
fail:
    fbp_scan_clear(&reduced);
    fbp_free(m.values);
    free(x);
    fbp_free(basis);
    return st;
}
