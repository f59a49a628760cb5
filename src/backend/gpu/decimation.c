/* Kernel "hierarchical" of GPUs, without the GPU: the jobs that it can compute, sizes of its
 * images, and parameters of views and nodes as the device reads them.
 * Used by: bench/predict/, backend/cuda/, backend/gpu/. */
#include "backend/gpu/gpu_kernel.h"

#include "backend/module.h"
#include "backend/views.h"

#include <math.h>

/* The kernel is used if a group of its views has at most this many nodes per view. */
static const double MOST_NODES_PER_VIEW = 0.3;

/* MORE_ROWS, MORE_COLUMNS: rows of an image beyond those of a block's slices, and columns beyond
 * those of a block, because the last sample has a neighbour, and because half of the columns is
 * rounded up to a multiple of 4. */
enum { MORE_ROWS = 8, MORE_COLUMNS = 14, MOST_COLUMNS = 256, LEAST_SLICES = 16, STEP = 16 };

static bool find(const struct fbp_job *job, size_t parts, struct fbp_decimation *out)
{
    *out = (struct fbp_decimation){
        .edge = GPU_EDGE, .group = GPU_GROUP, .n_views = job->n_views / parts};
    return gpu_host->decimation(job, out);
}

static const double PI = 3.14159265358979323846;

static double most_columns(const struct fbp_decimation *d)
{
    return d->columns / d->depth / (1 - d->near) + MORE_COLUMNS;
}

/* Slices whose images have at most GPU_IMAGE_ROWS rows. */
static double most_slices(const struct fbp_job *job, const struct fbp_decimation *d)
{
    const double per_mm = d->rows / d->depth;
    const double spread = 3 * d->near * d->height * per_mm, rows = GPU_IMAGE_ROWS - MORE_ROWS;

    return (rows - spread) / (per_mm * job->grid.voxel_mm[2] * (1 + 2 * d->near));
}

static bool usable(const struct fbp_job *job, size_t parts)
{
    struct fbp_decimation d;

    return hypot(job->matrices[0][8], job->matrices[0][9]) > 0 && fbp_rows_run_up(job) &&
           find(job, parts, &d) && d.near < 1.0 / 6 && most_columns(&d) <= MOST_COLUMNS &&
           most_slices(job, &d) >= LEAST_SLICES && d.most_nodes <= GPU_NODES &&
           d.nodes <= MOST_NODES_PER_VIEW * (double)d.group;
}

bool gpu_decimation_usable(const struct fbp_job *job)
{
    return usable(job, 1);
}

bool gpu_decimation_rot90_usable(const struct fbp_job *job)
{
    return usable(job, 4);
}

double gpu_nodes_of(const struct fbp_job *job)
{
    struct fbp_decimation d;

    return find(job, job->selection.symmetric_views, &d) ? d.nodes : GPU_NODES;
}

size_t gpu_groups_of(const struct fbp_job *job)
{
    return (fbp_part_views(job) + GPU_GROUP - 1) / GPU_GROUP;
}

size_t gpu_image_columns(const struct fbp_decimation *d)
{
    return (size_t)(most_columns(d) + STEP - 1) / STEP * STEP;
}

size_t gpu_image_slices(const struct fbp_job *job, const struct fbp_decimation *d)
{
    const double most = most_slices(job, d);

    return most < (double)job->grid.n[2] ? (size_t)most / STEP * STEP
                                         : (job->grid.n[2] + STEP - 1) / STEP * STEP;
}

size_t gpu_images_of(const struct fbp_job *job)
{
    /* a slab may begin within a block */
    const size_t *n = job->grid.n, parts = job->selection.symmetric_views;
    const size_t x = parts == 4 ? (n[0] + 1) / 2 : n[0], y = parts == 4 ? (n[1] + 1) / 2 : n[1];
    const size_t blocks = (x / GPU_EDGE + 2) * (y / GPU_EDGE + 2), all = blocks * parts * GPU_NODES;

    return all < GPU_MOST_LAYERS ? all : GPU_MOST_LAYERS;
}

/* CUDA stores a texture in blocks of 64 bytes x 128 rows. */
size_t gpu_images_bytes(const struct fbp_job *job)
{
    const size_t parts = job->selection.symmetric_views;
    struct fbp_decimation d;

    (void)find(job, parts, &d);
    const size_t row = gpu_image_columns(&d) * parts * sizeof(uint16_t);
    return (row + 63) / 64 * 64 * GPU_IMAGE_ROWS * gpu_images_of(job);
}

fbp_status gpu_view_groups(const struct fbp_job *job, struct fbp_view_groups **out)
{
    struct fbp_decimation d;

    (void)find(job, job->selection.symmetric_views, &d);
    FBP_TRY(gpu_host->view_groups(job, &d, out));
    for (size_t i = 0; i < (*out)->n * FBP_BANDWIDTHS; i++)
        if ((*out)->groups[i / FBP_BANDWIDTHS].nodes[i % FBP_BANDWIDTHS].n > GPU_NODES)
            return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                                  "kernel: the views turn too unevenly for hierarchical; omit the "
                                  "kernel");
    return FBP_OK;
}

/* World position [mm] of the reference voxel along an axis, from which kernels count indices. */
static double reference(const struct fbp_job *job, int axis)
{
    return gpu_host->coordinate(&job->grid, axis, floor(((double)job->grid.n[axis] - 1) / 2));
}

static void set_view(const struct fbp_job *job, const double e[2], size_t k,
                     const struct gpu_principal *principal, struct gpu_block_view *out)
{
    const double *m = job->matrices[k];
    struct gpu_pass pass;

    gpu_make_pass(job, principal, k, 1, 0, &pass);
    const struct gpu_view *v = &pass.view[0];
    *out = (struct gpu_block_view){
        .u = {v->u[0], v->u[1], v->u[3], (float)(m[0] * e[0] + m[1] * e[1])},
        .v = {v->v[0], v->v[1], v->v[3], v->v[2]},
        .w = {v->w[0], v->w[1], v->w[3]},
        .column = v->column,
        .row = v->row};
}

void gpu_view_group_of(const struct fbp_job *job, const struct fbp_view_groups *groups, size_t i,
                       const struct gpu_principal *principal, struct gpu_view_group *out)
{
    const struct fbp_view_group *g = &groups->groups[i];
    const struct fbp_decimation *d = &groups->division;
    const double *m = job->matrices[0], *step = job->grid.voxel_mm, reach = PI * d->radius;
    const double x = reference(job, 0), y = reference(job, 1), z = reference(job, 2);

    out->n_views = (int)g->n_views;
    out->along_u = (float)(reach * hypot(m[0], m[1]) / ((double)job->padded.inserted + 1));
    out->along_v = (float)(reach * d->height / fabs(groups->views[g->first].s[1]) * d->rows);
    for (size_t k = 0; k < g->n_views; k++)
        set_view(job, groups->views[g->first + k].e, g->first + k, principal, &out->view[k]);
    for (size_t j = 0; j < FBP_BANDWIDTHS; j++) {
        const struct fbp_angular_nodes *from = &g->nodes[j];
        out->bandwidth[j] = (float)from->bandwidth;
        out->n_nodes[j] = (int)from->n;
        for (size_t a = 0; a < from->n; a++) {
            const struct fbp_direction *n = &from->at[a];
            out->node[j][a] =
                (struct gpu_node){.e = {(float)(n->e[0] * step[0]), (float)(n->e[1] * step[1])},
                                  .n = {(float)(n->n[0] * step[0]), (float)(n->n[1] * step[1])},
                                  .s = {(float)(n->s[0] - x * n->e[0] - y * n->e[1]),
                                        (float)(n->s[1] - x * n->n[0] - y * n->n[1]),
                                        (float)((n->s[2] - z) / step[2])}};
            for (size_t k = 0; k < g->n_views; k++)
                out->coefficients[j][k][a] = from->coefficients[a * g->n_views + k];
        }
    }
}
