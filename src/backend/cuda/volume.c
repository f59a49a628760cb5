/* Backprojection of filtered views into a slab on a CUDA device, one launch after the other
 * (cuda_backproject()), and copies of the slab's slices to memory of the host or of a device
 * (cuda_fetch()), with statistics of their voxels. entry.c lists the functions in the backend's
 * table.
 * Used by: entry.c. */
#include "backend/cuda/cuda.h"

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

fbp_status cuda_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    struct cuda_device *dev = cuda_of(device);
    const struct gpu_kernel *k = &dev->kernel->gpu;
    const struct fbp_job *job = dev->job;
    const size_t n = batch->n_views / job->selection.symmetric_views,
                 most = k->pass ? (size_t)k->pass : GPU_PASS;
    struct fbp_slab below = *slab;
    unsigned group0;
    const struct cuda_views views = cuda_views_at(dev->kernel, job, batch, filtered, &group0);
    struct cuda_bp bp = {.job = job,
                         .batch = batch,
                         .views = &views,
                         .grid = gpu_grid_of(job, slab, z0, z1),
                         .slab = slab,
                         .stream = dev->streams[FBP_STAGE_BP].stream};

    if (batch->n_rows == 0)
        return FBP_OK;
    if (job->requested.region)
        bp.grid.wanted = (const void *)(dev->memory + dev->tables.wanted);
    below.nz = z0 - slab->z0;
    bp.volume = (void *)((char *)volume + gpu_volume_size(k, job, &below) * fbp_value_size(job));
    CUDA_TRY(cudaSetDevice(dev->index));
    bp.first = group0;
    if (k->decimates) {
        bp.decimation = &dev->decimation;
        return add_pass(dev, (int)n, &bp);
    }
    if (k->planes || k->slices) { /* all views of the batch in one pass */
        bp.planes = (const struct gpu_plane *)(const void *)(dev->memory + dev->tables.planes) +
                    batch->view0;
        bp.parallel =
            (const struct gpu_parallel_view *)(const void *)(dev->memory + dev->tables.parallel) +
            batch->view0;
        return add_pass(dev, (int)batch->n_views, &bp);
    }
    for (size_t i = 0; i < n; i += most) {
        bp.first = group0 + i;
        gpu_make_pass(job, dev->principal, batch->view0 + i, n - i < most ? n - i : most,
                      batch->row0, &bp.pass);
        FBP_TRY(add_pass(dev, bp.pass.n, &bp));
    }
    return FBP_OK;
}

static void *found_of(const struct cuda_device *dev)
{
    return dev->memory + dev->tables.found;
}

fbp_status cuda_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host)
{
    struct cuda_device *dev = cuda_of(device);
    const struct fbp_job *job = dev->job;
    struct cuda_unpacking *u = &dev->unpacking;
    cudaStream_t out = dev->streams[FBP_STAGE_OUT].stream;
    const size_t slice = fbp_slab_slice(slab), value = fbp_value_size(job), n = (z1 - z0) * slice;
    const size_t frame = gpu_volume_size(&dev->kernel->gpu, job, slab);
    const size_t step = dev->tables.slice_bytes / (slice * sizeof(float));

    CUDA_TRY(cudaSetDevice(dev->index));
    for (size_t i = 0; i < fbp_channels(job); i++) {
        const char *from = (const char *)volume + i * frame * value;
        char *to = (char *)host + i * n * value; /* [z1 - z0][ny][nx] */
        /* step 0: voxels need no change: copy them, and compute statistics. */
        if (step == 0) {
            const void *voxels = from + (z0 - slab->z0) * slice * value;
            CUDA_TRY(cuda_statistics_of(voxels, n, fbp_in_double(job), found_of(dev), u->stream));
            CUDA_TRY(cudaEventRecord(u->filled[0], u->stream));
            CUDA_TRY(cudaMemcpyAsync(to, voxels, n * value, cudaMemcpyDefault, out));
            CUDA_TRY(cudaStreamWaitEvent(out, u->filled[0], 0));
            continue;
        }
        /* If the target is memory of this device, kernels write to it directly.  Otherwise they
         * write to a buffer, which is then copied, and written again only after its last copy. */
        const bool direct = cuda_memory_owner(to, n * sizeof(float)) == dev->index;
        struct cuda_fetch f = {.job = job, .slab = slab, .volume = (const void *)from};
        for (f.z0 = z0; f.z0 < z1; f.z0 = f.z1) {
            const unsigned at = u->next++ % GPU_STAGES;
            float *chunk = (float *)(void *)to + (f.z0 - z0) * slice;
            f.z1 = f.z0 + step < z1 ? f.z0 + step : z1;
            const size_t m = (f.z1 - f.z0) * slice;
            f.out = direct
                        ? chunk
                        : (void *)(dev->memory + dev->tables.slices + at * dev->tables.slice_bytes);
            if (!direct)
                CUDA_TRY(cudaStreamWaitEvent(u->stream, u->copied[at], 0));
            CUDA_TRY(cuda_convert(&f, u->stream));
            CUDA_TRY(cuda_statistics_of(f.out, m, false, found_of(dev), u->stream));
            CUDA_TRY(cudaEventRecord(u->filled[at], u->stream));
            CUDA_TRY(cudaStreamWaitEvent(out, u->filled[at], 0));
            if (direct)
                continue;
            CUDA_TRY(cudaMemcpyAsync(chunk, f.out, m * sizeof(float), cudaMemcpyDefault, out));
            CUDA_TRY(cudaEventRecord(u->copied[at], out));
        }
    }
    return FBP_OK;
}

fbp_status cuda_statistics(fbp_device *device, struct fbp_statistics *out)
{
    const struct cuda_device *dev = cuda_of(device);
    cudaStream_t stream = dev->unpacking.stream;
    struct gpu_block_statistics_double found[GPU_STATISTICS_BLOCKS]; /* room for floats, too */
    const size_t bytes =
        GPU_STATISTICS_BLOCKS *
        (fbp_in_double(dev->job) ? sizeof *found : sizeof(struct gpu_block_statistics));

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaMemcpyAsync(found, found_of(dev), bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    if (fbp_in_double(dev->job))
        gpu_statistics_take_double(found, out);
    else
        gpu_statistics_take((void *)found, out);
    CUDA_TRY(cudaMemcpyAsync(found_of(dev), found, bytes, cudaMemcpyHostToDevice, stream));
    return FBP_OK;
}
