/* Which ceiling of the device a kernel is to be seen beside. */
#include "backend/cuda/kernel.h"
#include "backend/cuda/limits.h"

#include <stdio.h>

enum { TAP_BYTES = 4 * sizeof(float) };

/*
 * From a texture: one fetch serves the voxels of an orbit, one a channel.  From plain memory: the
 * four fp32 taps of an update, loaded as one float2 or float4 a tap and column; a kernel that keeps
 * taps from voxel to voxel may do more.
 */
double cuda_kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                         size_t n)
{
    const struct cuda_kernel *k = cuda_kernel_choose(job);

    if (k->channels == 1) {
        snprintf(what, n, "bilinear fetches of fp%d", k->bits);
        return k->bits == 32 ? limits->texture_r32f : limits->texture_r16f;
    }
    if (k->channels == 4 && k->bits == 16) {
        snprintf(what, n, "bilinear fetches of 4 fp16");
        return k->channels * limits->texture_rgba16f;
    }
    if (k->channels) /* a texel whose rate is not measured */
        return 0;
    snprintf(what, n, "loads of 16 bytes an update from L1");
    return (k->turns > 1 ? limits->load_16 : limits->load_8) / TAP_BYTES;
}
