/* Kernels for finished slices, launched by volume.c: scale and shift, conversion from the layout
 * of symmetric voxels to [z][y][x] (cuda_convert()), statistics of voxels (cuda_statistics_of()).
 * Used by: volume.c. */
#include "backend/cuda/kernel.h"

static __global__ void scale_and_shift(const float *__restrict__ in, size_t n, float scale,
                                       float shift, float *__restrict__ out)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = scale * in[i] + shift;
}

enum { VOXEL_THREADS = 256, AT_ONCE = 8 }; /* AT_ONCE: concurrent loads of a thread */

template <class T, class Found> static __device__ inline void note(T x, Found *found)
{
    found->min = fmin(found->min, x);
    found->max = fmax(found->max, x);
    found->sum += (double)x;
}

/* Each block adds to its own entry of the statistics, so the order of sums is fixed. */
template <class T, class Found>
static __global__ void __launch_bounds__(VOXEL_THREADS)
    add_statistics(const T *__restrict__ in, size_t n, Found *found)
{
    __shared__ Found of[VOXEL_THREADS];
    const size_t step = (size_t)gridDim.x * VOXEL_THREADS;
    const unsigned me = threadIdx.x;
    Found mine = threadIdx.x == 0 ? found[blockIdx.x] : Found{INFINITY, -INFINITY, 0};

    size_t i = (size_t)blockIdx.x * VOXEL_THREADS + me;
    for (; i + (AT_ONCE - 1) * step < n; i += AT_ONCE * step) {
        T x[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            x[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            note(x[k], &mine);
    }
    for (; i < n; i += step)
        note(in[i], &mine);
    of[me] = mine;
    for (unsigned half = VOXEL_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) {
            of[me].min = fmin(of[me].min, of[me + half].min);
            of[me].max = fmax(of[me].max, of[me + half].max);
            of[me].sum += of[me + half].sum;
        }
    }
    if (me == 0)
        found[blockIdx.x] = of[0];
}

cudaError_t cuda_statistics_of(const void *in, size_t n, bool in_double, void *found,
                               cudaStream_t stream)
{
    if (in_double)
        add_statistics<<<GPU_STATISTICS_BLOCKS, VOXEL_THREADS, 0, stream>>>(
            (const double *)in, n, (gpu_block_statistics_double *)found);
    else
        add_statistics<<<GPU_STATISTICS_BLOCKS, VOXEL_THREADS, 0, stream>>>(
            (const float *)in, n, (gpu_block_statistics *)found);
    return cudaGetLastError();
}

enum { TILE = 32, THREAD_ROWS = 8 };

struct unpack {
    gpu_domain domain;
    int nx, ny, first; /* voxels along x, y; the launch's first slice in the slab */
    float scale, shift;
};

/* Convert a slice that is stored as pairs of symmetric voxels (kernel rot180) to [y][x]: voxel (x,
 * y) is stored in the pair of (x, y), or in that of the voxel half a turn away. */
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

/* Returns the position, in a slice, of the voxel that is symmetric to voxel (x, y) by `lane`
 * quarter turns, in the direction that member s of the domain gives. */
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

/* Returns whether no lower lane than this one stores the voxel at position `at`: if an edge has an
 * odd number of voxels, those in the middle are stored twice. */
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

/* Convert a slice that is stored as sets of four symmetric voxels (rot90), each of which is read
 * once.  Lanes 0 and 2 of a tile run along rows of the slice, 1 and 3 along columns and are
 * transposed in shared memory. */
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

cudaError_t cuda_convert(const struct cuda_fetch *f, cudaStream_t stream)
{
    static const size_t THREADS = 256, MOST_BLOCKS = 4096, HALVES_THREADS = 128,
                        MOST_SLICES = 65535;
    const struct fbp_job *job = f->job;
    const size_t turns = gpu_kernel_of(job)->symmetric_views, slice = f->slab->nx * f->slab->ny;
    unpack p = {.nx = (int)f->slab->nx,
                .ny = (int)f->slab->ny,
                .scale = (float)job->scale,
                .shift = (float)job->shift};
    const gpu_domain &d = p.domain;

    if (turns == 1) {
        const size_t n = (f->z1 - f->z0) * slice, wanted = (n + THREADS - 1) / THREADS;
        const unsigned blocks = (unsigned)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);
        scale_and_shift<<<blocks, THREADS, 0, stream>>>(f->volume + (f->z0 - f->slab->z0) * slice,
                                                        n, p.scale, p.shift, f->out);
        return cudaGetLastError();
    }
    gpu_find_domain(job, f->slab, &p.domain);
    for (size_t z = f->z0; z < f->z1; z += MOST_SLICES) {
        const unsigned n = (unsigned)(f->z1 - z < MOST_SLICES ? f->z1 - z : MOST_SLICES);
        float *out = f->out + (z - f->z0) * slice;
        p.first = (int)(z - f->slab->z0);
        if (turns == 4)
            unpack_quarters<<<dim3((d.nx + TILE - 1) / TILE, (d.ny + TILE - 1) / TILE, n),
                              dim3(TILE, THREAD_ROWS), 0, stream>>>(p, (const float4 *)f->volume,
                                                                    out);
        else
            unpack_halves<<<dim3((p.nx + HALVES_THREADS - 1) / HALVES_THREADS, p.ny, n),
                            HALVES_THREADS, 0, stream>>>(p, (const float2 *)f->volume, out);
    }
    return cudaGetLastError();
}
