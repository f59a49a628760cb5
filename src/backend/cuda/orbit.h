/** @file orbit.h  Scans with quarter turns: voxels that turns map onto each other take their
 * samples from one place (internal; C and CUDA).
 *
 * Where view k + K/4 is view k turned by 90 degrees about z, it sees a voxel as view k sees the
 * voxel turned back.  An orbit is a voxel column and its turns; texels hold one sample of each of
 * the four views.  Lane j of the texel at place i (the orbit's first position turned i times)
 * belongs to voxel i + j of the orbit.  Definitions as on the CPU: backend/cpu/orbit_bp.h.
 */
#ifndef FBP_SRC_CUDA_ORBIT_H
#define FBP_SRC_CUDA_ORBIT_H

#include "backend/cuda/kernel.h"

enum { ORBIT_TURNS = 4 };

/** Orbits are numbered by the columns of one quarter of the grid, from (x0, y0) on; where n is odd
 *  the middle belongs to two quarters, and both hold all of it.  A turn takes a place (tx, ty),
 *  counted from the reference voxel, to (ex + s ty, ey - s tx). */
struct cuda_domain {
    int x0, y0, nx, ny;
    float s, ex, ey;
};

FBP_BEGIN
bool cuda_can_rot90(const struct fbp_job *job);

void cuda_find_domain(const struct fbp_job *job, struct cuda_domain *out);

/** Floats of a slab: [layer][y][x][turn], y and x of the domain. */
size_t cuda_orbit_volume_size(const struct fbp_job *job, size_t n_layers);

/** Launch: slices of a slab, unpacked. */
cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f);
FBP_END

#ifdef __CUDACC__

/** Where an orbit's place falls in a view. */
struct cuda_spot {
    float u, r;  /**< column, relative to the principal one; 1/w */
    float v, dv; /**< row at the reference slice, rows a slice */
};

static __device__ inline cuda_spot cuda_spot_of(const cuda_view &view, float tx, float ty)
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
    return {fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])) * r, r,
            fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r, view.v[2] * r};
}

/** The next place of an orbit. */
static __device__ inline void cuda_turn(const cuda_domain &d, float *tx, float *ty)
{
    const float x = *tx;
    *tx = fmaf(d.s, *ty, d.ex);
    *ty = fmaf(-d.s, x, d.ey);
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_CUDA_ORBIT_H */
