/* Slices of a volume of orbits on their way out. */
#include "backend/cuda/orbit.h"

#include "backend/partners.h"

enum { TILE = 32, THREAD_ROWS = 8 };

struct unpack {
    gpu_domain domain;
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
    const gpu_domain &d = p.domain;
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

/* The same of four quarters, reading each orbit once.  A tile of orbits: lanes 0 and 2 run along
 * rows of the slice, 1 and 3 along columns and are turned in shared memory. */
static __global__ void __launch_bounds__(TILE *THREAD_ROWS)
    unpack_quarters(const unpack p, const float4 *__restrict__ volume, float *__restrict__ out)
{
    __shared__ float turned[2][TILE][TILE + 1];
    const gpu_domain &d = p.domain;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, me = threadIdx.x;
    const float4 *layer = volume + (size_t)(p.layer + blockIdx.z) * d.nx * d.ny;
    float *slice = out + (size_t)blockIdx.z * p.nx * p.nx;

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

static void launch(const unpack &p, unsigned n_slices, const struct cuda_fetch *f, float *out)
{
    enum { THREADS = 128 };
    const gpu_domain &d = p.domain;

    if (p.turns == 4 && p.lanes == 4)
        unpack_quarters<<<dim3((d.nx + TILE - 1) / TILE, (d.ny + TILE - 1) / TILE, n_slices),
                          dim3(TILE, THREAD_ROWS), 0, f->stream>>>(p, (const float4 *)f->volume,
                                                                   out);
    else
        unpack_slices<<<dim3((p.nx + THREADS - 1) / THREADS, p.ny, n_slices), THREADS, 0,
                        f->stream>>>(p, f->volume, out);
}

cudaError_t cuda_orbit_fetch(const struct cuda_fetch *f)
{
    static const size_t MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t slice = f->slab->nx * f->slab->ny;
    unpack p = {.turns = (int)job->turns,
                .nx = (int)f->slab->nx,
                .ny = (int)f->slab->ny,
                .lanes = (int)(job->turns * fbp_halves(job)),
                .scale = (float)job->scale,
                .shift = (float)job->shift};

    gpu_find_domain(job, f->slab, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned m = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        find_half(f, z, &p);
        launch(p, m, f, f->out + (z - f->z0) * slice);
    }
    return cudaGetLastError();
}
