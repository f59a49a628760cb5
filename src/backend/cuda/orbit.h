/** @file orbit.h  Scans with symmetries: voxels that turns and the mirror map onto each other take
 * their samples from one place (internal; C and CUDA).
 *
 * Where view k + K/4 is view k turned by 90 degrees about z, it sees a voxel as view k sees the
 * voxel turned back; so with K/2 and half turns; and where the detector is centred, -z is seen as z
 * is, in mirrored rows.  An orbit is a voxel column, its turns, and their mirror images; texels
 * hold one sample for each.  Lane h T + j of the texel at place i (the orbit's first position
 * turned i times) belongs to voxel i + j of half h.  Definitions as on the CPU:
 * backend/cpu/orbit_bp.h.
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

/** Turns and halves of a kernel; 2 or 4 lanes. */
template <int T, int H> struct cuda_orbit {
    static constexpr int TURNS = T, HALVES = H, LANES = T * H;
    static_assert(LANES == 2 || LANES == 4);

    /** The voxel of the orbit that a lane of place I belongs to. */
    static constexpr __device__ int voxel(int i, int lane)
    {
        return lane / T * T + (i + lane % T) % T;
    }
};

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

/** The next place of an orbit. */
template <int T> static __device__ inline void cuda_turn(const gpu_domain &d, float *tx, float *ty)
{
    const float x = *tx;
    if constexpr (T == 4) {
        *tx = fmaf(d.s, *ty, d.ex);
        *ty = fmaf(-d.s, x, d.ey);
    } else if constexpr (T == 2) {
        *tx = d.ex - x;
        *ty = d.ey - *ty;
    }
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_CUDA_ORBIT_H */
