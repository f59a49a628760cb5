/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

#include "backend/partners.h"

/* Slices [z0, …) of one half: slice z is layer0 + z, or layer0 - z. */
struct unpack {
    cuda_domain domain;
    cuda_orbit_volume volume;
    int n, layer0, sign;
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
    const size_t layer = (size_t)(p.layer0 + p.sign * (z0 + z));
    const size_t orbit = (size_t)(at_y - d.y0) * d.nx + (at_x - d.x0);
    const float value =
        volume[ORBIT_TURNS * (layer * p.volume.layer + orbit * p.volume.orbit) + lane];
    out[((size_t)z * p.n + y) * p.n + x] = p.scale * value + p.shift;
}

cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f, bool tall)
{
    static const size_t THREADS = 128, MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t n = job->grid.n[0];
    const bool lower = job->mirrored && f->z0 < job->grid.n[2] / 2;
    const int base = (int)fbp_layer_slice(job, f->slab->z0);
    unpack p = {.n = (int)n,
                .layer0 = lower ? (int)job->grid.n[2] - 1 - base : -base,
                .sign = lower ? -1 : 1,
                .scale = (float)job->scale,
                .shift = (float)job->shift};
    const float *volume;

    cuda_find_domain(job, &p.domain);
    cuda_orbit_lay_out(job, f->slab->nz, tall, &p.volume);
    volume = f->volume + (lower ? 4 * p.volume.half : 0);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned m = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        unpack_slices<<<dim3((unsigned)((n + THREADS - 1) / THREADS), (unsigned)n, m),
                        (unsigned)THREADS, 0, f->stream>>>(p, volume, (int)z,
                                                           f->out + (z - f->z0) * n * n);
    }
    return cudaGetLastError();
}
