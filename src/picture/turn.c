/* Rotates the slices of a volume about the z axis through its centre (fbp_turn_make(),
 * fbp_turn_row()), for maximum intensity projections (struct fbp_turn of draw.h). Device
 * projectors use the same tables of positions.
 * Used by: draw.c. */
#include "picture/draw.h"

#include "base/base.h"
#include "base/math.h"

#include <string.h>

enum {
    MOST_SIDE = 1 << 20
}; /* greatest number of voxels per side of a slice, because positions in 1/256 of a voxel are
      32-bit integers */

/* Fill a table of positions in the original slice [1/256 of a voxel] for n columns or rows of the
 * rotated slice: they increase by `slope` voxels per column or row, and the position of the middle
 * column or row is `middle` [voxels]. */
static void fill(int32_t *out, size_t n, double slope, double middle)
{
    for (size_t i = 0; i < n; i++)
        out[i] =
            (int32_t)lrint(FBP_TURN_UNIT * (slope * ((double)i - ((double)n - 1) / 2) + middle));
}

fbp_status fbp_turn_make(struct fbp_turn *out, const size_t n[2], const double mm[2],
                         double degrees)
{
    static const double quarters[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const double angle = degrees - 360 * floor(degrees / 360), quarter = angle / 90;
    struct fbp_turn t = {.n = {n[0], n[1]}, .whole = quarter == floor(quarter)};
    double c = cos(angle * FBP_PI / 180), s = sin(angle * FBP_PI / 180);

    *out = (struct fbp_turn){0};
    if (t.whole) { /* exact for whole quarters of a turn */
        c = quarters[(int)quarter % 4][0];
        s = quarters[(int)quarter % 4][1];
    }
    /* Compute the bounding box of the rotated slice, in voxels. Its voxels have the smaller of the
     * volume's two voxel sizes along x and y or, for multiples of 90 degrees, the volume's own
     * voxel sizes. */
    const bool swapped = t.whole && c == 0;
    for (int a = 0; a < 2; a++) {
        const double along = fabs(a == 0 ? c : s), across = fabs(a == 0 ? s : c);
        t.mm[a] = t.whole ? mm[swapped ? 1 - a : a] : fmin(mm[0], mm[1]);
        const double side = along * (double)n[0] * mm[0] + across * (double)n[1] * mm[1];
        const double voxels =
            t.whole ? (double)n[swapped ? 1 - a : a] : fmax(1, ceil(side / t.mm[a] - 1e-6));
        if (!(voxels <= MOST_SIDE && n[a] <= MOST_SIDE))
            return FBP_UNSUPPORTED(
                "view: slices of %zu x %zu voxels are too large; rotated projections, "
                "and those that a GPU draws, are limited to %d voxels per side, before "
                "and after the rotation; use device cpu without a rotation",
                n[0], n[1], MOST_SIDE);
        t.turned[a] = (size_t)voxels;
    }
    FBP_TRY(fbp_calloc((void **)&t.x_i, fbp_turn_entries(&t), sizeof *t.x_i, "a turned volume"));
    t.y_i = t.x_i + t.turned[0];
    t.x_j = t.y_i + t.turned[0];
    t.y_j = t.x_j + t.turned[1];
    /* Positions are rotated by -degrees: the volume is rotated by +degrees, and each pixel of the
     * result is traced back to the original. */
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

/* Convert a position along one axis of the original slice [1/256 of a voxel] to two voxels for
 * linear interpolation and the weight of the second one. Returns false outside the slice, which
 * ends half a voxel beyond the centres of its outer voxels. */
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

void fbp_turn_row(const struct fbp_turn *t, const float *slice, size_t j, float *row)
{
    for (size_t i = 0; i < t->turned[0]; i++) {
        size_t x0, x1, y0, y1;
        float u, v;
        row[i] = NAN;
        if (!find(t->x_i[i] + t->x_j[j], t->n[0], &x0, &x1, &u) ||
            !find(t->y_i[i] + t->y_j[j], t->n[1], &y0, &y1, &v))
            continue;
        const float *lower = slice + y0 * t->n[0], *upper = slice + y1 * t->n[0];
        const float below = lower[x0] * (1 - u) + lower[x1] * u;
        const float above = upper[x0] * (1 - u) + upper[x1] * u;
        row[i] = t->whole ? lower[x0] : below * (1 - v) + above * v;
    }
}
