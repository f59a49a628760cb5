/* Geometry of a cone-beam scan from a phantom of small dense beads (fbp_beads_fit(), calibrate.h):
 * finds the centroids of the beads in each view, links them to tracks, and fits the positions of
 * the beads together with a change of the geometry (bundle adjustment).
 * Used by: calibrate.c. */
#include "analysis/calibrate.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "scan/file/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = FBP_CALIBRATED_COUNT,
    MOST_VIEWS = FBP_BEADS_VIEWS,
    FEWEST_VIEWS = 24,
    MOST_SPOTS = 100, /* per view */
    MOST_BEADS = 64,
    UNKNOWNS = N + 3 * MOST_BEADS,
    ROUNDS = 20, /* greatest number of Gauss-Newton steps */
    PARTS = 16,  /* number of parts of the views, for uncertainties */
    NONE = -1,
};

/* Values [pixels, radians, relative]; spread: standard deviation before the fit; step: for
 * numerical derivatives; least: lower limit of the uncertainty, found on simulated scans
 * (bench/calibration). The pitch is kept: other heights of the beads have the same effect as a
 * small pitch. */
static const struct {
    double spread, step, least;
} facts_of[N] = {
    [FBP_CALIBRATED_COLUMN] = {INFINITY, 1e-3, 3e-3}, [FBP_CALIBRATED_ROW] = {INFINITY, 1e-3, 1e-2},
    [FBP_CALIBRATED_ROLL] = {INFINITY, 1e-5, 5e-5},   [FBP_CALIBRATED_YAW] = {0.02, 1e-5, 1e-4},
    [FBP_CALIBRATED_SDD] = {0.02, 1e-5, 3e-4},        [FBP_CALIBRATED_ARC] = {0.005, 1e-5, 6e-5},
};

/* Standard deviation of the pitch that is not fitted [rad]. */
static const double PITCH = 0.01;

/* Image of a bead in a view. */
struct spot {
    double at[2], mass; /* column and row of the centroid [pixels], and sum of the values */
    double motion[2];   /* since the view before [pixels per rad]; 0: not linked */
    size_t view;
    int bead; /* NONE: not used */
};

/* Spots, and the fit of beads and geometry to them. */
struct bundle {
    const struct fbp_scan *scan;
    size_t n_views, n_spots, n_beads;
    struct fbp_view views[MOST_VIEWS], changed[MOST_VIEWS]; /* of the scan, and changed */
    double angles[MOST_VIEWS], axis[3];                     /* about the axis [rad] */
    size_t order[MOST_VIEWS];                               /* views sorted by angle */
    struct spot spots[MOST_VIEWS * MOST_SPOTS];             /* in the order of the views */
    size_t first[MOST_VIEWS + 1];                           /* first spot of each view */
    double beads[MOST_BEADS][3];                            /* positions [mm] */
    struct fbp_change change;
    bool free[N];
    double P[1 + N][MOST_VIEWS][12]; /* matrices: of `change`, and of a step of each free value */
    double A[UNKNOWNS * UNKNOWNS], b[UNKNOWNS], x[UNKNOWNS];
    double sizes[MOST_VIEWS * MOST_SPOTS]; /* work: residuals, counts */
    double width; /* of Cauchy's distribution of residuals: 2.4 standard deviations [pixels] */
};

/* Replace each sample of lines of n samples by the least (grow: greatest) of `box` samples that
 * begin (grow: end) at it and are `stride` apart. */
static void slide(float *t, size_t size, size_t n, size_t stride, size_t box, bool grow)
{
    for (float *p = t; p < t + size; p += n)
        for (size_t width = 1, step; width < box; width += step) {
            step = 2 * width <= box ? width : box - width;
            const size_t shift = step * stride;
            for (size_t i = n; grow && i-- > shift;)
                p[i] = p[i] > p[i - shift] ? p[i] : p[i - shift];
            for (size_t i = 0; !grow && i + shift < n; i++)
                p[i] = p[i] < p[i + shift] ? p[i] : p[i + shift];
        }
}

/* Subtract the background of a view: its morphological opening by a box, which keeps edges.
 * smooth: becomes the result, smoothed by 3 x 3 pixels.  Returns the threshold of beads in it,
 * above three times its mean, which noise does not reach. */
static double remove_background(float *view, float *smooth, float *work, size_t nc, size_t size,
                                size_t box)
{
    double sum = 0, greatest = 0;

    memcpy(work, view, size * sizeof *work);
    for (int grow = 0; grow < 2; grow++) {
        slide(work, size, nc, 1, box, grow);
        slide(work, size, size, nc, box, grow);
    }
    for (size_t i = 0; i < size; i++)
        view[i] -= work[i];
    for (size_t i = 0; i < size; i++)
        work[i] = i > 0 && i + 1 < size ? (view[i - 1] + view[i] + view[i + 1]) / 3 : 0;
    for (size_t i = 0; i < size; i++) {
        smooth[i] = i >= nc && i + nc < size ? (work[i - nc] + work[i] + work[i + nc]) / 3 : 0;
        sum += (double)smooth[i];
        greatest = fmax(greatest, (double)smooth[i]);
    }
    return fmax(greatest / 4, 3 * sum / (double)size);
}

/* Measure the bead about the maximum of `smooth` at (column, row), whose neighbourhood of 2 h + 1
 * pixels contains no other: the centroid in a disc of its area, minus the mean of a ring.  False:
 * no such bead. */
static bool measure(const float *view, const float *smooth, double threshold, size_t nc, size_t h,
                    size_t column, size_t row, struct spot *s)
{
    const double top = (double)smooth[row * nc + column];
    double area = 0, middle[2] = {0}, sums[2][6] = {{0}};

    for (size_t r = row - h; r <= row + h; r++)
        for (size_t c = column - h; c <= column + h; c++) {
            const double v = (double)smooth[r * nc + c];
            if (v > top || (v > threshold &&
                            (r == row - h || r == row + h || c == column - h || c == column + h)))
                return false;
            area += v > threshold;
            middle[0] += v > threshold ? (double)c : 0;
            middle[1] += v > threshold ? (double)r : 0;
        }
    const double radius = sqrt(area / FBP_PI) + 1.5;
    if (area < 4 || radius + 2 > (double)h)
        return false;
    for (size_t r = row - h; r <= row + h; r++)
        for (size_t c = column - h; c <= column + h; c++) {
            const double x = (double)c - middle[0] / area, y = (double)r - middle[1] / area;
            const double v = (double)view[r * nc + c], terms[6] = {1, x, y, v, v * x, v * y};
            const double distance = hypot(x, y);
            for (int i = 0; i < 6 && distance <= radius + 2; i++)
                sums[distance > radius][i] += terms[i];
        }
    const double base = sums[1][3] / sums[1][0];
    s->mass = sums[0][3] - base * sums[0][0];
    for (int i = 0; i < 2; i++)
        s->at[i] = middle[i] / area + (sums[0][4 + i] - base * sums[0][1 + i]) / s->mass;
    return s->mass > 0;
}

/* Read the views, and find beads in them that are smaller than a tenth of the panel. */
static fbp_status read_spots(struct bundle *f, fbp_source *source)
{
    const size_t nc = f->scan->panel.n_columns, nr = f->scan->panel.n_rows, size = nc * nr;
    const size_t box = nc > 110 ? nc / 10 : 11, h = box / 2 + 2;
    struct fbp_view_reader reader = {0};
    float *view = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_view_reader_open(&reader, f->scan, source));
    const size_t room = 3 * size + 2 * reader.prep.margin_rows * nc;
    FBP_TRY_GOTO(fbp_alloc((void **)&view, room * sizeof *view, "a view"));
    for (size_t k = 0; k < f->n_views; k++) {
        float *smooth = view + size, *work = view + 2 * size;
        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_view_reader_rows(&reader, k, 0, nr, work, view));
        const double threshold = remove_background(view, smooth, work, nc, size, box);
        f->first[k] = f->n_spots;
        for (size_t r = h; r + h < nr; r++)
            for (size_t c = h; c + h < nc && f->n_spots < f->first[k] + MOST_SPOTS; c++) {
                const float *p = smooth + r * nc + c;
                struct spot *s = &f->spots[f->n_spots];
                if ((double)*p > threshold && *p > p[-1] && *p >= p[1] &&
                    measure(view, smooth, threshold, nc, h, c, r, s)) {
                    s->view = k;
                    s->bead = (int)f->n_spots++;
                }
            }
    }
    f->first[f->n_views] = f->n_spots;
fail:
    fbp_view_reader_close(&reader);
    fbp_free(view);
    return st;
}

/* Link each spot to the one spot of the view before that moves to its place; tracks over 0.4 rad
 * become beads. */
static void link_spots(struct bundle *f)
{
    const double half = (double)f->scan->panel.n_columns / 2, least_arc = 0.4;
    const double arc = f->angles[f->order[f->n_views - 1]] - f->angles[f->order[0]];
    const double few = fmax(6, least_arc / arc * (double)f->n_views);

    for (size_t k = 1; k < f->n_views; k++) {
        const size_t now = f->order[k], before = f->order[k - 1];
        const double turn = f->angles[now] - f->angles[before];
        for (struct spot *s = f->spots + f->first[now]; s < f->spots + f->first[now + 1]; s++) {
            const struct spot *from = NULL, *b = f->spots + f->first[before];
            int near = 0;
            for (; b < f->spots + f->first[before + 1]; b++) {
                const bool linked = fabs(b->motion[0]) > 0;
                const double gate = linked ? 1.5 + half * turn * turn : half * turn + 2;
                if (hypot(s->at[0] - b->at[0] - turn * b->motion[0],
                          s->at[1] - b->at[1] - turn * b->motion[1]) < fmin(gate, half / 3) &&
                    fabs(log(s->mass / b->mass)) < 0.3) {
                    near++;
                    from = b;
                }
            }
            if (near != 1)
                continue;
            s->bead = from->bead;
            for (int i = 0; i < 2; i++)
                s->motion[i] = (s->at[i] - from->at[i]) / turn;
        }
    }
    memset(f->sizes, 0, sizeof f->sizes);
    for (size_t i = 0; i < f->n_spots; i++)
        f->sizes[f->spots[i].bead]++;
    for (size_t i = 0; i < f->n_spots; i++)
        f->sizes[i] = f->sizes[i] >= few && f->n_beads < MOST_BEADS ? (double)f->n_beads++ : NONE;
    for (size_t i = 0; i < f->n_spots; i++)
        f->spots[i].bead = (int)f->sizes[f->spots[i].bead];
}

/* Factor from the unit of facts_of to that of struct fbp_change. */
static double unit_of(const struct bundle *f, int i)
{
    const double *step = i == FBP_CALIBRATED_ROW ? f->views[0].v : f->views[0].u;

    return i <= FBP_CALIBRATED_ROW ? fbp_norm(step) : 1;
}

static fbp_status set_matrices(struct bundle *f, const struct fbp_change *c, double (*P)[12])
{
    fbp_views_change(f->views, f->changed, f->n_views, f->scan->kind, f->axis, f->angles, c);
    for (size_t k = 0; k < f->n_views; k++)
        FBP_TRY(fbp_view_to_matrix(&f->changed[k], f->scan->kind, &f->scan->panel, P[k]));
    return FBP_OK;
}

/* Compute the difference of a spot from the image of a bead; returns the bead's depth. */
static double residual(const struct spot *s, const double P[12], const double bead[3],
                       double off[2])
{
    const double w = fbp_dot(P + 8, bead) + P[11];

    for (size_t i = 0; i < 2; i++)
        off[i] = s->at[i] - (fbp_dot(P + 4 * i, bead) + P[4 * i + 3]) / w;
    return w;
}

/* Derivatives of column (J[0]) and row (J[1]) of a spot with respect to the free values and the
 * position of its bead; off: its residual.  Returns its weight. */
static double differentiate(const struct bundle *f, const struct spot *s, double off[2],
                            double J[2][N + 3])
{
    const double *P = f->P[0][s->view], *bead = f->beads[s->bead];
    const double w = residual(s, P, bead, off);
    double moved[2];
    size_t n = 0;

    for (int i = 0; i < N; i++)
        if (f->free[i]) {
            residual(s, f->P[i + 1][s->view], bead, moved);
            for (int k = 0; k < 2; k++)
                J[k][n] = (off[k] - moved[k]) / facts_of[i].step;
            n++;
        }
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 2; k++)
            J[k][n + j] = (P[4 * k + j] - (s->at[k] - off[k]) * P[8 + j]) / w;
    return 1 / (1 + pow(hypot(off[0], off[1]) / f->width, 2));
}

/* Index of unknown j of a spot: free values, then the position of its bead. */
static size_t unknown(const struct spot *s, size_t n_free, size_t j)
{
    return j < n_free ? j : j + 3 * (size_t)s->bead;
}

/* Set up matrices, width, and the equations A x = b for the next step of the unknowns.  Returns in
 * *n_free the number of free values. */
static fbp_status linearise(struct bundle *f, size_t *n_free)
{
    double off[2], J[2][N + 3];
    size_t nf = 0, used = 0;

    FBP_TRY(set_matrices(f, &f->change, f->P[0]));
    for (int i = 0; i < N; i++)
        if (f->free[i]) {
            struct fbp_change c = f->change;
            c.p[i] += facts_of[i].step * unit_of(f, i);
            FBP_TRY(set_matrices(f, &c, f->P[i + 1]));
            nf++;
        }
    for (const struct spot *s = f->spots; s < f->spots + f->n_spots; s++)
        if (s->bead != NONE) {
            residual(s, f->P[0][s->view], f->beads[s->bead], off);
            f->sizes[used++] = hypot(off[0], off[1]);
        }
    fbp_sort(f->sizes, used);
    f->width = used ? fmax(2.4 / 1.18 * f->sizes[used / 2], 5e-3) : INFINITY;
    memset(f->A, 0, sizeof f->A);
    memset(f->b, 0, sizeof f->b);
    const size_t m = nf + 3 * f->n_beads;
    for (const struct spot *s = f->spots; s < f->spots + f->n_spots; s++) {
        const double weight = s->bead == NONE ? 0 : differentiate(f, s, off, J);
        for (int k = 0; k < 2 && weight > 0; k++)
            for (size_t a = 0; a < nf + 3; a++) {
                f->b[unknown(s, nf, a)] += weight * J[k][a] * off[k];
                for (size_t b = 0; b < nf + 3; b++)
                    f->A[unknown(s, nf, a) * m + unknown(s, nf, b)] += weight * J[k][a] * J[k][b];
            }
    }
    for (size_t i = 0, j = 0; i < N; i++)
        if (f->free[i]) {
            const double weight = pow(f->width / 2.4 / facts_of[i].spread, 2);
            f->A[j * m + j] += weight;
            f->b[j++] -= weight * f->change.p[i] / unit_of(f, (int)i);
        }
    *n_free = nf;
    return FBP_OK;
}

/* Fit beads and free values: Gauss-Newton steps with weights of Cauchy's distribution.  The width
 * is infinite if the fit diverges. */
static fbp_status improve(struct bundle *f)
{
    double greatest = INFINITY; /* step */
    size_t nf;

    FBP_TRY(linearise(f, &nf));
    for (int round = 0; round < ROUNDS && greatest > 1e-5; round++) {
        const double *x = f->x;
        const size_t m = nf + 3 * f->n_beads;
        FBP_TRY(fbp_check_cancelled());
        if (!fbp_solve(f->A, f->b, m, f->x)) {
            f->width = INFINITY;
            return FBP_OK;
        }
        greatest = 0;
        for (size_t i = 0; i < m; i++)
            greatest = fmax(greatest, fabs(x[i]));
        for (int i = 0; i < N; i++)
            if (f->free[i])
                f->change.p[i] += *x++ * unit_of(f, i);
        for (size_t i = 0; i < f->n_beads; i++, x += 3) {
            fbp_axpy(f->beads[i], 1, x, f->beads[i]);
            if (!(fbp_norm(f->beads[i]) < fbp_norm(f->views[0].s))) /* a false track */
                memset(f->beads[i], 0, sizeof f->beads[i]);
        }
        FBP_TRY(linearise(f, &nf));
    }
    return FBP_OK;
}

/* Fit tracks, with the opposite direction of rotation if `reversed`: beads alone, then also column,
 * row and roll, then all values.  width: with the scan's geometry, and at the end. */
static fbp_status fit_tracks(struct bundle *f, bool reversed, double width[2])
{
    static const int end[] = {0, FBP_CALIBRATED_ROLL + 1, N};
    /* False: the views are not in the order of their angles, such as in more than a full turn. */
    const bool ends = f->order[0] + f->order[f->n_views - 1] == f->n_views - 1;

    for (size_t k = 0; k < f->n_views; k++)
        f->angles[k] = fabs(f->angles[k]) * (reversed ? -1 : 1);
    memcpy(f->views, f->scan->views, f->n_views * sizeof *f->views);
    if (reversed)
        fbp_views_flip(f->views, f->n_views, FBP_FLIP_DIRECTION);
    f->change = (struct fbp_change){{0}};
    memset(f->beads, 0, sizeof f->beads);
    for (int stage = 0; stage < 3; stage++) {
        for (int i = 0; i < N; i++)
            f->free[i] =
                facts_of[i].spread > 0 && i < end[stage] && (i < FBP_CALIBRATED_ARC || ends);
        FBP_TRY(improve(f));
        width[stage > 0] = f->width;
    }
    return FBP_OK;
}

/* Assign all spots to beads by the present geometry, which joins the tracks of one bead; beads in
 * few views, and spots of two overlapping beads, are not used. */
static void assign(struct bundle *f)
{
    const double gate = 1 + 2 * f->width, few = fmax(6, 0.15 * (double)f->n_views);
    const size_t n = f->n_beads;
    double off[2];

    f->n_beads = 0;
    for (size_t i = 0; i < f->n_spots; i++)
        f->spots[i].bead = NONE;
    for (size_t j = 0; j < n; j++) {
        size_t count = 0;
        for (struct spot *s = f->spots; s < f->spots + f->n_spots; s++) {
            const double w = residual(s, f->P[0][s->view], f->beads[j], off);
            if (s->bead == NONE && hypot(off[0], off[1]) < gate) {
                s->bead = (int)f->n_beads;
                f->sizes[count++] = s->mass * w * w;
            }
        }
        fbp_sort(f->sizes, count);
        for (struct spot *s = f->spots; s < f->spots + f->n_spots; s++) {
            const double w = residual(s, f->P[0][s->view], f->beads[j], off);
            if (s->bead == (int)f->n_beads &&
                ((double)count < few || fabs(s->mass * w * w / f->sizes[count / 2] - 1) > 0.2))
                s->bead = NONE;
        }
        if ((double)count >= few)
            memmove(f->beads[f->n_beads++], f->beads[j], sizeof f->beads[j]);
    }
}

/* Compute the uncertainty of the unknown `which`, 2.4 standard deviations: the greater result of
 * the width, and of the sums of the residuals of each bead in parts of the views, because errors of
 * neighbouring centroids are not independent. */
static fbp_status find_uncertainty(struct bundle *f, size_t which, double *uncertainty)
{
    double off[2], J[2][N + 3], sums[MOST_BEADS][PARTS] = {{0}}, squares = 0;
    size_t nf;

    FBP_TRY(linearise(f, &nf));
    memset(f->b, 0, sizeof f->b);
    f->b[which] = 1;
    *uncertainty = INFINITY;
    if (!fbp_solve(f->A, f->b, nf + 3 * f->n_beads, f->x))
        return FBP_OK;
    for (const struct spot *s = f->spots; s < f->spots + f->n_spots; s++) {
        const double weight = s->bead == NONE ? 0 : differentiate(f, s, off, J);
        for (int k = 0; k < 2 && weight > 0; k++)
            for (size_t a = 0; a < nf + 3; a++)
                sums[s->bead][s->view * PARTS / f->n_views] +=
                    weight * f->x[unknown(s, nf, a)] * J[k][a] * off[k];
    }
    for (size_t i = 0; i < MOST_BEADS * PARTS; i++)
        squares += pow(sums[i / PARTS][i % PARTS], 2);
    *uncertainty = fmax(f->width * sqrt(f->x[which]), 2.4 * sqrt(squares));
    return FBP_OK;
}

/* Compute all uncertainties.  Values that are not observable, or differ from the scan's by less
 * than their uncertainties, are kept: a panel that is rotated needlessly requires resampling. */
static fbp_status find_uncertainties(struct bundle *f, double uncertainty[N])
{
    bool kept[N] = {false};
    size_t j = 0;

    for (int i = 0; i < N; i++) {
        double u = INFINITY;
        if (f->free[i])
            FBP_TRY(find_uncertainty(f, j++, &u));
        u = hypot(u, facts_of[i].least);
        if (i == FBP_CALIBRATED_ROLL) /* pitch and yaw rotate the axis's image by their product */
            u = hypot(u, PITCH * f->change.p[FBP_CALIBRATED_YAW]);
        const bool observable = u < facts_of[i].spread / 2;
        kept[i] = !observable || (i > FBP_CALIBRATED_ROLL && fabs(f->change.p[i]) < u);
        uncertainty[i] = observable ? u * unit_of(f, i) : INFINITY;
    }
    for (int i = 0; i < N; i++) {
        f->free[i] &= !kept[i];
        f->change.p[i] *= f->free[i];
    }
    return improve(f);
}

fbp_status fbp_beads_fit(const struct fbp_scan *scan, fbp_source *source, struct fbp_change *change,
                         double uncertainty[N], struct fbp_calibration *out)
{
    const size_t n = scan->n_views;
    struct fbp_geometry_facts facts;
    struct bundle *f = NULL;
    double width[2][2];
    fbp_status st;

    if (n < FEWEST_VIEWS)
        return FBP_UNSUPPORTED("calibrate: found %zu views, expected at least %d for a phantom of "
                               "beads; measure more views",
                               n, FEWEST_VIEWS);
    FBP_TRY_GOTO(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    FBP_TRY_GOTO(fbp_calloc((void **)&f, 1, sizeof *f, "beads"));
    f->scan = scan;
    f->n_views = n;
    memcpy(f->axis, facts.axis, sizeof f->axis);
    FBP_TRY_GOTO(fbp_views_sort(scan, &facts, f->order, f->sizes));
    for (size_t k = 0; k < n; k++)
        f->angles[f->order[k]] = f->sizes[k];
    FBP_TRY_GOTO(read_spots(f, source));
    link_spots(f);
    FBP_TRY_GOTO(fit_tracks(f, true, width[1]));
    FBP_TRY_GOTO(fit_tracks(f, false, width[0]));
    const double before = width[0][0], ratio = width[0][1] / width[1][1];
    out->reversed = ratio > 1;
    out->sense_known = fmax(ratio, 1 / ratio) > 1.5;
    if (out->reversed)
        FBP_TRY_GOTO(fit_tracks(f, true, width[1]));
    for (int round = 0; round < 3 && f->n_beads > 0; round++) {
        assign(f);
        FBP_TRY_GOTO(improve(f));
    }
    if (f->n_beads < 2)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("calibrate: found %zu isolated beads narrower than a tenth of "
                                     "the panel, expected at least 2 in a sixth of the views; omit "
                                     "the option beads",
                                     f->n_beads));
    if (!isfinite(f->width))
        FBP_TRY_GOTO(FBP_UNSUPPORTED("calibrate: positions of %zu beads fit no geometry; check the "
                                     "scan file, or omit the option beads",
                                     f->n_beads));
    FBP_TRY_GOTO(find_uncertainties(f, uncertainty));
    *change = f->change;
    out->misfit_before = before / 1.2 / (double)scan->panel.n_columns;
    out->misfit = f->width / 1.2 / (double)scan->panel.n_columns;
    out->reliable = out->sense_known && f->width < 1.2;
    if (!out->reliable)
        snprintf(
            out->why, sizeof out->why,
            "beads deviate by %.2g pixels from the fit, and the misfit of the opposite direction "
            "of rotation is %.2g times as great",
            f->width / 2.4, fmax(ratio, 1 / ratio));
fail:
    free(f);
    return st;
}
