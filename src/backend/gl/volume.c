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
    struct gl_part from, to;
};

/* As `Scale` in scale.glsl. */
struct scale {
    unsigned n, from, spare[2];
    float scale, shift, spare2[2];
};

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

/* Through scratch, as much at once as that and a storage block hold. */
static fbp_status run_fetch_scaled(void *device, void *command)
{
    struct gl_device *dev = device;
    struct fetching *f = command;
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / 4 * 4;
    const size_t most = dev->tables.slice_bytes < block ? dev->tables.slice_bytes : block;

    for (size_t left = f->from.bytes, bytes; left > 0; left -= bytes) {
        bytes = left < most ? left : most;
        FBP_TRY(scale_piece(dev, &f->from, bytes));
        const struct gl_part scaled = {
            .buffer = &dev->memory, .at = dev->tables.slices, .bytes = bytes};
        FBP_TRY(gl_copy(dev, &scaled, &f->to));
        f->from.at += bytes;
        f->to.at += bytes;
        f->to.host = (char *)f->to.host + bytes;
    }
    return FBP_OK;
}

static fbp_status run_fetch(void *device, void *command)
{
    const struct fetching *f = command;

    return gl_copy(device, &f->from, &f->to);
}

fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, float *host)
{
    struct gl_device *dev = gl_of(device);
    const size_t slice = fbp_slab_slice(slab) * sizeof(float), bytes = (z1 - z0) * slice;
    struct fetching f = {gl_part_at(dev, volume, slab->nz * slice), gl_part_at(dev, host, bytes)};

    f.from.at += (z0 - slab->z0) * slice;
    f.from.bytes = bytes;
    return gl_queue_submit(dev->queue, FBP_STAGE_OUT,
                           dev->tables.slice_bytes > 0 ? run_fetch_scaled : run_fetch, &f,
                           sizeof f);
}
