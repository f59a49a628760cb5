/* Ellipsoids, densities at points and along lines, and voxel means. */
#include "phantom/body.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/math.h"

#include <math.h>
#include <stdlib.h>

void fbp_ball_of(const struct fbp_ellipsoid *e, struct fbp_ball *out)
{
    const double t = e->turn_deg * (FBP_PI / 180), ct = cos(t), st = sin(t);
    const double *a = e->axes_mm;

    *out = (struct fbp_ball){
        .c = {e->centre_mm[0], e->centre_mm[1], e->centre_mm[2]},
        .M = {{ct / a[0], st / a[0], 0}, {-st / a[1], ct / a[1], 0}, {0, 0, 1 / a[2]}},
        .reach = {hypot(a[0] * ct, a[1] * st), hypot(a[0] * st, a[1] * ct), a[2]},
        .density = e->density,
    };
}

void fbp_ellipsoid_shape(const struct fbp_ellipsoid *e, struct fbp_shape *out)
{
    const double t = e->turn_deg * (FBP_PI / 180);

    *out = (struct fbp_shape){
        .kind = FBP_SHAPE_ELLIPSOID,
        .centre_mm = {e->centre_mm[0], e->centre_mm[1], e->centre_mm[2]},
        .axes = {{cos(t), sin(t), 0}, {-sin(t), cos(t), 0}, {0, 0, 1}},
        .half_mm = {e->axes_mm[0], e->axes_mm[1], e->axes_mm[2]},
        .density = e->density,
    };
}

fbp_status fbp_balls_of(const struct fbp_phantom *phantom, struct fbp_ball **out)
{
    FBP_TRY(fbp_calloc((void **)out, phantom->n + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n; i++)
        fbp_ball_of(&phantom->items[i], &(*out)[i]);
    return FBP_OK;
}

/* Length of { t : |y + t w| <= 1 }: with q = y x w the discriminant is |w|^2 - |q|^2, which does
 * not lose digits when the point is far away. */
static double chord(const double y[3], const double w[3])
{
    double q[3];
    fbp_cross(y, w, q);
    const double ww = fbp_dot(w, w), disc = ww - fbp_dot(q, q);
    return disc > 0 ? 2 * sqrt(disc) / ww : 0;
}

double fbp_ball_line(const struct fbp_ball *ball, const double p[3], const double dir[3])
{
    double dx[3], y[3], w[3];

    fbp_axpy(p, -1, ball->c, dx);
    fbp_ball_map(ball, dx, y);
    fbp_ball_map(ball, dir, w);
    return ball->density * chord(y, w);
}

bool fbp_ball_holds(const struct fbp_ball *ball, const double x[3])
{
    double dx[3], y[3];

    fbp_axpy(x, -1, ball->c, dx);
    fbp_ball_map(ball, dx, y);
    return fbp_dot(y, y) <= 1;
}

/* A phantom's density at a point and along a line. */

static double line_of_shapes(const struct fbp_phantom *phantom, const double p[3],
                             const double dir[3])
{
    struct fbp_body *bodies = NULL;
    struct fbp_spans room = {0};
    double sum = NAN;

    if (fbp_bodies_of(phantom, &bodies) == FBP_OK &&
        fbp_spans_alloc(&room, phantom->n_shapes) == FBP_OK) {
        for (size_t i = 0; i < phantom->n_shapes; i++)
            room.near[i] = &bodies[i];
        sum = fbp_line_integral(room.near, phantom->n_shapes, phantom->replace, p, dir, &room);
    }
    fbp_spans_free(&room);
    free(bodies);
    return sum;
}

double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3], const double dir[3])
{
    FBP_GIVEN_ELSE(NAN, phantom, p, dir);
    double sum = phantom->n_shapes > 0 ? line_of_shapes(phantom, p, dir) : 0;

    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        fbp_ball_of(&phantom->items[i], &ball);
        sum += fbp_ball_line(&ball, p, dir);
    }
    return sum;
}

double fbp_phantom_plane(const struct fbp_phantom *phantom, const double n[3], double t_mm)
{
    FBP_GIVEN_ELSE(NAN, phantom, n);
    struct fbp_body *bodies = NULL;
    double sum = NAN;

    fbp_message_clear();
    if (fbp_sections_of(phantom, &bodies) == FBP_OK) {
        sum = 0;
        for (size_t i = 0; i < phantom->n + phantom->n_shapes; i++)
            sum += fbp_body_plane(&bodies[i], n, t_mm);
    }
    free(bodies);
    return sum;
}

double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3])
{
    FBP_GIVEN_ELSE(NAN, phantom, x);
    bool hidden = false;
    double sum = 0;

    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        fbp_ball_of(&phantom->items[i], &ball);
        if (fbp_ball_holds(&ball, x))
            sum += ball.density;
    }
    for (size_t i = 0; i < phantom->n_shapes && !hidden; i++) {
        struct fbp_body body;
        double density;
        fbp_body_of(&phantom->shapes[i], &body);
        hidden = fbp_body_at(&body, x, &density) && phantom->replace;
        sum += density;
    }
    return sum;
}

/* Voxel means.  A row of voxels is pierced by N_LINES lines along x; where each enters and leaves
 * an ellipsoid is known exactly, so a voxel's share is a mean of overlaps, and the voxels that
 * every line crosses entirely need no arithmetic at all. */

/* Chords of one row in one ellipsoid, in units of voxels: voxel i spans [i, i + 1]. */
struct chords {
    int n;
    double from[N_LINES], to[N_LINES];
    double first, last;           /* hull of all chords */
    double full_first, full_last; /* what all N_LINES lines share */
};

static void add_chord(struct chords *s, double from, double to)
{
    s->from[s->n] = from;
    s->to[s->n++] = to;
    s->first = fmin(s->first, from);
    s->last = fmax(s->last, to);
    s->full_first = fmax(s->full_first, from);
    s->full_last = fmin(s->full_last, to);
}

/* All chords of the row through (y, z). */
static void cut_row(const struct fbp_ball *b, const struct fbp_grid *g, double y, double z,
                    struct chords *s)
{
    const double h = g->voxel_mm[0], x0 = fbp_grid_coordinate(g, 0, -.5);
    const double w[3] = {b->M[0][0], b->M[1][0], b->M[2][0]};
    const double ww = fbp_dot(w, w);

    *s = (struct chords){
        .first = INFINITY, .last = -INFINITY, .full_first = -INFINITY, .full_last = INFINITY};
    for (int i = 0; i < N_LINES; i++) {
        const double dx[3] = {0, y + fbp_lattice_y(i) * g->voxel_mm[1] - b->c[1],
                              z + fbp_lattice_z(i) * g->voxel_mm[2] - b->c[2]};
        double p[3];
        fbp_ball_map(b, dx, p);
        const double pw = fbp_dot(p, w), disc = pw * pw - ww * (fbp_dot(p, p) - 1);
        if (!(disc > 0))
            continue;
        const double mid = b->c[0] - pw / ww, half = sqrt(disc) / ww;
        add_chord(s, (mid - half - x0) / h, (mid + half - x0) / h);
    }
    if (s->n < N_LINES)
        s->full_first = s->full_last = s->first; /* no voxel is crossed by all */
}

/* x as an index, held inside [0, n]. */
static size_t clip(double x, size_t n)
{
    return x <= 0 ? 0 : x >= (double)n ? n : (size_t)x;
}

static void add_partial(const struct chords *s, double density, size_t i0, size_t i1, float *row)
{
    for (size_t i = i0; i < i1; i++) {
        double share = 0;
        for (int k = 0; k < s->n; k++)
            share += fmax(0, fmin(s->to[k], (double)i + 1) - fmax(s->from[k], (double)i));
        row[i] += (float)(density * share / N_LINES);
    }
}

static void add_row(const struct chords *s, double density, size_t nx, float *row)
{
    const size_t i0 = clip(floor(s->first), nx), i1 = clip(ceil(s->last), nx);
    size_t f0 = clip(ceil(s->full_first), nx), f1 = clip(floor(s->full_last), nx);

    if (f1 <= f0)
        f0 = f1 = i1;
    add_partial(s, density, i0, f0, row);
    for (size_t i = f0; i < f1; i++)
        row[i] += (float)density;
    add_partial(s, density, f1, i1, row);
}

/* Does slice or row `i` along `axis` come near the ellipsoid? */
static bool near(const struct fbp_ball *b, const struct fbp_grid *g, int axis, double x)
{
    return fabs(x - b->c[axis]) < b->reach[axis] + g->voxel_mm[axis] / 2;
}

static void add_slice(const struct fbp_ball *b, const struct fbp_grid *g, double z, float *out)
{
    for (size_t iy = 0; !fbp_stopped() && iy < g->n[1]; iy++) {
        const double y = fbp_grid_coordinate(g, 1, (double)iy);
        struct chords s;
        if (!near(b, g, 1, y))
            continue;
        cut_row(b, g, y, z, &s);
        if (s.n > 0)
            add_row(&s, b->density, g->n[0], out + iy * g->n[0]);
    }
}

static void add_ellipsoids(const struct fbp_phantom *phantom, const struct fbp_grid *grid, double z,
                           float *out)
{
    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball b;
        fbp_ball_of(&phantom->items[i], &b);
        if (near(&b, grid, 2, z))
            add_slice(&b, grid, z, out);
    }
}

fbp_status fbp_phantom_voxels(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                              size_t z0, size_t z1, float *out)
{
    FBP_GIVEN(phantom, grid, out);
    const size_t n = grid->n[0] * grid->n[1];
    struct fbp_body *bodies = NULL;
    struct fbp_spans room = {0};
    double *row = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_bodies_of(phantom, &bodies));
    FBP_TRY_GOTO(fbp_spans_alloc(&room, phantom->n_shapes));
    FBP_TRY_GOTO(fbp_calloc((void **)&row, grid->n[0], sizeof *row, "row of voxels"));
    for (size_t iz = z0; iz < z1; iz++, out += n) {
        const double z = fbp_grid_coordinate(grid, 2, (double)iz);
        for (size_t i = 0; i < n; i++)
            out[i] = 0;
        add_ellipsoids(phantom, grid, z, out);
        if (phantom->n_shapes > 0)
            fbp_bodies_slice(bodies, phantom, grid, z, &room, row, out);
        FBP_TRY_GOTO(fbp_go_on());
    }
fail:
    free(row);
    fbp_spans_free(&room);
    free(bodies);
    return st;
}
