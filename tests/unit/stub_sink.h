/* Weak stand-ins for the grid and an array in memory. */
#ifndef FBP_TESTS_STUB_SINK_H
#define FBP_TESTS_STUB_SINK_H

#include "fbp/fbp.h"
#include <string.h>
__attribute__((weak)) double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i)
{
    return g->centre_mm[axis] + (i - ((double)g->n[axis] - 1) / 2) * g->voxel_mm[axis];
}
static float *stub_data;
static struct fbp_array_info stub_info;
__attribute__((weak)) fbp_status fbp_sink_open(fbp_sink **out, const char *path,
                                               const struct fbp_array_info *info,
                                               const struct fbp_sink_params *params)
{
    (void)path;
    (void)params;
    stub_info = *info;
    *out = (fbp_sink *)&stub_info;
    return FBP_OK;
}
__attribute__((weak)) fbp_status fbp_sink_write(fbp_sink *sink, size_t z0, size_t nz,
                                                const float *data)
{
    (void)sink;
    const size_t n = stub_info.n[0] * stub_info.n[1];
    if (stub_data)
        memcpy(stub_data + z0 * n, data, nz * n * sizeof *data);
    return FBP_OK;
}
__attribute__((weak)) fbp_status fbp_sink_finish(fbp_sink *sink)
{
    (void)sink;
    return FBP_OK;
}
__attribute__((weak)) void fbp_sink_close(fbp_sink **sink)
{
    *sink = 0;
}
#endif
