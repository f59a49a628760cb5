/* Entry of the OpenGL module: fbp_gl_module(), which the library calls when it loads the module;
 * the backend's table of functions; opening and closing devices; events. */
#include "backend/gl/gl.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events of the backend: points (queue.h) in the stage's sequence of commands. */

static fbp_status record(fbp_device *device, enum fbp_stage stage, struct fbp_event *out)
{
    struct gl_point point;

    FBP_TRY(gl_queue_point(gl_of(device)->queue, (enum gl_order)stage, &point));
    *out = (struct fbp_event){stage, point.ticket};
    return FBP_OK;
}

static fbp_status stage_wait(fbp_device *device, enum fbp_stage stage, struct fbp_event event)
{
    struct gl_queue *queue = gl_of(device)->queue;
    const struct gl_point point = {(enum gl_order)event.stage, event.ticket};

    gl_queue_after(queue, (enum gl_order)stage, point);
    if (stage == FBP_STAGE_OUT)
        gl_queue_after(queue, GL_ORDER_UNPACK, point);
    return FBP_OK;
}

static fbp_status host_wait(fbp_device *device, struct fbp_event event)
{
    return gl_queue_wait(gl_of(device)->queue,
                         (struct gl_point){(enum gl_order)event.stage, event.ticket});
}

static void describe(int index, struct fbp_device_info *out)
{
    const struct gl_renderer *r = gl_renderer_at(index);

    snprintf(out->reason, sizeof out->reason, "%s", r->reason);
    snprintf(out->driver, sizeof out->driver, "%.63s", r->version);
    const size_t n = (size_t)snprintf(out->text, sizeof out->text, "%.70s%s", r->name,
                                      r->software ? ", software" : "");

    if (!r->reason[0])
        snprintf(out->text + n, sizeof out->text - n,
                 ", OpenGL %d.%d, textures of %d x %d, layers %d, storage blocks of %llu MiB",
                 r->major, r->minor, r->texture_size, r->texture_size, r->layers,
                 (unsigned long long)(r->block_bytes >> 20));
    snprintf(out->bus_id, sizeof out->bus_id, "%s", r->bus_id);
    out->numa_node = r->bus_id[0] ? gpu_host->numa_node(FBP_SYS, r->bus_id) : -1;
    out->memory_bytes = r->memory_bytes;
    out->free_bytes = r->free_bytes;
}

/* [precision]: job->selection.isa, the names of the first renderer and the precision; --resume
 * compares them, because voxel values depend on both. */
static char isas[4][64];

static bool choose(struct fbp_job *job, const char *name)
{
    const struct gpu_kernel *k = gl_kernel_find(job, name);

    if (!k)
        return false;
    gpu_kernel_select(k, isas[k->precision], job);
    return true;
}

static void remark(const struct fbp_job *job, char *line, size_t n)
{
    gpu_remark_precision(job, line, n);
    if (gpu_tuner_is_due(gpu_kernel_of(job), job, 0, &gl_timer))
        gpu_remark_add(line, n,
                       "this run measures the fastest kernel configuration and stores it in "
                       "~/.cache/fbp; FBP_TUNE=0 disables this");
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    return gpu_fixed_bytes(job, &gl_filter_capabilities);
}

/* First function of a device's thread: creates context, tables, sampler, programs. */
static fbp_status begin(void *device)
{
    static const GLfloat zeros[4] = {0, 0, 0, 0};
    struct gl_device *dev = device;

    FBP_TRY(gl_egl_open(&dev->egl, dev->index, &dev->share->egl));
    FBP_TRY(gl_programs_open(&dev->programs, dev->renderer->alignment, dev->renderer->block_bytes));
    gpu_tables_lay_out(dev->job, &gl_filter_capabilities, &dev->tables);
    dev->memory.bytes = dev->tables.bytes;
    FBP_TRY(gl_buffer_make(&dev->memory, false, "tables"));
    dev->window.bytes = GL_WINDOW;
    FBP_TRY(gl_buffer_make(&dev->window, true, "results"));
    glBindBuffer(GL_COPY_WRITE_BUFFER, dev->memory.name);
    glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R32F, GL_RED, GL_FLOAT, NULL);
    FBP_TRY(gl_check("tables"));
    FBP_TRY(gl_filter_open(dev));

    /* Sampler for textures of filtered views: linear interpolation, zeros outside. */
    glGenSamplers(1, &dev->sampler);
    glSamplerParameteri(dev->sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(dev->sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(dev->sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glSamplerParameteri(dev->sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glSamplerParameterfv(dev->sampler, GL_TEXTURE_BORDER_COLOR, zeros);
    FBP_TRY(gl_check("a sampler"));

    dev->half_scale = 1;
    if (dev->kernel->gpu.bits == 16)
        FBP_TRY(gpu_half_scale(dev->job, &dev->half_scale));
    gpu_tuner_open(&dev->tuner, &dev->kernel->gpu, dev->job, dev->index, &gl_timer, dev);
    gl_meter_open(dev);
    const int shape =
        gl_shape_within(dev->kernel, dev->tuner.shape, (size_t)dev->renderer->shared_bytes);
    return gl_programs_need(&dev->programs, gl_program_of(dev->kernel, dev->job), shape);
}

static void end(void *device)
{
    struct gl_device *dev = device;

    if (!dev->egl.context)
        return;
    gpu_tuner_close(&dev->tuner);
    gl_meter_close(dev);
    if (dev->trials[0])
        glDeleteQueries(2 * GPU_TUNER_TRIALS, dev->trials);
    gl_buffer_drop(&dev->window);
    gl_buffer_drop(&dev->memory);
    if (dev->sampler)
        glDeleteSamplers(1, &dev->sampler);
    gl_programs_close(&dev->programs);
    gl_egl_close(&dev->egl);
}

static void close_device(fbp_device **device)
{
    struct gl_device *dev = gl_of(*device);

    if (!dev)
        return;
    gl_queue_close(&dev->queue);
    gl_share_leave(&dev->share);
    for (struct gl_moment *m = dev->moments, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    pthread_mutex_destroy(&dev->moments_lock);
    free(dev->principal);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    static const struct gl_queue_life life = {begin, end, gl_held};
    struct gl_device *dev = calloc(1, sizeof *dev);
    struct fbp_statistics none;
    fbp_status st;

    *out = NULL;
    if (!dev)
        return gl_fail_nomem(sizeof *dev);
    *out = (fbp_device *)(void *)dev;
    pthread_mutex_init(&dev->moments_lock, NULL);
    dev->last_moment = &dev->moments;
    dev->job = job;
    dev->index = index;
    dev->renderer = gl_renderer_at(index);
    dev->kernel = (const struct gl_kernel *)job->selection.entry;
    FBP_TRY_GOTO(gpu_find_principal(dev->job, "gl", &dev->principal));
    FBP_TRY_GOTO(gl_share_enter(&dev->share, dev->index));
    FBP_TRY_GOTO(gl_queue_open(&dev->queue, &life, dev));
    FBP_TRY_GOTO(gl_statistics(*out, &none)); /* resets the statistics */
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

static bool in_hardware(int index)
{
    const struct gl_renderer *r = gl_renderer_at(index);

    return !r->reason[0] && !r->software;
}

static const struct fbp_backend backend = {
    .name = "gl",
    .summary = "OpenGL 4.4",
    .discovery.count = gl_renderers_count,
    .discovery.auto_selectable = in_hardware,
    .discovery.describe = describe,
    .can = {GPU_CAPABILITIES, .serial = true},
    .remark = remark,
    .choose = choose,
    .filtered_bytes = gl_filtered_bytes,
    .volume_bytes = gpu_volume_bytes,
    .fixed_bytes = fixed_bytes,
    .holds = gl_holds,
    .rates = gl_rates,
    .open = open_device,
    .close = close_device,
    .memory.host_alloc = gl_host_alloc,
    .memory.host_release = gl_host_release,
    .memory.reaches = gl_reaches,
    .memory.alloc = gl_alloc,
    .memory.release = gl_release,
    .memory.upload = gl_upload,
    .memory.upload_pieces = gl_upload_pieces,
    .filter = gl_filter,
    .filter_rows = gl_filter_rows,
    .memory.download = gl_download,
    .clear = gl_clear,
    .backproject = gl_backproject,
    .fetch = gl_fetch,
    .event.record = record,
    .event.stage_wait = stage_wait,
    .event.host_wait = host_wait,
    .event.timestamp = gl_timestamp,
    .event.seconds = gl_seconds,
    .statistics = gl_statistics,
    .repair.set_bitmap = gl_set_bitmap,
    .repair.counts = gl_counts,
    .projector = &gl_mip,
};

FBP_API fbp_module_fn fbp_gl_module;

const struct fbp_backend *fbp_gl_module(const struct fbp_module_host *host, char *why, size_t n)
{
    if (!fbp_module_fits(host)) {
        snprintf(why, n, "libfbp_gl.so and libfbp are of different releases; reinstall both");
        return NULL;
    }
    gpu_host = host;
    gl_renderers_find();
    gl_fault_injection.apply = gl_inject_limits;

    const char *name = gl_renderers_listed() > 0 ? gl_renderer_at(0)->name : "opengl";
    int length = (int)strcspn(name, "(/");
    while (length > 0 && name[length - 1] == ' ')
        length--;
    for (int i = 0; i < 4; i++)
        snprintf(isas[i], sizeof isas[i], "%.*s %s", length < 50 ? length : 50, name,
                 gpu_precision_names[i]);
    return &backend;
}
