/** @file orbit.h  Scans with a rotational symmetry: voxels that turns map onto each other take
 * their samples from one place (internal; C and CUDA).
 *
 * If view k + K/4 is view k turned by 90 degrees about z, it sees a voxel as view k sees the voxel
 * turned back; the same holds for K/2 and half turns.  An orbit is a voxel column and its turns; a
 * texel holds one sample for each.  Lane j of the texel at place i (the orbit's first position
 * turned i times) belongs to voxel i + j.  Definitions as on the CPU: backend/cpu/orbit_bp.h.
 */
#ifndef FBP_SRC_CUDA_ORBIT_H
#define FBP_SRC_CUDA_ORBIT_H

#include "backend/cuda/kernel.h"

FBP_BEGIN
/** Launch: slices of a slab, unpacked. */
cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f);
FBP_END

#ifdef __CUDACC__

#    include "backend/cuda/frame.h"

/** Where an orbit's place falls in a view. */
struct cuda_spot {
    float u, r;  /**< column, relative to the principal one; 1/w */
    float v, dv; /**< row at the reference slice, rows a slice */
};

static __device__ inline cuda_spot cuda_spot_of(const gpu_view &view, float tx, float ty)
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
    return {fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])) * r, r,
            fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r, view.v[2] * r};
}

/** The next place of an orbit of TURNS places. */
template <int TURNS>
static __device__ inline void cuda_turn(const gpu_domain &d, float *tx, float *ty)
{
    static_assert(TURNS == 2 || TURNS == 4);
    const float x = *tx;
    if constexpr (TURNS == 4) {
        *tx = fmaf(d.s, *ty, d.ex);
        *ty = fmaf(-d.s, x, d.ey);
    } else {
        *tx = d.ex - x;
        *ty = d.ey - *ty;
    }
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_CUDA_ORBIT_H */
