#include "geometry/rings.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static fbp_status find(const double (*direction)[3], size_t n, struct place *place,
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
    FBP_TRY_GOTO(find(direction, n, place, out));
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
