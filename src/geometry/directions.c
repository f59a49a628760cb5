/* Sets of directions of plane integrals, and their cells on the sphere. */
#include "geometry/directions.h"

#include "fbp/directions.h"

#include "base/mem.h"
#include "base/range.h"
#include "base/sizes.h"
#include "base/sort.h"
#include "base/stop.h"
#include "base/vec.h"

#include <string.h>

/* Sets of directions on the sphere, and the orders in which they are measured. */

static const char *const sets[] = {"solid-angle", "linear-angle", "fibonacci"};
static const char *const orders[] = {"plain", "flip", "msps"};
static const char *const poles[] = {"z", "x", "y"};
static const char *const quadratures[] = {"auto", "bands", "voronoi", "harmonics", "given"};

/* Finding the maximally spaced order takes the square of their number. */
static const double MOST_SPACED = 50000;

#define N_OF(array) (sizeof(array) / sizeof *(array))

const char *fbp_direction_set_name(size_t i)
{
    return i < N_OF(sets) ? sets[i] : NULL;
}

const char *fbp_direction_order_name(size_t i)
{
    return i < N_OF(orders) ? orders[i] : NULL;
}

const char *fbp_pole_name(size_t i)
{
    return i < N_OF(poles) ? poles[i] : NULL;
}

const char *fbp_quadrature_name(size_t i)
{
    return i < N_OF(quadratures) ? quadratures[i] : NULL;
}

/* Angle of ring i of n from the pole; of direction j of m in a ring about it. */
static double angle_of(size_t i, size_t n)
{
    return FBP_PI / 2 + FBP_PI / (2 * (double)n) - (double)(i + 1) * FBP_PI / (double)n;
}

/* Directions in ring i. */
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

static void put_rings(const struct fbp_directions *set, double (*out)[3])
{
    for (size_t i = 0, at = 0; i < set->n[0]; i++) {
        const size_t m = ring_size(set, i);
        const bool back = set->order != FBP_ORDER_PLAIN && i % 2 == 1;
        for (size_t j = 0; j < m; j++)
            put(set->pole, angle_of(i, set->n[0]), angle_of(back ? m - 1 - j : j, m), out[at++]);
    }
}

static void put_spiral(const struct fbp_directions *set, double (*out)[3])
{
    const double golden = (1 + sqrt(5)) / 2, n = (double)set->n[0];

    for (size_t i = 0; i < set->n[0]; i++)
        put(set->pole, acos(((double)i + 0.5) / n), 2 * FBP_PI * fmod((double)i / golden, 1),
            out[i]);
}

/* What a charge at a, and one at -a, add to the potential at b. */
static double potential(const double a[3], const double b[3])
{
    double apart[3], sum[3];

    fbp_axpy(a, -1, b, apart);
    fbp_axpy(a, 1, b, sum);
    return 1 / fbp_norm(apart) + 1 / fbp_norm(sum);
}

/* Always the direction with the least potential of those before it; of equal ones the first. */
static fbp_status most_apart(double (*n)[3], size_t count)
{
    const double equal = 1e-12;
    double *field = NULL;

    FBP_TRY(fbp_calloc((void **)&field, count, sizeof *field, "an order of directions"));
    for (size_t k = 0; k + 1 < count && !fbp_stopped(); k++) {
        size_t best = k + 1;
        for (size_t i = k + 1; i < count; i++) {
            field[i] += potential(n[k], n[i]);
            if (field[i] < field[best] * (1 - equal))
                best = i;
        }
        /* those in between keep their order */
        const double taken[3] = {n[best][0], n[best][1], n[best][2]};
        memmove(n[k + 2], n[k + 1], (best - k - 1) * sizeof *n);
        memmove(&field[k + 2], &field[k + 1], (best - k - 1) * sizeof *field);
        memcpy(n[k + 1], taken, sizeof taken);
    }
    free(field);
    return fbp_go_on();
}

static fbp_status check(const struct fbp_directions *given, struct fbp_directions *set)
{
    FBP_TRY(FBP_TAKE(directions, set, given));
    FBP_TRY(fbp_check_choice("directions.set", (long)set->set, FBP_SET_FIBONACCI));
    FBP_TRY(fbp_check_choice("directions.order", (long)set->order, FBP_ORDER_MSPS));
    FBP_TRY(fbp_check_choice("directions.pole", (long)set->pole, FBP_POLE_Y));
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n[0]", (double)set->n[0]));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "directions.n[1]", (double)set->n[1]));
    if (set->set != FBP_SET_LINEAR_ANGLE && set->n[1] != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.n: found two numbers for set %s, which has one: only "
                        "linear-angle has rings of any length",
                        fbp_direction_set_name(set->set));
    if (set->set == FBP_SET_FIBONACCI && set->order == FBP_ORDER_FLIP)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.order: a spiral has no rings to flip: use plain or msps");
    if (set->n[1] == 0)
        set->n[1] = set->n[0];
    return FBP_OK;
}

static fbp_status count_of(const struct fbp_directions *set, size_t *count)
{
    double sum = 0;

    for (size_t i = 0; set->set != FBP_SET_FIBONACCI && i < set->n[0]; i++)
        sum += (double)ring_size(set, i);
    if (set->set == FBP_SET_FIBONACCI)
        sum = (double)set->n[0];
    FBP_TRY(fbp_check_range(&fbp_range_views, "directions.n: the number of directions", sum));
    if (set->order == FBP_ORDER_MSPS && sum > MOST_SPACED)
        return fbp_fail(FBP_ERR_INVALID,
                        "directions.order: %.0f directions take too long to space, more than %.0f: "
                        "use plain or flip",
                        sum, MOST_SPACED);
    *count = (size_t)sum;
    return FBP_OK;
}

fbp_status fbp_directions_count(const struct fbp_directions *given, size_t *count)
{
    FBP_GIVEN(count);
    struct fbp_directions set;

    fbp_message_clear();
    *count = 0;
    FBP_TRY(check(given, &set));
    return count_of(&set, count);
}

fbp_status fbp_directions_make(const struct fbp_directions *given, double (*out)[3])
{
    FBP_GIVEN(out);
    struct fbp_directions set;
    size_t count;

    fbp_message_clear();
    FBP_TRY(check(given, &set));
    FBP_TRY(count_of(&set, &count));
    (set.set == FBP_SET_FIBONACCI ? put_spiral : put_rings)(&set, out);
    return set.order == FBP_ORDER_MSPS ? most_apart(out, count) : FBP_OK;
}

void fbp_plane_view(const double direction[3], double spacing_mm, double first_mm, size_t n_samples,
                    struct fbp_view *out)
{
    FBP_GIVEN_ELSE(, direction, out);
    const double middle = first_mm + ((double)n_samples - 1) / 2 * spacing_mm;

    *out = (struct fbp_view){{0}, {0}, {0}, {0}};
    for (int i = 0; i < 3; i++) {
        out->d[i] = middle * direction[i];
        out->u[i] = spacing_mm * direction[i];
    }
}

/*
 * Voronoi cells on the sphere, one by one.  Seen from the centre of the sphere, on the plane that
 * touches it in n, great circles are straight lines: the cell of n is a square, cut by the line
 * half way to each other point.  Cells need no common mesh, so that points on one circle, as rings
 * have them, do no harm.
 */

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
