/* Any 3x4 matrix, in fp32: the kernel `matrix`, exact. */
#include "backend/gl/gl.h"

#include "backend/gpu/gpu_plain.h"

enum { TILE = 8, SLICES = 4 }; /* of matrix.glsl */

/* As `View` and `Pass` there. */
struct view {
    float u[4], v[4], w[4];
    int at[4];
};

struct pass {
    int nx, ny, nz, z0;
    int y0, y1, n, stride;
    int columns, rows;
    unsigned group, views_skip;
    unsigned volume_skip, spare[3];
    float x_ref, y_ref, z_ref, spare2;
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

static struct pass pass_of(const struct gl_bp *bp, const struct gpu_plain *in)
{
    const struct gpu_grid *g = &bp->grid;

    return (struct pass){.nx = g->nx,
                         .ny = g->ny,
                         .stride = (int)in->stride,
                         .columns = in->columns,
                         .rows = in->rows,
                         .group = (unsigned)in->group,
                         .x_ref = g->x_ref,
                         .y_ref = g->y_ref,
                         .z_ref = g->z_ref};
}

/* The next voxels from p->z0 and p->y0 on: whole slices if so many are allowed, else lines of some.
 */
static void take_piece(const struct gpu_grid *g, double most, size_t block, struct piece *p)
{
    const double slice = (double)g->nx * g->ny;
    const int left = g->nz - p->z0, some = left < SLICES ? left : SLICES;
    const bool fits = slice * some * sizeof(float) <= (double)block;
    const double room =
        most < (double)(block / sizeof(float)) ? most : (double)(block / sizeof(float));

    p->y1 = g->ny;
    if (p->y0 == 0 && room >= slice * some) {
        const double n = room / slice / SLICES;
        p->z1 = n * SLICES < left ? p->z0 + (int)n * SLICES : g->nz;
        p->z1 = p->z1 > p->z0 ? p->z1 : p->z0 + some;
        return;
    }
    p->z1 = p->z0 + (fits ? some : 1);
    const double lines = (fits ? most / some : room) / g->nx;
    const int n = lines > TILE ? (int)(lines / TILE) * TILE : lines > 1 ? (int)lines : 1;
    p->y1 = n < g->ny - p->y0 ? p->y0 + n : g->ny;
}

static void advance(const struct gpu_grid *g, struct piece *p)
{
    const bool over = p->y1 == g->ny;

    p->y0 = over ? 0 : p->y1;
    p->z0 = over ? p->z1 : p->z0;
}

static fbp_status run_piece(struct gl_device *dev, const struct gl_bp *bp, struct pass *pass,
                            const struct gl_call *bound, const struct piece *p)
{
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
    c.groups[0] = ((unsigned)g->nx + TILE - 1) / TILE;
    c.groups[1] = ((unsigned)(p->y1 - p->y0) + TILE - 1) / TILE;
    c.groups[2] = ((unsigned)pass->nz + SLICES - 1) / SLICES;
    gl_pace_begin(&dev->pace);
    FBP_TRY(gl_run(&dev->programs, &c));
    gl_pace_end(&dev->pace, (double)(p->y1 - p->y0) * g->nx * pass->nz * pass->n);
    return FBP_OK;
}

/* Views [k, k + n) of the batch. */
static fbp_status run_pass(struct gl_device *dev, const struct gl_bp *bp, struct pass *pass,
                           size_t k, size_t n)
{
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment);
    const size_t group = (size_t)pass->group * sizeof(float);
    struct gl_call c = {
        .program = GL_P_MATRIX, .parameters = pass, .parameter_bytes = sizeof *pass};
    struct piece p = {.z0 = 0};
    struct gpu_pass views;
    size_t skip;

    gpu_make_pass(dev->job, dev->principal, bp->batch->view0 + k, n, bp->batch->row0, &views);
    describe_views(pass, &views);
    FBP_TRY(gl_bind(&dev->programs, &c, 0, bp->views.buffer, bp->views.at + k * group, n * group,
                    &skip));
    pass->views_skip = (unsigned)(skip / sizeof(float));
    for (; p.z0 < bp->grid.nz; advance(&bp->grid, &p)) {
        take_piece(&bp->grid, gl_pace_most(&dev->pace) / (double)n, block, &p);
        FBP_TRY(run_piece(dev, bp, pass, &c, &p));
    }
    return FBP_OK;
}

static fbp_status backproject(struct gl_device *dev, const struct gl_bp *bp)
{
    const struct gpu_plain in = gpu_plain_of(dev->job, bp->batch->n_rows);
    const size_t view = in.group * sizeof(float), n = bp->batch->n_views;
    const size_t fit = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / view;
    const size_t most = fit < 1 ? 1 : fit < GPU_PASS ? fit : GPU_PASS;
    struct pass pass = pass_of(bp, &in);

    for (size_t k = 0; k < n; k += most)
        FBP_TRY(run_pass(dev, bp, &pass, k, n - k < most ? n - k : most));
    return FBP_OK;
}

const struct gl_kernel gl_kernel_matrix_exact = {
    .gpu = {.name = "matrix",
            .precision = FBP_PRECISION_EXACT,
            .turns = 1,
            .views_bytes = gpu_plain_bytes},
    .program = GL_P_MATRIX,
    .backproject = backproject,
};
