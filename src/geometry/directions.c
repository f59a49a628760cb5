/* Sets of directions of plane integrals on the sphere (fbp/directions.h): their names and their
 * unit vectors (fbp_directions_make(), public); views along directions; Voronoi cells of
 * directions on the sphere (fbp_sphere_cells(); directions.h).
 * Used by: bench/, cli/, geometry/, pipeline/, scan/, weight/. */
#include "geometry/directions.h"

#include "fbp/geometry.h"

#include "base/math.h"
#include "base/text.h"
#include "base/threads.h"
#include "geometry/view.h"

#include <string.h>

FBP_NAMES(fbp_direction_set_name, "solid-angle", "linear-angle", "fibonacci")
FBP_NAMES(fbp_direction_order_name, "plain", "flip", "msps")
FBP_NAMES(fbp_pole_name, "z", "x", "y")
FBP_NAMES(fbp_quadrature_name, "auto", "bands", "voronoi", "harmonics", "given")

/* Greatest number of directions that may be put into maximally spaced order ("msps"), which takes a
 * time proportional to the square of the number. */
static const double MOST_SPACED = 50000;

/* Angle [rad] from the pole of ring i of n, and azimuth of direction i of n in a ring. */
static double angle_of(size_t i, size_t n)
{
    return FBP_PI / 2 + FBP_PI / (2 * (double)n) - (double)(i + 1) * FBP_PI / (double)n;
}

static size_t ring_size(const struct fbp_directions *set, size_t i)
{
    const double n = (double)set->n[0];

    if (set->set == FBP_SET_LINEAR_ANGLE)
        return set->n[1];
    return (size_t)fmax(1, floor(fabs(n * sin(angle_of(i, set->n[0]))) + 0.5));
}

static void put(enum fbp_pole pole, double theta, double phi, double out[3])
{
    static const int axis[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    const double x[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};

    for (int i = 0; i < 3; i++)
        out[axis[pole][i]] = x[i];
}

/* Put the directions into maximally spaced order: next is the one with the least Coulomb potential
 * of charges at all previous ones and their antipodes; if several are equal, the first of them. */
static fbp_status most_apart(double (*n)[3], size_t count)
{
    const double equal = 1e-12;
    double *field = NULL, apart[3], sum[3];

    FBP_TRY(fbp_calloc((void **)&field, count, sizeof *field, "an order of directions"));
    for (size_t k = 0; k + 1 < count && !fbp_stopped(); k++) {
        size_t best = k + 1;
        for (size_t i = k + 1; i < count; i++) {
            fbp_axpy(n[k], -1, n[i], apart);
            fbp_axpy(n[k], 1, n[i], sum);
            field[i] += 1 / fbp_norm(apart) + 1 / fbp_norm(sum);
            if (field[i] < field[best] * (1 - equal))
                best = i;
        }
        /* direction `best` moves to place k + 1, and those before it move up by one */
        const double taken[3] = {n[best][0], n[best][1], n[best][2]};
        memmove(n[k + 2], n[k + 1], (best - k - 1) * sizeof *n);
        memmove(&field[k + 2], &field[k + 1], (best - k - 1) * sizeof *field);
        memcpy(n[k + 1], taken, sizeof taken);
    }
    free(field);
    return fbp_check_cancelled();
}

/* Copy and check a caller's description of a set of directions, and count them (*count). */
static fbp_status check(const struct fbp_directions *given, struct fbp_directions *set,
                        size_t *count)
{
    double sum = 0;

    FBP_TRY(FBP_COPY_IN(directions, set, given));
    FBP_TRY(fbp_check_choice("directions.set", (long)set->set, FBP_SET_FIBONACCI));
    FBP_TRY(fbp_check_choice("directions.order", (long)set->order, FBP_ORDER_MSPS));
    FBP_TRY(fbp_check_choice("directions.pole", (long)set->pole, FBP_POLE_Y));
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n[0]", (double)set->n[0]));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "directions.n[1]", (double)set->n[1]));
    if (set->set != FBP_SET_LINEAR_ANGLE && set->n[1] != 0)
        return FBP_INVALID("directions.n: found two numbers for the set %s, expected one; only "
                           "linear-angle has two",
                           fbp_direction_set_name(set->set));
    if (set->set == FBP_SET_FIBONACCI && set->order == FBP_ORDER_FLIP)
        return FBP_INVALID("directions.order: a spiral has no rings whose order "
                           "could be reversed; use plain or msps");
    if (set->n[1] == 0)
        set->n[1] = set->n[0];
    for (size_t i = 0; set->set != FBP_SET_FIBONACCI && i < set->n[0]; i++)
        sum += (double)ring_size(set, i);
    if (set->set == FBP_SET_FIBONACCI)
        sum = (double)set->n[0];
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n: the number of directions", sum));
    if (set->order == FBP_ORDER_MSPS && sum > MOST_SPACED)
        return FBP_INVALID(
            "directions.order: the order msps would take too long for %.0f directions, "
            "more than %.0f; use plain or flip",
            sum, MOST_SPACED);
    *count = (size_t)sum;
    return FBP_OK;
}

fbp_status fbp_directions_make(const struct fbp_directions *given, double (*out)[3], size_t *n_out)
{
    const double golden = (1 + sqrt(5)) / 2;
    struct fbp_directions set;
    size_t count = 0;

    fbp_message_clear();
    const fbp_status st = check(given, &set, &count);
    if (n_out)
        *n_out = st == FBP_OK ? count : 0;
    if (st != FBP_OK || !out)
        return st;
    const size_t n = set.n[0];
    if (set.set == FBP_SET_FIBONACCI) {
        for (size_t i = 0; i < n; i++)
            put(set.pole, acos(((double)i + 0.5) / (double)n),
                2 * FBP_PI * fmod((double)i / golden, 1), out[i]);
    } else {
        for (size_t i = 0, at = 0; i < n; i++) {
            const size_t m = ring_size(&set, i);
            const bool back = set.order != FBP_ORDER_PLAIN && i % 2 == 1;
            for (size_t j = 0; j < m; j++)
                put(set.pole, angle_of(i, n), angle_of(back ? m - 1 - j : j, m), out[at++]);
        }
    }
    return set.order == FBP_ORDER_MSPS ? most_apart(out, count) : FBP_OK;
}

void fbp_plane_view(const double direction[3], double spacing_mm, double first_mm, size_t n_samples,
                    struct fbp_view *out)
{
    FBP_REQUIRE_ELSE(, direction, out);
    const double middle = first_mm + ((double)n_samples - 1) / 2 * spacing_mm;

    *out = (struct fbp_view){{0}, {0}, {0}, {0}};
    for (int i = 0; i < 3; i++) {
        out->d[i] = middle * direction[i];
        out->u[i] = spacing_mm * direction[i];
    }
}

/* Voronoi cells on the sphere, one by one. Seen from the centre, on the plane that touches the
 * sphere in n, great circles are straight lines: the cell of n is a square, cut by the line half
 * way to each other point. Cells need no common mesh, so rings of points do no harm. */

/* Directions are equal if their difference is shorter than this. */
static const double EQUAL = 1e-9;

/* Half the side of the square, on the plane that touches the unit sphere, from which a Voronoi cell
 * is cut.  A cell that reaches an edge of the square extends nearly 90 degrees from its point. */
static const double HORIZON = 1e6;

/* A point of the sphere: direction i if i < count, else the antipode of direction i - count. */
struct point {
    double x[3];
    size_t i;
};

/* A line a . p = b on the plane that touches the sphere; the cell is on the side a . p <= b. */
struct line {
    double a[2], b;
};

/* A corner of a Voronoi cell, and the line from this corner to the next one. */
struct corner {
    double p[2];
    struct line edge;
};

/* A Voronoi cell, projected onto the plane through `at` with axes e. */
struct cell {
    const double *at;
    double e[2][3];
    size_t n;
    struct corner *corner, *spare; /* a cut adds at most one corner */
    double reach;                  /* greatest distance of a corner from `at` */
};

static int by_height(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x[2], y = ((const struct point *)b)->x[2];

    return (x > y) - (x < y);
}

static double beyond(const struct line *l, const double p[2])
{
    return l->a[0] * p[0] + l->a[1] * p[1] - l->b;
}

/* Intersection of two lines from their equations: coordinates of distant corners have few exact
 * digits. Parallel lines give p, a corner on both up to rounding. */
static void meet(const struct line *l, const struct line *m, const double p[2], double out[2])
{
    const double det = l->a[0] * m->a[1] - l->a[1] * m->a[0];
    const bool parallel = !(fabs(det) > 1e-13 * hypot(l->a[0], l->a[1]) * hypot(m->a[0], m->a[1]));

    out[0] = parallel ? p[0] : (l->b * m->a[1] - l->a[1] * m->b) / det;
    out[1] = parallel ? p[1] : (l->a[0] * m->b - l->b * m->a[0]) / det;
}

/* Cut off the part of a cell that is nearer to x, a point of the sphere, than to point c->at. */
static void cut(struct cell *c, const double x[3])
{
    const struct line l = {{fbp_dot(x, c->e[0]), fbp_dot(x, c->e[1])}, 1 - fbp_dot(x, c->at)};
    const double slope = hypot(l.a[0], l.a[1]);
    const struct corner *was = c->corner;
    struct corner *to = c->spare;
    const size_t n = c->n;
    double most = 1e-14 * (l.b + slope); /* rounding */
    size_t top = n, gone = 1, kept = 0;

    if (!(l.b < c->reach * slope))
        return;
    for (size_t i = 0; i < n; i++) { /* corner that is farthest beyond the line */
        const double by = beyond(&l, was[i].p);
        if (by > most) {
            most = by;
            top = i;
        }
    }
    if (top == n)
        return;

    /* Replace the consecutive corners beyond the cutting line by two new corners on the line. */
    size_t first = top, last = top;
    for (; gone < n && beyond(&l, was[(first + n - 1) % n].p) > 0; gone++)
        first = (first + n - 1) % n;
    for (; gone < n && beyond(&l, was[(last + 1) % n].p) > 0; gone++)
        last = (last + 1) % n;
    const size_t before = (first + n - 1) % n;
    meet(&was[last].edge, &l, was[last].p, to[kept].p);
    to[kept++].edge = was[last].edge;
    for (size_t i = last + 1; kept <= n - gone; i++)
        to[kept++] = was[i % n];
    meet(&was[before].edge, &l, was[first].p, to[kept].p);
    to[kept++].edge = l;
    c->spare = c->corner;
    c->corner = to;
    c->n = kept;
    c->reach = 0;
    for (size_t i = 0; i < kept; i++)
        c->reach = fmax(c->reach, hypot(to[i].p[0], to[i].p[1]));
}

/* Compute the Voronoi cell of point i. p: all n points, sorted by height z. Returns the number of
 * points that are equal to point i, including itself. */
static size_t make_cell(struct cell *c, const struct point *p, size_t n, size_t i)
{
    const double *const at = p[i].x;
    const double start[3] = {fabs(at[0]) < 0.6, fabs(at[0]) >= 0.6, 0};
    bool more[2] = {true, true}; /* more points upwards [0] and downwards [1] may cut the cell */
    double apart[3];
    size_t equal = 1;

    c->at = at;
    fbp_axpy(start, -fbp_dot(start, at), at, c->e[0]);
    fbp_normalise(c->e[0]);
    fbp_cross(at, c->e[0], c->e[1]);
    c->n = 4;
    for (int k = 0; k < 4; k++) { /* counter-clockwise from the lower right */
        const double x = k == 0 || k == 1 ? 1 : -1, y = k == 1 || k == 2 ? 1 : -1;
        c->corner[k] =
            (struct corner){{HORIZON * x, HORIZON * y}, {{k % 2 ? 0 : x, k % 2 ? y : 0}, HORIZON}};
    }
    c->reach = HORIZON * sqrt(2);
    for (size_t step = 1; more[0] || more[1]; step++)
        for (int down = 0; down < 2; down++) {
            more[down] = more[down] && (down ? i >= step : i + step < n);
            if (!more[down])
                continue;
            const double *x = p[down ? i - step : i + step].x;
            /* sorted by height: after one that is too far up (or down), none cuts the cell */
            more[down] = !(fabs(x[2] - at[2]) > 2 * sin(atan(c->reach)) + EQUAL);
            if (!more[down])
                continue;
            fbp_axpy(x, -1, at, apart);
            if (fbp_norm(apart) < EQUAL)
                equal++;
            else
                cut(c, x);
        }
    return equal;
}

fbp_status fbp_sphere_cells(const double (*direction)[3], size_t count, double *area,
                            struct fbp_sphere *out)
{
    const size_t n = 2 * count, room = n + 8;
    struct corner *corners = NULL;
    struct point *points = NULL;
    double *own = NULL, different = 0, sum = 0;
    fbp_status st;

    *out = (struct fbp_sphere){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&own, n, sizeof *own, "cells of the sphere"));
    FBP_TRY_GOTO(fbp_calloc((void **)&points, n, sizeof *points, "points of the sphere"));
    FBP_TRY_GOTO(fbp_calloc((void **)&corners, 2 * room, sizeof *corners, "cells of the sphere"));
    struct cell cell = {.corner = corners, .spare = corners + room};
    double *const reach = own + count;
    for (size_t i = 0; i < count; i++) {
        const double *x = direction[i];
        points[i] = (struct point){{x[0], x[1], x[2]}, i};
        points[count + i] = (struct point){{-x[0], -x[1], -x[2]}, count + i};
    }
    qsort(points, n, sizeof *points, by_height);

    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0)
            FBP_TRY_GOTO(fbp_check_cancelled());
        const size_t at = points[i].i;
        /* skip antipodes: their cells are mirror images of the cells of their directions */
        if (at >= count)
            continue;
        const size_t equal = make_cell(&cell, points, n, i);
        if (!(cell.reach < HORIZON / 2))
            FBP_TRY_GOTO(
                FBP_INVALID("directions: all %zu lie in one plane, which does not determine "
                            "a volume; give directions all over a half sphere",
                            count));
        /* solid angle of the cell: sum over triangles (van Oosterom and Strackee 1983) */
        double angle = 0;
        for (size_t k = 0; k < cell.n; k++) {
            const double *p = cell.corner[k].p, *q = cell.corner[(k + 1) % cell.n].p;
            const double a = sqrt(1 + p[0] * p[0] + p[1] * p[1]);
            const double b = sqrt(1 + q[0] * q[0] + q[1] * q[1]);
            const double volume = p[0] * q[1] - p[1] * q[0], pq = 1 + p[0] * q[0] + p[1] * q[1];
            angle += 2 * atan2(volume, a * b + pq + a + b);
        }
        own[at] = angle / (double)equal;
        reach[at] = atan(cell.reach);
        different += 1 / (double)equal;
    }
    for (size_t i = 0; i < count; i++)
        sum += own[i];
    for (size_t i = 0; area && i < count; i++) /* the sum is 2 pi except for rounding */
        area[i] = own[i] * (2 * FBP_PI / sum);
    fbp_sort(reach, count);
    *out = (struct fbp_sphere){(size_t)(different + 0.5), reach[count - 1], reach[count / 2]};
fail:
    free(corners);
    free(points);
    free(own);
    return st;
}
