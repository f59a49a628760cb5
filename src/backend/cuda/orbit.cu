/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

enum { TILE = 32, THREAD_ROWS = 8 };

/* Slice z is layer z of the slab. */
struct unpack {
    cuda_domain domain;
    int n;
    float scale, shift;
};

/* Where voxel `lane` of the orbit of (x, y) lies in a slice. */
static __device__ int2 voxel_of(const unpack &p, int lane, int x, int y)
{
    const int last = p.n - 1;

    if (p.domain.s > 0)
        lane = (4 - lane) % 4;
    return lane == 0   ? make_int2(x, y)
           : lane == 1 ? make_int2(last - y, x)
           : lane == 2 ? make_int2(last - x, last - y)
                       : make_int2(y, last - x);
}

/* Where n is odd, the middle is in two orbits: the lane that counts is the first. */
static __device__ bool counts(const unpack &p, int lane, int2 at)
{
    const cuda_domain &d = p.domain;

    for (; lane > 0; lane--) {
        if (at.x >= d.x0 && at.y >= d.y0)
            return false;
        at = d.s < 0 ? make_int2(at.y, p.n - 1 - at.x) : make_int2(p.n - 1 - at.y, at.x);
    }
    return true;
}

static __device__ void write(const unpack &p, int lane, int x, int y, float value, float *slice)
{
    const int2 at = voxel_of(p, lane, x, y);

    if (counts(p, lane, at))
        slice[(size_t)at.y * p.n + at.x] = p.scale * value + p.shift;
}

/* A tile of orbits: lanes 0 and 2 run along rows of the slice, 1 and 3 along columns and are turned
 * in shared memory. */
static __global__ void __launch_bounds__(TILE *THREAD_ROWS)
    unpack_slices(const unpack p, const float4 *__restrict__ volume, int z0,
                  float *__restrict__ out)
{
    __shared__ float turned[2][TILE][TILE + 1];
    const cuda_domain &d = p.domain;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, me = threadIdx.x;
    const float4 *layer = volume + (size_t)(z0 + blockIdx.z) * d.nx * d.ny;
    float *slice = out + (size_t)blockIdx.z * p.n * p.n;

    for (int row = threadIdx.y; row < TILE; row += THREAD_ROWS) {
        const int x = x0 + me, y = y0 + row;
        if (x >= d.nx || y >= d.ny)
            continue;
        const float4 q = layer[(size_t)y * d.nx + x];
        write(p, 0, d.x0 + x, d.y0 + y, q.x, slice);
        write(p, 2, d.x0 + x, d.y0 + y, q.z, slice);
        turned[0][row][me] = q.y;
        turned[1][row][me] = q.w;
    }
    __syncthreads();
    for (int column = threadIdx.y; column < TILE; column += THREAD_ROWS) {
        const int x = x0 + column, y = y0 + me;
        if (x >= d.nx || y >= d.ny)
            continue;
        write(p, 1, d.x0 + x, d.y0 + y, turned[0][me][column], slice);
        write(p, 3, d.x0 + x, d.y0 + y, turned[1][me][column], slice);
    }
}

cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f)
{
    static const size_t MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t n = job->grid.n[0], first = f->slab->z0;
    unpack p = {.n = (int)n, .scale = (float)job->scale, .shift = (float)job->shift};

    cuda_find_domain(job, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned m = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        unpack_slices<<<dim3((p.domain.nx + TILE - 1) / TILE, (p.domain.ny + TILE - 1) / TILE, m),
                        dim3(TILE, THREAD_ROWS), 0, f->stream>>>(
            p, (const float4 *)f->volume, (int)(z - first), f->out + (z - f->z0) * n * n);
    }
    return cudaGetLastError();
}
