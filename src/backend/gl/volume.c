/* Filtered views into a slab, and the slab to the host. */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"
#include "backend/slab.h"

#include <epoxy/gl.h>

#include <string.h>

static size_t volume_bytes(const struct gl_device *dev, const struct fbp_slab *slab, size_t nz)
{
    struct fbp_slab some = *slab;

    some.nz = nz;
    return gpu_volume_size(&dev->kernel->gpu, dev->job, &some) * sizeof(float);
}

static fbp_status run_clear(void *device, void *command)
{
    const struct gl_part *p = command;

    (void)device;
    glBindBuffer(GL_COPY_WRITE_BUFFER, p->buffer->name);
    glClearBufferSubData(GL_COPY_WRITE_BUFFER, GL_R32F, (GLintptr)p->at, (GLsizeiptr)p->bytes,
                         GL_RED, GL_FLOAT, NULL);
    return gl_check("zeros");
}

fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    struct gl_device *dev = gl_of(device);
    const struct gl_part all = gl_part_at(dev, volume, volume_bytes(dev, slab, slab->nz));

    return gl_queue_submit(dev->queue, FBP_STAGE_BP, run_clear, &all, sizeof all);
}

/* A command: what the slot was called with. */
struct backprojecting {
    struct fbp_batch batch;
    struct fbp_slab slab;
    struct gl_bp bp;
};

static fbp_status run_backproject(void *device, void *command)
{
    struct gl_device *dev = device;
    struct backprojecting *b = command;

    b->bp.batch = &b->batch;
    b->bp.slab = &b->slab;
    return gl_add_batch(dev, &b->bp);
}

fbp_status gl_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                          const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    struct gl_device *dev = gl_of(device);
    struct backprojecting b = {.batch = *batch, .slab = *slab};

    if (batch->n_rows == 0)
        return FBP_OK;
    b.bp.grid = gpu_grid_of(dev->job, slab, z0, z1);
    b.bp.views = gl_part_at(dev, filtered, 1);
    b.bp.views.at += gl_views_before(dev->job, batch->place, batch->n_rows);
    b.bp.volume = gl_part_at(dev, volume, volume_bytes(dev, slab, slab->nz));
    b.bp.volume.at += volume_bytes(dev, slab, z0 - slab->z0);
    b.bp.volume.bytes = volume_bytes(dev, slab, z1 - z0);
    return gl_queue_submit(dev->queue, FBP_STAGE_BP, run_backproject, &b, sizeof b);
}

/* A command: voxels to the host, scaled and shifted on their way. */
struct fetching {
    struct gl_part from, to; /* from: of orbits the whole slab */
    struct fbp_slab slab;
    size_t z0, z1;
};

/* As `Scale` in scale.glsl. */
struct scale {
    unsigned n, from, spare[2];
    float scale, shift, spare2[2];
};

/* As `Voxels` in found.glsl. */
struct voxels {
    unsigned n, from, spare[2];
};

/* What there is among voxels. */
static fbp_status look_at(struct gl_device *dev, const struct gl_part *p)
{
    struct voxels v = {.n = (unsigned)(p->bytes / sizeof(float))};
    struct gl_call c = {.program = GL_P_FOUND, .parameters = &v, .parameter_bytes = sizeof v};
    size_t skip;

    FBP_TRY(gl_bind(&dev->programs, &c, 0, p->buffer, p->at, p->bytes, &skip));
    v.from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, &dev->memory, dev->tables.found,
                    GPU_FOUND * sizeof(struct gpu_found), &skip));
    gl_groups(&c, GPU_FOUND);
    return gl_run(&dev->programs, &c);
}

static fbp_status scale_piece(struct gl_device *dev, const struct gl_part *from, size_t bytes)
{
    struct scale s = {.n = (unsigned)(bytes / sizeof(float)),
                      .scale = (float)dev->job->scale,
                      .shift = (float)dev->job->shift};
    struct gl_call c = {.program = GL_P_SCALE, .parameters = &s, .parameter_bytes = sizeof s};
    const size_t threads = 64, most = 4096, wanted = (s.n + threads - 1) / threads;
    size_t skip;

    FBP_TRY(gl_bind(&dev->programs, &c, 0, from->buffer, from->at, bytes, &skip));
    s.from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, &dev->memory, dev->tables.slices, bytes, &skip));
    gl_groups(&c, wanted < most ? wanted : most);
    return gl_run(&dev->programs, &c);
}

/* A piece as it is, or through scratch. */
static fbp_status fetch_piece(struct gl_device *dev, const struct fetching *f, size_t bytes)
{
    struct gl_part piece = f->from;

    piece.bytes = bytes;
    if (dev->tables.slice_bytes > 0) {
        FBP_TRY(scale_piece(dev, &piece, bytes));
        piece = (struct gl_part){.buffer = &dev->memory, .at = dev->tables.slices, .bytes = bytes};
    }
    FBP_TRY(look_at(dev, &piece));
    return gl_copy(dev, &piece, &f->to);
}

/* As much at once as scratch and a storage block hold. */
static fbp_status run_fetch(void *device, void *command)
{
    struct gl_device *dev = device;
    struct fetching *f = command;
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / 4 * 4;
    const size_t scratch = dev->tables.slice_bytes;
    const size_t most = scratch > 0 && scratch < block ? scratch : block;

    for (size_t left = f->from.bytes, bytes; left > 0; left -= bytes) {
        bytes = left < most ? left : most;
        FBP_TRY(fetch_piece(dev, f, bytes));
        f->from.at += bytes;
        f->to.at += bytes;
        f->to.host = (char *)f->to.host + bytes;
    }
    return FBP_OK;
}

/* As `Unpack` in unpack.glsl. */
struct unpack {
    unsigned n, from, lanes, lane;
    int nx, ny, turns, spare;
    int x0, y0, dnx, dny;
    int layer, layer_step;
    float turn_s, scale, shift, spare2[3];
};

static struct unpack unpack_of(const struct gl_device *dev, const struct fbp_slab *slab)
{
    const struct fbp_job *job = dev->job;
    struct gpu_domain d;

    gpu_find_domain(job, slab, &d);
    return (struct unpack){.lanes = (unsigned)(job->turns * fbp_halves(job)),
                           .nx = (int)slab->nx,
                           .ny = (int)slab->ny,
                           .turns = (int)job->turns,
                           .x0 = d.x0,
                           .y0 = d.y0,
                           .dnx = d.nx,
                           .dny = d.ny,
                           .turn_s = d.s,
                           .scale = (float)job->scale,
                           .shift = (float)job->shift};
}

/* Slices [z0, z1) of one half, into scratch. */
static fbp_status unpack_slices(struct gl_device *dev, const struct fetching *f, size_t z0,
                                size_t z1)
{
    const size_t middle = fbp_layer_slice(dev->job, 0), last = dev->job->grid.n[2] - 1;
    const bool lower = z0 < middle;
    const size_t l0 = (lower ? last - (z1 - 1) - middle : z0 - middle) - f->slab.z0, n = z1 - z0;
    const size_t layer = volume_bytes(dev, &f->slab, 1), bytes = n * fbp_slab_slice(&f->slab) * 4;
    struct unpack u = unpack_of(dev, &f->slab);
    struct gl_call c = {.program = GL_P_UNPACK, .parameters = &u, .parameter_bytes = sizeof u};
    const size_t threads = 64, most = 4096, wanted = (bytes / 4 + threads - 1) / threads;
    size_t skip;

    u.n = (unsigned)(bytes / 4);
    u.lane = lower ? (unsigned)dev->job->turns : 0;
    u.layer = lower ? (int)n - 1 : 0;
    u.layer_step = lower ? -1 : 1;
    FBP_TRY(
        gl_bind(&dev->programs, &c, 0, f->from.buffer, f->from.at + l0 * layer, n * layer, &skip));
    u.from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, &dev->memory, dev->tables.slices, bytes, &skip));
    gl_groups(&c, wanted < most ? wanted : most);
    return gl_run(&dev->programs, &c);
}

/* Slices of a volume of orbits, as many at once as scratch and a storage block hold. */
static fbp_status run_fetch_orbits(void *device, void *command)
{
    struct gl_device *dev = device;
    struct fetching *f = command;
    const size_t slice = fbp_slab_slice(&f->slab) * sizeof(float);
    const size_t layer = volume_bytes(dev, &f->slab, 1);
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment);
    const size_t fit = block / (layer > slice ? layer : slice);
    const size_t scratch = dev->tables.slice_bytes / slice, most = fit < scratch ? fit : scratch;
    const size_t step = most > 0 ? most : 1;

    for (size_t z0 = f->z0, z1; z0 < f->z1; z0 = z1) {
        z1 = z0 + step < f->z1 ? z0 + step : f->z1;
        const struct gl_part piece = {
            .buffer = &dev->memory, .at = dev->tables.slices, .bytes = (z1 - z0) * slice};
        FBP_TRY(unpack_slices(dev, f, z0, z1));
        FBP_TRY(look_at(dev, &piece));
        FBP_TRY(gl_copy(dev, &piece, &f->to));
        f->to.at += piece.bytes;
        f->to.host = (char *)f->to.host + piece.bytes;
    }
    return FBP_OK;
}

fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, float *host)
{
    struct gl_device *dev = gl_of(device);
    const bool orbits = dev->kernel->gpu.volume_size != NULL;
    const size_t slice = fbp_slab_slice(slab) * sizeof(float), bytes = (z1 - z0) * slice;
    struct fetching f = {gl_part_at(dev, volume, volume_bytes(dev, slab, slab->nz)),
                         gl_part_at(dev, host, bytes), *slab, z0, z1};

    if (!orbits) {
        f.from.at += (z0 - slab->z0) * slice;
        f.from.bytes = bytes;
    }
    return gl_queue_submit(dev->queue, FBP_STAGE_OUT, orbits ? run_fetch_orbits : run_fetch, &f,
                           sizeof f);
}

static fbp_status run_statistics(void *device, void *command)
{
    struct gl_device *dev = device;
    struct fbp_statistics *const *out = command;
    struct gpu_found found[GPU_FOUND];
    const struct gl_part part = {
        .buffer = &dev->memory, .at = dev->tables.found, .bytes = sizeof found};

    FBP_TRY(gl_read(dev, &part, found));
    gpu_found_take(found, *out);
    return gl_write(dev, &part, found);
}

fbp_status gl_statistics(fbp_device *device, struct fbp_statistics *out)
{
    return gl_queue_call(gl_of(device)->queue, run_statistics, &out,
                         sizeof(struct fbp_statistics *));
}
