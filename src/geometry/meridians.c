/* Directions in meridian planes and in even rings, for reconstruction in two stages. */
#include "geometry/meridians.h"

#include "fbp/directions.h"

#include "base/mem.h"
#include "base/sizes.h"
#include "base/sort.h"
#include "base/stop.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The axis is found from the directions themselves.  Those of one meridian plane lie on a great
 * circle with others, so that the normals of such circles through a few directions cross in it.
 */

/* What a direction may lie off its plane, as files with few digits have it [rad]. */
static const double OFF = 1e-4;

/* Directions of a plane, on average, from which on two stages are worth it. */
enum { LEAST = 3 };

/* Great circles through a few directions are looked at, the fullest of each. */
enum { SEEDS = 4, CIRCLES = 4 };

/* A direction, and how far it is from the axis. */
struct far {
    double sine;
    size_t i;
};

/* What finding planes takes, for n directions. */
struct work {
    const double (*direction)[3];
    size_t n;
    struct far *order;  /* [n] */
    double (*plane)[3]; /* [n] normals */
    size_t *count;      /* [n] directions in them */
    size_t *of;         /* [n] plane of each direction */
};

static int farthest_first(const void *a, const void *b)
{
    const struct far *x = a, *y = b;

    return x->sine > y->sine ? -1 : x->sine < y->sine ? 1 : (x->i > y->i) - (x->i < y->i);
}

static void order_by_distance(const struct work *w, const double axis[3])
{
    double across[3];

    for (size_t i = 0; i < w->n; i++) {
        fbp_cross(axis, w->direction[i], across);
        w->order[i] = (struct far){fbp_norm(across), i};
    }
    qsort(w->order, w->n, sizeof *w->order, farthest_first);
}

/* The plane that a direction lies next to; n_planes if none is near enough. */
static size_t nearest(const struct work *w, const double direction[3], size_t n_planes)
{
    double least = OFF;
    size_t found = n_planes;

    for (size_t k = 0; k < n_planes; k++) {
        const double off = fabs(fbp_dot(direction, w->plane[k]));
        if (off < least) {
            least = off;
            found = k;
        }
    }
    return found;
}

/* How many planes through an axis hold all directions; most + 1 if more than `most`.  Those next to
 * the axis say little about their plane, and come last. */
static size_t count_planes(const struct work *w, const double axis[3], size_t most)
{
    size_t n = 0;

    order_by_distance(w, axis);
    for (size_t i = 0; i < w->n; i++) {
        const double *d = w->direction[w->order[i].i];
        const size_t at = nearest(w, d, n);
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

/* Great circles through direction `seed` and others: their normals into w->plane. */
static size_t circles_through(const struct work *w, size_t seed)
{
    size_t n = 0;

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
    return n;
}

/* The fullest of n circles, of those that hold LEAST directions; they are used up. */
static size_t fullest(const struct work *w, size_t n, double out[CIRCLES][3])
{
    size_t found = 0;

    while (found < CIRCLES) {
        size_t best = 0;
        for (size_t k = 1; k < n; k++)
            best = w->count[k] > w->count[best] ? k : best;
        if (n == 0 || w->count[best] + 1 < LEAST)
            break;
        memcpy(out[found++], w->plane[best], sizeof *out);
        w->count[best] = 0;
    }
    return found;
}

/* The axis that needs the fewest planes, if that is fewer than `most`. */
struct best {
    double axis[3];
    size_t most;
};

static void consider(const struct work *w, const double axis[3], struct best *best)
{
    const size_t n = count_planes(w, axis, best->most - 1);

    if (n >= best->most)
        return;
    memcpy(best->axis, axis, sizeof best->axis);
    best->most = n;
}

static void consider_poles(const struct work *w, struct best *best)
{
    for (int i = 2; i >= 0; i--) {
        double axis[3] = {0};
        axis[i] = 1;
        consider(w, axis, best);
    }
}

/* Where circles through different directions cross. */
static fbp_status consider_crossings(const struct work *w, struct best *best)
{
    double circle[SEEDS][CIRCLES][3], axis[3];
    size_t n[SEEDS];

    for (size_t s = 0; s < SEEDS; s++) {
        n[s] = fullest(w, circles_through(w, s * (w->n - 1) / (SEEDS - 1)), circle[s]);
        FBP_TRY(fbp_go_on());
    }
    for (size_t s = 1; s < SEEDS; s++)
        for (size_t t = 0; t < s; t++)
            for (size_t i = 0; i < n[s] * n[t]; i++) {
                fbp_cross(circle[s][i / n[t]], circle[t][i % n[t]], axis);
                if (best->most > 1 && fbp_normalise(axis) > OFF)
                    consider(w, axis, best);
                FBP_TRY(fbp_go_on());
            }
    return FBP_OK;
}

/* Upwards, and exactly along x, y or z if it is one of these. */
static void set_axes(const double axis[3], struct fbp_meridian_planes *out)
{
    int largest = 0, least = 0;
    double other[3] = {0};

    for (int i = 1; i < 3; i++) {
        largest = fabs(axis[i]) > fabs(axis[largest]) ? i : largest;
        least = fabs(axis[i]) < fabs(axis[least]) ? i : least;
    }
    const double side = axis[largest] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++)
        out->axis[i] = side * axis[i];
    out->pole = out->axis[largest] > 1 - 1e-15 ? largest : -1;
    if (out->pole >= 0) /* y and z after x, z and x after y, x and y after z */
        least = (out->pole + 1) % 3;
    other[least] = 1;
    fbp_axpy(other, -fbp_dot(other, out->axis), out->axis, out->across[0]);
    fbp_normalise(out->across[0]);
    fbp_cross(out->axis, out->across[0], out->across[1]);
}

/* From the first of the axes across, turned to the second, without regard to the side. */
static double angle_of(const struct fbp_meridian_planes *p, const double direction[3])
{
    const double a = atan2(fbp_dot(direction, p->across[1]), fbp_dot(direction, p->across[0]));
    const double half = a < 0 ? a + FBP_PI : a;

    return half > FBP_PI - OFF / 100 ? 0 : half;
}

struct turned {
    double angle;
    size_t plane;
};

/* Planes in the order of their angles, each that of its direction farthest from the axis. */
static fbp_status sort_planes(const struct work *w, struct fbp_meridian_planes *out)
{
    struct turned *turned = NULL;
    size_t *place = w->count;

    FBP_TRY(fbp_calloc((void **)&turned, out->n, sizeof *turned, "planes of directions"));
    out->most = 0;
    for (size_t k = 0; k < out->n; k++)
        out->most = w->count[k] > out->most ? w->count[k] : out->most;
    for (size_t i = w->n; i-- > 0;) { /* the last one that is set is the farthest */
        const size_t k = w->of[w->order[i].i];
        turned[k] = (struct turned){angle_of(out, w->direction[w->order[i].i]), k};
    }
    qsort(turned, out->n, sizeof *turned, fbp_by_value);
    for (size_t k = 0; k < out->n; k++) {
        out->angle[k] = turned[k].angle;
        place[turned[k].plane] = k;
    }
    for (size_t i = 0; i < w->n; i++)
        out->plane[i] = place[w->of[i]];
    free(turned);
    return FBP_OK;
}

static fbp_status make_planes(const struct work *w, const struct best *best,
                              struct fbp_meridian_planes *out)
{
    set_axes(best->axis, out);
    out->n = count_planes(w, out->axis, w->n);
    FBP_TRY(fbp_calloc((void **)&out->angle, out->n, sizeof *out->angle, "planes of directions"));
    FBP_TRY(fbp_calloc((void **)&out->plane, w->n, sizeof *out->plane, "planes of directions"));
    return sort_planes(w, out);
}

static fbp_status too_few(const struct work *w, const struct best *best)
{
    const double pole[3] = {0, 0, 1};
    const size_t n = best->most < w->n ? best->most : count_planes(w, pole, w->n);

    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "geometry: two stages need directions in planes through one axis, %d or more "
                    "in each; these %zu lie in %zu planes",
                    (int)LEAST, w->n, n);
}

static fbp_status find_planes(const struct work *w, struct fbp_meridian_planes *out)
{
    struct best best = {.most = w->n + 1};

    consider_poles(w, &best);
    if (best.most * LEAST > w->n)
        FBP_TRY(consider_crossings(w, &best));
    if (best.most * LEAST > w->n)
        return too_few(w, &best);
    return make_planes(w, &best, out);
}

fbp_status fbp_meridians_of(const double (*direction)[3], size_t n, struct fbp_meridian_planes *out)
{
    struct work w = {.direction = direction, .n = n};
    fbp_status st = FBP_OK;

    *out = (struct fbp_meridian_planes){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&w.order, n, sizeof *w.order, "planes of directions"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.plane, n, sizeof *w.plane, "planes of directions"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.count, n, sizeof *w.count, "planes of directions"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.of, n, sizeof *w.of, "planes of directions"));
    FBP_TRY_GOTO(find_planes(&w, out));
fail:
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

fbp_status fbp_meridians_find(const double (*direction)[3], size_t n, struct fbp_meridians *out)
{
    FBP_GIVEN(direction);
    struct fbp_meridian_planes planes;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(meridians, out));
    FBP_TRY(fbp_meridians_of(direction, n, &planes));
    struct fbp_meridians own = {.n_planes = planes.n, .most = planes.most};
    memcpy(own.axis, planes.axis, sizeof own.axis);
    fbp_meridians_clear(&planes);
    FBP_GIVE(meridians, out, &own);
    return FBP_OK;
}

/* Angles of one ring differ by less, as files with few digits have them [rad]. */
static const double ALIKE = 1e-4;

/* What a direction may be off its even place, as part of a step. */
static const double EVEN = 1e-2;

struct place {
    double theta, phi;
    struct fbp_ring_member member;
};

static int by_phi(const void *a, const void *b)
{
    const double x = ((const struct place *)a)->phi, y = ((const struct place *)b)->phi;

    return (x > y) - (x < y);
}

/* z and x to y, x and y to z, y and z to x. */
static void set_axis(int pole, struct fbp_rings *out)
{
    memset(out->axis, 0, sizeof out->axis);
    memset(out->across, 0, sizeof out->across);
    out->axis[pole] = out->across[0][(pole + 1) % 3] = out->across[1][(pole + 2) % 3] = 1;
}

/* One direction, or on the equator it and its antipode; returns how many. */
static size_t place_of(const struct fbp_rings *rings, const double n[3], size_t view,
                       struct place out[2])
{
    const double up = fbp_dot(n, rings->axis), side = up < 0 ? -1 : 1;
    const double x = side * fbp_dot(n, rings->across[0]), y = side * fbp_dot(n, rings->across[1]);
    const double phi = atan2(y, x);

    out[0] = (struct place){atan2(hypot(x, y), side * up), phi, {view, side < 0}};
    if (FBP_PI / 2 - out[0].theta > ALIKE)
        return 1;
    out[1] = out[0];
    out[1].phi = phi > 0 ? phi - FBP_PI : phi + FBP_PI;
    out[1].member.reversed = !out[0].member.reversed;
    return 2;
}

/* A ring's angles, sorted, are even over the turn. */
static bool are_even(const struct place *place, size_t n)
{
    const double step = 2 * FBP_PI / (double)n;

    for (size_t i = 0; i < n; i++)
        if (fabs(place[i].phi - place[0].phi - (double)i * step) > EVEN * step)
            return false;
    return n > 1;
}

/* The ring of places [first, end), which are alike in theta; false if it is none. */
static bool add_ring(struct fbp_rings *out, struct place *place, size_t first, size_t end)
{
    struct fbp_ring *ring = &out->ring[out->n++];

    qsort(place + first, end - first, sizeof *place, by_phi);
    *ring = (struct fbp_ring){.theta = place[first].theta,
                              .phi = place[first].phi,
                              .first = first,
                              .n = end - first,
                              .at_pole = place[first].theta < ALIKE,
                              .at_equator = FBP_PI / 2 - place[first].theta <= ALIKE};
    out->most = !ring->at_pole && ring->n > out->most ? ring->n : out->most;
    return ring->at_pole || are_even(place + first, ring->n);
}

static bool find_rings(struct fbp_rings *out, struct place *place)
{
    out->n = out->most = 0;
    qsort(place, out->n_members, sizeof *place, fbp_by_value);
    for (size_t i = 0, first = 0; i < out->n_members; i++)
        if (i + 1 == out->n_members || place[i + 1].theta - place[first].theta > ALIKE) {
            if (!add_ring(out, place, first, i + 1))
                return false;
            first = i + 1;
        }
    for (size_t i = 0; i < out->n_members; i++)
        out->member[i] = place[i].member;
    return out->most > 1;
}

static fbp_status make_rings(const double (*direction)[3], size_t n, struct place *place,
                             struct fbp_rings *out)
{
    static const int poles[] = {2, 0, 1};

    for (size_t i = 0; i < 3; i++) {
        set_axis(poles[i], out);
        out->n_members = 0;
        for (size_t k = 0; k < n; k++)
            out->n_members += place_of(out, direction[k], k, place + out->n_members);
        if (find_rings(out, place))
            return FBP_OK;
    }
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "angles: the %zu directions do not lie in rings about x, y or z that are even "
                    "over the turn: only these are resampled: leave it out",
                    n);
}

fbp_status fbp_rings_of(const double (*direction)[3], size_t n, struct fbp_rings *out)
{
    struct place *place = NULL;
    fbp_status st = FBP_OK;

    *out = (struct fbp_rings){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&place, 2 * n, sizeof *place, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->ring, 2 * n, sizeof *out->ring, "rings"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->member, 2 * n, sizeof *out->member, "rings"));
    FBP_TRY_GOTO(make_rings(direction, n, place, out));
fail:
    free(place);
    if (st != FBP_OK)
        fbp_rings_clear(out);
    return st;
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
