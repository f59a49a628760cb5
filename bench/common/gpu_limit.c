/* Which ceiling of the device a kernel is to be seen beside. */
#include "bench/common/gpu_limit.h"

#include "backend/gpu/gpu_kernel.h"

#include <stdio.h>

enum { TAP_BYTES = 4 * sizeof(float) };

static double fetches(const struct gpu_kernel *k, const struct fbp_limits *l)
{
    const double rates[3][2] = {{l->texture_r16f, l->texture_r32f},
                                {l->texture_rg16f, l->texture_rg32f},
                                {l->texture_rgba16f, l->texture_rgba32f}};

    return rates[k->channels / 2][k->bits == 32];
}

/* Of plane integrals: the taps of an update from shared memory, those of some frames by one load.
 */
static double loads_of_planes(const struct fbp_job *job, const struct fbp_limits *l, char *what,
                              size_t n)
{
    static const size_t taps[] = {[FBP_INTERPOLATION_LINEAR] = 2,
                                  [FBP_INTERPOLATION_NEAREST] = 1,
                                  [FBP_INTERPOLATION_CUBIC] = 4};
    const double loads[3] = {l->load_4, l->load_8, l->load_16};
    const size_t bytes = taps[job->epr.interpolation] * sizeof(float);
    const size_t frames = gpu_planes_of(job, fbp_channels(job)).frames;
    const size_t together = frames % 4 == 0 ? 4 : frames % 2 == 0 ? 2 : 1;

    snprintf(what, n, "loads of %zu bytes an update, by %zu", bytes, together * sizeof(float));
    return loads[together / 2] / (double)bytes;
}

/*
 * From a texture: one fetch serves the voxels of an orbit, one a channel.  From plain memory: the
 * four fp32 taps of an update, as many of them a load as voxels are served by one; a kernel that
 * keeps taps from voxel to voxel may do more.  Shared memory is the first cache's, and as fast.
 */
double gpu_kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                        size_t n)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const double loads[3] = {limits->load_4, limits->load_8, limits->load_16};

    if (k->planes)
        return loads_of_planes(job, limits, what, n);
    if (k->channels) {
        snprintf(what, n, "bilinear fetches of %d fp%d", k->channels, k->bits);
        return k->channels * fetches(k, limits);
    }
    snprintf(what, n, "loads of 16 bytes an update, by %zu", k->symmetric_views * sizeof(float));
    return loads[k->symmetric_views / 2] / TAP_BYTES;
}
