/* Voxels into the bins of pictures. */
#include "picture/viewer.h"

#include "base/stop.h"

#include <string.h>

static inline void put(float *bin, float value, bool mip)
{
    if (!mip)
        *bin += value;
    else if (value > *bin)
        *bin = value;
}

/* Row y of slice z into the bins of plane i; `from`, `to`: the columns that lie in it. */
static void put_row(struct fbp_viewer *v, int i, size_t y, size_t z, size_t from, size_t to,
                    const float *row)
{
    struct fbp_plane *p = &v->planes[i];
    const size_t up = i == 0 ? y / v->k[1] : z / v->k[2];
    float *bins = p->value + up * p->bins[0];

    for (size_t x = from; x < to; x++)
        put(&bins[i == 2 ? y / v->k[1] : x / v->k[0]], row[x], v->mip);
}

/* Row y of slice z into all planes that show something of it. */
static void place_row(struct fbp_viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->n[0], x = v->slice[0];

    if (v->mip || z == v->slice[2])
        put_row(v, 0, y, z, 0, nx, row);
    if (v->mip || y == v->slice[1])
        put_row(v, 1, y, z, 0, nx, row);
    put_row(v, 2, y, z, v->mip ? 0 : x, v->mip ? nx : x + 1, row);
}

/* Row y of slice z as it is read: into the planes, or kept until its slice can be turned. */
static void take_row(struct fbp_viewer *v, size_t y, size_t z, const float *row)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1];

    if (v->turn)
        memcpy(v->slices + (z % v->at_once * ny + y) * nx, row, nx * sizeof *row);
    else
        place_row(v, y, z, row);
}

/* All rows of slice z once, in the order of the file: a packed one is unpacked from its start for
 * every step back. */
static fbp_status read_slice(struct fbp_viewer *v, size_t z)
{
    const size_t nx = v->info->n[0], ny = v->info->n[1];
    const bool down = v->info->row_order == FBP_ROWS_TOP_DOWN;

    for (size_t at = 0; at < ny; at += v->band_rows) {
        const size_t n = ny - at < v->band_rows ? ny - at : v->band_rows;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_source_read(v->src, v->z0 + z, 1, at, n, v->band));
        for (size_t r = 0; r < n; r++)
            take_row(v, down ? ny - 1 - at - r : at + r, z, v->band + r * nx);
    }
    return FBP_OK;
}

static fbp_status turn_slice(struct fbp_viewer *v, size_t z)
{
    fbp_turn_prepare(v->turn, v->slices);
    for (size_t y = 0; y < v->n[1]; y++) {
        FBP_TRY(fbp_go_on());
        fbp_turn_row(v->turn, v->slices, y, v->row);
        place_row(v, y, z, v->row);
    }
    return FBP_OK;
}

/* Greatest values along one axis into row `up` of a plane, k of them a bin. */
static void put_line(struct fbp_plane *p, size_t up, size_t k, const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(&p->value[up * p->bins[0] + i / k], values[i], true);
}

/* Slices [z0, z0 + n), by the projector. */
static fbp_status project_slices(struct fbp_viewer *v, size_t z0, size_t n)
{
    FBP_TRY(v->projector->project(v->device, v->slices, n, v->front, v->side));
    for (size_t i = 0; i < n; i++) {
        const size_t up = (z0 + i) / v->k[2];
        put_line(&v->planes[1], up, v->k[0], v->front + i * v->n[0], v->n[0]);
        put_line(&v->planes[2], up, v->k[1], v->side + i * v->n[1], v->n[1]);
    }
    return FBP_OK;
}

static fbp_status fetch_top(struct fbp_viewer *v)
{
    for (size_t at = 0; at < v->n[1]; at += v->rows) {
        const size_t n = v->n[1] - at < v->rows ? v->n[1] - at : v->rows;
        FBP_TRY(v->projector->top(v->device, at, n, v->row));
        for (size_t r = 0; r < n; r++)
            put_line(&v->planes[0], (at + r) / v->k[1], v->k[0], v->row + r * v->n[0], v->n[0]);
    }
    return FBP_OK;
}

fbp_status fbp_viewer_read(struct fbp_viewer *v)
{
    const size_t n = v->info->n[2];

    for (size_t z = 0; z < n; z++) {
        FBP_TRY(read_slice(v, z));
        if (v->turn && !v->device)
            FBP_TRY(turn_slice(v, z));
        if (v->device && ((z + 1) % v->at_once == 0 || z + 1 == n))
            FBP_TRY(project_slices(v, z / v->at_once * v->at_once, z % v->at_once + 1));
    }
    return v->device ? fetch_top(v) : FBP_OK;
}
