#include "weight/weight.h"

#include "base/mem.h"
#include "base/vec.h"
#include "geometry/arc.h"
#include "geometry/frame.h"

#include <stdio.h>
#include <string.h>

struct fbp_weights {
    const struct fbp_view *views;
    size_t n_views;
    enum fbp_kind kind;
    struct fbp_panel panel;
    struct fbp_geometry_facts facts;
    struct fbp_arc arc;
    struct fbp_rays rays;
    bool equal, separable;
};

/* The panel as its source sees it: source, centre and steps along n, t, a. */
static void in_frame(const struct fbp_view *view, const double axis[3], double out[12])
{
    const double *vectors[4] = {view->s, view->d, view->u, view->v};
    struct fbp_frame f;

    fbp_frame_of(view, axis, &f);
    for (size_t i = 0; i < 4; i++) {
        out[3 * i] = fbp_dot(vectors[i], f.n);
        out[3 * i + 1] = fbp_dot(vectors[i], f.t);
        out[3 * i + 2] = fbp_dot(vectors[i], f.a);
    }
}

/* One panel for all views, and a redundancy that does not depend on the row: v along the axis. */
static bool is_separable(const struct fbp_weights *w)
{
    const double tolerance = 1e-12;
    double first[12], other[12];

    in_frame(&w->views[0], w->facts.axis, first);
    const double across = hypot(first[9], first[10]);
    if (w->rays.redundancy != FBP_SINGLE && !(across <= tolerance * fabs(first[11])))
        return false;
    for (size_t k = 1; k < w->n_views; k++) {
        in_frame(&w->views[k], w->facts.axis, other);
        for (size_t i = 0; i < 12; i++) {
            const double scale = fbp_norm(first + i / 3 * 3);
            if (!(fabs(other[i] - first[i]) <= tolerance * scale))
                return false;
        }
    }
    return true;
}

static void find_rays(struct fbp_weights *w)
{
    const struct fbp_geometry_facts *facts = &w->facts;
    const double delta = (w->arc.arc_rad - FBP_PI) / 2;
    const double overlap = w->kind == FBP_CONE ? facts->overlap_rad : facts->overlap_mm;
    const double longer = facts->edge_mm[1] > -facts->edge_mm[0] ? 1 : -1; /* the side of +t */

    w->rays = (struct fbp_rays){.cone = w->kind == FBP_CONE, .delta = {cos(delta), sin(delta)}};
    if (facts->coverage != FBP_COVERAGE_FULL)
        w->rays.redundancy = FBP_PARKER;
    else if (facts->offset)
        w->rays.redundancy = FBP_WANG;
    if (w->rays.redundancy == FBP_WANG)
        w->rays.inverse_overlap = longer / overlap;
}

fbp_status fbp_weights_create(fbp_weights **out, const struct fbp_view *views, size_t n_views,
                              enum fbp_kind kind, const struct fbp_panel *panel,
                              const struct fbp_geometry_facts *facts,
                              enum fbp_angular_weights angular)
{
    void *mem = NULL;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc(&mem, 1, sizeof **out, "weights"));
    fbp_weights *w = mem;
    w->views = views;
    w->n_views = n_views;
    w->kind = kind;
    w->panel = *panel;
    w->facts = *facts;
    w->equal = angular == FBP_ANGULAR_EQUAL;
    FBP_TRY_GOTO(fbp_arc_create(&w->arc, views, n_views, facts->axis));
    for (size_t k = 0; w->equal && k < n_views; k++)
        w->arc.step[k] = w->arc.arc_rad / (double)n_views;
    find_rays(w);
    w->separable = is_separable(w);
    *out = w;
    return FBP_OK;
fail:
    fbp_weights_destroy(&w);
    return st;
}

void fbp_weights_destroy(fbp_weights **weights)
{
    if (!*weights)
        return;
    fbp_arc_clear(&(*weights)->arc);
    free(*weights);
    *weights = NULL;
}

double fbp_weights_step(const fbp_weights *w, size_t view)
{
    return w->arc.step[view];
}

void fbp_weights_rays(const fbp_weights *w, struct fbp_rays *out)
{
    *out = w->rays;
}

void fbp_weights_view(const fbp_weights *w, size_t view, struct fbp_ray_view *out)
{
    const struct fbp_view *v = &w->views[view];
    const double *const vectors[3] = {out->q, v->u, v->v};
    double *const to[3] = {out->q, out->u, out->v};
    struct fbp_frame f;
    double P[12], across[3];

    fbp_frame_of(v, w->facts.axis, &f);
    fbp_view_pixel(v, &w->panel, 0, 0, out->q);
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
    else if (fbp_view_matrix(v, w->kind, &w->panel, P))
        out->factor /= P[11] * P[11];
    out->step = w->arc.step[view];
    for (int i = 0; i < 2; i++) {
        const double begin = w->arc.position[view], angle = i ? w->arc.arc_rad - begin : begin;
        out->end[i] = (struct fbp_ray_end){angle, cos(angle / 2), sin(angle / 2)};
    }
}

/* A row of a view, ready for its columns. */
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

    return fbp_ray_redundancy(&w->rays, &v, &r, column);
}

void fbp_weights_row(const fbp_weights *w, size_t view, size_t row, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, view, (double)row, &v);

    for (size_t c = 0; c < w->panel.n_columns; c++)
        out[c] = fbp_ray_weight(&w->rays, &v, &r, (double)c);
}

bool fbp_weights_separable(const fbp_weights *w)
{
    return w->separable;
}

void fbp_weights_image(const fbp_weights *w, size_t row, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, 0, (double)row, &v);

    for (size_t c = 0; c < w->panel.n_columns; c++)
        out[c] = fbp_ray_geometry(&w->rays, &r, (double)c);
}

void fbp_weights_line(const fbp_weights *w, size_t view, double *out)
{
    struct fbp_ray_view v;
    const struct fbp_ray_row r = row_of(w, view, ((double)w->panel.n_rows - 1) / 2, &v);

    for (size_t c = 0; c < w->panel.n_columns; c++)
        out[c] = v.step * fbp_ray_redundancy(&w->rays, &v, &r, (double)c);
}

static void describe_steps(const fbp_weights *w, char *buf, size_t n)
{
    const double deg = 180 / FBP_PI;
    const double lo = w->facts.step_rad[0] * deg, hi = w->facts.step_rad[2] * deg;

    if (w->equal)
        snprintf(buf, n, "equal steps of %.4g deg", w->arc.step[0] * deg);
    else if (hi - lo < 0.0005)
        snprintf(buf, n, "steps %.3f deg", w->facts.step_rad[1] * deg);
    else
        snprintf(buf, n, "steps %.3f..%.3f deg", lo, hi);
}

void fbp_weights_describe(const fbp_weights *w, char *buf, size_t n)
{
    const struct fbp_geometry_facts *f = &w->facts;
    const double arc = f->arc_rad * 180 / FBP_PI, needed = f->needed_rad * 180 / FBP_PI;
    char steps[64];

    describe_steps(w, steps, sizeof steps);
    if (f->n_angles < 3)
        snprintf(buf, n, "%zu views at %zu angle%s do not determine any volume", w->n_views,
                 f->n_angles, f->n_angles == 1 ? "" : "s");
    else if (f->coverage == FBP_COVERAGE_PARTIAL)
        snprintf(buf, n,
                 "limited angle: %zu views over %.1f deg do not determine the volume, %.1f deg "
                 "would: expect streaks; Parker weights; %s",
                 w->n_views, arc, needed, steps);
    else if (f->coverage == FBP_COVERAGE_SHORT)
        snprintf(buf, n, "short scan of %zu views, %.1f deg (needs %.1f), Parker weights; %s",
                 w->n_views, arc, needed, steps);
    else if (f->offset)
        snprintf(buf, n,
                 "full scan of %zu views, %.1f deg; offset panel, overlap %.1f mm, Wang weights; "
                 "%s",
                 w->n_views, arc, f->overlap_mm, steps);
    else
        snprintf(buf, n, "full scan of %zu views, %.1f deg; no redundancy weights; %s", w->n_views,
                 arc, steps);
}
