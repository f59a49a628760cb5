/* Weights of samples before the filter: angular steps, redundancy (Parker 1982, Wang 2002, per
 * ray), distance factors (Feldkamp 1984), weights of plane integrals; also expected errors of
 * Feldkamp's method, and facts of a scan with these errors (fbp_scan_facts(), public). Formulas:
 * weight.h.
 * Used by: cli/, analysis/, backend/, backend/cpu/, backend/ref/, pipeline/. */
#include "weight/weight.h"

#include "geometry/coverage.h"
#include "geometry/kind.h"
#include "scan/file/scan.h"

#include <stdio.h>

/* Parker's weights: least length of a ramp on the central ray [view steps] for which the weight in
 * the middle of a step is as good as the mean over the step (bench/results/accuracy.md), for steps
 * that are nearly equal (LONG_RAMP) and for others (LONG_UNEVEN_RAMP). */
static const double LONG_RAMP = 4, LONG_UNEVEN_RAMP = 20;

struct fbp_weights {
    struct fbp_views views;
    struct fbp_geometry_facts facts;
    struct fbp_arc arc;
    struct fbp_rays rays;
    bool equal; /* all steps are equal */
    /* True: angles count modulo pi, because opposite views of a parallel beam measure the same
     * rays. */
    bool modulo_pi;
    bool separable;
    /* [views.n][n_columns] angular step times redundancy weight; NULL: ray.h computes both */
    float *per_ray;
    double *plane; /* [views.n] weights W of views of plane integrals; NULL: line integrals */
    struct fbp_quadrature_facts quadrature;
};

/* True if all views have the same panel, and the redundancy weight m does not depend on the row (m
 * is 1, v is parallel to the axis, or m is tabulated by column). */
static bool is_separable(const struct fbp_weights *w)
{
    const double tolerance = 1e-12;
    double first[12], other[12];
    struct fbp_frame f;

    for (size_t k = 0; k < w->views.n; k++) {
        const struct fbp_view *view = &w->views.view[k];
        const double *const vectors[4] = {view->s, view->d, view->u, view->v};
        double *const panel = k ? other : first; /* along n, t, a */
        fbp_frame_of(view, w->facts.axis, &f);
        for (size_t i = 0; i < 4; i++) {
            panel[3 * i] = fbp_dot(vectors[i], f.n);
            panel[3 * i + 1] = fbp_dot(vectors[i], f.t);
            panel[3 * i + 2] = fbp_dot(vectors[i], f.a);
        }
        if (k == 0 && w->rays.redundancy != FBP_SINGLE && !w->per_ray &&
            !(hypot(first[9], first[10]) <= tolerance * fabs(first[11])))
            return false;
        for (size_t i = 0; k > 0 && i < 12; i++) {
            const double scale = fbp_norm(first + i / 3 * 3);
            if (!(fabs(other[i] - first[i]) <= tolerance * scale))
                return false;
        }
    }
    return true;
}

fbp_status fbp_weights_create(fbp_weights **out, struct fbp_views views,
                              const struct fbp_geometry_facts *facts,
                              enum fbp_angular_weights angular)
{
    const size_t n = views.n;
    struct fbp_ray_coverage coverage = {0};
    fbp_weights *w = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_check_lines("weights", views.kind));
    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "weights"));
    w->views = views;
    w->facts = *facts;
    w->equal = angular == FBP_ANGULAR_EQUAL;
    w->modulo_pi = !fbp_kind_of(views.kind)->has_source && !facts->offset;
    FBP_TRY_GOTO(fbp_arc_create(&w->arc, views.view, n, facts->axis,
                                w->modulo_pi ? FBP_PI : 2 * FBP_PI, 0,
                                w->modulo_pi || facts->offset));
    /* steps modulo pi add up to pi; if the views cover a full turn, they are doubled, and m is 1 */
    const double turns = w->modulo_pi && facts->coverage == FBP_COVERAGE_FULL ? 2 : 1;
    for (size_t k = 0; k < n; k++)
        w->arc.step[k] = turns * (w->equal ? w->arc.arc_rad / (double)n : w->arc.step[k]);

    const bool source = fbp_kind_of(views.kind)->has_source;
    const double ramp = w->arc.arc_rad - FBP_PI, delta = w->modulo_pi ? 0 : ramp / 2;
    const double longer = facts->edge_mm[1] > -facts->edge_mm[0] ? 1 : -1; /* the side of +t */
    const double *step = facts->step_rad;
    w->rays = (struct fbp_rays){.cone = source, .delta = {cos(delta), sin(delta)}};
    if (facts->per_ray)
        w->rays.redundancy = FBP_PER_RAY;
    else if (facts->offset)
        w->rays.redundancy = FBP_WANG;
    else if (facts->coverage != FBP_COVERAGE_FULL)
        w->rays.redundancy = FBP_PARKER; /* without ramps if delta is 0 */
    if (w->rays.redundancy == FBP_WANG)
        w->rays.inverse_overlap = longer / (source ? facts->overlap_rad : facts->overlap_mm);
    /* In a short scan (COVERAGE_SHORT), Parker's weight is its mean over a view's step if the ramps
     * are short (LONG_RAMP), or if the arc is shorter than needed_rad by more than half a step;
     * otherwise, and in scans with missing rays, it is its value in the middle of the step. */
    w->rays.means = !facts->per_ray && !w->modulo_pi && !facts->offset &&
                    facts->coverage == FBP_COVERAGE_SHORT &&
                    (ramp < (step[2] < 1.5 * step[1] ? LONG_RAMP : LONG_UNEVEN_RAMP) * step[2] ||
                     w->arc.arc_rad < facts->needed_rad - step[1] / 2);

    /* Weights per ray (FBP_PER_RAY), by view and column, for the middle row of the detector: the
     * fan angle of a column depends on the row only if the detector is inclined, and then
     * little. */
    const double row = ((double)views.panel.n_rows - 1) / 2;
    const size_t nc = views.panel.n_columns;
    if (facts->per_ray) {
        FBP_TRY_GOTO(fbp_coverage_of(&coverage, fbp_kind_of(views.kind), &w->views, facts->axis));
        FBP_TRY_GOTO(fbp_calloc((void **)&w->per_ray, n * nc, sizeof *w->per_ray, "weights"));
    }
    for (size_t k = 0; facts->per_ray && k < n; k++) {
        const double own = fbp_coverage_step(&coverage, k);
        const double scale = w->equal ? 2 * FBP_PI / (double)n / own : 1;
        struct fbp_ray_view v;
        fbp_weights_view(w, k, &v);
        w->arc.step[k] = scale * own;
        for (size_t c = 0; c < nc; c++) {
            const double normal = v.q[0] + row * v.v[0] + (double)c * v.u[0];
            const double t = v.q[1] + row * v.v[1] + (double)c * v.u[1];
            const double x = source ? atan2(t, -normal) : t;
            w->per_ray[k * nc + c] = (float)(scale * fbp_coverage_weight(&coverage, k, x));
        }
    }
    w->separable = is_separable(w);
    *out = w;
    w = NULL;
fail:
    fbp_coverage_clear(&coverage);
    fbp_weights_destroy(&w);
    return st;
}

fbp_status fbp_weights_of_planes(fbp_weights **out, struct fbp_views views,
                                 enum fbp_quadrature quadrature, const double *given, bool spectra)
{
    double(*direction)[3] = NULL;
    fbp_weights *w = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "weights"));
    w->views = views;
    w->rays.delta[0] = 1;
    w->separable = true;
    FBP_TRY_GOTO(fbp_calloc((void **)&w->plane, views.n, sizeof *w->plane, "weights"));
    FBP_TRY_GOTO(fbp_planes_directions(views.view, views.n, &direction));
    FBP_TRY_GOTO(fbp_quadrature_of((const double(*)[3])direction, views.n, quadrature, given,
                                   w->plane, &w->quadrature));
    for (size_t k = 0; k < views.n; k++) {
        const double square = fbp_dot(views.view[k].u, views.view[k].u);
        w->plane[k] /= spectra ? square * sqrt(square) : square;
    }
    *out = w;
    w = NULL;
fail:
    free(direction);
    fbp_weights_destroy(&w);
    return st;
}

void fbp_weights_destroy(fbp_weights **weights)
{
    if (!*weights)
        return;
    free((*weights)->plane);
    free((*weights)->per_ray);
    fbp_arc_clear(&(*weights)->arc);
    free(*weights);
    *weights = NULL;
}

double fbp_weights_step(const fbp_weights *w, size_t view)
{
    return w->plane ? w->plane[view] : w->arc.step[view];
}

void fbp_weights_rays(const fbp_weights *w, struct fbp_rays *out)
{
    *out = w->rays;
}

void fbp_weights_view(const fbp_weights *w, size_t view, struct fbp_ray_view *out)
{
    const struct fbp_view *v = &w->views.view[view];
    const double *const vectors[3] = {out->q, v->u, v->v};
    double *const to[3] = {out->q, out->u, out->v};
    struct fbp_frame f;
    double P[12], across[3];

    *out = (struct fbp_ray_view){.factor = 1, .step = fbp_weights_step(w, view)};
    if (w->plane)
        return;
    fbp_frame_of(v, w->facts.axis, &f);
    fbp_view_pixel(v, &w->views.panel, 0, 0, out->q);
    if (w->rays.cone)
        fbp_axpy(out->q, -1, v->s, out->q);
    for (int i = 0; i < 3; i++) {
        const double x[3] = {vectors[i][0], vectors[i][1], vectors[i][2]};
        to[i][0] = fbp_dot(x, f.n);
        to[i][1] = fbp_dot(x, f.t);
        to[i][2] = fbp_dot(x, f.a);
    }
    out->factor = f.radius / 2;
    fbp_cross(v->s, v->u, across);
    if (!w->rays.cone)
        out->factor /= fbp_norm(across);
    else if (fbp_view_matrix(v, w->views.kind, &w->views.panel, P))
        out->factor /= P[11] * P[11];
    for (int i = 0; i < 2; i++) {
        const double begin = w->arc.position[view], angle = i ? w->arc.arc_rad - begin : begin;
        const double *cell = w->arc.cell + 2 * view, arc = w->arc.arc_rad;
        out->end[i] = (struct fbp_ray_end){
            .angle = angle,
            .cos = cos(angle / 2),
            .sin = sin(angle / 2),
            .share = {i ? arc - cell[1] : cell[0], i ? arc - cell[0] : cell[1]},
        };
    }
}

/* Prepare the computation of the weights of a row of a view: *v: the view; returns the row. */
static struct fbp_ray_row row_of(const fbp_weights *w, size_t view, double row,
                                 struct fbp_ray_view *v)
{
    struct fbp_ray_row out;

    fbp_weights_view(w, view, v);
    fbp_ray_row_of(&w->rays, v, row, &out);
    return out;
}

double fbp_weights_redundancy(const fbp_weights *w, size_t view, double column, double row)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, view, row, &v);

    if (w->per_ray)
        return (double)w->per_ray[view * w->views.panel.n_columns + (size_t)lround(column)] /
               v.step;
    return fbp_ray_redundancy(&w->rays, &v, &r, column);
}

void fbp_weights_row(const fbp_weights *w, size_t view, size_t row, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, view, (double)row, &v);

    const size_t nc = w->views.panel.n_columns;
    for (size_t c = 0; c < nc; c++)
        out[c] = w->per_ray
                     ? (double)w->per_ray[view * nc + c] * fbp_ray_geometry(&w->rays, &r, (double)c)
                     : fbp_ray_weight(&w->rays, &v, &r, (double)c);
}

bool fbp_weights_separable(const fbp_weights *w)
{
    return w->separable;
}

void fbp_weights_image(const fbp_weights *w, size_t row, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, 0, (double)row, &v);

    for (size_t c = 0; c < w->views.panel.n_columns; c++)
        out[c] = fbp_ray_geometry(&w->rays, &r, (double)c);
}

void fbp_weights_line(const fbp_weights *w, size_t view, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, view, ((double)w->views.panel.n_rows - 1) / 2, &v);

    const size_t nc = w->views.panel.n_columns;
    for (size_t c = 0; c < nc; c++)
        out[c] = w->per_ray ? (double)w->per_ray[view * nc + c]
                            : v.step * fbp_ray_redundancy(&w->rays, &v, &r, (double)c);
}

/*
 * Mean of a small ball at p that is reconstructed as 1 if the data determine it.  A view has those
 * spatial frequencies of an object at p that lie across its ray, and each gets the weights of all
 * views that have it; the mean over all frequencies is
 *
 *     1/(2 pi) sum_n dbeta_n m_n R_n |t x q| / |q|^2,        q = p - source,
 *
 * which is 1 in the plane of the sources.  Returned is that sum over the same sum with q projected
 * onto this plane, to cancel errors of the weights themselves.  A full turn loses the frequencies
 * near the axis that no plane through the source path has, 1 - cos(elevation) for a point on the
 * axis; a short scan deviates because the views' contributions differ.  Rows beyond the detector
 * count as the last one.
 */
static double mean_of_ball(const fbp_weights *w, const double p[3])
{
    const struct fbp_panel *panel = &w->views.panel;
    double sum = 0, in_plane = 0;

    for (size_t k = 0; k < w->views.n; k++) {
        const struct fbp_view *view = &w->views.view[k];
        struct fbp_frame f;
        double P[12], q[3], level[3], across[3];
        if (!fbp_frame_of(view, w->facts.axis, &f) ||
            !fbp_view_matrix(view, w->views.kind, panel, P))
            continue;
        const double depth = fbp_dot(P + 8, p) + P[11];
        const double column = (fbp_dot(P, p) + P[3]) / depth;
        const double row = (fbp_dot(P + 4, p) + P[7]) / depth;
        if (!(column > -0.5 && column < (double)panel->n_columns - 0.5))
            continue;
        for (int i = 0; i < 3; i++)
            q[i] = w->rays.cone ? p[i] - view->s[i] : view->s[i];
        const double inside = fmin(fmax(row, 0), (double)panel->n_rows - 1);
        const double weight =
            fbp_weights_step(w, k) * f.radius * fbp_weights_redundancy(w, k, column, inside);
        fbp_cross(f.t, q, across);
        sum += weight * fbp_norm(across) / fbp_dot(q, q);
        fbp_axpy(q, -fbp_dot(q, f.a), f.a, level);
        fbp_cross(f.t, level, across);
        in_plane += weight * fbp_norm(across) / fbp_dot(level, level);
    }
    return in_plane > 0 ? sum / in_plane : 1;
}

void fbp_weights_errors(const fbp_weights *w, const struct fbp_grid *grid, const double centre[3],
                        double out[4])
{
    const double *axis = w->facts.axis, height = fbp_dot(centre, axis);
    const double see[2] = {w->facts.fov_half_height_mm[0] - height,
                           w->facts.fov_half_height_mm[1] - height};
    double reach = 0, z[4], u[3] = {1, 0, 0}, v[3];

    for (int i = 0; i < 2; i++)
        reach = fmax(reach, (double)(grid->n[i] - 1) / 2 * grid->voxel_mm[i]);
    reach = fmin(reach, 0.98 * w->facts.fov_radius_mm);
    const double half = (double)(grid->n[2] - 1) / 2 * grid->voxel_mm[2];
    z[0] = z[1] = fmin(fmax(grid->centre_mm[2], see[0]), see[1]);
    z[2] = fmin(fmax(grid->centre_mm[2] + half, see[0]), see[1]);
    z[3] = fmin(fmax(grid->centre_mm[2] - half, see[0]), see[1]);
    if (w->views.panel.n_rows == 1) /* fan beam: all slices count as in the sources' plane */
        z[0] = z[1] = z[2] = z[3] = 0;
    else
        z[1] = fmin(fmax(0, z[3]), z[2]);
    fbp_axpy(u, -fbp_dot(u, axis), axis, u);
    fbp_normalise(u);
    fbp_cross(axis, u, v);
    for (int i = 0; i < 4; i++) {
        out[i] = 0;
        for (int at = i == 1 ? 1 : 0; at < (i == 0 ? 1 : 9); at++) {
            const double angle = FBP_PI / 4 * at, r = at > 0 ? reach : 0;
            double p[3];
            for (int j = 0; j < 3; j++)
                p[j] = z[i] * axis[j] + r * (cos(angle) * u[j] + sin(angle) * v[j]);
            const double error = w->plane ? 0 : mean_of_ball(w, p) - 1;
            out[i] = fabs(error) > fabs(out[i]) ? error : out[i];
        }
    }
}

fbp_status fbp_geometry_errors(struct fbp_views views, const struct fbp_grid *grid,
                               struct fbp_geometry_facts *facts)
{
    struct fbp_grid moved = *grid;
    struct fbp_view *at_axis = NULL;
    fbp_weights *w = NULL;
    double centre[3];
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(fbp_check_lines("geometry", views.kind));
    FBP_TRY(fbp_check_views(&views));
    FBP_TRY(fbp_views_centre(fbp_kind_of(views.kind), &views, centre, &at_axis));
    fbp_axpy(moved.centre_mm, -1, centre, moved.centre_mm);
    FBP_TRY_GOTO(fbp_weights_create(&w, views, facts, FBP_ANGULAR_AUTO));
    fbp_weights_errors(w, &moved, centre, facts->method_error);
fail:
    fbp_weights_destroy(&w);
    free(at_axis);
    return st;
}

void fbp_weights_describe(const fbp_weights *w, char *buf, size_t n)
{
    const struct fbp_geometry_facts *f = &w->facts;
    const double arc = f->arc_rad * 180 / FBP_PI, needed = f->needed_rad * 180 / FBP_PI;
    const double deg = 180 / FBP_PI;
    const double lo = f->step_rad[0] * deg, hi = f->step_rad[2] * deg;
    const bool whole = f->coverage == FBP_COVERAGE_FULL, enough = f->coverage == FBP_COVERAGE_SHORT;
    char steps[64], planes[120];

    if (w->plane) {
        fbp_quadrature_describe(&w->quadrature, planes, sizeof planes);
        snprintf(buf, n, "%zu directions of plane integrals; weights %s", w->views.n, planes);
        return;
    }
    if (w->equal)
        snprintf(steps, sizeof steps, "equal steps of %.4g deg", w->arc.step[0] * deg);
    else if (hi - lo < 0.0005)
        snprintf(steps, sizeof steps, "steps %.3f deg", f->step_rad[1] * deg);
    else
        snprintf(steps, sizeof steps, "steps %.3f..%.3f deg", lo, hi);

    if (f->n_angles < 3)
        snprintf(buf, n, "%zu views at %zu angle%s do not determine a volume; check the angles",
                 w->views.n, f->n_angles, f->n_angles == 1 ? "" : "s");
    else if (f->per_ray)
        snprintf(buf, n, "scan of %zu views%s, %.1f deg; redundancy weights per ray; %s",
                 w->views.n, f->offset ? ", detector at several offsets" : "", arc, steps);
    else if (f->offset)
        snprintf(buf, n,
                 "%s scan of %zu views, %.1f deg; offset panel, overlap %.1f mm, Wang weights; %s",
                 whole ? "full" : "incomplete", w->views.n, arc, f->overlap_mm, steps);
    else if (w->modulo_pi && !whole)
        snprintf(buf, n, "%s of %zu views, %.1f deg, modulo 180; no redundancy weights; %s",
                 enough ? "half turn" : "limited angle", w->views.n, arc, steps);
    else if (!whole)
        snprintf(buf, n, "%s of %zu views, %.1f deg (needs %.1f), Parker weights; %s",
                 enough ? "short scan" : "limited angle", w->views.n, arc, needed, steps);
    else
        snprintf(buf, n, "full scan of %zu views, %.1f deg; no redundancy weights; %s", w->views.n,
                 arc, steps);
}

fbp_status fbp_scan_facts(const struct fbp_scan *given, const struct fbp_grid *grid,
                          struct fbp_geometry_facts *out)
{
    FBP_REQUIRE(given, out);
    struct fbp_scan scan;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(geometry_facts, out));
    FBP_TRY(FBP_COPY_IN(scan, &scan, given));
    const struct fbp_views views = fbp_scan_views(&scan);
    FBP_TRY(fbp_views_facts(views, grid, out));
    return grid && fbp_kind_has_lines(views.kind) ? fbp_geometry_errors(views, grid, out) : FBP_OK;
}
