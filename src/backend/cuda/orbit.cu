/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

#include "backend/partners.h"

struct unpack {
    cuda_domain domain;
    int turns, nx, ny;
    int lane, lanes;       /* first lane of the half; of all */
    int layer, layer_step; /* of the first slice, in the slab; to the next slice's */
    float scale, shift;
};

/* The orbit that holds (x, y) and which of its turns it is: turned back until it is inside. */
static __global__ void unpack_slices(const unpack p, const float *__restrict__ volume,
                                     float *__restrict__ out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    const cuda_domain &d = p.domain;
    int at_x = x, at_y = y, lane = p.lane;

    if (x >= p.nx)
        return;
    for (; at_x < d.x0 || at_y < d.y0; lane++) {
        const int old = at_x;
        if (p.turns == 2) {
            at_x = p.nx - 1 - at_x;
            at_y = p.ny - 1 - at_y;
        } else {
            at_x = d.s < 0 ? at_y : p.nx - 1 - at_y;
            at_y = d.s < 0 ? p.nx - 1 - old : old;
        }
    }
    const size_t layer = p.layer + p.layer_step * z, orbits = (size_t)d.nx * d.ny;
    const size_t orbit = (size_t)(at_y - d.y0) * d.nx + (at_x - d.x0);
    const float value = volume[p.lanes * (layer * orbits + orbit) + lane];
    out[((size_t)z * p.ny + y) * p.nx + x] = p.scale * value + p.shift;
}

/* Half and layers of slices from z on, all of one half. */
static void find_half(const struct cuda_fetch *f, size_t z, unpack *p)
{
    const struct fbp_job *job = f->job;
    const size_t middle = fbp_layer_slice(job, 0);
    const bool lower = z < middle;

    p->lane = lower ? (int)job->turns : 0;
    p->layer = (int)(lower ? job->grid.n[2] - 1 - z - middle : z - middle) - (int)f->slab->z0;
    p->layer_step = lower ? -1 : 1;
}

cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f)
{
    static const size_t THREADS = 128, MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t *n = job->grid.n;
    unpack p = {.turns = (int)job->turns,
                .nx = (int)n[0],
                .ny = (int)n[1],
                .lanes = (int)(job->turns * fbp_halves(job)),
                .scale = (float)job->scale,
                .shift = (float)job->shift};

    cuda_find_domain(job, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned m = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        find_half(f, z, &p);
        unpack_slices<<<dim3((unsigned)((n[0] + THREADS - 1) / THREADS), (unsigned)n[1], m),
                        (unsigned)THREADS, 0, f->stream>>>(p, f->volume,
                                                           f->out + (z - f->z0) * n[0] * n[1]);
    }
    return cudaGetLastError();
}
