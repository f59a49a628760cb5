#include "picture/turn.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

enum { MOST_SIDE = 1 << 20 }; /* places are 32-bit numbers */

static const double PI = 3.14159265358979323846;

/* Cosine and sine, exact for whole quarters of a turn. */
static bool direction_of(double degrees, double *c, double *s)
{
    static const double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const double of_turn = degrees - 360 * floor(degrees / 360), quarter = of_turn / 90;

    *c = cos(of_turn * PI / 180);
    *s = sin(of_turn * PI / 180);
    if (quarter != floor(quarter))
        return false;
    *c = quarters[(int)quarter % 4][0];
    *s = quarters[(int)quarter % 4][1];
    return true;
}

/* Sides of the box around the turned slice.  Its voxels are those of the volume where they lie
 * along the same axes, and as fine as the finer side otherwise. */
static fbp_status choose_box(struct fbp_turn *t, const double mm[2], double c, double s)
{
    const bool swapped = t->whole && c == 0;

    for (int a = 0; a < 2; a++) {
        const double along = fabs(a == 0 ? c : s), across = fabs(a == 0 ? s : c);
        t->mm[a] = t->whole ? mm[swapped ? 1 - a : a] : fmin(mm[0], mm[1]);
        const double side = along * (double)t->n[0] * mm[0] + across * (double)t->n[1] * mm[1];
        const double voxels =
            t->whole ? (double)t->n[swapped ? 1 - a : a] : fmax(1, ceil(side / t->mm[a] - 1e-6));
        if (!(voxels <= MOST_SIDE && t->n[a] <= MOST_SIDE))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "view: slices of %zu x %zu voxels are too large to be turned: at most "
                            "%d a side, turned or not",
                            t->n[0], t->n[1], MOST_SIDE);
        t->turned[a] = (size_t)voxels;
    }
    return FBP_OK;
}

/* Places along one axis of the volume for turned columns or rows: `slope` voxels each, the middle
 * one at `middle`. */
static void fill(int32_t *out, size_t n, double slope, double middle)
{
    for (size_t i = 0; i < n; i++)
        out[i] =
            (int32_t)lrint(FBP_TURN_UNIT * (slope * ((double)i - ((double)n - 1) / 2) + middle));
}

fbp_status fbp_turn_make(struct fbp_turn *out, const size_t n[2], const double mm[2],
                         double degrees)
{
    struct fbp_turn t = {.n = {n[0], n[1]}};
    double c, s;

    *out = (struct fbp_turn){0};
    t.whole = direction_of(degrees, &c, &s);
    FBP_TRY(choose_box(&t, mm, c, s));
    FBP_TRY(fbp_calloc((void **)&t.x_i, fbp_turn_entries(&t), sizeof *t.x_i, "a turned volume"));
    t.y_i = t.x_i + t.turned[0];
    t.x_j = t.y_i + t.turned[0];
    t.y_j = t.x_j + t.turned[1];
    /* The volume has been turned by +degrees, so that places are turned back. */
    fill(t.x_i, t.turned[0], c * (t.mm[0] / mm[0]), ((double)n[0] - 1) / 2);
    fill(t.y_i, t.turned[0], -s * (t.mm[0] / mm[1]), ((double)n[1] - 1) / 2);
    fill(t.x_j, t.turned[1], s * (t.mm[1] / mm[0]), 0);
    fill(t.y_j, t.turned[1], c * (t.mm[1] / mm[1]), 0);
    *out = t;
    return FBP_OK;
}

void fbp_turn_clear(struct fbp_turn *t)
{
    free(t->x_i);
    *t = (struct fbp_turn){0};
}

void fbp_turn_prepare(const struct fbp_turn *t, float *slice)
{
    const size_t n = t->whole ? 0 : t->n[0] * t->n[1];

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &slice[i], sizeof bits);
        bits &= 0x7fffffffu;
        slice[i] = bits >= 0x7f800000u ? NAN : bits < FBP_TURN_LEAST ? 0 : slice[i];
    }
}

/* The place on one axis as a voxel, the next one, and the weight of that; false outside.  Half a
 * voxel beyond the middle of the last one is still inside. */
static inline bool find(int32_t place, size_t n, size_t *at, size_t *next, float *weight)
{
    const int32_t half = FBP_TURN_UNIT / 2, last = (int32_t)(n - 1) * FBP_TURN_UNIT;

    if (place < -half || place > last + half)
        return false;
    place = place < 0 ? 0 : place > last ? last : place;
    *at = (size_t)(place / FBP_TURN_UNIT);
    *next = *at + (place % FBP_TURN_UNIT != 0);
    *weight = (float)(place % FBP_TURN_UNIT) * (1.0F / FBP_TURN_UNIT);
    return true;
}

static float value_at(const struct fbp_turn *t, const float *slice, int32_t x, int32_t y)
{
    size_t x0, x1, y0, y1;
    float u, v;

    if (!find(x, t->n[0], &x0, &x1, &u) || !find(y, t->n[1], &y0, &y1, &v))
        return NAN;
    const float *lower = slice + y0 * t->n[0], *upper = slice + y1 * t->n[0];
    if (t->whole)
        return lower[x0];
    const float below = lower[x0] * (1 - u) + lower[x1] * u;
    const float above = upper[x0] * (1 - u) + upper[x1] * u;
    return below * (1 - v) + above * v;
}

void fbp_turn_row(const struct fbp_turn *t, const float *slice, size_t j, float *row)
{
    for (size_t i = 0; i < t->turned[0]; i++)
        row[i] = value_at(t, slice, t->x_i[i] + t->x_j[j], t->y_i[i] + t->y_j[j]);
}
