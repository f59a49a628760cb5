/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

/* Slice z is layer z of the slab. */
struct unpack {
    cuda_domain domain;
    int n;
    float scale, shift;
};

/* The orbit that holds (x, y) and which of its turns it is: turned back until it is inside. */
static __global__ void unpack_slices(const unpack p, const float *__restrict__ volume, int z0,
                                     float *__restrict__ out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    const cuda_domain &d = p.domain;
    int at_x = x, at_y = y, lane = 0;

    if (x >= p.n)
        return;
    for (; at_x < d.x0 || at_y < d.y0; lane++) {
        const int old = at_x;
        at_x = d.s < 0 ? at_y : p.n - 1 - at_y;
        at_y = d.s < 0 ? p.n - 1 - old : old;
    }
    const size_t layer = (size_t)d.nx * d.ny, orbit = (size_t)(at_y - d.y0) * d.nx + (at_x - d.x0);
    const float value = volume[ORBIT_TURNS * ((size_t)(z0 + z) * layer + orbit) + lane];
    out[((size_t)z * p.n + y) * p.n + x] = p.scale * value + p.shift;
}

cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f)
{
    static const size_t THREADS = 128, MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t n = job->grid.n[0], first = f->slab->z0;
    unpack p = {.n = (int)n, .scale = (float)job->scale, .shift = (float)job->shift};

    cuda_find_domain(job, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned m = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        unpack_slices<<<dim3((unsigned)((n + THREADS - 1) / THREADS), (unsigned)n, m),
                        (unsigned)THREADS, 0, f->stream>>>(p, f->volume, (int)(z - first),
                                                           f->out + (z - f->z0) * n * n);
    }
    return cudaGetLastError();
}
