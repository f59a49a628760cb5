/** @file turn.h  Slices of a volume, turned about the axis z through its middle (internal).
 *
 * What a turned slice has at (i, j) is interpolated at a place of the slice as it is.  Places are
 * sums of whole numbers from tables, in 1/256 of a voxel, so that every device finds the same ones,
 * and so are weights: 1/256 and 255/256 have no rounding in fp32.  A value is a fixed sequence of
 * roundings, and of values that take part none is so small that fp32 has fewer digits for it on the
 * way: devices that have none for those give the same bits.
 */
#ifndef FBP_SRC_TURN_H
#define FBP_SRC_TURN_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

enum { FBP_TURN_UNIT = 256 };

/** Bits of 2^-80: values below it count as 0. */
#define FBP_TURN_LEAST 0x17800000u

struct fbp_turn {
    size_t n[2];      /**< voxels of a slice along x, y */
    size_t turned[2]; /**< of a turned one, which contains it */
    double mm[2];     /**< size of these */
    /** Whole quarters of a turn: voxels are taken as they are. */
    bool whole;
    /** Along x, of the place for column i and for row j; along y, the same: the place for (i, j)
     *  is (x_i + x_j, y_i + y_j), where 0 is the middle of the first voxel.  In memory in this
     *  order: x_i, y_i, x_j, y_j. */
    int32_t *x_i, *y_i, *x_j, *y_j;
};

/** By `degrees`, counter-clockwise seen from +z; n, mm: of the volume.  Memory of tables is given
 *  back by fbp_turn_clear(). */
fbp_status fbp_turn_make(struct fbp_turn *out, const size_t n[2], const double mm[2],
                         double degrees);
void fbp_turn_clear(struct fbp_turn *turn);

/** Entries of the tables. */
static inline size_t fbp_turn_entries(const struct fbp_turn *t)
{
    return 2 * (t->turned[0] + t->turned[1]);
}

/** Once, before rows are taken from a slice [n[1]][n[0]]: what is not finite becomes NaN, and what
 *  is too small 0. */
void fbp_turn_prepare(const struct fbp_turn *turn, float *slice);

/** Row j of the turned slice, turned[0] values; NaN where there is none. */
void fbp_turn_row(const struct fbp_turn *turn, const float *slice, size_t j, float *row);

#endif /* FBP_SRC_TURN_H */
