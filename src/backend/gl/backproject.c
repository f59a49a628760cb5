/* A batch of filtered views into the slices of a slab, pass after pass, piece after piece. */
#include "backend/gl/gl.h"

#include "backend/gpu/gpu_plain.h"

#include <math.h>

/* As GL_SHAPE_0 … in program.h. */
static const struct shape {
    int x, y, slices;
} shapes[GL_SHAPES] = {{8, 8, 4}, {16, 8, 8}, {32, 8, 4}, {32, 8, 16}};

/* As `View` and `Pass` in frame.glsl. */
struct view {
    float u[4], v[4], w[4];
    int at[4];
};

struct pass {
    int nx, ny, nz, z0;
    int y0, y1, n, stride;
    int columns, rows;
    unsigned group, views_skip;
    unsigned volume_skip;
    int first;
    float texels, inverse;
    float x_ref, y_ref, z_ref, spare;
    float unit[2];
    int region, cells, cell_x0, cell_y0, spare2[2];
    struct view view[GPU_PASS];
};

/* Voxels of one command: slices [z0, z1) of the grid, lines [y0, y1) of each. */
struct piece {
    int z0, z1, y0, y1;
};

static void describe_views(struct pass *p, const struct gpu_pass *of)
{
    p->n = of->n;
    for (int i = 0; i < of->n; i++) {
        const struct gpu_view *v = &of->view[i];
        for (int k = 0; k < 4; k++) {
            p->view[i].u[k] = v->u[k];
            p->view[i].v[k] = v->v[k];
            p->view[i].w[k] = v->w[k];
        }
        p->view[i].at[0] = v->column;
        p->view[i].at[1] = v->row;
    }
}

static struct pass pass_of(const struct gl_device *dev, const struct gl_bp *bp)
{
    const struct gpu_plain plain = gpu_plain_of(dev->job, bp->batch->n_rows), *in = &plain;
    const struct gl_texture *t = &bp->views.buffer->shape;
    const struct gpu_grid *g = &bp->grid;
    const bool texture = bp->views.buffer->texture != 0;

    return (struct pass){
        .nx = g->nx,
        .ny = g->ny,
        .stride = (int)in->stride,
        .columns = in->columns,
        .rows = in->rows,
        .group = (unsigned)in->group,
        .texels = texture ? (float)t->texels : 1,
        .inverse = 1 / dev->half_scale,
        .unit = {texture ? 1 / (float)t->width : 0, texture ? 1 / (float)t->height : 0},
        .region = dev->job->region != NULL,
        .cells = g->cells,
        .cell_x0 = g->x0,
        .cell_y0 = g->y0,
        .x_ref = g->x_ref,
        .y_ref = g->y_ref,
        .z_ref = g->z_ref};
}

/* The next voxels from p->z0 and p->y0 on: whole slices if so many are allowed, else lines of some.
 */
static void take_piece(const struct gpu_grid *g, const struct shape *shape, double most,
                       size_t block, struct piece *p)
{
    const double slice = (double)g->nx * g->ny;
    const int left = g->nz - p->z0, some = left < shape->slices ? left : shape->slices;
    const bool fits = slice * some * sizeof(float) <= (double)block;
    const double room =
        most < (double)(block / sizeof(float)) ? most : (double)(block / sizeof(float));

    p->y1 = g->ny;
    if (p->y0 == 0 && room >= slice * some) {
        const double n = floor(room / slice / shape->slices) * shape->slices;
        p->z1 = n < left ? p->z0 + (int)n : g->nz;
        p->z1 = p->z1 > p->z0 ? p->z1 : p->z0 + some;
        return;
    }
    p->z1 = p->z0 + (fits ? some : 1);
    const double lines = (fits ? most / some : room) / g->nx;
    const int n = lines > shape->y ? (int)(lines / shape->y) * shape->y
                  : lines > 1      ? (int)lines
                                   : 1;
    p->y1 = n < g->ny - p->y0 ? p->y0 + n : g->ny;
}

static void advance(const struct gpu_grid *g, struct piece *p)
{
    const bool over = p->y1 == g->ny;

    p->y0 = over ? 0 : p->y1;
    p->z0 = over ? p->z1 : p->z0;
}

static unsigned parts(int n, int of)
{
    return (unsigned)((n + of - 1) / of);
}

static fbp_status run_piece(struct gl_device *dev, const struct gl_bp *bp, struct pass *pass,
                            const struct gl_call *bound, const struct piece *p)
{
    const struct shape *shape = &shapes[bound->program - dev->kernel->program];
    const struct gpu_grid *g = &bp->grid;
    const size_t line = (size_t)g->nx * sizeof(float), slice = line * (size_t)g->ny;
    const size_t first = (size_t)p->z0 * slice + (size_t)p->y0 * line;
    const size_t end = (size_t)(p->z1 - 1) * slice + (size_t)p->y1 * line;
    struct gl_call c = *bound;
    size_t skip;

    FBP_TRY(gl_bind(&dev->programs, &c, 1, bp->volume.buffer, bp->volume.at + first, end - first,
                    &skip));
    pass->volume_skip = (unsigned)(skip / sizeof(float));
    pass->nz = p->z1 - p->z0;
    pass->z0 = g->z0 + p->z0;
    pass->y0 = p->y0;
    pass->y1 = p->y1;
    c.groups[0] = parts(g->nx, shape->x);
    c.groups[1] = parts(p->y1 - p->y0, shape->y);
    c.groups[2] = parts(pass->nz, shape->slices);
    gl_pace_begin(&dev->pace);
    FBP_TRY(gl_run(&dev->programs, &c));
    gl_pace_end(&dev->pace, (double)(p->y1 - p->y0) * g->nx * pass->nz * pass->n);
    return FBP_OK;
}

/* The views of a pass, from view k of the batch on. */
static fbp_status bind_views(struct gl_device *dev, const struct gl_bp *bp, struct pass *pass,
                             size_t k, struct gl_call *c)
{
    const size_t group = (size_t)pass->group * sizeof(float);
    size_t skip;

    if (dev->job->region)
        FBP_TRY(gl_bind(&dev->programs, c, 2, &dev->memory, dev->tables.wanted,
                        gpu_cells(dev->job->grid.n[0]) * gpu_cells(dev->job->grid.n[1]) *
                            sizeof(struct gpu_wanted),
                        &skip));
    if (bp->views.buffer->texture) {
        c->texture = bp->views.buffer->texture;
        c->sampler = dev->sampler;
        pass->first = (int)(bp->batch->place + k);
        return FBP_OK;
    }
    FBP_TRY(gl_bind(&dev->programs, c, 0, bp->views.buffer, bp->views.at + k * group,
                    (size_t)pass->n * group, &skip));
    pass->views_skip = (unsigned)(skip / sizeof(float));
    return FBP_OK;
}

/* Views [k, k + n) of the batch. */
static fbp_status run_pass(struct gl_device *dev, const struct gl_bp *bp, struct pass *pass,
                           size_t k, size_t n)
{
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment);
    struct gpu_pass views;
    struct piece p = {.z0 = 0};

    gpu_make_pass(dev->job, dev->principal, bp->batch->view0 + k, n, bp->batch->row0, &views);
    describe_views(pass, &views);
    const int shape = gpu_tuner_begin(&dev->tuner, pass->n, &bp->grid);
    struct gl_call c = {.program = (enum gl_program_id)((int)dev->kernel->program + shape),
                        .parameters = pass,
                        .parameter_bytes = sizeof *pass};
    FBP_TRY(bind_views(dev, bp, pass, k, &c));
    for (; p.z0 < bp->grid.nz; advance(&bp->grid, &p)) {
        take_piece(&bp->grid, &shapes[shape], gl_pace_most(&dev->pace) / (double)n, block, &p);
        FBP_TRY(run_piece(dev, bp, pass, &c, &p));
    }
    gpu_tuner_end(&dev->tuner, pass->n, &bp->grid);
    return FBP_OK;
}

/* Views that one pass takes: as many as a storage block holds, where they lie in one. */
static size_t most_views(const struct gl_device *dev, const struct gl_bp *bp)
{
    const size_t view = gpu_plain_of(dev->job, bp->batch->n_rows).group * sizeof(float);
    const size_t fit = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / view;

    if (bp->views.buffer->texture || fit > GPU_PASS)
        return GPU_PASS;
    return fit < 1 ? 1 : fit;
}

fbp_status gl_add_batch(struct gl_device *dev, const struct gl_bp *bp)
{
    if (dev->drawing)
        return gl_s3_kernel_add(dev->drawing, dev->principal, bp);
    const size_t n = bp->batch->n_views, most = most_views(dev, bp);
    struct pass pass = pass_of(dev, bp);

    for (size_t k = 0; k < n; k += most)
        FBP_TRY(run_pass(dev, bp, &pass, k, n - k < most ? n - k : most));
    return FBP_OK;
}
