/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

enum { TILE = 32, THREAD_ROWS = 8 };

struct unpack {
    gpu_domain domain;
    int nx, ny, first; /* slice of the slab */
    float scale, shift;
};

/* Of two halves of a slice: the orbit of (x, y), which may be half a turn away. */
static __global__ void unpack_halves(const unpack p, const float2 *__restrict__ volume,
                                     float *__restrict__ out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    const gpu_domain &d = p.domain;

    if (x >= p.nx)
        return;
    const bool turned = y < d.y0;
    const int at_x = turned ? p.nx - 1 - x : x, at_y = turned ? p.ny - 1 - y : y;
    const float2 q = volume[((size_t)(p.first + z) * d.ny + (at_y - d.y0)) * d.nx + (at_x - d.x0)];
    out[((size_t)z * p.ny + y) * p.nx + x] = p.scale * (turned ? q.y : q.x) + p.shift;
}

/* Where voxel `lane` of the orbit of (x, y) lies in a slice. */
static __device__ int2 voxel_of(const unpack &p, int lane, int x, int y)
{
    const int last = p.nx - 1;

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
    const gpu_domain &d = p.domain;

    for (; lane > 0; lane--) {
        if (at.x >= d.x0 && at.y >= d.y0)
            return false;
        at = d.s < 0 ? make_int2(at.y, p.nx - 1 - at.x) : make_int2(p.nx - 1 - at.y, at.x);
    }
    return true;
}

static __device__ void write(const unpack &p, int lane, int x, int y, float value, float *slice)
{
    const int2 at = voxel_of(p, lane, x, y);

    if (counts(p, lane, at))
        slice[(size_t)at.y * p.nx + at.x] = p.scale * value + p.shift;
}

/* Of four quarters, reading each orbit once.  A tile of orbits: lanes 0 and 2 run along
 * rows of the slice, 1 and 3 along columns and are turned in shared memory. */
static __global__ void __launch_bounds__(TILE *THREAD_ROWS)
    unpack_quarters(const unpack p, const float4 *__restrict__ volume, float *__restrict__ out)
{
    __shared__ float turned[2][TILE][TILE + 1];
    const gpu_domain &d = p.domain;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, me = threadIdx.x;
    const float4 *orbits = volume + (size_t)(p.first + blockIdx.z) * d.nx * d.ny;
    float *slice = out + (size_t)blockIdx.z * p.nx * p.nx;

    for (int row = threadIdx.y; row < TILE; row += THREAD_ROWS) {
        const int x = x0 + me, y = y0 + row;
        if (x >= d.nx || y >= d.ny)
            continue;
        const float4 q = orbits[(size_t)y * d.nx + x];
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
    static const size_t THREADS = 128, MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    unpack p = {.nx = (int)f->slab->nx,
                .ny = (int)f->slab->ny,
                .scale = (float)job->scale,
                .shift = (float)job->shift};
    const gpu_domain &d = p.domain;

    gpu_find_domain(job, f->slab, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned n = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        float *out = f->out + (z - f->z0) * f->slab->nx * f->slab->ny;
        p.first = (int)(z - f->slab->z0);
        if (job->turns == 4)
            unpack_quarters<<<dim3((d.nx + TILE - 1) / TILE, (d.ny + TILE - 1) / TILE, n),
                              dim3(TILE, THREAD_ROWS), 0, f->stream>>>(p, (const float4 *)f->volume,
                                                                       out);
        else
            unpack_halves<<<dim3((p.nx + THREADS - 1) / THREADS, p.ny, n), THREADS, 0, f->stream>>>(
                p, (const float2 *)f->volume, out);
    }
    return cudaGetLastError();
}
