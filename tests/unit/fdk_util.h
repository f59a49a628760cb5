/* A small FDK in double: the mean of a ball, sampled at points inside it.  Include after
 * geometry_util.h. */
#ifndef FBP_TEST_FDK_UTIL_H
#define FBP_TEST_FDK_UTIL_H

#include "geometry/kind.h"
#include "geometry/view.h"
#include "weight/weight.h"

#include <string.h>

struct ball {
    double centre[3], radius, mu;
};

/* Line integral along the ray through a pixel; a cylinder along z if `endless`. */
static inline double ball_line(const struct ball *b, bool endless, const struct fbp_view *view,
                               enum fbp_kind kind, const double pixel[3])
{
    double dir[3], q[3];

    fbp_axpy(view->s, kind == FBP_CONE ? -1 : 0, pixel, dir);
    fbp_normalise(dir);
    fbp_axpy(pixel, -1, b->centre, q);
    if (endless)
        q[2] = dir[2] = 0;
    const double d2 = fbp_dot(dir, dir);
    const double qd = fbp_dot(q, dir);
    const double h2 = qd * qd - d2 * (fbp_dot(q, q) - b->radius * b->radius);
    return h2 > 0 ? 2 * b->mu * sqrt(h2) / d2 : 0;
}

static inline double ramp_tap(size_t n)
{
    const double x = FBP_PI * (double)n;
    return n == 0 ? 0.25 : n % 2 ? -1 / (x * x) : 0;
}

/* Weighted samples of a view's rows, made when first asked for. */
struct rows {
    double *samples;
    bool *made;
};

static inline double filtered(const struct scan *scan, const struct fbp_weights *w, size_t k,
                              const struct fbp_view *view, const struct ball *b, bool endless,
                              struct rows *rows, double column, double row)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;

    if (!(row >= 0 && row < (double)nr && column >= 0 && column < (double)nc))
        return 0;
    const size_t r = (size_t)row, c = (size_t)column;
    double *line = rows->samples + r * nc, sum = 0;
    if (!rows->made[r]) {
        fbp_weights_row(w, k, r, line);
        for (size_t i = 0; i < nc; i++) {
            double p[3];
            fbp_view_pixel(view, &scan->panel, (double)i, (double)r, p);
            line[i] *= ball_line(b, endless, view, scan->kind, p);
        }
        rows->made[r] = true;
    }
    for (size_t i = 0; i < nc; i++)
        sum += ramp_tap(i > c ? i - c : c - i) * line[i];
    return sum;
}

/* Mean of the reconstruction over points within 0.8 radii (a disk of them if there is one row). */
static inline double fdk_mean(const struct scan *scan, const struct fbp_view *views,
                              enum fbp_angular_weights angular, const struct ball *b, bool endless,
                              int n_points)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_weights *w;
    struct rows rows = {calloc(nc * nr, sizeof(double)), calloc(nr, sizeof(bool))};
    double points[128][3], sum = 0;

    if (fbp_views_facts(views_of(scan, views), NULL, &facts) != FBP_OK ||
        fbp_weights_create(&w, views_of(scan, views), &facts, angular) != FBP_OK || !rows.samples ||
        !rows.made)
        abort();
    for (int i = 0; i < n_points;) {
        double q[3] = {uniform(-1, 1), uniform(-1, 1), nr > 1 ? uniform(-1, 1) : 0};
        if (fbp_dot(q, q) <= 1)
            fbp_axpy(b->centre, 0.8 * b->radius, q, points[i++]);
    }
    for (size_t k = 0; k < scan->n; k++) {
        double P[12];
        if (fbp_view_to_matrix(&views[k], scan->kind, &scan->panel, P) != FBP_OK)
            abort();
        memset(rows.made, 0, nr * sizeof *rows.made);
        for (int i = 0; i < n_points; i++) {
            const double z = fbp_dot(P + 8, points[i]) + P[11];
            const double c = (fbp_dot(P, points[i]) + P[3]) / z, c0 = floor(c);
            const double r = nr > 1 ? (fbp_dot(P + 4, points[i]) + P[7]) / z : 0, r0 = floor(r);
            for (int t = 0; t < (nr > 1 ? 4 : 2); t++) {
                const int dc = t & 1, dr = t >> 1;
                const double share = (dc ? c - c0 : 1 - c + c0) * (dr ? r - r0 : 1 - r + r0);
                sum += share * P[11] * P[11] / (z * z) *
                       filtered(scan, w, k, &views[k], b, endless, &rows, c0 + dc, r0 + dr);
            }
        }
    }
    fbp_weights_destroy(&w);
    free(rows.samples);
    free(rows.made);
    return sum / n_points;
}

#endif /* FBP_TEST_FDK_UTIL_H */
