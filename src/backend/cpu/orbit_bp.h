/** @file orbit_bp.h  Backprojection of orbits: voxels that the scan's symmetries map onto each
 * other (internal).
 *
 * Where view k + K/4 is view k turned by 90 degrees about z, it sees a voxel as view k sees the
 * voxel turned back.  The four voxel columns at p, Rp, RRp, RRRp and the four views share four
 * places on the detector; so do z and -z, where the detector is centred.  Views are stored packed:
 * lane s * turns + j of a sample is view k + j K/turns, read in mirrored row order if s = 1.  One
 * bilinear interpolation then serves all lanes, without any gather (after Xu and Mueller 2005 for
 * the turns, iFDK for the mirror).  The lanes of place i belong to the voxels i + j: they are
 * rotated by i before they are added.
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
 *     dst[n][lanes] += the sum over the places i of rotate_i(lerp(wl left + wr right, v_i(t)))
 *
 * n       slices, the first of which has t = t0
 * stride  floats from column to column, = rows x lanes; a row's lanes lie together
 */
typedef void fbp_bp_orbit_fn(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o,
                             size_t stride);

/** [mirrored][log2 turns]; [0][0] has no use and is NULL. */
struct fbp_orbit_dsp {
    fbp_bp_orbit_fn *fn[2][3];
};

/** Fill the table with the fastest kernels allowed by `flags` (base/cpu_features.h; 0 = C only). */
void fbp_orbit_dsp_init(struct fbp_orbit_dsp *dsp, unsigned flags);

extern const struct fbp_orbit_dsp fbp_orbit_c, fbp_orbit_avx2, fbp_orbit_avx512;

#endif /* FBP_SRC_ORBIT_BP_H */
