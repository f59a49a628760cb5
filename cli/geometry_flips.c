/* Implementation of geometry_flips.h: how the object would appear in flipped views.
 * check_geometry() calls flips_of(). */
#include "geometry_flips.h"

#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS = 24, RADII = 4, ANGLES = 6, HEIGHTS = 3, COARSE = 72, FINE = 40 };
enum { POINTS = RADII * ANGLES * HEIGHTS, MAX_RAYS = VIEWS * POINTS };

/* Greatest distance of a point from its rays, in voxels, that remains invisible. */
static const double SHARP_VOXELS = 0.25;

/* A point and a unit direction, in coordinates whose third axis is the rotation axis. */
struct line {
    double at[3], along[3];
};

/* Sample points, and for each point the ray that the flipped geometry assigns to its pixel. */
struct rays {
    size_t n;
    bool may_slide; /* parallel beam: a shift along the axis is not an error */
    double point[MAX_RAYS][3];
    struct line seems[MAX_RAYS];
};

/* A rigid motion: mirror y, mirror z, then a rotation about z by `turn` [rad]. */
struct motion {
    double turn;
    bool mirrored, upside_down;
};

static void normalise(double a[3])
{
    const double n = sqrt(fbp_dot(a, a));

    for (int i = 0; i < 3; i++)
        a[i] /= n;
}

/* Rows of a right-handed basis whose third vector is the axis; for the axis z: x, y, z. */
static void basis_of(const double axis[3], double rows[3][3])
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};

    memcpy(rows[2], axis, sizeof rows[2]);
    fbp_cross(axis, fabs(axis[0]) < 0.9 ? x : y, rows[1]);
    normalise(rows[1]);
    fbp_cross(rows[1], axis, rows[0]);
}

static void into(double rows[3][3], const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = fbp_dot(rows[i], a);
}

/* Ray through a pixel (column, row), in coordinates of the basis `rows`. */
static struct line ray_of(const struct fbp_scan *scan, const struct fbp_view *view,
                          double rows[3][3], const double pixel[2])
{
    double at[3], towards[3];
    struct line out;

    fbp_view_pixel(view, &scan->panel, pixel[0], pixel[1], at);
    for (int i = 0; i < 3; i++)
        towards[i] = fbp_kind_has_source(scan->kind) ? view->s[i] - at[i] : view->s[i];
    into(rows, at, out.at);
    into(rows, towards, out.along);
    normalise(out.along);
    return out;
}

/* Sample point i (0 to POINTS - 1) of the field of view, in coordinates of basis_of(). */
static void spread(const struct fbp_geometry_facts *f, int i, double out[3])
{
    const int ring = i % RADII, spoke = i / RADII % ANGLES, floor = i / RADII / ANGLES;
    const double radius = (1 + ring) * f->fov_radius_mm / RADII;
    const double angle = 2 * FBP_PI * (0.1 + spoke) / ANGLES;
    const double lo = f->fov_half_height_mm[0], hi = f->fov_half_height_mm[1];

    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
    out[2] = lo + (hi - lo) * (1 + floor) / (HEIGHTS + 1);
}

/* Project the point x (scan coordinates) to column and row cr.  False: outside the panel. */
static bool land(const double P[12], const double x[3], const struct fbp_panel *panel, double cr[2])
{
    const double w = fbp_dot(P + 8, x) + P[11];

    cr[0] = (fbp_dot(P, x) + P[3]) / w;
    cr[1] = (fbp_dot(P + 4, x) + P[7]) / w;
    return w > 0 && cr[0] >= -0.5 && cr[1] >= -0.5 && cr[0] <= (double)panel->n_columns - 0.5 &&
           cr[1] <= (double)panel->n_rows - 0.5;
}

/* Project the sample points in up to VIEWS views, and store each visible point with the ray of its
 * pixel in the flipped view. */
static void sample(const struct fbp_scan *scan, const struct fbp_view *flipped,
                   const struct fbp_geometry_facts *facts, struct rays *out)
{
    const size_t n_views = scan->n_views < VIEWS ? scan->n_views : VIEWS;
    double rows[3][3], P[12], x[3], cr[2];

    basis_of(facts->axis, rows);
    out->n = 0;
    out->may_slide = !fbp_kind_has_source(scan->kind);
    for (size_t i = 0; i < n_views; i++) {
        const size_t k = i * scan->n_views / n_views;
        if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) != FBP_OK)
            continue;
        for (int p = 0; p < POINTS; p++) {
            double *q = out->point[out->n];
            spread(facts, p, q);
            for (int a = 0; a < 3; a++)
                x[a] = rows[0][a] * q[0] + rows[1][a] * q[1] + rows[2][a] * q[2];
            if (land(P, x, &scan->panel, cr))
                out->seems[out->n++] = ray_of(scan, &flipped[k], rows, cr);
        }
    }
}

static void move(const struct motion *m, const double in[3], double out[3])
{
    const double c = cos(m->turn), s = sin(m->turn), y = m->mirrored ? -in[1] : in[1];

    out[0] = c * in[0] - s * y;
    out[1] = s * in[0] + c * y;
    out[2] = m->upside_down ? -in[2] : in[2];
}

/* Shortest vector from a line to a point. */
static void miss(const struct line *line, const double point[3], double out[3])
{
    double from[3];

    for (int i = 0; i < 3; i++)
        from[i] = point[i] - line->at[i];
    const double t = fbp_dot(from, line->along);
    for (int i = 0; i < 3; i++)
        out[i] = from[i] - t * line->along[i];
}

/* Mean square distance of the moved points from their rays [mm^2]; *greatest: greatest distance
 * [mm], may be NULL. */
static double judge(const struct rays *rays, const struct motion *m, double *greatest)
{
    const double n = (double)rays->n;
    double sum = 0, along = 0, most = 0;

    for (size_t i = 0; i < rays->n; i++) {
        double moved[3], off[3];
        move(m, rays->point[i], moved);
        miss(&rays->seems[i], moved, off);
        along += off[2] / n;
        sum += fbp_dot(off, off) / n;
        most = fmax(most, fbp_dot(off, off));
    }
    if (rays->may_slide) {
        sum = fmax(sum - along * along, 0);
        most = fmax(most - along * along, 0);
    }
    if (greatest)
        *greatest = sqrt(most);
    return sum;
}

/* Find the angle m->turn with the least mean square distance, which is returned: COARSE steps over
 * 360 degrees, then FINE halvings of the step. */
static double best_turn(const struct rays *rays, struct motion *m)
{
    double step = 2 * FBP_PI / COARSE, best = INFINITY, at = 0;

    for (int i = 0; i < COARSE; i++) {
        m->turn = i * step;
        const double sum = judge(rays, m, NULL);
        if (sum < best) {
            best = sum;
            at = m->turn;
        }
    }
    for (int i = 0; i < FINE; i++, step /= 2)
        for (int side = -1; side <= 1; side += 2) {
            m->turn = at + side * step / 2;
            const double sum = judge(rays, m, NULL);
            if (sum < best) {
                best = sum;
                at = m->turn;
            }
        }
    m->turn = at;
    return best;
}

static void search(const struct rays *rays, double voxel_mm, struct flip *out)
{
    double best = INFINITY;

    for (unsigned i = 0; i < 4; i++) {
        struct motion m = {.mirrored = i & 1u, .upside_down = i & 2u};
        const double sum = best_turn(rays, &m);
        /* equal distances: the motion with fewer mirrors is kept */
        if (!(sum < best - 1e-9 * (1 + best)) && i > 0)
            continue;
        best = sum;
        out->turn_rad = remainder(m.turn, 2 * FBP_PI);
        out->mirrored = m.mirrored;
        out->upside_down = m.upside_down;
        out->rms_mm = sqrt(judge(rays, &m, &out->max_mm));
    }
    out->sharp = out->max_mm < SHARP_VOXELS * voxel_mm;
}

bool flips_of(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts, double voxel_mm,
              struct flip out[N_FLIPS])
{
    struct fbp_view *flipped = malloc(scan->n_views * sizeof *flipped);
    struct rays *rays = malloc(sizeof *rays);

    for (unsigned i = 0; i < N_FLIPS; i++) {
        out[i] = (struct flip){.flips = i + 1};
        if (!flipped || !rays)
            continue;
        memcpy(flipped, scan->views, scan->n_views * sizeof *flipped);
        fbp_views_flip(flipped, scan->n_views, i + 1);
        sample(scan, flipped, facts, rays);
        search(rays, voxel_mm, &out[i]);
    }
    const bool done = flipped && rays;
    free(flipped);
    free(rays);
    return done;
}
