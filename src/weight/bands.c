/*
 * Rings of directions, found in the directions themselves: their order does not matter, nor on
 * which side of the equator they were measured.
 */
#include "weight/bands.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#include <string.h>

/* Angles of one ring differ by less, as files with few digits have them [rad]. */
static const double ALIKE = 1e-5;

/* What a ring may be off from its even place, and a direction in it, as part of a step. */
static const double EVEN = 1e-3;

/* A direction on the upper half about the pole. */
struct place {
    double theta, phi;
    size_t i;
};

/* Rings of places that are sorted by theta. */
struct bands {
    struct place *place;
    size_t count;
    size_t *first; /* of each ring, and one beyond the last */
    size_t n;
    double step;
    bool pole, equator; /* is there a ring on it? */
};

static int by_phi(const void *a, const void *b)
{
    const double x = ((const struct place *)a)->phi, y = ((const struct place *)b)->phi;

    return (x > y) - (x < y);
}

/* The axis that stands for each of x, y and z (fbp/directions.h, enum fbp_pole). */
static void look_along(enum fbp_pole pole, const double n[3], struct place *out)
{
    static const int axis[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
    const double side = n[axis[pole][2]] < 0 ? -1 : 1;
    const double x = side * n[axis[pole][0]], y = side * n[axis[pole][1]];

    out->theta = atan2(hypot(x, y), side * n[axis[pole][2]]);
    out->phi = atan2(y, x);
}

static void find_rings(struct bands *b)
{
    qsort(b->place, b->count, sizeof *b->place, fbp_by_value);
    b->n = 0;
    for (size_t i = 0; i < b->count; i++)
        if (i == 0 || b->place[i].theta - b->place[b->first[b->n - 1]].theta > ALIKE)
            b->first[b->n++] = i;
    b->first[b->n] = b->count;
}

static double ring_theta(const struct bands *b, size_t ring)
{
    return b->place[b->first[ring]].theta;
}

/* From pole to equator the rings are whole steps apart, and at either end there is one, or half a
 * step to it. */
static bool are_even(struct bands *b)
{
    if (b->n < 2)
        return false;
    b->pole = ring_theta(b, 0) < ALIKE;
    b->equator = ring_theta(b, b->n - 1) > FBP_PI / 2 - ALIKE;
    const double start = b->pole ? 0 : 0.5, end = b->equator ? 0 : 0.5;
    b->step = FBP_PI / 2 / ((double)b->n - 1 + start + end);
    for (size_t k = 0; k < b->n; k++)
        if (!(fabs(ring_theta(b, k) - ((double)k + start) * b->step) < EVEN * b->step))
            return false;
    return true;
}

/* From one angle to another, -half … half of the period. */
static double apart(double from, double to, double period)
{
    return remainder(to - from, period);
}

/* Are the directions of a ring even in phi, each as often as the others?  On the equator those half
 * a turn apart are one. */
static bool ring_is_even(const struct bands *b, size_t ring)
{
    struct place *p = b->place + b->first[ring];
    const size_t n = b->first[ring + 1] - b->first[ring];
    const bool on_equator = b->equator && ring + 1 == b->n;
    const double period = on_equator ? FBP_PI : 2 * FBP_PI;
    size_t different = 0;

    if (b->pole && ring == 0)
        return true;
    for (size_t i = 0; on_equator && i < n; i++)
        p[i].phi = p[i].phi < 0 ? p[i].phi + FBP_PI : p[i].phi;
    qsort(p, n, sizeof *p, by_phi);
    for (size_t i = 0; i < n; i++)
        different += fabs(apart(p[i].phi, p[(i + 1) % n].phi, period)) > ALIKE;
    if (different == 0) /* one direction, once or several times */
        return false;
    const double step = period / (double)different;
    for (size_t i = 0; i < n; i++) {
        const double to = p[(i + n / different) % n].phi - step;
        if (!(fabs(apart(p[i].phi, to, period)) < EVEN * step))
            return false;
    }
    return n % different == 0;
}

static bool rings_are_even(struct bands *b)
{
    if (!are_even(b))
        return false;
    for (size_t k = 0; k < b->n; k++)
        if (!ring_is_even(b, k))
            return false;
    return true;
}

static void weigh(const struct bands *b, double *weights)
{
    const double start = b->pole ? 0 : 0.5;

    for (size_t k = 0; k < b->n; k++) {
        const double middle = ((double)k + start) * b->step;
        const double lo = fmax(0, middle - b->step / 2);
        const double hi = fmin(FBP_PI / 2, middle + b->step / 2);
        const double band = 4 * FBP_PI * sin((lo + hi) / 2) * sin((hi - lo) / 2);
        for (size_t i = b->first[k]; i < b->first[k + 1]; i++)
            weights[b->place[i].i] = band / (double)(b->first[k + 1] - b->first[k]);
    }
}

fbp_status fbp_bands_of(const double (*direction)[3], size_t count, double *weights,
                        struct fbp_rings *out)
{
    struct bands b = {.count = count};
    fbp_status st;

    *out = (struct fbp_rings){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&b.place, count, sizeof *b.place, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&b.first, count + 1, sizeof *b.first, "rings"));
    for (int pole = FBP_POLE_Z; pole <= FBP_POLE_Y && out->n == 0; pole++) {
        for (size_t i = 0; i < count; i++) {
            look_along((enum fbp_pole)pole, direction[i], &b.place[i]);
            b.place[i].i = i;
        }
        find_rings(&b);
        if (rings_are_even(&b)) {
            weigh(&b, weights);
            *out = (struct fbp_rings){(enum fbp_pole)pole, b.n};
        }
    }
fail:
    free(b.place);
    free(b.first);
    return st;
}
