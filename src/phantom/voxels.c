/* Computes the mean density of a phantom in each voxel of a grid, the ideal result of a
 * reconstruction: fbp_phantom_voxels() (public).
 *
 * N_LINES lines along x pass through each row of voxels. The points at which a line enters and
 * leaves a shape are exact; the mean of a voxel is the mean, over the lines, of the density along
 * the line's part in the voxel.
 * Used by: bench/papers/qiao2015/measure.c, simulate.c. */
#include "phantom/shapes.h"

#include "base/math.h"
#include "base/threads.h"

#include <math.h>

/* Positions of the lines through a row of voxels: a Fibonacci lattice in y and z, which resolves
 * surfaces perpendicular to y or z to 1/89 of a voxel; a square grid of as many lines would resolve
 * them to about 1/9. */
enum {
    N_LINES = 89,
    LATTICE_STEP = 55,
    LATTICE_SHIFT = 27
}; /* LATTICE_SHIFT makes the lattice symmetric about the middle of the voxel */

/* Get y of line i relative to the middle of a voxel, from -.5 to .5 voxel widths. */
static double lattice_y(int i)
{
    return (i + .5) / N_LINES - .5;
}

/* Get z of line i relative to the middle of a voxel, from -.5 to .5 voxel widths. */
static double lattice_z(int i)
{
    return lattice_y((i * LATTICE_STEP + LATTICE_SHIFT) % N_LINES);
}

/* Ellipsoids (struct fbp_ball). A voxel that all N_LINES lines cross entirely inside the ellipsoid
 * gets its full density; overlaps are computed for other voxels. */

/* Chords of an ellipsoid on the lines through one row of voxels, in units of voxels: voxel i
 * extends from i to i + 1. */
struct chords {
    int n;
    double from[N_LINES], to[N_LINES];
    double first, last;           /* hull of all chords */
    double full_first, full_last; /* intersection of all N_LINES chords */
};

/* x as an index, clamped to [0, n]. */
static size_t clip(double x, size_t n)
{
    return x <= 0 ? 0 : x >= (double)n ? n : (size_t)x;
}

/* Add to each voxel i0 <= i < i1 of a row the density times the overlap of the voxel with the
 * chords, averaged over N_LINES lines. */
static void add_partial(const struct chords *s, double density, size_t i0, size_t i1, float *row)
{
    for (size_t i = i0; i < i1; i++) {
        double share = 0;
        for (int k = 0; k < s->n; k++)
            share += fmax(0, fmin(s->to[k], (double)i + 1) - fmax(s->from[k], (double)i));
        row[i] += (float)(density * share / N_LINES);
    }
}

/* Whether the slice (axis 2) or row (axis 1) at x [mm] intersects an ellipsoid's bounding box. */
static bool near(const struct fbp_ball *b, const struct fbp_grid *g, int axis, double x)
{
    return fabs(x - b->c[axis]) < b->reach[axis] + g->voxel_mm[axis] / 2;
}

/* Add the voxel means of an ellipsoid to the row of voxels at y, z [mm]. */
static void add_ball_row(const struct fbp_ball *b, const struct fbp_grid *g, double y, double z,
                         float *row)
{
    const double h = g->voxel_mm[0], x0 = fbp_grid_coordinate(g, 0, -.5);
    const double w[3] = {b->M[0][0], b->M[1][0], b->M[2][0]};
    const double ww = fbp_dot(w, w);
    const size_t nx = g->n[0];
    struct chords s = {
        .first = INFINITY, .last = -INFINITY, .full_first = -INFINITY, .full_last = INFINITY};

    for (int i = 0; i < N_LINES; i++) {
        const double dx[3] = {0, y + lattice_y(i) * g->voxel_mm[1] - b->c[1],
                              z + lattice_z(i) * g->voxel_mm[2] - b->c[2]};
        double p[3];
        fbp_ball_map(b, dx, p);
        const double pw = fbp_dot(p, w), disc = pw * pw - ww * (fbp_dot(p, p) - 1);
        if (!(disc > 0))
            continue;
        const double mid = b->c[0] - pw / ww, half = sqrt(disc) / ww;
        const double from = (mid - half - x0) / h, to = (mid + half - x0) / h;
        s.from[s.n] = from;
        s.to[s.n++] = to;
        s.first = fmin(s.first, from);
        s.last = fmax(s.last, to);
        s.full_first = fmax(s.full_first, from);
        s.full_last = fmin(s.full_last, to);
    }
    if (s.n == 0)
        return;
    if (s.n < N_LINES)
        s.full_first = s.full_last = s.first; /* some lines miss: no voxel is full */

    const size_t i0 = clip(floor(s.first), nx), i1 = clip(ceil(s.last), nx);
    size_t f0 = clip(ceil(s.full_first), nx), f1 = clip(floor(s.full_last), nx);
    if (f1 <= f0)
        f0 = f1 = i1;
    add_partial(&s, b->density, i0, f0, row);
    for (size_t i = f0; i < f1; i++)
        row[i] += (float)b->density;
    add_partial(&s, b->density, f1, i1, row);
}

/* Convex bodies (struct fbp_body): spans of a line are distributed to their voxels. */

/* Add to each voxel i of row[n] the density times the overlap of [from, to] and [i, i + 1]. */
static void add_span(double from, double to, double density, size_t n, double *row)
{
    from = fmax(from, 0);
    to = fmin(to, (double)n);
    if (!(from < to))
        return;
    const size_t first = (size_t)from;
    size_t last = (size_t)to;
    if (last == n || (double)last == to)
        last--; /* the voxel that contains the end */
    if (first == last) {
        row[first] += density * (to - from);
        return;
    }
    row[first] += density * ((double)first + 1 - from);
    for (size_t i = first + 1; i < last; i++)
        row[i] += density;
    row[last] += density * (to - (double)last);
}

/* Add to each voxel of row[n] the integral of a chord's varying density (soft ellipsoid, m > 0)
 * over the voxel, divided by the width h of a voxel [mm]; t = 0 of the chord is the row's first
 * edge. */
static void add_falling(const struct fbp_chord *s, double h, size_t n, double *row)
{
    const double from = fmax(s->t[0], 0), to = fmin(s->t[1], (double)n * h);

    for (size_t i = from < to ? (size_t)(from / h) : n; i < n && (double)i * h < to; i++) {
        const double a = fmax(from, (double)i * h), b = fmin(to, (double)(i + 1) * h);
        row[i] += a < b ? fbp_chord_integral(s, a, b) / h : 0;
    }
}

/* Add the voxel means of a phantom's convex bodies in the slice at z [mm] to out[ny][nx]; scratch
 * memory: row[nx]. */
static void add_bodies(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                       const struct fbp_grid *g, double z, struct fbp_spans *room, double *row,
                       float *out)
{
    static const double along_x[3] = {1, 0, 0};
    const double h = g->voxel_mm[0], hy = g->voxel_mm[1] / 2, hz = g->voxel_mm[2] / 2;
    const double edge = fbp_grid_coordinate(g, 0, -.5);
    const size_t nx = g->n[0];

    for (size_t iy = 0; !fbp_stopped() && iy < g->n[1]; iy++) {
        const double y = fbp_grid_coordinate(g, 1, (double)iy);
        size_t n = 0; /* bodies whose balls intersect the row */
        for (size_t i = 0; i < phantom->n_shapes; i++) {
            const struct fbp_body *b = &bodies[i];
            if (fabs(y - b->ball_c[1]) <= b->ball_r + hy &&
                fabs(z - b->ball_c[2]) <= b->ball_r + hz)
                room->near[n++] = b;
        }
        if (n == 0)
            continue;
        for (size_t i = 0; i < nx; i++)
            row[i] = 0;
        for (int i = 0; i < N_LINES; i++) {
            const double p[3] = {edge, y + lattice_y(i) * g->voxel_mm[1],
                                 z + lattice_z(i) * g->voxel_mm[2]};
            const struct fbp_chord *spans;
            const size_t k =
                fbp_line_spans(room->near, n, phantom->replace, p, along_x, room, &spans);
            for (size_t s = 0; s < k; s++)
                if (spans[s].m > 0)
                    add_falling(&spans[s], h, nx, row);
                else
                    add_span(spans[s].t[0] / h, spans[s].t[1] / h, spans[s].density, nx, row);
        }
        for (size_t i = 0; i < nx; i++)
            out[iy * nx + i] += (float)(row[i] / N_LINES);
    }
}

fbp_status fbp_phantom_voxels(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                              size_t z0, size_t z1, float *out)
{
    FBP_REQUIRE(phantom, grid, out);
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
        for (size_t i = 0; i < phantom->n; i++) {
            struct fbp_ball b;
            fbp_ball_of(&phantom->items[i], &b);
            for (size_t iy = 0; near(&b, grid, 2, z) && !fbp_stopped() && iy < grid->n[1]; iy++) {
                const double y = fbp_grid_coordinate(grid, 1, (double)iy);
                if (near(&b, grid, 1, y))
                    add_ball_row(&b, grid, y, z, out + iy * grid->n[0]);
            }
        }
        if (phantom->n_shapes > 0)
            add_bodies(bodies, phantom, grid, z, &room, row, out);
        FBP_TRY_GOTO(fbp_check_cancelled());
    }
fail:
    free(row);
    fbp_spans_free(&room);
    free(bodies);
    return st;
}
