/** @file peers.h  Devices and helpers of the tests against thresholds of other programs
 * (test_peers_*.c). */
#ifndef FBP_TESTS_PEERS_H
#define FBP_TESTS_PEERS_H

#include "recon/fixture.h"

/** Backends that such a test runs on. */
static const char *const peer_devices[] = {"cpu", "cuda"};
enum { N_PEER_DEVICES = 2 };

/** Views of a scan as an array in memory; free() them. */
static inline float *project(struct fbp_scan *scan, const struct fbp_phantom *phantom)
{
    simulate(scan, phantom);
    float *views = read_array(scan->projections);
    remove(scan->projections);
    return views;
}

/** Reconstruct views in memory; free() the volume. */
static inline float *reconstruct_views(const struct fbp_scan *scan, const float *views,
                                       const struct fbp_recon_params *params)
{
    float *volume = not_null(malloc(grid_size(&scan->volume) * sizeof *volume));
    OK(fbp_reconstruct(scan, params, FBP_F32, views, volume, NULL));
    return volume;
}

/** Values of the phantom at the voxels' centres, as RTK and mbirjax draw it; free() them. */
static inline float *draw_centres(const struct fbp_phantom *phantom, const struct fbp_grid *g)
{
    float *out = not_null(malloc(grid_size(g) * sizeof *out));
    size_t i = 0;
    for (size_t z = 0; z < g->n[2]; z++)
        for (size_t y = 0; y < g->n[1]; y++)
            for (size_t x = 0; x < g->n[0]; x++) {
                const double at[3] = {fbp_grid_coordinate(g, 0, (double)x),
                                      fbp_grid_coordinate(g, 1, (double)y),
                                      fbp_grid_coordinate(g, 2, (double)z)};
                out[i++] = (float)fbp_phantom_at(phantom, at);
            }
    return out;
}

/** A view turned about the z axis by `angle` [rad]. */
static inline void turn_view(struct fbp_view *view, double angle)
{
    double *const vectors[] = {view->s, view->d, view->u, view->v};
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 4; i++) {
        double *const v = vectors[i], x = v[0], y = v[1];
        v[0] = c * x - s * y;
        v[1] = s * x + c * y;
    }
}

#endif /* FBP_TESTS_PEERS_H */
