/** @file orbit_bp.h  Backprojection of orbits: voxels that the scan's rotational symmetry maps onto
 * each other (internal).
 *
 * If view k + K/4 is view k turned by 90 degrees about z, it sees a voxel as view k sees the voxel
 * turned back.  The four voxel columns at p, Rp, RRp, RRRp and the four views share four places on
 * the detector.  The same holds for two columns and two views of half a turn.  Views are stored
 * packed: lane j of a sample is view k + j K/turns.  One bilinear interpolation then serves all
 * lanes, without a gather (Xu and Mueller 2005).  Lane j of place i belongs to voxel i + j: the
 * lanes are rotated by i before they are added.
 */
#ifndef FBP_SRC_ORBIT_BP_H
#define FBP_SRC_ORBIT_BP_H

#include <stddef.h>

enum { FBP_ORBIT_TURNS = 4 };

/** Zeros around a packed view: columns left and right, rows below and above. */
enum { FBP_ORBIT_LEFT = 1, FBP_ORBIT_RIGHT = 2, FBP_ORBIT_BELOW = 1, FBP_ORBIT_ABOVE = 2 };

/**
 * One group of views over one orbit.  At place i, with t counted in slices,
 *
 *     v = v0[i] + t dv[i],   v_lo <= v <= v_hi by clamping,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_orbit {
    const float
        *left[FBP_ORBIT_TURNS]; /**< row 0 (stored) of column floor(u); `stride` to the next */
    float wl[FBP_ORBIT_TURNS], wr[FBP_ORBIT_TURNS]; /**< (1 - a) / w^2, a / w^2: a fraction of u */
    float v0[FBP_ORBIT_TURNS], dv[FBP_ORBIT_TURNS];
    float v_lo, v_hi;
    int row; /**< what they are relative to, counted from the first stored row */
};

/**
 *     dst[n][turns] += the sum over the places i of rotate_i(lerp(wl left + wr right, v_i(t)))
 *
 * n       slices, the first of which has t = t0
 * stride  floats from column to column, = rows x turns; a row's lanes are adjacent
 */
typedef void fbp_bp_orbit_fn(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o,
                             size_t stride);

struct fbp_orbit_dsp {
    fbp_bp_orbit_fn *rot90, *rot180;
};

/** Fill the table with the fastest kernels allowed by `flags` (base/cpu_features.h; 0 = C only). */
void fbp_orbit_dsp_init(struct fbp_orbit_dsp *dsp, unsigned flags);

extern const struct fbp_orbit_dsp fbp_orbit_c, fbp_orbit_avx2, fbp_orbit_avx512;

#endif /* FBP_SRC_ORBIT_BP_H */
