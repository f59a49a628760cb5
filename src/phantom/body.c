/* Convex bodies: where a line enters and leaves them, and their voxel means. */
#include "phantom/body.h"

#include "geometry/kind.h"

#include "base/base.h"
#include "base/math.h"
#include "base/threads.h"

#include <stdlib.h>

/* Where a line enters and leaves a convex body: a quadric's interval, cut by slabs and planes. */

/* Quadric and slabs of each kind in coordinates where its half axes are 1. */
static const struct {
    double q[3], unit;
    bool bounded[3]; /* by -1 and 1 */
    bool has_range;  /* by the shape's range, along axis 2 */
} kinds[] = {
    [FBP_SHAPE_ELLIPSOID] = {{1, 1, 1}, 1, {false, false, false}, false},
    [FBP_SHAPE_BOX] = {{0, 0, 0}, 1, {true, true, true}, false},
    [FBP_SHAPE_CYLINDER] = {{1, 1, 0}, 1, {false, false, false}, true},
    [FBP_SHAPE_CONE] = {{1, 1, -1}, 0, {false, false, false}, true},
    [FBP_SHAPE_SOFT] = {{1, 1, 1}, 1, {false, false, false}, false},
};

/* Middle and radius of a ball around a shape whose planes are left out. */
static void ball_around(const struct fbp_shape *s, double c[3], double *r)
{
    const double *h = s->half_mm, wide = fmax(h[0], h[1]);
    double middle = 0;

    if (s->kind == FBP_SHAPE_ELLIPSOID || s->kind == FBP_SHAPE_SOFT) {
        *r = fmax(wide, h[2]);
    } else if (s->kind == FBP_SHAPE_BOX) {
        *r = fbp_norm(h);
    } else if (isinf(s->range[0]) || isinf(s->range[1])) {
        *r = INFINITY;
    } else {
        middle = (s->range[0] + s->range[1]) / 2 * h[2];
        *r = hypot(s->kind == FBP_SHAPE_CONE ? wide * s->range[1] : wide,
                   (s->range[1] - s->range[0]) / 2 * h[2]);
    }
    fbp_axpy(s->centre_mm, middle, s->axes[2], c);
}

void fbp_body_of(const struct fbp_shape *s, struct fbp_body *out)
{
    *out = (struct fbp_body){
        .unit = kinds[s->kind].unit,
        .planes = s->planes,
        .n_planes = s->n_planes,
        .density = s->density,
        .m = s->kind == FBP_SHAPE_SOFT ? (unsigned)s->range[0] : 0,
    };
    for (int i = 0; i < 3; i++) {
        const bool ranged = i == 2 && kinds[s->kind].has_range;
        out->c[i] = s->centre_mm[i];
        out->q[i] = kinds[s->kind].q[i];
        for (int k = 0; k < 3; k++)
            out->M[i][k] = s->axes[i][k] / s->half_mm[i];
        out->high[i] = ranged ? s->range[1] : kinds[s->kind].bounded[i] ? 1 : INFINITY;
        out->low[i] = ranged ? s->range[0] : -out->high[i];
    }
    ball_around(s, out->ball_c, &out->ball_r);
}

fbp_status fbp_bodies_of(const struct fbp_phantom *phantom, struct fbp_body **out)
{
    FBP_TRY(fbp_calloc((void **)out, phantom->n_shapes + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n_shapes; i++)
        fbp_body_of(&phantom->shapes[i], &(*out)[i]);
    return FBP_OK;
}

fbp_status fbp_spans_alloc(struct fbp_spans *out, size_t n)
{
    *out = (struct fbp_spans){0};
    FBP_TRY(fbp_calloc((void **)&out->cut, n + 1, sizeof *out->cut, "phantom"));
    FBP_TRY(fbp_calloc((void **)&out->parts, 2 * n + 1, sizeof *out->parts, "phantom"));
    FBP_TRY(fbp_calloc((void **)&out->ends, 2 * n + 1, sizeof *out->ends, "phantom"));
    return fbp_calloc((void **)&out->near, n + 1, sizeof *out->near, "phantom");
}

void fbp_spans_free(struct fbp_spans *spans)
{
    free(spans->cut);
    free(spans->parts);
    free(spans->ends);
    free(spans->near);
}

static void to_body(const struct fbp_body *b, const double dx[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = fbp_dot(b->M[i], dx);
}

/* Keep [from, to]; is anything left? */
static bool keep(double t[2], double from, double to)
{
    t[0] = fmax(t[0], from);
    t[1] = fmin(t[1], to);
    return t[0] < t[1];
}

/* low <= y + t w <= high */
static bool cut_slab(double y, double w, double low, double high, double t[2])
{
    if (w == 0)
        return low <= y && y <= high;
    const double a = (low - y) / w, b = (high - y) / w;
    return keep(t, fmin(a, b), fmax(a, b));
}

/* a t^2 + 2 b t + c <= 0.  Where a < 0 that is two half lines, one in each nappe of a cone; only
 * the nappe ahead along axis 2 belongs to the body, and w2 tells which it is. */
static bool cut_quadric(double a, double b, double c, double w2, double t[2])
{
    const double disc = b * b - a * c;

    if (a == 0 && b == 0)
        return c <= 0;
    if (a == 0)
        return b > 0 ? keep(t, -INFINITY, -c / (2 * b)) : keep(t, -c / (2 * b), INFINITY);
    if (a > 0 && !(disc > 0))
        return false;
    /* one root by the formula, the other from their product: nothing cancels */
    const double k = -(b + copysign(sqrt(fmax(disc, 0)), b));
    const double r0 = k / a, r1 = k == 0 ? 0 : c / k;
    if (a > 0)
        return keep(t, fmin(r0, r1), fmax(r0, r1));
    return w2 > 0 ? keep(t, fmax(r0, r1), INFINITY) : keep(t, -INFINITY, fmin(r0, r1));
}

static bool cut_planes(const struct fbp_body *body, const double x[3], const double dir[3],
                       double t[2])
{
    for (size_t i = 0; i < body->n_planes; i++) {
        const struct fbp_half_space *f = &body->planes[i];
        if (!cut_slab(fbp_dot(f->normal, x), fbp_dot(f->normal, dir), -INFINITY, f->at_mm, t))
            return false;
    }
    return true;
}

bool fbp_body_cut(const struct fbp_body *body, const double p[3], const double dir[3],
                  struct fbp_chord *out)
{
    double dx[3], x[3], y[3], w[3], a = 0, b = 0, c = -body->unit;

    /* from the point nearest to the centre, so that a distant source costs no digits */
    fbp_axpy(body->c, -1, p, dx);
    const double t0 = fbp_dot(dx, dir);
    fbp_axpy(p, t0, dir, x);
    fbp_axpy(x, -1, body->c, dx);
    to_body(body, dx, y);
    to_body(body, dir, w);
    for (int i = 0; i < 3; i++) {
        a += body->q[i] * w[i] * w[i];
        b += body->q[i] * w[i] * y[i];
        c += body->q[i] * y[i] * y[i];
    }
    *out = (struct fbp_chord){.t = {-INFINITY, INFINITY}, .density = body->density, .m = body->m};
    bool met = cut_quadric(a, b, c, w[2], out->t) && cut_planes(body, x, dir, out->t);
    for (int i = 0; met && i < 3; i++)
        met = cut_slab(y[i], w[i], body->low[i], body->high[i], out->t);
    out->t[0] += t0;
    out->t[1] += t0;
    if (met && body->m > 0) { /* 1 - |y|^2 along the line */
        out->top = b * b / a - c;
        out->fall = a;
        out->middle = t0 - b / a;
    }
    return met;
}

/* By parts: F_m = (t (top - fall t^2)^m + 2 m top F_(m-1)) / (2 m + 1), F_0 = t; all terms have the
 * sign of t, so that nothing cancels. */
double fbp_fall_integral(double top, double fall, unsigned m, double t)
{
    const double value = fmax(0, top - fall * t * t);
    double power = 1, sum = t;

    for (unsigned k = 1; k <= m; k++) {
        power *= value;
        sum = (t * power + 2 * k * top * sum) / (2 * k + 1);
    }
    return sum;
}

double fbp_chord_integral(const struct fbp_chord *s, double from, double to)
{
    if (s->m == 0)
        return s->density * (to - from);
    return s->density * (fbp_fall_integral(s->top, s->fall, s->m, to - s->middle) -
                         fbp_fall_integral(s->top, s->fall, s->m, from - s->middle));
}

bool fbp_body_at(const struct fbp_body *body, const double x[3], double *density)
{
    double dx[3], y[3], sum = 0;

    *density = 0;
    fbp_axpy(x, -1, body->c, dx);
    to_body(body, dx, y);
    for (int i = 0; i < 3; i++) {
        if (y[i] < body->low[i] || y[i] > body->high[i])
            return false;
        sum += body->q[i] * y[i] * y[i];
    }
    for (size_t i = 0; i < body->n_planes; i++)
        if (fbp_dot(body->planes[i].normal, x) > body->planes[i].at_mm)
            return false;
    if (sum > body->unit)
        return false;
    *density = body->density;
    for (unsigned k = 0; k < body->m; k++)
        *density *= 1 - sum;
    return true;
}

/* Between two ends that follow each other the first span that reaches over both counts. */
static size_t resolve(struct fbp_spans *room, size_t n)
{
    size_t parts = 0;

    for (size_t i = 0; i < n; i++) {
        room->ends[2 * i] = room->cut[i].t[0];
        room->ends[2 * i + 1] = room->cut[i].t[1];
    }
    fbp_sort(room->ends, 2 * n);
    for (size_t k = 0; k + 1 < 2 * n; k++) {
        const double from = room->ends[k], to = room->ends[k + 1];
        size_t i = 0;
        while (i < n && (room->cut[i].t[0] > from || room->cut[i].t[1] < to))
            i++;
        if (!(from < to && i < n))
            continue;
        room->parts[parts] = room->cut[i];
        room->parts[parts].t[0] = from;
        room->parts[parts++].t[1] = to;
    }
    return parts;
}

size_t fbp_line_spans(const struct fbp_body *const *bodies, size_t n, bool replace,
                      const double p[3], const double dir[3], struct fbp_spans *room,
                      const struct fbp_chord **out)
{
    size_t met = 0;

    for (size_t i = 0; i < n; i++)
        met += fbp_body_cut(bodies[i], p, dir, &room->cut[met]);
    *out = replace && met > 1 ? room->parts : room->cut;
    return replace && met > 1 ? resolve(room, met) : met;
}

double fbp_line_integral(const struct fbp_body *const *bodies, size_t n, bool replace,
                         const double p[3], const double dir[3], struct fbp_spans *room)
{
    const struct fbp_chord *spans;
    const size_t k = fbp_line_spans(bodies, n, replace, p, dir, room, &spans);
    double sum = 0;

    for (size_t i = 0; i < k; i++)
        sum += fbp_chord_integral(&spans[i], spans[i].t[0], spans[i].t[1]);
    return sum;
}

/* Line integrals of a whole view through convex bodies.  The rays of a detector row lie in one
 * plane, so that most bodies, which the plane misses, are left out of a whole row. */

/* Ray of a pixel: a point and a direction of length 1. */
static void ray_of(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                   double column, double row, double p[3], double dir[3])
{
    const bool source = fbp_kind_of(kind)->has_source;
    double pixel[3];

    fbp_axpy(view->d, column - ((double)panel->n_columns - 1) / 2, view->u, pixel);
    fbp_axpy(pixel, row - ((double)panel->n_rows - 1) / 2, view->v, pixel);
    for (int i = 0; i < 3; i++) {
        p[i] = source ? view->s[i] : pixel[i];
        dir[i] = source ? pixel[i] - view->s[i] : -view->s[i];
    }
    fbp_normalise(dir);
}

/* The bodies that the plane through p across `normal` meets. */
static size_t near_plane(const struct fbp_body *bodies, size_t n, const double p[3],
                         const double normal[3], const struct fbp_body **out)
{
    const double length = fbp_norm(normal);
    size_t met = 0;

    for (size_t i = 0; i < n; i++) {
        double d[3];
        fbp_axpy(bodies[i].ball_c, -1, p, d);
        if (fabs(fbp_dot(normal, d)) <= bodies[i].ball_r * length)
            out[met++] = &bodies[i];
    }
    return met;
}

fbp_status fbp_bodies_view(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                           const struct fbp_view *view, enum fbp_kind kind,
                           const struct fbp_panel *panel, struct fbp_spans *room, float *out)
{
    double p[3], dir[3], normal[3];

    for (size_t r = 0; r < panel->n_rows; r++) {
        FBP_TRY(fbp_go_on());
        ray_of(view, kind, panel, 0, (double)r, p, dir);
        fbp_cross(view->u, dir, normal);
        const size_t n = near_plane(bodies, phantom->n_shapes, p, normal, room->near);
        for (size_t c = 0; n > 0 && c < panel->n_columns; c++) {
            ray_of(view, kind, panel, (double)c, (double)r, p, dir);
            const double sum = fbp_line_integral(room->near, n, phantom->replace, p, dir, room);
            if (!isfinite(sum))
                return fbp_fail(FBP_ERR_INVALID,
                                "phantom: a shape has no end along the ray of column %zu, row %zu: "
                                "give it one, by a length or a plane",
                                c, r);
            out[r * panel->n_columns + c] += (float)sum;
        }
    }
    return FBP_OK;
}

/* Voxel means of convex bodies: spans of lines along x, shared out to the voxels they cross. */

/* The bodies near a box about the x axis through (y, z), hy and hz to each side. */
static size_t near_row(const struct fbp_body *bodies, size_t n, double y, double z, double hy,
                       double hz, const struct fbp_body **out)
{
    size_t met = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fbp_body *b = &bodies[i];
        if (fabs(y - b->ball_c[1]) <= b->ball_r + hy && fabs(z - b->ball_c[2]) <= b->ball_r + hz)
            out[met++] = b;
    }
    return met;
}

/* Add `density` times what [from, to] covers of each voxel i, [i, i + 1]. */
static void add_span(double from, double to, double density, size_t n, double *row)
{
    from = fmax(from, 0);
    to = fmin(to, (double)n);
    if (!(from < to))
        return;
    const size_t first = (size_t)from;
    size_t last = (size_t)to;
    if (last == n || (double)last == to)
        last--; /* the voxel that holds the end */
    if (first == last) {
        row[first] += density * (to - from);
        return;
    }
    row[first] += density * ((double)first + 1 - from);
    for (size_t i = first + 1; i < last; i++)
        row[i] += density;
    row[last] += density * (to - (double)last);
}

/* The same of a density that falls; voxels are h wide. */
static void add_falling(const struct fbp_chord *s, double h, size_t n, double *row)
{
    const double from = fmax(s->t[0], 0), to = fmin(s->t[1], (double)n * h);

    for (size_t i = from < to ? (size_t)(from / h) : n; i < n && (double)i * h < to; i++) {
        const double a = fmax(from, (double)i * h), b = fmin(to, (double)(i + 1) * h);
        row[i] += a < b ? fbp_chord_integral(s, a, b) / h : 0;
    }
}

static void add_row(const struct fbp_phantom *phantom, const struct fbp_grid *g, size_t n, double y,
                    double z, struct fbp_spans *room, double *row)
{
    static const double along_x[3] = {1, 0, 0};
    const double h = g->voxel_mm[0], edge = fbp_grid_coordinate(g, 0, -.5);

    for (int i = 0; i < N_LINES; i++) {
        const double p[3] = {edge, y + fbp_lattice_y(i) * g->voxel_mm[1],
                             z + fbp_lattice_z(i) * g->voxel_mm[2]};
        const struct fbp_chord *spans;
        const size_t k = fbp_line_spans(room->near, n, phantom->replace, p, along_x, room, &spans);
        for (size_t s = 0; s < k; s++)
            if (spans[s].m > 0)
                add_falling(&spans[s], h, g->n[0], row);
            else
                add_span(spans[s].t[0] / h, spans[s].t[1] / h, spans[s].density, g->n[0], row);
    }
}

void fbp_bodies_slice(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                      const struct fbp_grid *grid, double z, struct fbp_spans *room, double *row,
                      float *out)
{
    const size_t nx = grid->n[0];

    for (size_t iy = 0; !fbp_stopped() && iy < grid->n[1]; iy++) {
        const double y = fbp_grid_coordinate(grid, 1, (double)iy);
        const size_t n = near_row(bodies, phantom->n_shapes, y, z, grid->voxel_mm[1] / 2,
                                  grid->voxel_mm[2] / 2, room->near);
        if (n == 0)
            continue;
        for (size_t i = 0; i < nx; i++)
            row[i] = 0;
        add_row(phantom, grid, n, y, z, room, row);
        for (size_t i = 0; i < nx; i++)
            out[iy * nx + i] += (float)(row[i] / N_LINES);
    }
}
