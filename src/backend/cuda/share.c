/* Filtered views from another device: over the link between the two, or through the host where
 * there is none. */
#include "backend/cuda/cuda.h"
#include "backend/cuda/peer.h"

static fbp_status reach(struct cuda_device *dev, int other)
{
    const uint64_t bit = (uint64_t)1 << other % 64;

    if (dev->index == other || dev->reached & bit)
        return FBP_OK;
    FBP_TRY(cuda_peer_reach(dev->index, other));
    dev->reached |= bit;
    return FBP_OK;
}

static fbp_status copy_plain(const struct cuda_device *dev, const struct cuda_device *from,
                             const struct fbp_batch *b, size_t n_groups,
                             const struct cuda_views *to, const struct cuda_views *theirs)
{
    const struct gpu_kernel *k = &dev->kernel->gpu;
    const size_t at = k->views_bytes(dev->job, b->place, b->n_rows);

    CUDA_TRY(cudaMemcpyPeerAsync(
        (char *)to->memory + at, dev->index, (const char *)theirs->memory + at, from->index,
        k->views_bytes(dev->job, n_groups, b->n_rows), dev->streams[FBP_STAGE_OUT].stream));
    return FBP_OK;
}

static fbp_status copy_layers(const struct cuda_device *dev, const struct cuda_device *from,
                              const struct fbp_batch *b, size_t n_groups,
                              const struct cuda_views *to, const struct cuda_views *theirs)
{
    const struct cudaPos pos = {.z = b->place};
    const struct cudaExtent extent = {gpu_row_texels(&dev->kernel->gpu, dev->job), to->n_rows,
                                      n_groups};
    const struct cudaMemcpy3DPeerParms peer = {.srcArray = theirs->array,
                                               .srcPos = pos,
                                               .srcDevice = from->index,
                                               .dstArray = to->array,
                                               .dstPos = pos,
                                               .dstDevice = dev->index,
                                               .extent = extent};
    const struct cudaMemcpy3DParms same = {.srcArray = theirs->array,
                                           .srcPos = pos,
                                           .dstArray = to->array,
                                           .dstPos = pos,
                                           .extent = extent,
                                           .kind = cudaMemcpyDeviceToDevice};
    cudaStream_t stream = dev->streams[FBP_STAGE_OUT].stream;

    if (dev->index == from->index)
        CUDA_TRY(cudaMemcpy3DAsync(&same, stream));
    else
        CUDA_TRY(cudaMemcpy3DPeerAsync(&peer, stream));
    return FBP_OK;
}

fbp_status cuda_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs)
{
    struct cuda_device *dev = cuda_of(device);
    const struct cuda_device *other = cuda_of(from);
    const size_t n_groups = (batch->n_views + dev->job->turns - 1) / dev->job->turns;

    if (batch->n_rows == 0)
        return FBP_OK;
    CUDA_TRY(cudaSetDevice(dev->index));
    FBP_TRY(reach(dev, other->index));
    return (dev->kernel->gpu.channels ? copy_layers : copy_plain)(dev, other, batch, n_groups,
                                                                  filtered, theirs);
}
