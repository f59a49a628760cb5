/* Which ceiling of the device a kernel is to be seen beside. */
#include "backend/cuda/kernel.h"
#include "backend/cuda/limits.h"

#include <stdio.h>

enum { TAP_BYTES = 4 * sizeof(float) };

static double fetches(const struct cuda_kernel *k, const struct fbp_limits *l)
{
    const double rates[3][2] = {{l->texture_r16f, l->texture_r32f},
                                {l->texture_rg16f, l->texture_rg32f},
                                {l->texture_rgba16f, l->texture_rgba32f}};

    return rates[k->channels / 2][k->bits == 32];
}

/*
 * From a texture: one fetch serves the voxels of an orbit, one a channel.  From plain memory: the
 * four fp32 taps of an update, two or four of them a load; a kernel that keeps taps from voxel to
 * voxel may do more.
 */
double cuda_kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                         size_t n)
{
    const struct cuda_kernel *k = cuda_kernel_choose(job);
    const bool wide = k->turns * (k->mirrored ? 2 : 1) >= 4;

    if (k->channels) {
        snprintf(what, n, "bilinear fetches of %d fp%d", k->channels, k->bits);
        return k->channels * fetches(k, limits);
    }
    snprintf(what, n, "loads of 16 bytes an update, by %s", wide ? "16" : "8");
    return (wide ? limits->load_16 : limits->load_8) / TAP_BYTES;
}
