/* Filtered views into a slab, and the slab to the host. */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"
#include "backend/gpu/gpu_bytes.h"
#include "backend/slab.h"

#include <epoxy/gl.h>

#include <string.h>

/* Of nz slices of one frame. */
static size_t volume_bytes(const struct gl_device *dev, const struct fbp_slab *slab, size_t nz)
{
    struct fbp_slab some = *slab;

    some.nz = nz;
    return gpu_volume_size(&dev->kernel->gpu, dev->job, &some) * sizeof(float);
}

/* As `Zero` in zero.glsl, and `Voxels` in found.glsl. */
struct voxels {
    unsigned n, from, spare[2];
};

/* Bytes of voxels that a command takes at once. */
static size_t block_of(const struct gl_device *dev)
{
    return (size_t)(dev->programs.block_bytes - dev->programs.alignment) / 4 * 4;
}

/* Groups of 64 threads for n voxels: each thread takes some, if there are many. */
static void cover(struct gl_call *c, size_t n)
{
    const size_t threads = 64, most = 4096, wanted = (n + threads - 1) / threads;

    gl_groups(c, wanted < most ? wanted : most);
}

static fbp_status clear_piece(struct gl_device *dev, const struct gl_part *p, size_t bytes)
{
    struct voxels v = {.n = (unsigned)(bytes / sizeof(float))};
    struct gl_call c = {.program = GL_P_ZERO, .parameters = &v, .parameter_bytes = sizeof v};
    size_t skip;

    FBP_TRY(gl_bind(&dev->programs, &c, 0, p->buffer, p->at, bytes, &skip));
    v.from = (unsigned)(skip / sizeof(float));
    cover(&c, v.n);
    return gl_run(&dev->programs, &c);
}

static fbp_status run_clear(void *device, void *command)
{
    struct gl_device *dev = device;
    struct gl_part p = *(const struct gl_part *)command;
    const size_t most = block_of(dev);

    for (size_t left = p.bytes, bytes; left > 0; left -= bytes, p.at += bytes) {
        bytes = left < most ? left : most;
        FBP_TRY(clear_piece(dev, &p, bytes));
    }
    return FBP_OK;
}

fbp_status gl_clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    struct gl_device *dev = gl_of(device);
    const struct gl_part all = gl_part_at(dev, volume, gpu_volume_bytes(dev->job, slab));

    return gl_queue_submit(dev->queue, GL_ORDER_BP, run_clear, &all, sizeof all);
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
    b.bp.volume = gl_part_at(dev, volume, gpu_volume_bytes(dev->job, slab));
    b.bp.frame = volume_bytes(dev, slab, slab->nz);
    b.bp.volume.at += volume_bytes(dev, slab, z0 - slab->z0);
    b.bp.volume.bytes = volume_bytes(dev, slab, z1 - z0);
    return gl_queue_submit(dev->queue, GL_ORDER_BP, run_backproject, &b, sizeof b);
}

/* A command: what is computed before slices [z0, z1) are copied to the host. */
struct unpacking {
    struct gl_part from, to; /* the slab, of orbits, or those slices; scratch */
    struct fbp_slab slab;
    size_t z0, z1;
};

/* As `Scale` in scale.glsl. */
struct scale {
    unsigned n, from, to, spare;
    float scale, shift, spare2[2];
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

static fbp_status scale_some(struct gl_device *dev, const struct gl_part *from,
                             const struct gl_part *to)
{
    struct scale s = {.n = (unsigned)(from->bytes / sizeof(float)),
                      .scale = (float)dev->job->scale,
                      .shift = (float)dev->job->shift};
    struct gl_call c = {.program = GL_P_SCALE, .parameters = &s, .parameter_bytes = sizeof s};
    size_t skip;

    FBP_TRY(gl_bind(&dev->programs, &c, 0, from->buffer, from->at, from->bytes, &skip));
    s.from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, to->buffer, to->at, from->bytes, &skip));
    s.to = (unsigned)(skip / sizeof(float));
    cover(&c, s.n);
    return gl_run(&dev->programs, &c);
}

/* The volume's slices as they are. */
static fbp_status run_look(void *device, void *command)
{
    struct gl_device *dev = device;
    const struct gl_part *all = command;
    const size_t most = block_of(dev);
    struct gl_part some = *all;

    for (size_t done = 0; done < all->bytes; done += some.bytes) {
        some.at = all->at + done;
        some.bytes = all->bytes - done < most ? all->bytes - done : most;
        FBP_TRY(look_at(dev, &some));
    }
    return FBP_OK;
}

/* ... scaled and shifted into scratch: as much at once as a storage block holds. */
static fbp_status run_scale(void *device, void *command)
{
    struct gl_device *dev = device;
    const struct unpacking *u = command;
    const size_t most = block_of(dev);
    struct gl_part from = u->from, to = u->to;

    for (size_t done = 0; done < u->from.bytes; done += from.bytes) {
        from.at = u->from.at + done;
        to.at = u->to.at + done;
        from.bytes = to.bytes = u->from.bytes - done < most ? u->from.bytes - done : most;
        FBP_TRY(scale_some(dev, &from, &to));
        FBP_TRY(look_at(dev, &to));
    }
    return FBP_OK;
}

/* As `Unpack` in unpack.glsl. */
struct unpack {
    unsigned n, from, to, turns;
    int nx, ny, x0, y0, dnx, dny;
    float turn_s, scale, shift, spare[3];
};

static struct unpack unpack_of(const struct gl_device *dev, const struct fbp_slab *slab)
{
    const struct fbp_job *job = dev->job;
    struct gpu_domain d;

    gpu_find_domain(job, slab, &d);
    return (struct unpack){.turns = (unsigned)job->turns,
                           .nx = (int)slab->nx,
                           .ny = (int)slab->ny,
                           .x0 = d.x0,
                           .y0 = d.y0,
                           .dnx = d.nx,
                           .dny = d.ny,
                           .turn_s = d.s,
                           .scale = (float)job->scale,
                           .shift = (float)job->shift};
}

/* Slices [z0, z1) to a place in scratch. */
static fbp_status unpack_slices(struct gl_device *dev, const struct unpacking *f, size_t z0,
                                size_t z1, const struct gl_part *to)
{
    const size_t slice = volume_bytes(dev, &f->slab, 1);
    struct unpack u = unpack_of(dev, &f->slab);
    struct gl_call c = {.program = GL_P_UNPACK, .parameters = &u, .parameter_bytes = sizeof u};
    size_t skip;

    u.n = (unsigned)(to->bytes / 4);
    FBP_TRY(gl_bind(&dev->programs, &c, 0, f->from.buffer, f->from.at + (z0 - f->slab.z0) * slice,
                    (z1 - z0) * slice, &skip));
    u.from = (unsigned)(skip / sizeof(float));
    FBP_TRY(gl_bind(&dev->programs, &c, 1, to->buffer, to->at, to->bytes, &skip));
    u.to = (unsigned)(skip / sizeof(float));
    cover(&c, u.n);
    return gl_run(&dev->programs, &c);
}

/* Slices of a volume of orbits, as many at once as a storage block holds. */
static fbp_status run_unpack(void *device, void *command)
{
    struct gl_device *dev = device;
    const struct unpacking *u = command;
    const size_t slice = fbp_slab_slice(&u->slab) * sizeof(float);
    const size_t orbits = volume_bytes(dev, &u->slab, 1);
    const size_t fit = block_of(dev) / (orbits > slice ? orbits : slice), step = fit > 0 ? fit : 1;
    struct gl_part to = u->to;

    for (size_t z0 = u->z0, z1; z0 < u->z1; z0 = z1) {
        z1 = z0 + step < u->z1 ? z0 + step : u->z1;
        to.bytes = (z1 - z0) * slice;
        FBP_TRY(unpack_slices(dev, u, z0, z1, &to));
        FBP_TRY(look_at(dev, &to));
        to.at += to.bytes;
    }
    return FBP_OK;
}

/* The volume's slices as they are: looked at and copied side by side. */
static fbp_status fetch_plain(struct gl_device *dev, const struct gl_part *voxels, void *host)
{
    struct gl_point looked;

    FBP_TRY(gl_queue_submit(dev->queue, GL_ORDER_UNPACK, run_look, voxels, sizeof *voxels));
    FBP_TRY(gl_copy_out(dev, voxels, host));
    FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_UNPACK, &looked));
    gl_queue_after(dev->queue, GL_ORDER_OUT, looked); /* what is marked next */
    return FBP_OK;
}

/* Through one of the places in scratch, which was copied when it is filled again. */
static fbp_status fetch_piece(struct gl_device *dev, struct unpacking *u, size_t bytes, void *host)
{
    const unsigned at = dev->next_piece++ % GPU_STAGES;
    const bool orbits = dev->kernel->gpu.volume_size != NULL;
    struct gl_point unpacked;

    u->to = (struct gl_part){.buffer = &dev->memory,
                             .at = dev->tables.slices + at * dev->tables.slice_bytes,
                             .bytes = bytes};
    gl_queue_after(dev->queue, GL_ORDER_UNPACK, dev->copied[at]);
    FBP_TRY(gl_queue_submit(dev->queue, GL_ORDER_UNPACK, orbits ? run_unpack : run_scale, u,
                            sizeof *u));
    FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_UNPACK, &unpacked));
    gl_queue_after(dev->queue, GL_ORDER_OUT, unpacked);
    FBP_TRY(gl_copy_out(dev, &u->to, host));
    return gl_queue_point(dev->queue, GL_ORDER_OUT, &dev->copied[at]);
}

/* Slices [u->z0, z1) of one frame of a slab. */
static fbp_status fetch_frame(struct gl_device *dev, struct unpacking *u, size_t z1, char *host)
{
    const bool orbits = dev->kernel->gpu.volume_size != NULL;
    const size_t slice = fbp_slab_slice(&u->slab) * sizeof(float), z0 = u->z0;
    const size_t step = dev->tables.slice_bytes / slice;

    if (!orbits) {
        u->from.at += (z0 - u->slab.z0) * slice;
        u->from.bytes = (z1 - z0) * slice;
    }
    if (step == 0)
        return fetch_plain(dev, &u->from, host);
    for (; u->z0 < z1; u->z0 = u->z1) {
        u->z1 = u->z0 + step < z1 ? u->z0 + step : z1;
        const size_t bytes = (u->z1 - u->z0) * slice;
        if (!orbits)
            u->from.bytes = bytes;
        FBP_TRY(fetch_piece(dev, u, bytes, host + (u->z0 - z0) * slice));
        u->from.at += orbits ? 0 : bytes;
    }
    return FBP_OK;
}

fbp_status gl_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                    const void *volume, void *host)
{
    struct gl_device *dev = gl_of(device);
    const size_t frame = volume_bytes(dev, slab, slab->nz), n = (z1 - z0) * fbp_slab_slice(slab);
    const struct gl_part all = gl_part_at(dev, volume, gpu_volume_bytes(dev->job, slab));

    for (size_t i = 0; i < fbp_frames(dev->job); i++) {
        struct unpacking u = {.from = all, .slab = *slab, .z0 = z0};
        u.from.at += i * frame;
        u.from.bytes = frame;
        FBP_TRY(fetch_frame(dev, &u, z1, (char *)host + i * n * sizeof(float)));
    }
    return FBP_OK;
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
