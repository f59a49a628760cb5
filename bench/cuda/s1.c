/* Runs a kernel of Zinsser and Keck (2013): matrices, occupancy, launches, time. Called by
 * bench/papers/zinsser2013/measure.c through struct fbp_s1_kernels.
 * Used by: entry.c. */
#include "bench/cuda/s1.h"

#include "backend/cuda/cuda.h"

#include <math.h>

/* Voxel size with which all fetches hit one line of the cache, as in the paper (parts I.-.- to
 * I.M.T). */
static const double TINY_VOXEL_MM = 1e-6;

static const struct s1_kernel *kernel_of(size_t index)
{
    size_t n_a = 0;

    while (cuda_s1_a(n_a))
        n_a++;
    return index < n_a ? cuda_s1_a(index) : cuda_s1_b(index - n_a);
}

static const struct fbp_s1_shape *shape(size_t index)
{
    const struct s1_kernel *k = kernel_of(index);

    return k ? &k->shape : NULL;
}

static struct s1_grid grid_of(const struct fbp_job *job)
{
    const size_t *n = job->grid.n, ref[3] = {(n[0] - 1) / 2, (n[1] - 1) / 2, (n[2] - 1) / 2};

    return (struct s1_grid){.nx = (int)n[0],
                            .ny = (int)n[1],
                            .nz = (int)n[2],
                            .x_ref = (float)ref[0],
                            .y_ref = (float)ref[1],
                            .z_ref = (float)ref[2]};
}

/* A view's matrix of voxel indices, in double, rounded once.  Texture units mean the middle of a
 * texel by i + 1/2; the texture may have two a column (gpu_texels_per_column()). */
static void make_matrix(const struct fbp_job *job, unsigned texels, size_t view,
                        enum fbp_s1_part part, float out[12])
{
    const double scale[2] = {texels, 1}, shift[2] = {texels - 0.5, 0.5};
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];
    double c[3][4];

    for (int r = 0; r < 3; r++) {
        c[r][3] = m[4 * r + 3];
        for (int i = 0; i < 3; i++) {
            const double voxel = part == FBP_S1_ALL ? g->voxel_mm[i] : TINY_VOXEL_MM;
            c[r][i] = m[4 * r + i] * voxel;
            c[r][3] += m[4 * r + i] * gpu_host->coordinate(g, i, floor(((double)g->n[i] - 1) / 2));
        }
    }
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 4; i++)
            out[4 * r + i] = (float)(r < 2 ? scale[r] * c[r][i] + shift[r] * c[2][i] : c[r][i]);
}

/* One run of a kernel. */
struct run {
    const struct cuda_device *dev;
    const struct s1_kernel *kernel;
    enum fbp_s1_part part;
    const struct fbp_batch *batch;
    const struct cuda_views *views;
    float *volume;
    size_t shared[2]; /* bytes, of whole and half */
    cudaStream_t stream;
    size_t n_launches;
};

/* Matrices of views [view, view + n) of the batch; unused entries get a matrix that projects beside
 * the panel. */
static void make_launch(const struct run *r, size_t view, size_t n, struct s1_launch *out)
{
    static const float none[12] = {[3] = -8, [7] = -8, [11] = 1};

    out->layer = (int)view;
    for (size_t k = 0; k < CUDA_S1_VIEWS; k++)
        if (k < n)
            make_matrix(r->dev->job, r->views->texels, r->batch->view0 + view + k, r->part,
                        out->m[k]);
        else
            for (int i = 0; i < 12; i++)
                out->m[k][i] = none[i];
}

/* Dynamic shared memory that leaves as many blocks resident as the whole kernel has. */
static fbp_status keep_occupancy(const struct s1_entry *e, enum fbp_s1_part part, int threads,
                                 int *blocks, size_t *shared)
{
    int own;

    *shared = 0;
    CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, e->part[FBP_S1_ALL], threads, 0));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&own, e->part[part], threads, 0));
    if (own <= *blocks)
        return FBP_OK;
    CUDA_TRY(cudaOccupancyAvailableDynamicSMemPerBlock(shared, e->part[part], *blocks, threads));
    CUDA_TRY(cudaFuncSetAttribute(e->part[part], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)*shared));
    return FBP_OK;
}

static fbp_status launch(struct run *r, bool half, size_t view, size_t n)
{
    const struct fbp_s1_shape *s = &r->kernel->shape;
    const struct s1_entry *e = half ? &r->kernel->half : &r->kernel->whole;
    struct s1_grid g = grid_of(r->dev->job);
    const dim3 block = {s->block_x, s->block_y, 1};
    const dim3 grid = {((unsigned)g.nx + s->block_x - 1) / s->block_x,
                       ((unsigned)g.ny + s->block_y - 1) / s->block_y,
                       ((unsigned)g.nz + s->voxels - 1) / s->voxels};
    cudaTextureObject_t texture = r->views->texture;
    struct s1_launch views;
    void *arguments[] = {&views, &g, &texture, &r->volume};

    make_launch(r, view, n, &views);
    CUDA_TRY(
        cudaLaunchKernel(e->part[r->part], grid, block, arguments, r->shared[half], r->stream));
    r->n_launches++;
    return FBP_OK;
}

/* Launch the kernel for all views of the batch; the last views by the kernel of half as many views
 * if they fit. */
static fbp_status launch_all(struct run *r)
{
    const unsigned whole = r->kernel->whole.views, half = r->kernel->half.views;
    const size_t n = r->batch->n_views;

    r->n_launches = 0;
    for (size_t view = 0, step; view < n; view += step) {
        const bool short_one = n - view <= half;
        step = short_one ? half : whole;
        FBP_TRY(launch(r, short_one, view, step < n - view ? step : n - view));
    }
    return FBP_OK;
}

static fbp_status time_run(struct run *r, cudaEvent_t begin, cudaEvent_t end, double *seconds)
{
    float ms;

    CUDA_TRY(cudaEventRecord(begin, r->stream));
    FBP_TRY(launch_all(r));
    CUDA_TRY(cudaEventRecord(end, r->stream));
    CUDA_TRY(cudaEventSynchronize(end));
    CUDA_TRY(cudaEventElapsedTime(&ms, begin, end));
    *seconds = 1e-3 * (double)ms;
    return FBP_OK;
}

static fbp_status time_with_events(struct run *r, double *seconds)
{
    cudaEvent_t begin, end;

    CUDA_TRY(cudaEventCreate(&begin));
    const cudaError_t error = cudaEventCreate(&end);
    fbp_status st = FBP_OK;
    if (error != cudaSuccess) {
        st = cuda_failed(error, "cudaEventCreate");
    } else {
        st = time_run(r, begin, end, seconds);
        (void)cudaEventDestroy(end);
    }
    (void)cudaEventDestroy(begin);
    return st;
}

/* Occupancy and registers of the kernel of whole launches, and what both need to keep theirs. */
static fbp_status prepare(struct run *r, struct fbp_s1_time *out)
{
    const struct fbp_s1_shape *s = &r->kernel->shape;
    const int threads = (int)(s->block_x * s->block_y);
    struct cudaFuncAttributes attributes;
    int blocks, most;

    if (r->kernel->half.views)
        FBP_TRY(keep_occupancy(&r->kernel->half, r->part, threads, &blocks, &r->shared[1]));
    FBP_TRY(keep_occupancy(&r->kernel->whole, r->part, threads, &blocks, &r->shared[0]));
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, r->dev->index));
    CUDA_TRY(cudaFuncGetAttributes(&attributes, r->kernel->whole.part[r->part]));
    out->occupancy = (double)blocks * threads / most;
    out->registers = attributes.numRegs;
    return FBP_OK;
}

static fbp_status run(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                      void *volume, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out)
{
    const struct cuda_device *dev = cuda_of(device);
    struct run r = {.dev = dev,
                    .kernel = kernel_of(index),
                    .part = part,
                    .batch = batch,
                    .views = filtered,
                    .volume = volume,
                    .stream = dev->streams[FBP_STAGE_BP].stream};

    *out = (struct fbp_s1_time){0};
    if (!r.kernel || dev->kernel != &cuda_kernel_MATRIX_FAST)
        return gpu_host->fail(FBP_ERR_INVALID,
                              "zinsser2013: kernel %zu does not exist, or the job has another "
                              "kernel than matrix: report this error",
                              index);
    CUDA_TRY(cudaSetDevice(dev->index));
    FBP_TRY(prepare(&r, out));
    FBP_TRY(time_with_events(&r, &out->seconds));
    out->n_launches = r.n_launches;
    return FBP_OK;
}

const struct fbp_s1_kernels cuda_s1 = {shape, run};
