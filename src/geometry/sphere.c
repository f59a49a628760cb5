/*
 * Voronoi cells on the sphere, one by one.  Seen from the centre of the sphere, on the plane that
 * touches it in n, great circles are straight lines: the cell of n is a square, cut by the line
 * half way to each other point.  Cells need no common mesh, so that points on one circle, as rings
 * have them, do no harm.
 */
#include "geometry/sphere.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/stop.h"
#include "base/vec.h"

#include <string.h>

/* Directions nearer than this are one. */
static const double EQUAL = 1e-9;

/* Half the side of the square that is cut: a cell that reaches so far reaches the horizon. */
static const double HORIZON = 1e6;

/* A point of the sphere: direction i, or its antipode. */
struct point {
    double x[3];
    size_t i;
};

/* The line a . p = b; what is kept of a cell has a . p <= b. */
struct line {
    double a[2], b;
};

/* A corner of a cell, and the line from there to the next. */
struct corner {
    double p[2];
    struct line edge;
};

/* A cell on the plane that touches the sphere in `at`, with the axes e. */
struct cell {
    const double *at;
    double e[2][3];
    size_t n;
    struct corner *corner, *spare; /* room for all that there can be */
    double reach;                  /* greatest distance of a corner */
};

static int by_height(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x[2], y = ((const struct point *)b)->x[2];

    return (x > y) - (x < y);
}

static void begin(struct cell *c, const double at[3])
{
    const double start[3] = {fabs(at[0]) < 0.6, fabs(at[0]) >= 0.6, 0};

    c->at = at;
    fbp_axpy(start, -fbp_dot(start, at), at, c->e[0]);
    fbp_normalise(c->e[0]);
    fbp_cross(at, c->e[0], c->e[1]);
    c->n = 4;
    for (int i = 0; i < 4; i++) { /* counter-clockwise from the lower right */
        const double x = i == 0 || i == 1 ? 1 : -1, y = i == 1 || i == 2 ? 1 : -1;
        c->corner[i] =
            (struct corner){{HORIZON * x, HORIZON * y}, {{i % 2 ? 0 : x, i % 2 ? y : 0}, HORIZON}};
    }
    c->reach = HORIZON * sqrt(2);
}

static double beyond(const struct line *l, const double p[2])
{
    return l->a[0] * p[0] + l->a[1] * p[1] - l->b;
}

/* Where two lines meet: from the lines themselves, as corners near the horizon have few digits.  p
 * if they are parallel, which a line that parts two corners of the other is by rounding alone. */
static void meet(const struct line *l, const struct line *m, const double p[2], double out[2])
{
    const double det = l->a[0] * m->a[1] - l->a[1] * m->a[0];
    const bool parallel = !(fabs(det) > 1e-13 * hypot(l->a[0], l->a[1]) * hypot(m->a[0], m->a[1]));

    out[0] = parallel ? p[0] : (l->b * m->a[1] - l->a[1] * m->b) / det;
    out[1] = parallel ? p[1] : (l->a[0] * m->b - l->b * m->a[0]) / det;
}

/* The corner that lies farthest beyond a line; c->n if none lies there, but for rounding. */
static size_t farthest(const struct cell *c, const struct line *l)
{
    const double rounding = 1e-14 * (l->b + hypot(l->a[0], l->a[1]));
    double most = rounding;
    size_t out = c->n;

    for (size_t i = 0; i < c->n; i++) {
        const double by = beyond(l, c->corner[i].p);
        if (by > most) {
            most = by;
            out = i;
        }
    }
    return out;
}

/* What lies beyond the line is one run of corners, around the farthest; two come in their place. */
static void cut(struct cell *c, const struct line *l)
{
    const struct corner *was = c->corner;
    struct corner *to = c->spare;
    const size_t n = c->n, top = farthest(c, l);
    size_t first = top, last = top, gone = 1, kept = 0;

    if (top == n)
        return;
    for (; gone < n && beyond(l, was[(first + n - 1) % n].p) > 0; gone++)
        first = (first + n - 1) % n;
    for (; gone < n && beyond(l, was[(last + 1) % n].p) > 0; gone++)
        last = (last + 1) % n;
    const size_t before = (first + n - 1) % n;
    meet(&was[last].edge, l, was[last].p, to[kept].p);
    to[kept++].edge = was[last].edge;
    for (size_t i = last + 1; kept <= n - gone; i++)
        to[kept++] = was[i % n];
    meet(&was[before].edge, l, was[first].p, to[kept].p);
    to[kept++].edge = *l;
    c->spare = c->corner;
    c->corner = to;
    c->n = kept;
    c->reach = 0;
    for (size_t i = 0; i < kept; i++)
        c->reach = fmax(c->reach, hypot(to[i].p[0], to[i].p[1]));
}

/* The half of the plane that is nearer to the cell's point than to x: (at - x) . p >= 0. */
static void cut_by(struct cell *c, const double x[3])
{
    const struct line l = {{fbp_dot(x, c->e[0]), fbp_dot(x, c->e[1])}, 1 - fbp_dot(x, c->at)};

    if (l.b < c->reach * hypot(l.a[0], l.a[1]))
        cut(c, &l);
}

/* Cut the cell of point i by point j; false where this one, and all that are as far up or down or
 * farther, are too far away to cut it. */
static bool cut_by_one(struct cell *c, const struct point *p, size_t i, size_t j, size_t *equal)
{
    double apart[3];

    if (fabs(p[j].x[2] - p[i].x[2]) > 2 * sin(atan(c->reach)) + EQUAL)
        return false;
    fbp_axpy(p[j].x, -1, p[i].x, apart);
    if (fbp_norm(apart) < EQUAL)
        ++*equal;
    else
        cut_by(c, p[j].x);
    return true;
}

/* Both ways from point i, in the order of heights.  How many points are equal to it, itself too. */
static size_t cut_by_all(struct cell *c, const struct point *p, size_t n, size_t i)
{
    bool up = true, down = true;
    size_t equal = 1;

    for (size_t step = 1; up || down; step++) {
        up = up && i + step < n && cut_by_one(c, p, i, i + step, &equal);
        down = down && i >= step && cut_by_one(c, p, i, i - step, &equal);
    }
    return equal;
}

/* Solid angle of the triangle of the cell's point and two corners (van Oosterom and Strackee). */
static double triangle(const double p[2], const double q[2])
{
    const double a = sqrt(1 + p[0] * p[0] + p[1] * p[1]), b = sqrt(1 + q[0] * q[0] + q[1] * q[1]);
    const double volume = p[0] * q[1] - p[1] * q[0], pq = 1 + p[0] * q[0] + p[1] * q[1];

    return 2 * atan2(volume, a * b + pq + a + b);
}

static double area_of(const struct cell *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->n; i++)
        sum += triangle(c->corner[i].p, c->corner[(i + 1) % c->n].p);
    return sum;
}

/* Areas and reaches of all cells; what there is of each direction is counted. */
static fbp_status all_cells(struct cell *c, const struct point *p, size_t n, double *area,
                            double *reach, double *different)
{
    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0)
            FBP_TRY(fbp_go_on());
        if (p[i].i >= n / 2) /* an antipode: its cell is that of the direction, turned over */
            continue;
        begin(c, p[i].x);
        const size_t equal = cut_by_all(c, p, n, i);
        if (!(c->reach < HORIZON / 2))
            return fbp_fail(FBP_ERR_INVALID,
                            "directions: all %zu lie in one plane: that determines no volume: give "
                            "directions all over a half sphere",
                            n / 2);
        area[p[i].i] = area_of(c) / (double)equal;
        reach[p[i].i] = atan(c->reach);
        *different += 1 / (double)equal;
    }
    return FBP_OK;
}

static fbp_status make_points(const double (*direction)[3], size_t count, struct point **out)
{
    FBP_TRY(fbp_calloc((void **)out, 2 * count, sizeof **out, "points of the sphere"));
    for (size_t i = 0; i < count; i++) {
        const double *x = direction[i];
        (*out)[i] = (struct point){{x[0], x[1], x[2]}, i};
        (*out)[count + i] = (struct point){{-x[0], -x[1], -x[2]}, count + i};
    }
    qsort(*out, 2 * count, sizeof **out, by_height);
    return FBP_OK;
}

/* Each cut leaves at most one corner more. */
static fbp_status find_cells(const struct point *points, size_t count, double *area, double *reach,
                             double *different)
{
    const size_t room = 2 * count + 8;
    struct corner *corners = NULL;

    FBP_TRY(fbp_calloc((void **)&corners, 2 * room, sizeof *corners, "cells of the sphere"));
    struct cell cell = {.corner = corners, .spare = corners + room};
    const fbp_status st = all_cells(&cell, points, 2 * count, area, reach, different);
    free(corners);
    return st;
}

fbp_status fbp_sphere_cells(const double (*direction)[3], size_t count, double *area,
                            struct fbp_sphere *out)
{
    struct point *points = NULL;
    double *own = NULL, different = 0, sum = 0;
    fbp_status st;

    *out = (struct fbp_sphere){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&own, 2 * count, sizeof *own, "cells of the sphere"));
    double *const reach = own + count;
    FBP_TRY_GOTO(make_points(direction, count, &points));
    FBP_TRY_GOTO(find_cells(points, count, own, reach, &different));
    for (size_t i = 0; i < count; i++)
        sum += own[i];
    for (size_t i = 0; area && i < count; i++) /* rounding alone is left of the difference */
        area[i] = own[i] * (2 * FBP_PI / sum);
    fbp_sort(reach, count);
    *out = (struct fbp_sphere){(size_t)(different + 0.5), reach[count - 1], reach[count / 2]};
fail:
    free(points);
    free(own);
    return st;
}
