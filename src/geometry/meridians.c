/* Structure in a set of directions of plane integrals, in any order: planes through a common axis
 * that contain them (fbp_meridians_of()), and rings about an axis in which they are evenly spaced
 * (fbp_rings_of(), fbp_rings_about()); see directions.h.
 * Used by: cli/geometry_check.c, pipeline/epr_rings.c, pipeline/epr_two_stages.c,
 * weight/quadrature.c. */
#include "geometry/directions.h"

#include "base/math.h"
#include "base/threads.h"

#include <string.h>

/* Greatest angle between a direction and its plane [rad]; files may have few digits. */
static const double OFF = 1e-4;

/* Least mean number of directions per meridian plane for a reconstruction in two stages. */
enum { LEAST = 3 };

/* Limits of the search for the common axis.  SEEDS: number of directions through which great
 * circles are laid.  CIRCLES: greatest number of great circles through each of these directions. */
enum { SEEDS = 4, CIRCLES = 4 };

/* Index of a direction, and the sine of its angle to the axis. */
struct far {
    double sine;
    size_t i;
};

/* State of the search for the axis with the fewest planes: arrays [n], and the best axis. */
struct work {
    const double (*direction)[3];
    size_t n;
    struct far *order;  /* [n] */
    double (*plane)[3]; /* [n] normals of the planes (or great circles) found so far */
    size_t *count;      /* [n] number of directions in each plane */
    size_t *of;         /* [n] plane of each direction */
    double axis[3];     /* the axis that needs the fewest planes */
    size_t most;        /* number of planes that this axis needs */
};

static int farthest_first(const void *a, const void *b)
{
    const struct far *x = a, *y = b;

    return x->sine > y->sine ? -1 : x->sine < y->sine ? 1 : (x->i > y->i) - (x->i < y->i);
}

/* Count the planes through an axis that contain all directions; most + 1: more than `most`.
 * Directions near the axis, which determine their plane badly, are assigned last. */
static size_t count_planes(const struct work *w, const double axis[3], size_t most)
{
    double across[3];
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++) {
        fbp_cross(axis, w->direction[i], across);
        w->order[i] = (struct far){fbp_norm(across), i};
    }
    qsort(w->order, w->n, sizeof *w->order, farthest_first);
    for (size_t i = 0; i < w->n; i++) {
        const double *d = w->direction[w->order[i].i];
        double least = OFF;
        size_t at = n;
        for (size_t k = 0; k < n; k++) { /* find the plane nearest to the direction */
            const double off = fabs(fbp_dot(d, w->plane[k]));
            if (off < least) {
                least = off;
                at = k;
            }
        }
        if (at == n) {
            if (n == most)
                return most + 1;
            fbp_cross(axis, d, w->plane[n]);
            fbp_normalise(w->plane[n]);
            w->count[n++] = 0;
        }
        w->count[at]++;
        w->of[w->order[i].i] = at;
    }
    return n;
}

static void try_axis(struct work *w, const double axis[3])
{
    const size_t n = count_planes(w, axis, w->most - 1);

    if (n >= w->most)
        return;
    memcpy(w->axis, axis, sizeof w->axis);
    w->most = n;
}

/* Find up to CIRCLES great circles through direction `seed` that contain the most directions, at
 * least LEAST each. Sets `out` to the normals of the circles, and returns the number of circles. */
static size_t circles_through(const struct work *w, size_t seed, double out[CIRCLES][3])
{
    size_t n = 0, found = 0;

    for (size_t i = 0; i < w->n; i++) {
        double normal[3];
        size_t at = 0;
        fbp_cross(w->direction[seed], w->direction[i], normal);
        if (fbp_normalise(normal) < OFF)
            continue;
        while (at < n && fabs(fbp_dot(normal, w->plane[at])) < 1 - OFF * OFF / 2)
            at++;
        if (at == n) {
            memcpy(w->plane[n], normal, sizeof normal);
            w->count[n++] = 0;
        }
        w->count[at]++;
    }
    while (n > 0 && found < CIRCLES) {
        size_t best = 0;
        for (size_t k = 1; k < n; k++)
            best = w->count[k] > w->count[best] ? k : best;
        if (w->count[best] + 1 < LEAST)
            break;
        memcpy(out[found++], w->plane[best], sizeof *out);
        w->count[best] = 0;
    }
    return found;
}

struct turned {
    double angle;
    size_t plane;
};

fbp_status fbp_meridians_of(const double (*direction)[3], size_t n, struct fbp_meridian_planes *out)
{
    static const double poles[3][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    static const char what[] = "planes of directions";
    struct work w = {.direction = direction, .n = n, .most = n + 1};
    struct turned *turned = NULL;
    int largest = 0, least = 0;
    double other[3] = {0};
    fbp_status st;

    fbp_message_clear();
    *out = (struct fbp_meridian_planes){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&w.order, n, sizeof *w.order, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.plane, n, sizeof *w.plane, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.count, n, sizeof *w.count, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.of, n, sizeof *w.of, what));
    for (int i = 0; i < 3; i++)
        try_axis(&w, poles[i]);
    if (w.most * LEAST > n) {
        /* Directions of one meridian plane lie on a great circle through the axis, so the axis is
         * the cross product of the normals of two such circles. */
        double circle[SEEDS][CIRCLES][3], axis[3];
        size_t found[SEEDS];
        for (size_t s = 0; s < SEEDS; s++) {
            found[s] = circles_through(&w, s * (n - 1) / (SEEDS - 1), circle[s]);
            FBP_TRY_GOTO(fbp_check_cancelled());
        }
        for (size_t s = 1; s < SEEDS; s++)
            for (size_t t = 0; t < s; t++)
                for (size_t i = 0; i < found[s] * found[t]; i++) {
                    fbp_cross(circle[s][i / found[t]], circle[t][i % found[t]], axis);
                    if (w.most > 1 && fbp_normalise(axis) > OFF)
                        try_axis(&w, axis);
                    FBP_TRY_GOTO(fbp_check_cancelled());
                }
    }
    if (w.most * LEAST > n)
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("geometry: two stages need directions in planes through one axis, at "
                            "least %d per plane on average, but these %zu directions lie in %zu "
                            "planes",
                            (int)LEAST, n, w.most < n ? w.most : count_planes(&w, poles[0], n)));

    /* make the largest component of the axis positive; set `pole` for an axis along x, y or z */
    for (int i = 1; i < 3; i++) {
        largest = fabs(w.axis[i]) > fabs(w.axis[largest]) ? i : largest;
        least = fabs(w.axis[i]) < fabs(w.axis[least]) ? i : least;
    }
    const double side = w.axis[largest] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        out->axis[i] = side * w.axis[i];
    out->pole = out->axis[largest] > 1 - 1e-15 ? largest : -1;
    /* set two axes perpendicular to the common axis: y and z for x, z and x for y, x and y for z */
    if (out->pole >= 0)
        least = (out->pole + 1) % 3;
    other[least] = 1;
    fbp_axpy(other, -fbp_dot(other, out->axis), out->axis, out->across[0]);
    fbp_normalise(out->across[0]);
    fbp_cross(out->axis, out->across[0], out->across[1]);

    /* Sort the planes by the angle of their direction farthest from the axis. */
    out->n = count_planes(&w, out->axis, n);
    FBP_TRY_GOTO(fbp_calloc((void **)&out->angle, out->n, sizeof *out->angle, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->plane, n, sizeof *out->plane, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&turned, out->n, sizeof *turned, what));
    for (size_t k = 0; k < out->n; k++)
        out->most = w.count[k] > out->most ? w.count[k] : out->most;
    for (size_t i = n; i-- > 0;) { /* the farthest direction of a plane sets its angle last */
        const size_t k = w.of[w.order[i].i];
        const double *d = direction[w.order[i].i];
        const double a = atan2(fbp_dot(d, out->across[1]), fbp_dot(d, out->across[0]));
        const double half = a < 0 ? a + FBP_PI : a; /* a plane's angle is modulo pi */
        turned[k] = (struct turned){half > FBP_PI - OFF / 100 ? 0 : half, k};
    }
    qsort(turned, out->n, sizeof *turned, fbp_by_value);
    size_t *const place = w.count;
    for (size_t k = 0; k < out->n; k++) {
        out->angle[k] = turned[k].angle;
        place[turned[k].plane] = k;
    }
    for (size_t i = 0; i < n; i++)
        out->plane[i] = place[w.of[i]];
fail:
    free(turned);
    free(w.order);
    free(w.plane);
    free(w.count);
    free(w.of);
    if (st != FBP_OK)
        fbp_meridians_clear(out);
    return st;
}

void fbp_meridians_clear(struct fbp_meridian_planes *planes)
{
    free(planes->angle);
    free(planes->plane);
    *planes = (struct fbp_meridian_planes){0};
}

/* Tolerances of rings that may be resampled, for files with few digits.  ALIKE: difference of polar
 * angles in a ring [rad].  EVEN: deviation of an azimuth from even spacing [steps]. */
static const double ALIKE = 1e-4, EVEN = 1e-2;

/* A member of a ring, with its direction in polar coordinates [rad], in the upper half. */
struct place {
    double theta, phi;
    struct fbp_ring_member member;
};

static int by_phi(const void *a, const void *b)
{
    const double x = ((const struct place *)a)->phi, y = ((const struct place *)b)->phi;

    return (x > y) - (x < y);
}

/* True if the n angles phi of a ring, in ascending order, are evenly spaced, and each different
 * angle occurs equally often.  *n_phi: number of different angles. */
static bool is_even(const struct place *p, size_t n, double alike, double even, size_t *n_phi)
{
    size_t different = 0;

    for (size_t i = 0; i < n; i++)
        different += fabs(remainder(p[(i + 1) % n].phi - p[i].phi, 2 * FBP_PI)) > alike;
    if (different < 2 || n % different != 0)
        return false;
    const double step = 2 * FBP_PI / (double)different;
    for (size_t i = 0; i < n; i++) {
        const double at = (p[i].phi - p[0].phi) / step;
        const double next = p[(i + n / different) % n].phi - p[i].phi - step;
        if (fabs(at - round(at)) > even || fabs(remainder(next, 2 * FBP_PI)) > step / 2)
            return false;
    }
    *n_phi = different;
    return true;
}

fbp_status fbp_rings_about(const double (*direction)[3], size_t n, enum fbp_pole pole, double alike,
                           double even, struct fbp_rings *out)
{
    static const int indices[] = {[FBP_POLE_Z] = 2, [FBP_POLE_X] = 0, [FBP_POLE_Y] = 1};
    const int axis = indices[pole];
    struct place *place = NULL;
    bool found = true;
    size_t end;
    fbp_status st;

    *out = (struct fbp_rings){0};
    out->axis[axis] = out->across[0][(axis + 1) % 3] = out->across[1][(axis + 2) % 3] = 1;
    FBP_TRY_GOTO(fbp_calloc((void **)&place, 2 * n, sizeof *place, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->ring, 2 * n, sizeof *out->ring, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->member, 2 * n, sizeof *out->member, "rings"));
    /* each direction is entered once; a direction on the equator also with its antipode */
    for (size_t k = 0; k < n; k++) {
        const double up = fbp_dot(direction[k], out->axis), side = up < 0 ? -1 : 1;
        const double x = side * fbp_dot(direction[k], out->across[0]);
        const double y = side * fbp_dot(direction[k], out->across[1]);
        const double theta = atan2(hypot(x, y), side * up), phi = atan2(y, x);
        place[out->n_members++] = (struct place){theta, phi, {k, side < 0}};
        if (FBP_PI / 2 - theta <= alike)
            place[out->n_members++] =
                (struct place){theta, phi > 0 ? phi - FBP_PI : phi + FBP_PI, {k, !(side < 0)}};
    }
    qsort(place, out->n_members, sizeof *place, fbp_by_value);
    for (size_t first = 0; found && first < out->n_members; first = end) {
        struct place *p = place + first;
        for (end = first + 1; end < out->n_members && place[end].theta - p->theta <= alike;)
            end++;
        qsort(p, end - first, sizeof *p, by_phi);
        struct fbp_ring *ring = &out->ring[out->n++];
        *ring = (struct fbp_ring){.theta = p->theta,
                                  .phi = p->phi,
                                  .first = first,
                                  .n = end - first,
                                  .at_pole = p->theta < alike,
                                  .at_equator = FBP_PI / 2 - p->theta <= alike};
        if (ring->at_pole)
            continue;
        out->most = ring->n > out->most ? ring->n : out->most;
        found = is_even(p, ring->n, alike, even, &ring->n_phi);
    }
    for (size_t i = 0; i < out->n_members; i++)
        out->member[i] = place[i].member;
    if (!found)
        out->n = 0;
fail:
    free(place);
    if (st != FBP_OK)
        fbp_rings_clear(out);
    return st;
}

fbp_status fbp_rings_of(const double (*direction)[3], size_t n, struct fbp_rings *out)
{
    for (enum fbp_pole pole = FBP_POLE_Z; pole <= FBP_POLE_Y; pole++) {
        FBP_TRY(fbp_rings_about(direction, n, pole, ALIKE, EVEN, out));
        bool found = out->n > 0 && out->most > 1;
        for (size_t i = 0; i < out->n; i++) /* no direction occurs twice */
            found = found && (out->ring[i].at_pole || out->ring[i].n_phi == out->ring[i].n);
        if (found)
            return FBP_OK;
        fbp_rings_clear(out);
    }
    return FBP_UNSUPPORTED(
        "angles: the %zu directions do not lie in evenly spaced rings about x, y or z, "
        "and only such rings can be resampled; omit angles",
        n);
}

void fbp_rings_clear(struct fbp_rings *rings)
{
    free(rings->ring);
    free(rings->member);
    *rings = (struct fbp_rings){0};
}

void fbp_ring_direction(const struct fbp_rings *rings, double theta, double phi, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = sin(theta) * (cos(phi) * rings->across[0][i] + sin(phi) * rings->across[1][i]) +
                 cos(theta) * rings->axis[i];
}
