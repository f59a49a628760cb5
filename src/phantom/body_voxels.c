/* Voxel means of convex bodies: spans of lines along x, shared out to the voxels they cross. */
#include "phantom/body.h"

#include "base/stop.h"
#include "base/vec.h"
#include "phantom/lattice.h"

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
