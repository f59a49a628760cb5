/* Backprojection of filtered views into a slab by OpenGL (gl_backproject()), copies of finished
 * slices to the host (gl_fetch()), and statistics of voxels. entry.c lists the functions in the
 * backend's table. Functions named run_…() are run by the device's thread (queue.h).
 * Used by: entry.c. */
#include "backend/gl/gl.h"

#include "backend/slab.h"

#include <math.h>
#include <string.h>

/* Parameters of a view, and of a launch (pass): `View` and `Pass` in frame.glsl (std140). */
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
    int region, cells, cell_x0, cell_y0;
    int domain_x0, domain_y0;
    float turn_s, turn_ex, turn_ey;
    int samples, chunk, delay;
    uint64_t texture_handle;
    struct view view[GPU_PASS];
};

/* State of the kernel launches that add a batch of views to one channel of a slab. */
struct state {
    struct gl_device *dev;
    const struct gl_bp *bp;
    const struct gl_shape *shape;
    /* nx, ny: number of stored columns of voxels, or of sets of symmetric voxels, along x and y;
     * lanes: floats per voxel or set; depth: slices per work group */
    int nx, ny, lanes, depth;
    struct pass pass;
};

/* Voxels of one kernel launch: slices [z0, z1) of the slab, lines [y0, y1) of each. */
struct piece {
    int z0, z1, y0, y1;
};

/* Choose the voxels of the next backprojection launch, from slice p->z0 and line p->y0 on: whole
 * slices if the limits allow, otherwise some lines.  most: greatest number of voxels (or sets of
 * symmetric voxels) per launch; block: greatest size of a storage block [bytes]. */
static void take_piece(const struct state *s, double most, size_t block, struct piece *p)
{
    const double slice = (double)s->nx * s->ny;
    const size_t values = block / ((size_t)s->lanes * sizeof(float));
    const double fit = (double)values;
    const int left = s->bp->grid.nz - p->z0, step = s->depth;
    const int some = left < step ? left : step;
    const bool fits = slice * some <= fit;
    const double room = most < fit ? most : fit;

    p->y1 = s->ny;
    if (p->y0 == 0 && room >= slice * some) {
        const double n = floor(room / slice / step) * step;
        p->z1 = n < left ? p->z0 + (int)n : s->bp->grid.nz;
        p->z1 = p->z1 > p->z0 ? p->z1 : p->z0 + some;
        return;
    }
    p->z1 = p->z0 + (fits ? some : 1);
    const double lines = (fits ? most / some : room) / s->nx;
    const int n = lines > s->shape->y ? (int)(lines / s->shape->y) * s->shape->y
                  : lines > 1         ? (int)lines
                                      : 1;
    p->y1 = n < s->ny - p->y0 ? p->y0 + n : s->ny;
}

/* Number of work groups, `of` voxels each, for voxels [first, first + n) along an axis; for plane
 * integrals, they begin at multiples of `of` in the whole volume. */
static unsigned groups_of(const struct state *s, int first, int n, int of)
{
    return (unsigned)(s->dev->kernel->gpu.planes ? (first + n - 1) / of - first / of + 1
                                                 : (n + of - 1) / of);
}

/* Add the views, or groups of symmetric views, with indices [k, k + n) in the batch to the slab,
 * with one kernel launch for each piece of the slab. */
static fbp_status run_pass(struct state *s, size_t k, size_t n)
{
    struct gl_device *dev = s->dev;
    const struct fbp_batch *b = s->bp->batch;
    const struct gl_part *views = &s->bp->views;
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment);
    const struct gl_part *volume = &s->bp->volume;
    const size_t *cells = dev->job->grid.n;
    const size_t line = (size_t)s->nx * (size_t)s->lanes * sizeof(float);
    const size_t slice = line * (size_t)s->ny;
    size_t skip;

    s->pass.n = (int)n;
    if (!dev->kernel->gpu.planes) {
        struct gpu_pass of;
        gpu_make_pass(dev->job, dev->principal, b->view0 + k, n, b->row0, &of);
        s->pass.n = of.n;
        for (int i = 0; i < of.n; i++) {
            struct view *v = &s->pass.view[i];
            for (int c = 0; c < 4; c++) {
                v->u[c] = of.view[i].u[c];
                v->v[c] = of.view[i].v[c];
                v->w[c] = of.view[i].w[c];
            }
            v->at[0] = of.view[i].column;
            v->at[1] = of.view[i].row;
        }
    }
    const int shape =
        gl_shape_within(dev->kernel, gpu_tuner_begin(&dev->tuner, s->pass.n, &s->bp->grid),
                        (size_t)dev->renderer->shared_bytes);
    const enum gl_program_id program = gl_program_of(dev->kernel, dev->job);
    struct gl_call c = {.program = program,
                        .shape = shape,
                        .parameters = &s->pass,
                        .parameter_bytes = sizeof s->pass};
    s->shape = &gl_program_list[program].shapes[shape];
    s->depth = s->shape->layers * s->shape->slices;

    if (dev->kernel->gpu.planes) {
        /* Bind the struct gpu_plane of each view; set samples per window and views per chunk. */
        const int box[3] = {s->shape->x, s->shape->y, s->shape->slices};
        const size_t one = sizeof(struct gpu_plane);
        FBP_TRY(gl_bind(&dev->programs, &c, 3, &dev->memory,
                        dev->tables.planes + (b->view0 + k) * one, (size_t)s->pass.n * one, &skip));
        s->pass.first = (int)(skip / one);
        s->pass.samples = (int)gpu_planes_window(dev->job, box, GL_PLANES_TAPS);
        s->pass.chunk = GL_PLANES_ROOM / s->pass.samples;
        if (s->pass.chunk > GL_PLANES_CHUNK)
            s->pass.chunk = GL_PLANES_CHUNK;
    }
    if (dev->job->requested.region)
        FBP_TRY(gl_bind(&dev->programs, &c, 2, &dev->memory, dev->tables.wanted,
                        gpu_cells(cells[0]) * gpu_cells(cells[1]) * sizeof(struct gpu_wanted),
                        &skip));
    if (views->buffer->texture) {
        c.texture = views->buffer->handle ? 0 : views->buffer->texture;
        c.sampler = dev->sampler;
        s->pass.texture_handle = views->buffer->handle;
        s->pass.first = (int)(b->position + k);
    } else {
        const size_t group = gpu_plain_bytes(dev->job, 1, b->n_rows);
        FBP_TRY(gl_bind(&dev->programs, &c, 0, views->buffer, views->at + k * group,
                        (size_t)s->pass.n * group, &skip));
        s->pass.views_skip = (unsigned)(skip / sizeof(float));
    }

    for (struct piece p = {0}; p.z0 < s->bp->grid.nz;) {
        take_piece(s, gl_pace_most(&dev->pace) / (double)n, block, &p);
        const size_t at = (size_t)p.z0 * slice + (size_t)p.y0 * line;
        const size_t end = (size_t)(p.z1 - 1) * slice + (size_t)p.y1 * line;
        FBP_TRY(gl_bind(&dev->programs, &c, 1, volume->buffer, volume->at + at, end - at, &skip));
        s->pass.volume_skip = (unsigned)(skip / sizeof(float));
        s->pass.nz = p.z1 - p.z0;
        s->pass.z0 = s->bp->grid.z0 + p.z0;
        s->pass.y0 = p.y0;
        s->pass.y1 = p.y1;
        c.groups[0] = groups_of(s, s->pass.cell_x0, s->nx, s->shape->x);
        c.groups[1] = groups_of(s, s->pass.cell_y0 + p.y0, p.y1 - p.y0, s->shape->y);
        c.groups[2] = groups_of(s, s->pass.z0, s->pass.nz, s->depth);
        const double updates = (double)(p.y1 - p.y0) * s->nx * s->pass.nz * s->pass.n;
        gl_pace_begin(&dev->pace, updates);
        c.carries = dev->tuner.active || dev->pace.start > 0 ? 0 : SIZE_MAX; /* 0: it is timed */
        FBP_TRY(gl_run(&dev->programs, &c));
        gl_pace_end(&dev->pace, updates);
        const bool over = p.y1 == s->ny;
        p.y0 = over ? 0 : p.y1;
        p.z0 = over ? p.z1 : p.z0;
    }
    gpu_tuner_end(&dev->tuner, s->pass.n, &s->bp->grid);
    return FBP_OK;
}

/* Returns the bytes of nz slices of one channel of a slab, as the kernel stores them. */
static size_t volume_bytes(const struct gl_device *dev, const struct fbp_slab *slab, size_t nz)
{
    struct fbp_slab some = *slab;

    some.nz = nz;
    return gpu_volume_size(&dev->kernel->gpu, dev->job, &some) * sizeof(float);
}

struct backproject_command {
    struct fbp_batch batch;
    struct fbp_slab slab;
    struct gl_bp bp;
};

/* Add a batch to all channels of the slab; for plane integrals, add row i to channel i. */
static fbp_status run_backproject(void *device, void *command)
{
    struct gl_device *dev = device;
    struct backproject_command *b = command;
    struct gl_bp *bp = &b->bp;

    bp->batch = &b->batch;
    bp->slab = &b->slab;

    /* Views per launch; if views are in plain memory, at most as many as a storage block holds. */
    const size_t view = gpu_plain_bytes(dev->job, 1, b->batch.n_rows);
    const size_t fit = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / view;
    size_t most = dev->kernel->gpu.planes ? GL_PLANES_PASS : GPU_PASS;
    if (!bp->views.buffer->texture && fit <= most)
        most = fit < 1 ? 1 : fit;

    const struct gpu_plain in = gpu_plain_of(dev->job, b->batch.n_rows);
    const struct gl_texture *t = &bp->views.buffer->shape;
    const struct gpu_grid *g = &bp->grid;
    struct pass p = {.nx = g->nx,
                     .ny = g->ny,
                     .stride = (int)in.stride,
                     .columns = in.columns,
                     .rows = in.rows,
                     .group = (unsigned)in.group,
                     .texels = 1,
                     .inverse = 1 / dev->half_scale,
                     .x_ref = g->x_ref,
                     .y_ref = g->y_ref,
                     .z_ref = g->z_ref,
                     .region = dev->job->requested.region != NULL,
                     .cells = g->cells,
                     .cell_x0 = g->x0,
                     .cell_y0 = g->y0};
    if (bp->views.buffer->texture) {
        p.texels = (float)t->texels;
        p.unit[0] = 1 / (float)t->width;
        p.unit[1] = 1 / (float)t->height;
    }
    /* kernels with a volume_size() store sets of symmetric voxels, not single voxels */
    if (dev->kernel->gpu.volume_size) {
        struct gpu_domain d;
        gpu_find_domain(dev->job, bp->slab, &d);
        p.nx = d.nx;
        p.ny = d.ny;
        p.domain_x0 = d.x0;
        p.domain_y0 = d.y0;
        p.turn_s = d.s;
        p.turn_ex = d.ex;
        p.turn_ey = d.ey;
        p.cell_x0 += d.x0;
        p.cell_y0 += d.y0;
    }

    const size_t n = b->batch.n_views / dev->job->selection.symmetric_views;
    for (size_t i = 0; i < fbp_channels(dev->job); i++, bp->volume.at += bp->frame) {
        struct state s = {.dev = dev,
                          .bp = bp,
                          .nx = p.nx,
                          .ny = p.ny,
                          .lanes = (int)dev->job->selection.symmetric_views,
                          .pass = p};
        s.pass.delay = (int)i;
        for (size_t k = 0; k < n; k += most)
            FBP_TRY(run_pass(&s, k, n - k < most ? n - k : most));
    }
    return FBP_OK;
}

fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    struct gl_device *dev = gl_of(device);
    struct backproject_command b = {.batch = *batch, .slab = *slab};

    if (batch->n_rows == 0)
        return FBP_OK;
    b.bp.grid = gpu_grid_of(dev->job, slab, z0, z1);
    b.bp.views = gl_part_at(dev, filtered, 1);
    b.bp.views.at += gl_views_before(dev->job, batch->position, batch->n_rows);
    b.bp.volume = gl_part_at(dev, volume, gpu_volume_bytes(dev->job, slab));
    b.bp.frame = volume_bytes(dev, slab, slab->nz);
    b.bp.volume.at += volume_bytes(dev, slab, z0 - slab->z0);
    b.bp.volume.bytes = volume_bytes(dev, slab, z1 - z0);
    return gl_queue_submit(dev->queue, GL_ORDER_BP, run_backproject, &b, sizeof b);
}

/* Parameters of a program of voxels.glsl: its block `Voxels`, member by member (std140). */
struct voxels {
    unsigned n, from, to, turns;
    int nx, ny, x0, y0, dnx, dny;
    float turn_s, scale, shift, spare[3];
};

/* A command that runs a program of voxels.glsl on n units (voxels, or slices): GL_P_ZERO sets
 * voxels to zero, GL_P_SCALE scales and shifts them, GL_P_UNPACK converts slices of symmetric
 * voxels to [z][y][x], GL_P_FOUND computes statistics of voxels. */
struct voxels_command {
    enum gl_program_id program;
    size_t n, from_bytes, to_bytes; /* units (voxels, slices); bytes per unit of input and output */
    struct gl_part from, to;        /* first unit that is read, and written */
    struct voxels voxels;
};

/* Run a program of voxels.glsl, which reads `from` (unless its buffer is NULL) and writes `to`. */
static fbp_status run_program(struct gl_device *dev, enum gl_program_id program, struct voxels *v,
                              const struct gl_part *from, const struct gl_part *to)
{
    const size_t threads = 64, most = 4096;
    struct gl_call c = {.program = program, .parameters = v, .parameter_bytes = sizeof *v};
    size_t skip = 0;

    v->n = (unsigned)((program == GL_P_FOUND ? from->bytes : to->bytes) / sizeof(float));
    c.carries = program == GL_P_UNPACK || program == GL_P_SCALE ? to->bytes : 0;
    if (from->buffer)
        FBP_TRY(gl_bind(&dev->programs, &c, 0, from->buffer, from->at, from->bytes, &skip));
    v->from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, to->buffer, to->at, to->bytes, &skip));
    v->to = (unsigned)(skip / sizeof(float));
    /* If there are many voxels, each thread processes several of them. */
    const size_t groups = (v->n + threads - 1) / threads;
    gl_groups(&c, program == GL_P_FOUND ? GPU_STATISTICS_BLOCKS : groups < most ? groups : most);
    return gl_run(&dev->programs, &c);
}

/* Run a program of voxels.glsl, per launch for as many units (voxels or slices) as a storage block
 * holds; unless it is GL_P_ZERO, add the voxels to the statistics. */
static fbp_status run_voxels(void *device, void *command)
{
    struct gl_device *dev = device;
    const struct voxels_command *c = command;
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / 4 * 4;
    const size_t largest = c->from_bytes > c->to_bytes ? c->from_bytes : c->to_bytes;
    const size_t fit = block / largest, step = fit > 0 ? fit : 1;
    const struct gl_part found = {.buffer = &dev->memory,
                                  .at = dev->tables.found,
                                  .bytes =
                                      GPU_STATISTICS_BLOCKS * sizeof(struct gpu_block_statistics)};
    struct gl_part from = c->from, to = c->to;

    for (size_t done = 0, n; done < c->n; done += n, from.at += from.bytes, to.at += to.bytes) {
        struct voxels v = c->voxels;
        n = c->n - done < step ? c->n - done : step;
        from.bytes = n * c->from_bytes;
        to.bytes = n * c->to_bytes;
        if (c->program != GL_P_FOUND)
            FBP_TRY(run_program(dev, c->program, &v, &from, &to));
        if (c->program != GL_P_ZERO)
            FBP_TRY(run_program(dev, GL_P_FOUND, &(struct voxels){0},
                                c->program == GL_P_FOUND ? &from : &to, &found));
    }
    return FBP_OK;
}

fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    struct gl_device *dev = gl_of(device);
    const size_t bytes = gpu_volume_bytes(dev->job, slab);
    const struct voxels_command c = {.program = GL_P_ZERO,
                                     .n = bytes / sizeof(float),
                                     .to_bytes = sizeof(float),
                                     .to = gl_part_at(dev, volume, bytes)};

    return gl_queue_submit(dev->queue, GL_ORDER_BP, run_voxels, &c, sizeof c);
}

/* Copy slices [z0, z1) of one channel of a slab to `host`; frame: the channel's memory.  Slices in
 * the layout [z][y][x] that need no scale and shift are copied directly; other slices are first
 * converted in scratch memory, a few at a time. */
static fbp_status fetch_frame(struct gl_device *dev, const struct fbp_slab *slab,
                              const struct gl_part *frame, size_t z0, size_t z1, char *host)
{
    const bool symmetric = dev->kernel->gpu.volume_size != NULL;
    const size_t slice = fbp_slab_slice(slab) * sizeof(float);
    const size_t stored = volume_bytes(dev, slab, 1); /* bytes of a slice of the frame */
    const size_t step = dev->tables.slice_bytes / slice;
    struct voxels_command c = {.program = GL_P_FOUND, .from_bytes = sizeof(float), .from = *frame};
    struct gl_point done;

    c.from.at += (z0 - slab->z0) * stored;
    if (step == 0) {
        /* Copy slices without conversion; another command computes their statistics. */
        c.from.bytes = (z1 - z0) * slice;
        c.n = c.from.bytes / sizeof(float);
        FBP_TRY(gl_queue_submit(dev->queue, GL_ORDER_UNPACK, run_voxels, &c, sizeof c));
        FBP_TRY(gl_copy_out(dev, &c.from, host));
        FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_UNPACK, &done));
        gl_queue_after(dev->queue, GL_ORDER_OUT, done); /* the next event of OUT waits for both */
        return FBP_OK;
    }
    c.program = symmetric ? GL_P_UNPACK : GL_P_SCALE;
    c.from_bytes = symmetric ? stored : sizeof(float);
    c.to_bytes = symmetric ? slice : sizeof(float);
    c.voxels.scale = (float)dev->job->scale;
    c.voxels.shift = (float)dev->job->shift;
    if (symmetric) {
        struct gpu_domain d;
        gpu_find_domain(dev->job, slab, &d);
        c.voxels.turns = (unsigned)dev->job->selection.symmetric_views;
        c.voxels.nx = (int)slab->nx;
        c.voxels.ny = (int)slab->ny;
        c.voxels.x0 = d.x0;
        c.voxels.y0 = d.y0;
        c.voxels.dnx = d.nx;
        c.voxels.dny = d.ny;
        c.voxels.turn_s = d.s;
    }
    for (size_t z = z0, n; z < z1; z += n, c.from.at += n * stored) {
        /* A slice buffer in scratch memory is written again only after the last copy from it. */
        const unsigned at = dev->next_piece++ % GPU_STAGES;
        n = z1 - z < step ? z1 - z : step;
        c.n = n * slice / c.to_bytes;
        c.to = (struct gl_part){.buffer = &dev->memory,
                                .at = dev->tables.slices + at * dev->tables.slice_bytes,
                                .bytes = n * slice};
        gl_queue_after(dev->queue, GL_ORDER_UNPACK, dev->copied[at]);
        FBP_TRY(gl_queue_submit(dev->queue, GL_ORDER_UNPACK, run_voxels, &c, sizeof c));
        FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_UNPACK, &done));
        gl_queue_after(dev->queue, GL_ORDER_OUT, done);
        FBP_TRY(gl_copy_out(dev, &c.to, host + (z - z0) * slice));
        FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_OUT, &dev->copied[at]));
    }
    return FBP_OK;
}

fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host)
{
    struct gl_device *dev = gl_of(device);
    const size_t frame = volume_bytes(dev, slab, slab->nz), n = (z1 - z0) * fbp_slab_slice(slab);
    struct gl_part part = gl_part_at(dev, volume, gpu_volume_bytes(dev->job, slab));

    part.bytes = frame;
    for (size_t i = 0; i < fbp_channels(dev->job); i++, part.at += frame)
        FBP_TRY(fetch_frame(dev, slab, &part, z0, z1, (char *)host + i * n * sizeof(float)));
    return FBP_OK;
}

fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out)
{
    struct gl_device *dev = gl_of(device);
    struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS];

    FBP_TRY(gl_access_memory(dev, dev->tables.found, found, sizeof found, false));
    gpu_statistics_take(found, out);
    return gl_access_memory(dev, dev->tables.found, found, sizeof found, true);
}
