#include "weight/weight.h"

#include "base/mem.h"
#include "base/vec.h"
#include "geometry/arc.h"
#include "geometry/frame.h"
#include "weight/redundancy.h"

#include <stdio.h>
#include <string.h>

enum redundancy { SINGLE, PARKER, WANG };

struct fbp_weights {
    const struct fbp_view *views;
    size_t n_views;
    enum fbp_kind kind;
    struct fbp_panel panel;
    struct fbp_geometry_facts facts;
    struct fbp_arc arc;
    enum redundancy redundancy;
    double long_side; /* +1 if the side of +t of an offset panel is the longer one, else -1 */
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
    if (w->redundancy != SINGLE && !(across <= tolerance * fabs(first[11])))
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
    w->redundancy = facts->coverage != FBP_COVERAGE_FULL ? PARKER : facts->offset ? WANG : SINGLE;
    w->long_side = facts->edge_mm[1] > -facts->edge_mm[0] ? 1 : -1;
    w->equal = angular == FBP_ANGULAR_EQUAL;
    FBP_TRY_GOTO(fbp_arc_create(&w->arc, views, n_views, facts->axis));
    for (size_t k = 0; w->equal && k < n_views; k++)
        w->arc.step[k] = w->arc.arc_rad / (double)n_views;
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

static double redundancy(const fbp_weights *w, size_t view, const struct fbp_frame *f,
                         const double pixel[3])
{
    const struct fbp_view *v = &w->views[view];

    if (w->redundancy == PARKER)
        return fbp_parker(w->arc.position[view], fbp_ray_gamma(v, w->kind, f, pixel),
                          w->arc.arc_rad);
    if (w->redundancy == WANG && w->kind == FBP_CONE)
        return fbp_wang(w->long_side * fbp_ray_gamma(v, w->kind, f, pixel) / w->facts.overlap_rad);
    if (w->redundancy == WANG)
        return fbp_wang(w->long_side * fbp_ray_distance(v, w->kind, f, pixel) /
                        w->facts.overlap_mm);
    return 1;
}

double fbp_weights_redundancy(const fbp_weights *w, size_t view, double column, double row)
{
    struct fbp_frame f;
    double p[3];

    fbp_frame_of(&w->views[view], w->facts.axis, &f);
    fbp_view_pixel(&w->views[view], &w->panel, column, row, p);
    return redundancy(w, view, &f, p);
}

/* 1/2 SOD |t x q| / (|q| |q x u| w(0)^2) of all pixels of a row, q = pixel - source.  |q x u| is
 * the same all along a row. */
static void geometry_row(const fbp_weights *w, const struct fbp_view *view,
                         const struct fbp_frame *f, size_t row, double *out)
{
    const bool cone = w->kind == FBP_CONE;
    double P[12], p[3], q[3], across[3];

    fbp_view_pixel(view, &w->panel, 0, (double)row, p);
    if (cone)
        fbp_axpy(p, -1, view->s, q);
    fbp_cross(cone ? q : view->s, view->u, across);
    double scale = f->radius / (2 * fbp_norm(across));
    if (cone && fbp_view_matrix(view, w->kind, &w->panel, P))
        scale /= P[11] * P[11];
    for (size_t c = 0; c < w->panel.n_columns; c++) {
        out[c] = scale;
        if (!cone)
            continue;
        fbp_view_pixel(view, &w->panel, (double)c, (double)row, p);
        fbp_axpy(p, -1, view->s, q);
        fbp_cross(f->t, q, across);
        out[c] *= fbp_norm(across) / fbp_norm(q);
    }
}

void fbp_weights_row(const fbp_weights *w, size_t view, size_t row, double *out)
{
    const struct fbp_view *v = &w->views[view];
    struct fbp_frame f;
    double p[3];

    fbp_frame_of(v, w->facts.axis, &f);
    geometry_row(w, v, &f, row, out);
    for (size_t c = 0; c < w->panel.n_columns; c++) {
        fbp_view_pixel(v, &w->panel, (double)c, (double)row, p);
        out[c] *= w->arc.step[view] * redundancy(w, view, &f, p);
    }
}

bool fbp_weights_separable(const fbp_weights *w)
{
    return w->separable;
}

void fbp_weights_image(const fbp_weights *w, size_t row, double *out)
{
    struct fbp_frame f;

    fbp_frame_of(&w->views[0], w->facts.axis, &f);
    geometry_row(w, &w->views[0], &f, row, out);
}

void fbp_weights_line(const fbp_weights *w, size_t view, double *out)
{
    const double middle = ((double)w->panel.n_rows - 1) / 2;
    struct fbp_frame f;
    double p[3];

    fbp_frame_of(&w->views[view], w->facts.axis, &f);
    for (size_t c = 0; c < w->panel.n_columns; c++) {
        fbp_view_pixel(&w->views[view], &w->panel, (double)c, middle, p);
        out[c] = w->arc.step[view] * redundancy(w, view, &f, p);
    }
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
    if (f->coverage == FBP_COVERAGE_PARTIAL)
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
