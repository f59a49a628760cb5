/* Filtered views into a slab, pass after pass, and the slab to the host. */
#include "backend/cuda/cuda.h"

#include "backend/gpu/gpu_bytes.h"
#include "backend/gpu/gpu_planes.h"
#include "backend/slab.h"

fbp_status cuda_clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemsetAsync(volume, 0, gpu_volume_bytes(dev->job, slab),
                             dev->streams[FBP_STAGE_BP].stream));
    return FBP_OK;
}

static fbp_status add_pass(struct cuda_device *dev, int n, struct cuda_bp *bp)
{
    bp->shape = gpu_tuner_begin(&dev->tuner, n, &bp->grid);
    CUDA_TRY(dev->kernel->backproject(bp));
    gpu_tuner_end(&dev->tuner, n, &bp->grid);
    return FBP_OK;
}

static fbp_status add_passes(struct cuda_device *dev, unsigned group0, struct cuda_bp *bp)
{
    const struct fbp_batch *batch = bp->batch;
    const size_t n = batch->n_views / dev->job->turns, most = gpu_pass_views(&dev->kernel->gpu);

    for (size_t k = 0; k < n; k += most) {
        bp->first = group0 + k;
        gpu_make_pass(dev->job, dev->principal, batch->view0 + k, n - k < most ? n - k : most,
                      batch->row0, &bp->pass);
        FBP_TRY(add_pass(dev, bp->pass.n, bp));
    }
    return FBP_OK;
}

/* All views in one. */
static fbp_status add_planes(struct cuda_device *dev, struct cuda_bp *bp)
{
    const struct gpu_plane *planes = (const void *)(dev->memory + dev->tables.planes);

    bp->planes = planes + bp->batch->view0;
    return add_pass(dev, (int)bp->batch->n_views, bp);
}

fbp_status cuda_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    struct cuda_device *dev = cuda_of(device);
    const struct fbp_job *job = dev->job;
    struct fbp_slab below = *slab;
    unsigned group0;
    const struct cuda_views views = cuda_views_at(dev->kernel, job, batch, filtered, &group0);
    struct cuda_bp bp = {.job = job,
                         .batch = batch,
                         .views = &views,
                         .grid = gpu_grid_of(job, slab, z0, z1),
                         .slab = slab,
                         .volume = volume,
                         .stream = dev->streams[FBP_STAGE_BP].stream};

    if (batch->n_rows == 0)
        return FBP_OK;
    if (job->region)
        bp.grid.wanted = (const void *)(dev->memory + dev->tables.wanted);
    below.nz = z0 - slab->z0;
    bp.volume = (void *)((char *)bp.volume +
                         gpu_volume_size(&dev->kernel->gpu, job, &below) * fbp_value_size(job));
    CUDA_TRY(cudaSetDevice(dev->index));
    return dev->kernel->gpu.planes ? add_planes(dev, &bp) : add_passes(dev, group0, &bp);
}

static void *found_of(const struct cuda_device *dev)
{
    return dev->memory + dev->tables.found;
}

static cudaError_t look_at(const struct cuda_device *dev, const void *voxels, size_t n)
{
    return fbp_in_double(dev->job)
               ? cuda_look_at_doubles(voxels, n, found_of(dev), dev->unpacking.stream)
               : cuda_look_at(voxels, n, found_of(dev), dev->unpacking.stream);
}

/* The volume's slices as they are: looked at and copied side by side, to the host or on the card.
 */
static fbp_status fetch_plain(struct cuda_device *dev, const void *voxels, size_t n, void *to)
{
    struct cuda_unpacking *u = &dev->unpacking;
    cudaStream_t out = dev->streams[FBP_STAGE_OUT].stream;

    CUDA_TRY(look_at(dev, voxels, n));
    CUDA_TRY(cudaEventRecord(u->filled[0], u->stream));
    CUDA_TRY(cudaMemcpyAsync(to, voxels, n * fbp_value_size(dev->job), cudaMemcpyDefault, out));
    CUDA_TRY(cudaStreamWaitEvent(out, u->filled[0], 0));
    return FBP_OK;
}

/* Slices [f->z0, f->z1), at most what a buffer holds, into f->out. */
static fbp_status unpack(const struct cuda_device *dev, const struct cuda_fetch *f)
{
    const struct fbp_job *job = dev->job;
    const size_t slice = fbp_slab_slice(f->slab), n = (f->z1 - f->z0) * slice;

    if (dev->kernel->fetch)
        CUDA_TRY(dev->kernel->fetch(f));
    else
        CUDA_TRY(cuda_scale(f->volume + (f->z0 - f->slab->z0) * slice, n, (float)job->scale,
                            (float)job->shift, f->out, f->stream));
    CUDA_TRY(cuda_look_at(f->out, n, found_of(dev), f->stream));
    return FBP_OK;
}

/* Straight into memory of this card. */
static fbp_status fetch_here(struct cuda_device *dev, struct cuda_fetch *f, float *to)
{
    struct cuda_unpacking *u = &dev->unpacking;
    const unsigned at = u->next++ % GPU_STAGES;

    f->out = to;
    FBP_TRY(unpack(dev, f));
    CUDA_TRY(cudaEventRecord(u->filled[at], f->stream));
    CUDA_TRY(cudaStreamWaitEvent(dev->streams[FBP_STAGE_OUT].stream, u->filled[at], 0));
    return FBP_OK;
}

/* Through one of the buffers, which was copied when it is filled again. */
static fbp_status fetch_piece(struct cuda_device *dev, struct cuda_fetch *f, float *to)
{
    struct cuda_unpacking *u = &dev->unpacking;
    const unsigned at = u->next++ % GPU_STAGES;
    const size_t n = (f->z1 - f->z0) * fbp_slab_slice(f->slab);
    cudaStream_t out = dev->streams[FBP_STAGE_OUT].stream;

    f->out = (void *)(dev->memory + dev->tables.slices + at * dev->tables.slice_bytes);
    CUDA_TRY(cudaStreamWaitEvent(f->stream, u->copied[at], 0));
    FBP_TRY(unpack(dev, f));
    CUDA_TRY(cudaEventRecord(u->filled[at], f->stream));
    CUDA_TRY(cudaStreamWaitEvent(out, u->filled[at], 0));
    CUDA_TRY(cudaMemcpyAsync(to, f->out, n * sizeof(float), cudaMemcpyDefault, out));
    CUDA_TRY(cudaEventRecord(u->copied[at], out));
    return FBP_OK;
}

/* Of one frame. */
static fbp_status fetch_frame(struct cuda_device *dev, struct cuda_fetch *f, void *to)
{
    const size_t slice = fbp_slab_slice(f->slab), value = fbp_value_size(dev->job);
    const size_t z0 = f->z0, z1 = f->z1, step = dev->tables.slice_bytes / (slice * sizeof(float));

    if (step == 0)
        return fetch_plain(dev, (const char *)f->volume + (z0 - f->slab->z0) * slice * value,
                           (z1 - z0) * slice, to);
    const bool here = cuda_far_owner(to, (z1 - z0) * slice * sizeof(float)) == dev->index;
    for (; f->z0 < z1; f->z0 = f->z1) {
        float *piece = (float *)to + (f->z0 - z0) * slice;
        f->z1 = f->z0 + step < z1 ? f->z0 + step : z1;
        FBP_TRY(here ? fetch_here(dev, f, piece) : fetch_piece(dev, f, piece));
    }
    return FBP_OK;
}

fbp_status cuda_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host)
{
    struct cuda_device *dev = cuda_of(device);
    const size_t value = fbp_value_size(dev->job), n = (z1 - z0) * fbp_slab_slice(slab);
    const size_t frame = gpu_volume_size(&dev->kernel->gpu, dev->job, slab);

    CUDA_TRY(cudaSetDevice(dev->index));
    for (size_t i = 0; i < fbp_frames(dev->job); i++) {
        struct cuda_fetch f = {.job = dev->job,
                               .slab = slab,
                               .z0 = z0,
                               .z1 = z1,
                               .volume = (const void *)((const char *)volume + i * frame * value),
                               .stream = dev->unpacking.stream};
        FBP_TRY(fetch_frame(dev, &f, (char *)host + i * n * value));
    }
    return FBP_OK;
}

/* Take what was found, and begin anew. */
static void take_found(const struct cuda_device *dev, void *found, struct fbp_statistics *out)
{
    if (fbp_in_double(dev->job))
        gpu_found_take_double(found, out);
    else
        gpu_found_take(found, out);
}

fbp_status cuda_statistics(fbp_device *device, struct fbp_statistics *out)
{
    const struct cuda_device *dev = cuda_of(device);
    cudaStream_t stream = dev->unpacking.stream;
    struct gpu_found_double found[GPU_FOUND]; /* the larger one */
    const size_t bytes =
        GPU_FOUND * (fbp_in_double(dev->job) ? sizeof *found : sizeof(struct gpu_found));

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpyAsync(found, found_of(dev), bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    take_found(dev, found, out);
    CUDA_TRY(cudaMemcpyAsync(found_of(dev), found, bytes, cudaMemcpyHostToDevice, stream));
    return FBP_OK;
}
